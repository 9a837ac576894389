"""Everything that a provider, or somebody who pretends to be one, can get wrong is refused with a sentence."""

import time
from typing import Any

import pytest

from adapters.oidc.client import OidcClient, OidcSettings, SignInFailed
from tests.oidc.doors import AGAIN, CALLBACK, enter, refusal, settings_for
from tests.support.provider import DANA, ERIK, Provider, signed_in
from tests.support.signatures import Signing

OTHER_BROWSER = "Signing in took too long or began in another browser. Try again."
USED = "This sign-in was used before or took too long. Try again."
CLOCKS = "the clocks of this server and of the provider may differ"


def not_accepted(why: str) -> str:
    return f"The identity provider's word for who you are was not accepted: {why}. {AGAIN}"


# What the token says


@pytest.mark.parametrize(
    ("claims", "why"),
    [
        ({"nonce": "another"}, "it belongs to another sign-in"),
        ({"nonce": None}, "it lacks “nonce”"),
        ({"nonce": ["another"]}, "it belongs to another sign-in"),
        ({"aud": "another"}, "it was made for another application"),
        ({"aud": ["another"]}, "it was made for another application"),
        ({"aud": []}, "it was made for another application"),
        ({"aud": None}, "it lacks “aud”"),
        ({"aud": "another", "azp": "handraise"}, "it was made for another application"),
        ({"aud": ["handraise", "another"]}, "it lacks “azp”"),
        ({"aud": ["handraise", "another"], "azp": "another"}, "it was made for another application"),
        ({"azp": "another"}, "it was made for another application"),
        ({"iss": "https://evil.example.com"}, "it comes from another provider"),
        ({"iss": None}, "it lacks “iss”"),
        ({"exp": None}, "it lacks “exp”"),
        ({"exp": True}, f"it has expired; {CLOCKS}"),
        ({"exp": float("nan")}, f"it has expired; {CLOCKS}"),
        ({"exp": "9999999999"}, f"it has expired; {CLOCKS}"),
        ({"iat": None}, "it lacks “iat”"),
        ({"sub": None}, "it lacks “sub”"),
        ({"sub": ""}, "it does not say whom it is about"),
        ({"sub": 7}, "it does not say whom it is about"),
        ({"sub": "dana\n1"}, "it does not say whom it is about"),
        ({"sub": "x" * 256}, "it does not say whom it is about"),
        ({"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}, "it does not belong to the access token beside it"),
    ],
)
async def test_a_token_that_says_something_wrong_is_refused(
    provider: Provider, client: OidcClient, claims: dict[str, Any], why: str
) -> None:
    provider.knobs.claims = claims

    assert await refusal(client) == not_accepted(why)


async def test_several_audiences_are_good_if_the_token_was_made_for_us(provider: Provider, client: OidcClient) -> None:
    provider.knobs.claims = {"aud": ["another", "handraise"], "azp": "handraise"}

    assert (await enter(client)).subject == "dana-1"


@pytest.mark.parametrize(
    ("name", "seconds", "why"),
    [
        ("exp", -300, f"it has expired; {CLOCKS}"),
        ("exp", -70, f"it has expired; {CLOCKS}"),
        ("iat", 300, f"it comes from the future; {CLOCKS}"),
        ("nbf", 300, f"it is not valid yet; {CLOCKS}"),
    ],
)
async def test_a_token_out_of_its_time_is_refused(
    provider: Provider, client: OidcClient, name: str, seconds: int, why: str
) -> None:
    provider.knobs.claims = {name: int(time.time()) + seconds}

    assert await refusal(client) == not_accepted(why)


@pytest.mark.parametrize(("name", "seconds"), [("exp", -20), ("iat", 40), ("nbf", 40)])
async def test_clocks_may_differ_a_little(provider: Provider, client: OidcClient, name: str, seconds: int) -> None:
    provider.knobs.claims = {name: int(time.time()) + seconds}

    assert (await enter(client)).subject == "dana-1"


# How the token is signed


@pytest.mark.parametrize(
    ("signing", "why"),
    [
        (Signing.NONE, "it is signed with “none”, which proves nothing here"),
        (Signing.HS256_CLIENT_SECRET, "it is signed with “HS256”, which proves nothing here"),
        (Signing.HS256_PUBLIC_KEY, "it is signed with “HS256”, which proves nothing here"),
        (Signing.STRANGER, "its signature is wrong"),
        (Signing.UNPUBLISHED, "it is signed with a key that the provider does not publish"),
    ],
)
async def test_a_token_that_the_provider_did_not_sign_is_refused(
    provider: Provider, client: OidcClient, signing: Signing, why: str
) -> None:
    provider.knobs.signing = signing

    assert await refusal(client) == not_accepted(why)


async def test_no_key_of_the_list_makes_a_shared_secret_good(provider: Provider, client: OidcClient) -> None:
    provider.knobs.signing = Signing.HS256_CLIENT_SECRET
    provider.knobs.more_keys = [{"kty": "oct", "kid": "rsa-0", "k": "czNjcmV0"}]

    assert await refusal(client) == not_accepted("it is signed with “HS256”, which proves nothing here")


async def test_a_signature_without_a_name_is_checked_all_the_same(provider: Provider, client: OidcClient) -> None:
    provider.knobs.signing = Signing.STRANGER
    provider.knobs.has_kid = False

    assert await refusal(client) == not_accepted("its signature is wrong")


@pytest.mark.parametrize("token", ["", "x", "a.b", "a.b.c", "e30.e30.", "ü.ü.ü", "." * 200_000])
async def test_what_is_no_token_is_refused(provider: Provider, client: OidcClient, token: str) -> None:
    provider.knobs.token_answer = {"id_token": token}

    assert await refusal(client) == not_accepted("it is garbled")


@pytest.mark.parametrize("token", [None, 7, ["a.b.c"]])
async def test_without_an_id_token_nobody_gets_in(provider: Provider, client: OidcClient, token: object) -> None:
    provider.knobs.token_answer = {"id_token": token}

    assert await refusal(client) == not_accepted("there is no ID token; the provider has to allow the scope openid")


# What the browser brings


async def test_a_code_is_good_once(client: OidcClient) -> None:
    departure = await client.depart()
    state, code = await signed_in(departure.url)
    await client.arrive(ticket=departure.ticket, state=state, code=code)

    with pytest.raises(SignInFailed) as caught:
        await client.arrive(ticket=departure.ticket, state=state, code=code)
    assert str(caught.value) == USED


async def test_somebody_elses_code_does_not_fit_my_ticket(client: OidcClient) -> None:
    mine, theirs = await client.depart(), await client.depart()
    _, stolen = await signed_in(theirs.url, ERIK)

    with pytest.raises(SignInFailed) as caught:
        await client.arrive(ticket=mine.ticket, state=mine.ticket.split(".")[0], code=stolen)
    assert str(caught.value) == USED


async def test_a_state_from_another_sign_in_is_refused_before_the_code_is_used(
    provider: Provider, client: OidcClient
) -> None:
    mine, theirs = await client.depart(), await client.depart()
    state, code = await signed_in(theirs.url, ERIK)

    with pytest.raises(SignInFailed) as caught:
        await client.arrive(ticket=mine.ticket, state=state, code=code)
    assert str(caught.value) == OTHER_BROWSER
    assert provider.asked["/token"] == 0


@pytest.mark.parametrize("ticket", ["", "x", "..", "a.b.c", "ü" * 131, "a" * 131, "x" * 10_000])
async def test_what_is_no_ticket_is_refused(provider: Provider, client: OidcClient, ticket: str) -> None:
    with pytest.raises(SignInFailed) as caught:
        await client.arrive(ticket=ticket, state="", code="x")
    assert str(caught.value) == OTHER_BROWSER
    assert not provider.asked


@pytest.mark.parametrize("state", ["", "x", "ü", "\ud800", "x" * 100_000])
async def test_any_text_can_stand_where_the_state_should(client: OidcClient, state: str) -> None:
    departure = await client.depart()

    with pytest.raises(SignInFailed) as caught:
        await client.arrive(ticket=departure.ticket, state=state, code="x")
    assert str(caught.value) == OTHER_BROWSER


@pytest.mark.parametrize("code", ["x", "ü", "a&code=b", "a b+c%", "\x00", "x" * 4000])
async def test_any_text_can_stand_where_the_code_should(client: OidcClient, code: str) -> None:
    departure = await client.depart()

    with pytest.raises(SignInFailed) as caught:
        await client.arrive(ticket=departure.ticket, state=departure.ticket.split(".")[0], code=code)
    assert str(caught.value) == USED


async def test_without_a_code_nobody_gets_in(client: OidcClient) -> None:
    departure = await client.depart()

    with pytest.raises(SignInFailed) as caught:
        await client.arrive(ticket=departure.ticket, state=departure.ticket.split(".")[0], code="")
    assert str(caught.value) == OTHER_BROWSER


# What the provider says of itself


async def test_a_provider_that_calls_itself_something_else_is_refused(provider: Provider, client: OidcClient) -> None:
    provider.knobs.document = {"issuer": f"{provider.issuer}/"}

    assert await refusal(client) == (
        f"The identity provider calls itself “{provider.issuer}/”, and this server expects “{provider.issuer}”. "
        "Whoever runs this server has to set the issuer exactly as the provider writes it."
    )


async def test_a_provider_without_a_name_is_refused(provider: Provider, client: OidcClient) -> None:
    provider.knobs.document = {"issuer": None}

    assert "The identity provider calls itself nothing, and" in await refusal(client)


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"])
@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("http://login.example.com/x", "it must begin with https://; http:// is for a provider on this machine alone"),
        ("javascript:alert(1)", "write it as https://HOST or https://HOST/PATH"),
        ("https://login.example.com; script-src *", "write it as https://HOST or https://HOST/PATH"),
        (7, "there is no address"),
    ],
)
async def test_an_address_that_is_not_safe_is_refused(
    provider: Provider, client: OidcClient, name: str, address: object, why: str
) -> None:
    provider.knobs.document = {name: address}

    with pytest.raises(SignInFailed) as caught:
        await client.depart()
    assert str(caught.value) == (
        f"The identity provider's {name} cannot be used: {why}. Tell whoever runs this server."
    )


