"""The ladder of an open question: what is planned, what is due, and what waits for somebody.

Each step has its own due time. A step that waits for its people holds up no other step, since the people of the next
one may be at work.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from core.deadlines import deadline_after
from core.events import Escalated, Held, Reminded
from core.people import Person
from core.places import Target
from core.question import Planned, Question, Spec, Urgency
from core.roster import Roster
from core.steps import Step, StepKind
from core.wording import escalation_sentence, held_sentence, reminder_sentence, spared_sentence

#: Where a step waits and the limit is the kind's own, the deadline waits with it, but never longer than this.
LONGEST_EXTENSION = timedelta(hours=24)
#: Somebody who has just been asked needs no reminder yet.
SOONEST = timedelta(minutes=1)
#: The first reminder waits no longer than this for people who look at the inbox.
LONGEST_SPARING = timedelta(minutes=5)
_TICK = timedelta(milliseconds=1)


def plan(spec: Spec, asked_at: datetime) -> tuple[Planned, ...]:
    """When each step falls due by itself. What would come with the deadline or after it is left out."""
    limit = spec.time_limit
    return tuple(
        Planned(place, deadline_after(asked_at, step.after))
        for place, step in enumerate(spec.ladder)
        if step.after >= SOONEST and (limit is None or step.after < limit)
    )


def shifted(agenda: Sequence[Planned], by: timedelta) -> tuple[Planned, ...]:
    return tuple(replace(planned, due=planned.due + by) for planned in agenda)


def not_before(agenda: Sequence[Planned], until: datetime) -> tuple[Planned, ...]:
    """The agenda moved as a whole, so that nothing comes before `until` and nothing comes all at once."""
    first = min((planned.due for planned in agenda), default=until)
    return shifted(agenda, until - first) if first < until else tuple(agenda)


def due_step(question: Question, now: datetime) -> Planned | None:
    """The step to take now. Of several reminders that fell due together, as after an outage, only the last is taken."""
    before, pointless = question.deadline, superseded(question, now)
    ripe = [p for p in question.agenda if p.due <= now and (before is None or p.due < before)]
    wanted = (planned for planned in ripe if planned.step not in pointless)
    return min(wanted, key=lambda planned: (planned.due, planned.step), default=None)


def next_step_at(question: Question) -> datetime | None:
    """When somebody will be nudged next, unless somebody answers."""
    if not question.is_open or question.pause is not None:
        return None
    before = question.deadline
    return min((p.due for p in question.agenda if before is None or p.due < before), default=None)


def superseded(question: Question, now: datetime) -> frozenset[int]:
    """Reminders that a later one, due as well by now, makes pointless."""
    ladder = question.spec.ladder
    ripe = [p for p in question.agenda if p.due <= now and ladder[p.step].kind is StepKind.REMIND]
    ripe.sort(key=lambda planned: (planned.due, planned.step))
    return frozenset(planned.step for planned in ripe[:-1])


def whole(instant: datetime) -> datetime:
    """The first whole millisecond from then on: stores keep no finer ones, and nothing may come before its time."""
    return instant + timedelta(microseconds=-instant.microsecond % 1000)


def hold(question: Question, planned: Planned, roster: Roster, at: datetime, now: datetime) -> Held | None:
    """The event that makes the step wait, if at this instant none of its people is at work."""
    step = question.spec.ladder[planned.step]
    reachable = _reachable_at(step, question, roster, at)
    if reachable <= at:
        return None
    until = max(whole(reachable), _behind_others(question, planned))
    extended = question.extended
    if question.spec.limit_is_default and question.deadline is not None:
        extended = max(extended, min(planned.held + (until - planned.due), LONGEST_EXTENSION))
    later = extended - question.extended
    deadline = None if question.deadline is None else question.deadline + later
    return Held(now, planned.step, until, held_sentence(step.kind, until, later, deadline), extended)


def _reachable_at(step: Step, question: Question, roster: Roster, at: datetime) -> datetime:
    if not step.holds or question.spec.urgency is Urgency.URGENT:
        return at
    return roster.reachable_at(_awaited(step, question, roster, at), question.awaited, at)


def spare(question: Question, planned: Planned, roster: Roster, now: datetime) -> Held | None:
    """The event that makes the first reminder wait once, if everybody it goes to has the inbox before their eyes."""
    step = question.spec.ladder[planned.step]
    if planned.spared or not step.holds or planned.step != _first_reminder(question.spec):
        return None
    people = roster.audience(step.audience, question.awaited, now)
    if not roster.all_look(people):
        return None
    until = _spared_until(question, planned, now)
    # Whoever goes home meanwhile would be reminded in the morning only, and the deadline would wait as well.
    if until <= now or _reachable_at(step, question, roster, until) > until:
        return None
    ids, names = tuple(p.id for p in people), [p.name for p in people]
    return Held(now, planned.step, until, spared_sentence(names, until), question.extended, ids)


def _first_reminder(spec: Spec) -> int | None:
    reminders = [
        (step.after, place)
        for place, step in enumerate(spec.ladder)
        if step.kind is StepKind.REMIND and step.after >= SOONEST
    ]
    return min(reminders)[1] if reminders else None


def _spared_until(question: Question, planned: Planned, now: datetime) -> datetime:
    """As long again as it took to fall due, within bounds; but while there is time to answer, and no later than the
    next step, so that nobody else hears of it before."""
    bounds = [planned.due + min(question.spec.ladder[planned.step].after, LONGEST_SPARING)]
    bounds += [other.due for other in question.agenda if other.step != planned.step]
    if question.deadline is not None:
        bounds.append(now + (question.deadline - now) / 2)
    until = min(bounds)
    return until - (until - now) % _TICK


def _behind_others(question: Question, planned: Planned) -> datetime:
    """When the step comes if it keeps its distance from those before it that wait as well, so that whoever is
    reminded in the morning has the time that they would have had, before it goes to others."""
    own = planned.by_itself
    waiting = [p for p in question.agenda if p.held and p.by_itself < own]
    return max((p.due + (own - p.by_itself) for p in waiting), default=planned.due)


def _awaited(step: Step, question: Question, roster: Roster, at: datetime) -> tuple[str, ...]:
    """Whose hours count: the step's people, or where the question is put to nobody by name, all who may answer it."""
    if "asked" not in step.audience or roster.audience(step.audience, question.awaited, at):
        return step.audience
    panels = question.policy.panels
    roles = (f"role:{role}" for panel in panels for role in panel.roles)
    people = (f"person:{person}" for panel in panels for person in (*panel.people, *panel.joined))
    return (*step.audience, *roles, *people)


def take(question: Question, planned: Planned, roster: Roster, now: datetime) -> Reminded | Escalated:
    step = question.spec.ladder[planned.step]
    people = roster.audience(step.audience, question.awaited, now)
    ids, names = tuple(p.id for p in people), tuple(p.name for p in people)
    targets = tuple(dict.fromkeys((*step.targets, *_personal(step, people, roster))))
    waited = now - question.asked_at
    if step.kind is StepKind.REMIND:
        return Reminded(now, reminder_sentence(names, waited), ids, targets, planned.step)
    sentence = escalation_sentence(step.label, names, waited)
    return Escalated(now, planned.step, sentence, ids, targets, step.joins)


def _personal(step: Step, people: Sequence[Person], roster: Roster) -> list[Target]:
    direct = [roster.direct_target(person) for person in people] if step.direct else []
    mail = [roster.email_target(person) for person in people] if step.email else []
    return [target for target in (*direct, *mail) if target is not None]
