"""What a browser holds: the session's secret in a cookie, and a token that only our own pages know."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.responses import Response

_SECRET_BYTES = 32


def new_secret() -> str:
    return secrets.token_urlsafe(_SECRET_BYTES)


def digest_of(secret: str) -> str:
    # 256 random bits, so a plain hash is as good as a slow one.
    return hashlib.sha256(secret.encode()).hexdigest()


def form_token(secret: str) -> str:
    """Goes into every form. It follows from the session, so nothing more has to be kept."""
    return hmac.new(secret.encode(), b"handraise form token", hashlib.sha256).hexdigest()


def is_form_token(secret: str, token: str) -> bool:
    return hmac.compare_digest(form_token(secret).encode(), token.encode())


@dataclass(frozen=True)
class Cookies:
    """Named for this installation: over https a cookie cannot come from anywhere but this very host."""

    secure: bool
    #: Tells apart servers that run beside each other on one machine, whose cookies browsers mix.
    port: int | None = None

    def name(self, what: str) -> str:
        own = f"handraise_{what}" if self.port is None else f"handraise_{what}_{self.port}"
        return f"__Host-{own}" if self.secure else own

    def read(self, connection: HTTPConnection, what: str) -> str | None:
        value = connection.cookies.get(self.name(what))
        return value if value and len(value) <= 4000 else None

    def write(self, response: Response, what: str, value: str, *, seconds: int) -> None:
        # Lax, so that a link from a chat message opens the page; what changes anything is a POST with a token.
        response.set_cookie(
            self.name(what), value, max_age=seconds, path="/", secure=self.secure, httponly=True, samesite="lax"
        )

    def clear(self, response: Response, what: str) -> None:
        response.delete_cookie(self.name(what), path="/", secure=self.secure, httponly=True, samesite="lax")


def origin_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}".lower()


def comes_from_us(connection: HTTPConnection, public_origin: str | None) -> bool:
    """Whether a request that changes something was made by one of our own pages, by what the browser itself says."""
    site = connection.headers.get("sec-fetch-site")
    if site is not None and site != "same-origin":
        return False
    origin = connection.headers.get("origin")
    if origin is None:
        # Browsers name the origin of every POST; where none is named, the browser must have said so otherwise.
        return site == "same-origin"
    own = {f"{connection.url.scheme}://{connection.headers.get('host', '')}".lower()}
    if public_origin is not None:
        own = {public_origin}
    return origin.lower() in own


def local_path(given: str | None) -> str:
    """Where to go after signing in: a path of ours and nothing else."""
    if not given or not given.startswith("/") or given.startswith(("//", "/\\")) or len(given) > 2000:
        return "/"
    # Addresses are written in ASCII; what is not would fit neither a header nor a cookie.
    return given if given.isascii() and given.isprintable() and "\\" not in given else "/"
