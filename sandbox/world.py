"""What is in a workspace: people, channels, messages, modals. Values and how they look as Slack's JSON."""

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

Json = dict[str, Any]

TEAM = "T0SANDBOX"
APP = "A0HANDRAISE"
OTHER_TEAM = "T0ELSEWHERE"


class ChannelKind(StrEnum):
    PUBLIC = "public"
    PRIVATE = "private"
    DIRECT = "im"
    GROUP = "mpim"


@dataclass
class User:
    id: str
    name: str
    real_name: str
    team: str = TEAM
    is_admin: bool = False
    #: A guest in several channels; with `is_ultra_restricted` a guest in one.
    is_restricted: bool = False
    is_ultra_restricted: bool = False
    is_bot: bool = False
    deleted: bool = False
    is_email_confirmed: bool = True

    @property
    def is_stranger(self) -> bool:
        """From another workspace, here through a shared channel."""
        return self.team != TEAM

    def as_json(self) -> Json:
        told: Json = {
            "id": self.id,
            "team_id": self.team,
            "name": self.name,
            "deleted": self.deleted,
            "real_name": self.real_name,
            "tz": "Europe/Berlin",
            "profile": {"real_name": self.real_name, "display_name": self.name, "team": self.team},
            "is_bot": self.is_bot,
            "is_app_user": False,
            "updated": 1_700_000_000,
        }
        if self.deleted:
            return told  # Slack leaves the rest out
        told |= {
            "is_admin": self.is_admin,
            "is_owner": False,
            "is_primary_owner": False,
            "is_restricted": self.is_restricted or self.is_ultra_restricted,
            "is_ultra_restricted": self.is_ultra_restricted,
            "is_email_confirmed": self.is_email_confirmed,
        }
        return told | ({"is_stranger": True} if self.is_stranger else {})


@dataclass
class Message:
    ts: str
    channel: str
    user: str
    text: str
    blocks: list[Json] = field(default_factory=list)
    thread_ts: str | None = None
    metadata: Json | None = None
    bot_id: str | None = None
    edited: bool = False
    #: Only this person sees it, and only until they load the channel again.
    ephemeral_to: str | None = None
    #: Buttons of an ephemeral message can be used to change it, which nothing else can.
    response_url: str | None = None

    def as_json(self, *, with_metadata: bool = True) -> Json:
        told: Json = {"type": "message", "user": self.user, "text": self.text, "ts": self.ts, "team": TEAM}
        if self.blocks:
            told["blocks"] = self.blocks
        if self.thread_ts is not None:
            told["thread_ts"] = self.thread_ts
        if self.bot_id is not None:
            told |= {"bot_id": self.bot_id, "app_id": APP}
        if self.edited:
            told["edited"] = {"user": self.user, "ts": self.ts}
        if self.metadata is not None and with_metadata:
            told["metadata"] = self.metadata
        return told


@dataclass
class Channel:
    id: str
    name: str
    kind: ChannelKind = ChannelKind.PUBLIC
    members: set[str] = field(default_factory=set)
    is_archived: bool = False
    #: Shared with another workspace.
    is_shared: bool = False
    #: By their ts, oldest first; threads and ephemeral messages among them.
    messages: dict[str, Message] = field(default_factory=dict)

    @property
    def is_private(self) -> bool:
        return self.kind is not ChannelKind.PUBLIC

    def as_json(self) -> Json:
        return {
            "id": self.id,
            "name": self.name,
            "is_channel": self.kind is ChannelKind.PUBLIC,
            "is_group": self.kind is ChannelKind.PRIVATE,
            "is_im": self.kind is ChannelKind.DIRECT,
            "is_mpim": self.kind is ChannelKind.GROUP,
            "is_private": self.is_private,
            "is_archived": self.is_archived,
            "is_ext_shared": self.is_shared,
            "is_member": BOT_USER in self.members,
        }

    def thread(self, ts: str) -> list[Message]:
        """The message and its replies."""
        return [m for m in self.messages.values() if m.ephemeral_to is None and ts in (m.ts, m.thread_ts)]


@dataclass
class View:
    id: str
    user: str
    body: Json
    external_id: str = ""
    hash: str = ""
    state: Json = field(default_factory=dict)
    root: str = ""
    previous: str | None = None

    def as_json(self) -> Json:
        return {
            "id": self.id,
            "team_id": TEAM,
            "app_id": APP,
            "bot_id": BOT,
            "hash": self.hash,
            "root_view_id": self.root or self.id,
            "previous_view_id": self.previous,
            "state": {"values": self.state},
            "private_metadata": "",
            "callback_id": "",
            "external_id": self.external_id,
            "clear_on_close": False,
            "notify_on_close": False,
            **{name: value for name, value in self.body.items() if name != "external_id"},
        }


@dataclass
class UserGroup:
    id: str
    handle: str
    name: str
    users: list[str]
    is_disabled: bool = False


BOT = "B0HANDRAISE"
BOT_USER = "U0HANDRAISE"


class Workspace:
    """Everything there is, and the two counters that make ids and times unlike each other."""

    def __init__(self) -> None:
        self.users: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self.groups: dict[str, UserGroup] = {}
        self.views: dict[str, View] = {}
        #: What is open on each person's screen, the topmost last.
        self.stacks: dict[str, list[str]] = {}
        self.homes: dict[str, View] = {}
        #: Whether the workspace pays, which user groups need.
        self.is_paid = True
        self._numbers: Iterator[int] = itertools.count(1)
        self._last_ts = 0
        self.add_user("handraise", "handraise", id=BOT_USER, is_bot=True)

    def id(self, letter: str) -> str:
        return f"{letter}0{next(self._numbers):08d}"

    def ts(self) -> str:
        """The time as Slack writes it; no two messages have the same."""
        self._last_ts = max(self._last_ts + 1, time.time_ns() // 1000)
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def add_user(self, name: str, real_name: str = "", *, id: str | None = None, **about: Any) -> User:
        user = User(id or self.id("U"), name, real_name or name.capitalize(), **about)
        self.users[user.id] = user
        return user

    def add_channel(self, name: str, *members: User, kind: ChannelKind = ChannelKind.PUBLIC, **about: Any) -> Channel:
        letter = {ChannelKind.DIRECT: "D", ChannelKind.GROUP: "G"}.get(kind, "C")
        channel = Channel(self.id(letter), name, kind, {BOT_USER, *(user.id for user in members)}, **about)
        self.channels[channel.id] = channel
        return channel

    def add_group(self, handle: str, *users: User) -> UserGroup:
        group = UserGroup(self.id("S"), handle, handle, [user.id for user in users])
        self.groups[group.id] = group
        return group

    def direct(self, user: User) -> Channel:
        """The conversation of the app with this person."""
        found = (c for c in self.channels.values() if c.kind is ChannelKind.DIRECT and user.id in c.members)
        return next(found, None) or self.add_channel(f"dm-{user.name}", user, kind=ChannelKind.DIRECT)

    def message(self, channel: str, ts: str) -> Message | None:
        return self.channels[channel].messages.get(ts) if channel in self.channels else None
