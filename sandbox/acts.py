"""What people do in Slack, and what they see of it."""

import asyncio
import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sandbox import interactions
from sandbox.blocks import MESSAGE, elements_of, problems_of
from sandbox.methods import Methods, named, refuse
from sandbox.wires import COMMANDS, EVENTS, INTERACTIVE, Acknowledged, Unacknowledged, Wire
from sandbox.world import BOT_USER, Channel, ChannelKind, Json, Message, User, View, Workspace

#: An event that nobody acknowledged comes again: at once, after a minute, after five. Tests shorten the pauses.
RETRY_PAUSES = (0.0, 60.0, 300.0)


class NotThere(AssertionError):
    """A person cannot do this: there is no such button, no such field, no such command."""


@dataclass(frozen=True)
class Seen:
    """What somebody sees right after they did something."""

    #: False: Slack shows a warning, because the app said nothing in time.
    acknowledged: bool
    seconds: float = 0.0
    #: What a command was answered with at once.
    text: str = ""
    #: Below which fields of a modal something is wrong, by their labels.
    errors: dict[str, str] = field(default_factory=dict)


class People:
    def __init__(
        self,
        workspace: Workspace,
        methods: Methods,
        wire: Wire,
        triggers: interactions.Triggers,
        urls: interactions.ResponseUrls,
        manifest: Json,
        response_base: str,
    ) -> None:
        self._workspace, self._methods, self.wire = workspace, methods, wire
        self._triggers, self._urls, self._manifest = triggers, urls, manifest
        self._response_base = response_base
        self.retry_pauses: Sequence[float] = RETRY_PAUSES
        self._background: set[asyncio.Task[None]] = set()

    # --- buttons and menus

    def element(self, held: Message | View, label: str) -> tuple[Json, Json]:
        """The element with this label, and its block."""
        blocks = held.blocks if isinstance(held, Message) else held.body["blocks"]
        for block in blocks:
            for element in elements_of([block]):
                if label in (_label(element, block), element.get("action_id")):
                    return element, block
        shown = [_label(element, block) for block in blocks for element in elements_of([block])]
        raise NotThere(f"there is no {label!r}; there are {shown}")

    async def press(self, held: Message | View, label: str, by: User, *, attempt: int = 0) -> Seen:
        return await self.deliver(self.press_payload(held, label, by), attempt=attempt)

    def press_payload(self, held: Message | View, label: str, by: User) -> Json:
        element, block = self.element(held, label)
        if element["type"] != "button":
            raise NotThere(f"{label!r} is a {element['type']}")
        return self._click(held, interactions.action_of(element, block), by)

    async def select(self, held: Message | View, label: str, *options: str, by: User) -> Seen:
        """Choose in a menu outside of a form, which Slack sends at once."""
        element, block = self.element(held, label)
        chosen = _chosen(element, list(options))
        return await self.deliver(self._click(held, interactions.action_of(element, block, **chosen), by))

    def _click(self, held: Message | View, action: Json, by: User) -> Json:
        trigger = self._triggers.new(by.id)
        if isinstance(held, View):
            return interactions.view_click(by, held, action, trigger)
        channel = self._visible(held.channel, by)
        if held.ephemeral_to not in (None, by.id) or held.ts not in channel.messages:
            raise NotThere("this person does not see that message")
        url = self._url(by, channel, held.ts)
        return interactions.message_click(by, channel, held, action, trigger, url)

    async def deliver(self, payload: Json, *, attempt: int = 0) -> Seen:
        """Send what somebody did, perhaps not for the first time."""
        return _seen(await self.wire.send(INTERACTIVE, payload, attempt=attempt))

    async def shortcut(self, message: Message, callback: str, by: User) -> Seen:
        known = [s for s in self._manifest["features"].get("shortcuts", []) if s["type"] == "message"]
        found = next((s for s in known if callback in (s["callback_id"], s["name"])), None)
        if found is None:
            raise NotThere(f"there is no message shortcut {callback!r}")
        channel = self._visible(message.channel, by)
        payload = interactions.message_shortcut(
            by, channel, message, found["callback_id"], self._triggers.new(by.id), self._url(by, channel, message.ts)
        )
        return await self.deliver(payload)

    # --- modals and the home tab

    def modal(self, by: User) -> View:
        stack = self._workspace.stacks.get(by.id) or []
        if not stack:
            raise NotThere(f"{by.name} has no modal open")
        return self._workspace.views[stack[-1]]

    def home(self, by: User) -> View:
        return self._workspace.homes[by.id]

    async def submit(self, by: User, values: dict[str, Any] | None = None) -> Seen:
        """Fill in the modal by the labels of its fields and send it."""
        view = self.modal(by)
        inputs = {block["label"]["text"]: block for block in view.body["blocks"] if block["type"] == "input"}
        unknown = (values or {}).keys() - inputs.keys()
        if unknown:
            raise NotThere(f"there are no fields {sorted(unknown)}; there are {sorted(inputs)}")
        problems = {}
        for label, block in inputs.items():
            state, problem = _filled(block, (values or {}).get(label))
            view.state[block["block_id"]] = {block["element"]["action_id"]: state}
            if problem:
                problems[label] = problem
        if problems:
            return Seen(True, errors=problems)  # Slack itself does not let go of the form
        return await self._submitted(by, view, inputs)

    async def _submitted(self, by: User, view: View, inputs: dict[str, Json]) -> Seen:
        result = await self.wire.send(INTERACTIVE, interactions.view_submission(by, view, self._triggers.new(by.id)))
        seen = _seen(result)
        if not isinstance(result, Acknowledged):
            return seen
        answer = result.payload or {}
        stack = self._workspace.stacks[by.id]
        match answer.get("response_action"):
            case None:
                stack.remove(view.id)
            case "clear":
                stack.clear()
            case "update":
                self._methods.replace(view, self._methods.checked(answer["view"]))
            case "push":
                self._methods.place(by.id, self._methods.checked(answer["view"]))
            case "errors":
                labels = {block["block_id"]: label for label, block in inputs.items()}
                wrong = answer["errors"].keys() - labels.keys()
                if wrong or not answer["errors"]:
                    raise NotThere(f"errors about blocks that are no inputs: {sorted(wrong)}")
                return Seen(True, seen.seconds, errors={labels[id]: text for id, text in answer["errors"].items()})
            case other:
                raise NotThere(f"Slack knows no response_action {other!r}")
        return seen

    async def close(self, by: User) -> None:
        """Close the topmost modal without sending it."""
        view = self.modal(by)
        self._workspace.stacks[by.id].remove(view.id)
        if view.body.get("notify_on_close"):
            await self.deliver(interactions.view_closed(by, view))

    async def open_home(self, by: User) -> Seen:
        if not self._manifest["features"].get("app_home", {}).get("home_tab_enabled"):
            raise NotThere("the app has no home tab")
        payload = interactions.home_opened(by, self._workspace.homes.get(by.id))
        return await self._event("app_home_opened", payload)

    # --- words

    async def reply(self, message: Message, text: str, by: User) -> Message:
        """Write in the thread of a message."""
        thread = message.thread_ts or message.ts
        return await self.say(self._visible(message.channel, by), text, by, thread=thread)

    async def say(self, channel: Channel, text: str, by: User, *, thread: str | None = None) -> Message:
        self._visible(channel.id, by)
        escaped = html.escape(text, quote=False)
        blocks = [
            {
                "type": "rich_text",
                "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}],
            }
        ]
        message = Message(self._workspace.ts(), channel.id, by.id, escaped, named(blocks), thread)
        if thread is not None:
            channel.messages[thread].thread_ts = thread
        channel.messages[message.ts] = message
        await self.announce(channel, message, by)
        return message

    async def announce(self, channel: Channel, message: Message, author: User | None) -> Seen | None:
        """Tell the app of a message, if it is there and asked to be told."""
        if BOT_USER not in channel.members:
            return None
        names = {
            ChannelKind.PUBLIC: "message.channels",
            ChannelKind.PRIVATE: "message.groups",
            ChannelKind.DIRECT: "message.im",
            ChannelKind.GROUP: "message.mpim",
        }
        return await self._event(names[channel.kind], interactions.message_event(channel, message, author))

    async def command(self, line: str, by: User, channel: Channel) -> Seen:
        """Type a slash command."""
        command, _, text = line.partition(" ")
        known = {entry["command"]: entry for entry in self._manifest["features"].get("slash_commands", [])}
        if command not in known:
            raise NotThere(f"{command} is not a valid command")
        self._visible(channel.id, by)
        url = self._url(by, channel)
        payload = interactions.slash_command(by, channel, command, text.strip(), self._triggers.new(by.id), url)
        result = await self.wire.send(COMMANDS, payload)
        seen = _seen(result)
        if not isinstance(result, Acknowledged) or not result.payload:
            return seen
        answer = result.payload
        self.show(channel, by.id, answer)
        return Seen(True, seen.seconds, text=str(answer.get("text", "")))

    def show(self, channel: Channel, user: str, answer: Json, thread: str | None = None) -> Message | None:
        """What an app answered to a command or through a response URL."""
        text, blocks = str(answer.get("text", "")), answer.get("blocks") or []
        refuse(problems_of(blocks, MESSAGE))
        if not text and not blocks:
            return None
        thread = answer.get("thread_ts") or thread
        if answer.get("response_type") == "in_channel":
            message = Message(
                self._workspace.ts(), channel.id, BOT_USER, text, named(blocks), thread, bot_id="B0HANDRAISE"
            )
            channel.messages[message.ts] = message
            return message
        return self._methods.show_alone(channel, user, text, named(blocks), thread)

    # --- on the way

    async def _event(self, name: str, payload: Json) -> Seen:
        subscribed = self._manifest["settings"].get("event_subscriptions", {}).get("bot_events", [])
        if name not in subscribed:
            return Seen(True)
        result = await self.wire.send(EVENTS, payload)
        if isinstance(result, Unacknowledged):
            self._later(self._again(payload, result.why))
        return _seen(result)

    async def event(self, payload: Json, *, attempt: int = 0) -> Seen:
        """Send an event as it is, perhaps not for the first time."""
        return _seen(await self.wire.send(EVENTS, payload, attempt=attempt))

    async def _again(self, payload: Json, why: str) -> None:
        for attempt, pause in enumerate(self.retry_pauses, start=1):
            await asyncio.sleep(pause)
            result = await self.wire.send(EVENTS, payload, attempt=attempt, why=why)
            if isinstance(result, Acknowledged):
                return
            why = result.why

    def _later(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def stop(self) -> None:
        for task in list(self._background):
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)

    def _visible(self, channel: str, by: User) -> Channel:
        found = self._workspace.channels[channel]
        if by.id not in found.members:
            raise NotThere(f"{by.name} is not in {found.name}")
        return found

    def _url(self, by: User, channel: Channel, ts: str | None = None) -> str:
        return f"{self._response_base}/response/{self._urls.new(by.id, channel.id, ts).secret}"


