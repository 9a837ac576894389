"""The ladders of the text: how people are reminded of a question and to whom it climbs."""

from collections.abc import Collection
from datetime import timedelta

from adapters.policy.fields import Fields, Word
from adapters.policy.parties import Parties
from adapters.policy.problems import one_of
from adapters.policy.rules import MATCH_KEYS, known_name, known_role, read_match, read_places, rule_name
from adapters.policy.words import LONGEST_OFFSET, offset_in, span_in
from core.phrasing import shown
from core.rulebook import LadderRule, Place, PlaceKind, StepRule
from core.steps import StepKind

LADDER_KEYS = ("name", *MATCH_KEYS, "acknowledgement", "steps")

_ACKNOWLEDGEMENT = timedelta(minutes=15)
_MOST_STEPS = 20
_MOST_TIMES = 20
_ASKED = "asked"
_WHOM = 'Say to whom, such as ["on-call:platform", "group:release", "role:lead", "Dana"].'


def read_ladder(fields: Fields, parties: Parties, joinable: Collection[str]) -> LadderRule:
    """`joinable` are the groups that answer rules name: only their panels have names to join by."""
    name = rule_name(fields)
    match = read_match(fields)
    acknowledgement = _span(fields, "acknowledgement") or _ACKNOWLEDGEMENT
    tables = fields.tables("steps")
    if not fields.has("steps"):
        fields.missing("steps", 'Write at least one, such as { remind = "50%" }.')
    if len(tables) > _MOST_STEPS:
        fields.problem("steps", f"More than {_MOST_STEPS} steps are too many.")
    steps = tuple(_step(each, parties, joinable) for each in tables)
    return LadderRule(name, match, steps, acknowledgement)


def _step(fields: Fields, parties: Parties, joinable: Collection[str]) -> StepRule:
    given = [kind for kind in StepKind if kind.value in fields]
    if len(given) != 1:
        fields.findings.add(fields.where, "A step is either remind = … or escalate = …, with its time.")
    kind = given[0] if given else StepKind.REMIND
    offsets = [_offset(fields, each) for each in StepKind]
    at = next((offset for offset in offsets if offset is not None), _ACKNOWLEDGEMENT)
    audience = _audience(fields, kind, parties)
    places = _via(fields)
    joins = _joins(fields, kind, joinable)
    holds = fields.flag("hold", True)
    times = fields.number("times", 1, _MOST_TIMES)
    every = _span(fields, "every")
    if ("times" in fields) != ("every" in fields):
        absent = "every" if "times" in fields else "times"
        fields.missing(absent, "To do a step again, say how many times in all, and how far apart with every = …")
    if every is not None and every * times > LONGEST_OFFSET:
        fields.problem("times", "Repeated so often, this goes on for more than 30 days.")
    fields.finish()
    return StepRule(kind, at, audience, places, joins, holds, times, every)


def _offset(fields: Fields, kind: StepKind) -> timedelta | float | None:
    word = fields.text(kind.value)
    if word is None:
        return None
    try:
        return offset_in(word.text)
    except ValueError as problem:
        fields.findings.add(word.where, str(problem))
        return None


def _span(fields: Fields, key: str) -> timedelta | None:
    word = fields.text(key)
    if word is None:
        return None
    try:
        return span_in(word.text)
    except ValueError as problem:
        fields.findings.add(word.where, str(problem))
        return None


def _audience(fields: Fields, kind: StepKind, parties: Parties) -> tuple[str, ...]:
    words = fields.words("to")
    if words is None:
        if kind is StepKind.ESCALATE:
            fields.missing("to", _WHOM)
        return (_ASKED,)
    found = (_party(fields, word, parties) for word in words)
    return tuple(dict.fromkeys(name for name in found if name is not None))


def _party(fields: Fields, word: Word, parties: Parties) -> str | None:
    """What a roster understands: `asked`, `person:…`, `group:…`, `schedule:…`, `role:…`."""
    if word.text == _ASKED:
        return _ASKED
    what, colon, name = word.text.partition(":")
    rest = Word(name, word.where)
    if colon and what == "on-call":
        return f"schedule:{known_name(fields, rest, 'schedule', parties.schedule_names)}"
    if colon and what == "group":
        return f"group:{known_name(fields, rest, 'group', parties.group_names)}"
    if colon and what == "role":
        role = known_role(fields, rest)
        return f"role:{role.value}" if role is not None else None
    groups, schedules = (f"group:{n}" for n in parties.group_names), (f"on-call:{n}" for n in parties.schedule_names)
    person = parties.people.find(word, (_ASKED, *groups, *schedules))
    return f"person:{person}" if person is not None else None


def _via(fields: Fields) -> tuple[Place, ...]:
    words = fields.words("via")
    if words is None:
        return (Place(PlaceKind.DIRECT),)
    for word in words:
        if word.text == PlaceKind.INBOX:
            fields.findings.add(word.where, "The inbox is not told anything: it lists the question all the time.")
    return read_places(fields, words)


def _joins(fields: Fields, kind: StepKind, joinable: Collection[str]) -> str | None:
    word = fields.text("joins")
    if word is None:
        return None
    if kind is not StepKind.ESCALATE:
        fields.problem("joins", "Only people to whom a question is escalated can join those who decide.")
    if word.text not in joinable:
        groups = f" There is {one_of(sorted(joinable))}." if joinable else ""
        near = fields.findings.nearest(word.text, joinable)
        sentence = f"No answer rule lets a group called {shown(word.text)} decide.{near or groups}"
        fields.findings.add(word.where, sentence)
    return word.text
