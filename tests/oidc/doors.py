"""Going through the door: what a server and a browser do together, and the sentence if it stays shut."""

from datetime import timedelta

import pytest

from adapters.oidc.client import Identity, OidcClient, OidcSettings, SignInFailed
from tests.support.provider import DANA, Account, Provider, signed_in

CALLBACK = "https://ask.example.com/login/oidc/callback"
AGAIN = "Try again in a moment; if it stays so, tell whoever runs this server."


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, by: timedelta) -> None:
        self.now += by.total_seconds()


def settings_for(provider: Provider) -> OidcSettings:
    return OidcSettings(provider.issuer, provider.client_id, provider.client_secret, CALLBACK)


async def enter(client: OidcClient, account: Account = DANA) -> Identity:
    departure = await client.depart()
    state, code = await signed_in(departure.url, account)
    return await client.arrive(ticket=departure.ticket, state=state, code=code)


async def refusal(client: OidcClient, account: Account = DANA) -> str:
    with pytest.raises(SignInFailed) as caught:
        await enter(client, account)
    return str(caught.value)
