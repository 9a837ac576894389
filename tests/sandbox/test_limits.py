"""What the sandbox refuses: for each limit one example within it and one beyond."""

from typing import Any

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.models.blocks import Block

from sandbox.blocks import HOME, MESSAGE, MODAL, problems_of, view_problems
from sandbox.slack import Slack
from sandbox.world import BOT_USER, ChannelKind
from tests.sandbox.apps import MANIFEST, Town, bolt_app, button, modal, text_input, words

Json = dict[str, Any]


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def select(options: int, *, text: int = 5, value: int = 5, kind: str = "static_select", **more: Any) -> Json:
    entries = [{"text": plain(f"{n}".ljust(text, "x")), "value": f"{n}".ljust(value, "y")} for n in range(options)]
    element = {"type": kind, "action_id": "pick", "options": entries, **more}
    return {"type": "actions", "elements": [element]}


def rich(*elements: Json, kind: str = "rich_text_section") -> Json:
    return {"type": "rich_text", "elements": [{"type": kind, "elements": [*elements]}]}


WITHIN_AND_BEYOND: dict[str, tuple[list[Json], list[Json], str]] = {
    "blocks": ([words("x")] * 50, [words("x")] * 51, "too_many_blocks"),
    "section": ([words("x" * 3000)], [words("x" * 3001)], "invalid_length"),
    "empty text": ([words("x")], [words("")], "invalid_length"),
    "header": (
        [{"type": "header", "text": plain("x" * 150)}],
        [{"type": "header", "text": plain("x" * 151)}],
        "invalid_length",
    ),
    "context": (
        [{"type": "context", "elements": [plain("x")] * 10}],
        [{"type": "context", "elements": [plain("x")] * 11}],
        "invalid_length",
    ),
    "button text": ([button("x" * 75)], [button("x" * 76)], "invalid_length"),
    "button value": ([button("x", value="v" * 2000)], [button("x", value="v" * 2001)], "invalid_length"),
    "action id": ([button("x", "a" * 255)], [button("x", "a" * 256)], "invalid_length"),
    "block id": ([words("x") | {"block_id": "b" * 255}], [words("x") | {"block_id": "b" * 256}], "invalid_length"),
    "button style": ([button("x", style="danger")], [button("x", style="green")], "invalid_value"),
    "button address": ([button("x", url="https://a.example")], [button("x", url="javascript:1")], "invalid_value"),
    "options": ([select(100)], [select(101)], "invalid_length"),
    "option text": ([select(1, text=75)], [select(1, text=76)], "invalid_length"),
    "option value": ([select(1, value=150)], [select(1, value=151)], "invalid_length"),
    "radio": ([select(10, kind="radio_buttons")], [select(11, kind="radio_buttons")], "invalid_length"),
    "overflow": ([select(5, kind="overflow")], [select(6, kind="overflow")], "invalid_length"),
    "fields": (
        [{"type": "section", "fields": [plain("x")] * 10}],
        [{"type": "section", "fields": [plain("x")] * 11}],
        "invalid_length",
    ),
    "field": (
        [{"type": "section", "fields": [plain("x" * 2000)]}],
        [{"type": "section", "fields": [plain("x" * 2001)]}],
        "invalid_length",
    ),
    "ids stand once": ([button("x", "a"), button("y", "b")], [button("x", "a"), button("y", "a")], "duplicate_id"),
    "all of it": ([words("x" * 2200)] * 6, [words("x" * 2210)] * 6, "msg_blocks_too_long"),
    "rich text": (
        [rich({"type": "text", "text": "x", "style": {"bold": True}})],
        [rich({"type": "text", "text": "x", "style": {"loud": True}})],
        "invalid_additional_property",
    ),
    "no mention in code": (
        [rich({"type": "text", "text": "x"}, kind="rich_text_preformatted")],
        [rich({"type": "user", "user_id": "U1"}, kind="rich_text_preformatted")],
        "unsupported_type",
    ),
    "unknown key of a text": (
        [{"type": "section", "text": plain("x")}],
        [{"type": "section", "text": plain("x") | {"verbatim": True}}],
        "invalid_additional_property",
    ),
    "confirmation": (
        [button("x", confirm={n: plain(n) for n in ("title", "text", "confirm", "deny")})],
        [button("x", confirm={n: plain("x" * 31) for n in ("title", "text", "confirm", "deny")})],
        "invalid_length",
    ),
}


@pytest.mark.parametrize("name", WITHIN_AND_BEYOND)
def test_a_limit_is_where_it_is(name: str) -> None:
    within, beyond, code = WITHIN_AND_BEYOND[name]

    assert problems_of(within, MESSAGE) == []
    assert code in [problem.code for problem in problems_of(beyond, MESSAGE)]


@pytest.mark.parametrize("name", WITHIN_AND_BEYOND)
def test_what_is_taken_is_a_block_to_slacks_own_sdk(name: str) -> None:
    for block in WITHIN_AND_BEYOND[name][0]:
        parsed = Block.parse(block)
        assert parsed is not None
        parsed.validate_json()


