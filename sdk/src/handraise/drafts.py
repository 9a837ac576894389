"""The body of a new question, from what a caller says about it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TypedDict, cast

from handraise.durations import Duration, duration_of
from handraise.errors import InvalidArgument
from handraise.wire import Json


class Details(TypedDict, total=False):
    """What a question may carry beside its text. What is left out is the server's to decide."""

    kind: str
    response_type: str
    options: Sequence[str | Mapping[str, object]]
    multiple: bool
    allow_free_text: bool
    schema: Mapping[str, object]
    default: object
    # None asks for no limit at all.
    time_limit: Duration | None
    reminder: Duration
    to: str | None
    context: Mapping[str, object]
    urgency: str
    tags: Sequence[str]
    metadata: Mapping[str, object]
    agent: str
    phase: str
    category: str
    project: str
    callback_url: str
    action: Mapping[str, object]


_UNCHANGED = ("schema", "to", "context", "urgency", "tags", "metadata", "agent", "phase", "category", "action")
_RENAMED = {"allow_free_text": "allowFreeText", "project": "projectId", "callback_url": "callbackUrl"}
_DURATIONS = {"time_limit": "timeoutMinutes", "reminder": "reminderMinutes"}
_CONVERTED = frozenset({"kind", "response_type", "options", "multiple", "default"})

# The server requires a name for what is approved; a diff that no tool call carries has none of its own.
TOOL_OF_A_BARE_DIFF = "apply_diff"


def question_body(text: str, details: Details) -> Json:
    """The JSON of the question; InvalidArgument where its parts contradict each other."""
    given = cast(Json, details)
    _refuse_unknown(given)
    shape = answer_shape(details)
    _refuse_contradictions(details, shape)
    body: Json = {
        "question": text,
        "type": _word(details["kind"]) if "kind" in details else _usual_kind(shape),
        "responseType": shape,
    }
    if details.get("options"):
        body["options"] = [{"label": each} if isinstance(each, str) else dict(each) for each in details["options"]]
    if "default" in details:
        body["defaultResponse"] = {"type": shape, "value": details["default"]}
    body |= {name: given[name] for name in _UNCHANGED if given.get(name) is not None}
    body |= {wire_name: given[name] for name, wire_name in _RENAMED.items() if name in given}
    body |= {wire_name: minutes_in(given[name]) for name, wire_name in _DURATIONS.items() if name in given}
    return body


def answer_shape(details: Details) -> str:
    """The answer's shape, from what is given: options make a choice, a schema a form."""
    choice = "multi_choice" if details.get("multiple") else "choice"
    if "response_type" in details:
        named = _word(details["response_type"])
        return choice if named == "choice" else named
    if details.get("options"):
        return choice
    if "schema" in details:
        return "form"
    return "approval" if _word(details.get("kind", "")) == "approval" else "text"


def approval_details(
    details: Details,
    *,
    tool: str | None,
    arguments: Mapping[str, object] | None,
    diff: str | None,
    risk: str | None,
    editable: bool,
) -> Details:
    """The details of a question that asks for an approval."""
    action = action_body(tool=tool, arguments=arguments, diff=diff, risk=risk, editable=editable)
    asked: Details = {**details, "response_type": "approval"}
    if action is not None:
        asked["action"] = action
    return asked


def action_body(
    *,
    tool: str | None,
    arguments: Mapping[str, object] | None,
    diff: str | None,
    risk: str | None,
    editable: bool = False,
) -> Json | None:
    """What an approval approves; None where only its text says so."""
    if tool is None and (arguments is not None or editable):
        raise InvalidArgument("Arguments belong to a tool: name the tool too.")
    if tool is None and diff is None:
        if risk is not None:
            raise InvalidArgument("A risk belongs to an action: name its tool or give its diff.")
        return None
    optional: Json = {"arguments": arguments, "diff": diff, "risk": risk}
    given = {name: value for name, value in optional.items() if value is not None}
    if editable:
        given["editable"] = True
    return {"tool": tool or TOOL_OF_A_BARE_DIFF, **given}


def minutes_in(duration: Duration | None) -> int | float | None:
    """Minutes as the server counts them, whole where they are whole."""
    if duration is None:
        return None
    try:
        minutes = duration_of(duration) / timedelta(minutes=1)
    except ValueError as failure:
        raise InvalidArgument(str(failure)) from None
    return int(minutes) if minutes.is_integer() else minutes


def _usual_kind(shape: str) -> str:
    return "approval" if shape == "approval" else "blocking"


def _refuse_unknown(given: Json) -> None:
    unknown = sorted(given.keys() - _CONVERTED - set(_UNCHANGED) - _RENAMED.keys() - _DURATIONS.keys())
    if unknown:
        raise InvalidArgument(f"A question has no {', '.join(unknown)}.")


def _refuse_contradictions(details: Details, shape: str) -> None:
    has_options, has_schema = bool(details.get("options")), "schema" in details
    if has_options and has_schema:
        raise InvalidArgument("Options make a choice and a schema makes a form: use one of them.")
    if (shape in ("choice", "multi_choice") or details.get("multiple")) and not has_options:
        raise InvalidArgument("A choice needs options to choose from.")
    if shape == "form" and not has_schema:
        raise InvalidArgument("A form needs a schema, the JSON Schema of its fields.")


def _word(spelled: str) -> str:
    """Kinds and shapes may be spelled with hyphens."""
    return spelled.strip().lower().replace("-", "_")
