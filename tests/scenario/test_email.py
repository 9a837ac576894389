"""Questions by mail, through a real server and a real mail server: notice, reminder, end, and a refused recipient."""

import asyncio
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path

import httpx2

from tests.email.offices import Office, opened_office
from tests.scenario.talk import Json, answer, ask, cancel, happened, history, look, ok
from tests.support.servers import RunningServer, running
from tests.support.waiting import HANG_SECONDS, eventually

POLICY = """\
[[answer]]
name = "everything"
by = [{ role = "member" }]

[[route]]
name = "nowhere else"
tag = "mail-only"
to = ["email"]

[[route]]
name = "everything"
to = ["email", "inbox"]
"""
MIA = "mia@example.com"


@contextmanager
def post(office: Office | None = None) -> Iterator[Office]:
    """A mail server with a thread of its own, so that it answers while a test waits for something else."""
    handler, opened, done = office if office is not None else Office(), threading.Event(), threading.Event()

    async def serve() -> None:
        async with opened_office(handler):
            opened.set()
            await asyncio.to_thread(done.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert opened.wait(HANG_SECONDS)
    try:
        yield handler
    finally:
        done.set()
        thread.join()


@contextmanager
def workspace(data_dir: Path, office: Office) -> Iterator[tuple[RunningServer, httpx2.Client, httpx2.Client]]:
    """A server that sends through this office, its agent and its admin; Mia is reached by mail."""
    settings = {"smtp_url": f"smtp://127.0.0.1:{office.port}", "mail_from": "Handraise <bot@example.com>"}
    with running(data_dir, **settings) as server, server.client() as agent, server.admin() as admin:
        added = admin.post("/api/people", json={"name": "Mia", "role": "approver", "handles": [f"email:{MIA}"]})
        assert added.status_code == 201, added.text
        ok(admin.put("/api/policy", json={"text": POLICY}))
        yield server, agent, admin


async def mails(office: Office, count: int) -> list[EmailMessage]:
    async def arrived() -> bool:
        return len(office.raw) >= count

    await eventually(arrived)
    return office.mails


async def until_told(client: httpx2.Client, question: Json, name: str) -> None:
    async def told() -> bool:
        return name in happened(client, question["id"])

    await eventually(told)


def words(mail: EmailMessage) -> str:
    plain = mail.get_body(("plain",))
    assert plain is not None
    text: str = plain.get_content()
    return text


async def test_a_question_is_sent_reminded_of_and_closed_in_one_thread(data_dir: Path) -> None:
    with post() as office, workspace(data_dir, office) as (server, agent, admin):
        question = ask(agent, {"question": "Which database shall we use?"}, to="Mia")
        (notice,) = await mails(office, 1)
        await until_told(agent, question, "question.delivered")
        delivered = look(agent, question["id"])

        reminded = ok(admin.post(f"/api/questions/{question['id']}/remind"))["question"]
        _, reminder = await mails(office, 2)

        ok(answer(admin, question["id"], "PostgreSQL"))
        *_, end = await mails(office, 3)
        late = admin.post(f"/api/questions/{question['id']}/remind")

    link = f"{server.url}/q/{question['id']}"
    assert question["asked"] == ["p_mia"]
    assert office.recipients == [MIA] * 3
    assert office.senders == ["bot@example.com"] * 3
    assert link in words(notice)
    assert "Which database shall we use?" in words(notice)
    assert set(re.findall(r"https?://[^\s>\"]+", words(notice))) == {link}, "there is one link and it answers nothing"
    assert delivered["deliveryState"] == "posted"
    assert [(d["surface"], d["state"]) for d in delivered["deliveries"]] == [("web", "posted"), ("email", "posted")]
    assert "Admin sent a reminder to Mia." in words(reminder)
    assert reminded["story"][-1]["text"] == "Admin sent a reminder to Mia."
    assert [mail["In-Reply-To"] for mail in (reminder, end)] == [notice["Message-ID"]] * 2
    assert len({mail["Message-ID"] for mail in (notice, reminder, end)}) == 3
    assert "PostgreSQL" in words(end)
    assert "Admin" in words(end)
    assert late.status_code == 409


async def test_opening_the_link_decides_nothing(data_dir: Path) -> None:
    with post() as office, workspace(data_dir, office) as (_, agent, _admin):
        question = ask(agent, type="approval", action={"tool": "deploy", "arguments": {}}, to="Mia")
        (notice,) = await mails(office, 1)
        await until_told(agent, question, "question.delivered")
        before = look(agent, question["id"])
        (link,) = set(re.findall(r"https?://[^\s>\"]+", words(notice)))
        with httpx2.Client(timeout=60) as scanner:
            opened = [scanner.request(method, link) for method in ("GET", "HEAD", "GET")]
        after = look(agent, question["id"])

    assert all(page.status_code < 500 for page in opened)
    assert after == before
    assert after["status"] == "pending"


async def test_a_withdrawn_question_is_closed_by_mail_as_well(data_dir: Path) -> None:
    with post() as office, workspace(data_dir, office) as (_, agent, _admin):
        question = ask(agent, to="Mia")
        await until_told(agent, question, "question.delivered")
        cancel(agent, question["id"], reason="found out by myself")
        notice, end = await mails(office, 2)

    assert end["In-Reply-To"] == notice["Message-ID"]
    assert "found out by myself" in words(end)


async def test_a_refused_recipient_sends_the_question_to_the_inbox(data_dir: Path) -> None:
    with (
        post(Office(at_recipient="550 5.1.1 no such user here")) as office,
        workspace(data_dir, office) as (_, agent, admin),
    ):
        question = ask(agent, to="Mia")
        await until_told(agent, question, "question.delivery_failed")
        seen = look(agent, question["id"])
        done = ok(answer(admin, question["id"], "anyway"))["question"]
        events = history(agent, question["id"])

    assert office.raw == []
    failed = next(event for event in events if event["type"] == "question.delivery_failed")
    assert failed["delivery"]["state"] == "failed"
    assert "no such user here" in failed["delivery"]["why"]
    assert (seen["status"], seen["deliveryState"]) == ("pending", "posted")
    assert "question.undeliverable" not in [event["type"] for event in events]
    assert done["status"] == "answered"


async def test_where_mail_is_the_only_way_the_agent_hears_that_it_failed(data_dir: Path) -> None:
    with (
        post(Office(at_recipient="550 5.1.1 no such user here")) as office,
        workspace(data_dir, office) as (_, agent, admin),
    ):
        question = ask(agent, to="Mia", tags=["mail-only"])
        await until_told(agent, question, "question.undeliverable")
        seen = look(agent, question["id"])
        done = ok(answer(admin, question["id"], "found it all the same"))["question"]

    assert (seen["status"], seen["deliveryState"]) == ("pending", "undeliverable")
    assert done["status"] == "answered"


async def test_somebody_without_an_address_is_not_written_to(data_dir: Path) -> None:
    with post() as office, workspace(data_dir, office) as (_, agent, admin):
        unreachable = ask(agent, to="Admin")
        reachable = ask(agent, to="Mia")
        await until_told(agent, reachable, "question.delivered")
        seen = look(agent, unreachable["id"])
        explained = ok(admin.post("/api/policy/explain", json={"to": "Admin"}))

    assert office.recipients == [MIA]
    assert (seen["deliveryState"], happened_to(seen)) == ("posted", ["web"])
    assert explained["route"] == [["the inbox"]]
    assert explained["notes"] == ["Nobody it is put to can be reached by email."]


def happened_to(question: Json) -> list[str]:
    return [delivery["surface"] for delivery in question["deliveries"]]


async def test_a_question_handed_over_is_sent_to_whom_it_is_put_now(data_dir: Path) -> None:
    with post() as office, workspace(data_dir, office) as (_, agent, admin):
        question = ask(agent, to="Admin")
        ok(admin.post(f"/api/questions/{question['id']}/reassign", json={"to": "Mia", "reason": "her field"}))
        (notice,) = await mails(office, 1)
        ok(answer(admin, question["id"], "done"))
        _, end = await mails(office, 2)

    assert office.recipients == [MIA, MIA]
    assert question["id"] in words(notice)
    assert end["In-Reply-To"] == notice["Message-ID"]
