"""What a browser keeps while it is away at the provider, so that only the one that left can come back."""

import hmac
import re
import secrets
from dataclasses import dataclass

from adapters.oidc.failures import another_sign_in

_SECRET = r"[A-Za-z0-9_-]{43}"
_TICKET = re.compile(rf"({_SECRET})\.({_SECRET})\.({_SECRET})")


@dataclass(frozen=True, slots=True, repr=False)
class Ticket:
    """Three secrets of one sign-in: `state` comes back with the browser, `nonce` in the token, `verifier` is PKCE's."""

    state: str
    nonce: str
    verifier: str

    def __str__(self) -> str:
        return f"{self.state}.{self.nonce}.{self.verifier}"

    def belongs_to(self, state: str) -> bool:
        return hmac.compare_digest(self.state.encode(), state.encode("utf-8", "replace"))


def new_ticket() -> Ticket:
    return Ticket(secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(32))


def ticket_from(text: str) -> Ticket:
    """Raises SignInFailed for what is none."""
    found = _TICKET.fullmatch(text)
    if found is None:
        raise another_sign_in()
    return Ticket(*found.groups())
