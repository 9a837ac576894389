"""Which addresses a webhook may reach. The table is ours: what `ipaddress` calls global differs between releases
and lets through addresses that carry another one inside."""

from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address


class Reach(Enum):
    PUBLIC = "public"
    NAMED = "only where the operator named the host"
    NEVER = "never, whatever the operator named"


@dataclass(frozen=True, slots=True)
class Verdict:
    reach: Reach
    what: str


_METADATA = Verdict(Reach.NEVER, "a cloud metadata address")
_LINK_LOCAL = Verdict(Reach.NEVER, "a link-local address")  # most clouds keep their metadata there
_MULTICAST = Verdict(Reach.NEVER, "a multicast address")
_RESERVED = Verdict(Reach.NEVER, "a reserved address")
_TUNNEL = Verdict(Reach.NEVER, "an address that tunnels to another one")
_UNSPECIFIED = Verdict(Reach.NEVER, "an address of no particular host")
_LOOPBACK = Verdict(Reach.NAMED, "a loopback address")
_PRIVATE = Verdict(Reach.NAMED, "a private address")
_SHARED = Verdict(Reach.NAMED, "an address of a carrier's inner network")
_DOCUMENTATION = Verdict(Reach.NAMED, "an address for documentation")
_BENCHMARKING = Verdict(Reach.NAMED, "an address for benchmarks")
_PUBLIC = Verdict(Reach.PUBLIC, "a public address")

# The first row that holds the address decides.
_TABLE = [
    (ip_network(network), verdict)
    for network, verdict in (
        ("100.100.100.200/32", _METADATA),  # Alibaba, in the midst of the carriers' range
        ("168.63.129.16/32", _METADATA),  # Azure's host agent, public by its number
        ("192.0.0.192/32", _METADATA),  # Oracle
        ("0.0.0.0/8", _UNSPECIFIED),  # Linux takes it for the machine itself
        ("10.0.0.0/8", _PRIVATE),
        ("100.64.0.0/10", _SHARED),
        ("127.0.0.0/8", _LOOPBACK),
        ("169.254.0.0/16", _LINK_LOCAL),
        ("172.16.0.0/12", _PRIVATE),
        ("192.0.0.0/24", _RESERVED),
        ("192.0.2.0/24", _DOCUMENTATION),
        ("192.88.99.0/24", _TUNNEL),
        ("192.168.0.0/16", _PRIVATE),
        ("198.18.0.0/15", _BENCHMARKING),
        ("198.51.100.0/24", _DOCUMENTATION),
        ("203.0.113.0/24", _DOCUMENTATION),
        ("224.0.0.0/4", _MULTICAST),
        ("240.0.0.0/4", _RESERVED),  # with the broadcast address
        ("0.0.0.0/0", _PUBLIC),
        ("fd00:ec2::/32", _METADATA),  # Amazon
        ("fd00:c1::/32", _METADATA),  # Oracle
        ("fd00:42::/32", _METADATA),  # Scaleway
        ("fd20:ce::/32", _METADATA),  # Google
        ("::/128", _UNSPECIFIED),
        ("::1/128", _LOOPBACK),
        ("fc00::/7", _PRIVATE),
        ("fe80::/10", _LINK_LOCAL),
        ("fec0::/10", _PRIVATE),  # site-local, as it was before fc00::/7
        ("ff00::/8", _MULTICAST),
        ("2001::/32", _TUNNEL),  # Teredo
        ("2001:2::/48", _BENCHMARKING),
        ("2001::/23", _RESERVED),
        ("2001:db8::/32", _DOCUMENTATION),
        ("2002::/16", _TUNNEL),  # 6to4
        ("3fff::/20", _DOCUMENTATION),
        ("2000::/3", _PUBLIC),
        ("::/0", _RESERVED),  # nobody has been given any of it; ::a.b.c.d and local NAT64 are here too
    )
]

# Where the last 32 bits are the IPv4 address that is truly meant: IPv4-mapped, and NAT64, behind which
# a network without IPv4 finds every public host.
_CARRIERS = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))


def judge(address: Address) -> Verdict:
    if isinstance(address, IPv6Address):
        # Without the zone of a link-local address, as networks know none.
        address = IPv6Address(int(address))
        if any(address in carrier for carrier in _CARRIERS):
            address = IPv4Address(int(address) & 0xFFFF_FFFF)
    return next(verdict for network, verdict in _TABLE if _holds(network, address))


def _holds(network: IPv4Network | IPv6Network, address: Address) -> bool:
    return network.version == address.version and address in network
