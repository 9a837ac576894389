"""One transaction that carries many commands: load once, judge each in turn, write once.

The commands of a batch see what the ones before them left. Each row is written under the condition that it still has
the version it was read at; if any write misses, the whole batch is rolled back and nothing has happened.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import BigInteger, Connection, and_, bindparam, func, insert, literal_column, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from adapters.sql import tables
from adapters.sql.database import CLOCK
from adapters.sql.rows import (
    EventRow,
    instant,
    job_event_row,
    job_from,
    job_row,
    life_row,
    millis,
    question_event_row,
    question_from,
    question_row,
)
from adapters.sql.webhook_rows import endpoint_from, message_row
from core.decisions import Accepted, Case
from core.events import Event, JobChanged, Progressed, is_told
from core.ids import QuestionId
from core.job import Job
from core.ports import Change, JobKey, Recorded, Scope, Snapshot, StaleClaim, Verdict, Work, notice_id, nudge_id
from core.question import Question
from core.webhooks import messages_for


class Conflict(Exception):
    """Somebody else wrote first; nothing of this batch was kept."""


@dataclass(frozen=True, slots=True)
class Entry:
    scope: Scope
    work: Work


_Q, _J, _C, _N = tables.questions, tables.jobs, tables.commands, tables.notices
_QUESTION_COLUMNS = (_Q.c.id, _Q.c.spec, _Q.c.life, _Q.c.asked_at, _Q.c.version, _Q.c.status, _Q.c.fence)
_SELECT_QUESTIONS = select(*_QUESTION_COLUMNS).where(_Q.c.id.in_(bindparam("ids", expanding=True)))
_SELECT_COMMANDS = select(_C.c.id, _C.c.fingerprint, _C.c.question_id).where(
    _C.c.id.in_(bindparam("ids", expanding=True))
)
_UPDATE_QUESTION = (
    update(_Q)
    .where(
        _Q.c.id == bindparam("key"),
        _Q.c.version == bindparam("before"),
        _Q.c.fence == bindparam("before_fence"),
    )
    .values(
        status=bindparam("status"),
        version=bindparam("version"),
        due_at=bindparam("due_at"),
        life=bindparam("life"),
        deadline_at=bindparam("deadline_at"),
        asked=bindparam("asked"),
        holding_slot=bindparam("holding_slot"),
        lease_until=0,
    )
)
_UPDATE_JOB = (
    update(_J)
    .where(
        _J.c.workspace_id == bindparam("key_workspace"),
        _J.c.id == bindparam("key_id"),
        _J.c.version == bindparam("before"),
    )
    .values(
        status=bindparam("status"),
        version=bindparam("version"),
        closing=bindparam("closing"),
        body=bindparam("body"),
    )
)
_INSERT_QUESTIONS, _INSERT_JOBS, _INSERT_EVENTS, _INSERT_COMMANDS, _INSERT_MESSAGES = (
    insert(table) for table in (tables.questions, tables.jobs, tables.events, tables.commands, tables.webhook_messages)
)
_SELECT_ENDPOINTS = select(tables.webhook_endpoints).where(
    tables.webhook_endpoints.c.owner.in_(bindparam("owners", expanding=True)),
    tables.webhook_endpoints.c.disabled_at.is_(None),
)
_DATABASE_NOW = select(literal_column("CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)", BigInteger))


def database_now(connection: Connection) -> datetime:
    """The database's clock. SQLite has none of its own: its clock is that of the machine it lives on."""
    clock: Callable[[], datetime] | None = connection.get_execution_options().get(CLOCK)
    if clock is not None:
        now = clock()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)
    return instant(connection.execute(_DATABASE_NOW).scalar_one())


