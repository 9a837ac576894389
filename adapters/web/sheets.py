"""A question as one person sees it on a page: what it says, whether they may answer, and how."""

from dataclasses import dataclass
from datetime import datetime

from adapters.web.diffs import diff_lines
from adapters.web.rendering import time_left
from adapters.web.trees import weight
from core.answers import FormShape, Option, options_of, takes_free_text
from core.browsing import agent_of, place_of
from core.fields import Field, fields_of
from core.people import Actor
from core.policies import objection
from core.prompt import Prompt, prompt_for
from core.question import Question, Risk, Status, Urgency, Vote
from core.roster import Roster

#: What a card shows of an action. Whatever is larger is read whole on the question's own page, and approved there.
_CARD_ARGUMENTS, _CARD_DIFF_LINES, _CARD_OPTIONS, _CARD_TEXT = 600, 12, 6, 1200
_RISKY = frozenset({Risk.HIGH, Risk.CRITICAL})


@dataclass(frozen=True, slots=True)
class Sheet:
    question: Question
    prompt: Prompt
    agent: str
    #: Why this person may not answer; empty when they may.
    objection: str
    #: It is put to this person and waits for their word.
    is_mine: bool
    my_vote: Vote | None
    left: str
    #: Everything that matters is on a card, so it can be answered there.
    fits_card: bool
    options: tuple[Option, ...]
    free_text: bool
    fields: tuple[Field, ...]
    place: str

    @property
    def may_answer(self) -> bool:
        return self.question.is_open and not self.objection

    @property
    def may_send_late(self) -> bool:
        return self.question.status is Status.EXPIRED and not self.objection

    @property
    def shape(self) -> str:
        return self.question.spec.shape.type

    @property
    def risk(self) -> Risk | None:
        return self.question.spec.action.risk if self.question.spec.action is not None else None

    @property
    def is_risky(self) -> bool:
        return self.risk in _RISKY

    @property
    def is_urgent(self) -> bool:
        return self.question.spec.urgency is Urgency.URGENT


def sheet_for(question: Question, actor: Actor, roster: Roster, now: datetime) -> Sheet:
    spec = question.spec
    against = objection(question.policy, spec.asker.principal, actor, roster, now) or ""
    person_id = actor.person.id if actor.person is not None else None
    place = place_of(question)
    return Sheet(
        question=question,
        prompt=prompt_for(question),
        agent=agent_of(question),
        objection=against,
        is_mine=question.is_open and person_id in question.awaited,
        my_vote=next((vote for vote in question.votes if vote.by.id == person_id), None),
        left=_left(question, now),
        fits_card=_fits_card(question),
        options=options_of(spec.shape),
        free_text=takes_free_text(spec.shape),
        fields=fields_of(spec.shape.schema) if isinstance(spec.shape, FormShape) else (),
        place=place_text(place.rank, question.deadline, question.id),
    )


def place_text(rank: int, deadline: datetime | None, question_id: str) -> str:
    """A place among those that wait, as a word for addresses; scripts compare these as texts."""
    stamp = round(deadline.timestamp() * 1000) if deadline is not None else 9_999_999_999_999
    return f"{rank}.{stamp:013d}.{question_id}"


def _left(question: Question, now: datetime) -> str:
    if question.pause is not None:
        return "clock paused"
    if not question.is_open or question.deadline is None:
        return ""
    return time_left(question.deadline, now)


def _fits_card(question: Question) -> bool:
    spec = question.spec
    if len(spec.text) > _CARD_TEXT or spec.shape.type in ("form", "multi_choice"):
        return False
    action, options = spec.action, options_of(spec.shape)
    if len(options) > _CARD_OPTIONS or any(option.pros or option.cons for option in options):
        return False
    if action is None:
        return True
    long_diff = action.diff is not None and sum(1 for _ in diff_lines(action.diff)) > _CARD_DIFF_LINES
    return not long_diff and action.risk not in _RISKY and weight(action.arguments) <= _CARD_ARGUMENTS
