"""`handraise watch` and `handraise progress`: the stream of events in the shell."""

import json
import signal
from typing import Any

import pytest
from handraise.cli.watching import event_line
from handraise.event import Event

from .conftest import PATIENCE, Terminal
from .questions import DANA, problem
from .screens import CTRL_C, Screen
from .stand_in import StandIn

STEERING = "\x1b]0;owned\x07\u202e\nx"


def happened(server: StandIn, type_: str, **event: Any) -> None:
    """Something happened to the first question, which has settled since: a replay carries it as it is now."""
    server.events.emit(type_, {**server.questions["q_1"], "event": {"type": type_, **event}})


@pytest.fixture
def settled(server: StandIn) -> StandIn:
    server.answer(server.add(), "pg")
    return server


def watched(terminal: Terminal, count: int, *words: str) -> tuple[int, list[str], str]:
    """The first lines that `watch` prints, what follows when Ctrl-C is pressed then, and the exit code."""
    command = terminal.start("watch", *words)
    assert command.stdout is not None
    try:
        lines = [command.stdout.readline().rstrip("\n") for _ in range(count)]
        command.send_signal(signal.SIGINT)
        _, stderr = command.communicate(timeout=PATIENCE)
    finally:
        command.kill()
    return command.returncode, lines, stderr


def test_each_event_is_a_line_about_what_happened_then(settled: StandIn, terminal: Terminal) -> None:
    happened(settled, "question.asked", askedBy="builder")
    happened(settled, "question.asked_back", by=DANA, text="which region?")
    happened(settled, "question.answered", by=DANA, response={"value": "pg"})
    settled.events.emit("job.progress", {"id": "build-17", "status": "running", "progress": {"text": "half done"}})
    settled.events.emit("job.status", {"id": "build-17", "status": "completed", "progress": {"text": "half done"}})

    _, lines, _ = watched(terminal, 5, "--after", "0")

    assert lines == [
        "08:00:00 question.asked      q_1 Which database?",
        "08:00:00 question.asked_back q_1 Dana on slack: which region?",
        "08:00:00 question.answered   q_1 Dana on slack: pg",
        "08:00:00 job.progress        build-17 half done",
        "08:00:00 job.status          build-17 completed",
    ]


def test_ctrl_c_ends_it_with_130_and_the_way_back(settled: StandIn, terminal: Terminal) -> None:
    happened(settled, "question.asked")
    happened(settled, "question.answered")

    exit_code, _, stderr = watched(terminal, 2, "--after", "0", "--job", "build-17")

    # Stopped while a line is on its way, it would rather tell that event twice than never.
    way_back = "\nstopped watching\n  to go on from here: handraise watch --job build-17 --after "
    assert exit_code == 130
    assert stderr in (f"{way_back}1\n", f"{way_back}2\n")


def test_ctrl_c_before_anything_happened_has_no_way_back_to_tell(server: StandIn, terminal: Terminal) -> None:
    command = terminal.start("watch")
    assert server.events.listened.wait(PATIENCE)
    command.send_signal(signal.SIGINT)

    stdout, stderr = command.communicate(timeout=PATIENCE)

    assert (command.returncode, stdout, stderr) == (130, "", "\nstopped watching\n")


def test_json_is_a_line_for_each_event(settled: StandIn, terminal: Terminal) -> None:
    happened(settled, "question.asked")
    happened(settled, "question.answered")

    _, lines, _ = watched(terminal, 2, "--after", "0", "--json")

    told = [json.loads(line) for line in lines]
    assert [(each["id"], each["type"], each["data"]["id"]) for each in told] == [
        ("1", "question.asked", "q_1"),
        ("2", "question.answered", "q_1"),
    ]


def test_it_begins_behind_the_given_event_and_with_the_given_job(settled: StandIn, terminal: Terminal) -> None:
    happened(settled, "question.asked")
    settled.events.emit("question.asked", settled.add(jobId="other"))
    happened(settled, "question.answered")

    _, lines, _ = watched(terminal, 1, "--after", "1", "--job", "build-17")

    assert "question.answered" in lines[0]
    assert settled.requests[0].path == "/api/jobs/build-17/events"
    assert settled.requests[0].headers["last-event-id"] == "1"


def test_it_shows_what_the_person_at_this_machine_may_see(settled: StandIn, terminal: Terminal) -> None:
    happened(settled, "question.asked")

    watched(terminal, 1, "--after", "0")

    assert settled.requests[0].headers["authorization"] == "Bearer hr_person"


def test_a_break_is_mended_and_an_outage_told_once(settled: StandIn, terminal: Terminal) -> None:
    for _ in range(3):
        happened(settled, "question.asked")
    settled.events.events_per_connection = 1
    settled.fail_next("/api/events", *[(503, problem(503, "Stopping."))] * 3, headers={"Retry-After": "0"})

    _, lines, stderr = watched(terminal, 3, "--after", "0")

    assert len(lines) == 3
    assert stderr.count("server unreachable, trying again (Stopping.)") == 1


