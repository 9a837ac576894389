"""What `handraise doctor` finds out: each finding says how things are and, where they are not right, what to do."""

import os
import shlex
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path

from handraise.client import Handraise
from handraise.credentials import Credentials
from handraise.errors import HandraiseError
from handraise.messages import Reply
from handraise.wire import member, text

LARGEST_SKEW = 60.0

# What a handraise server answers when it is asked whether it is ready; anything else is something else.
_READINESS = (200, 503)
_READ_CHECK = "/api/questions/pending"
_ASK_CHECK = "/api/webhooks"


@dataclass(frozen=True, slots=True)
class Finding:
    subject: str
    what: str
    # What to do about it; None where nothing is wrong.
    advice: str | None = None


def examine(
    credentials: Credentials, connect: Callable[[str], Handraise], *, own_version: str, now: Callable[[], datetime]
) -> Iterator[Finding]:
    yield Finding("address", credentials.url)
    yield Finding("keys", f"from {credentials.source}")
    yield from folder_findings(Path(credentials.source))
    with connect(credentials.agent_key) as agent, connect(credentials.person_key) as person:
        try:
            ready = agent.look("/readyz")
        except HandraiseError as failure:
            advice = "start it with handraise-bot serve, or correct HANDRAISE_URL; mind proxies and firewalls"
            yield Finding("server", str(failure), advice)
            return
        yield readiness_finding(ready)
        if ready.status not in _READINESS:
            return
        yield clock_finding(ready, now())
        try:
            yield version_finding(agent.look("/openapi.json"), own_version)
            yield key_finding("agent key", agent, wanted=("ask", "read"))
            if credentials.person_key != credentials.agent_key:
                yield key_finding("person key", person, wanted=("read",))
        except HandraiseError as failure:
            yield Finding("server", str(failure), "it went away meanwhile; look at its log and try again")


def folder_findings(source: Path) -> Iterator[Finding]:
    """Whether others get at the data dir that the keys came from."""
    if os.name != "posix" or not source.is_absolute() or not source.is_file():
        return
    folder = source.parent
    mode = stat.S_IMODE(folder.stat().st_mode)
    if mode & 0o077:
        advice = f"chmod 700 {shlex.quote(str(folder))}"
        yield Finding("data dir", f"{folder} is open to other users (mode {mode:03o})", advice)
    else:
        yield Finding("data dir", f"{folder} is private")


def readiness_finding(reply: Reply) -> Finding:
    if reply.is_success:
        return Finding("server", "ready")
    content = reply.json if isinstance(reply.json, dict) else {}
    troubles = content.get("troubles")
    told = "; ".join(map(str, troubles)) if isinstance(troubles, list) and troubles else text(content, "detail")
    if reply.status not in _READINESS or not content:
        return Finding("server", f"answers {reply.status}", "is this the address of a handraise server?")
    what = f"not ready{f': {told}' if told else ''}"
    return Finding("server", what, "run handraise-bot check on its machine")


def clock_finding(reply: Reply, now: datetime) -> Finding:
    try:
        told = parsedate_to_datetime(reply.headers.get("Date") or "")
    except ValueError:
        return Finding("clock", "not compared: the server did not tell its time")
    skew = (now - (told if told.tzinfo else told.replace(tzinfo=UTC))).total_seconds()
    if abs(skew) < LARGEST_SKEW:
        return Finding("clock", "agrees with the server's")
    direction = "ahead of" if skew > 0 else "behind"
    advice = "set both by NTP: signed messages count for minutes only"
    return Finding("clock", f"{abs(skew):.0f} s {direction} the server's", advice)


def version_finding(reply: Reply, own_version: str) -> Finding:
    document = reply.json if isinstance(reply.json, dict) else {}
    version = text(member(document, "info"), "version")
    if version is None:
        return Finding("version", f"client {own_version}; the server did not tell its own")
    what = f"client {own_version}, server {version}"
    if version.split(".")[:2] == own_version.split(".")[:2]:
        return Finding("version", what)
    return Finding("version", what, "install the same version of both: pip install --upgrade handraise handraise-bot")


def key_finding(subject: str, client: Handraise, *, wanted: tuple[str, ...]) -> Finding:
    """What the key may do, as far as two harmless questions show it."""
    seen = {"read": client.look(_READ_CHECK).status, "ask": client.look(_ASK_CHECK).status}
    if 401 in seen.values():
        return Finding(subject, "the server does not know it", "make a new one: handraise-bot keys create --name N")
    odd = [status for status in seen.values() if status not in (200, 403)]
    if odd:
        return Finding(subject, f"cannot be checked: the server answers {odd[0]}", "look at the server's log")
    missing = [scope for scope in wanted if seen[scope] == 403]
    if missing:
        scopes = ",".join(wanted)
        advice = f"use a key that has it: handraise-bot keys create --name N --scope {scopes}"
        return Finding(subject, f"lacks the scope {' and '.join(missing)}", advice)
    allowed = [scope for scope in ("ask", "read") if seen[scope] == 200]
    return Finding(subject, f"works, may {' and '.join(allowed)}")
