"""The client of one identity provider: sends a browser there and finds out who came back."""

import base64
import time
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import timedelta
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Protocol
from urllib.parse import quote_plus

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import AsyncOAuth2Client

from adapters.oidc import failures
from adapters.oidc.addresses import checked_issuer, is_loopback
from adapters.oidc.provider import Provider, json_of, translated
from adapters.oidc.tickets import Ticket, new_ticket, ticket_from
from adapters.oidc.tokens import UnknownKey, verified_claims
from core.safetext import one_line
from core.sessions import Departure, Identity, SignInFailed

__all__ = ["Departure", "Identity", "OidcClient", "OidcSettings", "SignInFailed"]

LIMIT = timedelta(seconds=5)

_SCOPES = "openid email profile"
_LONGEST_NAME = 100
_LONGEST_EMAIL = 254


@dataclass(frozen=True, slots=True)
class OidcSettings:
    """Raises ValueError with a sentence for an issuer that cannot be used."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    redirect_uri: str

    def __post_init__(self) -> None:
        checked_issuer(self.issuer)


class OidcClient:
    def __init__(
        self, settings: OidcSettings, *, timeout: timedelta = LIMIT, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._timeout = timeout
        self._http = AsyncOAuth2Client(
            client_id=settings.client_id,
            client_secret=settings.client_secret,
            redirect_uri=settings.redirect_uri,
            scope=_SCOPES,
            code_challenge_method="S256",
            timeout=timeout.total_seconds(),
            trust_env=not is_loopback(settings.issuer),
            # What a provider remembers of one person in a cookie is not told to it for the next.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )
        self._http.register_client_auth_method(("client_secret_basic", _encoded_basic))
        self._provider = Provider(settings.issuer, self._http, timeout=timeout, clock=clock)

    async def depart(self) -> Departure:
        endpoints = await self._provider.endpoints()
        ticket = new_ticket()
        url, _ = self._http.create_authorization_url(
            endpoints.authorization, state=ticket.state, nonce=ticket.nonce, code_verifier=ticket.verifier
        )
        return Departure(url, str(ticket))

    async def arrive(self, *, ticket: str, state: str, code: str) -> Identity:
        """Who came back. Raises SignInFailed."""
        kept = ticket_from(ticket)
        if not kept.belongs_to(state) or not code:
            raise failures.another_sign_in()
        tokens = await self._redeemed(code, kept.verifier)
        access_token = _header_value(tokens.get("access_token"))
        claims = await self._verified(tokens.get("id_token"), kept, access_token)
        more = await self._userinfo(access_token, claims["sub"]) if access_token and not claims.get("email") else {}
        return Identity(
            claims["sub"], self._settings.issuer, _email(claims) or _email(more), _name(claims) or _name(more)
        )

    async def close(self) -> None:
        await self._provider.close()
        await self._http.aclose()

    async def _redeemed(self, code: str, verifier: str) -> Mapping[str, Any]:
        endpoints = await self._provider.endpoints()
        try:
            async with translated(self._timeout):
                tokens: Mapping[str, Any] = await self._http.fetch_token(
                    endpoints.token,
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=verifier,
                    auth=self._http.client_auth(endpoints.secret_goes_by),
                )
        except AuthlibBaseError as error:
            raise failures.refused(error.error) from None
        except (ValueError, TypeError, OverflowError, RecursionError):
            raise failures.not_understood("answer") from None
        finally:
            # The library keeps the last one. Nobody may be taken for whoever came before.
            self._http.token = None
        return tokens

    async def _verified(self, id_token: object, kept: Ticket, access_token: str | None) -> dict[str, Any]:
        if not isinstance(id_token, str):
            raise failures.not_accepted("there is no ID token; the provider has to allow the scope openid")

        def claims_by(keys: tuple[Any, ...]) -> dict[str, Any]:
            return verified_claims(
                id_token,
                keys,
                issuer=self._settings.issuer,
                client_id=self._settings.client_id,
                nonce=kept.nonce,
                access_token=access_token,
                now=int(time.time()),
            )

        try:
            return claims_by(await self._provider.keys())
        except UnknownKey:
            pass  # It may be newer than what we know.
        try:
            return claims_by(await self._provider.newest_keys())
        except UnknownKey:
            raise failures.not_accepted("it is signed with a key that the provider does not publish") from None

    async def _userinfo(self, access_token: str, subject: str) -> dict[str, Any]:
        """What the provider adds on request. One that keeps it to itself adds nothing; one that is down fails."""
        address = (await self._provider.endpoints()).userinfo
        if address is None:
            return {}
        async with translated(self._timeout):
            headers = {"Accept": "application/json", "Authorization": f"Bearer {access_token}"}
            response = await self._http.get(address, auth=None, headers=headers)
            if response.status_code >= 500:
                response.raise_for_status()
        if response.status_code != 200:
            return {}
        found = json_of(response, "description of you")
        if not isinstance(found, dict):
            raise failures.not_understood("description of you")
        if found.get("sub") != subject:
            raise failures.not_accepted("it tells of two different people")
        return found


class _Secretive(Protocol):
    client_id: str
    client_secret: str


def _encoded_basic(
    client: _Secretive, method: str, uri: str, headers: MutableMapping[str, str], body: object
) -> tuple[str, MutableMapping[str, str], object]:
    """RFC 6749, 2.3.1: both are form-encoded first, which the library leaves out."""
    pair = f"{quote_plus(client.client_id)}:{quote_plus(client.client_secret)}"
    headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return uri, headers, body


def _header_value(value: object) -> str | None:
    return value if isinstance(value, str) and value.isascii() and value.isprintable() else None


def _email(claims: Mapping[str, Any]) -> str | None:
    """Some providers write the flag as a text.

    Letters beyond ASCII are refused: some of them turn into others in lower case, and an address into somebody else's.
    """
    email = claims.get("email")
    is_verified = claims.get("email_verified") is True or claims.get("email_verified") == "true"
    if not is_verified or not isinstance(email, str):
        return None
    is_plain = email.isascii() and email.isprintable() and " " not in email and len(email) <= _LONGEST_EMAIL
    return email.lower() if is_plain and "@" in email.strip("@") else None


def _name(claims: Mapping[str, Any]) -> str | None:
    name = claims.get("name")
    return (one_line(name)[:_LONGEST_NAME] or None) if isinstance(name, str) else None
