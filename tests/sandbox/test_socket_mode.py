"""slack-bolt over the sandbox's Socket Mode: clicks, forms, commands, threads, lost and late acknowledgements."""

import asyncio
from typing import Any

import pytest
from slack_bolt.async_app import AsyncAck
from slack_sdk.errors import SlackApiError

from sandbox.acts import NotThere
from sandbox.faults import Fault
from sandbox.slack import Slack
from tests.sandbox.apps import MANIFEST, Town, bolt_app, button, connected, modal, text_input, words

Json = dict[str, Any]


async def test_a_button_reaches_the_app_and_its_answer_the_message() -> None:
    async with Slack(MANIFEST) as slack:
        town, app = Town(slack), bolt_app(slack)

        @app.action("go")
        async def pressed(ack: AsyncAck, body: Json, client: Any) -> None:
            await ack()
            await client.chat_update(
                channel=body["channel"]["id"], ts=body["message"]["ts"], text=f"{body['user']['username']} pressed it"
            )

        async with connected(slack, app):
            posted = await app.client.chat_postMessage(channel=town.channel.id, text="Go?", blocks=[button("Go")])
            message = town.channel.messages[posted["ts"]]
            seen = await slack.people.press(message, "Go", by=town.dana)
            await slack.until(lambda: message.text == "dana pressed it")

    assert seen.acknowledged
    assert message.blocks == []
    assert message.edited


async def test_a_form_opens_with_the_trigger_of_a_click_and_is_sent() -> None:
    got: list[Json] = []
    async with Slack(MANIFEST) as slack:
        town, app = Town(slack), bolt_app(slack)

        @app.action("go")
        async def pressed(ack: AsyncAck, body: Json, client: Any) -> None:
            await ack()
            form = modal(text_input("Reason", max_length=20), callback_id="why", private_metadata="q_1")
            await client.views_open(trigger_id=body["trigger_id"], view=form)

        @app.view("why")
        async def sent(ack: AsyncAck, view: Json) -> None:
            reason = view["state"]["values"]["reason"]["value"]["value"]
            if reason == "none":
                await ack(response_action="errors", errors={"reason": "Say more."})
                return
            await ack()
            got.append({"reason": reason, "about": view["private_metadata"]})

        async with connected(slack, app):
            posted = await app.client.chat_postMessage(channel=town.channel.id, text="Go?", blocks=[button("Go")])
            await slack.people.press(town.channel.messages[posted["ts"]], "Go", by=town.dana)
            await slack.until(lambda: slack.workspace.stacks.get(town.dana.id))
            too_long = await slack.people.submit(town.dana, {"Reason": "x" * 21})
            refused = await slack.people.submit(town.dana, {"Reason": "none"})
            taken = await slack.people.submit(town.dana, {"Reason": "enough"})

    assert too_long.errors == {"Reason": "0 to 20 characters"}
    assert refused.errors == {"Reason": "Say more."}
    assert taken.errors == {}
    assert got == [{"reason": "enough", "about": "q_1"}]
    assert slack.workspace.stacks[town.dana.id] == []


async def test_a_trigger_opens_one_modal_and_only_for_three_seconds() -> None:
    async with Slack(MANIFEST) as slack:
        town, app = Town(slack), bolt_app(slack)
        now = [0.0]
        slack.triggers._clock = lambda: now[0]
        fresh, old = slack.triggers.new(town.dana.id), slack.triggers.new(town.dana.id)

        await app.client.views_open(trigger_id=fresh, view=modal(words("hello")))
        with pytest.raises(SlackApiError, match="exchanged_trigger_id"):
            await app.client.views_open(trigger_id=fresh, view=modal(words("hello")))
        with pytest.raises(SlackApiError, match="invalid_trigger_id"):
            await app.client.views_open(trigger_id="made up", view=modal(words("hello")))
        now[0] = 3.1
        with pytest.raises(SlackApiError, match="expired_trigger_id"):
            await app.client.views_open(trigger_id=old, view=modal(words("hello")))


async def test_what_is_typed_in_a_thread_is_an_event_with_its_thread() -> None:
    heard: list[Json] = []
    async with Slack(MANIFEST) as slack:
        town, app = Town(slack), bolt_app(slack)

        @app.event("message")
        async def said(event: Json) -> None:
            heard.append(event)

        async with connected(slack, app):
            posted = await app.client.chat_postMessage(channel=town.channel.id, text="Which one?")
            await slack.people.reply(town.channel.messages[posted["ts"]], "a < b & <!channel>", by=town.erik)

    (event,) = heard
    assert event["text"] == "a &lt; b &amp; &lt;!channel&gt;"
    assert (event["thread_ts"], event["parent_user_id"]) == (posted["ts"], "U0HANDRAISE")
    assert (event["user"], event["channel_type"]) == (town.erik.id, "channel")


async def test_a_command_is_answered_for_one_person() -> None:
    async with Slack(MANIFEST) as slack:
        town, app = Town(slack), bolt_app(slack)

        @app.command("/echo")
        async def echo(ack: AsyncAck, command: Json) -> None:
            await ack(f"you said {command['text']}")

        async with connected(slack, app):
            seen = await slack.people.command("/echo hello there", by=town.dana, channel=town.channel)

    assert seen.text == "you said hello there"
    (message,) = town.channel.messages.values()
    assert message.ephemeral_to == town.dana.id


