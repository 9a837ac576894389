"""The Web API methods an app like ours uses, as Slack's reference and its errors describe them."""

import secrets
import time
from collections.abc import Callable

from sandbox.blocks import HOME, MESSAGE, MODAL, Problem, problems_of, view_problems
from sandbox.calls import Arguments, Method, SlackError
from sandbox.interactions import Triggers
from sandbox.world import APP, BOT, BOT_USER, TEAM, Channel, Json, Message, View, Workspace

#: Slack cuts at 40,000 and recommends this; we refuse what is longer, so that nothing is ever cut.
MOST_TEXT = 4_000
_MOST_VIEWS = 3
_MOST_METADATA = 8_000
_PAGE = 100


class Methods:
    """`posted` is called with every message that comes into being or changes."""

    def __init__(self, workspace: Workspace, triggers: Triggers, posted: Callable[[Message, bool], None]) -> None:
        self._workspace, self._triggers, self._posted = workspace, triggers, posted

    def table(self) -> dict[str, Method]:
        history = ("channels:history", "groups:history", "im:history", "mpim:history")
        reading = ("channels:read", "groups:read", "im:read", "mpim:read")
        return {
            "auth.test": Method(self.auth_test),
            "bots.info": Method(self.bots_info, ("users:read",)),
            "chat.postMessage": Method(self.post, ("chat:write",)),
            "chat.update": Method(self.update, ("chat:write",)),
            "chat.delete": Method(self.delete, ("chat:write",)),
            "chat.postEphemeral": Method(self.post_ephemeral, ("chat:write",)),
            "chat.getPermalink": Method(self.permalink),
            "conversations.history": Method(self.history, history),
            "conversations.info": Method(self.conversation, reading),
            "conversations.open": Method(self.open_direct, ("im:write",)),
            "conversations.replies": Method(self.replies, history),
            "usergroups.list": Method(self.usergroups, ("usergroups:read",)),
            "usergroups.users.list": Method(self.usergroup_users, ("usergroups:read",)),
            "users.info": Method(self.user, ("users:read",)),
            "views.open": Method(self.open_view),
            "views.push": Method(self.push_view),
            "views.publish": Method(self.publish_home),
            "views.update": Method(self.update_view),
        }

    # --- who and where

    async def auth_test(self, _: Arguments) -> Json:
        return {
            "url": "https://sandbox.slack.com/",
            "team": "Sandbox",
            "user": "handraise",
            "team_id": TEAM,
            "user_id": BOT_USER,
            "bot_id": BOT,
            "is_enterprise_install": False,
        }

    async def bots_info(self, _: Arguments) -> Json:
        return {"bot": {"id": BOT, "deleted": False, "name": "handraise", "user_id": BOT_USER, "app_id": APP}}

    async def user(self, given: Arguments) -> Json:
        user = self._workspace.users.get(given.needed("user"))
        if user is None:
            raise SlackError("user_not_found")
        return {"user": user.as_json()}

    async def usergroups(self, given: Arguments) -> Json:
        self._need_plan()
        groups = [g for g in self._workspace.groups.values() if given.flag("include_disabled") or not g.is_disabled]
        told = [{"id": g.id, "team_id": TEAM, "name": g.name, "handle": g.handle, "date_delete": 0} for g in groups]
        return {"usergroups": told}

    async def usergroup_users(self, given: Arguments) -> Json:
        self._need_plan()
        group = self._workspace.groups.get(given.needed("usergroup"))
        if group is None:
            raise SlackError("no_such_subteam")
        if group.is_disabled and not given.flag("include_disabled"):
            raise SlackError("subteam_disabled")
        return {"users": group.users}

    def _need_plan(self) -> None:
        if not self._workspace.is_paid:
            raise SlackError("plan_upgrade_required")

    # --- channels

    def _channel(self, id: str, *, write: bool = False) -> Channel:
        channel = self._workspace.channels.get(id)
        if channel is None or (channel.is_private and BOT_USER not in channel.members):
            raise SlackError("channel_not_found")
        if write and BOT_USER not in channel.members:
            raise SlackError("not_in_channel")
        return channel

    def _target(self, id: str) -> Channel:
        if id not in self._workspace.users:
            return self._channel(id, write=True)
        user = self._workspace.users[id]
        if user.deleted or user.is_bot or user.is_stranger:
            raise SlackError("cannot_dm_bot" if user.is_bot else "channel_not_found")
        return self._workspace.direct(user)

    async def conversation(self, given: Arguments) -> Json:
        return {"channel": self._channel(given.needed("channel")).as_json()}

    async def open_direct(self, given: Arguments) -> Json:
        user = self._workspace.users.get(given.needed("users"))
        if user is None:
            raise SlackError("user_not_found")
        if user.deleted:
            raise SlackError("user_disabled")
        return {"channel": {"id": self._workspace.direct(user).id}}

    async def history(self, given: Arguments) -> Json:
        channel = self._channel(given.needed("channel"), write=True)
        found = [m for m in channel.messages.values() if m.ephemeral_to is None and m.thread_ts in (None, m.ts)]
        return self._messages(found[::-1], given)

    async def replies(self, given: Arguments) -> Json:
        thread = self._channel(given.needed("channel"), write=True).thread(given.needed("ts"))
        if not thread:
            raise SlackError("thread_not_found")
        return self._messages(thread, given)

    @staticmethod
    def _messages(found: list[Message], given: Arguments) -> Json:
        since = given.text("oldest") or "0"
        found = [m for m in found if float(m.ts) > float(since)]
        most = min(given.number("limit", _PAGE), _PAGE)
        told = [m.as_json(with_metadata=given.flag("include_all_metadata")) for m in found[:most]]
        return {"messages": told, "has_more": len(found) > most}

    # --- messages

    async def post(self, given: Arguments) -> Json:
        channel = self._target(given.needed("channel"))
        if channel.is_archived:
            raise SlackError("is_archived")
        text, blocks = self._content(given)
        thread = given.text("thread_ts") or None
        if thread is not None:
            parent = channel.messages.get(thread)
            if parent is None or parent.ephemeral_to is not None:
                raise SlackError("thread_not_found")
            if parent.thread_ts not in (None, parent.ts):
                raise SlackError("invalid_thread_ts")
            parent.thread_ts = parent.ts
        message = Message(
            self._workspace.ts(), channel.id, BOT_USER, text, blocks, thread, self._metadata(given), bot_id=BOT
        )
        channel.messages[message.ts] = message
        self._posted(message, True)
        return {"channel": channel.id, "ts": message.ts, "message": message.as_json()}

    async def update(self, given: Arguments) -> Json:
        channel = self._channel(given.needed("channel"))
        if channel.is_archived:
            raise SlackError("is_inactive")
        message = channel.messages.get(given.needed("ts"))
        if message is None or message.ephemeral_to is not None:
            raise SlackError("message_not_found")
        if message.bot_id != BOT:
            raise SlackError("cant_update_message")
        if not given.has("text") and not given.has("blocks"):
            raise SlackError("no_text")
        text, blocks = self._content(given, before=message)
        message.text, message.blocks = text, blocks
        message.edited = not blocks
        if given.has("metadata"):
            message.metadata = self._metadata(given) or None
        self._posted(message, False)
        return {"channel": channel.id, "ts": message.ts, "text": text, "message": message.as_json()}

    async def delete(self, given: Arguments) -> Json:
        channel = self._channel(given.needed("channel"))
        message = channel.messages.get(given.needed("ts"))
        if message is None:
            raise SlackError("message_not_found")
        if message.bot_id != BOT:
            raise SlackError("cant_delete_message")
        del channel.messages[message.ts]
        self._posted(message, False)
        return {"channel": channel.id, "ts": message.ts}

    async def post_ephemeral(self, given: Arguments) -> Json:
        channel, user = self._channel(given.needed("channel"), write=True), given.needed("user")
        if user not in channel.members:
            raise SlackError("user_not_in_channel")
        if channel.is_archived:
            raise SlackError("is_archived")
        text, blocks = self._content(given)
        message = self.show_alone(channel, user, text, blocks, given.text("thread_ts") or None)
        return {"message_ts": message.ts}

    def show_alone(
        self, channel: Channel, user: str, text: str, blocks: list[Json], thread: str | None = None
    ) -> Message:
        """A message that one person sees."""
        message = Message(self._workspace.ts(), channel.id, BOT_USER, text, blocks, thread, bot_id=BOT)
        message.ephemeral_to = user
        channel.messages[message.ts] = message
        self._posted(message, True)
        return message

    async def permalink(self, given: Arguments) -> Json:
        channel, ts = self._channel(given.needed("channel")), given.needed("message_ts")
        if ts not in channel.messages:
            raise SlackError("message_not_found")
        return {
            "channel": channel.id,
            "permalink": f"https://sandbox.slack.com/archives/{channel.id}/p{ts.replace('.', '')}",
        }

    def _content(self, given: Arguments, before: Message | None = None) -> tuple[str, list[Json]]:
        text, blocks = given.text("text"), given.structured("blocks")
        if len(text) > MOST_TEXT:
            raise SlackError("msg_too_long")
        if blocks is None:
            if not text.strip():
                raise SlackError("no_text")
            # An update with a text alone takes the blocks away.
            return text, []
        refuse(problems_of(blocks, MESSAGE))
        if not blocks and not text.strip():
            raise SlackError("no_text")
        if not given.has("text") and before is not None:
            text = before.text
        return text, named(blocks)

    @staticmethod
    def _metadata(given: Arguments) -> Json | None:
        metadata = given.structured("metadata")
        if metadata is None:
            return None
        if not isinstance(metadata, dict):
            raise SlackError("invalid_metadata_format")
        if metadata and (
            not isinstance(metadata.get("event_type"), str) or not isinstance(metadata.get("event_payload"), dict)
        ):
            raise SlackError("invalid_metadata_schema")
        if len(str(metadata)) > _MOST_METADATA:
            raise SlackError("metadata_too_large")
        return metadata

    # --- views

    async def open_view(self, given: Arguments) -> Json:
        user = self._triggers.use(given.needed("trigger_id"))
        body = self._view(given, MODAL)
        self._workspace.stacks[user] = []
        return {"view": self.place(user, body).as_json()}

    async def push_view(self, given: Arguments) -> Json:
        user = self._triggers.use(given.needed("trigger_id"))
        if not self._workspace.stacks.get(user):
            raise SlackError("view_not_found")
        return {"view": self.place(user, self._view(given, MODAL)).as_json()}

    async def update_view(self, given: Arguments) -> Json:
        wanted, external = given.text("view_id"), given.text("external_id")
        views = self._workspace.views.values()
        view = next((v for v in views if v.id == wanted or (external and v.external_id == external)), None)
        if view is None:
            raise SlackError("not_found")
        if given.has("hash") and given.text("hash") != view.hash:
            raise SlackError("hash_conflict")
        self.replace(view, self._view(given, MODAL))
        return {"view": view.as_json()}

    async def publish_home(self, given: Arguments) -> Json:
        user = given.needed("user_id")
        if user not in self._workspace.users or self._workspace.users[user].deleted:
            raise SlackError("user_not_found")
        body = self._view(given, HOME)
        before = self._workspace.homes.get(user)
        if before is not None and given.has("hash") and given.text("hash") != before.hash:
            raise SlackError("hash_conflict")
        view = View(self._workspace.id("V"), user, body, hash=_hash())
        self._workspace.homes[user] = self._workspace.views[view.id] = view
        return {"view": view.as_json()}

    def _view(self, given: Arguments, surface: str) -> Json:
        body = given.structured("view")
        refuse(view_problems(body))
        if body["type"] != surface:
            raise SlackError("invalid_arguments")
        return {**body, "blocks": named(body["blocks"])}

    def checked(self, body: object) -> Json:
        """A view that came with an acknowledgement."""
        refuse(view_problems(body))
        assert isinstance(body, dict)
        return {**body, "blocks": named(body["blocks"])}

    def place(self, user: str, body: Json) -> View:
        """On top of what this person has open."""
        stack = self._workspace.stacks.setdefault(user, [])
        if len(stack) >= _MOST_VIEWS:
            raise SlackError("push_limit_reached")
        external = str(body.get("external_id", ""))
        if external and any(view.external_id == external for view in self._workspace.views.values()):
            raise SlackError("duplicate_external_id")
        view = View(self._workspace.id("V"), user, body, external, _hash(), previous=stack[-1] if stack else None)
        view.root = stack[0] if stack else view.id
        self._workspace.views[view.id] = view
        stack.append(view.id)
        return view

    @staticmethod
    def replace(view: View, body: Json) -> None:
        view.body, view.hash, view.state = body, _hash(), {}


def refuse(problems: list[Problem]) -> None:
    if not problems:
        return
    too_long = any(problem.code == "msg_blocks_too_long" for problem in problems)
    messages = [f"[ERROR] {problem.message} [json-pointer:{problem.pointer}]" for problem in problems]
    raise SlackError(
        "msg_blocks_too_long" if too_long else "invalid_blocks",
        errors=messages,
        response_metadata={"messages": messages},
    )


def named(blocks: list[Json]) -> list[Json]:
    """Blocks and their elements with the ids that Slack gives to what has none."""
    return [_named(block) for block in blocks]


def _named(block: Json) -> Json:
    told: Json = {"block_id": secrets.token_urlsafe(4), **block}
    if told["type"] == "actions":
        told["elements"] = [_with_id(element) for element in told["elements"]]
    for name in ("element", "accessory"):
        if name in told:
            told[name] = _with_id(told[name])
    return told


def _with_id(element: Json) -> Json:
    return {"action_id": secrets.token_urlsafe(4), **element}


def _hash() -> str:
    return f"{int(time.time())}.{secrets.token_hex(4)}"
