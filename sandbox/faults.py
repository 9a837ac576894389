"""What goes wrong on demand: the next calls of a method fail, are slow or are told to come back later."""

import asyncio
from collections import defaultdict, deque
from dataclasses import dataclass

from aiohttp import web

from sandbox.calls import SlackError


@dataclass(frozen=True)
class Fault:
    """Exactly one kind of trouble; `seconds` delays the answer, whatever it is."""

    error: str = ""
    status: int = 0
    retry_after: int = 0
    seconds: float = 0.0
    #: The connection breaks; with `done` after the call took effect, so that nobody can tell.
    breaks: bool = False
    done: bool = False


class Faults:
    def __init__(self) -> None:
        self._next: dict[str, deque[Fault]] = defaultdict(deque)
        self._always: dict[str, Fault] = {}

    def next(self, method: str, fault: Fault, *, times: int = 1) -> None:
        self._next[method].extend([fault] * times)

    def always(self, method: str, fault: Fault | None) -> None:
        if fault is None:
            self._always.pop(method, None)
        else:
            self._always[method] = fault

    def take(self, method: str) -> Fault | None:
        queued = self._next[method] or self._next["*"]
        if queued:
            return queued.popleft()
        return self._always.get(method) or self._always.get("*")

    @staticmethod
    async def before(fault: Fault, request: web.Request) -> web.Response | None:
        """What is answered instead of doing anything."""
        if fault.seconds:
            await asyncio.sleep(fault.seconds)
        if fault.breaks and not fault.done:
            _hang_up(request)
        if fault.retry_after:
            headers = {"Retry-After": str(fault.retry_after)}
            return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers=headers)
        if fault.status:
            return web.Response(status=fault.status, text="upstream trouble")
        if fault.error:
            return web.json_response(SlackError(fault.error).as_json())
        return None

    @staticmethod
    def after(fault: Fault, request: web.Request) -> None:
        if fault.breaks and fault.done:
            _hang_up(request)


def _hang_up(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
