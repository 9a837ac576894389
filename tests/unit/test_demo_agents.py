"""What the example agents work out for themselves."""

from datetime import date
from pathlib import Path

import pytest

from demo.deployer import NEW, Release, Unreleasable, release_in
from demo.planner import Step, next_monday, schedule
from demo.server import Place, data_dir_of, place_in, server_environment
from demo.voice import harmless


@pytest.mark.parametrize(("percent", "machines"), [(1, 1), (25, 2), (50, 4), (100, 8)])
def test_a_release_reaches_its_share_of_the_machines_and_at_least_one(percent: int, machines: int) -> None:
    assert Release(NEW, "eu-central", percent).machines == machines


@pytest.mark.parametrize(
    "edited",
    [
        {"version": "9.9"},
        {"region": ["eu-central"]},
        {"percent": 0},
        {"percent": 101},
        {"percent": True},
        {"percent": "5"},
    ],
)
def test_arguments_that_make_no_sense_are_no_release(edited: dict[str, object]) -> None:
    with pytest.raises(Unreleasable):
        release_in({"version": NEW, "region": "eu-central", "percent": 25} | edited)


def test_a_schedule_keeps_off_the_weekend() -> None:
    friday, monday = date(2026, 12, 4), date(2026, 12, 7)

    first, second = schedule([Step("build", 4), Step("test", 1)], friday, people=2)

    assert (first.first_day, first.last_day) == (friday, monday)
    assert (second.first_day, second.last_day) == (date(2026, 12, 8), date(2026, 12, 8))


def test_next_monday_is_never_today() -> None:
    assert next_monday(date(2026, 12, 7)) == date(2026, 12, 14)
    assert next_monday(date(2026, 12, 13)) == date(2026, 12, 14)


def test_the_data_folder_is_the_one_the_server_takes(tmp_path: Path) -> None:
    nothing_said = data_dir_of({}, tmp_path)
    (tmp_path / "handraise.toml").write_text('data_dir = "from-the-file"\n')

    assert nothing_said == Path(".handraise")
    assert data_dir_of({"HANDRAISE_DATA_DIR": ""}, tmp_path) == Path("from-the-file")
    assert data_dir_of({"HANDRAISE_DATA_DIR": "said"}, tmp_path) == Path("said")


def test_short_time_limits_are_allowed_unless_somebody_said_otherwise() -> None:
    assert server_environment({"HOME": "/root"}) == {"HOME": "/root", "HANDRAISE_MIN_TIME_LIMIT": "1s"}
    assert server_environment({"HANDRAISE_MIN_TIME_LIMIT": "5m"}) == {"HANDRAISE_MIN_TIME_LIMIT": "5m"}


@pytest.mark.parametrize("content", ["", "[]", '"text"', '{"url": "http://127.0.0.1:1"}'])
def test_spoiled_credentials_lead_nowhere(tmp_path: Path, content: str) -> None:
    (tmp_path / "credentials.json").write_text(content)

    assert place_in(tmp_path) is None


def test_credentials_lead_to_the_server_with_the_key_of_agents(tmp_path: Path) -> None:
    (tmp_path / "credentials.json").write_text('{"url": "http://h:1", "adminKey": "hr_admin", "agentKey": "hr_agent"}')

    assert place_in(tmp_path) == Place("http://h:1", "hr_agent")


def test_what_people_write_cannot_steer_the_terminal() -> None:
    assert harmless("no\x1b[2J way") == "no\ufffd[2J way"
