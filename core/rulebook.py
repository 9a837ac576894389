"""The policy of a workspace as rules: who may answer, where questions go, how they climb. First match wins.

`core.freezing` turns it into the policy of one question. It is written and read as text by `adapters.policy`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from fnmatch import fnmatchcase

from core.ids import PersonId
from core.kinds import Kind
from core.people import Handle, Role
from core.question import Urgency
from core.schedules import Schedule
from core.steps import StepKind

#: What an action's risk is called in rules when the agent did not say.
UNSTATED = "unstated"


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What rules look at. What the agent claims about itself is not among it: `agent` is the name of its key."""

    kind: Kind
    urgency: Urgency = Urgency.NORMAL
    risk: str = UNSTATED
    tool: str | None = None
    project: str | None = None
    agent: str = ""
    tags: tuple[str, ...] = ()
    to: str | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """When a rule applies. What is left empty is not looked at; tools, projects, agents, tags and `to` take globs."""

    kinds: tuple[Kind, ...] = ()
    urgencies: tuple[Urgency, ...] = ()
    risks: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    to: tuple[str, ...] = ()

    def fits(self, case: Circumstances) -> bool:
        return (
            (not self.kinds or case.kind in self.kinds)
            and (not self.urgencies or case.urgency in self.urgencies)
            and (not self.risks or case.risk in self.risks)
            and _any_like((case.tool,), self.tools)
            and _any_like((case.project,), self.projects)
            and _any_like((case.agent,), self.agents)
            and _any_like(case.tags, self.tags)
            and _any_like((case.to,), self.to)
        )


def _any_like(values: Sequence[str | None], globs: Sequence[str]) -> bool:
    if not globs:
        return True
    return any(value is not None and fnmatchcase(value, glob) for value in values for glob in globs)


@dataclass(frozen=True, slots=True)
class Seats:
    """`need` people of a group, of some people by name, or of a role. Exactly one of the three is given."""

    need: int = 1
    group: str | None = None
    people: tuple[PersonId, ...] = ()
    role: Role | None = None


@dataclass(frozen=True, slots=True)
class AnswerRule:
    name: str
    match: Match
    seats: tuple[Seats, ...]
    four_eyes: bool = False
    rejections: int = 1
    #: Where the workspace has a single person, that person may decide alone.
    solo: bool = False


class PlaceKind(StrEnum):
    #: The channel that the settings of the connected chat surfaces name.
    CHAT = "chat"
    CHANNEL = "channel"
    DIRECT = "dm"
    EMAIL = "email"
    INBOX = "inbox"


@dataclass(frozen=True, slots=True)
class Place:
    kind: PlaceKind
    surface: str = ""
    address: str = ""


@dataclass(frozen=True, slots=True)
class RouteRule:
    """Where a question goes: all places of a step at once, the next step when none of them could be reached."""

    name: str
    match: Match
    steps: tuple[tuple[Place, ...], ...]


@dataclass(frozen=True, slots=True)
class StepRule:
    """A step at an offset: a span after asking, or a part of the time limit between 0 and 1."""

    kind: StepKind
    at: timedelta | float
    #: `asked`, `person:…`, `group:…`, `schedule:…`, `role:…`
    audience: tuple[str, ...] = ("asked",)
    places: tuple[Place, ...] = ()
    joins: str | None = None
    holds: bool = True
    #: How often it is done again, and how far apart.
    times: int = 1
    every: timedelta | None = None


@dataclass(frozen=True, slots=True)
class LadderRule:
    name: str
    match: Match
    steps: tuple[StepRule, ...]
    acknowledgement: timedelta = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class GroupRule:
    """Named people, or a group that a surface keeps, such as a Slack user group."""

    members: tuple[PersonId, ...] = ()
    backing: Handle | None = None


@dataclass(frozen=True, slots=True)
class Rulebook:
    version: int = 0
    groups: Mapping[str, GroupRule] = field(default_factory=dict)
    schedules: Mapping[str, Schedule] = field(default_factory=dict)
    answers: tuple[AnswerRule, ...] = ()
    routes: tuple[RouteRule, ...] = ()
    ladders: tuple[LadderRule, ...] = ()
    #: Whether a question to somebody nobody has heard of is refused; otherwise it goes where others like it go.
    refuses_unknown: bool = False