def test_problems_say_where() -> None:
    (problem,) = problems_of([words("fine"), button("x" * 76)], MESSAGE)

    assert problem.pointer == "/blocks/1/elements/0/text/text"


@pytest.mark.parametrize(
    ("view", "pointer"),
    [
        (modal(words("x")) | {"title": plain("x" * 25)}, "/title/text"),
        (modal(words("x")) | {"private_metadata": "x" * 3001}, "/private_metadata"),
        (modal(words("x")) | {"callback_id": "x" * 256}, "/callback_id"),
        (modal(words("x")) | {"titel": "x"}, "/titel"),
        (modal(*[words("x")] * 101), "/blocks"),
        ({name: value for name, value in modal(text_input("Why")).items() if name != "submit"}, ""),
        ({"type": "home", "title": plain("x"), "blocks": []}, "/title"),
        ({"type": "window", "blocks": []}, ""),
    ],
)
def test_a_view_beyond_its_limits_is_refused(view: Json, pointer: str) -> None:
    assert [problem.pointer for problem in view_problems(view)] == [pointer]


def test_views_within_their_limits_are_taken() -> None:
    assert view_problems(modal(text_input("Why", max_length=3000), words("x" * 3000))) == []
    assert view_problems({"type": "home", "blocks": [words("x")] * 100}) == []
    assert problems_of([words("x")], HOME) == []
    assert problems_of([text_input("Why")], MODAL) == []


@pytest.mark.parametrize(
    ("call", "arguments", "error"),
    [
        ("chat.postMessage", {"channel": "C404", "text": "x"}, "channel_not_found"),
        ("chat.postMessage", {"channel": "CHANNEL", "text": "x" * 4001}, "msg_too_long"),
        ("chat.postMessage", {"channel": "CHANNEL"}, "no_text"),
        ("chat.postMessage", {"channel": "CHANNEL", "text": "x", "thread_ts": "1.2"}, "thread_not_found"),
        ("chat.postMessage", {"channel": "CHANNEL", "text": "x", "blocks": [words("x" * 3001)]}, "invalid_blocks"),
        ("chat.postMessage", {"channel": "ARCHIVED", "text": "x"}, "is_archived"),
        ("chat.postMessage", {"channel": "FOREIGN", "text": "x"}, "not_in_channel"),
        ("chat.postMessage", {"channel": "SECRET", "text": "x"}, "channel_not_found"),
        ("chat.postMessage", {"channel": "CHANNEL", "text": "x", "metadata": {"a": 1}}, "invalid_metadata_schema"),
        ("chat.update", {"channel": "CHANNEL", "ts": "1.2", "text": "x"}, "message_not_found"),
        ("chat.update", {"channel": "CHANNEL", "ts": "THEIRS", "text": "x"}, "cant_update_message"),
        ("chat.update", {"channel": "DANA", "ts": "1.2", "text": "x"}, "channel_not_found"),
        ("chat.postEphemeral", {"channel": "CHANNEL", "user": "OUTSIDER", "text": "x"}, "user_not_in_channel"),
        ("users.info", {"user": "U404"}, "user_not_found"),
        ("usergroups.users.list", {"usergroup": "S404"}, "no_such_subteam"),
        ("views.update", {"view_id": "V404", "view": modal(words("x"))}, "not_found"),
        ("views.publish", {"user_id": "U404", "view": {"type": "home", "blocks": []}}, "user_not_found"),
        ("chat.nonsense", {}, "unknown_method"),
    ],
)
async def test_slack_says_no_in_its_own_words(call: str, arguments: Json, error: str) -> None:
    async with Slack(MANIFEST, patience=0.01) as slack:
        town, app = Town(slack), bolt_app(slack)
        theirs = await slack.people.say(town.channel, "hello", by=town.dana)
        names = {
            "CHANNEL": town.channel.id,
            "THEIRS": theirs.ts,
            "DANA": town.dana.id,
            "OUTSIDER": slack.workspace.add_user("otto").id,
            "ARCHIVED": slack.workspace.add_channel("old", is_archived=True).id,
            "FOREIGN": _without_the_app(slack, "foreign"),
            "SECRET": _without_the_app(slack, "secret", is_private=True),
        }
        given = {
            name: names.get(value, value) if isinstance(value, str) else value for name, value in arguments.items()
        }

        with pytest.raises(SlackApiError) as refused:
            await app.client.api_call(call, json=given)

    assert refused.value.response["error"] == error


def _without_the_app(slack: Slack, name: str, *, is_private: bool = False) -> str:
    kind = ChannelKind.PRIVATE if is_private else ChannelKind.PUBLIC
    channel = slack.workspace.add_channel(name, kind=kind)
    channel.members.discard(BOT_USER)
    return channel.id


async def test_a_token_is_looked_at() -> None:
    async with Slack(MANIFEST) as slack:
        app = bolt_app(slack)

        for token in ("xoxb-made-up", slack.app_token):
            app.client.token = token
            with pytest.raises(SlackApiError, match="invalid_auth"):
                await app.client.auth_test()
