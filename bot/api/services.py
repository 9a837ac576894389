"""What the routes work with, built once by the wiring and handed to them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from adapters.receipts.verifier import Invalid, Verified
from bot.api.callers import Callers
from bot.api.wire import View
from bot.household import Household
from bot.people import PeopleOffice
from bot.policy import PolicyOffice
from core.engine import Engine
from core.ports import Reader, Redemptions, Webhooks
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
    household: Household
    people_office: PeopleOffice
    policy_office: PolicyOffice
    view: View
    #: Asks per key and per job; None when the operator switched it off.
    limiter: RateLimiter | None
    webhooks: Webhooks
    postman: Postman
    #: Why webhooks may not go to this address, if they may not.
    objection_to_url: Callable[[str], str | None]
    new_webhook_secret: Callable[[], str]
    now: Callable[[], Awaitable[datetime]]
    redemptions: Redemptions
    #: What a receipt says, or why it is none of ours.
    read_receipt: Callable[[str, datetime], Verified | Invalid]
    #: What keeps the server from being ready, as sentences; empty when it is.
    troubles: Callable[[], Awaitable[list[str]]]
