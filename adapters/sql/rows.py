"""Between core's values and table rows, both ways."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias, TypedDict

from pydantic import TypeAdapter
from sqlalchemy import Row

from adapters.sql.tables import NEVER
from core.browsing import RANKS, agent_of
from core.deadlines import next_due
from core.events import EVENT_NAMES, Asked, Event, JobChanged, Progressed, QuestionEvent
from core.ids import JobId, NoticeId, PersonId, QuestionId, WorkspaceId
from core.job import Job
from core.people import Person, Role
from core.places import Target
from core.policies import Tally
from core.ports import MessageRef, Notice, StoredEvent
from core.question import (
    Acknowledgement,
    Comment,
    DeliveryRecord,
    LateAnswer,
    Milestone,
    Outcome,
    Pause,
    Planned,
    Question,
    Spec,
    Status,
    Vote,
)
from core.registry import ApiKey


@dataclass(frozen=True, slots=True)
class _Life:
    """The part of a question that changes."""

    deadline: datetime | None = None
    pause: Pause | None = None
    comments: tuple[Comment, ...] = ()
    outcome: Outcome | None = None
    late_answers: tuple[LateAnswer, ...] = ()
    deliveries: tuple[DeliveryRecord, ...] = ()
    votes: tuple[Vote, ...] = ()
    counted: Tally | None = None
    targets: tuple[Target, ...] = ()
    route_step: int = 0
    asked: tuple[PersonId, ...] = ()
    agenda: tuple[Planned, ...] = ()
    extended: timedelta = timedelta(0)
    acknowledged: Acknowledgement | None = None
    nudged_at: datetime | None = None
    joined: tuple[tuple[str, PersonId], ...] = ()
    story: tuple[Milestone, ...] = ()


AnyRow: TypeAlias = Row[*tuple[Any, ...]]

_SPEC = TypeAdapter(Spec)
_LIFE = TypeAdapter(_Life)
_JOB = TypeAdapter(Job)
_EVENTS: Mapping[str, TypeAdapter[Event]] = {name: TypeAdapter(kind) for kind, name in EVENT_NAMES.items()}


def millis(instant: datetime) -> int:
    return round(instant.timestamp() * 1000)


def instant(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def maybe_millis(at: datetime | None) -> int | None:
    return None if at is None else millis(at)


def maybe_instant(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else instant(milliseconds)


class QuestionRow(TypedDict):
    id: str
    workspace_id: str
    project_id: str | None
    job_id: str | None
    asker: str
    kind: str
    status: str
    version: int
    asked_at: int
    due_at: int | None
    spec: str
    life: str
    holding_slot: int | None
    rank: int
    deadline_at: int
    agent: str
    asked: str


class LifeRow(TypedDict):
    """What an update writes; `key` and what was `before` are the condition it writes under."""

    key: str
    before: int
    before_fence: int
    status: str
    version: int
    due_at: int | None
    life: str
    holding_slot: int | None
    deadline_at: int
    asked: str


def _deadline(question: Question) -> int:
    return millis(question.deadline) if question.deadline is not None else NEVER


def asked_mark(person_id: PersonId) -> str:
    """How a person stands in the column of those a question is put to."""
    return f"|{person_id}|"


def _asked(question: Question) -> str:
    return "".join(map(asked_mark, question.asked))


def _life(question: Question) -> str:
    life = _Life(
        question.deadline,
        question.pause,
        question.comments,
        question.outcome,
        question.late_answers,
        question.deliveries,
        question.votes,
        question.counted,
        question.targets,
        question.route_step,
        question.asked,
        question.agenda,
        question.extended,
        question.acknowledged,
        question.nudged_at,
        question.joined,
        question.story,
    )
    return _LIFE.dump_json(life, exclude_defaults=True).decode()


def question_row(question: Question, slot: int | None) -> QuestionRow:
    spec = question.spec
    return {
        "id": question.id,
        "workspace_id": spec.workspace_id,
        "project_id": spec.project_id,
        "job_id": spec.job_id,
        "asker": spec.asker.principal,
        "kind": spec.kind.value,
        "status": question.status.value,
        "version": question.version,
        "asked_at": millis(question.asked_at),
        "due_at": maybe_millis(next_due(question)),
        # Not `exclude_defaults`: the type that tells answer shapes apart is a default.
        "spec": _SPEC.dump_json(spec, exclude_none=True).decode(),
        "life": _life(question),
        "holding_slot": slot,
        "rank": RANKS[spec.urgency],
        "deadline_at": _deadline(question),
        "agent": agent_of(question),
        "asked": _asked(question),
    }


def life_row(question: Question, before: int, before_fence: int, slot: int | None) -> LifeRow:
    return {
        "key": question.id,
        "before": before,
        "before_fence": before_fence,
        "status": question.status.value,
        "version": question.version,
        "due_at": maybe_millis(next_due(question)),
        "life": _life(question),
        "holding_slot": slot,
        "deadline_at": _deadline(question),
        "asked": _asked(question),
    }


def question_from(row: AnyRow) -> Question:
    life = _LIFE.validate_json(row.life)
    return Question(
        QuestionId(row.id),
        _SPEC.validate_json(row.spec),
        instant(row.asked_at),
        row.version,
        Status(row.status),
        life.deadline,
        life.pause,
        life.comments,
        life.outcome,
        life.late_answers,
        life.deliveries,
        life.votes,
        life.counted,
        life.targets,
        life.route_step,
        life.asked,
        life.agenda,
        life.extended,
        life.acknowledged,
        life.nudged_at,
        life.joined,
        life.story,
    )


class JobRow(TypedDict):
    workspace_id: str
    id: str
    owner: str
    status: str
    version: int
    closing: bool
    body: str


def job_row(job: Job) -> JobRow:
    return {
        "workspace_id": job.workspace_id,
        "id": job.id,
        "owner": job.owner,
        "status": job.status.value,
        "version": job.version,
        "closing": job.closing,
        "body": _JOB.dump_json(job).decode(),
    }


def job_from(row: AnyRow) -> Job:
    return _JOB.validate_json(row.body)


class EventRow(TypedDict):
    workspace_id: str
    question_id: str | None
    job_id: str | None
    sequence: int
    name: str
    at: int
    data: str
    owner: str


def question_event_row(event: QuestionEvent, question: Question, sequence: int) -> EventRow:
    name = EVENT_NAMES[type(event)]
    # The spec stands in the question's own row, which is never deleted; it is not written a second time.
    data = "" if isinstance(event, Asked) else _EVENTS[name].dump_json(event, exclude_defaults=True).decode()
    return {
        "workspace_id": question.spec.workspace_id,
        "question_id": question.id,
        "job_id": question.spec.job_id,
        "sequence": sequence,
        "name": name,
        "at": millis(event.at),
        "data": data,
        "owner": question.spec.asker.principal,
    }


def job_event_row(event: JobChanged | Progressed) -> EventRow:
    name = EVENT_NAMES[type(event)]
    return {
        "workspace_id": event.after.workspace_id,
        "question_id": None,
        "job_id": event.after.id,
        "sequence": event.after.version,
        "name": name,
        "at": millis(event.at),
        "data": _EVENTS[name].dump_json(event, exclude_defaults=True).decode(),
        "owner": event.after.owner,
    }


def event_from(row: AnyRow, spec: Spec | None) -> StoredEvent:
    if row.name == EVENT_NAMES[Asked] and spec is not None:
        event: Event = Asked(instant(row.at), QuestionId(row.question_id), spec)
    else:
        event = _EVENTS[row.name].validate_json(row.data)
    return StoredEvent(
        row.position,
        row.sequence,
        row.name,
        event,
        QuestionId(row.question_id) if row.question_id is not None else None,
        JobId(row.job_id) if row.job_id is not None else None,
    )


def notice_from(row: AnyRow) -> Notice:
    return Notice(
        NoticeId(row.id),
        QuestionId(row.question_id),
        Target(row.surface, row.address),
        row.wanted_version,
        row.attempt,
        row.fence,
        MessageRef(row.ref) if row.ref is not None else None,
        row.nudge,
    )


class KeyRow(TypedDict):
    id: str
    name: str
    digest: str
    hint: str
    scopes: str
    workspace_id: str
    person_id: str | None
    created_at: int
    last_used_at: int | None
    revoked_at: int | None
    callback_secret: str | None
    callback_hosts: str
    owner_id: str | None


def key_row(key: ApiKey) -> KeyRow:
    return {
        "id": key.id,
        "name": key.name,
        "digest": key.digest,
        "hint": key.hint,
        "scopes": ",".join(key.scopes),
        "workspace_id": key.workspace_id,
        "person_id": key.person.id if key.person is not None else None,
        "created_at": millis(key.created_at),
        "last_used_at": maybe_millis(key.last_used_at),
        "revoked_at": maybe_millis(key.revoked_at),
        "callback_secret": key.callback_secret,
        "callback_hosts": ",".join(key.callback_hosts),
        "owner_id": key.owner,
    }


def key_from(row: AnyRow) -> ApiKey:
    person = None
    if row.person_id is not None:
        person = Person(PersonId(row.person_id), row.person_name, Role(row.person_role))
    return ApiKey(
        row.id,
        row.name,
        row.digest,
        row.hint,
        tuple(row.scopes.split(",")),
        WorkspaceId(row.workspace_id),
        instant(row.created_at),
        person,
        maybe_instant(row.last_used_at),
        maybe_instant(row.revoked_at),
        row.callback_secret,
        tuple(filter(None, row.callback_hosts.split(","))),
        PersonId(row.owner_id) if row.owner_id is not None else None,
    )
