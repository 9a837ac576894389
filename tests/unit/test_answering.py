"""Who may answer, what an answer does, and what becomes of everyone after the first."""

from dataclasses import replace

import pytest

from core.answers import AnswerValue, ApprovalShape, ChoiceShape, NumberShape, Option, RawAnswer
from core.commands import Answer
from core.decisions import Accepted, Case, Refused
from core.events import (
    Answered,
)
from core.evolving import evolve
from core.job import Holding
from core.kinds import JobStatus, Kind
from core.people import Person, Role
from core.policies import Panel, Policy
from core.question import (
    Action,
    Asker,
    Decider,
    Outcome,
    OutcomeKind,
    Risk,
    Status,
)
from core.refusals import Reason
from tests.support.builders import (
    AGENT,
    BY_DANA,
    DANA,
    EVE,
    HELD,
    IN_JOB,
    NOW,
    OTHER_AGENT,
    POSTGRES,
    a_job,
    acting,
    after,
    answer,
    answered,
    ask,
    decide,
    happened,
    job_of,
    opened,
    question_id,
    question_of,
    spec,
)

# Answering


def test_a_responders_answer_is_accepted() -> None:
    decision = decide(Case(opened()), answer(by=acting(DANA, "slack")), after(1))

    by = Decider("person", "p_dana", "Dana", "slack")
    assert decision == Accepted((Answered(after(1), POSTGRES, by),))


def test_the_outcome_says_who_answered_what_when_and_why() -> None:
    event = Answered(after(1), AnswerValue("pg", "it is there"), BY_DANA, "sha256:edited")

    question = evolve(opened(), event)

    outcome = Outcome(
        OutcomeKind.ANSWERED,
        BY_DANA,
        after(1),
        answer=AnswerValue("pg", "it is there"),
        deciders=(BY_DANA,),
        reason="it is there",
        decided_digest="sha256:edited",
    )
    assert question == replace(opened(), version=2, status=Status.ANSWERED, outcome=outcome)


def test_second_answer_is_told_who_won() -> None:
    case = happened(Case(opened()), (answer(by=acting(DANA, "slack")), after(1)))

    assert decide(case, answer(value="SQLite"), after(2)) == Refused(
        Reason.ALREADY_ANSWERED,
        "This question is closed. Dana (slack) answered “PostgreSQL” at 2026-03-01 12:01:00 UTC.",
    )


def test_the_same_answer_again_is_told_too() -> None:
    decision = decide(Case(answered()), answer(), after(2))

    assert isinstance(decision, Refused)
    assert decision.reason is Reason.ALREADY_ANSWERED


def test_an_answer_that_does_not_fit_is_refused_and_changes_nothing() -> None:
    case = Case(opened(spec(shape=NumberShape())))

    assert decide(case, answer(value="seven"), after(1)) == Refused(
        Reason.INVALID_ANSWER, "Answer with a number.", events=(), pointer="/response/value"
    )


def test_an_answer_carries_the_options_value() -> None:
    shape = ChoiceShape((Option("PostgreSQL", "pg", id="a"),))

    decision = decide(Case(opened(spec(shape=shape))), answer(value="a"), after(1))

    assert decision == Accepted((Answered(after(1), AnswerValue("pg"), BY_DANA),))


def test_a_question_that_does_not_exist_cannot_be_answered() -> None:
    assert decide(Case(), answer(), NOW) == Refused(
        Reason.QUESTION_NOT_FOUND,
        "There is no question “q_00000000000000000000000001”, or this key may not see it.",
    )


def test_the_answer_lets_the_job_go_on() -> None:
    case = happened(Case(opened(IN_JOB), HELD), (answer(), after(5)))

    assert case.job == a_job(status=JobStatus.RUNNING, updated_at=after(5), version=2)


def test_the_answer_to_one_of_two_keeps_the_job_waiting() -> None:
    second = Holding(question_id(2), JobStatus.WAITING_FOR_INPUT, NOW)
    job = replace(HELD, holding=(*HELD.holding, second))

    case = happened(Case(opened(IN_JOB), job), (answer(), after(5)))

    assert case.job == replace(HELD, holding=(second,), updated_at=after(5), version=2)


def test_the_answer_to_a_question_that_holds_nothing_leaves_the_job_alone() -> None:
    case = Case(opened(spec(Kind.CLARIFYING, job="nightly")), a_job())

    assert decide(case, answer(), after(5)) == Accepted((Answered(after(5), POSTGRES, BY_DANA),))


