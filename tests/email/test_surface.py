"""What arrives at a mail server: notices, reminders and endings."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.message import EmailMessage

from adapters.email.addresses import Mailbox, parse_smtp_url
from adapters.email.message import message_id_of
from adapters.email.surface import EmailSurface
from core.delivery import Deliverer
from core.ids import NoticeId
from core.places import Target
from core.ports import MessageRef, NotDeliverable, Posted, notice_id
from tests.email.offices import Office, opened_office
from tests.email.samples import PAGE, Seen, answered_prompt, approval, expired_prompt, noon, open_prompt
from tests.support.backends import memory_backend
from tests.support.builders import answer, ask, question_id, spec

DANA = Target("email", "dana@example.com")
EVE = Target("email", "eve@example.com")
KEY = notice_id(question_id(1), DANA)
REMINDER = NoticeId(f"{KEY}:reminder:1")


def surface_at(office: Office) -> EmailSurface:
    smtp = parse_smtp_url(f"smtp://127.0.0.1:{office.port}")
    return EmailSurface(smtp, Mailbox("bot@example.com", "Handraise"), "https://ask.example.com/", clock=noon)


@asynccontextmanager
async def mailing() -> AsyncIterator[tuple[EmailSurface, Office]]:
    async with opened_office() as office, surface_at(office) as surface:
        yield surface, office


def text_of(mail: EmailMessage) -> str:
    part = mail.get_body(("plain",))
    assert part is not None
    text: str = part.get_content()
    return text.replace("\r\n", "\n")


def html_of(mail: EmailMessage) -> Seen:
    part = mail.get_body(("html",))
    assert part is not None
    return Seen(part.get_content())


def ref_of(delivery: object) -> MessageRef:
    assert isinstance(delivery, Posted), delivery
    return delivery.ref


async def test_a_notice_arrives_with_one_link_to_the_page() -> None:
    async with mailing() as (surface, office):
        posted = await surface.post(DANA, approval(), key=KEY)

    assert isinstance(posted, Posted)
    assert (office.senders, office.recipients) == (["bot@example.com"], ["dana@example.com"])
    assert office.only_mail()["Message-ID"] == message_id_of(KEY, "example.com")
    assert office.only_mail()["X-Handraise-Notice"] == KEY
    assert "May I deploy 1.4.0 to production?" in text_of(office.only_mail())
    assert html_of(office.only_mail()).links == [PAGE]


async def test_the_same_key_is_one_mail_and_after_a_restart_the_same_message_id() -> None:
    async with opened_office() as office:
        async with surface_at(office) as surface:
            first = await surface.post(DANA, approval(), key=KEY)
            second = await surface.post(DANA, approval(), key=KEY)
        assert len(office.mails) == 1
        async with surface_at(office) as surface:
            third = await surface.post(DANA, approval(), key=KEY)

    assert first == second == third
    assert len(office.mails) == 2
    assert len({mail["Message-ID"] for mail in office.mails}) == 1


async def test_while_a_question_is_open_nothing_more_is_sent() -> None:
    async with mailing() as (surface, office):
        ref = ref_of(await surface.post(DANA, open_prompt(), key=KEY))

        assert await surface.revise(ref, open_prompt()) == Posted(ref)

    assert len(office.mails) == 1


async def test_the_end_is_one_short_mail_in_the_same_thread() -> None:
    async with opened_office() as office:
        async with surface_at(office) as surface:
            ref = ref_of(await surface.post(DANA, open_prompt(), key=KEY))
            closed = ref_of(await surface.revise(ref, answered_prompt()))
            again = ref_of(await surface.revise(closed, answered_prompt()))
        async with surface_at(office) as surface:
            later = ref_of(await surface.revise(closed, answered_prompt()))

    first, last = office.mails
    assert closed == again == later
    assert (last["In-Reply-To"], last["References"]) == (first["Message-ID"], first["Message-ID"])
    assert last["Subject"] == f"Re: {first['Subject']}"
    assert last["Message-ID"] != first["Message-ID"]
    assert last["X-Handraise-Notice"] == KEY
    assert text_of(last).startswith(
        "This question is settled. There is nothing left to do.\n"
        "\n"
        "Dana (api) answered “PostgreSQL” at 2026-03-01 12:01:00 UTC.\n"
    )
    assert html_of(last).links == [PAGE]


async def test_an_expired_question_is_closed_too() -> None:
    async with mailing() as (surface, office):
        ref = ref_of(await surface.post(DANA, open_prompt(), key=KEY))
        await surface.revise(ref, expired_prompt())

    assert "Nobody answered by 2026-03-01 12:30:00 UTC; nothing was decided." in text_of(office.mails[-1])


async def test_a_question_settled_before_its_notice_went_out_is_told_as_settled() -> None:
    async with mailing() as (surface, office):
        ref = ref_of(await surface.post(DANA, answered_prompt(), key=KEY))
        await surface.revise(ref, answered_prompt())

    assert text_of(office.only_mail()).startswith("This question is settled.")
    assert office.only_mail()["In-Reply-To"] == message_id_of(KEY, "example.com")


async def test_a_reminder_is_the_whole_notice_with_a_sentence_on_top() -> None:
    async with mailing() as (surface, office):
        ref = ref_of(await surface.post(DANA, approval(), key=KEY))
        nudged = await surface.nudge(DANA, ref, approval(), "Ten minutes are left.", key=REMINDER)
        again = await surface.nudge(DANA, ref, approval(), "Ten minutes are left.", key=REMINDER)

    first, reminder = office.mails
    assert nudged == again == Posted(ref)
    assert reminder["In-Reply-To"] == first["Message-ID"]
    assert text_of(reminder) == "Ten minutes are left.\n\n" + text_of(first)
    assert "Ten minutes are left." in html_of(reminder).text


async def test_somebody_new_is_told_of_the_end_as_well() -> None:
    async with mailing() as (surface, office):
        ref = ref_of(await surface.post(DANA, open_prompt(), key=KEY))
        escalated = await surface.nudge(EVE, ref, open_prompt(), "Dana did not answer.", key=NoticeId("k2"))
        alone = await surface.nudge(EVE, None, open_prompt(), "Dana did not answer.", key=NoticeId("k3"))
        await surface.revise(ref_of(escalated), answered_prompt())
        await surface.revise(ref_of(alone), answered_prompt())

    _, reply, fresh, *ends = office.mails
    assert (reply["In-Reply-To"], fresh["In-Reply-To"]) == (message_id_of(KEY, "example.com"), None)
    assert [end["In-Reply-To"] for end in ends] == [reply["Message-ID"], fresh["Message-ID"]]
    assert office.recipients == ["dana@example.com"] + ["eve@example.com"] * 4


async def test_nobody_is_reminded_of_a_settled_question() -> None:
    async with mailing() as (surface, office):
        ref = ref_of(await surface.post(DANA, open_prompt(), key=KEY))

        assert await surface.nudge(DANA, ref, answered_prompt(), "Hurry.", key=REMINDER) == Posted(ref)
        refused = await surface.nudge(EVE, None, answered_prompt(), "Hurry.", key=REMINDER)

    assert isinstance(refused, NotDeliverable)
    assert len(office.mails) == 1


async def test_what_is_no_address_and_what_is_no_ref_is_not_deliverable() -> None:
    async with mailing() as (surface, office):
        wrong = Target("email", "dana@example.com\r\nRCPT TO:<eve@example.com>")
        assert isinstance(await surface.post(wrong, open_prompt(), key=KEY), NotDeliverable)
        assert isinstance(await surface.nudge(wrong, None, open_prompt(), "x", key=KEY), NotDeliverable)
        for value in ("", "x", "[]", "{}", "null", '{"to": 1, "id": 2}', '{"to": "a@b", "id": 2}'):
            assert isinstance(await surface.revise(MessageRef(value), answered_prompt()), NotDeliverable)

    assert office.mails == []


async def test_mails_in_a_bunch_share_a_connection() -> None:
    async with mailing() as (surface, office):
        for number in range(3):
            await surface.post(DANA, open_prompt(), key=NoticeId(f"n{number}"))

    assert (len(office.mails), len(office.connections)) == (3, 1)


async def test_many_at_once_do_not_mix() -> None:
    async with mailing() as (surface, office):
        many = [surface.post(DANA, open_prompt(), key=NoticeId(f"n{number}")) for number in range(20)]
        posted = await asyncio.gather(*many)

    assert all(isinstance(one, Posted) for one in posted)
    assert len({mail["Message-ID"] for mail in office.mails}) == 20


async def test_a_connection_the_server_has_closed_loses_no_mail() -> None:
    async with mailing() as (surface, office):
        await surface.post(DANA, open_prompt(), key=NoticeId("n1"))
        office.hang_up()

        assert isinstance(await surface.post(DANA, open_prompt(), key=NoticeId("n2")), Posted)

    assert (len(office.mails), len(office.connections)) == (2, 2)


async def test_the_deliverer_posts_and_closes_by_mail() -> None:
    backend = memory_backend()
    engine = backend.engine()
    async with mailing() as (surface, office):
        deliverer = Deliverer(backend.outbox, backend.store, backend.reader, engine, {"email": surface})
        await engine.handle(ask(1, spec(targets=(DANA,))))
        await deliverer.deliver()
        await engine.handle(answer(1))
        await deliverer.deliver()
        await deliverer.deliver()

    assert [mail["X-Handraise-Notice"] for mail in office.mails] == [KEY, KEY]
    assert "Dana (api) answered “PostgreSQL”" in text_of(office.mails[1])
