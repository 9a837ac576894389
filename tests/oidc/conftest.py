"""A provider, and a client that knows it."""

from collections.abc import AsyncIterator, Iterator

import pytest

from adapters.oidc.client import OidcClient
from tests.oidc.doors import Clock, settings_for
from tests.support.provider import DANA, ERIK, Provider


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(DANA, ERIK) as started:
        yield started


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def client(provider: Provider, clock: Clock) -> AsyncIterator[OidcClient]:
    opened = OidcClient(settings_for(provider), clock=clock)
    yield opened
    await opened.close()
