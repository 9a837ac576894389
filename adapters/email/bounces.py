"""Reads what mail servers send back when they cannot deliver (RFC 3464). The input is anybody's, so nothing raises."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email import message_from_bytes, message_from_string, policy
from email.message import Message
from typing import TypeAlias
from urllib.parse import unquote

from adapters.email.addresses import mail_address
from adapters.email.message import NOTICE_HEADER
from core.ids import NoticeId
from core.safetext import one_line

_MOST_READ = 1_000_000
_MOST_PARTS = 100
_MOST_RECIPIENTS = 100
_LONGEST_HEADER = 2_000
_LONGEST_NOTICE = 600
_LONGEST_SAID = 300
_STATUS_TYPES = frozenset({"message/delivery-status", "message/global-delivery-status"})
_RETURNED_TYPES = frozenset({"message/rfc822", "message/global", "text/rfc822-headers", "message/global-headers"})
_MESSAGE_ID = re.compile(r"<[0-9a-f]{64}@[A-Za-z0-9.-]{1,253}>")
_NOTICE = re.compile(rf"[!-~]{{1,{_LONGEST_NOTICE}}}")
_STATUS = re.compile(r"[245]\.[0-9]{1,3}\.[0-9]{1,3}")

_Mail: TypeAlias = Message


@dataclass(frozen=True, slots=True)
class Bounce:
    """What a server reports about one of our mails.

    `is_permanent` is true when it has given up, whatever the reason; false when it says that it is still trying.
    """

    notice: NoticeId | None
    message_id: str | None
    recipient: str | None
    is_permanent: bool
    sentence: str


def bounce_in(raw: bytes) -> Bounce | None:
    """None for whatever is no report of a failed or delayed delivery."""
    if len(raw) > _MOST_READ:
        return None
    try:
        return _bounce(message_from_bytes(raw, policy=policy.compat32))
    except Exception:
        # The parser of the standard library trips over broken mails in ways that nobody has listed.
        return None


def _bounce(mail: _Mail) -> Bounce | None:
    if mail.get_content_type() != "multipart/report" or not mail.is_multipart():
        return None
    if str(mail.get_param("report-type") or "delivery-status").lower() != "delivery-status":
        return None
    # The parts of the report itself; what it returns is data and not looked into for reports.
    parts = _children(mail)[:_MOST_PARTS]
    fates = [fate for part in parts if part.get_content_type() in _STATUS_TYPES for fate in _fates(part)]
    # One that failed counts for more than one that is late.
    fate = max(fates, key=lambda fate: fate.is_permanent, default=None)
    if fate is None:
        return None
    returned = next((_returned(part) for part in parts if part.get_content_type() in _RETURNED_TYPES), None)
    return Bounce(
        notice=_notice(returned) if returned is not None else None,
        message_id=_message_id(returned, mail),
        recipient=fate.recipient,
        is_permanent=fate.is_permanent,
        sentence=fate.sentence,
    )


@dataclass(frozen=True, slots=True)
class _Fate:
    recipient: str | None
    is_permanent: bool
    sentence: str


def _children(part: _Mail) -> list[_Mail]:
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []


def _fates(part: _Mail) -> Iterator[_Fate]:
    for group in _groups(part)[: _MOST_RECIPIENTS + 1]:
        fate = _fate(group)
        if fate is not None:
            yield fate


def _groups(part: _Mail) -> list[_Mail]:
    groups = _children(part)
    if part.get_content_type() == "message/delivery-status" and groups:
        return groups
    # Anything else is not taken apart by the parser: its fields stand in the part, or behind its first group.
    rest = [message_from_string(text) for child in (groups or [part]) for text in _body(child).split("\n\n")]
    return [*groups, *rest]


def _body(part: _Mail) -> str:
    decoded = part.get_payload(decode=True)
    text = decoded.decode("utf-8", "replace") if isinstance(decoded, bytes) else ""
    return text.replace("\r\n", "\n")


def _fate(group: _Mail) -> _Fate | None:
    action = _field(group, "Action").lower()
    found = _STATUS.search(_field(group, "Status"))
    status = found[0] if found else ""
    if action not in ("failed", "delayed"):
        if action or status[:1] not in ("4", "5"):
            return None
        action = "failed" if status.startswith("5") else "delayed"
    recipient = _recipient(group)
    is_permanent = action == "failed"
    what = "could not be delivered" if is_permanent else "is delayed; the mail server is still trying"
    whom = f" to {recipient}" if recipient else ""
    why = _reason(_field(group, "Diagnostic-Code")) or status or "no reason was given"
    return _Fate(recipient, is_permanent, f"The mail{whom} {what}: {why}")


def _reason(diagnostic: str) -> str:
    """`smtp; 550 5.1.1 …` without the name of its dialect."""
    dialect, semicolon, rest = diagnostic.partition(";")
    text = rest.strip() if semicolon and dialect.strip().replace("-", "").isalnum() else diagnostic
    return text if len(text) <= _LONGEST_SAID else text[: _LONGEST_SAID - 1] + "…"


def _recipient(group: _Mail) -> str | None:
    """Whom we wrote to; where their mail was forwarded to is only second best."""
    for name in ("Original-Recipient", "Final-Recipient"):
        address = mail_address(_field(group, name).rpartition(";")[2].strip().strip("<>"))
        if address is not None:
            return address
    return None


def _returned(part: _Mail) -> _Mail:
    children = _children(part)
    if children and any(child.keys() for child in children):
        return children[0]
    return message_from_string(_body(children[0] if children else part))


def _notice(returned: _Mail) -> NoticeId | None:
    named = _field(returned, NOTICE_HEADER)
    return NoticeId(unquote(named)) if _NOTICE.fullmatch(named) else None


def _message_id(returned: _Mail | None, report: _Mail) -> str | None:
    """Only one that we could have made. Some servers return no headers, but reply to the mail."""
    named = [_field(returned, "Message-ID")] if returned is not None else []
    named += [_field(report, "In-Reply-To"), _field(report, "References")]
    return next(_first_ids(named), None)


def _first_ids(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        found = _MESSAGE_ID.search(text)
        if found:
            yield found[0]


def _field(mail: _Mail, name: str) -> str:
    return one_line(str(mail.get(name) or "")[:_LONGEST_HEADER])
