"""What the identity provider publishes about itself: where its endpoints are and which keys it signs with."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx2
from joserfc.jwk import Key

from adapters.oidc import failures
from adapters.oidc.addresses import checked_endpoint
from adapters.oidc.keeping import Kept
from adapters.oidc.tokens import public_keys

#: Keys that a provider has withdrawn are trusted no longer than this.
LASTS = timedelta(hours=1)
_BASIC, _POST = "client_secret_basic", "client_secret_post"


@dataclass(frozen=True, slots=True)
class Endpoints:
    authorization: str
    token: str
    keys: str
    userinfo: str | None
    #: How the client shows its secret at the token endpoint.
    secret_goes_by: str = _BASIC


class Provider:
    def __init__(
        self, issuer: str, http: httpx2.AsyncClient, *, timeout: timedelta, clock: Callable[[], float]
    ) -> None:
        self._issuer = issuer
        self._http = http
        self._timeout = timeout
        self._endpoints = Kept(self._fetch_endpoints, lasts=LASTS, clock=clock)
        self._keys = Kept(self._fetch_keys, lasts=LASTS, clock=clock)

    async def endpoints(self) -> Endpoints:
        return await self._endpoints.get()

    async def keys(self) -> tuple[Key, ...]:
        return await self._keys.get()

    async def newest_keys(self) -> tuple[Key, ...]:
        return await self._keys.renew()

    async def close(self) -> None:
        await self._endpoints.close()
        await self._keys.close()

    async def _fetch_endpoints(self) -> Endpoints:
        address = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
        return endpoints_from(await self._fetch(address, "description of itself"), self._issuer)

    async def _fetch_keys(self) -> tuple[Key, ...]:
        address = (await self.endpoints()).keys
        try:
            return public_keys(await self._fetch(address, "list of keys"))
        except ValueError:
            raise failures.not_understood("list of keys") from None

    async def _fetch(self, url: str, what: str) -> object:
        async with translated(self._timeout):
            # Without the token that the client keeps: these documents are public.
            response = await self._http.get(url, auth=None, headers={"Accept": "application/json"})
            response.raise_for_status()
        return json_of(response, what)


def endpoints_from(document: object, issuer: str) -> Endpoints:
    if not isinstance(document, dict):
        raise failures.not_understood("description of itself")
    if document.get("issuer") != issuer:
        raise failures.another_issuer(document.get("issuer"), issuer)
    return Endpoints(
        authorization=_endpoint(document, "authorization_endpoint"),
        token=_endpoint(document, "token_endpoint"),
        keys=_endpoint(document, "jwks_uri"),
        userinfo=_endpoint(document, "userinfo_endpoint") if document.get("userinfo_endpoint") else None,
        secret_goes_by=_secret_goes_by(document.get("token_endpoint_auth_methods_supported")),
    )


def _endpoint(document: dict[str, Any], name: str) -> str:
    try:
        return checked_endpoint(document.get(name))
    except ValueError as error:
        raise failures.unusable_address(name, str(error)) from None


def _secret_goes_by(offered: object) -> str:
    return _POST if isinstance(offered, list) and _BASIC not in offered and _POST in offered else _BASIC


def json_of(response: httpx2.Response, what: str) -> object:
    try:
        found: object = response.json()
    except (ValueError, RecursionError):
        raise failures.not_understood(what) from None
    return found


@asynccontextmanager
async def translated(limit: timedelta) -> AsyncIterator[None]:
    """What can go wrong between here and the provider becomes a sentence; the limit holds for the whole exchange."""
    try:
        async with asyncio.timeout(limit.total_seconds()):
            yield
    except (TimeoutError, httpx2.TimeoutException):
        raise failures.too_slow(limit.total_seconds()) from None
    except httpx2.HTTPStatusError as error:
        raise failures.in_trouble(error.response.status_code) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError):
        raise failures.not_reached() from None
