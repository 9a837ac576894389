"""What would happen to a question, told before anybody asks it: who is asked, when, where and why.

It freezes the question exactly as asking would, puts it on the clock and lets the ladder run with nobody answering.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from core.answers import ApprovalShape, TextShape
from core.commands import Ask
from core.deadlines import next_due
from core.decisions import Accepted, Case
from core.delivering import INBOX
from core.events import Defaulted, Escalated, Event, Expired, Held, Reminded
from core.freezing import Frozen, Ground, freeze
from core.ids import JsonObject, PersonId, QuestionId, WorkspaceId
from core.kinds import KINDS, DefaultRule, Kind
from core.machine import apply, decide, elapse
from core.people import Handle
from core.phrasing import names_of, span
from core.places import Target
from core.policies import candidates
from core.question import Asker, Question, Spec
from core.refusals import Unacceptable
from core.roster import Roster
from core.rulebook import Circumstances
from core.wording import who_may_answer

_MOST_STEPS = 1000
_TIME_IS_OVER = {
    DefaultRule.ALLOWED: "the time is over: the default stands if there is one, else nothing is decided",
    DefaultRule.FORBIDDEN: "the time is over: nothing is decided",
    DefaultRule.REQUIRED: "the time is over: the default stands",
}


@dataclass(frozen=True, slots=True)
class Happening:
    at: datetime
    what: str
    people: tuple[str, ...] = ()
    where: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """`refused` says why such a question would not be taken at all; the rest is empty then."""

    refused: str | None
    answer_rule: str = ""
    route_rule: str = ""
    ladder_rule: str = ""
    who: str = ""
    responders: tuple[str, ...] = ()
    barred: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    route: tuple[tuple[str, ...], ...] = ()
    timeline: tuple[Happening, ...] = ()
    notes: tuple[str, ...] = ()
    version: int = 0


def explain(case: Circumstances, asker: Asker, ground: Ground, limit: timedelta | None, *, own: bool) -> Explanation:
    """`own` says that the limit is the kind's own and not one the asker chose."""
    frozen = freeze(case, asker, ground, limit=limit)
    if isinstance(frozen, Unacceptable):
        return Explanation(frozen.sentence, version=ground.rulebook.version)
    asked = _asked(case, asker, frozen, ground, limit, own=own)
    return Explanation(
        None,
        frozen.answer_rule,
        frozen.route_rule,
        frozen.ladder_rule,
        who_may_answer(frozen.policy, case.kind is Kind.APPROVAL),
        tuple(person.name for person in candidates(frozen.policy, asker.principal, ground.roster, ground.now)),
        tuple(dict.fromkeys(_names(frozen.policy.barred, ground))),
        _names(frozen.asked, ground),
        tuple(tuple(place_words(target, ground.roster) for target in step) for step in frozen.route),
        _timeline(asked, ground),
        tuple(dict.fromkeys(frozen.notes)),
        ground.rulebook.version,
    )


def _asked(
    case: Circumstances, asker: Asker, frozen: Frozen, ground: Ground, limit: timedelta | None, *, own: bool
) -> tuple[Event, ...]:
    """What asking it brings about at once."""
    spec = Spec(
        workspace_id=WorkspaceId("explained"),
        asker=asker,
        text="…",
        kind=case.kind,
        shape=ApprovalShape() if case.kind is Kind.APPROVAL else TextShape(),
        policy=frozen.policy,
        time_limit=limit,
        urgency=case.urgency,
        route=frozen.route,
        ladder=frozen.ladder,
        asked=frozen.asked,
        limit_is_default=own,
        acknowledgement=frozen.acknowledgement,
    )
    decision = decide(Case(), Ask(QuestionId("q_explained"), spec), ground.now, ground.roster)
    return decision.events if isinstance(decision, Accepted) else ()


def _timeline(events: tuple[Event, ...], ground: Ground) -> tuple[Happening, ...]:
    """Everything that time alone would bring about, in order."""
    told: list[Happening] = []
    case = Case()
    # Who looks at the inbox now says nothing about who will.
    roster = replace(ground.roster, looking=frozenset())
    for _ in range(_MOST_STEPS):
        case = apply(case, events)
        question = case.question
        told += [happening for event in events if (happening := _happening(event, question, ground)) is not None]
        due = next_due(question) if question is not None else None
        if due is None:
            break
        events = elapse(case, due, roster)
    return tuple(told)


def _happening(event: Event, question: Question | None, ground: Ground) -> Happening | None:
    match event:
        case Reminded() | Escalated():
            verb = "remind" if isinstance(event, Reminded) else "escalate to"
            places = tuple(place_words(target, ground.roster) for target in event.targets)
            return Happening(event.at, verb, _names(event.people, ground), places)
        case Held():
            return Happening(event.at, event.sentence)
        case Expired() | Defaulted() if question is not None:
            return Happening(event.at, _TIME_IS_OVER[KINDS[question.spec.kind].default])
        case _:
            return None


