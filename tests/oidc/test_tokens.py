"""An ID token under somebody's fingers: whatever they change, it is refused, and nothing else happens."""

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.oidc.tokens import UnknownKey, public_keys, verified_claims
from core.sessions import SignInFailed
from tests.support.signatures import Signing, encoded, signed, signing_keys

NOW = int(time.time())
CLAIMS = {"iss": "https://i.example", "aud": "hr", "sub": "dana-1", "nonce": "n", "iat": NOW, "exp": NOW + 300}
KEYS = public_keys({"keys": signing_keys(0).published()})
TOKENS = [
    signed(CLAIMS, signing_keys(0), how, "s3cret", has_kid=has_kid)
    for how in (Signing.RS256, Signing.ES256, Signing.EDDSA)
    for has_kid in (True, False)
]

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
headers = (
    st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit", "b64", "jwk", "zip"]), json_values) | json_values
)


def claims_in(token: str, now: int = NOW) -> dict[str, Any]:
    return verified_claims(
        token, KEYS, issuer="https://i.example", client_id="hr", nonce="n", access_token=None, now=now
    )


def by_provider(claims: dict[str, Any]) -> str:
    return signed(claims, signing_keys(0), Signing.EDDSA, "s3cret", has_kid=True)


def is_refused(token: str) -> bool:
    try:
        claims_in(token)
    except (SignInFailed, UnknownKey):
        return True
    return False


@pytest.mark.parametrize("token", TOKENS)
def test_as_it_was_made_it_is_good(token: str) -> None:
    assert claims_in(token) == CLAIMS


@settings(max_examples=500)
@given(st.sampled_from(TOKENS), st.data())
def test_any_other_character_in_any_place_is_refused(token: str, data: st.DataObject) -> None:
    # The last character of a part carries bits that mean nothing; all others count.
    place = data.draw(st.sampled_from([i for i in range(len(token)) if token[i + 1 : i + 2] not in ("", ".")]))
    other = data.draw(st.characters().filter(lambda character: character != token[place]))

    assert is_refused(token[:place] + other + token[place + 1 :])


@settings(max_examples=500)
@given(headers, json_values, st.binary(max_size=70))
def test_whatever_stands_in_header_and_claims_is_refused(header: object, payload: object, signature: bytes) -> None:
    parts = (encoded(json.dumps(header).encode()), encoded(json.dumps(payload).encode()), encoded(signature))

    assert is_refused(".".join(parts))


@settings(max_examples=300)
@given(
    st.dictionaries(st.sampled_from([*CLAIMS, "azp", "amr", "auth_time", "at_hash", "nbf"]), json_values, min_size=1)
)
def test_whatever_even_the_provider_signs_is_good_or_refused(changes: dict[str, Any]) -> None:
    try:
        found = claims_in(by_provider({**CLAIMS, **changes}))
    except SignInFailed:
        return

    assert {name: found[name] for name in ("iss", "nonce")} == {"iss": "https://i.example", "nonce": "n"}
    assert found["aud"] == "hr" or "hr" in found["aud"]
    assert isinstance(found["sub"], str)
    assert found["sub"] != ""
    assert found["exp"] > NOW - 61
    assert found["iat"] < NOW + 61


@given(st.text() | st.binary().map(encoded))
def test_any_text_is_refused(text: str) -> None:
    assert is_refused(text)


@pytest.mark.parametrize("header", [{"alg": "EdDSA", "crit": ["exp"], "exp": 1}, {"alg": "EdDSA", "crit": 7}])
def test_what_must_be_understood_and_is_not_is_refused(header: dict[str, Any]) -> None:
    text = f"{encoded(json.dumps(header).encode())}.{encoded(json.dumps(CLAIMS).encode())}"
    signature = signing_keys(0).ed.sign(text.encode())

    assert is_refused(f"{text}.{encoded(signature)}")


@pytest.mark.parametrize(
    ("now", "is_good"), [(NOW + 359, True), (NOW + 360, False), (NOW - 60, True), (NOW - 61, False)]
)
def test_a_minute_is_the_most_that_clocks_may_differ(now: int, is_good: bool) -> None:
    token = by_provider(CLAIMS)

    if is_good:
        assert claims_in(token, now) == CLAIMS
    else:
        with pytest.raises(SignInFailed):
            claims_in(token, now)


# Lists of keys


def test_a_weak_key_is_none() -> None:
    from cryptography.hazmat.primitives.asymmetric import rsa

    numbers = rsa.generate_private_key(65537, 1024).public_key().public_numbers()
    weak = {"kty": "RSA", "n": encoded(numbers.n.to_bytes(128)), "e": "AQAB"}

    assert public_keys({"keys": [weak]}) == ()


@given(json_values | st.fixed_dictionaries({"keys": json_values}))
def test_any_document_is_a_list_of_keys_or_refused(document: object) -> None:
    try:
        keys = public_keys(document)
    except ValueError:
        return

    assert keys == ()


@given(
    st.sampled_from(signing_keys(0).published()),
    st.dictionaries(
        st.sampled_from(["kty", "use", "alg", "key_ops", "crv", "x", "y", "n", "e", "kid"]), json_values, min_size=1
    ),
)
def test_any_change_of_a_key_is_survived(key: dict[str, Any], changes: dict[str, Any]) -> None:
    keys = public_keys({"keys": [{**key, **changes}]})

    for token in TOKENS:
        try:
            verified_claims(
                token, keys, issuer="https://i.example", client_id="hr", nonce="n", access_token=None, now=NOW
            )
        except (SignInFailed, UnknownKey):
            continue
