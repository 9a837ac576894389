"""What Slack sends when people do something: payloads as its documentation shows them, and ids that work once."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sandbox.calls import SlackError
from sandbox.world import APP, BOT_USER, TEAM, Channel, ChannelKind, Json, Message, User, View

_DOMAIN = "sandbox"
_LEGACY_TOKEN = "sandbox-verification"
TRIGGER_SECONDS = 3.0
_RESPONSE_SECONDS = 30 * 60
_MOST_RESPONSES = 5


class Triggers:
    """A trigger id opens one modal, within three seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, tuple[str, float]] = {}
        self._used: set[str] = set()

    def new(self, user: str) -> str:
        trigger = f"{time.time_ns()}.{secrets.token_hex(16)}"
        self._known[trigger] = user, self._clock() + TRIGGER_SECONDS
        return trigger

    def use(self, trigger: str) -> str:
        """Whose it is. Raises SlackError."""
        if trigger in self._used:
            raise SlackError("exchanged_trigger_id")
        if trigger not in self._known:
            raise SlackError("invalid_trigger_id")
        user, until = self._known[trigger]
        if self._clock() > until:
            raise SlackError("expired_trigger_id")
        self._used.add(trigger)
        return user


@dataclass
class ResponseUrl:
    """Where an app answers to a click or a command: so many times, for so long."""

    secret: str
    user: str
    channel: str
    #: The message that was clicked, if it was one.
    message_ts: str | None
    until: float
    uses: int = 0


class ResponseUrls:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, ResponseUrl] = {}

    def new(self, user: str, channel: str, message_ts: str | None = None) -> ResponseUrl:
        made = ResponseUrl(secrets.token_urlsafe(16), user, channel, message_ts, self._clock() + _RESPONSE_SECONDS)
        self._known[made.secret] = made
        return made

    def use(self, secret: str) -> ResponseUrl:
        found = self._known.get(secret)
        if found is None:
            raise SlackError("invalid_response_url")
        if self._clock() > found.until:
            raise SlackError("expired_url")
        if found.uses >= _MOST_RESPONSES:
            raise SlackError("used_url")
        found.uses += 1
        return found


def _who(user: User) -> Json:
    return {"id": user.id, "username": user.name, "name": user.name, "team_id": user.team}


def _common(kind: str, user: User) -> Json:
    return {
        "type": kind,
        "team": {"id": TEAM, "domain": _DOMAIN},
        "user": _who(user),
        "api_app_id": APP,
        "token": _LEGACY_TOKEN,
        "enterprise": None,
        "is_enterprise_install": False,
    }


def message_click(
    user: User, channel: Channel, message: Message, action: Json, trigger: str, response_url: str
) -> Json:
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": message.ephemeral_to is not None,
    }
    if message.thread_ts is not None:
        container["thread_ts"] = message.thread_ts
    told = _common("block_actions", user) | {
        "container": container,
        "trigger_id": trigger,
        "channel": {"id": channel.id, "name": _channel_name(channel)},
        "state": {"values": {}},
        "response_url": response_url,
        "actions": [action],
    }
    # Of an ephemeral message Slack sends no more than its place.
    return told if message.ephemeral_to is not None else told | {"message": message.as_json(with_metadata=False)}


def view_click(user: User, view: View, action: Json, trigger: str) -> Json:
    return _common("block_actions", user) | {
        "container": {"type": "view", "view_id": view.id},
        "trigger_id": trigger,
        "view": view.as_json(),
        "actions": [action],
    }


def view_submission(user: User, view: View, trigger: str) -> Json:
    return _common("view_submission", user) | {"trigger_id": trigger, "view": view.as_json(), "response_urls": []}


def view_closed(user: User, view: View) -> Json:
    return _common("view_closed", user) | {"view": view.as_json(), "is_cleared": False}


def message_shortcut(
    user: User, channel: Channel, message: Message, callback: str, trigger: str, response_url: str
) -> Json:
    return _common("message_action", user) | {
        "callback_id": callback,
        "trigger_id": trigger,
        "action_ts": _now(),
        "response_url": response_url,
        "message_ts": message.ts,
        "channel": {"id": channel.id, "name": _channel_name(channel)},
        "message": message.as_json(with_metadata=False),
    }


def slash_command(user: User, channel: Channel, command: str, text: str, trigger: str, response_url: str) -> Json:
    return {
        "token": _LEGACY_TOKEN,
        "team_id": TEAM,
        "team_domain": _DOMAIN,
        "channel_id": channel.id,
        "channel_name": _channel_name(channel),
        "user_id": user.id,
        "user_name": user.name,
        "command": command,
        "text": text,
        "api_app_id": APP,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": trigger,
    }


def event(inside: Json) -> Json:
    return {
        "token": _LEGACY_TOKEN,
        "team_id": TEAM,
        "context_team_id": TEAM,
        "api_app_id": APP,
        "event": inside,
        "type": "event_callback",
        "event_id": f"Ev{secrets.token_hex(5).upper()}",
        "event_time": int(time.time()),
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": TEAM,
                "user_id": BOT_USER,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
    }


def message_event(channel: Channel, message: Message, author: User | None) -> Json:
    told = message.as_json() | {
        "channel": channel.id,
        "channel_type": {ChannelKind.PUBLIC: "channel", ChannelKind.PRIVATE: "group"}.get(
            channel.kind, channel.kind.value
        ),
        "event_ts": message.ts,
    }
    if message.thread_ts is not None and message.thread_ts != message.ts:
        parent = channel.messages.get(message.thread_ts)
        told["parent_user_id"] = parent.user if parent is not None else BOT_USER
    if author is not None:
        told["client_msg_id"] = secrets.token_hex(16)
        told["team"] = author.team
        if author.is_stranger:
            told["user_team"] = author.team
        if author.is_bot:
            told |= {"subtype": "bot_message", "bot_id": f"B{author.id[1:]}"}
    return event(told)


def home_opened(user: User, view: View | None) -> Json:
    told: Json = {
        "type": "app_home_opened",
        "user": user.id,
        "channel": f"D{user.id[1:]}",
        "tab": "home",
        "event_ts": _now(),
    }
    return event(told | ({"view": view.as_json()} if view is not None else {}))


#: What Slack repeats of an element that was used.
_OF_AN_ACTION = ("type", "action_id", "text", "value", "style", "placeholder")


def action_of(element: Json, block: Json, **chosen: Any) -> Json:
    """What was done to an element: pressed, or this was chosen in it."""
    kept: Json = {name: element[name] for name in _OF_AN_ACTION if name in element}
    return {**kept, "block_id": block["block_id"], "action_ts": _now(), **chosen}


def _channel_name(channel: Channel) -> str:
    return {ChannelKind.DIRECT: "directmessage", ChannelKind.PRIVATE: "privategroup"}.get(channel.kind, channel.name)


def _now() -> str:
    return f"{time.time():.6f}"
