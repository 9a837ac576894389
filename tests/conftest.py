"""What several kinds of test need: a server process, a PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.foreign import install_node_verifier
from tests.support.postgres import Postgres
from tests.support.servers import RunningServer, running


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    server = Postgres()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def node_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with npm's own verifier of Standard Webhooks."""
    folder = tmp_path_factory.mktemp("node")
    install_node_verifier(folder)
    return folder


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One server for the tests of a module; tests keep out of each other's way by asking their own questions."""
    with running(tmp_path_factory.mktemp("server")) as started:
        yield started


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"
