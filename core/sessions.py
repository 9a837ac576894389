"""Signing in: one-time links and sessions, kept by their digests, never as what the browser holds."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Protocol

from core.ids import PersonId


@dataclass(frozen=True, slots=True)
class SessionRules:
    #: A session that nobody uses for so long has ended; a page that is open counts as use.
    idle: timedelta = timedelta(minutes=30)
    #: However much it is used, whoever signed in signs in again after this.
    lifetime: timedelta = timedelta(hours=12)


class Sessions(Protocol):
    async def add_link(self, digest: str, person_id: PersonId, *, lasts: timedelta) -> None: ...

    async def owner_of_link(self, digest: str) -> PersonId | None:
        """Whose link this is, if it can still be used. Looking uses nothing up."""

    async def take_link(self, digest: str) -> PersonId | None:
        """Whose link this is, once and in time."""

    async def begin(self, digest: str, person_id: PersonId, rules: SessionRules) -> None: ...

    async def find(self, digest: str) -> PersonId | None:
        """Whose session this is, while it lasts."""

    async def keep(self, digest: str, rules: SessionRules) -> None:
        """It is in use."""

    async def end(self, digest: str) -> None: ...

    async def end_all(self, person_id: PersonId) -> int:
        """Every session and unused link of this person; how many sessions there were."""

    async def look(self, digest: str, *, lasts: timedelta) -> None:
        """Whoever has this session has the inbox before their eyes, for so long unless they say so again."""

    async def looking(self) -> frozenset[PersonId]:
        """Everybody who has the inbox before their eyes."""


@dataclass(frozen=True, slots=True)
class Departure:
    """Where to send a browser to sign in, and what it keeps until it is back."""

    url: str
    ticket: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom an identity provider vouches for."""

    #: Never given to somebody else by this issuer. Upper and lower case differ.
    subject: str
    issuer: str
    #: In lower case and ASCII, and only if the provider has verified it.
    email: str | None = None
    name: str | None = None


class SignInFailed(Exception):
    """Nobody is signed in; the sentence says why and what to do. It holds no secret."""


class IdentityProvider(Protocol):
    async def depart(self) -> Departure:
        """Raises SignInFailed."""

    async def arrive(self, *, ticket: str, state: str, code: str) -> Identity:
        """Who came back. Raises SignInFailed."""
