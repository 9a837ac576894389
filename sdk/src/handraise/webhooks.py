"""Receiving webhooks: whether a message is the server's own, fresh and new. Standard Webhooks, HMAC-SHA256."""

import base64
import binascii
import hashlib
import hmac
import json
import math
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import TypeAlias

from handraise.errors import HandraiseError, UnexpectedReply
from handraise.event import Event

SECRET_PREFIX = "whsec_"
TOLERANCE = timedelta(minutes=5)
REMEMBERED = timedelta(hours=80)

Headers: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]]

_VERSION = "v1"
# Dots divide what is signed, so a dot in an id would let one id and time pass for another.
_MESSAGE_ID = re.compile(r"[A-Za-z0-9_-]{1,255}")
_SECONDS = re.compile(r"[0-9]{1,12}")
_NAMES = ("webhook-id", "webhook-timestamp", "webhook-signature")
_MOST_SIGNATURES = 50


class InvalidWebhook(HandraiseError):
    """The message is not to be trusted: answer 401 and do nothing. The message of this exception is for the log."""


def verify(
    body: bytes,
    headers: Headers,
    secret_or_secrets: str | Iterable[str],
    *,
    tolerance: timedelta | float = TOLERANCE,
    now: datetime | float | None = None,
) -> Event:
    """The event in a message that was signed with one of the secrets a moment ago.

    `body` must be the bytes as they came. Everything that is wrong with the message, the headers or the secrets raises
    InvalidWebhook and nothing else.
    """
    if not isinstance(body, bytes | bytearray | memoryview):
        raise InvalidWebhook("The body must be the bytes of the request as they came, before anything parsed them.")
    message_id, timestamp, signatures = _read_headers(headers)
    keys = [_key(secret) for secret in _several(secret_or_secrets)]
    if not keys:
        raise InvalidWebhook("There is no secret to verify with.")
    _refuse_unless_fresh(timestamp, tolerance, now)
    signed = f"{message_id}.{timestamp}.".encode() + bytes(body)
    if not _is_signed(signed, signatures, keys):
        raise InvalidWebhook("No signature of this message was made with a secret that is known here.")
    return _event(message_id, bytes(body))


def sign(body: bytes, *, message_id: str, at: int, secret: str) -> dict[str, str]:
    """The three headers of a message, for trying a receiver out."""
    if not _MESSAGE_ID.fullmatch(message_id):
        raise ValueError("A message id has 1 to 255 letters, digits, hyphens and underscores.")
    signature = _signature(_key(secret), f"{message_id}.{at}.".encode() + body)
    return dict(zip(_NAMES, (message_id, str(at), f"{_VERSION},{signature.decode()}"), strict=True))


class Deduper:
    """Remembers the ids of messages, because a sender that is in doubt sends again.

    Ids are kept for `keep`, longer than the server goes on trying; `most` bounds the memory, about 150 bytes for each,
    by forgetting the oldest first. Usable from several threads, but of one process only.
    """

    def __init__(
        self, *, keep: timedelta = REMEMBERED, most: int = 500_000, now: Callable[[], float] = time.monotonic
    ) -> None:
        if most < 1:
            raise ValueError("A deduper has to remember at least one message.")
        self._keep_seconds = keep.total_seconds()
        self._most = most
        self._now = now
        self._seen_at: OrderedDict[bytes, float] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._seen_at)

    def is_new(self, message_id: str) -> bool:
        """Whether this is the first time; from now on it is not."""
        key, now = _digest(message_id), self._now()
        with self._lock:
            self._forget_old(now)
            if key in self._seen_at:
                return False
            if len(self._seen_at) >= self._most:
                self._seen_at.popitem(last=False)
            self._seen_at[key] = now
            return True

    def forget(self, message_id: str) -> None:
        """Handling it failed: the next attempt counts as new."""
        with self._lock:
            self._seen_at.pop(_digest(message_id), None)

    def _forget_old(self, now: float) -> None:
        while self._seen_at:
            oldest = next(iter(self._seen_at))
            if now - self._seen_at[oldest] <= self._keep_seconds:
                return
            del self._seen_at[oldest]


def _digest(message_id: str) -> bytes:
    return hashlib.blake2b(message_id.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _read_headers(headers: Headers) -> tuple[str, str, str]:
    found: dict[str, set[str]] = {name: set() for name in _NAMES}
    try:
        pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
        for name, value in pairs:
            known = found.get(_as_text(name).lower())
            if known is not None:
                known.add(_as_text(value))
    except (TypeError, ValueError, AttributeError, KeyError):
        raise InvalidWebhook("The headers are not names with values.") from None
    for name, values in found.items():
        if len(values) != 1:
            raise InvalidWebhook(f"The header {name} is missing." if not values else f"The header {name} comes twice.")
    message_id, timestamp, signatures = (found[name].pop() for name in _NAMES)
    if not _MESSAGE_ID.fullmatch(message_id):
        raise InvalidWebhook("The header webhook-id is not the id of a message.")
    if not _SECONDS.fullmatch(timestamp):
        raise InvalidWebhook("The header webhook-timestamp is not a number of seconds.")
    return message_id, timestamp, signatures


def _as_text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, str):
        return value
    raise TypeError("neither text nor bytes")


def _several(secret_or_secrets: str | Iterable[str]) -> list[str]:
    try:
        return [secret_or_secrets] if isinstance(secret_or_secrets, str) else list(secret_or_secrets)
    except TypeError:
        raise InvalidWebhook("The secret must be a string, or several of them.") from None


def _key(secret: str) -> bytes:
    encoded = secret.removeprefix(SECRET_PREFIX) if isinstance(secret, str) else ""
    try:
        key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        # Without its text, which may be a secret that was mistyped.
        raise InvalidWebhook(f"A secret to verify with is none: it should be {SECRET_PREFIX} and base64.")
    return key


def _refuse_unless_fresh(timestamp: str, tolerance: timedelta | float, now: datetime | float | None) -> None:
    present = time.time() if now is None else now.timestamp() if isinstance(now, datetime) else now
    allowed = tolerance.total_seconds() if isinstance(tolerance, timedelta) else tolerance
    age = present - int(timestamp)
    # Written so that a tolerance or a time that is not a number refuses.
    if not (math.isfinite(allowed) and abs(age) <= allowed):
        direction = "old" if age > 0 else "far in the future"
        raise InvalidWebhook(f"The message is too {direction}: a replay, or one of the two clocks is wrong.")


def _is_signed(signed: bytes, signatures: str, keys: list[bytes]) -> bool:
    """Every pair is compared, in constant time, so that no duration tells which one fitted or how far."""
    given = [
        signature.encode("utf-8", "surrogatepass")
        for version, comma, signature in (part.partition(",") for part in signatures.split(" ")[:_MOST_SIGNATURES])
        if version == _VERSION and comma
    ]
    expected = [_signature(key, signed) for key in keys]
    return any([hmac.compare_digest(each, ours) for each in given for ours in expected])


def _signature(key: bytes, signed: bytes) -> bytes:
    return base64.b64encode(hmac.digest(key, signed, hashlib.sha256))


def _event(message_id: str, body: bytes) -> Event:
    try:
        return Event.from_json(message_id, json.loads(body))
    except (ValueError, RecursionError, UnexpectedReply):
        raise InvalidWebhook("The message is signed, but holds no event.") from None
