"""What a browser holds, and telling our own pages from others."""

import pytest
from starlette.requests import Request
from starlette.responses import Response

from adapters.web.cookies import Cookies, comes_from_us, digest_of, form_token, is_form_token, local_path, new_secret


def request(host: str = "127.0.0.1:8700", **headers: str) -> Request:
    told = {"host": host} | {name.replace("_", "-"): value for name, value in headers.items()}
    raw = [(name.encode(), value.encode()) for name, value in told.items()]
    return Request(
        {"type": "http", "method": "POST", "scheme": "http", "path": "/", "headers": raw, "query_string": b""}
    )


def test_secrets_are_long_and_never_the_same() -> None:
    assert len({new_secret() for _ in range(100)}) == 100
    assert len(new_secret()) >= 43  # 256 bits


def test_a_token_belongs_to_one_session() -> None:
    one, other = new_secret(), new_secret()
    assert is_form_token(one, form_token(one))
    assert not is_form_token(one, form_token(other))
    assert not is_form_token(one, "")
    assert form_token(one) not in (one, digest_of(one))


def test_over_https_the_cookie_can_only_come_from_this_host() -> None:
    response = Response()
    Cookies(secure=True).write(response, "session", "s3cret", seconds=60)
    written = response.headers["set-cookie"]
    assert written.startswith("__Host-handraise_session=s3cret;")
    for word in ("HttpOnly", "Secure", "SameSite=lax", "Path=/"):
        assert word in written
    assert "domain" not in written.lower()


def test_servers_beside_each_other_have_cookies_of_their_own() -> None:
    """Browsers send the cookies of one port to all ports of a host."""
    assert Cookies(False, 8700).name("session") != Cookies(False, 8701).name("session")


@pytest.mark.parametrize(
    ("headers", "ours"),
    [
        ({"origin": "http://127.0.0.1:8700"}, True),
        ({"origin": "http://127.0.0.1:8700", "sec_fetch_site": "same-origin"}, True),
        ({"sec_fetch_site": "same-origin"}, True),
        ({}, False),
        ({"origin": "null"}, False),
        ({"origin": "http://127.0.0.1:8701"}, False),
        ({"origin": "http://localhost:8700"}, False),
        ({"origin": "https://127.0.0.1:8700"}, False),
        ({"origin": "http://127.0.0.1:8700.evil.example"}, False),
        ({"origin": "http://127.0.0.1:8700", "sec_fetch_site": "cross-site"}, False),
        ({"origin": "http://127.0.0.1:8700", "sec_fetch_site": "same-site"}, False),
        ({"origin": "http://127.0.0.1:8700", "sec_fetch_site": "none"}, False),
    ],
)
def test_only_our_own_pages_are_ours(headers: dict[str, str], ours: bool) -> None:
    assert comes_from_us(request(**headers), None) is ours


def test_behind_a_proxy_the_public_address_counts_and_not_what_the_request_names() -> None:
    public = "https://ask.example.com"
    assert comes_from_us(request(host="10.0.0.7:8700", origin=public), public)
    assert not comes_from_us(request(host="evil.example", origin="http://evil.example"), public)


@pytest.mark.parametrize("path", ["/", "/q/q_1?x=1", "/jobs/release/1.4"])
def test_a_path_of_ours_is_a_place_to_go(path: str) -> None:
    assert local_path(path) == path


@pytest.mark.parametrize(
    "path",
    [None, "", "//evil.example", "/\\evil.example", "https://evil.example", "javascript:x", "/a\nb", "/\tx", "/a\\b"],
)
def test_nothing_else_is(path: str | None) -> None:
    assert local_path(path) == "/"
