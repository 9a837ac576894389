"""From what an asker sent to a question that makes sense, or a sentence that says what does not.

Every entrance (HTTP, tools, dialects) brings a `Draft` here, so a question is held to the same rules everywhere.
"""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import Enum
from typing import assert_never

from core.answers import (
    AnswerShape,
    AnswerValue,
    ApprovalShape,
    BooleanShape,
    ChoiceShape,
    FormShape,
    Invalid,
    MultiChoiceShape,
    NumberShape,
    Option,
    OptionValue,
    RawAnswer,
    TextShape,
    fit,
)
from core.deadlines import TimeLimits, kind_limit, limit_problem
from core.digests import action_digest, digest_problem
from core.forms import schema_problem
from core.freezing import Frozen, Ground, freeze
from core.ids import JobId, JsonObject, WorkspaceId
from core.kinds import KINDS, DefaultRule, Kind
from core.phrasing import listing, shown
from core.places import Target
from core.question import Action, Asker, Risk, Spec, Urgency
from core.refusals import Reason, Unacceptable
from core.rulebook import UNSTATED, Circumstances

QUESTION_LIMIT = 10_000
LABEL_LIMIT = 200
NOTE_LIMIT = 4_000
MAX_OPTIONS = 100


class Unset(Enum):
    """Tells `not given` from `given as nothing`."""

    UNSET = "unset"


UNSET = Unset.UNSET


@dataclass(frozen=True, slots=True)
class DraftOption:
    label: str
    value: OptionValue | None = None
    id: str | None = None
    description: str | None = None
    recommended: bool = False
    implications: str | None = None
    pros: tuple[str, ...] = ()
    cons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DraftAction:
    tool: str
    arguments: JsonObject = field(default_factory=dict)
    diff: str | None = None
    risk: Risk | None = None
    editable: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """A question as it was sent: well-formed in its types, not yet checked for sense."""

    text: str
    kind: str | None = None
    response_type: str | None = None
    options: tuple[DraftOption, ...] | None = None
    allow_free_text: bool = False
    schema: JsonObject | None = None
    action: DraftAction | None = None
    time_limit: timedelta | Unset | None = UNSET
    default: RawAnswer | None = None
    job_id: JobId | None = None
    project_id: str | None = None
    context: JsonObject | None = None
    to: str | None = None
    urgency: Urgency = Urgency.NORMAL
    reminder: timedelta | None = None
    tags: tuple[str, ...] = ()
    metadata: JsonObject | None = None
    callback_url: str | None = None
    agent: str | None = None
    phase: str | None = None
    category: str | None = None
    operation_id: str | None = None
    #: The person the agent works for, who does not approve where four eyes are wanted.
    on_behalf_of: str | None = None


@dataclass(frozen=True, slots=True)
class House:
    """What the installation brings to every question: its limits, its rules, its people and its places."""

    workspace_id: WorkspaceId
    limits: TimeLimits
    ground: Ground
    #: Places that show every question, such as the terminal of the server.
    targets: tuple[Target, ...] = ()


def compose(draft: Draft, asker: Asker, house: House) -> Spec | Unacceptable:
    """The question this draft stands for, complete and consistent, or the first thing that is wrong with it."""
    problem = _text_problem(draft)
    if problem is not None:
        return problem
    kind = _kind(draft)
    if isinstance(kind, Unacceptable):
        return kind
    shape = _shape(draft, kind)
    if isinstance(shape, Unacceptable):
        return shape
    default = _default(draft, kind, shape)
    if isinstance(default, Unacceptable):
        return default
    limit = _time_limit(draft, kind, house.limits)
    if isinstance(limit, Unacceptable):
        return limit
    working = _for_whom(draft, asker, house.ground)
    if isinstance(working, Unacceptable):
        return working
    frozen = freeze(circumstances(draft, kind, asker), working, house.ground, limit=limit, reminder=draft.reminder)
    if isinstance(frozen, Unacceptable):
        return frozen
    return _spec(draft, working, house, frozen, kind=kind, shape=shape, default=default, limit=limit)


def _spec(
    draft: Draft,
    asker: Asker,
    house: House,
    frozen: Frozen,
    *,
    kind: Kind,
    shape: AnswerShape,
    default: AnswerValue | None,
    limit: timedelta | None,
) -> Spec:
    return Spec(
        workspace_id=house.workspace_id,
        asker=asker,
        text=draft.text,
        kind=kind,
        shape=shape,
        policy=frozen.policy,
        time_limit=limit,
        default=default,
        job_id=draft.job_id,
        project_id=draft.project_id,
        context=draft.context,
        action=_action(draft.action),
        to=draft.to,
        urgency=draft.urgency,
        reminder=draft.reminder,
        tags=draft.tags,
        metadata=draft.metadata,
        callback_url=draft.callback_url,
        agent=draft.agent,
        phase=draft.phase,
        category=draft.category,
        operation_id=draft.operation_id,
        targets=house.targets,
        route=frozen.route,
        ladder=frozen.ladder,
        asked=frozen.asked,
        limit_is_default=isinstance(draft.time_limit, Unset),
        acknowledgement=frozen.acknowledgement,
    )


