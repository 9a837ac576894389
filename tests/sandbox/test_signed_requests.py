"""The same workspace over signed HTTP: what Slack posts to a request URL, and how it tries again."""

from typing import Any

import aiohttp
from slack_bolt.async_app import AsyncAck

from sandbox.slack import Slack
from sandbox.wires import COMMANDS, EVENTS, INTERACTIVE, HttpWire
from tests.sandbox.apps import MANIFEST, Town, bolt_app, button, listening

Json = dict[str, Any]
OVER_HTTP = MANIFEST | {"settings": {**MANIFEST["settings"], "socket_mode_enabled": False}}


async def test_clicks_commands_and_events_arrive_signed() -> None:
    heard: list[str] = []
    async with Slack(OVER_HTTP, request_url="http://127.0.0.1:1/") as slack:
        town, app = Town(slack), bolt_app(slack)

        @app.action("go")
        async def pressed(ack: AsyncAck) -> None:
            heard.append("click")
            await ack()

        @app.command("/echo")
        async def echo(ack: AsyncAck, command: Json) -> None:
            await ack(command["text"])

        @app.event("message")
        async def said(event: Json) -> None:
            heard.append(event["text"])

        async with listening(app) as url:
            assert slack.http is not None
            slack.http.url = url
            posted = await app.client.chat_postMessage(channel=town.channel.id, text="Go?", blocks=[button("Go")])
            message = town.channel.messages[posted["ts"]]
            click = await slack.people.press(message, "Go", by=town.dana)
            command = await slack.people.command("/echo hello", by=town.dana, channel=town.channel)
            await slack.people.reply(message, "in the thread", by=town.dana)
            await slack.until(lambda: len(heard) == 2)

    assert click.acknowledged
    assert command.text == "hello"
    assert heard == ["click", "in the thread"]


async def test_an_app_that_fails_hears_of_an_event_again() -> None:
    heard: list[str] = []
    async with Slack(OVER_HTTP, request_url="http://127.0.0.1:1/") as slack:
        town, app = Town(slack), bolt_app(slack)
        slack.people.retry_pauses = (0.0, 0.02, 0.05)

        @app.event("message")
        async def said(req: Any) -> None:
            heard.append((req.headers.get("x-slack-retry-num") or ["0"])[0])
            if len(heard) < 3:
                raise RuntimeError("not now")

        async with listening(app) as url:
            assert slack.http is not None
            slack.http.url = url
            await slack.people.say(town.channel, "hello", by=town.dana)
            await slack.until(lambda: len(heard) == 3)

    assert heard == ["0", "1", "2"]


async def test_nobody_at_the_address_is_a_warning() -> None:
    async with Slack(OVER_HTTP, request_url="http://127.0.0.1:1/") as slack:
        town, app = Town(slack), bolt_app(slack)
        posted = await app.client.chat_postMessage(channel=town.channel.id, text="Go?", blocks=[button("Go")])

        seen = await slack.people.press(town.channel.messages[posted["ts"]], "Go", by=town.dana)

    assert not seen.acknowledged


async def test_what_is_signed_with_another_secret_is_refused_by_the_app() -> None:
    async with Slack(OVER_HTTP, request_url="http://127.0.0.1:1/") as slack:
        app = bolt_app(slack)
        forger = HttpWire("", "another secret")
        async with listening(app) as url, aiohttp.ClientSession() as session:
            for kind in (EVENTS, INTERACTIVE, COMMANDS):
                headers, body = forger.signed(kind, {"type": "block_actions", "command": "/echo"})
                async with session.post(url, data=body, headers=headers) as response:
                    assert response.status == 401
