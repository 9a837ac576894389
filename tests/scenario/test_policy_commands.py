"""`handraise-bot policy` as an operator runs it, with and without a server that follows."""

import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.policy import DEFAULT_TEXT
from tests.scenario.talk import APPROVAL, answer, ask, ok, problem
from tests.support.servers import BIN, RunningServer, clean_environment, running
from tests.support.waiting import eventually

LEADS_ONLY = DEFAULT_TEXT.replace('by = [{ role = "approver" }]', 'by = [{ role = "lead" }]')
#: Nothing but an admin answers anything.
ADMINS = '[[answer]]\nname = "admins"\nby = [{ role = "admin" }]\n'
BROKEN = """
colour = "red"

[groups]
release = ["Nobody Here"]

[[answer]]
name = "a"
kind = "aproval"
by = [{ group = "relase" }]

[[route]]
name = "b"
to = ["slak:C1"]

[[ladder]]
name = "c"
steps = [{ remind = "150%" }, { escalate = "10m" }]
"""


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


def policy(folder: Path, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return command(folder, "policy", *words, **more)


def exported(folder: Path) -> str:
    return policy(folder, "export").stdout


def audit(folder: Path) -> str:
    return command(folder, "people", "audit").stdout


@pytest.fixture
def folder(data_dir: Path) -> Path:
    data_dir.mkdir()
    return data_dir


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with three people and the shipped policy; tests that use it change nothing."""
    made = tmp_path_factory.mktemp("team")
    for name, role in (("Dana", "admin"), ("Erik", "lead"), ("Mia", "approver")):
        handle = f"email:{name.lower()}@example.com"
        assert command(made, "people", "add", name, "--role", role, "--handle", handle).returncode == 0
    return made


def test_what_is_exported_is_applied_unchanged(folder: Path) -> None:
    text = exported(folder)
    (folder / "same.toml").write_text(text)

    diff = policy(folder, "diff", "same.toml")
    applied = policy(folder, "apply", "same.toml")

    assert text == DEFAULT_TEXT
    assert (diff.returncode, diff.stdout, diff.stderr) == (0, "", "")
    assert (applied.returncode, applied.stdout) == (0, "Nothing is different; the policy stays as it is.\n")
    assert audit(folder) == ""


def test_a_change_is_shown_applied_and_written_down(folder: Path) -> None:
    (folder / "new.toml").write_text(LEADS_ONLY)

    diff = policy(folder, "diff", "new.toml")
    before = exported(folder)
    applied = policy(folder, "apply", "new.toml")

    changed = '-by = [{ role = "approver" }]\n+by = [{ role = "lead" }]\n'
    assert diff.returncode == 1
    assert diff.stdout.startswith("--- current\n+++ new\n@@ ")
    assert changed in diff.stdout
    assert before == DEFAULT_TEXT
    assert applied.returncode == 0
    assert applied.stdout == (diff.stdout + "The policy is now at version 1. Questions asked from now on follow it.\n")
    assert exported(folder) == LEADS_ONLY
    assert policy(folder, "diff", "new.toml").returncode == 0
    first, *rest = audit(folder).splitlines()
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC  policy\.changed  version 1  by handraise-bot", first)
    assert "\n".join(rest) == "\n".join(f"    {line}" for line in diff.stdout.splitlines())


def test_standard_input_is_a_file_too(folder: Path) -> None:
    diff = policy(folder, "diff", "-", given=LEADS_ONLY.encode())
    applied = policy(folder, "apply", "-", given=b"\xef\xbb\xbf" + LEADS_ONLY.encode())
    explained = policy(folder, "explain", "--policy", "-", "--json", given=ADMINS.encode())

    assert (diff.returncode, applied.returncode) == (1, 0)
    assert exported(folder) == LEADS_ONLY
    assert "leaves nobody who could" in json.loads(explained.stdout)["refused"]


@pytest.mark.parametrize("words", [("diff",), ("apply",), ("explain", "--policy")])
def test_all_mistakes_are_told_at_once_and_nothing_changes(team: Path, words: tuple[str, ...]) -> None:
    (team / "broken.toml").write_text(BROKEN)

    done = policy(team, *words, "broken.toml")

    first, *lines = done.stderr.splitlines()
    assert (done.returncode, done.stdout, first) == (2 if words == ("diff",) else 1, "", "The policy was not taken:")
    assert len(lines) >= 5
    told = "\n".join(lines)
    assert "  groups.release[0]: " in told
    assert "  answer[0].kind: " in told
    assert "Did you mean “approval”?" in told
    assert "  answer[0].by[0].group: There is no group called “relase”. Did you mean “release”?" in told
    assert "  ladder[0].steps[0].remind: “150%” is not between 0% and 100%." in told
    assert "  ladder[0].steps[1].to: " in told
    assert exported(team) == DEFAULT_TEXT


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "  answer: No rule says who may answer, so nobody could. Begin with handraise-bot policy export."),
        (b"# nothing but a comment\n", "  answer: No rule says who may answer"),
        (b"[[answer]\n", "The policy was not taken:"),
        (b'name = "caf\xe9"\n', "bad.toml is not UTF-8."),
        (b"#" * 300_000, "The policy was not taken:"),
    ],
    ids=["empty", "a comment", "no TOML", "Latin-1", "too large"],
)
def test_a_file_that_cannot_be_a_policy_is_refused(team: Path, content: bytes, told: str) -> None:
    (team / "bad.toml").write_bytes(content)

    done = policy(team, "apply", "bad.toml")

    assert (done.returncode, done.stdout) == (1, "")
    assert told in done.stderr
    assert exported(team) == DEFAULT_TEXT


def test_a_file_that_cannot_be_read_is_said_in_one_sentence(team: Path) -> None:
    missing, folder = policy(team, "apply", "none.toml"), policy(team, "diff", ".")
    calendar = policy(team, "import-calendar", "on-call", "none.ics")
    garbled = policy(team, "apply", "-", given=b"\xff\xfe")

    assert (missing.returncode, missing.stderr) == (1, "none.toml cannot be read: No such file or directory.\n")
    assert (folder.returncode, folder.stderr) == (2, ". cannot be read: Is a directory.\n")
    assert (calendar.returncode, calendar.stderr) == (1, "none.ics cannot be read: No such file or directory.\n")
    assert (garbled.returncode, garbled.stderr) == (1, "Standard input is not UTF-8.\n")


# explain


def test_the_screen_of_explain(team: Path) -> None:
    plain = policy(team, "explain", "--at", "2026-01-07T12:00")
    mailed = policy(
        team,
        *("explain", "--kind", "approval", "--at", "2026-01-07T13:00+01:00"),
        smtp_url="smtp://127.0.0.1:1",
        mail_from="bot@example.com",
    )

    assert plain.stdout.splitlines() == [
        "By the shipped policy, asked Wed 2026-01-07 12:00 UTC:",
        "  May answer: any member.   (rule “everything else”)",
        "  That is Dana, Erik and Mia now.",
        "  It is put to Dana, Erik and Mia.",
        "  It goes out via the inbox.   (route “everything”)",
        "  If nobody answers   (ladder “blocking questions and approvals”):",
        "    +15 min  Wed 2026-01-07 12:15 UTC  remind Dana, Erik and Mia, on its page only",
        "    +24 min  Wed 2026-01-07 12:24 UTC  escalate to Dana and Erik, on its page only",
        "    +30 min  Wed 2026-01-07 12:30 UTC  "
        "the time is over: the default stands if there is one, else nothing is decided",
    ]
    assert mailed.stdout.splitlines()[-3:] == [
        "    +7 min 30 s  Wed 2026-01-07 12:07:30 UTC  remind Dana, Erik and Mia, "
        "via email to dana@example.com, erik@example.com and mia@example.com",
        "        +12 min  Wed 2026-01-07 12:12:00 UTC  escalate to Dana and Erik, "
        "via email to dana@example.com and erik@example.com",
        "        +15 min  Wed 2026-01-07 12:15:00 UTC  the time is over: nothing is decided",
    ]


EVERY = """
[groups]
release = ["Erik", "Mia", "Dana"]

[[answer]]
name = "everything matters"
kind = "approval"
urgency = "high"
risk = "critical"
tool = "deploy*"
project = "shop"
agent = "ci-*"
tag = "prod"
to = "release"
by = [{ group = "release" }]
four_eyes = true

[[answer]]
name = "the rest"
by = [{ role = "admin" }]
"""


def test_explain_takes_every_circumstance_as_an_option(team: Path) -> None:
    (team / "every.toml").write_text(EVERY)
    circumstances = {
        "--kind": "approval",
        "--urgency": "high",
        "--risk": "critical",
        "--tool": "deploy_web",
        "--project": "shop",
        "--agent": "ci-7",
        "--tag": "prod",
        "--to": "release",
    }
    words = [word for pair in circumstances.items() for word in pair]
    people = ["--owner", "Mia", "--on-behalf-of", "mia@example.com", "--time-limit", "2h", "--tag", "eu"]
    at = ["--at", "2026-01-07T12:00:00", "--policy", "every.toml", "--json"]

    found = json.loads(policy(team, "explain", *words, *people, *at).stdout)
    without_tool = [word for pair in circumstances.items() if pair[0] != "--tool" for word in pair]
    other = json.loads(policy(team, "explain", *without_tool, *at).stdout)

    assert found == {
        "refused": None,
        "policyVersion": 1,
        "rules": {"answer": "everything matters", "route": "", "ladder": ""},
        "whoMayAnswer": "May approve: release. Whoever the agent works for may not.",
        "responders": ["Dana", "Erik"],
        "barred": ["Mia"],
        "asked": ["Erik", "Mia", "Dana"],
        "route": [["the inbox"]],
        "timeline": [
            {
                "at": "2026-01-07T14:00:00.000Z",
                "what": "the time is over: nothing is decided",
                "people": [],
                "where": [],
            }
        ],
        "notes": [],
    }
    assert other["rules"]["answer"] == "the rest"
    assert exported(team) == DEFAULT_TEXT


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--owner", "Zoe"), "There is nobody called “Zoe” here for a key to belong to."),
        (("--on-behalf-of", "Zoe"), "There is nobody called “Zoe” here for the agent to work for."),
        (("--time-limit", "1m"), "The time limit must be between 5 min and 24 h."),
        (("--time-limit", "25h"), "The time limit must be between 5 min and 24 h."),
    ],
)
def test_explain_says_what_would_not_be_taken(team: Path, words: tuple[str, ...], told: str) -> None:
    done = policy(team, "explain", "--at", "2026-01-07", *words)

    assert done.returncode == 0
    assert done.stdout == f"By the shipped policy, asked Wed 2026-01-07 00:00 UTC: refused.\n  {told}\n"


@pytest.mark.parametrize("words", [("--kind", "odd"), ("--risk", "odd"), ("--time-limit", "soon"), ("--at", "noon")])
def test_explain_refuses_options_that_make_no_sense(team: Path, words: tuple[str, str]) -> None:
    done = policy(team, "explain", *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert words[0] in done.stderr


# calendars


def shift(day: datetime, who: str, uid: str) -> str:
    begin, end = (f"{at:%Y%m%dT%H%M%SZ}" for at in (day, day + timedelta(hours=12)))
    return f"BEGIN:VEVENT\r\nUID:{uid}\r\nSUMMARY:{who}\r\nDTSTART:{begin}\r\nDTEND:{end}\r\nEND:VEVENT\r\n"


def calendar(*events: str) -> str:
    head = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:test\r\n"
    return head + "".join(events) + "END:VCALENDAR\r\n"


def test_a_calendar_becomes_the_shifts_of_a_schedule(folder: Path) -> None:
    for name in ("Dana", "Erik"):
        command(folder, "people", "add", name, "--role", "admin")
    noon = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
    days = [noon + timedelta(days=count) for count in (1, 2)]
    (folder / "shifts.ics").write_text(calendar(shift(days[0], "Dana", "1"), shift(days[1], "On call: Erik", "2")))

    done = policy(folder, "import-calendar", "night", "shifts.ics", "--zone", "Europe/Berlin")
    again = policy(folder, "import-calendar", "night", "shifts.ics", "--zone", "Europe/Berlin")
    asked = [
        json.loads(policy(folder, "explain", "--to", "night", "--at", f"{day:%Y-%m-%dT13:00}", "--json").stdout)[
            "asked"
        ]
        for day in days
    ]

    assert done.returncode == 0, done.stderr
    assert "+[schedules.night]\n" in done.stdout
    assert '+zone = "Europe/Berlin"\n' in done.stdout
    assert done.stdout.endswith("The policy is now at version 1. Questions asked from now on follow it.\n")
    assert again.stdout == "Nothing is different; the policy stays as it is.\n"
    assert asked == [["Dana"], ["Erik"]]
    assert exported(folder).startswith(DEFAULT_TEXT.partition("\n")[0])


def test_a_calendar_with_problems_changes_nothing(team: Path) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    backwards = shift(tomorrow, "Erik", "3").replace("DTEND:2", "DTEND:1")
    (team / "bad.ics").write_text(calendar(shift(tomorrow, "Dana", "1"), shift(tomorrow, "Zoe", "2"), backwards))
    (team / "no.ics").write_text("hello")

    done, no = (policy(team, "import-calendar", "night", name) for name in ("bad.ics", "no.ics"))
    zone = policy(team, "import-calendar", "night", "bad.ics", "--zone", "Berlin")

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "The calendar was not taken:",
        "  The event “Zoe” names nobody who is known here, neither by mail address nor by name.",
        "  The event “Erik” does not end after its start.",
    ]
    assert (no.returncode, no.stderr.splitlines()[0]) == (1, "The calendar was not taken:")
    assert zone.returncode == 2
    assert "Europe/Berlin" in zone.stderr
    assert exported(team) == DEFAULT_TEXT


# two at once, and a server that runs


def test_of_several_that_apply_at_once_each_counts_or_is_told(folder: Path) -> None:
    exported(folder)  # the database is there
    texts = [f"# version of {name}\n{ADMINS}" for name in ("Ann", "Ben", "Cid", "Dee")]
    with ThreadPoolExecutor(len(texts)) as pool:
        done = list(pool.map(lambda text: policy(folder, "apply", "-", given=text.encode()), texts))

    taken = [each for each in done if each.returncode == 0]
    refused = [each for each in done if each.returncode != 0]
    versions = [int(re.findall(r"now at version (\d+)\.", each.stdout)[0]) for each in taken]
    assert sorted(versions) == list(range(1, len(taken) + 1))
    assert {each.returncode for each in refused} <= {1}
    for each in refused:
        assert re.fullmatch(
            r"The policy is at version \d by now\. Look at what changed and apply yours again\.\n", each.stderr
        )
    newest = max(zip(versions, taken, strict=True), key=lambda pair: pair[0])[1]
    assert exported(folder) == texts[done.index(newest)]
    assert audit(folder).count("policy.changed") == len(taken)


async def test_a_running_server_follows_and_open_questions_keep_their_rules(data_dir: Path) -> None:
    with running(data_dir) as server, server.client() as agent:
        boss = _key(server, "Lea", "lead")
        mia = _key(server, "Mia", "approver")
        early = ask(agent, APPROVAL)
        (data_dir / "leads.toml").write_text(LEADS_ONLY)
        assert policy(data_dir, "apply", "leads.toml").returncode == 0
        with server.client(mia) as approver, server.client(boss) as lead:

            async def is_in_force() -> bool:
                shown = ok(agent.post("/api/policy/explain", json={"type": "approval"}))
                return bool(shown["policyVersion"] == 1 and shown["responders"] == ["Admin", "Lea"])

            await eventually(is_in_force)
            late = ask(agent, APPROVAL)
            kept = answer(approver, early["id"], True)
            hidden = answer(approver, late["id"], True)
            decided = answer(lead, late["id"], True)

    assert ok(kept)["question"]["respondedBy"] == "Mia"
    assert problem(hidden)[0] in (403, 404)
    assert ok(decided)["question"]["respondedBy"] == "Lea"


def _key(server: RunningServer, name: str, role: str) -> str:
    assert command(server.data_dir, "people", "add", name, "--role", role).returncode == 0
    return server.new_key(f"{name}'s phone", "answer", name)
