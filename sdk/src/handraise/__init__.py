"""The client side of handraise: ask a person from an agent, a script or a pipeline, and wait for the answer."""

from handraise.client import Handraise
from handraise.credentials import CredentialsError
from handraise.drafts import Details
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
from handraise.job import Job
from handraise.question import Comment, Decider, Question, Standing
from handraise.replies import Page, Recorded

__all__ = [
    "APIError",
    "AuthError",
    "Comment",
    "Conflict",
    "CredentialsError",
    "Decider",
    "Details",
    "Handraise",
    "HandraiseError",
    "InvalidArgument",
    "InvalidRequest",
    "Job",
    "NotFound",
    "Page",
    "Question",
    "RateLimited",
    "Recorded",
    "ServerFailure",
    "Standing",
    "UnexpectedReply",
    "Unreachable",
]
