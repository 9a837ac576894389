"""Where mail goes: the mail server as a URL names it, and mail addresses that are safe to write into a header."""

import ipaddress
import re
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import parse_qsl, unquote, urlsplit

_LONGEST_ADDRESS = 254
_LONGEST_NAME = 60
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_LOCAL = re.compile(rf"{_ATOM}(?:\.{_ATOM})*")
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_NAMED = re.compile(r"(?P<name>[^<>]*)<(?P<address>[^<>]*)>")
_PORTS = {"smtp": 587, "smtps": 465}
_EXAMPLE = "smtp://user:password@mail.example.com:587"


class Tls(StrEnum):
    OFF = "off"
    STARTTLS = "starttls"
    IMPLICIT = "implicit"


@dataclass(frozen=True, slots=True)
class SmtpAddress:
    """A mail server, how to reach it and who we are there."""

    host: str
    port: int
    tls: Tls
    user: str | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Mailbox:
    """Who mails come from: `Handraise <bot@example.com>`."""

    address: str
    name: str = ""

    @property
    def domain(self) -> str:
        return self.address.rpartition("@")[2]


def parse_smtp_url(url: str) -> SmtpAddress:
    """Raises ValueError with a sentence that never quotes the URL, because a password may stand in it."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(f"The SMTP URL cannot be read. Write it like {_EXAMPLE}.") from None
    if parts.scheme not in _PORTS:
        raise ValueError(f"The SMTP URL must begin with smtp:// or smtps://, like {_EXAMPLE}.")
    if not host or not _is_host(host):
        raise ValueError(f"The SMTP URL names no mail server. Write it like {_EXAMPLE}.")
    if port == 0:
        raise ValueError("The port of the SMTP URL must be between 1 and 65535.")
    if parts.path not in ("", "/") or parts.fragment:
        raise ValueError(
            "The SMTP URL must end after the port, or after ?tls=…. "
            "If the user name or the password holds one of / ? # @ : %, write it percent-encoded."
        )
    user, password = _credentials(parts.username, parts.password)
    return SmtpAddress(host, port or _PORTS[parts.scheme], _tls(parts.scheme, parts.query, host), user, password)


def _is_host(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return len(host) <= 253 and _DOMAIN.fullmatch(host.rstrip(".")) is not None
    return True


def _credentials(user: str | None, password: str | None) -> tuple[str | None, str | None]:
    if not user and not password:
        return None, None
    if not user or not password:
        raise ValueError("The SMTP URL has a user name or a password, but not both; a login needs both.")
    user, password = unquote(user), unquote(password)
    if not (user.isprintable() and password.isprintable()):
        raise ValueError("The user name or the password in the SMTP URL holds a control character.")
    return user, password


def _tls(scheme: str, query: str, host: str) -> Tls:
    wishes = parse_qsl(query, keep_blank_values=True)
    if scheme == "smtps":
        if wishes:
            raise ValueError("An smtps:// URL is always encrypted and takes no ?tls=….")
        return Tls.IMPLICIT
    match wishes:
        case []:
            return Tls.OFF if _is_loopback(host) else Tls.STARTTLS
        case [("tls", "off")]:
            return Tls.OFF
        case [("tls", "required")]:
            return Tls.STARTTLS
        case _:
            raise ValueError("The SMTP URL takes ?tls=off or ?tls=required and nothing else behind the question mark.")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def mail_address(text: str) -> str | None:
    """The address with its domain in ASCII; None for what no mail can be sent to, or not by us."""
    local, at, domain = text.strip().rpartition("@")
    if not at or len(text) > _LONGEST_ADDRESS or not _LOCAL.fullmatch(local):
        return None
    try:
        ascii_domain = domain.encode("idna").decode("ascii")
    except UnicodeError:
        return None
    if not _DOMAIN.fullmatch(ascii_domain):
        return None
    address = f"{local}@{ascii_domain}"
    return address if len(address) <= _LONGEST_ADDRESS else None


def parse_mailbox(text: str) -> Mailbox:
    """Reads `bot@example.com` or `Name <bot@example.com>`; raises ValueError with a sentence."""
    named = _NAMED.fullmatch(text.strip())
    address = mail_address(named["address"] if named else text)
    if address is None:
        raise ValueError("The sender is not a mail address. Write it like Handraise <handraise@example.com>.")
    name = named["name"].strip().strip('"').strip() if named else ""
    if not name.isprintable() or len(name) > _LONGEST_NAME:
        raise ValueError(f"The sender's name must be one line of at most {_LONGEST_NAME} characters.")
    return Mailbox(address, name)