def circumstances(draft: Draft, kind: Kind, asker: Asker) -> Circumstances:
    action = draft.action
    return Circumstances(
        kind,
        draft.urgency,
        action.risk.value if action is not None and action.risk is not None else UNSTATED,
        action.tool if action is not None else None,
        draft.project_id,
        asker.name,
        draft.tags,
        draft.to,
    )


def _for_whom(draft: Draft, asker: Asker, ground: Ground) -> Asker | Unacceptable:
    """The asker with the person it says it works for, who must be somebody we know to be kept from deciding."""
    if draft.on_behalf_of is None:
        return asker
    person = ground.roster.find(draft.on_behalf_of)
    if person is None:
        sentence = f"There is nobody called {shown(draft.on_behalf_of)} here for the agent to work for."
        return Unacceptable(Reason.RECIPIENT_UNKNOWN, sentence, "/onBehalfOf")
    return replace(asker, on_behalf_of=person.id)


def _text_problem(draft: Draft) -> Unacceptable | None:
    if not draft.text.strip():
        return Unacceptable(Reason.TEXT_EMPTY, "Write the question: it is empty.", "/question")
    if len(draft.text) > QUESTION_LIMIT:
        sentence = f"The question is longer than {QUESTION_LIMIT:,} characters; put the detail into context."
        return Unacceptable(Reason.TEXT_TOO_LONG, sentence, "/question")
    return None


def _kind(draft: Draft) -> Kind | Unacceptable:
    if draft.kind is None:
        approves = draft.response_type == "approval" or draft.action is not None
        return Kind.APPROVAL if approves else Kind.BLOCKING
    try:
        return Kind(draft.kind)
    except ValueError:
        sentence = f"There is no kind {shown(draft.kind)}. Use one of {listing([kind.value for kind in Kind])}."
        return Unacceptable(Reason.KIND_UNKNOWN, sentence, "/type")


def _conflict(sentence: str, pointer: str) -> Unacceptable:
    return Unacceptable(Reason.SHAPE_CONFLICT, sentence, pointer)


RESPONSE_TYPES = ("text", "choice", "multi_choice", "boolean", "approval", "number", "form")


def _response_type(draft: Draft, kind: Kind) -> str:
    if draft.response_type is not None:
        return draft.response_type
    if kind is Kind.APPROVAL:
        return "approval"
    if draft.options:
        return "choice"
    return "form" if draft.schema else "text"


def _shape(draft: Draft, kind: Kind) -> AnswerShape | Unacceptable:
    wanted = _response_type(draft, kind)
    problem = _contradiction(draft, kind, wanted)
    if problem is not None:
        return problem
    options = _options(draft.options or ())
    if isinstance(options, Unacceptable):
        return options
    match wanted:
        case "text":
            return TextShape()
        case "choice" | "multi_choice":
            if not options:
                sentence = "A choice needs options; give at least one, each with a label."
                return Unacceptable(Reason.OPTIONS_MISSING, sentence, "/options")
            choice = ChoiceShape if wanted == "choice" else MultiChoiceShape
            return choice(options, draft.allow_free_text)
        case "boolean":
            return _boolean(options)
        case "approval":
            return ApprovalShape(editable=draft.action is not None and draft.action.editable)
        case "number":
            return NumberShape()
        case _:
            return _form(draft.schema)


def _contradiction(draft: Draft, kind: Kind, wanted: str) -> Unacceptable | None:
    if wanted not in RESPONSE_TYPES:
        sentence = f"There is no response type {shown(wanted)}. Use one of {listing(RESPONSE_TYPES)}."
        return _conflict(sentence, "/responseType")
    if (kind is Kind.APPROVAL) != (wanted == "approval"):
        sentence = (
            'An approval is answered with approve or reject: use type "approval" together with '
            'responseType "approval", or neither.'
        )
        return _conflict(sentence, "/responseType")
    if draft.options and wanted not in ("choice", "multi_choice", "boolean"):
        sentence = f"A question of response type {wanted} takes no options; leave them out or ask for a choice."
        return _conflict(sentence, "/options")
    if draft.allow_free_text and wanted not in ("choice", "multi_choice", "text"):
        sentence = f"allowFreeText goes with a choice, not with {wanted}."
        return _conflict(sentence, "/allowFreeText")
    if draft.schema and wanted != "form":
        sentence = f'A schema describes a form; use responseType "form" or leave the schema out of {wanted}.'
        return _conflict(sentence, "/schema")
    if draft.action is not None and kind is not Kind.APPROVAL:
        return _conflict('An action is shown for approval; use type "approval".', "/action")
    unclear = digest_problem(draft.action.arguments) if draft.action is not None else None
    return _conflict(unclear, "/action/arguments") if unclear is not None else None


