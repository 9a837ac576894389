"""What would happen to a question, told before anybody asks it: who is asked, when, where and why.

It freezes the question exactly as asking would, puts it on the clock and lets the ladder run with nobody answering.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from core.answers import ApprovalShape, TextShape
from core.commands import Ask
from core.deadlines import next_due
from core.decisions import Accepted, Case
from core.delivering import INBOX
from core.events import Defaulted, Escalated, Expired, Held, Reminded
from core.freezing import Frozen, Ground, freeze
from core.ids import JsonObject, PersonId, QuestionId, WorkspaceId
from core.kinds import Kind
from core.machine import apply, decide, elapse
from core.phrasing import names_of, span
from core.places import Target
from core.policies import candidates
from core.question import Asker, Question, Spec
from core.refusals import Unacceptable
from core.rulebook import Circumstances
from core.wording import who_may_answer

_HORIZON = timedelta(days=8)
_MOST_STEPS = 100
_TIME_IS_OVER = "the time is over: the default stands if there is one, else nothing is decided"


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
    question = _asked(case, asker, frozen, ground, limit, own=own)
    return Explanation(
        None,
        frozen.answer_rule,
        frozen.route_rule,
        frozen.ladder_rule,
        who_may_answer(frozen.policy, case.kind is Kind.APPROVAL),
        tuple(person.name for person in candidates(frozen.policy, asker.principal, ground.roster, ground.now)),
        _names(frozen.policy.barred, ground),
        _names(frozen.asked, ground),
        tuple(tuple(map(place_words, step)) for step in frozen.route),
        _timeline(question, ground),
        frozen.notes,
        ground.rulebook.version,
    )


def _asked(
    case: Circumstances, asker: Asker, frozen: Frozen, ground: Ground, limit: timedelta | None, *, own: bool
) -> Case:
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
    return apply(Case(), decision.events) if isinstance(decision, Accepted) else Case()


def _timeline(case: Case, ground: Ground) -> tuple[Happening, ...]:
    """Everything that time alone would bring about, in order."""
    told: list[Happening] = []
    for _ in range(_MOST_STEPS):
        due = _next(case.question)
        if due is None or due > ground.now + _HORIZON:
            break
        events = elapse(case, due, ground.roster)
        case = apply(case, events)
        for event in events:
            match event:
                case Reminded() | Escalated():
                    verb = "remind" if isinstance(event, Reminded) else "escalate to"
                    places = tuple(map(place_words, event.targets))
                    told.append(Happening(due, verb, _names(event.people, ground), places))
                case Held():
                    told.append(Happening(due, event.sentence))
                case Expired() | Defaulted():
                    told.append(Happening(due, _TIME_IS_OVER))
                case _:
                    pass
    return tuple(told)


def _next(question: Question | None) -> datetime | None:
    return next_due(question) if question is not None else None


def _names(people: tuple[PersonId, ...], ground: Ground) -> tuple[str, ...]:
    return tuple(p.name for person_id in people if (p := ground.roster.active(person_id)) is not None)


def place_words(target: Target) -> str:
    if target == INBOX:
        return "the inbox"
    if target.surface == "email":
        return f"email to {target.address}"
    if target.address.startswith("@"):
        return f"a direct message on {target.surface} to {target.address[1:]}"
    return f"{target.surface} {target.address}"


def explanation_text(found: Explanation, asked_at: datetime) -> str:
    """For people to read, line by line."""
    policy = f"policy version {found.version}" if found.version else "the shipped policy"
    if found.refused is not None:
        return f"Refused ({policy}).\n  {found.refused}"
    lines = [f"By {policy}:", f"  {found.who}   (rule “{found.answer_rule}”)"]
    lines.append(f"  That is {names_of(found.responders)} now.")
    if found.barred:
        lines.append(f"  Kept from deciding: {names_of(found.barred)}.")
    if found.asked:
        lines.append(f"  It is put to {names_of(found.asked)}.")
    where = ", and if that fails ".join(" and ".join(step) for step in found.route)
    lines.append(f"  It goes to {where}.   ({_rule('route', found.route_rule)})")
    lines.append(f"  If nobody answers   ({_rule('ladder', found.ladder_rule)}):")
    for step in found.timeline:
        whom = f" {names_of(step.people)}" if step.people else ""
        via = f" by {' and '.join(step.where)}" if step.where else ""
        lines.append(f"    {_offset(step.at - asked_at):>12}  {step.at:%a %Y-%m-%d %H:%M UTC}  {step.what}{whom}{via}")
    if not found.timeline:
        lines.append("    it stays open: there is no time limit and no ladder")
    lines += [f"  Note: {note}" for note in found.notes]
    return "\n".join(lines)


def _rule(kind: str, name: str) -> str:
    return f"{kind} “{name}”" if name else f"no {kind} fits"


def _offset(after: timedelta) -> str:
    return f"+{span(after)}"


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
            {"at": step.at.isoformat(), "what": step.what, "people": list(step.people), "where": list(step.where)}
            for step in found.timeline
        ],
        "notes": list(found.notes),
    }
