"""Which addresses may carry a sign-in: https, or this machine itself. Free of heavy imports, for the settings."""

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\.?")
_VISIBLE = re.compile(r"[!-~]{1,2000}")


def checked_issuer(url: str) -> str:
    """The issuer as it stands, because providers are compared by it to the letter; ValueError with a sentence."""
    _parts(url)
    if "?" in url:
        raise ValueError("an issuer has nothing behind a ?; take it as the provider writes it")
    return url


def checked_endpoint(url: object) -> str:
    if not isinstance(url, str):
        raise ValueError("there is no address")
    _parts(url)
    return url


def is_loopback(url: str) -> bool:
    return _is_this_machine(urlsplit(url).hostname or "")


def _parts(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValueError("write it as https://HOST or https://HOST/PATH") from None
    if not _VISIBLE.fullmatch(url) or "\\" in url or parts.scheme not in ("http", "https") or not _is_host(host):
        raise ValueError("write it as https://HOST or https://HOST/PATH")
    if "@" in parts.netloc or "#" in url or port == 0:
        raise ValueError("it takes a host, a port from 1 to 65535 and a path; no user name, no #")
    if parts.scheme == "http" and not _is_this_machine(host):
        raise ValueError("it must begin with https://; http:// is for a provider on this machine alone")
    return parts


def _is_host(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return len(host) <= 253 and _NAME.fullmatch(host) is not None
    return not (isinstance(address, ipaddress.IPv6Address) and address.scope_id)


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.rstrip(".") == "localhost"