def _options(drafts: tuple[DraftOption, ...]) -> tuple[Option, ...] | Unacceptable:
    if len(drafts) > MAX_OPTIONS:
        sentence = f"There are more than {MAX_OPTIONS} options; ask for a text or narrow them down."
        return Unacceptable(Reason.SHAPE_CONFLICT, sentence, "/options")
    taken: dict[tuple[type, OptionValue], int] = {}
    options: list[Option] = []
    for place, draft in enumerate(drafts):
        problem = _option_text_problem(draft, place)
        if problem is not None:
            return problem
        value: OptionValue = draft.value if draft.value is not None else (draft.id or draft.label)
        option = Option(
            draft.label,
            value,
            draft.id,
            draft.description,
            draft.recommended,
            draft.implications,
            draft.pros,
            draft.cons,
        )
        for name in option.names:
            other = taken.setdefault((type(name), name), place)
            if other != place:
                sentence = f"Options {other + 1} and {place + 1} are both called {shown(name)}; name them apart."
                return Unacceptable(Reason.OPTION_DUPLICATE, sentence, f"/options/{place}")
        options.append(option)
    return tuple(options)


def _option_text_problem(draft: DraftOption, place: int) -> Unacceptable | None:
    pointer = f"/options/{place}"
    if not draft.label.strip():
        return Unacceptable(Reason.TEXT_EMPTY, f"Option {place + 1} has no label.", pointer + "/label")
    if len(draft.label) > LABEL_LIMIT:
        sentence = f"The label of option {place + 1} is longer than {LABEL_LIMIT} characters; use its description."
        return Unacceptable(Reason.TEXT_TOO_LONG, sentence, pointer + "/label")
    notes = (draft.description or "", draft.implications or "", *draft.pros, *draft.cons)
    if any(len(note) > NOTE_LIMIT for note in notes):
        sentence = f"A note on option {place + 1} is longer than {NOTE_LIMIT:,} characters; shorten it."
        return Unacceptable(Reason.TEXT_TOO_LONG, sentence, pointer)
    return None


def _boolean(options: tuple[Option, ...]) -> AnswerShape | Unacceptable:
    values = [option.value for option in options if isinstance(option.value, bool)]
    if options and (len(values) != len(options) or set(values) != {True, False}):
        sentence = "The options of a boolean question are two, with the values true and false."
        return _conflict(sentence, "/options")
    return BooleanShape(options)


def _form(schema: JsonObject | None) -> AnswerShape | Unacceptable:
    if not schema:
        return Unacceptable(Reason.SCHEMA_INVALID, "A form needs a schema that names its fields.", "/schema")
    problem = schema_problem(schema)
    if problem is not None:
        return Unacceptable(Reason.SCHEMA_INVALID, problem.sentence, "/schema" + problem.pointer)
    return FormShape(schema)


def _default(draft: Draft, kind: Kind, shape: AnswerShape) -> AnswerValue | Unacceptable | None:
    rule = KINDS[kind].default
    if draft.default is None:
        if rule is DefaultRule.REQUIRED:
            sentence = f"A {kind} question goes on with its default at once, so give a defaultResponse."
            return Unacceptable(Reason.DEFAULT_REQUIRED, sentence, "/defaultResponse")
        return None
    if rule is DefaultRule.FORBIDDEN or isinstance(shape, ApprovalShape):
        sentence = "An approval has no default: silence never approves. Leave defaultResponse out."
        return Unacceptable(Reason.DEFAULT_FORBIDDEN, sentence, "/defaultResponse")
    fitted = fit(shape, draft.default)
    if isinstance(fitted, Invalid):
        pointer = fitted.pointer.replace("/response", "/defaultResponse", 1)
        return Unacceptable(Reason.DEFAULT_INVALID, f"The default does not fit: {fitted.sentence}", pointer)
    return fitted


def _time_limit(draft: Draft, kind: Kind, limits: TimeLimits) -> timedelta | Unacceptable | None:
    rule = KINDS[kind]
    match draft.time_limit:
        case Unset():
            return kind_limit(rule, limits)
        case None | timedelta():
            problem = limit_problem(draft.time_limit, rule, limits)
            if problem is not None:
                return Unacceptable(Reason.TIME_LIMIT_OUT_OF_RANGE, problem, "/timeoutMinutes")
            return draft.time_limit
        case _:
            assert_never(draft.time_limit)


def _action(draft: DraftAction | None) -> Action | None:
    if draft is None:
        return None
    digest = action_digest(draft.tool, draft.arguments, draft.diff, draft.risk)
    return Action(draft.tool, draft.arguments, digest, draft.diff, draft.risk, draft.editable)
