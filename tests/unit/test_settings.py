"""Settings: what the command line, the environment and `handraise.toml` say, and what a mistake is told."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from bot.settings import SettingsProblem, load_settings, parse_duration, parse_rate
from core.deadlines import TimeLimits
from core.rates import Rate

NO_DURATION = "write a duration as a number with a unit, such as 30s, 5m, 2h or 1d"
NOT_ALL_THREE = "OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET go together; set all three or none"
NO_RATE = "write a rate as COUNT/PERIOD, such as 600/minute, or off"


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting from the machine that runs the tests: an empty folder and no variables of ours."""
    for name in list(os.environ):
        if name.upper().startswith("HANDRAISE_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def problems(**given: object) -> list[str]:
    with pytest.raises(SettingsProblem) as caught:
        load_settings(**given)
    return caught.value.problems


# Durations and rates


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("5m", 300), ("2h", 7200), ("1d", 86400), ("1.5h", 5400), ("0.5s", 0.5), (" 10 m ", 600)],
)
def test_a_duration_is_a_number_with_a_unit(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "5", "m", "5 minutes", "-5m", "1h30m", "5M", "five m", ".5h", "1w"])
def test_anything_else_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match=NO_DURATION):
        parse_duration(text)


def test_a_duration_that_is_one_already_stays() -> None:
    assert parse_duration(timedelta(minutes=5)) == timedelta(minutes=5)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("600/minute", Rate(600, timedelta(minutes=1))),
        ("1/second", Rate(1, timedelta(seconds=1))),
        ("100 / hour", Rate(100, timedelta(hours=1))),
        (" 5/DAY ", Rate(5, timedelta(days=1))),
    ],
)
def test_a_rate_is_a_count_per_period(text: str, rate: Rate) -> None:
    assert parse_rate(text) == rate


@pytest.mark.parametrize("text", ["off", "OFF", " off "])
def test_a_rate_can_be_off(text: str) -> None:
    assert parse_rate(text) is None


@pytest.mark.parametrize("text", ["", "600", "0/minute", "-1/minute", "600/week", "600 per minute", "on", "1.5/hour"])
def test_anything_else_is_no_rate(text: str) -> None:
    with pytest.raises(ValueError, match=NO_RATE):
        parse_rate(text)


# What holds unless it is set


def test_the_defaults_are_those_of_the_contract() -> None:
    settings = load_settings()

    assert dict(settings) == {
        "data_dir": Path(".handraise"),
        "database_url": "",
        "host": "127.0.0.1",
        "port": 8700,
        "public_url": "",
        "log_format": "console",
        "min_time_limit": timedelta(minutes=5),
        "max_time_limit": timedelta(hours=24),
        "rate_limit": Rate(600, timedelta(minutes=1)),
        "webhook_allow": "",
        "smtp_url": "",
        "mail_from": "",
        "heartbeat_url": "",
        "oidc_issuer": "",
        "oidc_client_id": "",
        "oidc_client_secret": "",
        "session_idle": timedelta(minutes=30),
        "session_lifetime": timedelta(hours=12),
    }


def test_the_database_is_a_file_in_the_data_folder() -> None:
    assert load_settings(data_dir="/srv/hr").database == "sqlite:////srv/hr/handraise.db"


def test_a_database_that_is_given_is_the_one_used() -> None:
    settings = load_settings(data_dir="/srv/hr", database_url="postgresql://dana@db/handraise")

    assert settings.database == "postgresql://dana@db/handraise"


def test_the_limits_are_handed_to_the_rules() -> None:
    settings = load_settings(min_time_limit="1s", max_time_limit="2h")

    assert settings.limits == TimeLimits(timedelta(seconds=1), timedelta(hours=2))


# Where settings come from


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("HANDRAISE_DATA_DIR", "/srv/hr", "data_dir", Path("/srv/hr")),
        ("HANDRAISE_DATABASE_URL", "sqlite:///x.db", "database_url", "sqlite:///x.db"),
        ("HANDRAISE_HOST", "0.0.0.0", "host", "0.0.0.0"),
        ("HANDRAISE_PORT", "0", "port", 0),
        ("HANDRAISE_PUBLIC_URL", "https://hr.example.org/", "public_url", "https://hr.example.org"),
        ("HANDRAISE_LOG_FORMAT", "json", "log_format", "json"),
        ("HANDRAISE_MIN_TIME_LIMIT", "1s", "min_time_limit", timedelta(seconds=1)),
        ("HANDRAISE_MAX_TIME_LIMIT", "2d", "max_time_limit", timedelta(days=2)),
        ("HANDRAISE_RATE_LIMIT", "10/hour", "rate_limit", Rate(10, timedelta(hours=1))),
        ("HANDRAISE_RATE_LIMIT", "off", "rate_limit", None),
    ],
)
def test_a_variable_of_the_environment_sets_its_field(
    monkeypatch: pytest.MonkeyPatch, variable: str, text: str, field: str, value: object
) -> None:
    monkeypatch.setenv(variable, text)

    assert getattr(load_settings(), field) == value


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAISE_PORT", "")

    assert load_settings().port == 8700


