"""Between webhook endpoints and messages and their rows, both ways."""

from datetime import datetime

from adapters.sql.rows import AnyRow, instant, maybe_instant, maybe_millis, millis
from core.ids import Principal, QuestionId, WorkspaceId
from core.webhooks import Endpoint, Message, MessageState


def endpoint_row(endpoint: Endpoint) -> dict[str, object]:
    return {
        "id": endpoint.id,
        "workspace_id": endpoint.workspace_id,
        "owner": endpoint.owner,
        "url": endpoint.url,
        "patterns": " ".join(endpoint.patterns),
        "secret": endpoint.secret,
        "previous_secret": endpoint.previous_secret,
        "previous_until": maybe_millis(endpoint.previous_until),
        "created_at": millis(endpoint.created_at),
        "disabled_at": maybe_millis(endpoint.disabled_at),
        "disabled_why": endpoint.disabled_why,
    }


def endpoint_from(row: AnyRow) -> Endpoint:
    return Endpoint(
        row.id,
        WorkspaceId(row.workspace_id),
        Principal(row.owner),
        row.url,
        tuple(row.patterns.split(" ")),
        row.secret,
        instant(row.created_at),
        row.previous_secret,
        maybe_instant(row.previous_until),
        maybe_instant(row.disabled_at),
        row.disabled_why,
    )


def message_row(message: Message, now: datetime) -> dict[str, object]:
    return {
        "id": message.id,
        "workspace_id": message.workspace_id,
        "owner": message.owner,
        "event": message.event,
        "sequence": message.sequence,
        "endpoint_id": message.endpoint_id,
        "callback_url": message.callback_url,
        "key_id": message.key_id,
        "question_id": message.question_id,
        "job_id": message.job_id,
        "state": MessageState.WAITING.value,
        "created_at": millis(now),
        "due_at": millis(now),
        "attempt": 0,
        "lease_until": 0,
        "fence": 0,
    }


def message_from(row: AnyRow) -> Message:
    return Message(
        row.id,
        WorkspaceId(row.workspace_id),
        Principal(row.owner),
        row.event,
        row.sequence,
        row.endpoint_id,
        row.callback_url,
        row.key_id,
        QuestionId(row.question_id) if row.question_id is not None else None,
        row.job_id,
    )
