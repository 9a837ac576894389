"""The rules of the text: who may answer, and where questions go."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TypeVar

from adapters.policy.fields import Fields, Word, as_word, type_name
from adapters.policy.parties import Parties
from adapters.policy.problems import one_of
from adapters.policy.words import place_in
from core.kinds import Kind
from core.people import Role
from core.phrasing import shown
from core.question import Risk, Urgency
from core.rulebook import UNSTATED, AnswerRule, LadderRule, Match, Place, RouteRule, Seats

#: A route says with `to` where a question goes, so what it was addressed to has another name there.
ADDRESSED = "addressed_to"
MATCH_KEYS = ("kind", "urgency", "risk", "tool", "project", "agent", "tag", "to")
ROUTE_MATCH_KEYS = (*MATCH_KEYS[:-1], ADDRESSED)
ANSWER_KEYS = ("name", *MATCH_KEYS, "by", "four_eyes", "rejections", "solo")
ROUTE_KEYS = ("name", *ROUTE_MATCH_KEYS, "to")

#: More people than ever have to agree on anything.
_MOST_NEEDED = 100
_MOST_SEATS = 20
_MOST_STEPS = 20
_QUORUM = "Quorum goes with approvals: add kind = 'approval'."

_Name = TypeVar("_Name", bound=StrEnum)
_Rule = TypeVar("_Rule", AnswerRule, RouteRule, LadderRule)


def read_rules(root: Fields, section: str, read: Callable[[Fields], _Rule]) -> tuple[_Rule, ...]:
    """The rules of a section in their order; also what is wrong with them only when seen together."""
    rules: list[_Rule] = []
    seen: set[str] = set()
    catch_all: str | None = None
    for fields in root.tables(section):
        rule = read(fields)
        fields.finish()
        if rule.name and rule.name in seen:
            fields.problem("name", f"Another rule of this kind is called {shown(rule.name)} already.")
        if catch_all is not None:
            sentence = f"This rule is never reached: {catch_all} comes before it and has no conditions."
            fields.findings.add(fields.where, sentence)
        elif not any(key in fields for key in (ROUTE_MATCH_KEYS if section == "route" else MATCH_KEYS)):
            catch_all = shown(rule.name) if rule.name else fields.where
        seen.add(rule.name)
        rules.append(rule)
    return tuple(rules)


def rule_name(fields: Fields) -> str:
    word = fields.text("name")
    if "name" not in fields:
        fields.missing("name", "Every rule has a name, which explanations and changes refer to.")
    return word.text if word is not None else ""


def read_match(fields: Fields, to: str = "to") -> Match:
    risks = fields.words("risk") or ()
    return Match(
        _chosen(fields, fields.words("kind") or (), Kind),
        _chosen(fields, fields.words("urgency") or (), Urgency),
        tuple(known for word in risks if (known := _risk(fields, word)) is not None),
        *(_globs(fields.words(key)) for key in ("tool", "project", "agent", "tag", to)),
    )


def _globs(words: Sequence[Word] | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.text for word in words or ()))


def _risk(fields: Fields, word: Word) -> str | None:
    if word.text == UNSTATED:
        return UNSTATED
    names = [*(risk.value for risk in Risk), UNSTATED]
    if word.text in names:
        return word.text
    fields.findings.add(word.where, _unknown(fields, word, "a risk", names))
    return None


def _chosen(fields: Fields, words: Sequence[Word], names: type[_Name]) -> tuple[_Name, ...]:
    what = {Kind: "a kind of question", Urgency: "an urgency", Role: "a role"}[names]
    known = [name.value for name in names]
    for word in words:
        if word.text not in known:
            fields.findings.add(word.where, _unknown(fields, word, what, known))
    return tuple(dict.fromkeys(names(word.text) for word in words if word.text in known))


def _unknown(fields: Fields, word: Word, what: str, known: Sequence[str]) -> str:
    near = fields.findings.nearest(word.text, known)
    return f"{shown(word.text)} is not {what}.{near or f' There is {one_of(known)}.'}"


def known_role(fields: Fields, word: Word) -> Role | None:
    return next(iter(_chosen(fields, (word,), Role)), None)


def known_name(fields: Fields, word: Word, what: str, names: Sequence[str]) -> str:
    """The name of a group or schedule, with a problem where the text has none of that name."""
    if word.text not in names:
        near = fields.findings.nearest(word.text, names)
        fields.findings.add(word.where, f"There is no {what} called {shown(word.text)}.{near}")
    return word.text


def read_answer(fields: Fields, parties: Parties) -> AnswerRule:
    name = rule_name(fields)
    match = read_match(fields)
    seats = _by(fields, parties)
    four_eyes = fields.flag("four_eyes", False)
    rejections = fields.number("rejections", 1, _MOST_NEEDED)
    solo = fields.flag("solo", False)
    # Where the kind is not known, that is a problem already, and nobody knows what this would be about.
    goes_with_votes = match.kinds == (Kind.APPROVAL,) or ("kind" in fields and not match.kinds)
    if (sum(each.need for each in seats) > 1 or four_eyes or rejections > 1) and not goes_with_votes:
        fields.findings.add(fields.where, _QUORUM)
    return AnswerRule(name, match, seats, four_eyes, rejections, solo)


def _by(fields: Fields, parties: Parties) -> tuple[Seats, ...]:
    tables = fields.tables("by")
    if "by" not in fields:
        fields.missing("by", 'Say who may answer, such as [{ role = "member" }].')
    elif not fields.has("by"):
        fields.problem("by", "With nobody in it, nobody may answer. Name a group, people or a role.")
    if len(tables) > _MOST_SEATS:
        fields.problem("by", f"More than {_MOST_SEATS} parts are too many.")
    return tuple(_seats(each, parties) for each in tables)


def _seats(fields: Fields, parties: Parties) -> Seats:
    need = fields.number("need", 1, _MOST_NEEDED)
    given = [key for key in ("group", "people", "role") if key in fields]
    if len(given) != 1:
        fields.findings.add(fields.where, "Name exactly one: a group, people or a role.")
    group, people, role = fields.text("group"), fields.words("people"), fields.text("role")
    fields.finish()
    if group is not None:
        known_name(fields, group, "group", parties.group_names)
        _check_need(fields, need, parties.sizes.get(group.text))
    found = parties.people.find_all(people or ())
    if people:
        _check_need(fields, need, parties.people.count(people))
    known = known_role(fields, role) if role is not None else None
    return Seats(need, group.text if group is not None else None, found, known)


def _check_need(fields: Fields, need: int, size: int | None) -> None:
    if size is not None and need > size:
        count = "is 1 person" if size == 1 else f"are {size} people"
        fields.problem("need", f"{need} have to agree, but there {count}.")


def read_route(fields: Fields) -> RouteRule:
    name = rule_name(fields)
    match = read_match(fields, ADDRESSED)
    steps: list[tuple[Place, ...]] = []
    if "to" not in fields:
        fields.missing("to", 'Say where it goes, such as ["chat", "inbox"].')
    elif not fields.has("to"):
        fields.problem("to", "Name at least one place.")
    for where, value in fields.items("to"):
        if isinstance(value, list):
            if not value:
                fields.findings.add(where, "Name at least one place.")
            words = [as_word(each, f"{where}[{n}]", fields.findings) for n, each in enumerate(value)]
        elif isinstance(value, str):
            words = [as_word(value, where, fields.findings)]
        else:
            fields.findings.add(where, f"Write a place or a list of places; this is {type_name(value)}.")
            continue
        steps.append(read_places(fields, [word for word in words if word is not None]))
    if len(steps) > _MOST_STEPS:
        fields.problem("to", f"More than {_MOST_STEPS} steps are too many.")
    return RouteRule(name, match, tuple(steps))


def read_places(fields: Fields, words: Sequence[Word]) -> tuple[Place, ...]:
    found: dict[Place, None] = {}
    for word in words:
        try:
            found[place_in(word.text)] = None
        except ValueError as problem:
            fields.findings.add(word.where, str(problem))
    return tuple(found)
