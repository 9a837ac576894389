"""Every story is told twice: in memory and over SQLite."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ladder.world import World, open_world


@pytest.fixture(params=["memory", "sqlite"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    with open_world(request.param, tmp_path) as opened:
        yield opened
