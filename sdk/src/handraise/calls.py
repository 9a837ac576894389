"""Everything the clients can do, as steps: which requests, in which order, and what their replies become."""

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, Literal, TypeAlias, TypeVar

from handraise.answer import StillOpen
from handraise.drafts import Details, question_body
from handraise.durations import Duration, duration_of
from handraise.endpoint import WebhookEndpoint
from handraise.errors import HandraiseError, InvalidArgument, PassingFailure, UnexpectedReply, Unreachable
from handraise.job import Job
from handraise.messages import Call, Reply, content_of
from handraise.paging import Paging
from handraise.paths import idempotency_header, job_path, question_path, webhook_path
from handraise.question import Question
from handraise.replies import Page, Recorded
from handraise.retry import is_worth_repeating, pause_before
from handraise.steps import Pause, Steps, sent
from handraise.waiting import SLICE, WATCHED_SLICE, Ticking, Unmoved, Watcher, wait_until_settled
from handraise.wire import Json

# What `wait` may be: a duration, None for not at all, or this for as long as it takes.
UNTIL_SETTLED: Final = "until settled"
Wait: TypeAlias = Duration | None
OnTimeout: TypeAlias = Literal["return", "raise"]

# Both vocabularies: the words on the wire, and the same states as people and seed 3 call them. None is all of them.
WIRE_STATUSES: dict[str, str | None] = {
    "pending": "pending",
    "open": "pending",
    "answered": "answered",
    "timeout": "timeout",
    "expired": "timeout",
    "cancelled": "cancelled",
    "withdrawn": "cancelled",
    "all": None,
}

_AT_ONCE = timedelta(0)
# What a long poll may take beyond its slice before the connection counts as dead.
_SLICE_GRACE = 15.0
_WEBHOOKS = "/api/webhooks"

T = TypeVar("T")


