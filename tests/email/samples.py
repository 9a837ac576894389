"""Questions as mails show them."""

from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser

from core.answers import ApprovalShape, ChoiceShape, Option
from core.digests import action_digest
from core.ids import JsonObject
from core.prompt import Fact, Prompt, prompt_for
from core.question import Action, Question, Risk
from tests.support.builders import answered, expired, opened, spec

PAGE = "https://ask.example.com/q/q_00000000000000000000000001"
ARGUMENTS: JsonObject = {
    "env": "prod",
    "version": "1.4.0",
    "replicas": 3,
    "notes": "see https://evil.example.net/x?a=1&b=2",
}
DIFF = "--- a/app.yml\n+++ b/app.yml\n@@ -1,3 +1,3 @@\n name: shop\n-image: shop:1.3.9\n+image: shop:1.4.0\n"
DIGEST = action_digest("deploy", ARGUMENTS, DIFF, Risk.HIGH)
CHOICES = (
    Option(
        "PostgreSQL",
        "postgres",
        description="A server of its own.",
        recommended=True,
        implications="Needs a backup plan.",
        pros=("fast", "safe"),
        cons=("work",),
    ),
    Option("SQLite", "sqlite", description="One file.", pros=("simple",), cons=("one writer",)),
)


def text_question() -> Question:
    return opened(spec(text="Which database?\nThe old one is full.", context={"region": "eu-west-1"}))


def approval() -> Prompt:
    action = Action("deploy", ARGUMENTS, DIGEST, DIFF, Risk.HIGH)
    asked = spec(shape=ApprovalShape(), text="May I deploy 1.4.0 to production?", action=action, agent="release-bot")
    return replace(
        prompt_for(opened(asked)), thread=(Fact("Dana", "Is the\nbackup done?"), Fact("release-bot", "Yes."))
    )


def choice() -> Prompt:
    return prompt_for(opened(spec(shape=ChoiceShape(CHOICES), text="Which database?")))


def open_prompt() -> Prompt:
    return prompt_for(text_question())


def answered_prompt() -> Prompt:
    return prompt_for(answered(text_question().spec))


def expired_prompt() -> Prompt:
    return prompt_for(expired(text_question().spec))


def noon() -> datetime:
    return datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Seen(HTMLParser):
    """HTML as a mail program understands it: which elements and attributes there are, and what can be read."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.styles: set[str] = set()
        self.links: list[str] = []
        self.declarations: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.styles |= {value or "" for name, value in attrs if name == "style"}
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action", "background")]
        if tag in ("br", "p", "div", "h2", "td", "pre"):
            self.text += "\n"

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_decl(self, decl: str) -> None:
        self.declarations.append(decl)

    def handle_comment(self, data: str) -> None:
        self.declarations.append(data)

    def unknown_decl(self, data: str) -> None:
        self.declarations.append(data)

    def handle_pi(self, data: str) -> None:
        self.declarations.append(data)
