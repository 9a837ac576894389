"""The rules as JSON for programs: camelCase, times and spans as texts, places and audiences as the text writes them."""

from collections.abc import Iterable

from adapters.policy.words import instant_text, offset_text, place_text, span_text
from core.hours import windows_text
from core.ids import JsonObject, JsonValue
from core.rulebook import AnswerRule, GroupRule, LadderRule, Match, Place, RouteRule, Rulebook, Seats, StepRule
from core.schedules import Override, Rotation, Schedule, Shift


def rulebook_json(rulebook: Rulebook) -> JsonObject:
    return {
        "version": rulebook.version,
        "unknownRecipients": "refuse" if rulebook.refuses_unknown else "ask anyway",
        "groups": {name: _group(group) for name, group in rulebook.groups.items()},
        "schedules": {name: _schedule(schedule) for name, schedule in rulebook.schedules.items()},
        "answers": [_answer(rule) for rule in rulebook.answers],
        "routes": [_route(rule) for rule in rulebook.routes],
        "ladders": [_ladder(rule) for rule in rulebook.ladders],
    }


def _group(group: GroupRule) -> JsonObject:
    if group.backing is not None:
        return {"keptBy": group.backing.surface, "address": group.backing.address}
    return {"members": _texts(group.members)}


def _schedule(schedule: Schedule) -> JsonObject:
    return {
        "zone": schedule.zone,
        "rotations": [_rotation(rotation) for rotation in schedule.rotations],
        "overrides": [_stint(override) for override in schedule.overrides],
        "shifts": [_stint(shift) for shift in schedule.shifts],
    }


def _rotation(rotation: Rotation) -> JsonObject:
    weeks, days = divmod(rotation.turn_days, 7)
    return {
        "people": _texts(rotation.people),
        "starts": rotation.starts.isoformat(),  # a local time: no zone of its own
        "every": f"{rotation.turn_days}d" if days else f"{weeks}w",
        "hours": windows_text(rotation.windows),
    }


def _stint(stint: Override | Shift) -> JsonObject:
    return {"person": stint.person, "start": instant_text(stint.start), "end": instant_text(stint.end)}


def _answer(rule: AnswerRule) -> JsonObject:
    return {
        "name": rule.name,
        "match": _match(rule.match),
        "by": [_seats(seats) for seats in rule.seats],
        "fourEyes": rule.four_eyes,
        "rejections": rule.rejections,
        "solo": rule.solo,
    }


def _seats(seats: Seats) -> JsonObject:
    if seats.group is not None:
        return {"need": seats.need, "group": seats.group}
    if seats.role is not None:
        return {"need": seats.need, "role": seats.role.value}
    return {"need": seats.need, "people": _texts(seats.people)}


def _route(rule: RouteRule) -> JsonObject:
    return {"name": rule.name, "match": _match(rule.match), "to": [_places(step) for step in rule.steps]}


def _ladder(rule: LadderRule) -> JsonObject:
    return {
        "name": rule.name,
        "match": _match(rule.match),
        "acknowledgement": span_text(rule.acknowledgement),
        "steps": [_step(step) for step in rule.steps],
    }


def _step(step: StepRule) -> JsonObject:
    return {
        "kind": step.kind.value,
        "at": offset_text(step.at),
        "to": _texts(step.audience),
        "via": _places(step.places),
        "joins": step.joins,
        "hold": step.holds,
        "times": step.times,
        "every": span_text(step.every) if step.every is not None else None,
    }


def _match(match: Match) -> JsonObject:
    """Only what is looked at."""
    looked_at: dict[str, Iterable[str]] = {
        "kind": match.kinds,
        "urgency": match.urgencies,
        "risk": match.risks,
        "tool": match.tools,
        "project": match.projects,
        "agent": match.agents,
        "tag": match.tags,
        "to": match.to,
    }
    return {key: _texts(values) for key, values in looked_at.items() if values}


def _places(places: Iterable[Place]) -> JsonValue:
    return [place_text(place) for place in places]


def _texts(values: Iterable[str]) -> JsonValue:
    return [str(value) for value in values]
