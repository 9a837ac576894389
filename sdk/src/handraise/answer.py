"""What asking gives back: an answer that cannot be mistaken for a yes, and for approvals a decision."""

from dataclasses import dataclass
from datetime import datetime

from handraise.errors import HandraiseError
from handraise.phrasing import line_for_model
from handraise.question import Decider, Question, Standing
from handraise.wire import Json

_ANSWERING = frozenset({"person", "rule"})


@dataclass(frozen=True, slots=True)
class Answer:
    """How a question stands, with its answer where there is one; it has no truth value of its own."""

    question: Question

    @property
    def id(self) -> str:
        return self.question.id

    @property
    def status(self) -> str:
        """`open`, `answered`, `defaulted`, `expired` or `withdrawn`; what was answered is for `value` to say."""
        standing = self.question.standing
        if standing in (Standing.APPROVED, Standing.REJECTED):
            return "defaulted" if self.question.has_defaulted else "answered"
        return str(standing.value)

    @property
    def is_open(self) -> bool:
        return self.question.is_open

    @property
    def value(self) -> object:
        """What to go on with: the answer, or where `is_default` says so the default; None where there is neither."""
        return self.question.value

    @property
    def is_default(self) -> bool:
        """Nobody answered: `value` is the default."""
        return self.question.is_default

    @property
    def text(self) -> str | None:
        """What the person wrote beside the answer."""
        return self.question.note

    @property
    def comment(self) -> str | None:
        """The same as `text`, as other kits call it."""
        return self.question.note

    @property
    def decided_by(self) -> Decider:
        """Who or what settled it: a person, a rule, the default, the deadline, the asker."""
        return self.question.decided_by

    @property
    def answered_by(self) -> Decider | None:
        """Who answered; None where nobody did, though a default may stand."""
        decider = self.question.decided_by
        return decider if self.status == "answered" and decider.type in _ANSWERING else None

    @property
    def decided_at(self) -> datetime | None:
        return self.question.decided_at

    @property
    def receipt(self) -> str | None:
        """The signed receipt of a settled approval, for `handraise.receipts`."""
        receipt = self.question.outcome.get("receipt")
        return receipt if isinstance(receipt, str) else None

    def for_model(self) -> str:
        """One honest line for a model; what people wrote stands in it as quoted data."""
        return line_for_model(self.question)

    def __bool__(self) -> bool:
        raise TypeError(
            f"{type(self).__name__} has no truth value, as both a “no” and a question nobody answered would look true: "
            "use .approved of what approve() returns, or look at .status, .is_default and .value."
        )


@dataclass(frozen=True, slots=True)
class Decision(Answer):
    """The answer to an approval."""

    @property
    def approved(self) -> bool:
        """A person approved, or a rule or standing approval that a person granted did.

        Never true for a default, a deadline, a withdrawal, or a question that is still open.
        """
        return self.question.is_approved

    @property
    def arguments(self) -> Json | None:
        """The action's arguments: as a person left them where one changed them, else as they were asked about."""
        return self.question.arguments

    @property
    def has_changed_arguments(self) -> bool:
        return self.question.has_changed_arguments


def answer_in(question: Question) -> Answer:
    """The answer, as a decision where an approval was asked for."""
    return Decision(question) if question.is_approval else Answer(question)


class StillOpen(HandraiseError):
    """The wait is over and the question is not; it stays open, and `question` says where."""

    def __init__(self, question: Question) -> None:
        super().__init__(f"{question.id} is still open; wait({question.id!r}) goes on waiting for it.")
        self.question = question


class NotApproved(HandraiseError):
    """A function that needs an approval was not called; `decision` says why."""

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.for_model())
        self.decision = decision