async def test_a_secret_that_the_provider_does_not_accept_is_the_operators_affair(provider: Provider) -> None:
    client = OidcClient(OidcSettings(provider.issuer, "handraise", "wrong", CALLBACK))

    sentence = await refusal(client)

    assert sentence == (
        "The identity provider does not accept this server's client id and secret. "
        "Whoever runs this server has to check both."
    )
    await client.close()


@pytest.mark.parametrize(
    ("error", "said"),
    [("server_error", "“server_error”"), ("a\nb\u202e", "“a b⟨U+202E⟩”"), ({"x": 1}, "no reason given")],
)
async def test_any_other_refusal_is_passed_on(provider: Provider, client: OidcClient, error: object, said: str) -> None:
    provider.knobs.token_answer = {"error": error}

    assert await refusal(client) == f"The identity provider refused to finish the sign-in ({said}). {AGAIN}"


async def test_two_different_people_in_one_sign_in_are_refused(provider: Provider, client: OidcClient) -> None:
    provider.knobs.tells_in_token = False
    provider.knobs.userinfo = {"sub": "erik-2"}

    assert await refusal(client) == not_accepted("it tells of two different people")


async def test_a_redirect_is_not_followed(provider: Provider, client: OidcClient) -> None:
    provider.knobs.statuses = {"/token": 307}

    assert await refusal(client) == f"The identity provider answered with status 307. {AGAIN}"


