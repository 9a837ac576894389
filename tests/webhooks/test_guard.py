"""What the guard says of URLs and addresses, without a network."""

from ipaddress import IPv4Address, ip_address

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from yarl import URL

from adapters.webhooks.addresses import Reach, judge
from adapters.webhooks.guard import Guard
from tests.webhooks.spellings import hostile

PUBLIC = ["8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.0", "172.32.0.1", "223.255.255.255", "168.63.129.17"]
PUBLIC6 = ["2606:4700::1111", "2a00:1450:4001::1", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8", "2001:4860:4860::8888"]
NAMED = ["127.0.0.1", "10.0.0.5", "172.16.0.1", "192.168.1.1", "100.64.0.1", "198.18.0.1", "192.0.2.1", "203.0.113.9"]
NAMED6 = ["::1", "fd00::2", "fc00::1", "fec0::1", "2001:db8::1", "3fff::1", "::ffff:10.0.0.5", "64:ff9b::10.0.0.5"]
NEVER = ["169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16", "0.0.0.0", "224.0.0.1"]
NEVER += ["255.255.255.255", "240.0.0.1", "192.88.99.1", "192.0.0.1", "0.1.2.3"]
NEVER6 = [
    "fd00:ec2::254",
    "fd20:ce::254",
    "fd00:c1::a9fe:a9fe",
    "fd00:42::42",
    "fe80::1",
    "fe80::1%lo",
    "::",
    "ff02::1",
]
NEVER6 += ["::127.0.0.1", "::8.8.8.8", "2002:808:808::1", "2001::1", "64:ff9b:1::808:808", "64:ff9b::a9fe:a9fe"]
NEVER6 += ["::ffff:169.254.169.254", "::ffff:0:127.0.0.1", "100::1", "4000::1", "2001:10::1", "::ffff:0.0.0.0"]


@pytest.mark.parametrize(
    ("address", "reach"),
    [
        *((address, Reach.PUBLIC) for address in PUBLIC + PUBLIC6),
        *((address, Reach.NAMED) for address in NAMED + NAMED6),
        *((address, Reach.NEVER) for address in NEVER + NEVER6),
    ],
)
def test_every_address_has_its_reach(address: str, reach: Reach) -> None:
    assert judge(ip_address(address)).reach is reach


@given(st.ip_addresses(v=4))
def test_no_ipv4_address_is_public_that_the_library_calls_private(address: IPv4Address) -> None:
    assert judge(address).reach is not Reach.PUBLIC or address.is_global


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "https://example.com/hook?token=a%20b&c=d@e:f",
        "HTTPS://Example.COM:443/",
        "https://example.com?a=b",
        "https://xn--bcher-kva.example/",
        "https://8.8.8.8/",
        "https://[2606:4700::1111]/",
        "https://a_b.example.com/",
    ],
)
def test_public_https_is_welcome(url: str) -> None:
    assert Guard().objection(url) is None


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://example.com/", "Plain http is only for hosts that the operator named in HANDRAISE_WEBHOOK_ALLOW"),
        ("https://example.com:8443/", "Webhooks go to port 443; other ports are only for hosts named in HANDRAISE_"),
        ("https://example.com:80/", "Webhooks go to port 443"),
        ("ftp://example.com/", "The URL does not begin with https://."),
        ("https://user:secret@example.com/", "The URL has a user name or password"),
        ("https://example.com/#part", "The URL has a fragment"),
        ("https://example.com/a b", "The URL has spaces, backslashes or characters beyond ASCII"),
        ("https://example.com/" + "a" * 2000, "The URL has more than 2000 characters."),
        ("https://bücher.example/", "The URL has spaces, backslashes or characters beyond ASCII"),
        ("https://example.com:99999/", "The host is not understood"),
        ("https://example..com/", "The host is not understood"),
        (f"https://{'a' * 64}.com/", "The host is not understood"),
        (f"https://{'a.' * 126}comm/", "The host is not understood"),
        ("https://intranet/", "The host is a name of an inner network"),
        ("https://printer.local/", "The host is a name of an inner network"),
        ("https://10.0.0.5/", "The host is a private address; the operator can name it in HANDRAISE_WEBHOOK_ALLOW."),
        ("https://[::ffff:127.0.0.1]/", "The host is a loopback address"),
        ("https://169.254.169.254/", "The host is a link-local address, and no setting opens those."),
        ("https://metadata.google.internal/", "The host is a cloud metadata service, and no setting opens those."),
    ],
)
def test_a_refusal_says_why(url: str, why: str) -> None:
    objection = Guard().objection(url)

    assert objection is not None
    assert objection.startswith(why)
    assert "secret" not in objection


