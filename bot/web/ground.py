"""What every page stands on: who looks, what they may see, rendering, and reading forms safely."""

import functools
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from adapters.web.posted import Posted
from adapters.web.rendering import Renderer, page_headers
from adapters.web.sheets import Sheet, sheet_for
from bot.api.common import question_name
from bot.api.problems import Problem
from bot.api.reading import read_body
from bot.api.services import Services
from bot.web.visitors import Visitor, Visitors
from core.browsing import Browser
from core.ids import CommandId, WorkspaceId
from core.ports import CommandKey, EventLog, StoreUnavailable
from core.question import Question
from core.registry import Directory
from core.visibility import sees

#: Our scripts send this with every call; other sites cannot without asking us first.
SCRIPT_HEADER = "x-handraise"

Endpoint = Callable[[Request], Awaitable[Response]]
Handler = Callable[[Request, Visitor], Awaitable[Response]]


@dataclass(frozen=True)
class Site:
    """What the pages are made of, built once by the wiring."""

    services: Services
    visitors: Visitors
    renderer: Renderer
    browser: Browser
    log: EventLog
    directory: Directory
    workspace_id: WorkspaceId
    #: The shell command of the client, as it is typed here.
    command: str
    #: How people reach this server.
    base_url: str


class NotShown(Exception):
    """There is no such thing, or this person may not see it; the difference is nobody's business."""


class Refusal(Exception):
    """A request that changes something and did not pass; the sentence says why."""

    def __init__(self, sentence: str, status: int = 403) -> None:
        super().__init__(sentence)
        self.sentence, self.status = sentence, status


