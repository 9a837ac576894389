"""The asynchronous client: the twin of `Handraise` for programs with an event loop; its methods mean the same."""

import functools
import inspect
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
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
from handraise.errors import HandraiseError, InvalidArgument
from handraise.event import Event
from handraise.following import QUIET_LIMIT, Following
from handraise.guarding import Guard, GuardedCall, qualified_name
from handraise.job import Job
from handraise.messages import Reply
from handraise.paging import PAGE_SIZE, Paging
from handraise.question import Question
from handraise.replies import Page, Recorded
from handraise.steps import Steps, run_async
from handraise.transport import AsyncTransport
from handraise.waiting import AsyncClock, Unmoved, Watcher
from handraise.wire import Json

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class AsyncCarryOut(Protocol):
    def __call__(self, steps: Steps[T]) -> Awaitable[T]: ...


class AsyncHandraise:
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
        http_client: httpx2.AsyncClient | None = None,
        agent: str | None = None,
        clock: AsyncClock | None = None,
    ) -> None:
        found = find_credentials(
            url=base_url, api_key=api_key, environment=os.environ, folder=Path.cwd(), home=Path.home()
        )
        self._clock = clock or AsyncClock()
        self._transport = AsyncTransport(found.url, found.agent_key, http_client)
        self._calls = Calls(
            self._transport.base_url, timeout=timeout, max_retries=max_retries, agent=agent, clock=self._clock
        )
        self.webhooks = AsyncWebhooks(self._calls, self._carry_out)

    @property
    def base_url(self) -> str:
        return self._transport.base_url

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._transport.close()

    async def ask(
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
        return answer_in(await self._carry_out(asking))

    async def approve(
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
        return Decision(await self._carry_out(asking))

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
            if not inspect.iscoroutinefunction(function):
                raise InvalidArgument(
                    f"{qualified_name(function)} is no coroutine function and cannot wait for people in an event loop: "
                    "make it `async def`, or use the requires_approval of Handraise."
                )
            guard = Guard(function, tool=tool, when=when, describe=describe, editable=editable, details=details)

            @functools.wraps(function)
            async def call_if_approved(*args: Any, **kwargs: Any) -> Any:
                request = guard.request(args, kwargs)
                if request is not None:
                    args, kwargs = request.allowed(await self._decision_on(request, job))
                return await function(*args, **kwargs)

            return cast(F, call_if_approved)

        return guarded

    async def wait(
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
        return answer_in(await self._carry_out(waiting))

    async def create(self, body: Json, *, job: str | None = None, idempotency_key: str | None = None) -> Question:
        """Ask with a body of your own, and do not wait."""
        return await self._carry_out(self._calls.create(body, job=job, idempotency_key=idempotency_key))

    async def get(self, question_id: str, *, wait: Wait = None) -> Question:
        """The question as it is now, or with `wait` as soon as it is settled or the wait is over."""
        return await self._carry_out(self._calls.get(question_id, wait=wait))

    async def answer(
        self,
        question_id: str,
        response: Json,
        *,
        late: bool = False,
        answered_by: str | None = None,
        idempotency_key: str | None = None,
    ) -> Recorded:
        """Answer as the person whose key this is; `answered_by` is a claim kept beside the answer."""
        return await self._carry_out(
            self._calls.answer(
                question_id, response, late=late, answered_by=answered_by, idempotency_key=idempotency_key
            )
        )

    async def cancel(self, question_id: str, *, reason: str | None = None) -> Question:
        return await self._carry_out(self._calls.cancel(question_id, reason=reason))

    async def comment(self, question_id: str, text: str, *, idempotency_key: str | None = None) -> Question:
        """Reply to somebody who asked back, or with a person's key ask back."""
        return await self._carry_out(self._calls.comment(question_id, text, idempotency_key=idempotency_key))

    def list(
        self, *, job: str | None = None, status: str | None = None, limit: int | None = None
    ) -> AsyncGenerator[Question, None]:
        """The questions of a job, or without one the open ones this key may see, oldest first, read as you go."""
        return self._each(questions_in(job, status=status, limit=limit))

    async def pending(self, *, limit: int = PAGE_SIZE) -> Page[Question]:
        """The open questions this key may see, oldest first."""
        return await self._carry_out(self._calls.page(questions_in(None, status=None, limit=limit)))

    async def job_questions(self, job: str, *, limit: int = PAGE_SIZE, status: str | None = None) -> Page[Question]:
        return await self._carry_out(self._calls.page(questions_in(job, status=status, limit=limit)))

    async def job(self, job: str) -> Job:
        return await self._carry_out(self._calls.job(job))

    async def jobs(self, *, limit: int = PAGE_SIZE) -> Page[Job]:
        return await self._carry_out(self._calls.page(jobs_in(limit=limit)))

    async def progress(self, job: str, text: str) -> Job:
        """Say how far the job has come."""
        return await self._carry_out(self._calls.progress(job, text))

    def events(
        self, *, after: int | str | None = None, job: str | None = None, watcher: Watcher | None = None
    ) -> AsyncGenerator[Event, None]:
        """What happens, as it happens, from now on or behind the event with the id `after`; it never ends by itself.

        Breaks are mended without losing or repeating an event. An event of type `resync` says that the server could
        not go on from there: what happened in between is to be read anew.
        """
        following = Following(events_path(job), after=after, clock=self._clock, watcher=watcher or Unmoved())
        return self._follow(following)

    async def readiness(self) -> tuple[bool, Json]:
        """Whether the server is ready, and what it says of its parts; "not ready" is an answer here, not a failure."""
        reply = await self.look("/readyz")
        return reply.is_success, reply.json if isinstance(reply.json, dict) else {}

    async def look(self, path: str) -> Reply:
        """What the server answers there, whatever it is."""
        return await self._carry_out(self._calls.plain(path))

    async def _carry_out(self, steps: Steps[T]) -> T:
        return await run_async(steps, self._transport.send, self._clock.pause)

    async def _each(self, paging: Paging[T]) -> AsyncGenerator[T, None]:
        while not paging.is_over:
            for each in await self._carry_out(self._calls.next_rows(paging)):
                yield each

    async def _follow(self, following: Following) -> AsyncGenerator[Event, None]:
        while True:
            try:
                async with self._transport.stream(following.connection(), QUIET_LIMIT) as chunks:
                    if chunks is None:
                        return
                    async for chunk in chunks:
                        for event in following.read(chunk):
                            yield event
                failure: HandraiseError = following.broken_off()
            except HandraiseError as broken:
                failure = broken
            await self._clock.pause(following.pause_after(failure))

    async def _decision_on(self, request: GuardedCall, job: str | None) -> Decision:
        asking = self._calls.ask(
            request.text, request.details, job=job, wait=UNTIL_SETTLED, on_timeout="return", idempotency_key=None
        )
        return Decision(await self._carry_out(asking))


class AsyncWebhooks:
    """The addresses that the server sends this key's events to."""

    def __init__(self, calls: Calls, carry_out: AsyncCarryOut) -> None:
        self._calls = calls
        self._carry_out = carry_out

    async def create(self, url: str, *, events: Sequence[str] = EVERY_QUESTION_EVENT) -> WebhookEndpoint:
        """The new endpoint with its `secret`, which is shown this once."""
        return await self._carry_out(self._calls.create_webhook(url, events))

    async def list(self) -> tuple[WebhookEndpoint, ...]:
        return await self._carry_out(self._calls.list_webhooks())

    async def delete(self, webhook_id: str) -> None:
        await self._carry_out(self._calls.delete_webhook(webhook_id))

    async def test(self, webhook_id: str) -> Json:
        """Have a message sent there now."""
        return await self._carry_out(self._calls.test_webhook(webhook_id))

    async def rotate(self, webhook_id: str) -> WebhookEndpoint:
        """A new secret; for a while messages carry the signatures of both."""
        return await self._carry_out(self._calls.rotate_webhook(webhook_id))
