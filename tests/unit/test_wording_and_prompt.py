"""Every sentence about a question's life, and the neutral prompt that every surface shows."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.answers import (
    AnswerShape,
    AnswerValue,
    ApprovalShape,
    BooleanShape,
    ChoiceShape,
    FormShape,
    MultiChoiceShape,
    NumberShape,
    Option,
    TextShape,
)
from core.ids import JobId, JsonObject, JsonValue
from core.kinds import JobStatus, Kind
from core.phrasing import listing, moment, shown, span
from core.prompt import Button, Choice, Fact, Prompt, ShownAction, TextBox, Tone, prompt_for
from core.question import Action, Comment, Decider, Outcome, OutcomeKind, Pause, Question, Risk, Status, Urgency
from core.wording import (
    answer_words,
    closed_sentence,
    decider_words,
    ended_sentence,
    expired_in_job,
    job_ended_reason,
    late_offer,
    no_job,
    no_question,
    outcome_sentence,
)
from tests.support.builders import (
    BY_DANA,
    a_job,
    after,
    answered,
    expired,
    opened,
    question_id,
    spec,
    withdrawn,
)

POSTGRES = Option("PostgreSQL", "pg", id="a", recommended=True)
SQLITE = Option("SQLite", "lite", description="one file", implications="one writer", pros=("easy",), cons=("small",))
CHOICE = ChoiceShape((POSTGRES, SQLITE))


# Pieces of sentences


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("a text", "“a text”"),
        ("", "“”"),
        (7, "7"),
        (2.5, "2.5"),
        ("x" * 58, "“" + "x" * 58 + "”"),
        ("x" * 59, "“" + "x" * 58 + "…"),
    ],
)
def test_a_value_is_quoted_if_it_is_a_text_and_shortened_if_it_is_long(value: JsonValue, words: str) -> None:
    assert shown(value) == words


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([], ""),
        (["a"], "“a”"),
        (["a", "b"], "“a” and “b”"),
        (["a", "b", "c"], "“a”, “b” and “c”"),
        (list("abcdefghijkl"), "“a”, “b”, “c”, “d”, “e”, “f”, “g”, “h”, “i”, “j”, “k” and “l”"),
        (list("abcdefghijklmn"), "“a”, “b”, “c”, “d”, “e”, “f”, “g”, “h”, “i”, “j”, “k”, “l” and 2 more"),
    ],
)
def test_names_are_listed_and_the_tail_counted(names: list[str], words: str) -> None:
    assert listing(names) == words


def test_an_instant_is_written_to_the_second_in_utc() -> None:
    assert moment(datetime(2026, 3, 1, 9, 5, 7, 999_999, tzinfo=UTC)) == "2026-03-01 09:05:07 UTC"


@pytest.mark.parametrize(
    ("duration", "words"),
    [
        (timedelta(seconds=0.5), "0.5 s"),
        (timedelta(seconds=1), "1 s"),
        (timedelta(seconds=45), "45 s"),
        (timedelta(seconds=60), "1 min"),
        (timedelta(seconds=90), "1 min 30 s"),
        (timedelta(minutes=30), "30 min"),
        (timedelta(hours=1), "1 h"),
        (timedelta(minutes=90), "1 h 30 min"),
        (timedelta(hours=1, seconds=30), "1 h"),
        (timedelta(hours=24), "24 h"),
        (timedelta(days=2), "48 h"),
    ],
)
def test_a_duration_is_written_in_its_largest_units(duration: timedelta, words: str) -> None:
    assert span(duration) == words


# Answers as people say them


@pytest.mark.parametrize(
    ("shape", "value", "words"),
    [
        (TextShape(), "As you like", "As you like"),
        (CHOICE, "pg", "PostgreSQL"),
        (CHOICE, "lite", "SQLite"),
        (ChoiceShape((POSTGRES,), allow_free_text=True), "MySQL", "MySQL"),
        (ChoiceShape((Option("One", 1), Option("Yes", True))), 1, "One"),
        (ChoiceShape((Option("One", 1), Option("Yes", True))), True, "Yes"),
        (
            MultiChoiceShape((POSTGRES, SQLITE), allow_free_text=True),
            ["lite", "pg", "MySQL"],
            "SQLite, PostgreSQL, MySQL",
        ),
        (BooleanShape(), True, "yes"),
        (BooleanShape(), False, "no"),
        (BooleanShape((Option("Ship it", True), Option("Hold", False))), True, "Ship it"),
        (BooleanShape((Option("Ship it", True), Option("Hold", False))), False, "Hold"),
        (ApprovalShape(), True, "approved"),
        (ApprovalShape(), False, "rejected"),
        (NumberShape(), 7, "7"),
    ],
)
def test_an_answer_is_said_with_its_label(shape: AnswerShape, value: JsonValue, words: str) -> None:
    assert answer_words(shape, AnswerValue(value)) == words


def test_an_edited_approval_says_so() -> None:
    answer = AnswerValue(True, None, {"count": 3})

    assert answer_words(ApprovalShape(editable=True), answer) == "approved with edited arguments"


@pytest.mark.parametrize(
    ("decider", "words"),
    [
        (Decider("person", "p_dana", "Dana", "slack"), "Dana (slack)"),
        (Decider("person", "p_dana", "Dana"), "Dana"),
        (Decider("asker", "agent:builder"), "agent:builder"),
        (Decider("rule"), "rule"),
        (Decider("default"), "the default"),
        (Decider("deadline"), "the deadline"),
    ],
)
def test_who_decided_is_named(decider: Decider, words: str) -> None:
    assert decider_words(decider) == words


# How a question ended


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        (
            Outcome(OutcomeKind.ANSWERED, Decider("person", "p", "Dana", "slack"), after(1), AnswerValue("pg")),
            "Dana (slack) answered “PostgreSQL” at 2026-03-01 12:01:00 UTC.",
        ),
        (
            Outcome(OutcomeKind.DEFAULTED, Decider("default"), after(30), AnswerValue("lite")),
            "Nobody answered by 2026-03-01 12:30:00 UTC, so the default “SQLite” stands.",
        ),
        (
            Outcome(OutcomeKind.EXPIRED, Decider("deadline"), after(30)),
            "Nobody answered by 2026-03-01 12:30:00 UTC; nothing was decided.",
        ),
        (
            Outcome(OutcomeKind.WITHDRAWN, Decider("asker", "agent:builder", "builder", "api"), after(1)),
            "builder (api) withdrew it at 2026-03-01 12:01:00 UTC.",
        ),
        (
            Outcome(OutcomeKind.WITHDRAWN, Decider("person", "p", "Dana", "slack"), after(1), reason="asked elsewhere"),
            "Dana (slack) withdrew it at 2026-03-01 12:01:00 UTC: asked elsewhere.",
        ),
    ],
    ids=["answered", "defaulted", "expired", "withdrawn", "withdrawn with a reason"],
)
def test_the_outcome_is_told_in_one_sentence(outcome: Outcome, sentence: str) -> None:
    assert outcome_sentence(opened(spec(shape=CHOICE)), outcome) == sentence


def test_a_closed_question_says_how_it_ended() -> None:
    assert closed_sentence(expired()) == (
        "This question is closed. Nobody answered by 2026-03-01 12:30:00 UTC; nothing was decided."
    )


def test_who_comes_too_late_is_told_that_the_answer_can_be_sent_on() -> None:
    assert late_offer(expired()) == (
        "This question is closed. Nobody answered by 2026-03-01 12:30:00 UTC; nothing was decided. "
        "You can still send your answer on as a late answer."
    )


def test_an_ended_job_says_what_to_do_instead() -> None:
    assert ended_sentence(a_job(status=JobStatus.CANCELLED)) == (
        "Job “nightly” has ended (cancelled). Ask in another job, or set this one back to running first."
    )


def test_a_question_withdrawn_with_its_job_says_so() -> None:
    assert job_ended_reason(a_job(status=JobStatus.FAILED)) == "job “nightly” ended (failed)"


def test_a_job_stopped_by_an_expiry_names_the_question() -> None:
    assert expired_in_job(question_id(7)) == "question q_00000000000000000000000007 expired without an answer"


def test_a_question_that_is_not_there_may_only_be_hidden() -> None:
    assert no_question(question_id(7)) == (
        "There is no question “q_00000000000000000000000007”, or this key may not see it."
    )


def test_a_job_that_is_not_there_may_only_be_somebody_elses() -> None:
    assert no_job(JobId("nightly")) == "There is no job “nightly”, or it belongs to another agent."


# The prompt


def test_the_prompt_of_a_plain_question() -> None:
    assert prompt_for(opened()) == Prompt(
        question_id=question_id(1),
        version=1,
        title="builder asks",
        text="Which database?",
        tone=Tone.OPEN,
        facts=(Fact("kind", "blocking"),),
        choices=(),
        controls=(TextBox("Your answer"),),
        action=None,
        thread=(),
        deadline=datetime(2026, 3, 1, 12, 30, tzinfo=UTC),
        footer="",
        who="May answer: an admin.",
    )


def test_the_prompt_shows_what_belongs_to_the_question() -> None:
    made = spec(
        Kind.ERROR_RECOVERY,
        CHOICE,
        job="nightly",
        project_id="shop",
        phase="build",
        to="release-managers",
        urgency=Urgency.URGENT,
        context={"currentStep": "migrate", "attempt": 3},
        default=AnswerValue("lite"),
    )

    assert prompt_for(opened(made)).facts == (
        Fact("kind", "error recovery"),
        Fact("job", "nightly"),
        Fact("project", "shop"),
        Fact("phase", "build"),
        Fact("for", "release-managers"),
        Fact("urgency", "urgent"),
        Fact("currentStep", "migrate", is_context=True),
        Fact("attempt", "3", is_context=True),
        Fact("default", "SQLite"),
    )


def test_a_reason_given_with_the_answer_is_shown() -> None:
    question = answered()
    assert question.outcome is not None
    explained = replace(question, outcome=replace(question.outcome, reason="we know it"))

    assert prompt_for(explained).facts == (Fact("kind", "blocking"), Fact("reason", "we know it"))


def test_a_reason_for_withdrawing_stands_in_the_footer_alone() -> None:
    prompt = prompt_for(withdrawn(reason="found it"))

    assert prompt.facts == (Fact("kind", "blocking"),)
    assert "found it" in prompt.footer


def test_the_title_names_the_agents_role_if_it_gave_one() -> None:
    assert prompt_for(opened(spec(agent="planner"))).title == "planner asks"


def test_the_prompt_shows_all_that_helps_to_choose() -> None:
    assert prompt_for(opened(spec(shape=CHOICE))).choices == (
        Choice("PostgreSQL", None, True, None, (), ()),
        Choice("SQLite", "one file", False, "one writer", ("easy",), ("small",)),
    )


@pytest.mark.parametrize(
    ("shape", "controls"),
    [
        (TextShape(), (TextBox("Your answer"),)),
        (NumberShape(), (TextBox("Your answer"),)),
        (CHOICE, (Button("answer", "0", "PostgreSQL"), Button("answer", "1", "SQLite"))),
        (BooleanShape(), (Button("answer", "true", "Yes"), Button("answer", "false", "No"))),
        (ApprovalShape(), (Button("approve", "", "Approve"), Button("reject", "", "Reject"))),
    ],
)
def test_an_open_question_offers_the_controls_of_its_shape(shape: AnswerShape, controls: tuple[object, ...]) -> None:
    assert prompt_for(opened(spec(shape=shape))).controls == controls


@pytest.mark.parametrize(
    "question",
    [answered(spec(Kind.APPROVAL, ApprovalShape()), True), expired(spec(shape=CHOICE)), withdrawn()],
    ids=["answered", "expired", "withdrawn"],
)
def test_a_closed_question_offers_nothing(question: Question) -> None:
    assert prompt_for(question).controls == ()


@pytest.mark.parametrize("question", [answered(), expired(), withdrawn()], ids=["answered", "expired", "withdrawn"])
def test_a_closed_question_has_no_deadline_to_show(question: Question) -> None:
    assert prompt_for(question).deadline is None


@pytest.mark.parametrize(
    ("question", "tone", "footer"),
    [
        (
            answered(),
            Tone.DONE,
            "Dana (api) answered “PostgreSQL” at 2026-03-01 12:01:00 UTC.",
        ),
        (
            expired(),
            Tone.CLOSED,
            "Nobody answered by 2026-03-01 12:30:00 UTC; nothing was decided.",
        ),
        (
            withdrawn(reason="found it"),
            Tone.CLOSED,
            "builder (api) withdrew it at 2026-03-01 12:01:00 UTC: found it.",
        ),
    ],
    ids=["answered", "expired", "withdrawn"],
)
def test_a_closed_question_shows_how_it_ended(question: Question, tone: Tone, footer: str) -> None:
    prompt = prompt_for(question)

    assert (prompt.tone, prompt.footer) == (tone, footer)


def test_a_default_that_stands_is_not_shown_as_done() -> None:
    outcome = Outcome(OutcomeKind.DEFAULTED, Decider("default"), after(30), AnswerValue("SQLite"))
    question = replace(opened(), status=Status.EXPIRED, outcome=outcome)

    prompt = prompt_for(question)

    assert (prompt.tone, prompt.footer) == (
        Tone.CLOSED,
        "Nobody answered by 2026-03-01 12:30:00 UTC, so the default “SQLite” stands.",
    )


def test_a_paused_question_waits_and_can_still_be_answered() -> None:
    paused = Pause(after(10), after(10, hours=24), timedelta(minutes=20))

    prompt = prompt_for(replace(opened(), pause=paused, deadline=None))

    assert (prompt.tone, prompt.deadline, prompt.controls, prompt.footer) == (
        Tone.WAITING,
        None,
        (TextBox("Your answer"),),
        "Waiting for the asker's reply; the clock stands still.",
    )


def test_the_prompt_shows_the_whole_action_and_its_digest() -> None:
    action = Action("linear.create", {"count": 5}, "sha256:abc", "-a\n+b\n", Risk.HIGH)

    prompt = prompt_for(opened(spec(Kind.APPROVAL, ApprovalShape(), action=action)))

    assert prompt.action == ShownAction("linear.create", {"count": 5}, "-a\n+b\n", "high", "sha256:abc")


def test_the_prompt_shows_the_thread_with_its_authors() -> None:
    comments = (
        Comment(BY_DANA, "Which size?", after(1), asks_back=True),
        Comment(Decider("asker"), "Large.", after(2), asks_back=False),
    )

    prompt = prompt_for(replace(opened(), comments=comments))

    assert prompt.thread == (Fact("Dana", "Which size?"), Fact("asker", "Large."))


def test_a_form_is_told_field_by_field() -> None:
    shape = FormShape({"type": "object", "properties": {}})
    value: JsonObject = {"company": "Acme", "seats": 25, "trial": False, "regions": ["eu", "us"]}
    assert answer_words(shape, AnswerValue(value)) == "company: Acme, seats: 25, trial: no, regions: eu and us"


def test_a_reason_that_is_a_sentence_ends_once() -> None:
    question = withdrawn(reason="Done by hand.")
    assert question.outcome is not None
    assert outcome_sentence(question, question.outcome).endswith("at 2026-03-01 12:01:00 UTC: Done by hand.")