def test_a_rejection_lets_the_job_go_on_as_well() -> None:
    made = spec(Kind.APPROVAL, ApprovalShape(), job="nightly")
    case = happened(Case(job=a_job()), (ask(of=made), NOW), (answer(value=False), after(5)))

    assert (question_of(case).status, job_of(case).status) == (Status.ANSWERED, JobStatus.RUNNING)


# Who may answer


def test_a_member_outside_the_policy_is_not_a_responder() -> None:
    assert decide(Case(opened()), answer(by=acting(EVE)), after(1)) == Refused(
        Reason.NOT_A_RESPONDER, "Eve is not among the people who may answer this question."
    )


def test_an_agent_never_answers() -> None:
    assert decide(Case(opened()), answer(by=OTHER_AGENT), after(1)) == Refused(
        Reason.NOT_A_RESPONDER, "Agents do not answer questions; use a key that belongs to a person."
    )


def test_the_asker_never_answers_its_own_question() -> None:
    assert decide(Case(opened()), answer(by=AGENT), after(1)) == Refused(
        Reason.NOT_A_RESPONDER, "You asked this question; somebody else has to answer it."
    )


def test_not_even_an_admin_answers_what_they_asked_themselves() -> None:
    dana = acting(DANA)
    case = Case(opened(spec(asker=Asker(dana.principal, "Dana"))))

    assert decide(case, answer(by=dana), after(1)) == Refused(
        Reason.NOT_A_RESPONDER, "You asked this question; somebody else has to answer it."
    )


@pytest.mark.parametrize("person", [DANA, EVE], ids=["admin", "member"])
def test_an_empty_list_of_responders_means_nobody(person: Person) -> None:
    case = Case(opened(spec(policy=Policy(()))))

    assert decide(case, answer(by=acting(person)), after(1)) == Refused(
        Reason.NOT_A_RESPONDER, f"{person.name} is not among the people who may answer this question."
    )


def test_a_member_answers_where_the_policy_lets_members() -> None:
    case = Case(opened(spec(policy=Policy((Panel("any member", roles=(Role.MEMBER,)),)))))

    decision = decide(case, answer(by=acting(EVE)), after(1))

    assert decision == Accepted((Answered(after(1), POSTGRES, Decider("person", "p_eve", "Eve", "api")),))


def test_an_admin_does_not_answer_where_the_policy_names_only_others() -> None:
    case = Case(opened(spec(policy=Policy((Panel("Eve", people=(EVE.id,)),)))))

    decision = decide(case, answer(by=acting(DANA)), after(1))

    assert isinstance(decision, Refused)
    assert decision.reason is Reason.NOT_A_RESPONDER


# Editing the arguments of an approval


ACTION = Action(
    tool="linear.create",
    arguments={"count": 5, "team": "core"},
    digest="sha256:6854fa208ca961835dc934a7d8da5592286f116f76eab1c73d1a6296cdc2e7e4",
    diff="-a\n+b\n",
    risk=Risk.HIGH,
    editable=True,
)
EDITABLE = spec(Kind.APPROVAL, ApprovalShape(editable=True), action=ACTION)


def test_edited_arguments_are_decided_by_their_own_digest() -> None:
    command = Answer(question_id(1), acting(DANA), RawAnswer(True, None, {"count": 6, "team": "core"}))

    case = happened(Case(opened(EDITABLE)), (command, after(1)))

    # sha256 of {"arguments":{"count":6,"team":"core"},"diff":"-a\n+b\n","risk":"high","tool":"linear.create"}
    outcome = question_of(case).outcome
    assert outcome is not None
    assert outcome.decided_digest == "sha256:c7ac734cee4d07f7f6c30010087b0b656732c1bdf3d1afbcbf80e69095ea767b"


def test_editing_leaves_the_shown_action_as_it_was() -> None:
    command = Answer(question_id(1), acting(DANA), RawAnswer(True, None, {"count": 6, "team": "core"}))

    case = happened(Case(opened(EDITABLE)), (command, after(1)))

    assert question_of(case).spec.action == ACTION


def test_an_approval_as_shown_has_no_digest_of_its_own() -> None:
    decision = decide(Case(opened(EDITABLE)), answer(value=True), after(1))

    assert decision == Accepted((Answered(after(1), AnswerValue(True), BY_DANA, None),))
