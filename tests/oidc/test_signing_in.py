"""The good way: somebody leaves, signs in at the provider and comes back as who they are."""

import asyncio
import re
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from adapters.oidc.client import Identity, OidcClient
from tests.oidc.doors import CALLBACK, Clock, enter, settings_for
from tests.support.provider import DANA, ERIK, Account, Provider
from tests.support.signatures import Signing, signing_keys


async def test_whoever_comes_back_is_who_signed_in(provider: Provider, client: OidcClient) -> None:
    assert await enter(client) == Identity("dana-1", provider.issuer, "dana@example.com", "Dana")


async def test_the_browser_is_sent_with_everything_that_ties_its_return_to_it(
    provider: Provider, client: OidcClient
) -> None:
    departure = await client.depart()

    address, asked = urlsplit(departure.url), parse_qs(urlsplit(departure.url).query)
    state, nonce, _ = departure.ticket.split(".")
    challenge = asked.pop("code_challenge")
    assert f"{address.scheme}://{address.netloc}{address.path}" == f"{provider.issuer}/authorize"
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", challenge[0])
    assert asked == {
        "response_type": ["code"],
        "client_id": ["handraise"],
        "redirect_uri": [CALLBACK],
        "scope": ["openid email profile"],
        "state": [state],
        "nonce": [nonce],
        "code_challenge_method": ["S256"],
    }


async def test_a_ticket_fits_a_cookie_and_is_never_the_same(client: OidcClient) -> None:
    tickets = {(await client.depart()).ticket for _ in range(50)}

    assert len(tickets) == 50
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{131}", ticket) for ticket in tickets)


async def test_what_is_secret_is_not_in_the_url_and_not_shown(provider: Provider, client: OidcClient) -> None:
    departure = await client.depart()

    verifier = departure.ticket.split(".")[2]
    assert verifier not in departure.url
    assert verifier not in repr(departure)
    assert provider.client_secret not in departure.url
    assert provider.client_secret not in repr(settings_for(provider))


async def test_the_page_to_sign_in_on_may_be_elsewhere_and_have_a_query(provider: Provider) -> None:
    provider.knobs.document = {"authorization_endpoint": "https://login.example.com/oauth2/authorize?tenant=1"}
    other = OidcClient(settings_for(provider))
    assert (await other.depart()).url.startswith("https://login.example.com/oauth2/authorize?tenant=1&response_type=")
    await other.close()


@pytest.mark.parametrize("signing", [Signing.RS256, Signing.ES256, Signing.EDDSA, Signing.ED25519])
@pytest.mark.parametrize("has_kid", [True, False])
async def test_each_signature_that_only_the_provider_can_make_is_good(
    provider: Provider, client: OidcClient, signing: Signing, has_kid: bool
) -> None:
    provider.knobs.signing = signing
    provider.knobs.has_kid = has_kid

    assert (await enter(client)).subject == "dana-1"


@pytest.mark.parametrize("in_body", [True, False])
async def test_the_secret_goes_the_way_the_provider_takes_it_whatever_is_in_it(in_body: bool) -> None:
    with Provider(client_id="hand raise:ü", client_secret="p+ss%20:/ö~") as provider:
        provider.knobs.takes_secret_in_body = in_body
        client = OidcClient(settings_for(provider))

        assert (await enter(client)).subject == "dana-1"
        await client.close()


@pytest.mark.parametrize("path", ["/", "/realms/one", "/realms/one/"])
async def test_an_issuer_may_have_a_path_and_is_taken_to_the_letter(path: str) -> None:
    with Provider(path=path) as provider:
        client = OidcClient(settings_for(provider))

        assert provider.issuer.endswith(path)
        assert (await enter(client)).issuer == provider.issuer
        await client.close()


# Addresses and names


async def test_an_address_that_is_not_in_the_token_is_asked_for(provider: Provider, client: OidcClient) -> None:
    provider.knobs.tells_in_token = False

    assert await enter(client) == Identity("dana-1", provider.issuer, "dana@example.com", "Dana")
    assert provider.asked["/userinfo"] == 1


async def test_nobody_asks_for_what_the_token_tells(provider: Provider, client: OidcClient) -> None:
    await enter(client)

    assert provider.asked["/userinfo"] == 0


@pytest.mark.parametrize("in_token", [True, False])
@pytest.mark.parametrize("verified", [False, None, "false", 1, "yes"])
async def test_an_address_that_the_provider_has_not_verified_is_none(
    provider: Provider, client: OidcClient, in_token: bool, verified: object
) -> None:
    provider.knobs.tells_in_token = in_token
    provider.knobs.claims = {"email_verified": verified} if in_token else {}
    provider.knobs.userinfo = {"email_verified": verified}

    assert (await enter(client)).email is None


