"""The neutral message that shows a question: what every surface says, before any of them says it in its own way."""

import json
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from core.answers import options_of, takes_free_text
from core.ids import JsonObject, QuestionId
from core.question import Action, Milestone, Question
from core.wording import answer_words, outcome_sentence, votes_so_far, who_may_answer


class Tone(StrEnum):
    OPEN = "open"
    WAITING = "waiting"
    DONE = "done"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    value: str
    #: Out of the context that the agent gave, whatever it calls it; everything else we say ourselves.
    is_context: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the options, with all that helps to choose it."""

    label: str
    description: str | None
    recommended: bool
    implications: str | None
    pros: tuple[str, ...]
    cons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Button:
    verb: str
    argument: str
    label: str


@dataclass(frozen=True, slots=True)
class TextBox:
    label: str


Control: TypeAlias = Button | TextBox


@dataclass(frozen=True, slots=True)
class ShownAction:
    """The whole action of an approval; a surface that cannot show all of it must not offer to approve."""

    tool: str
    arguments: JsonObject
    diff: str | None
    risk: str | None
    digest: str


@dataclass(frozen=True, slots=True)
class Prompt:
    question_id: QuestionId
    version: int
    title: str
    text: str
    tone: Tone
    facts: tuple[Fact, ...]
    choices: tuple[Choice, ...]
    controls: tuple[Control, ...]
    action: ShownAction | None
    thread: tuple[Fact, ...]
    deadline: datetime | None
    footer: str
    #: Who may answer, and how many are still needed.
    who: str = ""
    #: What was done so far to get an answer.
    story: tuple[Milestone, ...] = ()


def prompt_for(question: Question) -> Prompt:
    spec = question.spec
    choices = tuple(
        Choice(o.label, o.description, o.recommended, o.implications, o.pros, o.cons) for o in options_of(spec.shape)
    )
    return Prompt(
        question_id=question.id,
        version=question.version,
        title=f"{spec.agent or spec.asker.name} asks",
        text=spec.text,
        tone=_tone(question),
        facts=_facts(question),
        choices=choices,
        controls=_controls(question),
        action=_shown(spec.action),
        thread=tuple(Fact(c.author.name or c.author.type, c.text) for c in question.comments),
        deadline=question.deadline if question.is_open else None,
        footer=_footer(question),
        who=_who(question),
        story=question.story,
    )


def _shown(action: Action | None) -> ShownAction | None:
    if action is None:
        return None
    return ShownAction(action.tool, action.arguments, action.diff, action.risk, action.digest)


def _tone(question: Question) -> Tone:
    if question.is_open:
        return Tone.WAITING if question.pause is not None else Tone.OPEN
    return Tone.DONE if question.status == "answered" else Tone.CLOSED


def _facts(question: Question) -> tuple[Fact, ...]:
    spec = question.spec
    facts = [Fact("kind", spec.kind.replace("_", " "))]
    named = (("job", spec.job_id), ("project", spec.project_id), ("phase", spec.phase), ("for", spec.to))
    facts += [Fact(name, value) for name, value in named if value]
    if spec.urgency != "normal":
        facts.append(Fact("urgency", spec.urgency))
    for name, value in (spec.context or {}).items():
        told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        facts.append(Fact(name, told, is_context=True))
    if spec.default is not None:
        facts.append(Fact("default", answer_words(spec.shape, spec.default)))
    if question.outcome is not None and question.outcome.reason and question.outcome.answer is not None:
        facts.append(Fact("reason", question.outcome.reason))
    return tuple(facts)


def _controls(question: Question) -> tuple[Control, ...]:
    if not question.is_open:
        return ()
    shape = question.spec.shape
    match shape.type:
        case "approval":
            return (Button("approve", "", "Approve"), Button("reject", "", "Reject"))
        case "boolean":
            labels = {option.value: option.label for option in options_of(shape)}
            return (
                Button("answer", "true", labels.get(True, "Yes")),
                Button("answer", "false", labels.get(False, "No")),
            )
        case "choice":
            buttons = tuple(Button("answer", str(n), o.label) for n, o in enumerate(options_of(shape)))
            return (*buttons, TextBox("Something else")) if takes_free_text(shape) else buttons
        case _:
            return (TextBox("Your answer"),)


def _who(question: Question) -> str:
    if not question.is_open:
        return ""
    who = who_may_answer(question.policy, question.is_approval)
    cast = votes_so_far(question)
    return f"{who} {cast}" if cast else who


def _footer(question: Question) -> str:
    if question.outcome is not None:
        return outcome_sentence(question, question.outcome)
    if question.pause is not None:
        return "Waiting for the asker's reply; the clock stands still."
    return ""
