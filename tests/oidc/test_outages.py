"""New keys, and a provider that is down, slow or out of its mind, and then well again."""

import asyncio
from datetime import timedelta

import pytest

from adapters.oidc.client import OidcClient, SignInFailed
from tests.oidc.doors import AGAIN, Clock, enter, refusal, settings_for
from tests.support.provider import Provider, signed_in
from tests.support.signatures import Signing
from tests.support.waiting import eventually

NOT_REACHED = f"The identity provider cannot be reached. {AGAIN}"
WELL_KNOWN = "/.well-known/openid-configuration"


async def test_a_new_key_is_found_at_once(provider: Provider, client: OidcClient) -> None:
    await enter(client)
    provider.rotate()

    assert (await enter(client)).subject == "dana-1"
    assert provider.asked["/jwks"] == 2


async def test_a_new_key_without_a_name_is_found_within_the_hour(
    provider: Provider, client: OidcClient, clock: Clock
) -> None:
    provider.knobs.has_kid = False
    await enter(client)
    provider.rotate()
    clock.advance(timedelta(hours=1))

    assert (await enter(client)).subject == "dana-1"


async def test_a_key_that_was_withdrawn_is_trusted_for_an_hour_at_most(
    provider: Provider, client: OidcClient, clock: Clock
) -> None:
    await enter(client)
    departure = await client.depart()
    state, code = await signed_in(departure.url)
    provider.knobs.publishes = 1
    clock.advance(timedelta(hours=1))

    with pytest.raises(SignInFailed, match="signed with a key that the provider does not publish"):
        await client.arrive(ticket=departure.ticket, state=state, code=code)


async def test_an_unknown_key_is_looked_for_once_in_each_sign_in(provider: Provider, client: OidcClient) -> None:
    provider.knobs.signing = Signing.UNPUBLISHED

    await refusal(client)
    await refusal(client)

    assert provider.asked["/jwks"] == 3


async def test_a_provider_that_was_down_from_the_start_is_used_once_it_is_up(
    provider: Provider, client: OidcClient
) -> None:
    provider.stop()
    with pytest.raises(SignInFailed) as caught:
        await client.depart()
    assert str(caught.value) == NOT_REACHED

    provider.start()

    assert (await enter(client)).subject == "dana-1"


async def test_a_provider_that_goes_down_while_somebody_is_there_is_told_and_used_once_it_is_back(
    provider: Provider, client: OidcClient
) -> None:
    departure = await client.depart()
    state, code = await signed_in(departure.url)
    provider.stop()
    with pytest.raises(SignInFailed) as caught:
        await client.arrive(ticket=departure.ticket, state=state, code=code)
    assert str(caught.value) == NOT_REACHED

    provider.start()

    assert (await client.arrive(ticket=departure.ticket, state=state, code=code)).subject == "dana-1"


@pytest.mark.parametrize("path", [WELL_KNOWN, "/jwks", "/token", "/userinfo"])
async def test_a_provider_in_trouble_is_told_with_its_status_and_used_once_it_is_well(
    provider: Provider, client: OidcClient, path: str
) -> None:
    provider.knobs.tells_in_token = False
    provider.knobs.statuses = {path: 503}
    assert await refusal(client) == f"The identity provider answered with status 503. {AGAIN}"

    provider.knobs.statuses = {}

    assert (await enter(client)).email == "dana@example.com"


@pytest.mark.parametrize("body", ["", "<html>", "[", "7", "[" * 100_000, '"text"'])
@pytest.mark.parametrize(
    ("path", "what"),
    [
        (WELL_KNOWN, "description of itself"),
        ("/jwks", "list of keys"),
        ("/token", "answer"),
        ("/userinfo", "description of you"),
    ],
)
async def test_an_answer_that_makes_no_sense_is_told_and_forgotten(
    provider: Provider, client: OidcClient, path: str, what: str, body: str
) -> None:
    provider.knobs.tells_in_token = False
    provider.knobs.bodies = {path: body}
    assert await refusal(client) == f"The identity provider's {what} cannot be understood. {AGAIN}"

    provider.knobs.bodies = {}

    assert (await enter(client)).email == "dana@example.com"


@pytest.mark.parametrize("expires_in", ["soon", [1], float("inf")])
async def test_a_token_that_expires_at_no_time_is_told(
    provider: Provider, client: OidcClient, expires_in: object
) -> None:
    provider.knobs.token_answer = {"expires_in": expires_in}

    assert await refusal(client) == f"The identity provider's answer cannot be understood. {AGAIN}"


@pytest.mark.parametrize("path", [WELL_KNOWN, "/jwks", "/token", "/userinfo"])
async def test_a_provider_that_does_not_answer_is_not_waited_for(provider: Provider, path: str) -> None:
    provider.knobs.tells_in_token = False
    provider.knobs.silent = {path}
    client = OidcClient(settings_for(provider), timeout=timedelta(milliseconds=300))
    assert await refusal(client) == f"The identity provider did not answer in 0.3 s. {AGAIN}"
    await client.close()

    provider.knobs.silent = set()
    patient = OidcClient(settings_for(provider))
    assert (await enter(patient)).email == "dana@example.com"
    await patient.close()


async def test_all_who_wait_for_a_silent_provider_wait_together(provider: Provider) -> None:
    provider.knobs.silent = {WELL_KNOWN}
    client = OidcClient(settings_for(provider), timeout=timedelta(milliseconds=300))

    waiting = await asyncio.gather(*(client.depart() for _ in range(20)), return_exceptions=True)

    assert all(isinstance(failure, SignInFailed) for failure in waiting)
    assert provider.asked[WELL_KNOWN] == 1
    await client.close()


async def test_whoever_gives_up_takes_it_from_nobody_else(provider: Provider, client: OidcClient) -> None:
    provider.knobs.silent = {WELL_KNOWN}
    first, second = asyncio.create_task(client.depart()), asyncio.create_task(client.depart())

    async def has_asked() -> bool:
        return provider.asked[WELL_KNOWN] == 1

    await eventually(has_asked)
    first.cancel()
    provider.stop()

    with pytest.raises(asyncio.CancelledError):
        await first
    with pytest.raises(SignInFailed):
        await second


async def test_closing_waits_for_nothing(provider: Provider) -> None:
    provider.knobs.silent = {WELL_KNOWN}
    client = OidcClient(settings_for(provider))
    leaving = asyncio.create_task(client.depart())

    async def has_asked() -> bool:
        return provider.asked[WELL_KNOWN] == 1

    await eventually(has_asked)
    await client.close()

    with pytest.raises(asyncio.CancelledError):
        await leaving
