"""A receiver of webhooks on this machine."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, HTTPServer


@dataclass
class Receiver:
    """A receiver that answers the next messages with these statuses, and then with success."""

    statuses: list[int] = field(default_factory=list)
    messages: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    def __post_init__(self) -> None:
        received = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                received.messages.append(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(received.statuses.pop(0) if received.statuses else 204)
                self.send_header("Location", "http://127.0.0.1:9/")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                return

        self._http = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}/hook?tenant=1"

    @contextmanager
    def running(self) -> Iterator["Receiver"]:
        thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._http.shutdown()
            thread.join()
            self._http.server_close()
