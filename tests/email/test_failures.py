"""Mail servers that refuse, drop, hang, encrypt and want a login."""

import socket
import ssl
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest

from adapters.email.addresses import Mailbox, parse_smtp_url
from adapters.email.surface import EmailSurface
from core.ids import NoticeId
from core.places import Target
from core.ports import Deferred, Delivery, NotDeliverable, Posted
from tests.email.offices import PASSWORD, USER, Office, opened_office
from tests.email.samples import open_prompt
from tests.webhooks.certificates import localhost

DANA = Target("email", "dana@example.com")
LOGIN = f"{quote(USER, safe='')}:{quote(PASSWORD, safe='')}@"


async def sent(url: str, tls: ssl.SSLContext | None = None, *, seconds: float = 10) -> Delivery:
    sender = Mailbox("bot@example.com")
    surface = EmailSurface(
        parse_smtp_url(url), sender, "https://ask.example.com", tls=tls, timeout=timedelta(seconds=seconds)
    )
    async with surface:
        return await surface.post(DANA, open_prompt(), key=NoticeId("n1"))


async def sent_to(office: Office) -> Delivery:
    async with opened_office(office):
        return await sent(f"smtp://127.0.0.1:{office.port}")


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    folder: Path = tmp_path_factory.mktemp("certificate")
    return localhost(folder)


async def test_a_refused_recipient_is_not_deliverable_in_the_words_of_the_server() -> None:
    assert await sent_to(Office(at_recipient="550 5.1.1 no such user here")) == NotDeliverable(
        "The mail server does not take mail for this address: 550 5.1.1 no such user here"
    )


async def test_the_words_of_the_server_are_made_safe_and_short() -> None:
    refused = await sent_to(Office(at_recipient="550 \x1b[2J‮ " + "long " * 100))

    assert isinstance(refused, NotDeliverable)
    assert "⟨U+001B⟩[2J⟨U+202E⟩" in refused.why
    assert len(refused.why) < 300


async def test_a_busy_mailbox_is_tried_again() -> None:
    assert await sent_to(Office(at_recipient="451 4.3.0 try later")) == Deferred(
        timedelta(seconds=60), "The mail server does not take mail for this address now: 451 4.3.0 try later"
    )


async def test_a_refused_mail_is_not_deliverable_and_a_busy_server_is_tried_again() -> None:
    assert await sent_to(Office(at_data="554 5.6.0 looks like spam")) == NotDeliverable(
        "The mail server does not take this mail: 554 5.6.0 looks like spam"
    )
    assert await sent_to(Office(at_data="452 4.3.1 disk full")) == Deferred(
        timedelta(seconds=60), "The mail server does not take this mail now: 452 4.3.1 disk full"
    )


async def test_a_refused_sender_is_for_the_operator() -> None:
    assert await sent_to(Office(at_sender="553 5.7.1 not your address")) == Deferred(
        timedelta(minutes=5),
        "The mail server does not take mail from our address; check the sender: 553 5.7.1 not your address",
    )
    assert await sent_to(Office(at_recipient="530 5.7.0 authenticate first")) == Deferred(
        timedelta(minutes=5),
        "The mail server wants a login or encryption; check the SMTP URL: 530 5.7.0 authenticate first",
    )


async def test_a_dropped_connection_is_tried_again() -> None:
    assert await sent_to(Office(drops=True)) == Deferred(
        timedelta(seconds=30), "The mail server broke the connection off."
    )


async def test_a_server_that_hangs_holds_nobody_up() -> None:
    async with opened_office(Office(hangs=True)) as office:
        hung = await sent(f"smtp://127.0.0.1:{office.port}", seconds=0.2)

    assert hung == Deferred(timedelta(seconds=30), "The mail server did not answer in 0.2 s.")


async def test_a_failed_attempt_spoils_nothing_for_the_next() -> None:
    async with opened_office(Office(at_recipient="451 later")) as office:
        smtp = parse_smtp_url(f"smtp://127.0.0.1:{office.port}")
        async with EmailSurface(smtp, Mailbox("bot@example.com"), "https://ask.example.com") as surface:
            first = await surface.post(DANA, open_prompt(), key=NoticeId("n1"))
            office.at_recipient = None
            second = await surface.post(DANA, open_prompt(), key=NoticeId("n1"))

    assert isinstance(first, Deferred)
    assert isinstance(second, Posted)
    assert len(office.mails) == 1


async def test_where_nobody_listens_it_is_tried_again() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]

        refused = await sent(f"smtp://127.0.0.1:{port}")

    assert refused == Deferred(timedelta(seconds=30), "There is no connection to the mail server: Connection refused.")


async def test_a_name_that_does_not_exist_is_tried_again() -> None:
    unknown = await sent("smtp://mail.invalid:25?tls=off")

    assert isinstance(unknown, Deferred)
    assert unknown.retry_after == timedelta(seconds=30)


async def test_starttls_and_login_work(contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    server, client = contexts
    async with opened_office(tls=server, login=True) as office:
        posted = await sent(f"smtp://{LOGIN}localhost:{office.port}?tls=required", client)

    assert isinstance(posted, Posted)
    assert office.encrypted == [True]
    assert len(office.mails) == 1


async def test_tls_from_the_first_byte_works(contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    server, client = contexts
    async with opened_office(tls=server, implicit=True, login=True) as office:
        posted = await sent(f"smtps://{LOGIN}localhost:{office.port}", client)

    assert isinstance(posted, Posted)
    assert len(office.mails) == 1


@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
async def test_a_certificate_of_a_stranger_gets_no_password(
    scheme: str, contexts: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    query = "?tls=required" if scheme == "smtp" else ""
    async with opened_office(tls=contexts[0], implicit=scheme == "smtps", login=True) as office:
        refused = await sent(f"{scheme}://{LOGIN}localhost:{office.port}{query}")

    assert isinstance(refused, Deferred)
    assert refused.retry_after == timedelta(minutes=5)
    assert refused.why.startswith("The certificate of the mail server is not accepted: self-signed certificate")
    assert office.logins == []


async def test_where_starttls_is_required_nothing_goes_in_the_clear() -> None:
    async with opened_office() as office:
        refused = await sent(f"smtp://{LOGIN}localhost:{office.port}?tls=required")

    assert isinstance(refused, Deferred)
    assert "STARTTLS" in refused.why
    assert (office.mails, office.logins) == ([], [])


async def test_a_wrong_password_is_for_the_operator_and_is_not_told(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    server, client = contexts
    async with opened_office(tls=server, login=True) as office:
        refused = await sent(f"smtp://someone:hunter2@localhost:{office.port}?tls=required", client)

    assert refused == Deferred(
        timedelta(minutes=5), "The mail server does not accept the user name and password of the SMTP URL (535)."
    )
    assert office.mails == []


async def test_plain_speech_to_a_port_that_expects_tls_is_for_the_operator(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    async with opened_office() as office:
        refused = await sent(f"smtps://localhost:{office.port}", contexts[1])

    assert refused == Deferred(
        timedelta(minutes=5), "The TLS handshake with the mail server failed; check scheme and port."
    )
