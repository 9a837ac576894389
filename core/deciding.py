"""An answer and what it decides: at once, as one vote of several, or too late."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from core.answers import AnswerValue, Invalid, fit
from core.commands import Answer
from core.decisions import Accepted, Decision, Refused
from core.digests import digest_problem, edited_digest
from core.events import Answered, LateAnswered, QuestionEvent, Voted, VoteVoided
from core.ids import PersonId
from core.people import Person
from core.policies import Tally, objection, tally, voter
from core.question import Question, Vote, person_decider
from core.refusals import Reason
from core.roster import Roster
from core.wording import late_offer

MAX_LATE_ANSWERS = 50


def judge_answer(question: Question, command: Answer, now: datetime, roster: Roster) -> Decision:
    spec, actor = question.spec, command.actor
    forbidden = objection(question.policy, spec.asker.principal, actor, roster, now)
    person = roster.active(actor.person.id) if actor.person is not None else None
    if forbidden is not None or person is None:
        return Refused(Reason.NOT_A_RESPONDER, forbidden or "Only people answer questions.")
    if not question.is_open and not command.late:
        return Refused(Reason.EXPIRED, late_offer(question))
    answer = fit(spec.shape, command.raw)
    if isinstance(answer, Invalid):
        return Refused(Reason.INVALID_ANSWER, answer.sentence, pointer=answer.pointer)
    unclear = digest_problem(answer.arguments) if answer.arguments is not None else None
    if unclear is not None:
        return Refused(Reason.INVALID_ANSWER, unclear, pointer="/response/arguments")
    by = person_decider(person.id, person.name, actor.surface)
    if not question.is_open:
        if len(question.late_answers) >= MAX_LATE_ANSWERS:
            return Refused(Reason.TOO_MANY_COMMENTS, "This question has its fill of late answers.")
        return Accepted((LateAnswered(now, answer, by),))
    vote = Vote(by, answer, now, _decided_digest(question, answer), command.claimed_by)
    if not question.is_approval:
        # One answer is enough wherever it is not an approval; there is nothing to count.
        return Accepted((Answered(now, answer, by, vote.digest, vote.claimed_by),))
    return Accepted(_cast(question, vote, now, roster))


def _decided_digest(question: Question, answer: AnswerValue) -> str | None:
    action = question.spec.action
    if action is None or answer.arguments is None:
        return None
    digest = edited_digest(action, answer.arguments)
    return digest if digest != action.digest else None  # sent along as they were shown


def _cast(question: Question, vote: Vote, now: datetime, roster: Roster) -> tuple[QuestionEvent, ...]:
    standing, void = standing_votes(question, now, roster)
    mine = next((cast for cast in standing if _id(cast, roster) == _id(vote, roster)), None)
    others = [cast for cast in standing if cast is not mine]
    # Somebody who voted under another id, and turned out to be this person, gives one vote and not two.
    gone = [*void, mine] if mine is not None and mine.by.id != vote.by.id else void
    said_before = mine is not None and mine.by.id == vote.by.id and _agrees(mine, vote)
    voided: tuple[QuestionEvent, ...] = ()
    if gone:
        left = counted(question, standing if said_before else others, now, roster)
        voided = tuple(VoteVoided(now, cast.by.id or "", cast.by.name or "", left) for cast in gone)
    agreeing = [cast for cast in (*others, vote) if _agrees(cast, vote)]
    after = counted(question, [*others, vote], now, roster)
    if _is_settled(question, vote, agreeing, after):
        told = after if question.policy.need > 1 else None
        answered = Answered(now, vote.answer, vote.by, vote.digest, vote.claimed_by, counted=told)
        if len(agreeing) > 1:
            answered = replace(answered, deciders=tuple(cast.by for cast in agreeing))
        return (*voided, answered)
    if said_before:
        return voided  # a second press changes nothing
    return (*voided, Voted(now, vote, after))


def _is_settled(question: Question, vote: Vote, agreeing: Sequence[Vote], after: Tally) -> bool:
    if vote.answer.value is not True:
        return len(agreeing) >= question.policy.rejections
    return after.is_complete


def _agrees(cast: Vote, vote: Vote) -> bool:
    """Votes add up when they say the same about the same thing: edited arguments are another thing."""
    return cast.answer.value == vote.answer.value and cast.digest == vote.digest


def _id(vote: Vote, roster: Roster) -> str | None:
    return roster.canonical(PersonId(vote.by.id)) if vote.by.id is not None else None


def standing_votes(question: Question, now: datetime, roster: Roster) -> tuple[list[Vote], list[Vote]]:
    """The last word of everybody who may still decide, and the votes that count no more."""
    last = {_id(vote, roster): vote for vote in question.votes}  # by person: two ids may have become one
    standing, void = list[Vote](), list[Vote]()
    for vote in question.votes:
        counts = last[_id(vote, roster)] is vote and bool(_people(question, [vote], now, roster))
        (standing if counts else void).append(vote)
    return standing, void


def counted(question: Question, votes: Sequence[Vote], now: datetime, roster: Roster) -> Tally:
    """How many of the approvals that are needed are there; those of the newest arguments count."""
    approving = [vote for vote in votes if vote.answer.value is True]
    newest = [vote for vote in approving if vote.digest == approving[-1].digest] if approving else []
    asker = question.spec.asker.principal
    return tally(question.policy, asker, _people(question, newest, now, roster), roster, now)


def _people(question: Question, votes: Sequence[Vote], now: datetime, roster: Roster) -> list[Person]:
    asker = question.spec.asker.principal
    found: dict[PersonId, Person] = {}
    for vote in votes:
        person = voter(question.policy, asker, PersonId(vote.by.id or ""), roster, now)
        if person is not None:
            found[person.id] = person
    return list(found.values())
