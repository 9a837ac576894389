"""Two plain pages: what is open, and one question with how to answer it from the shell.

They show questions to whoever sits at this machine and to nobody else: there is no login yet, so a request counts
only when it comes from this machine, names this machine and passed no proxy.
"""

import ipaddress
import json
from datetime import datetime
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, select_autoescape
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

from adapters.web.reference import body_rows
from core.answers import FormShape
from core.ids import JsonValue, QuestionId, WorkspaceId
from core.phrasing import moment, shell_word, span
from core.ports import QuestionFilter, Reader, Store
from core.prompt import prompt_for
from core.question import Question, Status
from core.safetext import one_line, visible

_HERE = Path(__file__).parent
_MOST_SHOWN = 100
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_LOCAL_NAMES = {"localhost", "127.0.0.1", "[::1]"}
_PROXY_HEADERS = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


class Pages:
    def __init__(
        self, reader: Reader, store: Store, workspace_id: WorkspaceId, command: str, *, behind_proxy: bool = False
    ) -> None:
        self._reader = reader
        self._store = store
        self._workspace_id = workspace_id
        self._command = command
        self._behind_proxy = behind_proxy
        self._templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=select_autoescape(default=True),
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters |= {"visible": visible, "one_line": one_line, "pretty": _pretty}

    def routes(self) -> list[Route]:
        return [
            Route("/", self._home),
            Route("/q/{id}", self._question),
            Route("/docs", self._docs),
            Route("/static/handraise.css", self._style),
        ]

    async def _home(self, request: Request) -> Response:
        if self._behind_proxy or not _is_local(request):
            return self._page("elsewhere.html", 403)
        where = QuestionFilter(self._workspace_id, Status.OPEN)
        questions = await self._reader.questions(where, limit=_MOST_SHOWN)
        now = await self._store.now()
        rows = [(prompt_for(question), _time_left(question, now)) for question in questions]
        count = await self._reader.count_open(self._workspace_id)
        return self._page("home.html", rows=rows, count=count, command=self._command)

    async def _question(self, request: Request) -> Response:
        if self._behind_proxy or not _is_local(request):
            return self._page("elsewhere.html", 403)
        question = await self._reader.question(QuestionId(request.path_params["id"].replace("\x00", "")))
        if question is None or question.spec.workspace_id != self._workspace_id:
            return self._page("missing.html", 404)
        now = await self._store.now()
        return self._page(
            "question.html",
            prompt=prompt_for(question),
            left=_time_left(question, now),
            answers=self._shell_answers(question),
        )

    async def _docs(self, request: Request) -> Response:
        document = request.app.openapi()
        return self._page("docs.html", document=document, bodies=body_rows(document))

    async def _style(self, _: Request) -> Response:
        return FileResponse(_HERE / "static" / "handraise.css", media_type="text/css")

    def _page(self, template: str, status: int = 200, **values: object) -> Response:
        return HTMLResponse(self._templates.get_template(template).render(values), status, _HEADERS)

    def _shell_answers(self, question: Question) -> list[tuple[str, str]]:
        """What to paste into a shell, one line for each way to answer."""
        if not question.is_open:
            return []
        prompt = prompt_for(question)
        base = f"{self._command} answer {question.id}"
        match question.spec.shape.type:
            case "approval":
                return [("approve", f"{base} approve"), ("reject", f'{base} reject --reason "why"')]
            case "boolean":
                return [("yes", f"{base} yes"), ("no", f"{base} no")]
            case "choice":
                return [(choice.label, f"{base} {shell_word(choice.label)}") for choice in prompt.choices]
            case "multi_choice":
                return [("several", f"{base} {shell_word(json.dumps([c.label for c in prompt.choices[:2]]))}")]
            case "number":
                return [("a number", f"{base} 42")]
            case "form":
                return [("the form", f"{base} {shell_word(_example_form(question))}")]
            case _:
                return [("your answer", f'{base} "your answer"')]


def _example_form(question: Question) -> str:
    fields = question.spec.shape.schema.get("properties") if isinstance(question.spec.shape, FormShape) else None
    return json.dumps({name: "…" for name in fields} if isinstance(fields, dict) else {}, ensure_ascii=False)


def _time_left(question: Question, now: datetime) -> str:
    if question.pause is not None:
        return "clock paused"
    if not question.is_open or question.deadline is None:
        return ""
    left = question.deadline - now
    return f"{span(left)} left, until {moment(question.deadline)}" if left.total_seconds() > 0 else "time is up"


def _pretty(value: JsonValue) -> str:
    return visible(json.dumps(value, indent=2, ensure_ascii=False))


def _is_local(request: Request) -> bool:
    client = request.client.host if request.client is not None else ""
    try:
        from_here = ipaddress.ip_address(client).is_loopback
    except ValueError:
        return False
    host = request.headers.get("host", "")
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    # Browsers speak HTTP/1.1; a proxy with its defaults speaks 1.0 and adds no header at all.
    by_browser = request.scope.get("http_version") != "1.0"
    proxied = any(header in request.headers for header in _PROXY_HEADERS)
    return from_here and by_browser and name in _LOCAL_NAMES and not proxied
