"""The client side of handraise: ask a person from an agent, a script or a pipeline, and wait for the answer."""

from handraise import webhooks
from handraise.answer import Answer, Decision, NotApproved, StillOpen
from handraise.async_client import AsyncHandraise
from handraise.calls import UNTIL_SETTLED
from handraise.client import Handraise
from handraise.credentials import CredentialsError
from handraise.drafts import Details
from handraise.endpoint import WebhookEndpoint
from handraise.errors import (
    APIError,
    AuthError,
    Conflict,
    HandraiseError,
    InvalidArgument,
    InvalidRequest,
    NotFound,
    RateLimited,
    ServerFailure,
    UnexpectedReply,
    Unreachable,
)
from handraise.event import Event
from handraise.job import Job
from handraise.question import Comment, Decider, Question, Standing
from handraise.replies import Page, Recorded
from handraise.webhooks import InvalidWebhook

__all__ = [
    "UNTIL_SETTLED",
    "APIError",
    "Answer",
    "AsyncHandraise",
    "AuthError",
    "Comment",
    "Conflict",
    "CredentialsError",
    "Decider",
    "Decision",
    "Details",
    "Event",
    "Handraise",
    "HandraiseError",
    "InvalidArgument",
    "InvalidRequest",
    "InvalidWebhook",
    "Job",
    "NotApproved",
    "NotFound",
    "Page",
    "Question",
    "RateLimited",
    "Recorded",
    "ServerFailure",
    "Standing",
    "StillOpen",
    "UnexpectedReply",
    "Unreachable",
    "WebhookEndpoint",
    "webhooks",
]
