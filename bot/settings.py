"""Settings, read once from the environment and `handraise.toml`; every problem is listed at once.

This is the only module that reads the environment.
"""

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from adapters.email.addresses import parse_mailbox, parse_smtp_url
from adapters.oidc.addresses import checked_issuer
from adapters.sql.database import parse_url
from core.deadlines import TimeLimits
from core.rates import Rate
from core.sessions import SessionRules

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd])")
_RATE = re.compile(r"(\d+)\s*/\s*(second|minute|hour|day)")
_PERIODS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}


def parse_duration(value: object) -> object:
    if not isinstance(value, str):
        return value
    match = _DURATION.fullmatch(value.strip())
    if match is None:
        raise ValueError("write a duration as a number with a unit, such as 30s, 5m, 2h or 1d")
    try:
        return timedelta(seconds=float(match[1]) * _UNITS[match[2]])
    except OverflowError:
        raise ValueError("that is longer than any clock runs") from None


def parse_rate(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value.strip().lower() == "off":
        return None
    match = _RATE.fullmatch(value.strip().lower())
    if match is None or int(match[1]) == 0:
        raise ValueError("write a rate as COUNT/PERIOD, such as 600/minute, or off")
    return Rate(int(match[1]), timedelta(seconds=_PERIODS[match[2]]))


Duration = Annotated[timedelta, BeforeValidator(parse_duration)]
OptionalRate = Annotated[Rate | None, BeforeValidator(parse_rate)]


class Settings(BaseSettings):
    """Each field is an environment variable with the prefix HANDRAISE_ and a key of the same name in the file."""

    model_config = SettingsConfigDict(
        env_prefix="HANDRAISE_", toml_file="handraise.toml", extra="ignore", frozen=True, env_ignore_empty=True
    )

    data_dir: Path = Field(Path(".handraise"), description="where the database and the credentials are kept")
    database_url: str = Field("", description="sqlite:///FILE or postgresql://…; empty: a SQLite file in DATA_DIR")
    host: str = Field("127.0.0.1", description="address to listen on")
    port: int = Field(8700, ge=0, le=65535, description="port to listen on; 0 picks a free one")
    public_url: str = Field("", description="how people and agents reach the server, if not by HOST and PORT")
    log_format: Literal["console", "json"] = Field("console", description="console or json")
    min_time_limit: Duration = Field(timedelta(minutes=5), description="shortest time limit an asker may set")
    max_time_limit: Duration = Field(timedelta(hours=24), description="longest time limit an asker may set")
    rate_limit: OptionalRate = Field(
        Rate(600, timedelta(minutes=1)), description="asks per key and per job, COUNT/PERIOD or off"
    )

    webhook_allow: str = Field(
        "", description="private hosts that callbacks may reach, comma-separated; empty: public https only"
    )

    smtp_url: str = Field("", description="mail server, smtp://USER:PASSWORD@HOST:587 or smtps://…; empty: no email")
    mail_from: str = Field("", description="whom emails come from, such as Handraise <bot@example.com>")
    heartbeat_url: str = Field(
        "", description="called every minute while nothing is overdue; let its silence raise an alarm"
    )

    oidc_issuer: str = Field("", description="identity provider for the inbox, https://HOST/PATH; empty: none")
    oidc_client_id: str = Field("", description="how the identity provider knows this server")
    oidc_client_secret: str = Field("", repr=False, description="what it proves that with")

    session_idle: Duration = Field(
        timedelta(minutes=30), description="a session in the inbox that nobody uses for so long ends"
    )
    session_lifetime: Duration = Field(timedelta(hours=12), description="after this people sign in again")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @field_validator("database_url")
    @classmethod
    def _usable_url(cls, value: str) -> str:
        if value:
            parse_url(value)
        return value

    @field_validator("smtp_url")
    @classmethod
    def _usable_smtp(cls, value: str) -> str:
        if value:
            parse_smtp_url(value)
        return value

    @field_validator("mail_from")
    @classmethod
    def _usable_sender(cls, value: str) -> str:
        if value:
            parse_mailbox(value)
        return value

    @field_validator("oidc_issuer")
    @classmethod
    def _usable_issuer(cls, value: str) -> str:
        return checked_issuer(value) if value else value

    @field_validator("heartbeat_url")
    @classmethod
    def _usable_heartbeat(cls, value: str) -> str:
        if value and not re.match(r"https?://[^/]+", value):
            raise ValueError("write it as http://HOST/PATH or https://HOST/PATH")
        return value

    @field_validator("public_url")
    @classmethod
    def _web_address(cls, value: str) -> str:
        if value and not re.match(r"https?://[^/]+", value):
            raise ValueError("write it as http://HOST or https://HOST")
        return value.rstrip("/")

    @model_validator(mode="after")
    def _limits_in_order(self) -> "Settings":
        if not timedelta(0) < self.min_time_limit <= self.max_time_limit:
            raise ValueError("MIN_TIME_LIMIT must be above zero and not above MAX_TIME_LIMIT")
        return self

    @model_validator(mode="after")
    def _mail_complete(self) -> "Settings":
        if bool(self.smtp_url) != bool(self.mail_from):
            raise ValueError("SMTP_URL and MAIL_FROM go together; set both or neither")
        return self

    @model_validator(mode="after")
    def _provider_complete(self) -> "Settings":
        if len({bool(self.oidc_issuer), bool(self.oidc_client_id), bool(self.oidc_client_secret)}) > 1:
            raise ValueError("OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET go together; set all three or none")
        return self

    @property
    def database(self) -> str:
        return self.database_url or f"sqlite:///{self.data_dir / 'handraise.db'}"

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        return tuple(host.strip() for host in self.webhook_allow.split(",") if host.strip())

    @property
    def session_rules(self) -> SessionRules:
        return SessionRules(self.session_idle, self.session_lifetime)

    @property
    def limits(self) -> TimeLimits:
        return TimeLimits(self.min_time_limit, self.max_time_limit)


class SettingsProblem(Exception):
    """The settings cannot be used; `problems` has one sentence for each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def load_settings(**given: Any) -> Settings:
    """What the command line gave wins over the environment, the environment over the file."""
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as failure:
        raise SettingsProblem([_sentence(dict(error)) for error in failure.errors()]) from None
    except ValueError as failure:  # a handraise.toml that is no TOML
        raise SettingsProblem([f"handraise.toml cannot be read: {failure}"]) from None


def _sentence(error: dict[str, Any]) -> str:
    name = "_".join(str(part) for part in error["loc"]).upper()
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"HANDRAISE_{name}: {message}" if name else message
