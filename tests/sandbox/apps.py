"""A small app made with slack-bolt alone, to see that the sandbox speaks as Slack does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from sandbox.slack import Slack
from sandbox.world import Channel, User

Json = dict[str, Any]

MANIFEST: Json = {
    "features": {
        "app_home": {"home_tab_enabled": True},
        "slash_commands": [{"command": "/echo", "description": "says it again"}],
        "shortcuts": [{"name": "Ask back", "type": "message", "callback_id": "ask_back", "description": "…"}],
    },
    "oauth_config": {
        "scopes": {
            "bot": [
                "channels:history",
                "channels:read",
                "chat:write",
                "commands",
                "groups:history",
                "im:history",
                "im:write",
                "usergroups:read",
                "users:read",
            ]
        }
    },
    "settings": {
        "event_subscriptions": {
            "bot_events": ["app_home_opened", "message.channels", "message.groups", "message.im"],
        },
        "interactivity": {"is_enabled": True},
        "socket_mode_enabled": True,
    },
}


class Town:
    """Two people and a channel."""

    def __init__(self, slack: Slack) -> None:
        self.dana: User = slack.workspace.add_user("dana")
        self.erik: User = slack.workspace.add_user("erik")
        self.channel: Channel = slack.workspace.add_channel("releases", self.dana, self.erik)


def bolt_app(slack: Slack) -> AsyncApp:
    client = AsyncWebClient(token=slack.bot_token, base_url=slack.api_url)
    return AsyncApp(client=client, signing_secret=slack.signing_secret, process_before_response=True)


@asynccontextmanager
async def connected(slack: Slack, app: AsyncApp) -> AsyncIterator[AsyncSocketModeHandler]:
    handler = AsyncSocketModeHandler(app, app_token=slack.app_token, ping_interval=1)
    await handler.connect_async()  # type: ignore[no-untyped-call]
    await asyncio.wait_for(slack.socket.connected(), 10)
    try:
        yield handler
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]


@asynccontextmanager
async def listening(app: AsyncApp) -> AsyncIterator[str]:
    """The same app behind a request URL."""
    server = app.server(port=0, path="/slack/events", host="127.0.0.1")
    runner = web.AppRunner(server.web_app, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events"
    finally:
        await runner.cleanup()


def button(label: str, action_id: str = "go", **more: Any) -> Json:
    text = {"type": "plain_text", "text": label}
    return {"type": "actions", "elements": [{"type": "button", "text": text, "action_id": action_id, **more}]}


def words(text: str) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}}


def modal(*blocks: Json, **more: Any) -> Json:
    title = {"type": "plain_text", "text": "A form"}
    return {
        "type": "modal",
        "title": title,
        "submit": {"type": "plain_text", "text": "Send"},
        "blocks": [*blocks],
        **more,
    }


def text_input(label: str, **element: Any) -> Json:
    return {
        "type": "input",
        "block_id": label.lower(),
        "label": {"type": "plain_text", "text": label},
        "element": {"type": "plain_text_input", "action_id": "value", **element},
    }
