"""The same tests for every implementation."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.backends import Backend, memory_backend, sql_backend, sqlite_url
from tests.support.clocks import Clock


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    if request.param == "memory":
        yield memory_backend()
        return
    url = sqlite_url(tmp_path)
    if request.param == "postgres":
        url = request.getfixturevalue("postgres").new_database()
    with sql_backend(url) as opened:
        yield opened
        assert opened.connections_in_use() == 0


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
def timed(request: pytest.FixtureRequest, clock: Clock, tmp_path: Path) -> Iterator[Backend]:
    """A backend whose time is the test's; PostgreSQL goes by its own."""
    if request.param == "memory":
        yield memory_backend(clock)
        return
    with sql_backend(sqlite_url(tmp_path), clock) as opened:
        yield opened
