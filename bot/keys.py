"""Making API keys. The secret is shown once and never kept; the database has its digest."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from adapters.webhooks.signing import new_secret
from bot.api.callers import Scope, key_digest
from core.ids import PersonId, WorkspaceId
from core.people import Person
from core.registry import ApiKey

_HINT_LENGTH = 8


def new_key(
    name: str,
    scopes: Sequence[Scope],
    workspace_id: WorkspaceId,
    person: Person | None,
    callback_hosts: Sequence[str] = (),
    owner: PersonId | None = None,
) -> tuple[str, ApiKey]:
    """The secret, and the key as it is kept."""
    secret = "hr_" + secrets.token_urlsafe(32)
    now = datetime.now(UTC)
    key = ApiKey(
        id="k_" + secrets.token_hex(6),
        name=name,
        digest=key_digest(secret),
        hint=secret[:_HINT_LENGTH],
        scopes=tuple(scope.value for scope in scopes),
        workspace_id=workspace_id,
        created_at=now.replace(microsecond=now.microsecond // 1000 * 1000),
        person=person,
        callback_secret=new_secret(),
        callback_hosts=tuple(host.lower() for host in callback_hosts),
        owner=owner,
    )
    return secret, key
