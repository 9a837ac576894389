"""The table of what leads where, and what each event does to a question."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.commands import (
    Acknowledge,
    Answer,
    Ask,
    QuestionCommand,
    Reassign,
    RecordDelivery,
    Remark,
    Remind,
    Snooze,
    Tick,
    Withdraw,
)
from core.decisions import Accepted, Case, Refused
from core.events import (
    EVENT_NAMES,
    Acknowledged,
    Answered,
    Asked,
    AskedBack,
    Commented,
    Defaulted,
    Delivered,
    DeliveryFailed,
    Escalated,
    Expired,
    Held,
    JobChanged,
    LateAnswered,
    Progressed,
    QuestionEvent,
    Reassigned,
    Reminded,
    Resumed,
    Snoozed,
    Undeliverable,
    Voted,
    VoteVoided,
    Withdrawn,
)
from core.evolving import evolve
from core.machine import TRANSITIONS, apply
from core.question import (
    Comment,
    DeliveryRecord,
    DeliveryState,
    Question,
    Status,
)
from core.refusals import Reason
from tests.support.builders import (
    AGENT,
    BY_ASKER,
    BY_DANA,
    DANA,
    NOW,
    POSTGRES,
    a_job,
    acting,
    after,
    answer,
    answered,
    ask,
    decide,
    expired,
    opened,
    question_id,
    question_of,
    record_delivery,
    remark,
    spec,
    tick,
    withdraw,
    withdrawn,
)

DEADLINE = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


# The table


DELIVERY = record_delivery()
REFUSED = {
    None: Reason.QUESTION_NOT_FOUND,
    Status.ANSWERED: Reason.ALREADY_ANSWERED,
    Status.EXPIRED: Reason.EXPIRED,
    Status.WITHDRAWN: Reason.WITHDRAWN,
}
QUESTIONS: Mapping[Status | None, Question | None] = {
    None: None,
    Status.OPEN: opened(),
    Status.ANSWERED: answered(),
    Status.EXPIRED: expired(),
    Status.WITHDRAWN: withdrawn(),
}


def test_the_table_knows_every_status_and_the_question_not_asked_yet() -> None:
    assert set(TRANSITIONS) == {None, "open", "answered", "expired", "withdrawn"}


def test_the_table_is_this_one() -> None:
    opens, stays_answered = {Status.OPEN}, {Status.ANSWERED}
    stays_expired, stays_withdrawn = {Status.EXPIRED}, {Status.WITHDRAWN}

    table = {
        None: {Ask: opens},
        Status.OPEN: {
            Answer: {Status.OPEN, Status.ANSWERED},
            Remark: opens,
            Withdraw: {Status.WITHDRAWN},
            Acknowledge: opens,
            Snooze: opens,
            Remind: opens,
            Reassign: opens,
            RecordDelivery: opens,
            Tick: {Status.OPEN, Status.EXPIRED, Status.WITHDRAWN},
        },
        Status.ANSWERED: {RecordDelivery: stays_answered, Tick: stays_answered},
        Status.EXPIRED: {Answer: stays_expired, RecordDelivery: stays_expired, Tick: stays_expired},
        Status.WITHDRAWN: {
            Withdraw: stays_withdrawn,
            RecordDelivery: stays_withdrawn,
            Tick: stays_withdrawn,
        },
    }
    assert table == TRANSITIONS


@pytest.mark.parametrize(
    ("status", "command", "end"),
    [
        (None, ask(), Status.OPEN),
        (Status.OPEN, answer(), Status.ANSWERED),
        (Status.OPEN, answer(late=True), Status.ANSWERED),
        (Status.OPEN, remark(), Status.OPEN),
        (Status.OPEN, withdraw(), Status.WITHDRAWN),
        (Status.OPEN, Acknowledge(question_id(1), acting(DANA)), Status.OPEN),
        (Status.OPEN, Snooze(question_id(1), acting(DANA), after(20)), Status.OPEN),
        (Status.OPEN, Remind(question_id(1), acting(DANA)), Status.OPEN),
        (Status.OPEN, Reassign(question_id(1), acting(DANA), "Dana"), Status.OPEN),
        (Status.OPEN, DELIVERY, Status.OPEN),
        (Status.OPEN, tick(), Status.OPEN),
        (Status.ANSWERED, DELIVERY, Status.ANSWERED),
        (Status.ANSWERED, tick(), Status.ANSWERED),
        (Status.EXPIRED, answer(late=True), Status.EXPIRED),
        (Status.EXPIRED, DELIVERY, Status.EXPIRED),
        (Status.EXPIRED, tick(), Status.EXPIRED),
        (Status.WITHDRAWN, withdraw(), Status.WITHDRAWN),
        (Status.WITHDRAWN, DELIVERY, Status.WITHDRAWN),
        (Status.WITHDRAWN, tick(), Status.WITHDRAWN),
    ],
)
def test_a_command_with_an_entry_leads_where_the_table_says(
    status: Status | None, command: QuestionCommand, end: Status
) -> None:
    decision = decide(Case(QUESTIONS[status]), command, after(2))

    assert isinstance(decision, Accepted)
    assert question_of(apply(Case(QUESTIONS[status]), decision.events)).status is end


@pytest.mark.parametrize(
    ("status", "command"),
    [
        (None, answer()),
        (None, remark()),
        (None, withdraw()),
        (None, DELIVERY),
        (None, tick()),
        (Status.ANSWERED, answer()),
        (Status.ANSWERED, remark()),
        (Status.ANSWERED, remark(by=AGENT)),
        (Status.ANSWERED, withdraw()),
        (Status.EXPIRED, remark()),
        (Status.EXPIRED, remark(by=AGENT)),
        (Status.EXPIRED, withdraw()),
        (Status.WITHDRAWN, answer()),
        (Status.WITHDRAWN, answer(late=True)),
        (Status.WITHDRAWN, remark()),
        (Status.WITHDRAWN, remark(by=AGENT)),
    ],
)
def test_a_command_without_an_entry_is_refused(status: Status | None, command: QuestionCommand) -> None:
    decision = decide(Case(QUESTIONS[status]), command, after(2))

    assert isinstance(decision, Refused)
    assert (decision.reason, decision.events) == (REFUSED[status], ())


# Changing


COMMENT = Comment(BY_DANA, "…", after(1), asks_back=False)
POSTED = DeliveryRecord("slack", DeliveryState.POSTED, NOW)


@pytest.mark.parametrize(
    "event",
    [
        Answered(after(1), POSTGRES, BY_DANA),
        Defaulted(after(1), POSTGRES),
        Expired(after(1)),
        Withdrawn(after(1), BY_ASKER),
        AskedBack(after(1), COMMENT),
        Commented(after(1), COMMENT),
        Resumed(after(1)),
        LateAnswered(after(1), POSTGRES, BY_DANA),
        Delivered(after(1), POSTED),
        Undeliverable(after(1), POSTED),
    ],
    ids=lambda event: type(event).__name__,
)
def test_every_event_counts_one_version(event: QuestionEvent) -> None:
    assert evolve(replace(opened(), version=7), event).version == 8


@pytest.mark.parametrize(
    "event",
    [
        Answered(after(1), POSTGRES, BY_DANA),
        Defaulted(after(1), POSTGRES),
        Expired(after(1)),
        Withdrawn(after(1), BY_ASKER),
        AskedBack(after(1), COMMENT),
        Commented(after(1), COMMENT),
        Resumed(after(1)),
        LateAnswered(after(1), POSTGRES, BY_DANA),
        Delivered(after(1), POSTED),
    ],
    ids=lambda event: type(event).__name__,
)
def test_no_event_changes_what_was_asked(event: QuestionEvent) -> None:
    before = opened()

    changed = evolve(before, event)

    assert (changed.id, changed.spec, changed.asked_at) == (before.id, before.spec, before.asked_at)


def test_nothing_can_happen_to_a_question_before_it_is_asked() -> None:
    with pytest.raises(ValueError, match=r"^Expired cannot come before Asked$"):
        evolve(None, Expired(NOW))


def test_resuming_a_question_whose_clock_runs_leaves_its_deadline() -> None:
    assert evolve(opened(), Resumed(after(1))).deadline == DEADLINE


def test_applying_events_changes_question_and_job_in_turn() -> None:
    job = a_job(version=9)
    events = (Asked(NOW, question_id(1), spec()), JobChanged(NOW, None, job), Expired(DEADLINE))

    case = apply(Case(), events)

    assert (question_of(case).version, question_of(case).status, case.job) == (2, Status.EXPIRED, job)


def test_every_event_has_the_name_of_the_contract() -> None:
    names = {
        Asked: "question.asked",
        Answered: "question.answered",
        Voted: "question.voted",
        VoteVoided: "question.vote_voided",
        Reminded: "question.reminded",
        Escalated: "question.escalated",
        Held: "question.held",
        Acknowledged: "question.acknowledged",
        Snoozed: "question.snoozed",
        Reassigned: "question.reassigned",
        DeliveryFailed: "question.delivery_failed",
        Defaulted: "question.defaulted",
        Expired: "question.expired",
        Withdrawn: "question.withdrawn",
        AskedBack: "question.asked_back",
        Commented: "question.commented",
        Resumed: "question.resumed",
        LateAnswered: "question.late_answer",
        Delivered: "question.delivered",
        Undeliverable: "question.undeliverable",
        JobChanged: "job.status",
        Progressed: "job.progress",
    }
    assert names == EVENT_NAMES
