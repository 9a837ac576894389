"""The workspace as a server: people act in it, and the app talks to it over real sockets."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Self

import yaml
from aiohttp import web

from sandbox.acts import People
from sandbox.blocks import MESSAGE, problems_of
from sandbox.calls import Arguments, Method, SlackError, arguments_of, token_of
from sandbox.faults import Fault, Faults
from sandbox.interactions import ResponseUrls, Triggers
from sandbox.methods import Methods, named, refuse
from sandbox.wires import PATIENCE_SECONDS, HttpWire, SocketWire
from sandbox.world import Json, Message, Workspace


def manifest_from(path: Path) -> Json:
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


class Slack:
    """One workspace with the app of this manifest installed: its scopes, events and commands, and no others."""

    def __init__(self, manifest: Json, *, patience: float = PATIENCE_SECONDS, request_url: str | None = None) -> None:
        self.manifest = manifest
        self.bot_token, self.app_token = "xoxb-sandbox-" + secrets.token_hex(8), "xapp-sandbox-" + secrets.token_hex(8)
        self.signing_secret = secrets.token_hex(16)
        self.workspace, self.faults = Workspace(), Faults()
        self.triggers, self.urls = Triggers(), ResponseUrls()
        self.socket = SocketWire(patience)
        self.http = HttpWire(request_url, self.signing_secret, patience) if request_url is not None else None
        self.methods = Methods(self.workspace, self.triggers, self._posted)
        #: Every call that came in: the method and its arguments, refused ones too.
        self.calls: list[tuple[str, Json]] = []
        #: Tokens that Slack takes no more, with its word for why.
        self.dead_tokens: dict[str, str] = {}
        self.url = ""
        self._table = self.methods.table()
        self._runner: web.AppRunner | None = None
        self._changed = asyncio.Condition()
        self._background: set[asyncio.Task[object]] = set()
        self._people: People | None = None
        self.on_change: Callable[[], None] = lambda: None

    @property
    def api_url(self) -> str:
        return f"{self.url}/api/"

    @property
    def people(self) -> People:
        assert self._people is not None, "the workspace is not open"
        return self._people

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_route("*", "/api/{method}", self._call)
        app.router.add_get("/link", self.socket.handle)
        app.router.add_post("/response/{secret}", self._respond)
        return app

    async def start(self, port: int = 0, app: web.Application | None = None) -> None:
        self._runner = web.AppRunner(app if app is not None else self.app(), shutdown_timeout=1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", port)
        await site.start()
        host, bound = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{bound}"
        wire = self.http if self.http is not None else self.socket
        self._people = People(self.workspace, self.methods, wire, self.triggers, self.urls, self.manifest, self.url)

    async def stop(self) -> None:
        await self.people.stop()
        for task in list(self._background):
            task.cancel()
        await self.socket.drop()
        if self.http is not None:
            await self.http.close()
        if self._runner is not None:
            await self._runner.cleanup()

    def called(self, method: str) -> list[Json]:
        """The arguments of every call of this method."""
        return [arguments for name, arguments in self.calls if name == method]

    # --- the Web API

    async def _call(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["method"]
        arguments = await arguments_of(request)
        self.calls.append((name, dict(arguments.given)))
        fault = self.faults.take(name)
        if fault is not None:
            instead = await self.faults.before(fault, request)
            if instead is not None:
                return instead
        answer = await self._answered(name, arguments, token_of(request, arguments))
        if fault is not None:
            self.faults.after(fault, request)
        return web.json_response(answer)

    async def _answered(self, name: str, arguments: Arguments, token: str) -> Json:
        try:
            if name == "apps.connections.open":
                return self._open_connection(token)
            method = self._table.get(name)
            if method is None:
                raise SlackError("unknown_method", req_method=name)
            self._check(token, method)
            return {"ok": True, **await method.call(arguments)}
        except SlackError as error:
            return error.as_json()

    def _open_connection(self, token: str) -> Json:
        if token in self.dead_tokens:
            raise SlackError(self.dead_tokens[token])
        if token != self.app_token:
            raise SlackError("not_allowed_token_type" if token == self.bot_token else "invalid_auth")
        if not self.manifest["settings"].get("socket_mode_enabled"):
            raise SlackError("socket_mode_disabled")
        return {"ok": True, "url": f"{self.url.replace('http', 'ws', 1)}/link?ticket={self.socket.ticket()}&app_id=A0"}

    def _check(self, token: str, method: Method) -> None:
        if token in self.dead_tokens:
            raise SlackError(self.dead_tokens[token])
        if not token:
            raise SlackError("not_authed")
        if token != self.bot_token:
            raise SlackError("invalid_auth")
        granted = self.manifest["oauth_config"]["scopes"]["bot"]
        if method.scopes and not set(method.scopes) & set(granted):
            raise SlackError("missing_scope", needed=",".join(method.scopes), provided=",".join(granted))

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        """What an app posts to the address that came with a click or a command."""
        body = await request.json()
        try:
            url = self.urls.use(request.match_info["secret"])
            channel = self.workspace.channels[url.channel]
            before = channel.messages.get(url.message_ts) if url.message_ts is not None else None
            if body.get("delete_original") and before is not None:
                del channel.messages[before.ts]
            elif body.get("replace_original") and before is not None:
                refuse(problems_of(body.get("blocks") or [], MESSAGE))
                before.text, before.blocks = str(body.get("text", "")), named(body.get("blocks") or [])
            else:
                self.people.show(channel, url.user, body)
        except SlackError as error:
            return web.json_response(error.as_json(), status=404 if error.code.endswith("url") else 400)
        await self._tell()
        return web.Response(text="ok")

    # --- waiting for what happens

    def _posted(self, message: Message, is_new: bool) -> None:
        self._later(self._tell())
        channel = self.workspace.channels[message.channel]
        if is_new and message.ephemeral_to is None:
            self._later(self.people.announce(channel, message, None))

    def _later(self, work: Coroutine[object, object, object]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()
        self.on_change()

    async def until(self, holds: Callable[[], object], seconds: float = 20.0) -> None:
        """Wait until it holds; checked after every call and change."""
        async with asyncio.timeout(seconds):
            while not holds():
                async with self._changed:
                    try:
                        await asyncio.wait_for(self._changed.wait(), 0.02)
                    except TimeoutError:
                        continue

    def fail_next(self, method: str, fault: Fault | str, *, times: int = 1) -> None:
        self.faults.next(method, Fault(error=fault) if isinstance(fault, str) else fault, times=times)