def _seen(result: Acknowledged | Unacknowledged) -> Seen:
    return Seen(True, result.seconds) if isinstance(result, Acknowledged) else Seen(False)


def _label(element: Json, block: Json) -> str:
    if element["type"] == "button":
        return str(element["text"]["text"])
    if "placeholder" in element:
        return str(element["placeholder"]["text"])
    label: str = block.get("label", {}).get("text", element.get("action_id", ""))
    return label


def _options(element: Json) -> list[Json]:
    if "option_groups" in element:
        return [option for group in element["option_groups"] for option in group["options"]]
    options: list[Json] = element.get("options", [])
    return options


def _chosen(element: Json, labels: list[str]) -> Json:
    found = [next((o for o in _options(element) if label in (o["text"]["text"], o["value"])), None) for label in labels]
    if None in found:
        shown = [option["text"]["text"] for option in _options(element)]
        raise NotThere(f"there is no option {labels}; there are {shown}")
    if element["type"] in ("checkboxes", "multi_static_select"):
        return {"selected_options": found}
    return {"selected_option": found[0] if found else None}


def _filled(block: Json, value: Any) -> tuple[Json, str]:
    """The state of a field, and what Slack itself has against it."""
    element, kind = block["element"], block["element"]["type"]
    is_needed = not block.get("optional", False)
    if kind in ("radio_buttons", "static_select", "checkboxes", "multi_static_select"):
        initial = element.get("initial_options") or [o for o in [element.get("initial_option")] if o]
        labels = [o["value"] for o in initial] if value is None else [value] if isinstance(value, str) else list(value)
        state = {"type": kind, **_chosen(element, labels)}
        return state, "Pick an option" if is_needed and not labels else ""
    text = element.get("initial_value") if value is None else str(value)
    if kind in ("datepicker", "timepicker"):
        key = "selected_date" if kind == "datepicker" else "selected_time"
        return {"type": kind, key: text}, "Fill this in" if is_needed and not text else ""
    if is_needed and not text:
        return {"type": kind, "value": None}, "Please complete this required field."
    problem = _text_problem(element, text) if text else ""
    return {"type": kind, "value": text or None}, problem


def _text_problem(element: Json, text: str) -> str:
    most, least = element.get("max_length", 3000), element.get("min_length", 0)
    if element["type"] == "number_input":
        try:
            number = float(text)
        except ValueError:
            return "This is not a number"
        if not element["is_decimal_allowed"] and "." in text:
            return "No decimals"
        low, high = float(element.get("min_value", number)), float(element.get("max_value", number))
        return "" if low <= number <= high else "Out of range"
    return "" if least <= len(text) <= most else f"{least} to {most} characters"
