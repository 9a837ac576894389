"""The blocking client: ask and wait for the answer, or make one call at a time."""

import functools
import inspect
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar, Unpack, cast

import httpx2

from handraise.answer import Answer, Decision, answer_in
from handraise.calls import UNTIL_SETTLED, Calls, OnTimeout, Wait, events_path, jobs_in, questions_in
from handraise.credentials import find_credentials
from handraise.drafts import Details, approval_details
from handraise.durations import Duration
from handraise.endpoint import EVERY_QUESTION_EVENT, WebhookEndpoint
from handraise.errors import HandraiseError
from handraise.event import Event
from handraise.following import QUIET_LIMIT, Following
from handraise.guarding import Guard, GuardedCall
from handraise.job import Job
from handraise.messages import Reply
from handraise.paging import PAGE_SIZE, Paging
from handraise.question import Question
from handraise.replies import Page, Recorded
from handraise.steps import Steps, run
from handraise.threads import in_thread
from handraise.transport import Transport
from handraise.waiting import Clock, Unmoved, Watcher
from handraise.wire import Json

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class CarryOut(Protocol):
    def __call__(self, steps: Steps[T]) -> T: ...


class Handraise:
    """A connection to one server with one key.

    Without arguments both come from HANDRAISE_URL and HANDRAISE_API_KEY, else from the credentials.json of a server
    started here. `agent` is the name its questions carry.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        timeout: float = 30.0,
        max_retries: int = 4,
        http_client: httpx2.Client | None = None,
        agent: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        found = find_credentials(
            url=base_url, api_key=api_key, environment=os.environ, folder=Path.cwd(), home=Path.home()
        )
        self._clock = clock or Clock()
        self._transport = Transport(found.url, found.agent_key, http_client)
        self._calls = Calls(
            self._transport.base_url, timeout=timeout, max_retries=max_retries, agent=agent, clock=self._clock
        )
        self.webhooks = Webhooks(self._calls, self._carry_out)

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
        wait: Wait = UNTIL_SETTLED,
        on_timeout: OnTimeout = "return",
        idempotency_key: str | None = None,
        **details: Unpack[Details],
    ) -> Answer:
        """Ask and wait until the question is settled, or as long as `wait` says: "10m", seconds, a timedelta.

        With `wait=None` it is not waited for at all. A wait that runs out gives the open question's answer, or with
        `on_timeout="raise"` raises StillOpen. A non_blocking question is not waited for unless `wait` says so: its
        `value` is the default, and `is_default` says that.
        """
        asking = self._calls.ask(
            text, details, job=job, wait=wait, on_timeout=on_timeout, idempotency_key=idempotency_key
        )
        return answer_in(self._carry_out(asking))

    def approve(
        self,
        text: str,
        *,
        tool: str | None = None,
        arguments: Mapping[str, object] | None = None,
        diff: str | None = None,
        risk: str | None = None,
        editable: bool = False,
        job: str | None = None,
        wait: Wait = UNTIL_SETTLED,
        on_timeout: OnTimeout = "return",
        idempotency_key: str | None = None,
        **details: Unpack[Details],
    ) -> Decision:
        """Ask for an approval and wait for it; `approved` of what comes back is the only yes."""
        asked = approval_details(details, tool=tool, arguments=arguments, diff=diff, risk=risk, editable=editable)
        asking = self._calls.ask(
            text, asked, job=job, wait=wait, on_timeout=on_timeout, idempotency_key=idempotency_key
        )
        return Decision(self._carry_out(asking))

    def requires_approval(
        self,
        *,
        when: Callable[..., bool] | None = None,
        describe: Callable[..., str] | str | None = None,
        tool: str | None = None,
        editable: bool = True,
        job: str | None = None,
        **details: Unpack[Details],
    ) -> Callable[[F], F]:
        """Make a function ask for an approval of each call, with its arguments, before it does anything.

        Where a person changed the arguments, it is called with those. Without an approval it is not called, and
        NotApproved is raised. `when` gets the arguments and says whether to ask at all; `describe` words the question.
        """

        def guarded(function: F) -> F:
            guard = Guard(function, tool=tool, when=when, describe=describe, editable=editable, details=details)
            if inspect.iscoroutinefunction(function):
                return cast(F, self._guarded_coroutine(function, guard, job))

            @functools.wraps(function)
            def call_if_approved(*args: Any, **kwargs: Any) -> Any:
                request = guard.request(args, kwargs)
                if request is not None:
                    args, kwargs = request.allowed(self._decision_on(request, job))
                return function(*args, **kwargs)

            return cast(F, call_if_approved)

        return guarded

    def wait(
        self,
        question_id: str,
        *,
        limit: Duration | None = None,
        on_timeout: OnTimeout = "return",
        watcher: Watcher | None = None,
    ) -> Answer:
        """The answer when the question is settled, or as it stands when the limit is over.

        Outages of the server are sat out. Raises the last failure when it stayed away to the end.
        """
        waiting = self._calls.wait(question_id, limit=limit, watcher=watcher, on_timeout=on_timeout)
        return answer_in(self._carry_out(waiting))

    def create(self, body: Json, *, job: str | None = None, idempotency_key: str | None = None) -> Question:
        """Ask with a body of your own, and do not wait."""
        return self._carry_out(self._calls.create(body, job=job, idempotency_key=idempotency_key))

    def get(self, question_id: str, *, wait: Wait = None) -> Question:
        """The question as it is now, or with `wait` as soon as it is settled or the wait is over."""
        return self._carry_out(self._calls.get(question_id, wait=wait))

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
        return self._carry_out(
            self._calls.answer(
                question_id, response, late=late, answered_by=answered_by, idempotency_key=idempotency_key
            )
        )

    def cancel(self, question_id: str, *, reason: str | None = None) -> Question:
        return self._carry_out(self._calls.cancel(question_id, reason=reason))

    def comment(self, question_id: str, text: str, *, idempotency_key: str | None = None) -> Question:
        """Reply to somebody who asked back, or with a person's key ask back."""
        return self._carry_out(self._calls.comment(question_id, text, idempotency_key=idempotency_key))

    def list(
        self, *, job: str | None = None, status: str | None = None, limit: int | None = None
    ) -> Generator[Question, None, None]:
        """The questions of a job, or without one the open ones this key may see, oldest first, read as you go."""
        return self._each(questions_in(job, status=status, limit=limit))

    def pending(self, *, limit: int = PAGE_SIZE) -> Page[Question]:
        """The open questions this key may see, oldest first."""
        return self._carry_out(self._calls.page(questions_in(None, status=None, limit=limit)))

    def job_questions(self, job: str, *, limit: int = PAGE_SIZE, status: str | None = None) -> Page[Question]:
        return self._carry_out(self._calls.page(questions_in(job, status=status, limit=limit)))

    def job(self, job: str) -> Job:
        return self._carry_out(self._calls.job(job))

    def jobs(self, *, limit: int = PAGE_SIZE) -> Page[Job]:
        return self._carry_out(self._calls.page(jobs_in(limit=limit)))

    def progress(self, job: str, text: str) -> Job:
        """Say how far the job has come."""
        return self._carry_out(self._calls.progress(job, text))

    def events(
        self, *, after: int | str | None = None, job: str | None = None, watcher: Watcher | None = None
    ) -> Generator[Event, None, None]:
        """What happens, as it happens, from now on or behind the event with the id `after`; it never ends by itself.

        Breaks are mended without losing or repeating an event. An event of type `resync` says that the server could
        not go on from there: what happened in between is to be read anew.
        """
        following = Following(events_path(job), after=after, clock=self._clock, watcher=watcher or Unmoved())
        return self._follow(following)

    def readiness(self) -> tuple[bool, Json]:
        """Whether the server is ready, and what it says of its parts; "not ready" is an answer here, not a failure."""
        reply = self.look("/readyz")
        return reply.is_success, reply.json if isinstance(reply.json, dict) else {}

    def look(self, path: str) -> Reply:
        """What the server answers there, whatever it is."""
        return self._carry_out(self._calls.plain(path))

    def _carry_out(self, steps: Steps[T]) -> T:
        return run(steps, self._transport.send, self._clock.pause)

    def _each(self, paging: Paging[T]) -> Generator[T, None, None]:
        while not paging.is_over:
            yield from self._carry_out(self._calls.next_rows(paging))

    def _follow(self, following: Following) -> Generator[Event, None, None]:
        while True:
            try:
                with self._transport.stream(following.connection(), QUIET_LIMIT) as chunks:
                    if chunks is None:
                        return
                    for chunk in chunks:
                        yield from following.read(chunk)
                failure: HandraiseError = following.broken_off()
            except HandraiseError as broken:
                failure = broken
            self._clock.pause(following.pause_after(failure))

    def _decision_on(self, request: GuardedCall, job: str | None) -> Decision:
        asking = self._calls.ask(
            request.text, request.details, job=job, wait=UNTIL_SETTLED, on_timeout="return", idempotency_key=None
        )
        return Decision(self._carry_out(asking))

    def _guarded_coroutine(self, function: Callable[..., Any], guard: Guard, job: str | None) -> Callable[..., Any]:
        @functools.wraps(function)
        async def call_if_approved(*args: Any, **kwargs: Any) -> Any:
            request = guard.request(args, kwargs)
            if request is not None:
                # The event loop goes on meanwhile.
                decision = await in_thread(functools.partial(self._decision_on, request, job))
                args, kwargs = request.allowed(decision)
            return await function(*args, **kwargs)

        return call_if_approved


class Webhooks:
    """The addresses that the server sends this key's events to."""

    def __init__(self, calls: Calls, carry_out: CarryOut) -> None:
        self._calls = calls
        self._carry_out = carry_out

    def create(self, url: str, *, events: Sequence[str] = EVERY_QUESTION_EVENT) -> WebhookEndpoint:
        """The new endpoint with its `secret`, which is shown this once."""
        return self._carry_out(self._calls.create_webhook(url, events))

    def list(self) -> tuple[WebhookEndpoint, ...]:
        return self._carry_out(self._calls.list_webhooks())

    def delete(self, webhook_id: str) -> None:
        self._carry_out(self._calls.delete_webhook(webhook_id))

    def test(self, webhook_id: str) -> Json:
        """Have a message sent there now."""
        return self._carry_out(self._calls.test_webhook(webhook_id))

    def rotate(self, webhook_id: str) -> WebhookEndpoint:
        """A new secret; for a while messages carry the signatures of both."""
        return self._carry_out(self._calls.rotate_webhook(webhook_id))
