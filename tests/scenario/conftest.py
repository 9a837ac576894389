"""Whoever talks to the module's server: the agent that asks, the admin who answers, an agent with a key of its own."""

from collections.abc import Iterator

import httpx2
import pytest

from tests.support.servers import RunningServer


@pytest.fixture(scope="module")
def agent(server: RunningServer) -> Iterator[httpx2.Client]:
    with server.client() as client:
        yield client


@pytest.fixture(scope="module")
def admin(server: RunningServer) -> Iterator[httpx2.Client]:
    with server.admin() as client:
        yield client


@pytest.fixture(scope="module")
def stranger(server: RunningServer) -> Iterator[httpx2.Client]:
    with server.client(server.new_key("stranger", "ask,read")) as client:
        yield client


@pytest.fixture(scope="module")
def member(server: RunningServer) -> Iterator[httpx2.Client]:
    """A person who is not an admin, with a key that may answer."""
    with server.client(server.new_key("eve's phone", "answer", "Eve")) as client:
        yield client
