"""Trying hostile URLs in three ways: by the sender, by the second wall of the guard alone, and with no guard at all."""

import asyncio
from collections.abc import Sequence

import aiohttp
from aiohttp import SocketFactoryType
from aiohttp.abc import AbstractResolver

from adapters.webhooks.guard import Guard
from adapters.webhooks.sender import Sent, WebhookSender
from adapters.webhooks.signing import new_secret

SECRETS = [new_secret()]


async def by_the_sender(urls: Sequence[str], resolver: AbstractResolver) -> list[Sent]:
    async with WebhookSender(Guard(), resolver=resolver) as sender:
        return [await sender.send(url, "msg_1", b"{}", SECRETS) for url in urls]


async def by_the_second_wall_alone(urls: Sequence[str], resolver: AbstractResolver) -> None:
    """As if every objection to the text of a URL had been forgotten."""
    await _post_each(urls, resolver, Guard().socket_factory(named=False))


async def without_a_guard(urls: Sequence[str], resolver: AbstractResolver) -> None:
    await _post_each(urls, resolver, None)


async def _post_each(urls: Sequence[str], resolver: AbstractResolver, factory: SocketFactoryType | None) -> None:
    connector = aiohttp.TCPConnector(
        resolver=resolver, socket_factory=factory, use_dns_cache=False, force_close=True, ssl=False
    )
    async with aiohttp.ClientSession(connector=connector) as session:
        for url in urls:
            try:
                async with asyncio.timeout(5), session.post(url, data=b"{}", allow_redirects=False):
                    pass
            except Exception:  # whatever libraries make of nonsense: it is the canaries that count
                continue
