"""What names a mail server, a sender and a recipient, and what does not."""

import pytest

from adapters.email.addresses import Mailbox, SmtpAddress, Tls, mail_address, parse_mailbox, parse_smtp_url


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("smtp://mail.example.com", SmtpAddress("mail.example.com", 587, Tls.STARTTLS)),
        ("smtp://mail.example.com:2525/", SmtpAddress("mail.example.com", 2525, Tls.STARTTLS)),
        ("smtp://mail.example.com:25?tls=off", SmtpAddress("mail.example.com", 25, Tls.OFF)),
        ("smtp://localhost:25", SmtpAddress("localhost", 25, Tls.OFF)),
        ("smtp://127.0.0.1:25", SmtpAddress("127.0.0.1", 25, Tls.OFF)),
        ("smtp://[::1]:25", SmtpAddress("::1", 25, Tls.OFF)),
        ("smtp://localhost:25?tls=required", SmtpAddress("localhost", 25, Tls.STARTTLS)),
        ("smtps://mail.example.com", SmtpAddress("mail.example.com", 465, Tls.IMPLICIT)),
        ("smtp://a%40b:p%3Aw%2F@mail", SmtpAddress("mail", 587, Tls.STARTTLS, "a@b", "p:w/")),
    ],
)
def test_a_url_names_a_server(url: str, address: SmtpAddress) -> None:
    assert parse_smtp_url(url) == address


@pytest.mark.parametrize(
    "url",
    [
        "",
        "mail.example.com:587",
        "http://u:hunter2@mail.example.com",
        "smtp://u:hunter2@",
        "smtp://u:hunter2@mail.example.com:0",
        "smtp://u:hunter2@mail.example.com:99999",
        "smtp://u:hunter2@mail.example.com:587/path",
        "smtp://u:hunter2#@mail.example.com",
        "smtp://u:hunter2@mail.example.com?tls=maybe",
        "smtp://u:hunter2@mail.example.com?tls=off&tls=required",
        "smtps://u:hunter2@mail.example.com?tls=off",
        "smtp://hunter2@mail.example.com",
        "smtp://:hunter2@mail.example.com",
        "smtp://u:hunter2%0d%0a@mail.example.com",
        "smtp://u:hunter2@mail example.com",
        "smtp://u:hunter2@[::1",
    ],
)
def test_a_wrong_url_is_refused_in_a_sentence_without_the_password(url: str) -> None:
    with pytest.raises(ValueError, match=r"^(The|An) .*\.$") as refused:
        parse_smtp_url(url)

    assert "hunter2" not in str(refused.value)
    assert refused.value.__cause__ is None


def test_a_password_is_not_in_what_is_logged() -> None:
    address = parse_smtp_url("smtp://user:hunter2@mail.example.com")

    assert "hunter2" not in f"{address!r} {address}"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("dana@example.com", "dana@example.com"),
        (" dana+hr.x@example.com ", "dana+hr.x@example.com"),
        ("dana@bücher.example", "dana@xn--bcher-kva.example"),
        ("root@localhost", "root@localhost"),
        ("dana", None),
        ("", None),
        ("@example.com", None),
        ("dana@", None),
        ("dana@example..com", None),
        ("dana@example.com\r\nBcc: eve@example.com", None),
        ("dana@example.com, eve@example.com", None),
        ("Dana <dana@example.com>", None),
        ('"dana eve"@example.com', None),
        ("da na@example.com", None),
        ("däna@example.com", None),
        ("dana@[127.0.0.1]", None),
        ("d" * 250 + "@example.com", None),
    ],
)
def test_only_one_plain_address_is_an_address(text: str, address: str | None) -> None:
    assert mail_address(text) == address


def test_a_sender_may_have_a_name() -> None:
    assert parse_mailbox("bot@example.com") == Mailbox("bot@example.com")
    assert parse_mailbox('"Hand, raise" <bot@example.com>') == Mailbox("bot@example.com", "Hand, raise")
    assert parse_mailbox("Hände <bot@example.com>").domain == "example.com"


@pytest.mark.parametrize("text", ["", "bot", "Bot <bot>", "A <a@b> B", "A\r\nBcc: x <a@b>", "N" * 61 + " <a@b>"])
def test_a_wrong_sender_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"^The sender.*\.$"):
        parse_mailbox(text)