def test_a_reader_that_has_had_enough_ends_it_quietly(settled: StandIn, terminal: Terminal) -> None:
    # More than any pipe holds, so that the command is still writing when the reader leaves.
    settled.questions["q_1"]["question"] = "x" * 190
    for _ in range(1500):
        happened(settled, "question.asked")

    done = terminal.shell("set -e; { handraise watch --after 0; echo $? >&2; } | head -1")

    assert done.stdout.startswith("08:00:00 question.asked")
    assert done.stderr == "0\n"


def test_the_text_of_others_cannot_steer_the_terminal(server: StandIn, terminal: Terminal) -> None:
    server.add(question=STEERING)
    happened(server, "question.asked")
    happened(server, "question.commented", by={"type": "person", "name": STEERING}, text=STEERING)

    with Screen(terminal, "watch", "--after", "0") as screen:
        screen.until("question.commented")
        screen.press(CTRL_C)
        assert screen.to_the_end() == 130

    assert screen.lines()[:2] == [
        "08:00:00 question.asked      q_1 ␛]0;owned␇<U+202E> x",
        "08:00:00 question.commented  q_1 ␛]0;owned␇<U+202E> x: ␛]0;owned␇<U+202E> x",
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--after", "a b"], "'a b' is not a position in the stream: give the id of an event."),
        (["--after"], "Option '--after' requires an argument"),
        (["--job", ""], "'' cannot be the id of anything."),
        (["q_1"], "unexpected extra argument"),
    ],
)
def test_what_cannot_be_watched_is_a_usage_error(
    server: StandIn, terminal: Terminal, words: list[str], told: str
) -> None:
    done = terminal.run("watch", *words)

    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert server.requests == []


def line_of(type_: str, **data: Any) -> str:
    return event_line(Event.from_json("7", {"type": type_, "timestamp": "2026-11-18T08:00:00Z", "data": data}))


def question(status: str, kind: str, decided_by: dict[str, Any], **more: Any) -> dict[str, Any]:
    outcome = {"kind": kind, "decidedBy": decided_by, **more}
    return {"id": "q_1", "status": status, "responseType": "text", "question": "Which?", "outcome": outcome}


@pytest.mark.parametrize(
    ("type_", "data", "line"),
    [
        ("question.expired", question("timeout", "expired", {"type": "deadline"}), "nobody decided in time"),
        (
            "question.defaulted",
            question("timeout", "defaulted", {"type": "default"}, response={"value": "lite"}),
            "nobody answered, the default stands: lite",
        ),
        (
            "question.withdrawn",
            question("cancelled", "withdrawn", {"type": "asker", "name": "builder"}),
            "withdrawn by builder",
        ),
        (
            "question.late_answer",
            question("timeout", "expired", {"type": "deadline"}) | {"event": {"by": DANA, "response": {"value": "pg"}}},
            "Dana on slack, too late: pg",
        ),
        ("question.answered", {"id": "q_1", "status": "from the future", "question": "Which?"}, "Which?"),
        ("question.reminded", {"id": "q_1", "status": "pending", "question": "Which?"}, "Which?"),
    ],
)
def test_every_end_is_told_in_words(type_: str, data: dict[str, Any], line: str) -> None:
    assert line_of(type_, **data) == f"08:00:00 {type_:<19} q_1 {line}"


def test_a_gap_in_the_stream_is_told() -> None:
    event = Event.from_json("7", {"type": "resync", "data": {"after": 7}})

    assert event_line(event).startswith("--:--:-- resync")
    assert "some events before 7 are no longer kept; see: handraise questions" in event_line(event)


def test_progress_is_told_to_the_server(server: StandIn, terminal: Terminal) -> None:
    done = terminal.run("progress", "build-17", "3 of 5 done", "--json")

    assert (done.returncode, done.stderr) == (0, "told the progress of build-17\n")
    assert json.loads(done.stdout)["progress"] == {"text": "3 of 5 done"}
    assert server.requests[0].headers["authorization"] == "Bearer hr_agent"


def test_progress_without_json_prints_nothing_on_stdout(server: StandIn, terminal: Terminal) -> None:
    assert terminal.run("progress", "build-17", "3 of 5 done").stdout == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["progress", "build-17"], "Missing argument 'TEXT'"),
        (["progress", "", "x"], "'' cannot be the id of anything."),
        (["progress", "..", "x"], "'..' cannot be the id of anything."),
        (["progress", "build-17", "a", "b"], "unexpected extra argument"),
    ],
)
def test_progress_of_nothing_is_a_usage_error(server: StandIn, terminal: Terminal, words: list[str], told: str) -> None:
    done = terminal.run(*words, "--json")

    assert (done.returncode, json.loads(done.stdout)["code"]) == (2, "usage")
    assert told in done.stderr
    assert server.requests == []
