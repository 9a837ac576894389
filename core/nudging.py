"""What people do about an open question short of answering it: look at it, put it off, nudge, hand it over."""

from datetime import datetime, timedelta
from typing import assert_never

from core.commands import Acknowledge, Reassign, Remind, Snooze, Steering
from core.decisions import Accepted, Decision, Refused
from core.events import Acknowledged, Reassigned, Reminded, Snoozed
from core.ladder import whole
from core.people import Person, Role
from core.phrasing import shown, span
from core.policies import objection, voter
from core.question import Decider, Question, person_decider
from core.refusals import Reason
from core.roster import Roster
from core.wording import acknowledged_sentence, nudge_sentence, reassigned_sentence, snoozed_sentence

#: Nudges by hand come no closer together than this.
NUDGE_PAUSE = timedelta(minutes=1)
LONGEST_SNOOZE = timedelta(hours=24)


def steer(question: Question, command: Steering, now: datetime, roster: Roster) -> Decision:
    match command:
        case Acknowledge():
            return _acknowledge(question, command, now, roster)
        case Snooze():
            return _snooze(question, command, now, roster)
        case Remind():
            return _remind(question, command, now, roster)
        case Reassign():
            return _reassign(question, command, now, roster)
        case _:
            assert_never(command)


def _acknowledge(question: Question, command: Acknowledge, now: datetime, roster: Roster) -> Decision:
    person = _somebody(question, command, now, roster, leads=False)
    if isinstance(person, Refused):
        return person
    # Whoever looks at it and then forgets is reminded while there is time left.
    left = (question.deadline - now) / 2 if question.deadline is not None else question.spec.acknowledgement
    until = whole(now + min(question.spec.acknowledgement, left))
    by = person_decider(person.id, person.name, command.actor.surface)
    return Accepted((Acknowledged(now, by, until, acknowledged_sentence(person.name, until)),))


def _snooze(question: Question, command: Snooze, now: datetime, roster: Roster) -> Decision:
    person = _somebody(question, command, now, roster, leads=True)
    if isinstance(person, Refused):
        return person
    if not now < command.until <= now + LONGEST_SNOOZE:
        sentence = f"Snooze until an instant within the next {span(LONGEST_SNOOZE)}."
        return Refused(Reason.SNOOZE_OUT_OF_RANGE, sentence, pointer="/until")
    by = person_decider(person.id, person.name, command.actor.surface)
    # As with looking at it: somebody is still told while there is time.
    latest = question.deadline - (question.deadline - now) / 4 if question.deadline is not None else command.until
    until = whole(min(command.until, latest))
    return Accepted((Snoozed(now, by, until, snoozed_sentence(person.name, until)),))


def _remind(question: Question, command: Remind, now: datetime, roster: Roster) -> Decision:
    person = _somebody(question, command, now, roster, leads=True)
    if isinstance(person, Refused):
        return person
    if question.nudged_at is not None and now - question.nudged_at < NUDGE_PAUSE:
        return Refused(Reason.TOO_SOON, f"They were nudged less than {span(NUDGE_PAUSE)} ago.")
    people = roster.audience(("asked",), question.awaited, now)
    by = person_decider(person.id, person.name, command.actor.surface)
    sentence = nudge_sentence(person.name, [each.name for each in people])
    targets = tuple(t for each in people if (t := roster.direct_target(each)) is not None)
    return Accepted((Reminded(now, sentence, tuple(each.id for each in people), targets, by=by),))


def _reassign(question: Question, command: Reassign, now: datetime, roster: Roster) -> Decision:
    actor = _somebody(question, command, now, roster, leads=True)
    if isinstance(actor, Refused):
        return actor
    found = roster.find(command.to)
    people = (found,) if found is not None else roster.members(command.to)
    if not people:
        sentence = f"There is no person and no group with people called {shown(command.to)}."
        return Refused(Reason.NOBODY_CALLED_THAT, sentence, pointer="/to")
    asker = question.spec.asker.principal
    able = [p for p in people if voter(question.policy, asker, p.id, roster, now) is not None]
    if not able:
        sentence = f"{command.to} may not answer this question, and handing it over does not change that."
        return Refused(Reason.NOT_A_RESPONDER, sentence, pointer="/to")
    present = tuple({p.id: p for p in (roster.present(each, now) for each in able)}.values())
    targets = tuple(t for each in present if (t := roster.direct_target(each)) is not None)
    by = Decider("person", actor.id, actor.name, command.actor.surface)
    to = found.name if found is not None else command.to
    sentence = reassigned_sentence(actor.name, to, command.reason)
    ids = tuple(each.id for each in present)
    return Accepted((Reassigned(now, by, to, sentence, ids, targets, command.reason),))


def _somebody(question: Question, command: Steering, now: datetime, roster: Roster, *, leads: bool) -> Person | Refused:
    """The person who steers: one who may answer, or where `leads` says so a lead."""
    actor = command.actor
    person = roster.active(actor.person.id) if actor.person is not None else None
    if person is None:
        return Refused(Reason.NOT_ALLOWED, "Only people do this; use a key that belongs to a person.")
    if leads and (person.role.includes(Role.LEAD) or actor.is_admin):
        return person
    forbidden = objection(question.policy, question.spec.asker.principal, actor, roster, now)
    return person if forbidden is None else Refused(Reason.NOT_A_RESPONDER, forbidden)
