"""The guard before inner networks: which URLs may be registered, and which addresses may be connected to.

A URL is judged twice. Its text is judged for the sake of the person who registers it, who is told why. What keeps
the network safe is the second look, at the address of each connection just before it is made: whatever a name
resolves to by then, and whoever answered the look-up.
"""

import re
import socket
from collections.abc import Collection
from ipaddress import AddressValueError, IPv6Address, ip_address

from aiohttp import AddrInfoType, SocketFactoryType

from adapters.webhooks.addresses import Address, Reach, judge

_SETTING = "HANDRAISE_WEBHOOK_ALLOW"
_LONGEST_URL = 2000
_LONGEST_NAME = 253
_PORTS = {"http": 80, "https": 443}
_ODD = re.compile(r"[^\x21-\x7e]|\\")
_START = re.compile(r"(https?)://([^/?#]*)", re.IGNORECASE)
# So narrow that no two parsers can read it differently: no user, no escapes, no zone, no port of 0443 or nothing.
_PLACE = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::([1-9][0-9]{0,4}))?")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
# What resolvers take for a number, and so a name that ends in it for an address: 1, 017, 0x7f.
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_INNER_SUFFIXES = (".localhost", ".local", ".localdomain", ".internal", ".intranet", ".lan", ".home.arpa")
_METADATA_NAMES = frozenset(
    {
        "instance-data",
        "instance-data.ec2.internal",
        "metadata",
        "metadata.azure.internal",
        "metadata.goog",
        "metadata.google.internal",
        "metadata.platformequinix.com",
        "metadata.tencentyun.com",
    }
)


class RefusedAddressError(OSError):
    """The address of a connection that was not made. The text is the same for each, so that several become one."""

    def __init__(self) -> None:
        super().__init__("The host leads to an address that webhooks may not reach.")


class Guard:
    """`allowed_private` are hosts of the operator's own: names or addresses, each with or without a port.

    They may be reached by http, at any port that is named with them or else at any, and at private addresses.
    Cloud metadata and link-local addresses stay out of reach even so.
    """

    def __init__(self, allowed_private: Collection[str] = ()) -> None:
        self._named = frozenset(_named(entry) for entry in allowed_private)

    def objection(self, url: str) -> str | None:
        """Why nothing may be sent to this URL, as a sentence for whoever gave it."""
        if len(url) > _LONGEST_URL:
            return f"The URL has more than {_LONGEST_URL} characters."
        if _ODD.search(url):
            return "The URL has spaces, backslashes or characters beyond ASCII; write them in their encoded forms."
        start = _START.match(url)
        if start is None:
            return "The URL does not begin with https://."
        if "#" in url:
            return "The URL has a fragment (#…), which is never sent."
        if "@" in start[2]:
            return "The URL has a user name or password; receivers check the signature instead."
        try:
            host, port = _place(start[2])
        except ValueError:
            return "The host is not understood; use a plain host name or address, as in https://example.com/path."
        return self._objection_to_place(start[1].lower(), host, port)

    def is_named(self, url: str) -> bool:
        """Whether the operator named the host of this URL, which has passed `objection`."""
        start = _START.match(url)
        if start is None:
            return False
        host, port = _place(start[2])
        return self._has(host, port or _PORTS[start[1].lower()])

    def socket_factory(self, *, named: bool) -> SocketFactoryType:
        """For `aiohttp.TCPConnector`: it asks for a socket before it connects, and gets none for a refused address."""
        reachable = {Reach.PUBLIC, Reach.NAMED} if named else {Reach.PUBLIC}

        def factory(info: AddrInfoType) -> socket.socket:
            family, kind, protocol, _, target = info
            try:
                allowed = judge(ip_address(str(target[0]))).reach in reachable
            except ValueError:
                allowed = False  # not an address, so it would be looked up once more
            if not allowed:
                raise RefusedAddressError
            return socket.socket(family, kind, protocol)

        return factory

    def _has(self, host: Address | str, port: int) -> bool:
        return (host, None) in self._named or (host, port) in self._named

    def _objection_to_place(self, scheme: str, host: Address | str, port: int | None) -> str | None:
        port = port or _PORTS[scheme]
        named = self._has(host, port)
        refused = _objection_to_name(host, named) if isinstance(host, str) else _objection_to_address(host, named)
        if refused is not None or named:
            return refused
        if scheme != "https":
            return f"Plain http is only for hosts that the operator named in {_SETTING}; use https."
        if port != _PORTS["https"]:
            return f"Webhooks go to port {_PORTS['https']}; other ports are only for hosts named in {_SETTING}."
        return None


def _objection_to_name(name: str, named: bool) -> str | None:
    if name in _METADATA_NAMES:
        return "The host is a cloud metadata service, and no setting opens those."
    if not named and ("." not in name or name.endswith(_INNER_SUFFIXES)):
        return f"The host is a name of an inner network; the operator can name it in {_SETTING}."
    return None


def _objection_to_address(address: Address, named: bool) -> str | None:
    verdict = judge(address)
    if verdict.reach is Reach.NEVER:
        return f"The host is {verdict.what}, and no setting opens those."
    if verdict.reach is Reach.NAMED and not named:
        return f"The host is {verdict.what}; the operator can name it in {_SETTING}."
    return None


def _place(text: str) -> tuple[Address | str, int | None]:
    """The host and the port of `host`, `host:port` or `[address]:port`; ValueError for anything else."""
    match = _PLACE.fullmatch(text.lower())
    if match is None:
        raise ValueError("not a host and a port")
    address, name, port = match.groups()
    if port is not None and int(port) > 65535:
        raise ValueError("no such port")
    return IPv6Address(address) if address else _host(name), int(port) if port else None


def _host(name: str) -> Address | str:
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return ip_address(name)  # which knows 127.0.0.1, and neither 127.1 nor 0177.0.0.1
    if len(name) > _LONGEST_NAME or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError("not a host name")
    return name


def _named(entry: str) -> tuple[Address | str, int | None]:
    try:
        return IPv6Address(entry), None  # without brackets there is no telling a port from the rest
    except AddressValueError:
        pass
    try:
        return _place(entry)
    except ValueError:
        raise ValueError(f"{_SETTING} has {entry!r}, which is neither a host nor host:port.") from None
