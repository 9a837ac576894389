"""The page that shows a newcomer what colleagues would see: channels, threads, buttons that work, modals."""

import asyncio
import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from aiohttp import web
from markupsafe import Markup

from sandbox.acts import NotThere, Seen
from sandbox.render import Painter
from sandbox.slack import Slack
from sandbox.world import BOT_USER, Channel, ChannelKind, Json, Message, User, View

_HERE = Path(__file__).parent / "page"
_TYPES = {".css": "text/css", ".js": "text/javascript", ".html": "text/html"}


class Page:
    def __init__(self, slack: Slack) -> None:
        self._slack, self._workspace = slack, slack.workspace
        self._painter = Painter(slack.workspace)
        self._watchers: set[asyncio.Queue[None]] = set()
        slack.on_change = self._changed

    def add_to(self, app: web.Application) -> None:
        app.router.add_get("/", self._file)
        for name in ("page.css", "page.js"):
            app.router.add_get(f"/{name}", self._file)
        app.router.add_get("/screen", self._screen)
        app.router.add_get("/changes", self._changes)
        app.router.add_post("/act/{what}", self._act)

    def _changed(self) -> None:
        for queue in self._watchers:
            if queue.empty():
                queue.put_nowait(None)

    async def _file(self, request: web.Request) -> web.Response:
        path = _HERE / (request.path.strip("/") or "page.html")
        return web.Response(text=path.read_text(encoding="utf-8"), content_type=_TYPES[path.suffix])

    async def _changes(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
        await response.prepare(request)
        queue: asyncio.Queue[None] = asyncio.Queue()
        self._watchers.add(queue)
        try:
            while True:
                await queue.get()
                await response.write(b"data: changed\n\n")
        except ConnectionError:
            return response
        finally:
            self._watchers.discard(queue)

    # --- who looks where

    def _me(self, request: web.Request) -> User:
        people = self._people()
        return self._workspace.users.get(request.query.get("as", ""), people[0])

    def _people(self) -> list[User]:
        return [user for user in self._workspace.users.values() if user.id != BOT_USER and not user.deleted]

    def _channel(self, request: web.Request, me: User) -> Channel:
        mine = self._channels(me)
        wanted = request.query.get("in", "")
        return next((channel for channel in mine if channel.id == wanted), mine[0])

    def _channels(self, me: User) -> list[Channel]:
        return [channel for channel in self._workspace.channels.values() if me.id in channel.members]

    async def _screen(self, request: web.Request) -> web.Response:
        me = self._me(request)
        channel, thread = self._channel(request, me), request.query.get("thread")
        is_home = request.query.get("tab") == "home"
        panes = self._home(me) if is_home else self._conversation(channel, me)
        if thread is not None and thread in channel.messages and not is_home:
            panes += self._thread(channel, thread, me)
        told = Markup('<div class="app{}">{}{}{}</div>').format(
            " threaded" if thread is not None and not is_home else "",
            self._side(me, channel, is_home),
            panes,
            self._modal(me),
        )
        return web.Response(text=str(told), content_type="text/html")

    def _side(self, me: User, channel: Channel, is_home: bool) -> Markup:
        rows = Markup("<h2>Channels</h2>")
        for each in self._channels(me):
            name = "handraise" if each.kind is ChannelKind.DIRECT else f"# {each.name}"
            is_here = each is channel and not is_home
            rows += _link(name, is_here, {"in": each.id, "thread": None, "tab": None})
        rows += Markup("<h2>Apps</h2>") + _link("handraise · Home", is_home, {"tab": "home", "thread": None})
        rows += Markup("<h2>You are</h2>")
        for user in self._people():
            rows += _link(user.real_name, user is me, {"as": user.id, "thread": None})
        return Markup('<nav class="side"><h1>Sandbox</h1>{}</nav>').format(rows)

    def _conversation(self, channel: Channel, me: User) -> Markup:
        shown = [
            message
            for message in channel.messages.values()
            if message.ephemeral_to in (None, me.id) and message.thread_ts in (None, message.ts)
        ]
        name = "handraise" if channel.kind is ChannelKind.DIRECT else f"# {channel.name}"
        rows = Markup("").join(self._message(channel, message, me) for message in shown)
        return Markup(
            '<section class="pane"><header>{}</header><div class="messages">{}</div>'
            '<div class="composer"><textarea id="say" data-say="" rows="1" aria-label="Message" '
            'placeholder="Message {}, or /handraise help"></textarea></div></section>'
        ).format(name, rows, name)

    def _thread(self, channel: Channel, ts: str, me: User) -> Markup:
        shown = [
            message
            for message in channel.messages.values()
            if ts in (message.ts, message.thread_ts) and message.ephemeral_to in (None, me.id)
        ]
        rows = Markup("").join(self._message(channel, message, me, in_thread=True) for message in shown)
        return Markup(
            '<section class="pane"><header>Thread {}</header><div class="messages">{}</div><div class="composer">'
            '<textarea id="reply" data-say="{}" rows="1" placeholder="Reply…" aria-label="Reply"></textarea></div>'
            "</section>"
        ).format(
            Markup('<button data-go="{}" aria-label="Close">×</button>').format(json.dumps({"thread": None})), rows, ts
        )

    def _message(self, channel: Channel, message: Message, me: User, *, in_thread: bool = False) -> Markup:
        author = self._workspace.users[message.user]
        where = f"{channel.id}:{message.ts}"
        body = self._painter.blocks(message.blocks, where) if message.blocks else self._painter.text(message.text)
        replies = [m for m in channel.thread(message.ts) if m.ts != message.ts]
        more = Markup("")
        if not in_thread and message.ephemeral_to is None:
            label = f"{len(replies)} repl{'y' if len(replies) == 1 else 'ies'}" if replies else "Reply in thread"
            go = json.dumps({"thread": message.ts, "in": channel.id})
            more = Markup('<button class="threads" data-go="{}">{}</button>').format(go, label)
        alone = Markup('<div class="only">Only visible to you</div>') if message.ephemeral_to else Markup("")
        at = datetime.fromtimestamp(float(message.ts), UTC).strftime("%H:%M")
        return Markup(
            '<div class="message{}" data-ts="{}"><div class="face{}">{}</div><div>{}<span class="by">{}</span>{}'
            '<span class="at">{}</span>{}{}</div></div>'
        ).format(
            " alone" if message.ephemeral_to else "",
            message.ts,
            " app-face" if author.is_bot else "",
            "✋" if author.is_bot else author.real_name[:1],
            alone,
            author.real_name,
            Markup('<span class="tag">APP</span>') if author.is_bot else "",
            at,
            body,
            more,
        )

    def _home(self, me: User) -> Markup:
        view = self._workspace.homes.get(me.id)
        body = self._painter.blocks(view.body["blocks"], f"home:{me.id}") if view is not None else Markup("…")
        return Markup('<section class="pane"><header>handraise</header><div class="home">{}</div></section>').format(
            body
        )

    def _modal(self, me: User) -> Markup:
        stack = self._workspace.stacks.get(me.id) or []
        if not stack:
            return Markup("")
        view = self._workspace.views[stack[-1]]
        body = view.body
        submit = body.get("submit", {}).get("text", "")
        button = Markup('<button class="primary">{}</button>').format(submit) if submit else Markup("")
        return Markup(
            '<div class="veil"><div class="modal" role="dialog" data-hash="{}"><header>{}</header><form><div>{}</div>'
            '<footer><button type="button" data-close="1">{}</button>{}</footer></form></div></div>'
        ).format(
            view.id + view.hash,
            body["title"]["text"],
            self._painter.blocks(body["blocks"], f"view:{view.id}"),
            body.get("close", {}).get("text", "Close"),
            button,
        )

    # --- what they do

    async def _act(self, request: web.Request) -> web.Response:
        me = self._me(request)
        body: Json = json.loads(await request.text())
        try:
            seen = await self._done(request.match_info["what"], me, self._channel(request, me), body)
        except NotThere as problem:
            return web.json_response({"acknowledged": True, "problem": str(problem)})
        self._changed()
        return web.json_response(asdict(seen))

    async def _done(self, what: str, me: User, channel: Channel, body: Json) -> Seen:
        people = self._slack.people
        match what:
            case "press":
                return await people.press(self._held(body["where"]), body["label"], me)
            case "select":
                return await people.select(self._held(body["where"]), body["label"], *body["values"], by=me)
            case "submit":
                return await people.submit(me, body)
            case "close":
                await people.close(me)
            case "home":
                return await people.open_home(me)
            case "say" if body["text"].startswith("/") and not body["thread"]:
                return await people.command(body["text"], me, channel)
            case "say":
                await people.say(channel, body["text"], me, thread=body["thread"])
            case _:
                raise NotThere(f"nobody can {what}")
        return Seen(True)

    def _held(self, where: str) -> Message | View:
        kind, _, rest = where.partition(":")
        if kind == "home":
            return self._workspace.homes[rest]
        if kind == "view":
            return self._workspace.views[rest]
        found = self._workspace.message(kind, rest)
        if found is None:
            raise NotThere("this message is gone")
        return found


def _link(name: str, is_here: bool, go: Json) -> Markup:
    current = Markup(' aria-current="true"') if is_here else Markup("")
    return Markup('<button data-go="{}"{}>{}</button>').format(json.dumps(go), current, name)