async def test_the_flag_may_be_written_as_a_text(provider: Provider, client: OidcClient) -> None:
    provider.knobs.claims = {"email_verified": "true"}

    assert (await enter(client)).email == "dana@example.com"


async def test_verified_in_the_token_is_not_said_of_an_address_from_elsewhere(
    provider: Provider, client: OidcClient
) -> None:
    provider.knobs.claims = {"email": None, "email_verified": True}
    provider.knobs.userinfo = {"email": "boss@example.com", "email_verified": None}

    assert (await enter(client)).email is None


@pytest.mark.parametrize(
    ("email", "taken"),
    [
        ("Dana@Example.COM", "dana@example.com"),
        ("\u212aim@example.com", None),  # a Kelvin sign, which is a k in lower case
        ("dana@exämple.com", None),
        ("dana", None),
        ("@example.com", None),
        ("dana @example.com", None),
        ("dana@example.com\n", None),
        (["dana@example.com"], None),
        ("d" * 250 + "@example.com", None),
    ],
)
async def test_only_a_plain_address_is_one(
    provider: Provider, client: OidcClient, email: object, taken: str | None
) -> None:
    provider.knobs.claims = {"email": email}

    assert (await enter(client)).email == taken


async def test_without_an_address_there_is_still_a_subject(provider: Provider, client: OidcClient) -> None:
    provider.accounts["frida-3"] = frida = Account("frida-3", "Frida")

    assert await enter(client, frida) == Identity("frida-3", provider.issuer, None, "Frida")


@pytest.mark.parametrize("knob", ["no endpoint", "forbidden", "no access token"])
async def test_a_provider_that_tells_no_more_than_the_subject_is_good_enough(
    provider: Provider, client: OidcClient, knob: str
) -> None:
    provider.knobs.tells_in_token = False
    match knob:
        case "no endpoint":
            provider.knobs.document = {"userinfo_endpoint": None}
        case "forbidden":
            provider.knobs.statuses = {"/userinfo": 403}
        case "no access token":
            provider.knobs.token_answer = {"access_token": None}

    assert await enter(client) == Identity("dana-1", provider.issuer, None, None)


async def test_a_name_is_one_line_that_hides_nothing(provider: Provider, client: OidcClient) -> None:
    provider.knobs.claims = {"name": "  Dana\n\u202eanimda " + "x" * 200}

    name = (await enter(client)).name

    assert name is not None
    assert name.startswith("Dana ⟨U+202E⟩animda x")
    assert len(name) == 100


# Several at once


async def test_many_at_once_are_not_taken_for_each_other(provider: Provider, client: OidcClient) -> None:
    provider.knobs.tells_in_token = False
    everybody = [DANA, ERIK] * 10

    found = await asyncio.gather(*(enter(client, account) for account in everybody))

    assert [identity.email for identity in found] == [account.email for account in everybody]
    assert (provider.asked["/.well-known/openid-configuration"], provider.asked["/jwks"]) == (1, 1)


async def test_what_the_provider_publishes_is_asked_for_once_in_an_hour(
    provider: Provider, client: OidcClient, clock: Clock
) -> None:
    assert not provider.asked

    for _ in range(3):
        await enter(client)
        clock.advance(timedelta(minutes=19))
    assert (provider.asked["/.well-known/openid-configuration"], provider.asked["/jwks"]) == (1, 1)

    clock.advance(timedelta(minutes=4))
    await enter(client)
    assert (provider.asked["/.well-known/openid-configuration"], provider.asked["/jwks"]) == (2, 2)


async def test_other_keys_in_the_list_do_no_harm(provider: Provider, client: OidcClient) -> None:
    elliptic = next(key for key in signing_keys(7).published() if key["kty"] == "EC")
    provider.knobs.more_keys = [
        {"kty": "AKP", "alg": "ML-DSA-44", "kid": "tomorrow", "pub": "AAAA"},
        {"kty": "RSA", "kid": "rsa-0", "use": "enc", "n": "AQAB", "e": "AQAB"},
        {"kty": "RSA", "kid": "broken"},
        {"kty": "oct", "kid": "rsa-0", "k": "c2VjcmV0"},
        elliptic | {"kid": "rsa-0"},
        "nonsense",
        None,
    ]

    assert (await enter(client)).subject == "dana-1"
