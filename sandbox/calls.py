"""The Web API as a table of calls: who may make them, how their arguments arrive, and how Slack says no."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from aiohttp import web

Json = dict[str, Any]

#: Arguments that arrive as JSON within a form.
_STRUCTURED = ("blocks", "view", "metadata", "attachments")


class SlackError(Exception):
    """Slack's own word for what is wrong; anything more goes beside it."""

    def __init__(self, code: str, **more: Any) -> None:
        super().__init__(code)
        self.code, self.more = code, more

    def as_json(self) -> Json:
        return {"ok": False, "error": self.code, **self.more}


@dataclass(frozen=True)
class Arguments:
    given: Mapping[str, Any]

    def text(self, name: str) -> str:
        value = self.given.get(name)
        return "" if value is None else str(value)

    def needed(self, name: str) -> str:
        value = self.text(name)
        if not value:
            raise SlackError("invalid_arguments", response_metadata={"messages": [f"[ERROR] missing: {name}"]})
        return value

    def flag(self, name: str) -> bool:
        return str(self.given.get(name, "")).lower() in ("1", "true")

    def number(self, name: str, otherwise: int) -> int:
        text = self.text(name)
        return int(text) if text.isdigit() else otherwise

    def structured(self, name: str) -> Any:
        value = self.given.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            raise SlackError(f"invalid_{name}_format" if name != "view" else "invalid_arguments") from None

    def has(self, name: str) -> bool:
        return self.given.get(name) is not None


Call: TypeAlias = Callable[[Arguments], Awaitable[Json]]


@dataclass(frozen=True)
class Method:
    call: Call
    #: Any one of these scopes suffices; empty: none is needed.
    scopes: tuple[str, ...] = ()
    #: With the app's own token instead of the bot's.
    by_app: bool = False


async def arguments_of(request: web.Request) -> Arguments:
    given: dict[str, Any] = dict(request.query)
    if request.method == "POST":
        if request.content_type == "application/json":
            body = await request.json()
            given |= body if isinstance(body, dict) else {}
        else:
            given |= {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
    return Arguments(given)


def token_of(request: web.Request, arguments: Arguments) -> str:
    return request.headers.get("Authorization", "").removeprefix("Bearer ").strip() or arguments.text("token")
