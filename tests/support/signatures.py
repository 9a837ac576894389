"""Signs tokens and publishes keys with nothing but cryptography, so that no library checks its own work."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

RSA_BITS = 2048


class Signing(StrEnum):
    """How a token is signed: properly, or in one of the ways that have fooled somebody before."""

    RS256 = "RS256"
    ES256 = "ES256"
    EDDSA = "EdDSA"
    ED25519 = "Ed25519"
    NONE = "none"
    HS256_CLIENT_SECRET = "HS256 with the client's secret"
    HS256_PUBLIC_KEY = "HS256 with the public key as the secret"
    STRANGER = "RS256 by a stranger who names our key"
    UNPUBLISHED = "RS256 with a key of another name"


@dataclass(frozen=True)
class SigningKeys:
    """One generation of a provider's keys."""

    generation: int
    rsa: rsa.RSAPrivateKey
    ec: ec.EllipticCurvePrivateKey
    ed: ed25519.Ed25519PrivateKey

    def published(self) -> list[dict[str, str]]:
        rsa_numbers, ec_numbers = self.rsa.public_key().public_numbers(), self.ec.public_key().public_numbers()
        ed_bytes = self.ed.public_key().public_bytes_raw()
        return [
            {"kty": "RSA", "kid": self.kid("rsa"), "use": "sig", "alg": "RS256"}
            | {"n": _number(rsa_numbers.n), "e": _number(rsa_numbers.e)},
            {"kty": "EC", "kid": self.kid("ec"), "crv": "P-256"}
            | {"x": _number(ec_numbers.x, 32), "y": _number(ec_numbers.y, 32)},
            {"kty": "OKP", "kid": self.kid("ed"), "crv": "Ed25519", "x": encoded(ed_bytes)},
        ]

    def kid(self, kind: str) -> str:
        return f"{kind}-{self.generation}"


@cache
def signing_keys(generation: int) -> SigningKeys:
    return SigningKeys(
        generation,
        rsa.generate_private_key(65537, RSA_BITS),
        ec.generate_private_key(ec.SECP256R1()),
        ed25519.Ed25519PrivateKey.generate(),
    )


def signed(claims: Mapping[str, Any], keys: SigningKeys, how: Signing, client_secret: str, *, has_kid: bool) -> str:
    kinds = {Signing.ES256: "ec", Signing.EDDSA: "ed", Signing.ED25519: "ed"}
    header = {"alg": how.value.split()[0], "typ": "JWT", "kid": keys.kid(kinds.get(how, "rsa"))}
    if how is Signing.UNPUBLISHED:
        header["kid"] = "never-published"
    if not has_kid:
        del header["kid"]
    text = f"{_json(header)}.{_json(claims)}"
    return f"{text}.{encoded(_signature(text.encode(), keys, how, client_secret))}"


def _signature(text: bytes, keys: SigningKeys, how: Signing, client_secret: str) -> bytes:
    match how:
        case Signing.RS256:
            return _by_rsa(keys.rsa, text)
        case Signing.ES256:
            r, s = decode_dss_signature(keys.ec.sign(text, ec.ECDSA(hashes.SHA256())))
            return r.to_bytes(32) + s.to_bytes(32)
        case Signing.EDDSA | Signing.ED25519:
            return keys.ed.sign(text)
        case Signing.NONE:
            return b""
        case Signing.HS256_CLIENT_SECRET:
            return hmac.digest(client_secret.encode(), text, "sha256")
        case Signing.HS256_PUBLIC_KEY:
            form, encoding = serialization.PublicFormat.SubjectPublicKeyInfo, serialization.Encoding.PEM
            return hmac.digest(keys.rsa.public_key().public_bytes(encoding, form), text, "sha256")
        case Signing.STRANGER | Signing.UNPUBLISHED:
            return _by_rsa(signing_keys(-1).rsa, text)


def half_hash(text: str, how: Signing) -> str:
    """The `at_hash` that belongs to an access token."""
    digest = hashlib.sha512 if how in (Signing.EDDSA, Signing.ED25519) else hashlib.sha256
    whole = digest(text.encode()).digest()
    return encoded(whole[: len(whole) // 2])


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _by_rsa(key: rsa.RSAPrivateKey, text: bytes) -> bytes:
    return key.sign(text, padding.PKCS1v15(), hashes.SHA256())


def _json(value: Mapping[str, Any]) -> str:
    return encoded(json.dumps(value).encode())


def _number(value: int, length: int | None = None) -> str:
    return encoded(value.to_bytes(length or (value.bit_length() + 7) // 8))
