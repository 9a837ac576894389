"""Somebody else's web site: another origin, with whatever pages an attack needs."""

import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import NamedTuple, Self

#: To a browser `localhost` is another site than 127.0.0.1, so SameSite cookies stay behind; another port of 127.0.0.1
#: is another origin of the same site, and they travel along.
CROSS_SITE = "localhost"
SAME_SITE = "127.0.0.1"
_ASKED_BY_THE_BROWSER_ITSELF = "/favicon.ico"


class Received(NamedTuple):
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class _Page(NamedTuple):
    body: bytes
    headers: Mapping[str, str]


class Attacker:
    """Serves what `page` was given; `received` is what reached it, stolen things included."""

    def __init__(self, host: str = CROSS_SITE) -> None:
        self.received: list[Received] = []
        self._pages: dict[str, _Page] = {}
        address = "127.0.0.1" if host == "localhost" else host
        self._server = ThreadingHTTPServer((address, 0), _handler(self._pages, self.received))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self.url = f"http://{host}:{self._server.server_port}"

    def page(self, html: str, headers: Mapping[str, str] | None = None) -> str:
        """The address of a new page. Any method gets it, and any origin may read it."""
        path = f"/page/{len(self._pages) + 1}"
        self._pages[path] = _Page(html.encode(), {"Content-Type": "text/html; charset=utf-8"} | dict(headers or {}))
        return self.url + path

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _handler(pages: Mapping[str, _Page], received: list[Received]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 30  # a browser opens connections in advance, which would otherwise be waited for

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path == _ASKED_BY_THE_BROWSER_ITSELF:
                self._reply(204, _Page(b"", {}))
                return
            received.append(Received(self.command, self.path, dict(self.headers), body))
            page = pages.get(self.path.partition("?")[0])
            if page is None:
                self._reply(204, _Page(b"", {}))
            else:
                self._reply(200, page)

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_HEAD = _serve  # noqa: N815

        def _reply(self, status: int, page: _Page) -> None:
            self.send_response(status)
            for name, value in ({"Access-Control-Allow-Origin": "*"} | dict(page.headers)).items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", str(len(page.body)))
            self.end_headers()
            self.wfile.write(page.body)

        def log_message(self, format: str, *args: object) -> None:
            """Tests ask `received` instead."""

    return Handler
