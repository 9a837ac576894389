"""What the routes work with, built once by the wiring and handed to them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from bot.api.callers import Callers
from core.asking import House
from core.engine import Engine
from core.ports import Reader, Webhooks
from core.posting import Postman
from core.rates import RateLimiter
from core.stream import EventHub
from core.waiters import Waiters


@dataclass(frozen=True)
class Services:
    engine: Engine
    reader: Reader
    waiters: Waiters
    hub: EventHub
    callers: Callers
    house: House
    base_url: str
    #: Asks per key and per job; None when the operator switched it off.
    limiter: RateLimiter | None
    webhooks: Webhooks
    postman: Postman
    #: Why webhooks may not go to this address, if they may not.
    objection_to_url: Callable[[str], str | None]
    new_webhook_secret: Callable[[], str]
    now: Callable[[], Awaitable[datetime]]
    #: What keeps the server from being ready, as sentences; empty when it is.
    troubles: Callable[[], Awaitable[list[str]]]