def _names(people: tuple[PersonId, ...], ground: Ground) -> tuple[str, ...]:
    return tuple(p.name for person_id in people if (p := ground.roster.active(person_id)) is not None)


def place_words(target: Target, roster: Roster) -> str:
    surface = target.surface.capitalize()
    if target == INBOX:
        return "the inbox"
    if target.surface == "email":
        return f"email to {target.address}"
    if target.address.startswith("@"):
        return f"direct message on {surface} to {_called(Handle(target.surface, target.address[1:]), roster)}"
    return f"the {surface} channel {target.address}"


def _called(handle: Handle, roster: Roster) -> str:
    return next((person.name for person in roster.people.values() if handle in person.handles), handle.address)


def explanation_text(found: Explanation, asked_at: datetime) -> str:
    """For people to read, line by line."""
    policy = f"policy version {found.version}" if found.version else "the shipped policy"
    asked = f"asked {_clock(asked_at, seconds=asked_at.second > 0)}"
    if found.refused is not None:
        return f"By {policy}, {asked}: refused.\n  {found.refused}"
    lines = [f"By {policy}, {asked}:", f"  {found.who}   ({_rule('rule', found.answer_rule)})"]
    lines.append(f"  That is {names_of(found.responders) or 'nobody'} now.")
    if found.barred:
        lines.append(f"  Kept from deciding: {names_of(found.barred)}.")
    lines.append(f"  It is put to {names_of(found.asked) or 'nobody by name'}.")
    where = ", and if that fails via ".join(map(_together, found.route))
    lines.append(f"  It goes out via {where}.   ({_rule('route', found.route_rule)})")
    lines.append(f"  If nobody answers   ({_rule('ladder', found.ladder_rule)}):")
    lines += _rows(found.timeline, asked_at)
    if not found.timeline:
        lines.append("    it stays open: there is no time limit and nobody is reminded")
    elif found.timeline[-1].what not in _TIME_IS_OVER.values():
        lines.append("    then it stays open: there is no time limit")
    lines += [f"  Note: {note}" for note in found.notes]
    return "\n".join(lines)


def _rows(timeline: Sequence[Happening], asked_at: datetime) -> list[str]:
    """Two columns that are as wide as they have to be, and what happens."""
    offsets = [_offset(step.at - asked_at) for step in timeline]
    seconds = any(step.at.second for step in timeline)
    width = max(map(len, offsets), default=0)
    return [
        f"    {offset:>{width}}  {_clock(step.at, seconds=seconds)}  {_told(step)}"
        for offset, step in zip(offsets, timeline, strict=True)
    ]


def _told(step: Happening) -> str:
    if step.what not in ("remind", "escalate to"):
        return step.what
    nobody = "whoever looks" if step.what == "remind" else "nobody who is there then"
    via = f"via {_together(step.where)}" if step.where else "on its page only"
    return f"{step.what} {names_of(step.people) or nobody}, {via}"


def _together(places: Sequence[str]) -> str:
    """`email to a` and `email to b` are `email to a and b`."""
    ways: dict[str, list[str]] = {}
    for place in places:
        way, _, whom = place.partition(" to ")
        ways.setdefault(way, []).extend([whom] if whom else [])
    return " and ".join(f"{way} to {names_of(whom)}" if whom else way for way, whom in ways.items())


def _clock(at: datetime, *, seconds: bool) -> str:
    return at.strftime("%a %Y-%m-%d %H:%M:%S UTC" if seconds else "%a %Y-%m-%d %H:%M UTC")


def _rule(kind: str, name: str) -> str:
    return f"{kind} “{name}”" if name else f"no {kind} fits"


def _offset(after: timedelta) -> str:
    return f"+{span(after)}" if after else "at once"


def explanation_json(found: Explanation) -> JsonObject:
    if found.refused is not None:
        return {"refused": found.refused, "policyVersion": found.version}
    return {
        "refused": None,
        "policyVersion": found.version,
        "rules": {"answer": found.answer_rule, "route": found.route_rule, "ladder": found.ladder_rule},
        "whoMayAnswer": found.who,
        "responders": list(found.responders),
        "barred": list(found.barred),
        "asked": list(found.asked),
        "route": [list(step) for step in found.route],
        "timeline": [
            {"at": _instant(step.at), "what": step.what, "people": list(step.people), "where": list(step.where)}
            for step in found.timeline
        ],
        "notes": list(found.notes),
    }


def _instant(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
