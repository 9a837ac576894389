"""A webhook endpoint as a value: an address that the server sends this key's events to."""

from dataclasses import dataclass, field
from typing import Self

from handraise.errors import UnexpectedReply
from handraise.wire import Json, text

EVERY_QUESTION_EVENT = ("question.*",)


@dataclass(frozen=True, slots=True)
class WebhookEndpoint:
    """`json` holds all that the server told, but for the secret, which it shows only once."""

    id: str
    json: Json = field(repr=False)
    secret: str | None = field(default=None, repr=False)

    @classmethod
    def from_json(cls, json: object) -> Self:
        endpoint_id = text(json, "id") if isinstance(json, dict) else None
        if not isinstance(json, dict) or endpoint_id is None:
            raise UnexpectedReply("The server did not answer with a webhook endpoint.")
        told = {name: value for name, value in json.items() if name != "secret"}
        return cls(endpoint_id, told, text(json, "secret"))

    @property
    def url(self) -> str | None:
        return text(self.json, "url")

    @property
    def events(self) -> tuple[str, ...]:
        listed = self.json.get("events")
        return tuple(str(each) for each in listed) if isinstance(listed, list) else ()
