"""A sign of life that somebody else expects: when it stays away, they raise the alarm."""

import aiohttp

_LIMIT = aiohttp.ClientTimeout(total=10)


async def beat(url: str) -> str | None:
    """Why the sign of life did not arrive, if it did not."""
    try:
        async with (
            aiohttp.ClientSession(timeout=_LIMIT, trust_env=False) as session,
            session.get(url, allow_redirects=False) as reply,
        ):
            return None if reply.status < 300 else f"it answered {reply.status}"
    except (aiohttp.ClientError, TimeoutError, ValueError) as failure:
        return str(failure) or type(failure).__name__