class Batch:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._questions: dict[QuestionId, Question] = {}
        self._jobs: dict[JobKey, Job] = {}
        self._recorded: dict[str, Recorded] = {}
        self._fences: dict[QuestionId, int] = {}
        # the versions that were read; what is missing here did not exist
        self._question_versions: dict[QuestionId, int] = {}
        self._job_versions: dict[JobKey, int] = {}
        self._touched_questions: dict[QuestionId, None] = {}
        self._touched_jobs: dict[JobKey, None] = {}
        self._events: list[EventRow] = []
        self._commands: list[dict[str, object]] = []
        self._notices: dict[str, dict[str, object]] = {}
        self._told: list[tuple[Event, Question | None, int]] = []

    def run(self, entries: Sequence[Entry]) -> list[Verdict | Exception]:
        """Judge every entry and write what came of it. An entry that fails by itself does not fail the others."""
        self._load([entry.scope for entry in entries])
        now = database_now(self._connection)
        results = [self._one(entry, now) for entry in entries]
        self._flush(now)
        return results

    def _one(self, entry: Entry, now: datetime) -> Verdict | Exception:
        try:
            snapshot = self._snapshot(entry.scope, now)
            verdict = entry.work(snapshot)
        except Exception as failure:
            return failure
        change = verdict.change
        if change is not None:
            self._stage(change, now)
        # A refusal is not remembered: the same command may succeed later.
        if entry.scope.command is not None and isinstance(verdict.decision, Accepted) and change is not None:
            key, question = entry.scope.command, change.after.question
            question_id = question.id if question is not None else None
            self._recorded[key.id] = Recorded(key.fingerprint, question_id)
            self._commands.append(
                {
                    "id": key.id,
                    "fingerprint": key.fingerprint,
                    "question_id": question_id,
                    "at": millis(now),
                }
            )
        return verdict

    def _snapshot(self, scope: Scope, now: datetime) -> Snapshot:
        recorded = self._recorded.get(scope.command.id) if scope.command is not None else None
        question, job_key = None, scope.job
        if scope.question_id is not None:
            question = self._questions.get(scope.question_id)
            if scope.fence is not None and self._fences.get(scope.question_id) != scope.fence:
                raise StaleClaim(scope.question_id)
            if question is not None and question.spec.job_id is not None:
                job_key = JobKey(question.spec.workspace_id, question.spec.job_id)
        job = self._jobs.get(job_key) if job_key is not None else None
        return Snapshot(Case(question, job), now, recorded)

    def _load(self, scopes: Sequence[Scope]) -> None:
        question_ids = {scope.question_id for scope in scopes if scope.question_id is not None}
        job_keys = {scope.job for scope in scopes if scope.job is not None}
        command_ids = {scope.command.id for scope in scopes if scope.command is not None}
        if command_ids:
            for known in self._connection.execute(_SELECT_COMMANDS, {"ids": list(command_ids)}):
                self._recorded[known.id] = Recorded(known.fingerprint, known.question_id)
        if question_ids:
            for row in self._connection.execute(_SELECT_QUESTIONS, {"ids": list(question_ids)}):
                question = question_from(row)
                self._questions[question.id] = question
                self._question_versions[question.id] = question.version
                self._fences[question.id] = row.fence
                if question.spec.job_id is not None:
                    job_keys.add(JobKey(question.spec.workspace_id, question.spec.job_id))
        if job_keys:
            self._load_jobs(job_keys)

    def _load_jobs(self, keys: Iterable[JobKey]) -> None:
        by_workspace: dict[str, list[str]] = {}
        for key in keys:
            by_workspace.setdefault(key.workspace_id, []).append(key.job_id)
        named = or_(*(and_(_J.c.workspace_id == w, _J.c.id.in_(ids)) for w, ids in by_workspace.items()))
        for row in self._connection.execute(select(_J.c.body).where(named)):
            job = job_from(row)
            key = JobKey(job.workspace_id, job.id)
            self._jobs[key] = job
            self._job_versions[key] = job.version

    def _stage(self, change: Change, now: datetime) -> None:
        after = change.after
        sequence = change.before.question.version if change.before.question is not None else 0
        for event in change.events:
            if isinstance(event, (JobChanged, Progressed)):
                if is_told(event):
                    self._events.append(job_event_row(event))
                    self._told.append((event, None, event.after.version))
            elif after.question is not None:
                sequence += 1
                self._events.append(question_event_row(event, after.question, sequence))
                self._told.append((event, after.question, sequence))
        if after.question is not None and after.question is not change.before.question:
            self._questions[after.question.id] = after.question
            self._touched_questions[after.question.id] = None
        if after.job is not None and after.job is not change.before.job:
            key = JobKey(after.job.workspace_id, after.job.id)
            self._jobs[key] = after.job
            self._touched_jobs[key] = None
        if after.question is not None:
            for target in change.targets:
                name = notice_id(after.question.id, target)
                self._notices[name] = {
                    "id": name,
                    "question_id": after.question.id,
                    "surface": target.surface,
                    "address": target.address,
                    "wanted_version": after.question.version,
                    "ready_at": millis(now),
                    "attempt": 0,
                    "lease_until": 0,
                    "fence": 0,
                    "nudge": None,
                }
            for nudge in change.nudges:
                name = nudge_id(after.question.id, nudge)
                self._notices[name] = {
                    "id": name,
                    "question_id": after.question.id,
                    "surface": nudge.target.surface,
                    "address": nudge.target.address,
                    "wanted_version": after.question.version,
                    "ready_at": millis(now),
                    "attempt": 0,
                    "lease_until": 0,
                    "fence": 0,
                    "nudge": nudge.sentence,
                }

    def _flush(self, now: datetime) -> None:
        # One order for all batches, so that two of them never wait for each other in a circle.
        new_jobs = sorted(key for key in self._touched_jobs if key not in self._job_versions)
        old_jobs = sorted(key for key in self._touched_jobs if key in self._job_versions)
        new_questions = [qid for qid in self._touched_questions if qid not in self._question_versions]
        old_questions = sorted(qid for qid in self._touched_questions if qid in self._question_versions)
        execute = self._connection.execute
        if old_questions:
            rows = [
                life_row(self._questions[qid], self._question_versions[qid], self._fences[qid], self._slot(qid))
                for qid in old_questions
            ]
            self._expect(execute(_UPDATE_QUESTION, rows).rowcount, len(rows))
        if new_questions:
            execute(_INSERT_QUESTIONS, [question_row(self._questions[q], self._slot(q)) for q in new_questions])
        if old_jobs:
            updates = [
                {
                    **job_row(self._jobs[key]),
                    "key_workspace": key.workspace_id,
                    "key_id": key.job_id,
                    "before": self._job_versions[key],
                }
                for key in old_jobs
            ]
            self._expect(execute(_UPDATE_JOB, updates).rowcount, len(updates))
        if new_jobs:
            execute(_INSERT_JOBS, [job_row(self._jobs[key]) for key in new_jobs])
        if self._events:
            execute(_INSERT_EVENTS, self._events)
        if self._commands:
            execute(_INSERT_COMMANDS, self._commands)
        if self._told:
            self._queue_messages(now)
        if self._notices:
            execute(self._upsert_notices(), list(self._notices.values()))

    def _queue_messages(self, now: datetime) -> None:
        """What these events send goes on its way in their own transaction."""
        owners = {str(row["owner"]) for row in self._events}
        found = self._connection.execute(_SELECT_ENDPOINTS, {"owners": list(owners)})
        endpoints = [endpoint_from(row) for row in found]
        messages = [m for told in self._told for m in messages_for(*told, endpoints)]
        if messages:
            self._connection.execute(_INSERT_MESSAGES, [message_row(message, now) for message in messages])

    def _slot(self, question_id: QuestionId) -> int | None:
        question = self._questions[question_id]
        if not question.is_open or question.spec.job_id is None:
            return None
        job = self._jobs.get(JobKey(question.spec.workspace_id, question.spec.job_id))
        held = job.holding if job is not None else ()
        return next((entry.slot for entry in held if entry.question_id == question_id), None)

    def _upsert_notices(self) -> sqlite.Insert | postgresql.Insert:
        statement: sqlite.Insert | postgresql.Insert
        statement = sqlite.insert(_N) if self._connection.dialect.name == "sqlite" else postgresql.insert(_N)
        wanted = statement.excluded
        return statement.on_conflict_do_update(
            index_elements=[_N.c.id],
            set_={
                "wanted_version": func.max(_N.c.wanted_version, wanted.wanted_version)
                if self._connection.dialect.name == "sqlite"
                else func.greatest(_N.c.wanted_version, wanted.wanted_version),
                "ready_at": func.coalesce(_N.c.ready_at, wanted.ready_at),
            },
        )

    @staticmethod
    def _expect(written: int, wanted: int) -> None:
        if written != wanted:
            raise Conflict