def test_the_file_sets_what_the_environment_does_not(tmp_path: Path) -> None:
    (tmp_path / "handraise.toml").write_text('port = 9000\nmin_time_limit = "1s"\n')

    settings = load_settings()

    assert (settings.port, settings.min_time_limit) == (9000, timedelta(seconds=1))


def test_the_environment_wins_over_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "handraise.toml").write_text("port = 9000\n")
    monkeypatch.setenv("HANDRAISE_PORT", "9001")

    assert load_settings().port == 9001


def test_the_command_line_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAISE_PORT", "9001")

    assert load_settings(port=9002).port == 9002


def test_what_the_command_line_leaves_out_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAISE_PORT", "9001")

    assert load_settings(port=None).port == 9001


# Mistakes


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"min_time_limit": "5"}, f"HANDRAISE_MIN_TIME_LIMIT: {NO_DURATION}"),
        ({"max_time_limit": "1 day"}, f"HANDRAISE_MAX_TIME_LIMIT: {NO_DURATION}"),
        ({"rate_limit": "often"}, f"HANDRAISE_RATE_LIMIT: {NO_RATE}"),
        ({"public_url": "hr.example.org"}, "HANDRAISE_PUBLIC_URL: write it as http://HOST or https://HOST"),
        ({"public_url": "https://"}, "HANDRAISE_PUBLIC_URL: write it as http://HOST or https://HOST"),
        (
            {"database_url": "sqlite://"},
            "HANDRAISE_DATABASE_URL: SQLite needs a file, as in sqlite:///path/to/file.db.",
        ),
        (
            {"database_url": "mysql://db/x"},
            "HANDRAISE_DATABASE_URL: There is no support for mysql; use sqlite:/// or postgresql://.",
        ),
        (
            {"min_time_limit": "2h", "max_time_limit": "1h"},
            "MIN_TIME_LIMIT must be above zero and not above MAX_TIME_LIMIT",
        ),
        ({"min_time_limit": "0s"}, "MIN_TIME_LIMIT must be above zero and not above MAX_TIME_LIMIT"),
        (
            {"oidc_issuer": "login.example.com", "oidc_client_id": "hr", "oidc_client_secret": "s"},
            "HANDRAISE_OIDC_ISSUER: write it as https://HOST or https://HOST/PATH",
        ),
        (
            {"oidc_issuer": "http://login.example.com", "oidc_client_id": "hr", "oidc_client_secret": "s"},
            "HANDRAISE_OIDC_ISSUER: it must begin with https://; http:// is for a provider on this machine alone",
        ),
        ({"oidc_issuer": "https://login.example.com"}, NOT_ALL_THREE),
        ({"oidc_client_id": "hr", "oidc_client_secret": "s"}, NOT_ALL_THREE),
        ({"oidc_issuer": "https://login.example.com", "oidc_client_secret": "s"}, NOT_ALL_THREE),
    ],
)
def test_a_mistake_is_named_with_its_setting(given: dict[str, str], sentence: str) -> None:
    assert problems(**given) == [sentence]


@pytest.mark.parametrize(
    ("given", "setting"),
    [
        ({"port": 65536}, "PORT"),
        ({"port": -1}, "PORT"),
        ({"port": "http"}, "PORT"),
        ({"log_format": "xml"}, "LOG_FORMAT"),
    ],
)
def test_a_value_out_of_range_is_named_with_its_setting(given: dict[str, object], setting: str) -> None:
    (problem,) = problems(**given)

    assert problem.startswith(f"HANDRAISE_{setting}: Input should be ")


def test_every_problem_is_listed_at_once() -> None:
    found = problems(public_url="hr", min_time_limit="5", rate_limit="often")

    assert found == [
        "HANDRAISE_PUBLIC_URL: write it as http://HOST or https://HOST",
        f"HANDRAISE_MIN_TIME_LIMIT: {NO_DURATION}",
        f"HANDRAISE_RATE_LIMIT: {NO_RATE}",
    ]


def test_the_secret_of_the_identity_provider_is_not_shown_with_the_settings() -> None:
    settings = load_settings(oidc_issuer="https://login.example.com/", oidc_client_id="hr", oidc_client_secret="s3cret")

    assert settings.oidc_client_secret == "s3cret"
    assert settings.oidc_issuer == "https://login.example.com/"
    assert "s3cret" not in repr(settings)


def test_equal_limits_are_in_order() -> None:
    settings = load_settings(min_time_limit="1h", max_time_limit="1h")

    assert settings.limits == TimeLimits(timedelta(hours=1), timedelta(hours=1))


def test_a_file_that_is_no_toml_is_a_problem_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "handraise.toml").write_text("port = = 1")

    (problem,) = problems()

    assert problem.startswith("handraise.toml cannot be read: ")
