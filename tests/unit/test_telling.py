"""Every event has a sentence of its own."""

from datetime import timedelta
from typing import get_args

import pytest

from core.answers import AnswerValue, ApprovalShape, TextShape
from core.events import (
    Acknowledged,
    Answered,
    Asked,
    AskedBack,
    Commented,
    Defaulted,
    Delivered,
    DeliveryFailed,
    Escalated,
    Event,
    Expired,
    Held,
    JobChanged,
    JobEvent,
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
from core.kinds import JobStatus, Kind
from core.policies import Tally
from core.question import Comment, DeliveryRecord, DeliveryState, Vote
from core.telling import told
from tests.support.builders import BY_ASKER, BY_DANA, NOW, POSTGRES, a_job, question_id, spec

_TALLY = Tally(1, 2, (("leads", 1),))
_MAIL = DeliveryRecord("email", DeliveryState.FAILED, NOW, why="no such mailbox", address="dana@example.com")
_SHOWN = DeliveryRecord("slack", DeliveryState.POSTED, NOW, address="C1")
_UNTIL = NOW + timedelta(hours=1)
_SPEC = spec(shape=TextShape())
_APPROVAL = spec(Kind.APPROVAL, ApprovalShape())

CASES: list[tuple[Event, str]] = [
    (Asked(NOW, question_id(1), _SPEC), "builder asked."),
    (Answered(NOW, POSTGRES, BY_DANA), "Dana (api) answered “PostgreSQL”."),
    (Defaulted(NOW, POSTGRES), "The deadline passed, so the default “PostgreSQL” stands."),
    (LateAnswered(NOW, POSTGRES, BY_DANA), "Dana (api) sent “PostgreSQL” on as a late answer."),
    (VoteVoided(NOW, "p_dana", "Dana", _TALLY), "An earlier vote of Dana no longer counts."),
    (Reminded(NOW, "Reminder."), "Reminder."),
    (Escalated(NOW, 1, "To the leads."), "To the leads."),
    (Held(NOW, 1, _UNTIL, "It waits."), "It waits."),
    (Acknowledged(NOW, BY_DANA, _UNTIL, "Dana looks."), "Dana looks."),
    (Snoozed(NOW, BY_DANA, _UNTIL, "Not now."), "Not now."),
    (Reassigned(NOW, BY_DANA, "Erik", "To Erik."), "To Erik."),
    (AskedBack(NOW, Comment(BY_DANA, "Which size?", NOW, True)), "Dana (api) asked back: Which size?"),
    (Commented(NOW, Comment(BY_ASKER, "Large.", NOW, False)), "builder (api): Large."),
    (Resumed(NOW), "Nobody replied in time, so the clock runs again."),
    (Expired(NOW), "The deadline passed; nothing was decided."),
    (Withdrawn(NOW, BY_ASKER), "builder (api) withdrew it."),
    (Withdrawn(NOW, BY_ASKER, "done already"), "builder (api) withdrew it: done already"),
    (Delivered(NOW, _SHOWN), "Shown in Slack (C1)."),
    (DeliveryFailed(NOW, _MAIL), "Could not be shown in an email (dana@example.com): no such mailbox"),
    (
        DeliveryFailed(NOW, _MAIL, 1),
        "Could not be shown in an email (dana@example.com); the next place of its route is tried: no such mailbox",
    ),
    (
        Undeliverable(NOW, _MAIL),
        "Could not be shown in an email (dana@example.com), and there is nowhere else to go but the inbox: "
        "no such mailbox",
    ),
    (JobChanged(NOW, None, a_job()), "The job began."),
    (JobChanged(NOW, a_job(), a_job(status=JobStatus.WAITING_FOR_INPUT)), "The job is waiting for input."),
    (JobChanged(NOW, a_job(), a_job(status=JobStatus.BLOCKED, block_reason="no key")), "The job is blocked: no key"),
    (Progressed(NOW, None, a_job(), "12 of 40"), "12 of 40"),
]


@pytest.mark.parametrize(("event", "sentence"), CASES, ids=lambda part: type(part).__name__)
def test_an_event_is_told_in_a_sentence(event: Event, sentence: str) -> None:
    assert told(event, _SPEC) == sentence


_VOTED = "Dana (api) said “approved”; more are needed. Reason: looks good"


def test_a_vote_is_told_in_the_words_of_its_question() -> None:
    vote = Vote(BY_DANA, AnswerValue(True, "looks good"), NOW)
    assert told(Voted(NOW, vote, _TALLY), _APPROVAL) == _VOTED


def test_no_event_is_left_out() -> None:
    known = {type(event) for event, _ in CASES} | {Voted}
    assert known == {*get_args(QuestionEvent), *get_args(JobEvent)}
