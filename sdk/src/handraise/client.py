"""The synchronous client: ask and wait for the answer, or make one call at a time."""

import os
import uuid
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar, Unpack
from urllib.parse import quote

import httpx2

from handraise.credentials import find_credentials
from handraise.drafts import Details, action_body, question_body
from handraise.errors import InvalidArgument, UnexpectedReply
from handraise.job import Job
from handraise.question import Question
from handraise.replies import Page, Recorded
from handraise.transport import Call, Transport, json_in
from handraise.waiting import Clock, Unmoved, Watcher, wait_until_settled
from handraise.wire import Json

PAGE_SIZE = 100
AT_ONCE = timedelta(0)
# What a long poll may take beyond its slice before the connection counts as dead.
_SLICE_GRACE = 15.0

T = TypeVar("T")


class Handraise:
    """A connection to one server with one key.

    Without arguments both come from HANDRAISE_URL and HANDRAISE_API_KEY, else from the credentials.json of a server
    started here.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        timeout: float = 30.0,
        max_retries: int = 4,
        http_client: httpx2.Client | None = None,
        clock: Clock | None = None,
    ) -> None:
        found = find_credentials(
            url=base_url, api_key=api_key, environment=os.environ, folder=Path.cwd(), home=Path.home()
        )
        self._clock = clock or Clock()
        self._transport = Transport(found.url, found.agent_key, http_client, self._clock.pause)
        self._timeout = timeout
        self._max_retries = max_retries

    @property
    def base_url(self) -> str:
        return self._transport.base_url

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._transport.close()

    def ask(
        self,
        text: str,
        *,
        job: str | None = None,
        wait: timedelta | None = None,
        idempotency_key: str | None = None,
        **details: Unpack[Details],
    ) -> Question:
        """Ask and wait until the question is settled, or as long as `wait` says.

        A non_blocking question is not waited for unless `wait` is given: its `value` is the default, and `is_default`
        says so.
        """
        question = self.create(question_body(text, details), job=job, idempotency_key=idempotency_key)
        if not question.is_open or wait == AT_ONCE or (wait is None and question.goes_on):
            return question
        return self.wait(question.id, limit=wait)

    def approve(
        self,
        text: str,
        *,
        tool: str | None = None,
        arguments: Mapping[str, object] | None = None,
        diff: str | None = None,
        risk: str | None = None,
        job: str | None = None,
        wait: timedelta | None = None,
        idempotency_key: str | None = None,
        **details: Unpack[Details],
    ) -> Question:
        """Ask for an approval and wait for it; `is_approved` of what comes back is the only yes."""
        action = action_body(tool=tool, arguments=arguments, diff=diff, risk=risk)
        details = {**details, "response_type": "approval"}
        if action is not None:
            details["action"] = action
        return self.ask(text, job=job, wait=wait, idempotency_key=idempotency_key, **details)

    def wait(self, question_id: str, *, limit: timedelta | None = None, watcher: Watcher | None = None) -> Question:
        """The question when it is settled, or as it stands when the limit is over. Outages of the server are sat out.

        Raises the last failure when the server stayed away to the end.
        """
        return wait_until_settled(
            lambda seconds: self._poll(question_id, seconds), watcher or Unmoved(), limit=limit, clock=self._clock
        )

    def create(self, body: Json, *, job: str | None = None, idempotency_key: str | None = None) -> Question:
        """Ask with a body of your own, and do not wait."""
        path = "/api/questions" if job is None else f"/api/jobs/{_segment(job)}/questions"
        return _question_in(self._once(path, body, idempotency_key))

    def get(self, question_id: str) -> Question:
        return Question.from_json(self._object(Call("GET", _question_path(question_id))))

    def answer(
        self,
        question_id: str,
        response: Json,
        *,
        late: bool = False,
        answered_by: str | None = None,
        idempotency_key: str | None = None,
    ) -> Recorded:
        """Answer as the person whose key this is; `answered_by` is a claim kept beside the answer."""
        body: Json = {"response": response}
        if late:
            body["late"] = True
        if answered_by is not None:
            body["answeredBy"] = answered_by
        return Recorded.from_json(self._once(f"{_question_path(question_id)}/answer", body, idempotency_key))

    def cancel(self, question_id: str, *, reason: str | None = None) -> Question:
        body: Json = {} if reason is None else {"reason": reason}
        return _question_in(self._object(Call("POST", f"{_question_path(question_id)}/cancel", body=body)))

    def comment(self, question_id: str, text: str, *, idempotency_key: str | None = None) -> Question:
        """Reply to somebody who asked back, or with a person's key ask back."""
        return _question_in(self._once(f"{_question_path(question_id)}/comments", {"text": text}, idempotency_key))

    def pending(self, *, limit: int = PAGE_SIZE) -> Page[Question]:
        """The open questions this key may see, oldest first."""
        return self._page("/api/questions/pending", "questions", Question.from_json, limit=limit)

    def job_questions(self, job: str, *, limit: int = PAGE_SIZE, status: str | None = None) -> Page[Question]:
        query = {} if status is None else {"status": status}
        path = f"/api/jobs/{_segment(job)}/questions"
        return self._page(path, "questions", Question.from_json, limit=limit, query=query)

    def job(self, job: str) -> Job:
        return Job.from_json(self._object(Call("GET", f"/api/jobs/{_segment(job)}")))

    def jobs(self, *, limit: int = PAGE_SIZE) -> Page[Job]:
        return self._page("/api/jobs", "jobs", Job.from_json, limit=limit)

    def readiness(self) -> tuple[bool, Json]:
        """Whether the server is ready, and what it says of its parts; "not ready" is an answer here, not a failure."""
        reply = self._transport.send(Call("GET", "/readyz"), timeout=self._timeout)
        content = json_in(reply)
        return reply.is_success, content if isinstance(content, dict) else {}

    def _poll(self, question_id: str, seconds: int) -> Question:
        """Tried once, because the wait itself tries again."""
        call = Call("GET", _question_path(question_id), query={"wait": str(seconds)})
        return Question.from_json(self._object(call, timeout=seconds + _SLICE_GRACE, max_retries=0))

    def _once(self, path: str, body: Json, idempotency_key: str | None) -> Json:
        """However often it must be sent, it takes effect once."""
        key = _header(idempotency_key or str(uuid.uuid4()))
        return self._object(Call("POST", path, body=body, headers={"Idempotency-Key": key}))

    def _object(self, call: Call, *, timeout: float | None = None, max_retries: int | None = None) -> Json:
        content = self._transport.call(
            call,
            timeout=self._timeout if timeout is None else timeout,
            max_retries=self._max_retries if max_retries is None else max_retries,
        )
        if not isinstance(content, dict):
            raise UnexpectedReply(f"{self.base_url} sent a list where an object belongs.")
        return content

    def _page(
        self,
        path: str,
        name: str,
        read: Callable[[object], T],
        *,
        limit: int,
        query: Mapping[str, str] | None = None,
    ) -> Page[T]:
        """The server's pages joined up to `limit`. One may be empty though more follow: rows a key may not see."""
        found: list[T] = []
        cursor: str | None = None
        while len(found) < limit:
            asked = {**(query or {}), "limit": str(min(PAGE_SIZE, limit - len(found)))}
            if cursor is not None:
                asked["cursor"] = cursor
            page = self._object(Call("GET", path, query=asked))
            rows, following = page.get(name), page.get("nextCursor")
            if not isinstance(rows, list):
                raise UnexpectedReply(f"{self.base_url} sent a list without {name}.")
            found.extend(map(read, rows))
            if not isinstance(following, str) or following == cursor:
                cursor = None
                break
            cursor = following
        return Page(tuple(found[:limit]), cursor)


def _question_in(reply: Json) -> Question:
    return Question.from_json(reply.get("question"))


def _question_path(question_id: str) -> str:
    return f"/api/questions/{_segment(question_id)}"


def _segment(name: str) -> str:
    """One piece of a path, which a name can neither leave nor end."""
    try:
        quoted = quote(name, safe="")
    except UnicodeEncodeError:
        quoted = ""
    if quoted in ("", ".", ".."):
        raise InvalidArgument(f"{name!r} cannot be the id of anything.")
    return quoted


def _header(value: str) -> str:
    if not value.isascii() or not value.isprintable():
        raise InvalidArgument(f"{value!r} cannot be an idempotency key: use printable ASCII.")
    return value
