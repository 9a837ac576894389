"""Whatever is asked and settled in whatever order, a database shows the same as memory does, page by page."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from core.answers import AnswerValue
from core.browsing import Sieve
from core.commands import Command, Reassign, Remark, Withdraw
from core.engine import Handled
from core.ids import JobId, PersonId, WorkspaceId
from core.kinds import Kind
from core.question import OutcomeKind, Urgency
from tests.support.backends import Backend, memory_backend, sql_backend, sqlite_url
from tests.support.builders import AGENT, DANA, EVE, WORKSPACE, acting, answer, ask, question_id, spec
from tests.support.clocks import Clock
from tests.support.inboxes import AT_ONCE, asked, pages_of_settled, pages_of_waiting, time_is_up

WORKSPACES = (WORKSPACE, WorkspaceId("elsewhere"))
KINDS = (Kind.CLARIFYING, Kind.CONFIRMING, Kind.PREFERENCE)
PROJECTS, AGENTS, JOBS = (None, "shop", "mail"), (None, "builder", "planner"), (None, JobId("one"), JobId("two"))
TEXTS = ("Straße 100%?", "STRASSE_1", "a\\b", "Привет", "of 3 \u212a")
WORDS = (None, None, "strasse", "ß", "%", "_1", "\\", "ПРИ", "k", "a", "0007", "principal")
LIMITS = (None, timedelta(hours=1), timedelta(hours=2), timedelta(hours=3))
PEOPLE: tuple[tuple[PersonId, ...], ...] = ((), (DANA.id,), (EVE.id,), (EVE.id, DANA.id))

T = TypeVar("T")


@dataclass
class Twins:
    """Two inboxes to which the same happens."""

    sides: tuple[Backend, Backend]
    #: The time on both sides, where they have one clock.
    clock: Clock | None
    chance: random.Random
    asked: list[int] = field(default_factory=list)

    async def happen(self) -> None:
        """Something that might happen to an inbox; what is refused is refused on both sides."""
        what = self.chance.choices(
            ("ask", "answer", "withdraw", "hand over", "ask back", "run out"), (9, 3, 1, 2, 2, 1)
        )
        if self.clock is not None and self.chance.random() < 0.3:
            self.clock.passes(timedelta(seconds=1))
        if what == ["run out"]:
            return await self.run_out()
        command = self.command(what[0])
        done = [await side.engine().handle(command) for side in self.sides]
        assert isinstance(done[0], Handled)
        assert isinstance(done[1], Handled)
        assert type(done[0].decision) is type(done[1].decision)

    async def run_out(self) -> None:
        fields, number = self.fields(), self.next()
        fields["default"] = self.chance.choice((None, AnswerValue("PostgreSQL")))
        for side in self.sides:
            await asked(side, number, time_limit=AT_ONCE, **fields)
        if self.clock is not None:
            self.clock.passes(AT_ONCE)
        for side in self.sides:
            await time_is_up(side, number)

    def command(self, what: str) -> Command:
        if what == "ask" or not self.asked:
            number, fields = self.next(), self.fields()
            return ask(number, spec(**fields, time_limit=self.limit(number)))
        number = self.chance.choice(self.asked)
        commands: dict[str, Command] = {
            "answer": answer(number),
            "withdraw": Withdraw(question_id(number), AGENT),
            "hand over": Reassign(question_id(number), acting(DANA), "Dana"),
            "ask back": Remark(question_id(number), self.chance.choice((AGENT, acting(DANA))), "Which size?"),
        }
        return commands[what]

    def limit(self, number: int) -> timedelta | None:
        limit = self.chance.choice(LIMITS)
        # Where the clocks differ, deadlines that were close would come in another order.
        return limit if limit is None or self.clock is not None else limit + number * timedelta(seconds=20)

    def next(self) -> int:
        self.asked.append(len(self.asked) + 1)
        return self.asked[-1]

    def fields(self) -> dict[str, Any]:
        pick = self.chance.choice
        return {
            "kind": pick(KINDS),
            "workspace_id": pick((WORKSPACE, *WORKSPACES)),
            "urgency": pick(tuple(Urgency)),
            "project_id": pick(PROJECTS),
            "agent": pick(AGENTS),
            "job": pick(JOBS),
            "text": pick(TEXTS),
            "asked": pick(PEOPLE),
        }

    def sieve(self) -> Sieve:
        """Few filters at a time: what nothing passes through tells nothing."""
        pick, rarely = self.chance.choice, self.rarely
        return Sieve(
            pick((WORKSPACE, *WORKSPACES)),
            rarely(*KINDS),
            rarely(*PROJECTS),
            rarely(*AGENTS),
            rarely(*JOBS),
            pick(WORDS),
            rarely(DANA.id, EVE.id),
        )

    def rarely(self, *values: T) -> T | None:
        return self.chance.choice(values) if self.chance.random() < 0.3 else None


@pytest.fixture(params=["sqlite", "postgres"])
def sides(
    request: pytest.FixtureRequest, clock: Clock, tmp_path: Path
) -> Iterator[tuple[tuple[Backend, Backend], Clock | None]]:
    if request.param == "postgres":
        with sql_backend(request.getfixturevalue("postgres").new_database()) as postgres:
            yield (memory_backend(), postgres), None
        return
    with sql_backend(sqlite_url(tmp_path), clock) as sqlite:
        yield (memory_backend(clock), sqlite), clock


@pytest.mark.parametrize("seed", range(4))
async def test_a_database_shows_what_memory_shows(
    sides: tuple[tuple[Backend, Backend], Clock | None], seed: int
) -> None:
    twins = Twins(*sides, random.Random(seed))
    seen = 0
    for _ in range(12):
        for _ in range(8):
            await twins.happen()
        sieve, length = twins.sieve(), twins.chance.randint(1, 9)
        ended = twins.chance.choice((None, *OutcomeKind))
        for look, wanted in (
            (pages_of_waiting, sieve),
            (pages_of_settled, sieve),
            (pages_of_settled, Sieve(WORKSPACE, ended=ended)),
        ):
            shown = [await look(side, length, wanted) for side in twins.sides]
            assert shown[0] == shown[1], wanted
            seen += len(shown[0])
        for person in (DANA, EVE):
            counts = [await side.browser.count_put_to(WORKSPACE, person.id) for side in twins.sides]
            assert counts[0] == counts[1]
    assert seen > 12, "the sieves let hardly anything through"
