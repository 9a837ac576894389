"""Whether an ID token is what it claims to be (OpenID Connect Core, 3.1.3.7). No I/O: keys and time are given."""

import json
import warnings
from collections.abc import Sequence
from typing import Any

from authlib.oidc.core import CodeIDToken
from joserfc import jws
from joserfc.errors import ClaimError, JoseError, MissingClaimError, SecurityWarning
from joserfc.jwa import JWSAlgModel
from joserfc.jwk import Key, import_key
from joserfc.jws import CompactSignature, JWSRegistry

from adapters.oidc.failures import missing_claim, not_accepted, wrong_claim
from core.phrasing import shown
from core.safetext import one_line

#: Signatures that only the holder of a private key can make. Ed25519 is the newer name of EdDSA on that curve.
ALGORITHMS = frozenset({"RS256", "ES256", "EdDSA", "Ed25519"})
LEEWAY_SECONDS = 60

_KEY_TYPES = ("RSA", "EC", "OKP")
_LONGEST_SUBJECT = 255


class UnknownKey(Exception):
    """None of the keys is the one that the token names; there may be newer ones."""


class _Algorithms(JWSRegistry):
    """Ours and no other, whatever the library makes of a name; it warns of EdDSA, which providers still write."""

    def get_alg(self, name: str) -> JWSAlgModel:
        if name not in ALGORITHMS:
            raise not_accepted(f"it is signed with {shown(one_line(str(name)))}, which proves nothing here")
        return self.algorithms[name]


_registry = _Algorithms(strict_check_header=False)


def public_keys(document: object) -> tuple[Key, ...]:
    """The keys of a JWK set that can check signatures; others are left out, as are weak ones."""
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("a JWK set has a list of keys")
    return tuple(key for entry in listed if (key := _public_key(entry)) is not None)


def _public_key(entry: object) -> Key | None:
    if not isinstance(entry, dict) or entry.get("kty") not in _KEY_TYPES or entry.get("use", "sig") != "sig":
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SecurityWarning)
            return import_key(entry)
    except (JoseError, SecurityWarning, ValueError, TypeError, KeyError):
        return None


def verified_claims(
    token: str, keys: Sequence[Key], *, issuer: str, client_id: str, nonce: str, access_token: str | None, now: int
) -> dict[str, Any]:
    """What the token says, once signature, issuer, audience, times and nonce are right.

    Raises SignInFailed, or UnknownKey if the token names a key that is not among these.
    """
    header, payload = _signed_parts(token, keys)
    # The library knows the hash behind `at_hash` by the older name only.
    header = {**header, "alg": "EdDSA"} if header["alg"] == "Ed25519" else header
    wanted = {"iss": {"essential": True, "value": issuer}, "aud": {"essential": True, "value": client_id}}
    known = {"nonce": nonce, "client_id": client_id, "access_token": access_token}
    claims = CodeIDToken(payload, header, wanted, known)
    try:
        claims.validate(now=now, leeway=LEEWAY_SECONDS)
    except MissingClaimError as error:
        raise missing_claim(error.claim) from None
    except ClaimError as error:
        raise wrong_claim(error.claim) from None
    except (JoseError, ValueError, TypeError):
        raise not_accepted("it is garbled") from None
    if not is_subject(payload["sub"]):
        raise wrong_claim("sub")
    return payload


def is_subject(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= _LONGEST_SUBJECT and value.isprintable()


def _signed_parts(token: str, keys: Sequence[Key]) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        signed = jws.extract_compact(token.encode("ascii"), registry=_registry)
        algorithm = _registry.get_alg(signed.headers().get("alg", ""))
        fitting = [key for key in keys if _fits(key, algorithm, signed.headers().get("kid"))]
        if not fitting:
            raise UnknownKey
        if not any(_has_signed(key, signed) for key in fitting):
            raise not_accepted("its signature is wrong")
        payload = json.loads(signed.payload)
    except (JoseError, ValueError, TypeError, AttributeError, RecursionError):
        raise not_accepted("it is garbled") from None
    if not isinstance(payload, dict):
        raise not_accepted("it is garbled")
    return dict(signed.headers()), payload


def _fits(key: Key, algorithm: JWSAlgModel, kid: object) -> bool:
    if kid is not None and key.kid != kid:
        return False
    try:
        algorithm.check_key(key)
    except JoseError:
        return False
    return True


def _has_signed(key: Key, signed: CompactSignature) -> bool:
    try:
        return jws.validate_compact(signed, key, registry=_registry)
    except JoseError:
        return False
