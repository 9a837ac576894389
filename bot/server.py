"""The HTTP server process: bind, say when it is ready, stop cleanly on a signal."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn
from starlette.types import ASGIApp

#: Long-polling agents keep a connection and come back on it; proxies in between give up after about a minute.
_KEEP_ALIVE_SECONDS = 75
_GRACE_SECONDS = 10


class CannotListen(Exception):
    """The address is taken or not ours."""


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, bound before anything else is done, so that a taken port is said at once."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as failure:
        raise CannotListen(f"{host} is not an address of this machine: {failure.strerror}.") from None
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
        listener.listen(2048)
    except OSError as failure:
        listener.close()
        raise CannotListen(
            f"Cannot listen on {host}:{port}: {failure.strerror}. Is it running already? Choose another with --port."
        ) from None
    return listener


def url_of(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Server(uvicorn.Server):
    """uvicorn with our own beginning and end."""

    def __init__(self, app: ASGIApp, on_ready: Callable[[], None], on_stop: Callable[[], None]) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http="httptools",
                ws="websockets-sansio",
                ws_max_size=64 * 1024,
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,  # who sits at this machine is told by the connection, not by a header
                timeout_keep_alive=_KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        self._on_ready = on_ready
        self._on_stop = on_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A signal ends the process with 0 once everything under way is finished; a second one does not wait."""
        loop = asyncio.get_running_loop()
        wanted = (signal.SIGTERM, signal.SIGINT)
        for number in wanted:
            loop.add_signal_handler(number, self._stop)
        try:
            yield
        finally:
            for number in wanted:
                loop.remove_signal_handler(number)

    def _stop(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True
        self._on_stop()