def test_every_hostile_spelling_is_refused_already_as_text() -> None:
    guard = Guard()

    assert [url for url in hostile(8080) if guard.objection(url) is None] == []


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ("n8n.internal", "http://n8n.internal:5678/webhook"),
        ("N8N.Internal", "http://n8n.internal/webhook"),
        ("n8n:5678", "http://N8N:5678/webhook"),
        ("n8n:80", "http://n8n/"),
        ("n8n:443", "https://n8n/"),
        ("localhost", "https://localhost/"),
        ("10.0.0.5", "http://10.0.0.5/"),
        ("fd00::5", "http://[fd00:0::5]:99/"),
        ("[fd00::5]:99", "http://[fd00::5]:99/"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080/"),
    ],
)
def test_a_host_named_by_the_operator_is_welcome(entry: str, url: str) -> None:
    assert Guard().objection(url) is not None
    assert Guard([entry]).objection(url) is None
    assert Guard([entry]).is_named(url)


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ("n8n:5678", "http://n8n:5679/"),
        ("n8n:5678", "http://n8n/"),
        ("n8n.internal", "http://other.n8n.internal/"),
        ("n8n.internal", "http://n8n.internal.example.com/"),
        ("n8n.internal", "http://n8n.internal@10.0.0.5/"),
        ("10.0.0.5", "http://10.0.0.6/"),
        ("127.0.0.1", "http://127.1/"),
        ("127.0.0.1", "http://2130706433/"),
        ("127.0.0.1", "http://[::ffff:127.0.0.1]/"),
    ],
)
def test_a_name_opens_nothing_else(entry: str, url: str) -> None:
    assert Guard([entry]).objection(url) is not None


@pytest.mark.parametrize(
    "host", [*NEVER, *(f"[{address}]" for address in NEVER6), "metadata.google.internal", "metadata"]
)
def test_no_name_opens_metadata_and_its_kind(host: str) -> None:
    entry = host.strip("[]")

    objection = Guard([entry, f"{host}:80"] if "%" not in host else [entry]).objection(f"http://{host}/")

    assert objection is not None


@pytest.mark.parametrize(
    "entry",
    ["", "a b", "http://n8n", "n8n/", "n8n:0", "n8n:99999", "n8n:", "u@n8n", "[::1", "1.2.3", "10.0.0.0/8", "*"],
)
def test_a_name_that_is_none_stops_the_start(entry: str) -> None:
    with pytest.raises(ValueError, match=r"HANDRAISE_WEBHOOK_ALLOW has .* neither a host nor host:port"):
        Guard([entry])


PIECES = ["a", "b.c", "1", "80", "0", "127.0.0.1", "::1", "ffff", "[", "]", ":", "@", "%", "-", ".", "_", "x", "K"]


@given(
    st.sampled_from(["http", "https", "HTTPS"]), st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
)
@example("http", "[::ffff:a]:1")
@example("https", "a.b:80")
def test_the_parser_that_connects_reads_what_the_guard_read(scheme: str, place: str) -> None:
    """Each place is named here, as what may be reached depends on the reading of names."""
    try:
        guard = Guard([place])
    except ValueError:
        return
    url = f"{scheme}://{place}/hook"
    if guard.objection(url) is not None:
        return

    parsed = URL(url, encoded=True)

    assert parsed.raw_user is None
    assert parsed.raw_path == "/hook"
    brackets = f"[{parsed.raw_host}]" if ":" in str(parsed.raw_host) else parsed.raw_host
    assert Guard([f"{brackets}:{parsed.port}"]).is_named(url)
