"""The repository about itself."""

import re
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from adapters.sql.database import HEAD, known_revisions, migrate, open_database
from adapters.sql.tables import metadata
from bot.settings import Settings
from core.machine import TRANSITIONS
from tests.support.backends import sqlite_url
from tests.support.servers import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
SOURCES = [path for folder in ("core", "adapters", "bot", "sdk/src") for path in (ROOT / folder).rglob("*.py")]


def test_the_readme_lists_every_setting_and_no_other() -> None:
    listed = re.findall(r"^\| `HANDRAISE_([A-Z_]+)`", README, re.MULTILINE)

    assert sorted(listed) == sorted(name.upper() for name in Settings.model_fields)


def test_the_readme_draws_the_transitions_there_are() -> None:
    drawn = set(re.findall(r"^    (\S+) --> (\w+): (\w+)$", README, re.MULTILINE))

    real = {
        ("[*]" if begin is None else begin.value, end.value, command.__name__)
        for begin, commands in TRANSITIONS.items()
        for command, ends in commands.items()
        for end in ends
    }
    assert drawn == real


def test_head_names_a_revision_that_exists_and_no_other_follows_it() -> None:
    assert HEAD in known_revisions()
    assert max(known_revisions()) == HEAD


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_migrations_make_the_tables_the_code_uses(
    kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    url = sqlite_url(tmp_path_factory.mktemp("schema"))
    if kind == "postgres":
        url = request.getfixturevalue("postgres").new_database()
    database = open_database(url)

    first, second = migrate(database), migrate(database)

    assert (first, second) == (True, False)
    with database.reading.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), metadata)
    database.dispose()
    assert differences == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_modules_stay_small(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 420


def test_nothing_installed_is_unpinned() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()

    assert [line for line in pins if not re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9_.+!-]+", line)] == []
