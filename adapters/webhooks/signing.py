"""Standard Webhooks signatures, made by ourselves: whole seconds in, so that no time zone can shift what is signed."""

import base64
import hashlib
import hmac
import re
import secrets as entropy
from collections.abc import Sequence

_PREFIX = "whsec_"
_SECRET_BYTES = 32
# A dot would let one id and time pass for another, as dots divide what is signed.
_MESSAGE_ID = re.compile(r"[A-Za-z0-9_-]{1,255}")


def new_secret() -> str:
    return _PREFIX + base64.b64encode(entropy.token_bytes(_SECRET_BYTES)).decode()


def signature_headers(message_id: str, at: int, body: bytes, secrets: Sequence[str]) -> dict[str, str]:
    """The three headers. With several secrets, as during a rotation, a receiver that knows any of them accepts."""
    if not _MESSAGE_ID.fullmatch(message_id):
        raise ValueError("A message id has 1 to 255 letters, digits, hyphens and underscores.")
    if not secrets:
        raise ValueError("There is no secret to sign with.")
    signed = f"{message_id}.{at}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(_signature(_key(secret), signed) for secret in secrets),
    }


def _signature(key: bytes, signed: bytes) -> str:
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def _key(secret: str) -> bytes:
    encoded = secret.removeprefix(_PREFIX)
    try:
        key = base64.b64decode(encoded, validate=True)
    except ValueError:
        key = b""
    if encoded == secret or not key:
        raise ValueError(f"A webhook secret is {_PREFIX} and base64.")  # without the text: it may be a secret, mistyped
    return key
