"""The store in memory. Nothing in `transact` awaits, so each call is one step by itself."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from adapters.memory.database import Lease, MemoryDatabase, Wanted
from core.deadlines import next_due
from core.decisions import Accepted, Case
from core.events import EVENT_NAMES, Event, JobChanged, Progressed, is_told
from core.ids import QuestionId
from core.ports import (
    Change,
    Claim,
    JobKey,
    Recorded,
    Scope,
    Snapshot,
    StaleClaim,
    StoredEvent,
    Verdict,
    Work,
    notice_id,
    nudge_id,
)
from core.question import Question
from core.webhooks import messages_for


class MemoryStore:
    def __init__(self, database: MemoryDatabase) -> None:
        self._database = database

    async def transact(self, scope: Scope, work: Work) -> Verdict:
        now = self._database.now()
        verdict = work(self._snapshot(scope, now))
        change = verdict.change
        if change is not None:
            self._keep(change, now)
            if scope.command is not None and isinstance(verdict.decision, Accepted):
                question = change.after.question
                recorded = Recorded(scope.command.fingerprint, question.id if question is not None else None)
                self._database.commands[scope.command.id] = (recorded, now)
        return verdict

    def _snapshot(self, scope: Scope, now: datetime) -> Snapshot:
        database, job_key, question = self._database, scope.job, None
        recorded, _ = database.commands.get(scope.command.id, (None, None)) if scope.command else (None, None)
        if scope.question_id is not None:
            question = database.questions.get(scope.question_id)
            if scope.fence is not None and self._lease(scope.question_id).fence != scope.fence:
                raise StaleClaim(scope.question_id)
            if question is not None and question.spec.job_id is not None:
                job_key = JobKey(question.spec.workspace_id, question.spec.job_id)
        job = database.jobs.get(job_key) if job_key is not None else None
        return Snapshot(Case(question, job), now, recorded)

    def _lease(self, question_id: QuestionId) -> Lease:
        return self._database.leases.setdefault(question_id, Lease())

    def _keep(self, change: Change, now: datetime) -> None:
        database, question, job = self._database, change.after.question, change.after.job
        sequence = change.before.question.version if change.before.question is not None else 0
        for event in change.events:
            position, name = len(database.events) + 1, EVENT_NAMES[type(event)]
            if isinstance(event, JobChanged | Progressed):
                if is_told(event):
                    after = event.after
                    self._post(event, None, after.version)
                    database.events.append(StoredEvent(position, after.version, name, event, job_id=after.id))
            elif question is not None:
                sequence += 1
                self._post(event, question, sequence)
                database.events.append(StoredEvent(position, sequence, name, event, question.id, question.spec.job_id))
        if question is not None and question is not change.before.question:
            database.questions[question.id] = question
            self._lease(question.id).until = None
        if job is not None:
            database.jobs[JobKey(job.workspace_id, job.id)] = job
        if question is not None:
            for target in change.targets:
                fresh = Wanted(question.id, target, question.version, now)
                wanted = database.notices.setdefault(notice_id(question.id, target), fresh)
                wanted.version = max(wanted.version, question.version)
                wanted.ready_at = wanted.ready_at or now
            for nudge in change.nudges:
                fresh = Wanted(question.id, nudge.target, question.version, now, nudge=nudge.sentence)
                database.notices.setdefault(nudge_id(question.id, nudge), fresh)

    def _post(self, event: Event, question: Question | None, sequence: int) -> None:
        for message in messages_for(event, question, sequence, list(self._database.endpoints.values())):
            self._database.post(message)

    async def claim_due(self, *, limit: int, lease: timedelta) -> Sequence[Claim]:
        now = self._database.now()
        due = sorted((at, question_id) for at, question_id in self._due() if at <= now)
        free = [question_id for _, question_id in due if self._lease(question_id).is_free(now)]
        claims = []
        for question_id in free[:limit]:
            taken = self._lease(question_id)
            taken.until, taken.fence = now + lease, taken.fence + 1
            claims.append(Claim(question_id, taken.fence))
        return claims

    def _due(self) -> list[tuple[datetime, QuestionId]]:
        found = ((next_due(question), question.id) for question in self._database.questions.values())
        return [(at, question_id) for at, question_id in found if at is not None]

    async def next_due(self) -> datetime | None:
        leases = ((at, self._lease(question_id).until) for at, question_id in self._due())
        return min((max(at, until) if until is not None else at for at, until in leases), default=None)

    async def replan(self, question: Question) -> None:
        return  # here what is due is always read off the questions themselves

    async def now(self) -> datetime:
        return self._database.now()

    async def forget_commands(self, *, before: datetime) -> int:
        old = [name for name, (_, at) in self._database.commands.items() if at < before]
        for name in old:
            del self._database.commands[name]
        return len(old)