class Calls:
    """The calls to one server; whoever has the steps carries them out."""

    def __init__(self, base_url: str, *, timeout: float, max_retries: int, agent: str | None, clock: Ticking) -> None:
        self._base_url = base_url
        self._timeout = timeout
        self._max_retries = max_retries
        self._agent = agent
        self._clock = clock

    def ask(
        self,
        text: str,
        details: Details,
        *,
        job: str | None,
        wait: Wait,
        on_timeout: OnTimeout,
        idempotency_key: str | None,
    ) -> Steps[Question]:
        # All of it is checked first: a mistake here must not leave a question behind that nobody waits for.
        limit = limit_in(wait)
        _refuse_unknown_word(on_timeout)
        if self._agent is not None and "agent" not in details:
            details = {**details, "agent": self._agent}
        question = yield from self.create(question_body(text, details), job=job, idempotency_key=idempotency_key)
        if not question.is_open or limit == _AT_ONCE or (limit is None and question.goes_on):
            return question
        return (yield from self.wait(question.id, limit=limit, watcher=None, on_timeout=on_timeout))

    def wait(
        self, question_id: str, *, limit: Duration | None, watcher: Watcher | None, on_timeout: OnTimeout
    ) -> Steps[Question]:
        _refuse_unknown_word(on_timeout)
        question = yield from wait_until_settled(
            lambda seconds: self._poll(question_id, seconds),
            watcher or Unmoved(),
            limit=None if limit is None else _duration(limit),
            longest_poll=SLICE if watcher is None else WATCHED_SLICE,
            clock=self._clock,
        )
        if question.is_open and on_timeout == "raise":
            raise StillOpen(question)
        return question

    def get(self, question_id: str, *, wait: Wait) -> Steps[Question]:
        limit = limit_in(wait)
        if limit == _AT_ONCE:
            return Question.from_json((yield from self.object(Call("GET", question_path(question_id)))))
        return (yield from self.wait(question_id, limit=limit, watcher=None, on_timeout="return"))

    def create(self, body: Json, *, job: str | None, idempotency_key: str | None) -> Steps[Question]:
        path = "/api/questions" if job is None else f"{job_path(job)}/questions"
        return _question_in((yield from self._once(path, body, idempotency_key)))

    def answer(
        self,
        question_id: str,
        response: Json,
        *,
        late: bool,
        answered_by: str | None,
        idempotency_key: str | None,
    ) -> Steps[Recorded]:
        body: Json = {"response": response}
        if late:
            body["late"] = True
        if answered_by is not None:
            body["answeredBy"] = answered_by
        path = f"{question_path(question_id)}/answer"
        return Recorded.from_json((yield from self._once(path, body, idempotency_key)))

    def cancel(self, question_id: str, *, reason: str | None) -> Steps[Question]:
        body: Json = {} if reason is None else {"reason": reason}
        call = Call("POST", f"{question_path(question_id)}/cancel", body=body)
        return _question_in((yield from self.object(call)))

    def comment(self, question_id: str, text: str, *, idempotency_key: str | None) -> Steps[Question]:
        path = f"{question_path(question_id)}/comments"
        return _question_in((yield from self._once(path, {"text": text}, idempotency_key)))

    def job(self, job: str) -> Steps[Job]:
        return Job.from_json((yield from self.object(Call("GET", job_path(job)))))

    def progress(self, job: str, text: str) -> Steps[Job]:
        return Job.from_json((yield from self._once(f"{job_path(job)}/progress", {"text": text}, None)))

    def create_webhook(self, url: str, events: Sequence[str]) -> Steps[WebhookEndpoint]:
        body: Json = {"url": url, "events": list(events)}
        return WebhookEndpoint.from_json((yield from self._unrepeated(_WEBHOOKS, body)))

    def list_webhooks(self) -> Steps[tuple[WebhookEndpoint, ...]]:
        page = yield from self.page(Paging(_WEBHOOKS, "webhooks", WebhookEndpoint.from_json, limit=None))
        return page.items

    def delete_webhook(self, webhook_id: str) -> Steps[None]:
        yield from self._content(Call("DELETE", webhook_path(webhook_id)))

    def test_webhook(self, webhook_id: str) -> Steps[Json]:
        return (yield from self._unrepeated(f"{webhook_path(webhook_id)}/test", {}))

    def rotate_webhook(self, webhook_id: str) -> Steps[WebhookEndpoint]:
        return WebhookEndpoint.from_json((yield from self._unrepeated(f"{webhook_path(webhook_id)}/rotate", {})))

    def plain(self, path: str) -> Steps[Reply]:
        """What the server says there, whatever it says."""
        return (yield from sent(Call("GET", path), self._timeout))

    def page(self, paging: Paging[T]) -> Steps[Page[T]]:
        """The pages of a list joined, up to its limit."""
        found: list[T] = []
        while not paging.is_over:
            found.extend((yield from self.next_rows(paging)))
        return Page(tuple(found), paging.cursor)

    def next_rows(self, paging: Paging[T]) -> Steps[tuple[T, ...]]:
        return paging.take((yield from self.object(paging.next_call())))

    def object(self, call: Call, *, timeout: float | None = None, max_retries: int | None = None) -> Steps[Json]:
        content = yield from self._content(call, timeout=timeout, max_retries=max_retries)
        if not isinstance(content, dict):
            raise UnexpectedReply(f"{self._base_url} sent a list where an object belongs.")
        return content

    def _poll(self, question_id: str, seconds: int) -> Steps[Question]:
        """Tried once, because the wait itself tries again."""
        call = Call("GET", question_path(question_id), query={"wait": str(seconds)})
        return Question.from_json((yield from self.object(call, timeout=seconds + _SLICE_GRACE, max_retries=0)))

    def _once(self, path: str, body: Json, idempotency_key: str | None) -> Steps[Json]:
        """However often it must be sent, it takes effect once."""
        key = idempotency_header(idempotency_key or str(uuid.uuid4()))
        return (yield from self.object(Call("POST", path, body=body, headers={"Idempotency-Key": key})))

    def _unrepeated(self, path: str, body: Json) -> Steps[Json]:
        """Never repeated unasked: a second endpoint or secret that nobody knows of would come of it."""
        return (yield from self.object(Call("POST", path, body=body), max_retries=0))

    def _content(
        self, call: Call, *, timeout: float | None = None, max_retries: int | None = None
    ) -> Steps[Any]:  # Any, because it is whatever JSON the server sent
        """The reply's JSON; a failure is raised once trying again is of no use."""
        most = self._max_retries if max_retries is None else max_retries
        failures = 0
        may_have_arrived = False
        while True:
            try:
                reply = yield from sent(call, self._timeout if timeout is None else timeout)
                return content_of(reply, self._base_url)
            except HandraiseError as failure:
                failures += 1
                if isinstance(failure, Unreachable | PassingFailure):
                    may_have_arrived = failure.may_have_arrived = may_have_arrived or failure.may_have_arrived
                if failures > most or not is_worth_repeating(failure):
                    raise
                yield Pause(pause_before(failures, failure, self._clock.jitter))


def questions_in(job: str | None, *, status: str | None, limit: int | None) -> Paging[Question]:
    """The questions of a job, or without one the open ones: all that the server lists."""
    if status is not None and status not in WIRE_STATUSES:
        raise InvalidArgument(f"{status!r} is not a status: use open, answered, expired, withdrawn or all.")
    wanted = None if status is None else WIRE_STATUSES[status]
    if job is not None:
        query = {} if wanted is None else {"status": wanted}
        return Paging(f"{job_path(job)}/questions", "questions", Question.from_json, limit=limit, query=query)
    if status is not None and wanted != "pending":
        raise InvalidArgument(f"Questions that are {status} are listed by job: name the job.")
    return Paging("/api/questions/pending", "questions", Question.from_json, limit=limit)


def jobs_in(*, limit: int | None) -> Paging[Job]:
    return Paging("/api/jobs", "jobs", Job.from_json, limit=limit)


def events_path(job: str | None) -> str:
    return "/api/events" if job is None else f"{job_path(job)}/events"


def limit_in(wait: Wait) -> timedelta | None:
    """How long to wait: None until the question is settled, zero not at all."""
    if wait is None:
        return _AT_ONCE
    return None if wait == UNTIL_SETTLED else _duration(wait)


def _refuse_unknown_word(on_timeout: OnTimeout) -> None:
    if on_timeout not in ("return", "raise"):
        raise InvalidArgument(f'on_timeout is "return" or "raise", not {on_timeout!r}.')


def _duration(given: Duration) -> timedelta:
    try:
        return duration_of(given)
    except ValueError as failure:
        raise InvalidArgument(str(failure)) from None


def _question_in(reply: Json) -> Question:
    return Question.from_json(reply.get("question"))
