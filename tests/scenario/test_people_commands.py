"""`handraise-bot people`, and keys that belong to people, as an operator runs them beside a running server."""

import json
import re
import sqlite3
import subprocess
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.email.offices import opened_office
from tests.email.reports import DELAYED, POSTFIX
from tests.scenario.talk import APPROVAL, answer, ask, happened, history, look, ok, problem
from tests.support.servers import BIN, RunningServer, clean_environment, running
from tests.support.waiting import eventually

LONG_NAME = "Maximiliana von und zu Hohenlohe-Schillingsfürst"


def command(folder: Path, *words: str, given: bytes | None = None, **settings: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [str(BIN / "handraise-bot"), *words, "--data-dir", str(folder)],
        cwd=folder,
        env=clean_environment(**settings),
        input=given,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    return subprocess.CompletedProcess(words, done.returncode, done.stdout.decode(), done.stderr.decode())


def people(folder: Path, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return command(folder, "people", *words, **more)


def done(folder: Path, *words: str) -> str:
    """What a command says that has to succeed."""
    result = people(folder, *words)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def shown(folder: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done(folder, "show", name, "--json"))
    return found


def refusal(folder: Path, *words: str) -> str:
    result = people(folder, *words)
    assert (result.returncode, result.stdout) == (1, "")
    return result.stderr.removesuffix("\n")


def flat(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


@pytest.fixture
def folder(data_dir: Path) -> Path:
    data_dir.mkdir()
    return data_dir


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Dana, who is the only admin, Erik and Olu; tests that use it change nothing."""
    made = tmp_path_factory.mktemp("team")
    done(made, "add", "Dana", "--role", "admin", "--handle", "email:Dana@Example.com", "--zone", "Europe/Berlin")
    done(made, "add", "Erik", "--role", "lead", "--handle", "slack:U1", "--handle", "email:erik@example.com")
    done(made, "add", "Olu")
    return made


# who there is


def test_somebody_is_added_with_everything(folder: Path) -> None:
    words = (
        "--role",
        "approver",
        "--handle",
        "slack:U1",
        "--handle",
        "email:Mia@Example.com",
        "--zone",
        "Europe/Berlin",
    )
    line = done(folder, "add", "Mia", *words, "--hours", "Mon-Fri 9-17", "--quiet", "daily 22:00-07:00")

    assert line == (
        "p_mia  Mia  approver  slack:U1 email:mia@example.com  "
        "works mon-fri 09:00-17:00 Europe/Berlin; quiet daily 22:00-07:00 Europe/Berlin\n"
    )
    assert done(folder, "show", "mia") == line
    assert shown(folder, "mia@example.com") == {
        "id": "p_mia",
        "name": "Mia",
        "role": "approver",
        "active": True,
        "handles": ["slack:U1", "email:mia@example.com"],
        "zone": "Europe/Berlin",
        "working": "mon-fri 09:00-17:00",
        "quiet": "daily 22:00-07:00",
        "awayUntil": None,
        "standIn": None,
    }


def test_the_list_has_columns_however_long_a_name_is(folder: Path) -> None:
    empty = people(folder, "list")
    done(folder, "add", LONG_NAME, "--role", "approver")
    done(folder, "add", "Olu", "--handle", "discord:123", "--hours", "daily 8-18")
    done(folder, "add", "dana", "--role", "admin", "--handle", "email:dana@example.com")

    lines = done(folder, "list").splitlines()

    assert (empty.returncode, empty.stdout) == (0, "")
    assert empty.stderr == "There is nobody yet. handraise-bot people add NAME adds somebody.\n"
    wide, role = " " * (len(LONG_NAME) - 4), " " * 3
    long_id = "p_maximilianavonundzuhohenlohesc"
    pad = " " * (len(long_id) - 6)
    assert lines == [
        f"p_dana{pad}  dana{wide}  admin{role}  email:dana@example.com",
        f"{long_id}  {LONG_NAME}  approver",
        f"p_olu {pad}  Olu {wide}  member    discord:123             works daily 08:00-18:00 UTC",
    ]
    assert [each["name"] for each in json.loads(done(folder, "list", "--json"))] == ["dana", LONG_NAME, "Olu"]


def test_somebody_changes_and_the_rest_stays(folder: Path) -> None:
    done(folder, "add", "Mia", "--handle", "slack:U1", "--hours", "daily 9-17")

    changed = done(folder, "set", "Mia", "--name", "Mia Berg", "--role", "lead", "--zone", "Asia/Tokyo")
    cleared = done(folder, "set", "Mia Berg", "--hours", "", "--handle", "email:mia@example.com")
    same = done(folder, "set", "p_mia", "--role", "lead")

    assert changed == "p_mia  Mia Berg  lead  slack:U1  works daily 09:00-17:00 Asia/Tokyo\n"
    assert cleared == same == "p_mia  Mia Berg  lead  email:mia@example.com\n"
    audit = done(folder, "audit").splitlines()
    assert [line[25:] for line in audit if line.startswith("2")] == [
        "person.changed  Mia Berg (p_mia)  by handraise-bot",
        "person.changed  Mia Berg (p_mia)  by handraise-bot",
        "person.added    Mia Berg (p_mia)  by handraise-bot",
    ]
    assert [line for line in audit if line.startswith(" ")] == [
        "    handles: slack:U1 -> email:mia@example.com",
        "    works: daily 09:00-17:00 -> none",
        "    name: Mia -> Mia Berg",
        "    role: member -> lead",
        "    zone: UTC -> Asia/Tokyo",
        "    name: Mia",
        "    role: member",
        "    handles: slack:U1",
        "    zone: UTC",
        "    works: daily 09:00-17:00",
    ]
    assert len(done(folder, "audit", "--limit", "1").splitlines()) == 3


def test_somebody_removed_may_come_back_as_somebody_new(folder: Path) -> None:
    done(folder, "add", "Dana", "--role", "admin")
    done(folder, "add", "Olu", "--handle", "slack:U7")

    removed = done(folder, "remove", "Olu")
    gone = refusal(folder, "show", "olu")
    listed = done(folder, "list").splitlines()
    again = done(folder, "add", "Olu", "--handle", "slack:U7")

    assert removed == "Olu (p_olu) is removed.\n"
    assert gone == "Olu was removed."
    assert listed == ["p_dana  Dana  admin", "p_olu   Olu   removed  slack:U7"]
    assert again == "p_olu2  Olu  member  slack:U7\n"
    assert "    role: member -> none" in done(folder, "audit").splitlines()


# away


def test_somebody_is_away_for_a_span_until_a_date_and_until_an_instant(folder: Path) -> None:
    done(folder, "add", "Erik", "--role", "lead")
    done(folder, "add", "Mia", "--zone", "Europe/Berlin")

    began = datetime.now(UTC).replace(microsecond=0)
    done(folder, "away", "Mia", "--until", "3d")
    until = datetime.fromisoformat(shown(folder, "Mia")["awayUntil"])
    date = done(folder, "away", "Mia", "--until", "2199-08-31", "--stand-in", "Erik")
    local = done(folder, "away", "Mia", "--until", "2199-08-31T09:00")
    instant = done(folder, "away", "Mia", "--until", "2199-08-31T09:00-05:00")
    back = done(folder, "away", "Mia", "--back")
    audit = done(folder, "audit", "--limit", "4").splitlines()

    assert began + timedelta(days=3) <= until < began + timedelta(days=3, minutes=5)
    # Midnight and nine o'clock where Mia is.
    assert date == "p_mia  Mia  member  away until 2199-08-30 22:00:00 UTC, Erik stands in\n"
    assert local == "p_mia  Mia  member  away until 2199-08-31 07:00:00 UTC\n"
    assert instant == "p_mia  Mia  member  away until 2199-08-31 14:00:00 UTC\n"
    assert back == "p_mia  Mia  member\n"
    assert [line for line in audit if line.startswith(" ")][:6] == [
        "    away until: 2199-08-31 14:00:00 UTC -> none",
        "    away until: 2199-08-31 07:00:00 UTC -> 2199-08-31 14:00:00 UTC",
        "    away until: 2199-08-30 22:00:00 UTC -> 2199-08-31 07:00:00 UTC",
        "    stand-in: Erik -> none",
        f"    away until: {until:%Y-%m-%d %H:%M:%S} UTC -> 2199-08-30 22:00:00 UTC",
        "    stand-in: none -> Erik",
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--until", "2020-01-01"), "Away until when? That instant has passed."),
        (("--until", "3d", "--stand-in", "Olu"), "Olu is member and cannot stand in for Dana, who is admin."),
        (("--until", "3d", "--stand-in", "Dana"), "Nobody stands in for themselves."),
        (("--until", "3d", "--stand-in", "Zoe"), "There is nobody called “Zoe”. There are “Dana”, “Erik” and “Olu”."),
    ],
)
def test_an_absence_that_cannot_be_is_refused(team: Path, words: tuple[str, ...], told: str) -> None:
    assert refusal(team, "away", "Dana", *words) == told


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--until", "3d", "--back"),
        ("--until", "soon"),
        ("--until", "99999999d"),
        ("--until", "9999-12-31T23:00-10:00"),
    ],
)
def test_an_absence_written_badly_is_refused(team: Path, words: tuple[str, ...]) -> None:
    result = people(team, "away", "Dana", *words)

    assert (result.returncode, result.stdout) == (2, "")
    assert "--until" in result.stderr


# links


def test_a_handle_is_linked_and_a_code_is_printed(folder: Path) -> None:
    done(folder, "add", "Dana", "--role", "admin")
    done(folder, "add", "Danas phone", "--handle", "slack:U9")

    linked = done(folder, "link", "Dana", "email:Dana@Example.com")
    merged = done(folder, "link", "Dana", "slack:U9")
    again = done(folder, "link", "Dana", "slack:U9")
    code, hint = done(folder, "link", "Dana").splitlines()

    assert linked == "email:dana@example.com is Dana.\n"
    assert merged == again == "slack:U9 is Dana.\n"
    assert re.fullmatch(r"[2-9A-HJKMNP-Z]{4}-[2-9A-HJKMNP-Z]{4}", code)
    assert hint == "Dana types it on the other surface within 10 minutes; it works once."
    assert done(folder, "list") == "p_dana  Dana  admin  email:dana@example.com slack:U9\n"
    assert "    slack:U9 is Dana" in done(folder, "audit").splitlines()
    assert code not in done(folder, "audit")


# what is refused


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("show", "Zoe"), "There is nobody called “Zoe”. There are “Dana”, “Erik” and “Olu”."),
        (("set", "Zoe", "--role", "lead"), "There is nobody called “Zoe”. There are “Dana”, “Erik” and “Olu”."),
        (("remove", "Zoe"), "There is nobody called “Zoe”. There are “Dana”, “Erik” and “Olu”."),
        (("link", "Zoe", "slack:U2"), "There is nobody called “Zoe”. There are “Dana”, “Erik” and “Olu”."),
        (("add", "dana"), "There is somebody called “dana” already; name them apart."),
        (("set", "Olu", "--name", "ERIK"), "There is somebody called “ERIK” already; name them apart."),
        (("add", " "), "A name has 1 to 100 printable characters."),
        (("add", "x" * 101), "A name has 1 to 100 printable characters."),
        (("add", "Zoe", "--handle", "slack:U1"), "slack:U1 belongs to Erik."),
        (("set", "Olu", "--handle", "email:dana@example.com"), "email:dana@example.com belongs to Dana."),
        (("link", "Olu", "slack:U1"), "slack:U1 belongs to Erik, who is lead."),
        (
            ("add", "Zoe", "--role", "boss"),
            "There is no role “boss”. Use one of “member”, “approver”, “lead” and “admin”.",
        ),
        (("add", "Zoe", "--zone", "Berlin"), "“Berlin” is not a time zone. Did you mean “Europe/Berlin”?"),
        (
            ("add", "Zoe", "--hours", "always"),
            "“always” is not understood. "
            "Write days and times such as “mon-fri 09:00-17:00, sat 10:00-12:00” or “daily 22:00-07:00”.",
        ),
        (
            ("set", "Olu", "--quiet", "daily 25-26"),
            "“25” is not a time of day. "
            "Write days and times such as “mon-fri 09:00-17:00, sat 10:00-12:00” or “daily 22:00-07:00”.",
        ),
        (
            ("add", "Zoe", "--handle", "fax:1"),
            "“fax:1” is no handle. Write it as one of slack:…, discord:…, web:…, email:…, oidc:….",
        ),
        (("add", "Zoe", "--handle", "email:zoe"), "“zoe” is no mail address."),
        (("remove", "Dana"), "Dana is the only admin; make somebody else an admin first."),
        (("set", "Dana", "--role", "lead"), "Dana is the only admin; make somebody else an admin first."),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(team: Path, words: tuple[str, ...], told: str) -> None:
    before = _changes(team)

    assert refusal(team, *words) == told
    assert _changes(team) == before


def _changes(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "handraise.db")) as connection:
        count: int = connection.execute("SELECT count(*) FROM audit").fetchone()[0]
        return count


# people and a running server


def test_the_key_of_somebody_removed_soon_stops_working(server: RunningServer) -> None:
    done(server.data_dir, "add", "Lea", "--role", "lead")
    key = server.new_key("Lea's phone", "answer,read", "Lea")
    with server.client(key) as lea:
        before = lea.get("/api/questions/pending").status_code
        done(server.data_dir, "remove", "Lea")
        _wait(lambda: lea.get("/api/questions/pending").status_code == 401)
        refused = lea.get("/api/questions/pending")

    assert before == 200
    assert problem(refused) == (401, "key_revoked")
    assert refused.json()["detail"] == (
        "Lea is no longer among the people of this workspace, so this key no longer counts."
    )


def _wait(holds: Any) -> None:
    """Longer than the two seconds that are promised: machines that test are slow."""
    give_up = datetime.now(UTC) + timedelta(seconds=30)
    while not holds():
        assert datetime.now(UTC) < give_up
        time.sleep(0.05)


def test_a_new_role_soon_counts(server: RunningServer) -> None:
    done(server.data_dir, "add", "Ida")
    key = server.new_key("Ida's phone", "answer", "Ida")
    with server.client() as agent, server.client(key) as ida:
        question = ask(agent, APPROVAL)
        before = answer(ida, question["id"], True)
        done(server.data_dir, "set", "Ida", "--role", "approver")
        _wait(lambda: answer(ida, question["id"], True).status_code == 200)
        decided = look(agent, question["id"])

    assert problem(before)[0] in (403, 404)
    assert decided["respondedBy"] == "Ida"


def _listed(server: RunningServer, key_id: str) -> dict[str, Any]:
    keys = json.loads(command(server.data_dir, "keys", "list", "--json").stdout)
    found: dict[str, Any] = next(key for key in keys if key["id"] == key_id)
    return found


def test_a_key_belongs_to_the_person_who_is_there(server: RunningServer) -> None:
    done(server.data_dir, "add", "Kim", "--role", "approver", "--handle", "email:kim@example.com")
    before = done(server.data_dir, "list")

    by_name, by_mail = (server.made_key("phone", "answer", "--person", name) for name in ("kim", "kim@example.com"))

    assert [_listed(server, made["id"])["person"] for made in (by_name, by_mail)] == ["Kim", "Kim"]
    assert done(server.data_dir, "list") == before


def test_a_key_of_an_agent_has_an_owner(server: RunningServer) -> None:
    done(server.data_dir, "add", "Ole", "--role", "lead")

    made = server.made_key("oles robot", "ask", "--owner", "Ole")
    words = ("keys", "create", "--name", "x", "--scope", "ask")
    nobody = command(server.data_dir, *words, "--owner", "Zoe")
    two = command(server.data_dir, *words, "--owner", "Ole", "--person", "Ole")

    assert _listed(server, made["id"])["owner"] == "p_ole"
    assert (nobody.returncode, nobody.stdout) == (1, "")
    assert nobody.stderr.startswith("There is nobody called “Zoe”. There are “Admin”, ")
    assert (two.returncode, two.stdout) == (2, "")
    assert "A person's own key needs no owner." in flat(two.stderr)


FOUR_EYES = """
[[answer]]
name = "four eyes"
kind = "approval"
by = [{ role = "approver" }]
four_eyes = true

[[answer]]
name = "the rest"
by = [{ role = "member" }]
"""


def test_the_owner_of_the_asking_key_does_not_approve_under_four_eyes(data_dir: Path) -> None:
    with running(data_dir) as server:
        done(data_dir, "add", "Ole", "--role", "lead")
        assert command(data_dir, "policy", "apply", "-", given=FOUR_EYES.encode()).returncode == 0
        robot, ole = server.made_key("robot", "ask,read", "--owner", "Ole")["key"], server.new_key("p", "answer", "Ole")
        with server.client(robot) as asking, server.client(ole) as owner, server.admin() as admin:
            _wait(lambda: _policy_version(admin) == 1)
            question = ask(asking, APPROVAL)
            refused = answer(owner, question["id"], True)
            decided = answer(admin, question["id"], True)

    assert problem(refused) == (403, "not_a_responder")
    assert refused.json()["detail"] == "Four eyes: the agent works for Ole, so somebody else has to decide."
    assert ok(decided)["question"]["respondedBy"] == "Admin"


def _policy_version(admin: httpx2.Client) -> int:
    version: int = ok(admin.post("/api/policy/explain", json={}))["policyVersion"]
    return version


# mail that comes back


MAILED = """
[[answer]]
name = "all"
by = [{ role = "member" }]

[[route]]
name = "back to mail"
addressed_to = "dana@example.net"
to = ["email"]

[[route]]
name = "mail"
to = ["email", "inbox"]
"""


def _report(question_id: str, report: bytes = POSTFIX) -> bytes:
    return report.replace(b"q_00000000000000000000000001", question_id.encode())


async def test_a_mail_that_comes_back_is_told_to_the_question(folder: Path) -> None:
    async with opened_office() as office:
        mail = {"smtp_url": f"smtp://127.0.0.1:{office.port}", "mail_from": "bot@example.com"}
        done(folder, "add", "Dana", "--role", "admin", "--handle", "email:dana@example.net")
        assert command(folder, "policy", "apply", "-", given=MAILED.encode()).returncode == 0
        with running(folder, **mail) as server, server.client() as agent:
            question = ask(agent, to="dana@example.net")

            async def is_mailed() -> bool:
                return "question.delivered" in happened(agent, question["id"])

            await eventually(is_mailed)
            late = people(folder, "bounce", given=_report(question["id"], DELAYED), **mail)
            before = happened(agent, question["id"])
            told = people(folder, "bounce", given=_report(question["id"]), **mail)
            failed = history(agent, question["id"])[-1]

    nothing = "This is no report that a notice of ours could not be delivered; nothing was done.\n"
    assert office.recipients == ["dana@example.net"]
    assert (late.returncode, late.stdout, late.stderr) == (0, "", nothing)
    assert before == ["question.asked", "question.delivered"]
    assert told.returncode == 0
    assert told.stdout.startswith(f"{question['id']}: The mail to dana@example.net could not be delivered: 550 5.1.1 ")
    assert failed["type"] in ("question.delivery_failed", "question.undeliverable")
    assert "550 5.1.1" in json.dumps(failed)


def test_what_is_no_report_of_ours_does_nothing(folder: Path) -> None:
    nonsense = people(folder, "bounce", given=b"Subject: hello\r\n\r\nhello")
    unknown = people(folder, "bounce", given=POSTFIX)

    nothing = "This is no report that a notice of ours could not be delivered; nothing was done.\n"
    assert (nonsense.returncode, nonsense.stdout, nonsense.stderr) == (0, "", nothing)
    assert (unknown.returncode, unknown.stdout) == (0, "")
    assert unknown.stderr == (
        "There is no question “q_00000000000000000000000001”, or this key may not see it. Nothing was done.\n"
    )