class Pages:
    """The ground under every group of pages."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.services = site.services
        self.engine = site.services.engine
        self.reader = site.services.reader

    def page(self, visitor: Visitor | None, template: str, status: int = 200, **values: Any) -> Response:
        return self.site.renderer.page(template, status, **self._common(visitor), **values)

    def fragment(self, visitor: Visitor, template: str, **values: Any) -> Response:
        text = self.site.renderer.text(template, **self._common(visitor), **values)
        return Response(text, media_type="text/html", headers=page_headers())

    def _common(self, visitor: Visitor | None) -> dict[str, Any]:
        return {"visitor": visitor, "now": datetime.now(UTC), "command": self.site.command}

    async def sheet(self, visitor: Visitor, question: Question) -> Sheet:
        roster = await self.services.household.roster()
        return sheet_for(question, visitor.actor, roster, await self.services.now())

    async def shown_question(self, visitor: Visitor, raw_id: str) -> Question:
        """The question, if this person may see it. Raises NotShown."""
        try:
            question = await self.reader.question(question_name(raw_id))
        except Problem:
            raise NotShown from None
        if question is None or not await self.sees(visitor, question):
            raise NotShown
        return question

    async def sees(self, visitor: Visitor, question: Question) -> bool:
        if question.spec.workspace_id != self.site.workspace_id:
            return False
        return sees(visitor.person, question, await self.services.household.roster(), datetime.now(UTC))

    def reading(self, handler: Handler) -> Endpoint:
        """A page for whoever is signed in. It changes nothing."""

        @functools.wraps(handler)
        @outages_said
        async def answer(request: Request) -> Response:
            visitor = await self.site.visitors.of(request)
            if visitor is None:
                return self.signed_out(request)
            try:
                visitor = replace(visitor, position=await self.services.hub.newest())
                return await handler(request, visitor)
            except NotShown:
                return self.page(visitor, "missing.html", 404)
            except Refusal as refusal:
                return self._said(request, visitor, refusal.status, refusal.sentence)
            except Problem as problem:
                return self._said(request, visitor, problem.status, problem.detail)

        return answer

    def changing(self, handler: Callable[[Request, Visitor, Posted], Awaitable[Response]]) -> Endpoint:
        """A form that was sent: by one of our own pages, with the token of this very session."""

        @functools.wraps(handler)
        @outages_said
        async def answer(request: Request) -> Response:
            visitor = await self.site.visitors.of(request)
            if visitor is None:
                return self.signed_out(request)
            try:
                posted = await self.form(request)
                if not self.site.visitors.has_token(request, posted.text("token")):
                    return self._stale(request, visitor)
                return await handler(request, visitor, posted)
            except NotShown:
                return self._said(request, visitor, 404, "There is no such thing, or you may not see it.")
            except Refusal as refusal:
                return self._said(request, visitor, refusal.status, refusal.sentence)
            except Problem as problem:
                return self._said(request, visitor, problem.status, problem.detail)

        return answer

    async def form(self, request: Request) -> Posted:
        if not self.site.visitors.is_ours(request):
            raise Refusal("This was not sent by a page of handraise, so nothing was done.")
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/x-www-form-urlencoded":
            raise Refusal("Forms are sent as application/x-www-form-urlencoded.", 415)
        try:
            return Posted.from_body(await read_body(request))
        except ValueError as failure:
            raise Refusal(f"This form cannot be read: {failure}", 400) from None

    def signed_out(self, request: Request) -> Response:
        if by_script(request):
            return said(401, "signed_out", "You are signed out. Sign in again; what you typed is still here.")
        if request.method not in ("GET", "HEAD"):
            sentence = "You are signed out, so nothing was done. Sign in and do it once more."
            return self.page(None, "refused.html", 401, sentence=sentence)
        # As it was sent: decoded, a ? or a % of a job's name would mean something else.
        path = request.scope["raw_path"].decode("latin-1")
        wanted = path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/login?next={quote(wanted, safe='')}", 303, page_headers())

    def _stale(self, request: Request, visitor: Visitor) -> Response:
        """A page of ours from an earlier session. Its script may go on with today's token if the person is the same;
        nobody else can read this, and what came from elsewhere was refused before."""
        sentence = "This form is too old or not ours. Load the page again and send it once more."
        if by_script(request):
            return said(403, "stale", sentence, me=visitor.person.id, token=visitor.token)
        return self._said(request, visitor, 403, sentence)

    def _said(self, request: Request, visitor: Visitor, status: int, sentence: str) -> Response:
        if by_script(request):
            return said(status, "refused", sentence)
        return self.page(visitor, "refused.html", status, sentence=sentence)


def outages_said(endpoint: Endpoint) -> Endpoint:
    """Without a database there is no telling who looks, so this page knows nobody."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except StoreUnavailable:
            sentence = "The database is not available right now. Try again soon; sending a form twice counts once."
            if by_script(request):
                return said(503, "unavailable", sentence)
            return Response(sentence, 503, page_headers() | {"Retry-After": "5"}, "text/plain")

    return answer


def by_script(request: Request) -> bool:
    return SCRIPT_HEADER in request.headers


def said(status: int, state: str, sentence: str, **more: object) -> Response:
    """What a script hears: a stable word and a sentence for the person."""
    body = to_json({"state": state, "sentence": sentence, **more})
    return Response(body, status, page_headers(), "application/json")


def see(path: str) -> Response:
    return RedirectResponse(path, 303, page_headers())


def need_sure(posted: Posted) -> None:
    """For what cannot be taken back."""
    if posted.text("sure") != "yes":
        raise Refusal("Tick the box to say that you are sure.", 422)


def form_key(visitor: Visitor, verb: str, subject: str, posted: Posted) -> CommandKey | None:
    """The durable name of what a form wants, so that sending it twice does it once."""
    operation = posted.text("operation")
    if not operation or len(operation) > 100 or not operation.isascii() or not operation.isprintable():
        return None
    told = to_json([verb, subject, posted.as_json(without=("token", "operation"))])
    return CommandKey(CommandId(f"web:{visitor.actor.principal}:{verb}:{operation}"), hashlib.sha256(told).hexdigest())


def query(request: Request, names: Mapping[str, int]) -> dict[str, str]:
    """These parameters of the address, each cut to a sensible length, without hidden characters."""
    given = {name: request.query_params.get(name, "")[:longest].replace("\x00", "") for name, longest in names.items()}
    return {name: value.strip() for name, value in given.items()}
