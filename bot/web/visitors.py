"""Who looks at a page: sessions, and the checks that a request which changes something has to pass."""

import time
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from adapters.web.cookies import Cookies, comes_from_us, digest_of, form_token, is_form_token, new_secret, origin_of
from bot.household import Household
from core.ids import PersonId
from core.people import Actor, Person, Role, person_principal
from core.sessions import SessionRules, Sessions

LINK_LASTS = timedelta(minutes=30)
SESSION = "session"
#: A session that was ended elsewhere stops working within this many seconds.
_TRUST_SECONDS = 1.0
#: Being in use is written down this often.
_KEEP_SECONDS = 60.0
_MOST_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class Visitor:
    person: Person
    digest: str
    #: What every form of theirs carries.
    token: str
    #: What has happened up to here is on the page they get; the page listens for the rest.
    position: int = 0

    @property
    def is_admin(self) -> bool:
        return self.person.role is Role.ADMIN

    @property
    def is_lead(self) -> bool:
        return self.person.role.includes(Role.LEAD)

    @property
    def actor(self) -> Actor:
        return Actor(person_principal(self.person.id), self.person.name, "web", self.person, is_admin=self.is_admin)


class Visitors:
    def __init__(
        self, sessions: Sessions, household: Household, rules: SessionRules, public_url: str | None, local_url: str
    ) -> None:
        self.sessions = sessions
        self.household = household
        self.rules = rules
        secure = public_url is not None and public_url.startswith("https://")
        self.cookies = Cookies(secure, None if public_url is not None else urlsplit(local_url).port)
        self.public_origin = origin_of(public_url) if public_url is not None else None
        self._known: dict[str, tuple[float, PersonId | None]] = {}
        self._kept: dict[str, float] = {}
        #: Counts the endings of sessions, so that what was read before one is not remembered after it.
        self._ended = 0

    async def of(self, connection: HTTPConnection) -> Visitor | None:
        secret = self.cookies.read(connection, SESSION)
        if secret is None:
            return None
        digest = digest_of(secret)
        person_id = await self._owner(digest)
        roster = await self.household.roster()
        person = roster.active(person_id) if person_id is not None else None
        if person is None:
            return None
        await self._keep(digest)
        return Visitor(person, digest, form_token(secret))

    async def _owner(self, digest: str) -> PersonId | None:
        now = time.monotonic()
        known = self._known.get(digest)
        if known is not None and now - known[0] < _TRUST_SECONDS:
            return known[1]
        ended = self._ended
        owner = await self.sessions.find(digest)
        if ended != self._ended:
            return await self._owner(digest)  # a session ended while we looked, perhaps this one
        if len(self._known) >= _MOST_REMEMBERED:
            self._known.clear()
        self._known[digest] = (now, owner)
        return owner

    async def _keep(self, digest: str) -> None:
        now = time.monotonic()
        if now - self._kept.get(digest, float("-inf")) < _KEEP_SECONDS:
            return
        if len(self._kept) >= _MOST_REMEMBERED:
            self._kept.clear()
        self._kept[digest] = now
        await self.sessions.keep(digest, self.rules)

    def is_ours(self, connection: HTTPConnection) -> bool:
        return comes_from_us(connection, self.public_origin)

    def has_token(self, connection: HTTPConnection, token: str) -> bool:
        secret = self.cookies.read(connection, SESSION)
        return secret is not None and is_form_token(secret, token)

    async def begin(self, person: Person) -> str:
        """A new session's secret, for the cookie; whatever session there was before has nothing to do with it."""
        secret = new_secret()
        await self.sessions.begin(digest_of(secret), person.id, self.rules)
        return secret

    async def end(self, digest: str) -> None:
        await self.sessions.end(digest)
        self._forget()

    async def end_all(self, person: Person) -> int:
        ended = await self.sessions.end_all(person.id)
        self._forget()
        return ended

    def _forget(self) -> None:
        self._known.clear()
        self._ended += 1


async def new_link(sessions: Sessions, person: Person, base_url: str) -> str:
    """A link that signs this person in, once."""
    secret = new_secret()
    await sessions.add_link(digest_of(secret), person.id, lasts=LINK_LASTS)
    return f"{base_url.rstrip('/')}/login/{secret}"
