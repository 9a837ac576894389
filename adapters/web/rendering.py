"""Templates and what they write: agents' text is data, so everything is escaped and hidden characters are shown."""

import hashlib
import json
import secrets
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from adapters.web.diffs import diff_lines
from adapters.web.trees import tree_of
from core.phrasing import span
from core.safetext import one_line, visible

_HERE = Path(__file__).parent
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
_YEAR = "public, max-age=31536000, immutable"


def page_headers() -> dict[str, str]:
    policy = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        "connect-src": "'self'",
        "manifest-src": "'self'",
        "worker-src": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        # Not no-referrer: with that, browsers call the origin of our own forms null.
        "Referrer-Policy": "same-origin",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


class Static:
    """Scripts and styles, read once. Their addresses change with what is in them, so browsers keep them for long."""

    def __init__(self) -> None:
        self._files = {path.name: path.read_bytes() for path in sorted((_HERE / "static").iterdir()) if path.is_file()}
        # One stamp for all of them, so that scripts find each other beside themselves.
        self._stamp = hashlib.sha256(b"".join(self._files.values())).hexdigest()[:12]

    def address(self, name: str) -> str:
        if name not in self._files:
            raise LookupError(f"there is no static file {name}")
        return f"/static/{self._stamp}/{name}"

    def routes(self) -> list[Route]:
        async def versioned(request: Any) -> Response:
            name = request.path_params["name"]
            known = self._stamp == request.path_params["stamp"]
            return self._response(name, _YEAR if known else "no-cache")

        async def worker(_: Any) -> Response:
            return self._response("worker.js", "no-cache")

        # A worker rules over the folder it lies in, so this one lies at the top, under a name that stays.
        return [Route("/static/{stamp}/{name}", versioned), Route("/worker.js", worker)]

    def _response(self, name: str, keep: str) -> Response:
        body = self._files.get(name)
        if body is None:
            return Response("There is no such file.", 404, media_type="text/plain")
        kind = _TYPES.get(Path(name).suffix, "application/octet-stream")
        return Response(body, headers={"Cache-Control": keep, "X-Content-Type-Options": "nosniff"}, media_type=kind)


class Renderer:
    def __init__(self, static: Static) -> None:
        self._templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"),
            autoescape=select_autoescape(default=True),
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
        )
        self._templates.filters |= {
            "visible": visible,
            "one_line": one_line,
            "pretty": pretty,
            "tree": tree_of,
            "diff": lambda text: list(diff_lines(text)),
            "when": when,
            "iso": iso,
            "span": span,
        }
        self._templates.globals |= {"asset": static.address, "new_operation": new_operation}

    def text(self, template: str, **values: Any) -> str:
        return self._templates.get_template(template).render(values)

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        return HTMLResponse(self.text(template, **values), status, page_headers())


def new_operation() -> str:
    """Names one sending of a form, so that sending it twice does it once."""
    return secrets.token_urlsafe(12)


def pretty(value: object) -> str:
    return visible(json.dumps(value, indent=2, ensure_ascii=False))


def iso(instant: datetime) -> str:
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def when(instant: datetime) -> Markup:
    """An instant that the browser shows in its own time zone; without a script it is told in UTC."""
    told = instant.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return Markup('<time datetime="{}" data-when>{}</time>').format(escape(iso(instant)), told)


def time_left(deadline: datetime, now: datetime) -> str:
    left = deadline - now
    return f"{span(timedelta(seconds=round(left.total_seconds())))} left" if left.total_seconds() > 0 else "time is up"
