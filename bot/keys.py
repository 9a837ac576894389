"""Making API keys. The secret is shown once and never kept; the database has its digest."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from adapters.webhooks.signing import new_secret
from bot.api.callers import Scope, key_digest
from core.ids import PersonId, WorkspaceId
from core.membership import NotPossible
from core.people import Person
from core.registry import ApiKey

_HINT_LENGTH = 8
LONGEST_NAME = 100


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


def checked_key(
    name: str, scopes: Sequence[str], person: str | None, owner: str | None
) -> tuple[str, tuple[Scope, ...]]:
    """The name and the scopes of a key that makes sense. Raises NotPossible with what to change."""
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise NotPossible(f"Name it with 1 to {LONGEST_NAME} printable characters.")
    names = [each.strip() for part in scopes for each in part.split(",") if each.strip()]
    unknown = [each for each in names if each not in set(Scope)]
    if unknown or not names:
        wrong = f"There is no scope {', '.join(unknown)}. " if unknown else ""
        raise NotPossible(wrong + "Use one or more of ask, read, answer and admin.")
    if Scope.ANSWER in names and person is None:
        raise NotPossible("A key that answers belongs to somebody: say whose it is.")
    if person is not None and owner is not None:
        raise NotPossible("A person's own key needs no owner.")
    return name.strip(), tuple(scope for scope in Scope if scope.value in names)
