"""First start: an admin person, a key for agents, a key for the admin, and the file that lets the shell find them."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import structlog

from bot.api.callers import Scope, key_digest
from bot.keys import new_key
from core.ids import PersonId, WorkspaceId
from core.people import Person, Role
from core.registry import Directory

_log = structlog.get_logger("handraise")

FILE_NAME = "credentials.json"
ADMIN = Person(PersonId("p_admin"), "Admin", Role.ADMIN)

_AGENT_SCOPES = (Scope.ASK, Scope.READ)
_ADMIN_SCOPES = (Scope.ANSWER, Scope.ADMIN)


async def prepare(directory: Directory, data_dir: Path, workspace_id: WorkspaceId, url: str) -> None:
    """Make sure that the shell on this machine can ask and answer. Keys the database knows are kept as they are."""
    await directory.add_person(ADMIN)
    path = data_dir / FILE_NAME
    kept = _read(path)
    agent_key = await _known(directory, kept.get("agentKey"))
    admin_key = await _known(directory, kept.get("adminKey"))
    if agent_key is None:
        agent_key, key = new_key("agent", _AGENT_SCOPES, workspace_id, None, owner=ADMIN.id)
        await directory.add_key(key)
    if admin_key is None:
        admin_key, key = new_key("admin", _ADMIN_SCOPES, workspace_id, ADMIN)
        await directory.add_key(key)
    credentials = {"url": url, "adminKey": admin_key, "agentKey": agent_key}
    if credentials != kept:
        _write(path, credentials)


def known_url(data_dir: Path) -> str | None:
    """Where the server said that it is reached when it last started."""
    url = _read(data_dir / FILE_NAME).get("url")
    return url if isinstance(url, str) else None


async def _known(directory: Directory, secret: object) -> str | None:
    """The secret, if the database has its key. A revoked key counts: whoever revoked it meant it."""
    if not isinstance(secret, str):
        return None
    return secret if await directory.key(key_digest(secret)) is not None else None


def _read(path: Path) -> Mapping[str, object]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as failure:
        _log.warning("the credentials file cannot be read and is written anew", file=str(path), why=str(failure))
        return {}
    return found if isinstance(found, dict) else {}


def _write(path: Path, credentials: Mapping[str, str]) -> None:
    """All or nothing, and never readable by others, not even for a moment."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".credentials-")  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(credentials, file, indent=2)
            file.write("\n")
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
