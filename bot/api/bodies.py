"""Request bodies. Names are camelCase in the documents; snake_case is understood as well."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)
from pydantic.alias_generators import to_camel

from core.answers import RawAnswer
from core.asking import UNSET, Draft, DraftAction, DraftOption
from core.ids import JobId, JsonObject, JsonValue
from core.job import OnTimeout
from core.kinds import Kind
from core.question import Risk, Urgency
from core.rulebook import UNSTATED, Circumstances

_LONGEST = 10_000_000.0  # minutes; beyond any limit, below what a timedelta holds

Name = Annotated[str, Field(min_length=1, max_length=200)]
Word = Annotated[str, Field(max_length=200)]
Number = StrictInt | StrictFloat


class Body(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="forbid")


class OptionBody(Body):
    label: StrictStr
    value: StrictStr | StrictBool | StrictInt | StrictFloat | None = None
    id: Annotated[StrictStr, Field(min_length=1, max_length=200)] | None = None
    description: StrictStr | None = None
    recommended: StrictBool = False
    implications: StrictStr | None = None
    pros: list[StrictStr] = Field(default=[], max_length=50)
    cons: list[StrictStr] = Field(default=[], max_length=50)

    def draft(self) -> DraftOption:
        return DraftOption(
            self.label,
            self.value,
            self.id,
            self.description,
            self.recommended,
            self.implications,
            tuple(self.pros),
            tuple(self.cons),
        )


class ActionBody(Body):
    tool: Name
    arguments: dict[str, JsonValue] = {}
    diff: StrictStr | None = None
    risk: Literal["low", "medium", "high", "critical"] | None = None
    editable: StrictBool = False

    def draft(self) -> DraftAction:
        risk = Risk(self.risk) if self.risk is not None else None
        return DraftAction(self.tool, self.arguments, self.diff, risk, self.editable)


class ResponseBody(Body):
    """An answer: its value and, if wanted, an explanation."""

    value: JsonValue
    type: StrictStr | None = None
    text: StrictStr | None = None
    arguments: dict[str, JsonValue] | None = None

    def raw(self) -> RawAnswer:
        return RawAnswer(self.value, self.text, self.arguments, self.type)


class AskBody(Body):
    question: StrictStr
    type: StrictStr | None = None
    response_type: StrictStr | None = None
    options: list[OptionBody | StrictStr] | None = None
    context: JsonObject | None = None
    timeout_minutes: Number | None = None
    default_response: ResponseBody | None = None
    allow_free_text: StrictBool = False
    form_schema: JsonObject | None = Field(default=None, alias="schema")
    action: ActionBody | None = None
    to: Name | None = None
    urgency: Literal["low", "normal", "high", "urgent"] = "normal"
    reminder_minutes: Annotated[Number, Field(gt=0, le=_LONGEST)] | None = None
    tags: list[Name] = Field(default=[], max_length=50)
    metadata: JsonObject | None = None
    callback_url: Annotated[str, Field(max_length=2000, pattern=r"^https?://")] | None = None
    agent: Name | None = None
    phase: Name | None = None
    category: Name | None = None
    project_id: Name | None = None
    workspace_id: Name | None = None
    job_id: Name | None = None
    operation_id: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    on_behalf_of: Name | None = None

    def draft(self, job_id: JobId | None) -> Draft:
        limit = UNSET if "timeout_minutes" not in self.model_fields_set else _minutes(self.timeout_minutes)
        options = self.options
        return Draft(
            text=self.question,
            kind=self.type,
            response_type=self.response_type,
            options=None
            if options is None
            else tuple(DraftOption(o) if isinstance(o, str) else o.draft() for o in options),
            allow_free_text=self.allow_free_text,
            schema=self.form_schema,
            action=self.action.draft() if self.action is not None else None,
            time_limit=limit,
            default=self.default_response.raw() if self.default_response is not None else None,
            job_id=job_id,
            project_id=self.project_id,
            context=self.context,
            to=self.to,
            urgency=Urgency(self.urgency),
            reminder=_minutes(self.reminder_minutes),
            tags=tuple(self.tags),
            metadata=self.metadata,
            callback_url=self.callback_url,
            agent=self.agent,
            phase=self.phase,
            category=self.category,
            operation_id=self.operation_id,
            on_behalf_of=self.on_behalf_of,
        )


def _minutes(minutes: float | None) -> timedelta | None:
    if minutes is None:
        return None
    return timedelta(minutes=min(max(minutes, -_LONGEST), _LONGEST))


class AnswerBody(Body):
    response: ResponseBody
    late: StrictBool = False
    answered_by: Name | None = None
    operation_id: Annotated[str, Field(min_length=1, max_length=255)] | None = None


class CancelBody(Body):
    reason: Annotated[str, Field(max_length=2000)] | None = None


class CommentBody(Body):
    text: Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"\S")]
    ask_back: StrictBool | None = None
    operation_id: Annotated[str, Field(min_length=1, max_length=255)] | None = None


def _in_utc(instant: datetime) -> datetime:
    try:
        return instant.astimezone(UTC)
    except OverflowError:
        raise ValueError("that instant is beyond any calendar") from None


Instant = Annotated[AwareDatetime, AfterValidator(_in_utc)]


class SnoozeBody(Body):
    """For how long, or until when; one of the two."""

    minutes: Annotated[Number, Field(gt=0, le=24 * 60)] | None = None
    until: Instant | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> "SnoozeBody":
        if (self.minutes is None) == (self.until is None):
            raise ValueError("give either minutes or until")
        return self


class ReassignBody(Body):
    to: Name
    reason: Annotated[str, Field(max_length=2000)] | None = None


class PersonBody(Body):
    """What a person is to be; what is left out stays as it is."""

    name: Name | None = None
    role: Literal["member", "approver", "lead", "admin"] | None = None
    handles: list[Word] | None = Field(default=None, max_length=20)
    zone: Word | None = None
    working: Annotated[str, Field(max_length=2000)] | None = None
    quiet: Annotated[str, Field(max_length=2000)] | None = None


class AwayBody(Body):
    """Until when, or null to be back."""

    until: Instant | None
    stand_in: Name | None = None


class LinkBody(Body):
    handle: Name


class PolicyBody(Body):
    """The whole text, or single changes such as {"groups.release": ["Dana"]}; `version` is what it builds on."""

    text: Annotated[StrictStr, Field(max_length=256 * 1024)] | None = None
    changes: dict[str, JsonValue] | None = None
    version: StrictInt | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> "PolicyBody":
        if (self.text is None) == (self.changes is None):
            raise ValueError("give either text or changes")
        return self


class ExplainBody(Body):
    """A question that nobody has asked; with `text`, under a policy that nobody has applied."""

    type: Kind = Kind.BLOCKING
    urgency: Urgency = Urgency.NORMAL
    risk: Risk | None = None
    tool: Name | None = None
    project_id: Name | None = None
    agent: Word = ""
    tags: list[Name] = Field(default=[], max_length=50)
    to: Name | None = None
    timeout_minutes: Annotated[Number, Field(gt=0, le=_LONGEST)] | None = None
    at: Instant | None = None
    owner: Name | None = None
    on_behalf_of: Name | None = None
    text: Annotated[StrictStr, Field(max_length=256 * 1024)] | None = None

    @property
    def limit(self) -> timedelta | None:
        return _minutes(self.timeout_minutes)

    def circumstances(self) -> Circumstances:
        risk = self.risk.value if self.risk is not None else UNSTATED
        tags = tuple(self.tags)
        return Circumstances(self.type, self.urgency, risk, self.tool, self.project_id, self.agent, tags, self.to)


class JobBody(Body):
    status: (
        Literal[
            "running",
            "waiting_for_input",
            "waiting_for_approval",
            "blocked",
            "completed",
            "failed",
            "cancelled",
        ]
        | None
    ) = None
    reason: Annotated[str, Field(max_length=2000)] | None = None
    on_timeout: Literal["fail", "block"] | None = None
    max_open_holding: Annotated[StrictInt, Field(ge=1, le=1000)] | None = None

    @property
    def timeout_rule(self) -> OnTimeout | None:
        return OnTimeout(self.on_timeout) if self.on_timeout is not None else None


class RedeemBody(Body):
    receipt: Annotated[StrictStr, Field(min_length=1, max_length=8192)]
    action_digest: Annotated[StrictStr, Field(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None


class WebhookBody(Body):
    url: Annotated[StrictStr, Field(min_length=1, max_length=2000)]
    events: list[Annotated[StrictStr, Field(min_length=1, max_length=60)]] = Field(
        default=["question.*"], min_length=1, max_length=20
    )


class ProgressBody(Body):
    text: Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"\S")]
