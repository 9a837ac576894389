"""Addresses that may carry a sign-in, and what is told of the others."""

import pytest

from adapters.oidc.addresses import checked_endpoint, checked_issuer

HOW = "write it as https://HOST or https://HOST/PATH"
SAFE = "it must begin with https://; http:// is for a provider on this machine alone"
NO_MORE = "it takes a host, a port from 1 to 65535 and a path; no user name, no #"


@pytest.mark.parametrize(
    "issuer",
    [
        "https://login.example.com",
        "https://login.example.com/",
        "https://login.example.com:8443/realms/main",
        "https://[2001:db8::1]/x",
        "https://xn--bcher-kva.example",
        "http://localhost:9000",
        "http://127.0.0.1:9000/realms/main",
        "http://127.9.9.9",
        "http://[::1]:9000",
    ],
)
def test_an_issuer_is_https_or_on_this_machine(issuer: str) -> None:
    assert checked_issuer(issuer) == issuer


@pytest.mark.parametrize(
    ("issuer", "sentence"),
    [
        ("", HOW),
        ("login.example.com", HOW),
        ("ftp://login.example.com", HOW),
        ("https://", HOW),
        ("https:///x", HOW),
        ("https://login.example.com:99999", HOW),
        ("https://[::1", HOW),
        ("https://[fe80::1%25eth0]/", HOW),
        ("https://bücher.example", HOW),
        ("https://login example.com", HOW),
        ("https://a.example;b", HOW),
        ("https://a.example\\@b.example", HOW),
        ("https://a.example\r\nX: y", HOW),
        ("https://a.example/" + "x" * 2000, HOW),
        ("https://login.example.com:0", NO_MORE),
        ("https://user:password@login.example.com", NO_MORE),
        ("https://@login.example.com", NO_MORE),
        ("https://login.example.com/#x", NO_MORE),
        ("http://login.example.com", SAFE),
        ("http://localhost.example.com", SAFE),
        ("http://0.0.0.0", SAFE),
        ("http://10.0.0.1", SAFE),
        ("https://login.example.com/?tenant=1", "an issuer has nothing behind a ?; take it as the provider writes it"),
        ("https://login.example.com/?", "an issuer has nothing behind a ?; take it as the provider writes it"),
    ],
)
def test_any_other_is_refused_with_a_sentence(issuer: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole sentence is compared
        checked_issuer(issuer)
    assert str(caught.value) == sentence


def test_an_endpoint_may_have_a_query() -> None:
    assert checked_endpoint("https://login.example.com/authorize?p=b2c") == "https://login.example.com/authorize?p=b2c"