async def test_nobody_uses_what_the_manifest_does_not_name() -> None:
    async with Slack(MANIFEST) as slack:
        town, app = Town(slack), bolt_app(slack)
        posted = await app.client.chat_postMessage(channel=town.channel.id, text="hello")
        message = town.channel.messages[posted["ts"]]

        with pytest.raises(NotThere, match="/nothing is not a valid command"):
            await slack.people.command("/nothing", by=town.dana, channel=town.channel)
        with pytest.raises(NotThere, match="no message shortcut"):
            await slack.people.shortcut(message, "unknown", by=town.dana)
        slack.manifest = MANIFEST | {"oauth_config": {"scopes": {"bot": ["chat:write"]}}}
        with pytest.raises(SlackApiError, match="missing_scope"):
            await app.client.users_info(user=town.dana.id)


async def test_an_answer_that_comes_too_late_is_a_warning_to_the_person() -> None:
    async with Slack(MANIFEST, patience=0.2) as slack:
        town, app = Town(slack), bolt_app(slack)
        may_answer = asyncio.Event()

        @app.action("go")
        async def pressed(ack: AsyncAck) -> None:
            await may_answer.wait()
            await ack()

        async with connected(slack, app):
            posted = await app.client.chat_postMessage(channel=town.channel.id, text="Go?", blocks=[button("Go")])
            seen = await slack.people.press(town.channel.messages[posted["ts"]], "Go", by=town.dana)
            may_answer.set()

    assert not seen.acknowledged


async def test_an_event_nobody_acknowledged_comes_again_with_its_number() -> None:
    heard: list[tuple[str, str]] = []
    async with Slack(MANIFEST, patience=0.3) as slack:
        town, app = Town(slack), bolt_app(slack)
        slack.people.retry_pauses = (0.0, 0.05, 0.1)

        @app.event("message")
        async def said(event: Json, req: Any) -> None:
            heard.append((event["text"], (req.headers.get("x-slack-retry-num") or ["0"])[0]))
            if len(heard) < 3:
                raise RuntimeError("not now")

        async with connected(slack, app):
            posted = await app.client.chat_postMessage(channel=town.channel.id, text="Which?")
            await slack.people.reply(town.channel.messages[posted["ts"]], "that one", by=town.erik)
            await slack.until(lambda: len(heard) == 3)

    assert heard == [("that one", "0"), ("that one", "1"), ("that one", "2")]


async def test_what_a_lost_connection_had_not_acknowledged_comes_again() -> None:
    heard: list[str] = []
    async with Slack(MANIFEST, patience=10) as slack:
        town, app = Town(slack), bolt_app(slack)
        first = asyncio.Event()

        @app.action("go")
        async def pressed(ack: AsyncAck, body: Json) -> None:
            heard.append(body["actions"][0]["action_ts"])
            if len(heard) == 1:
                first.set()
                await asyncio.Event().wait()
            await ack()

        async with connected(slack, app):
            posted = await app.client.chat_postMessage(channel=town.channel.id, text="Go?", blocks=[button("Go")])
            pressing = asyncio.create_task(slack.people.press(town.channel.messages[posted["ts"]], "Go", by=town.dana))
            await first.wait()
            await slack.socket.drop()
            seen = await asyncio.wait_for(pressing, 20)

    assert seen.acknowledged
    assert len(heard) == 2
    assert len(set(heard)) == 1


async def test_a_refresh_moves_the_app_to_a_new_connection() -> None:
    async with Slack(MANIFEST) as slack:
        town, app = Town(slack), bolt_app(slack)

        @app.action("go")
        async def pressed(ack: AsyncAck) -> None:
            await ack()

        async with connected(slack, app):
            posted = await app.client.chat_postMessage(channel=town.channel.id, text="Go?", blocks=[button("Go")])
            opened = len(slack.called("apps.connections.open"))
            await slack.socket.disconnect()
            await slack.until(lambda: len(slack.called("apps.connections.open")) > opened)
            seen = await slack.people.press(town.channel.messages[posted["ts"]], "Go", by=town.dana)

    assert seen.acknowledged


async def test_faults_are_what_the_app_was_promised() -> None:
    async with Slack(MANIFEST) as slack:
        town, app = Town(slack), bolt_app(slack)
        slack.fail_next("chat.postMessage", Fault(retry_after=30))
        slack.fail_next("chat.postMessage", Fault(status=503))
        slack.fail_next("chat.postMessage", "channel_not_found")

        with pytest.raises(SlackApiError) as limited:
            await app.client.chat_postMessage(channel=town.channel.id, text="1")
        with pytest.raises(SlackApiError) as down:
            await app.client.chat_postMessage(channel=town.channel.id, text="2")
        with pytest.raises(SlackApiError, match="channel_not_found"):
            await app.client.chat_postMessage(channel=town.channel.id, text="3")

        assert limited.value.response.status_code == 429
        assert limited.value.response.headers["Retry-After"] == "30"
        assert down.value.response.status_code == 503
        assert town.channel.messages == {}
        slack.dead_tokens[slack.bot_token] = "token_revoked"
        with pytest.raises(SlackApiError, match="token_revoked"):
            await app.client.chat_postMessage(channel=town.channel.id, text="4")