@pytest.mark.parametrize("issuer", ["http://login.example.com", "login.example.com", "https://x.example.com/?a=b", ""])
def test_an_issuer_that_is_not_safe_makes_no_client(issuer: str) -> None:
    with pytest.raises(ValueError, match=r"https://HOST|must begin with https://|nothing behind a \?"):
        OidcSettings(issuer, "handraise", "s3cret", CALLBACK)


async def test_a_sentence_holds_no_secret(provider: Provider, client: OidcClient) -> None:
    departure = await client.depart()
    state, code = await signed_in(departure.url, DANA)
    provider.knobs.claims = {"aud": "another"}

    with pytest.raises(SignInFailed) as caught:
        await client.arrive(ticket=departure.ticket, state=state, code=code)

    for secret in (*departure.ticket.split("."), code, provider.client_secret):
        assert secret not in repr(caught.value)
    assert caught.value.__suppress_context__


async def test_who_signed_in_before_is_nobody_to_the_next(provider: Provider) -> None:
    """The provider sets a cookie with each token and turns away whoever brings it back."""
    provider.knobs.tells_in_token = False
    client = OidcClient(settings_for(provider))

    first, second = await enter(client, DANA), await enter(client, ERIK)

    assert (first.email, second.email) == ("dana@example.com", "erik@example.com")
    await client.close()
