"""Reading, checking, changing and explaining the policy: one way for the HTTP API, the commands and the surfaces."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from adapters.policy import PolicyProblems, Problem, edit_policy, policy_diff, read_policy
from bot.household import Household
from core.deadlines import TimeLimits, kind_limit, limit_problem
from core.explaining import Explanation, explain
from core.freezing import SOMEBODY, Ground
from core.ids import JsonValue, PersonId
from core.kinds import KINDS
from core.people import Person, agent_principal
from core.phrasing import shown
from core.question import Asker
from core.roster import Roster
from core.rulebook import Circumstances, GroupRule, Rulebook


@dataclass(frozen=True, slots=True)
class Draft:
    """A policy that somebody would like, checked against the people there are."""

    before: int
    text: str
    diff: str
    rulebook: Rulebook
    #: Whom the names in it mean.
    meant: Mapping[str, PersonId]


class SomebodyWasFirst(Exception):
    """The policy changed since it was read."""

    def __init__(self, version: int) -> None:
        super().__init__(f"The policy is at version {version} by now. Look at what changed and apply yours again.")
        self.version = version


class _Noting(Roster):
    """Notes whom each name in a policy meant. A name that nobody has any more means whom it meant before."""

    __slots__ = ("_before", "noted")
    _before: Mapping[str, PersonId]
    noted: dict[str, PersonId]

    def __init__(self, roster: Roster, before: Mapping[str, PersonId]) -> None:
        super().__init__(roster.people, roster.groups, roster.schedules, roster.connected)
        object.__setattr__(self, "_before", before)
        object.__setattr__(self, "noted", {})

    def find(self, name: str) -> Person | None:
        person = super().find(name)
        if person is None and name in self._before:
            person = self.active(self._before[name])
        if person is not None:
            self.noted[name] = person.id
        return person


class PolicyOffice:
    def __init__(self, household: Household, limits: TimeLimits) -> None:
        self._household = household
        self._limits = limits

    async def current(self) -> tuple[int, str]:
        return await self._household.text()

    async def draft(self, text: str) -> Draft:
        """Raises PolicyProblems with every problem of the text."""
        version, now = await self.current()
        stored = await self._household.people.policy()
        noting = _Noting(await self._roster(), stored.meant if stored is not None else {})
        rulebook = read_policy(text, noting, version=version + 1)
        if not rulebook.answers:
            sentence = "No rule says who may answer, so nobody could. Begin with handraise-bot policy export."
            raise PolicyProblems([Problem("answer", sentence)])
        return Draft(version, text, policy_diff(now, text), rulebook, noting.noted)

    async def edited(self, changes: dict[str, JsonValue]) -> Draft:
        _, text = await self.current()
        return await self.draft(edit_policy(text, changes))

    async def apply(self, draft: Draft, *, by: str, expected: int | None = None) -> int:
        """The new version, or the current one when nothing is different. Raises SomebodyWasFirst."""
        if expected is not None and expected != draft.before:
            raise SomebodyWasFirst(draft.before)
        if not draft.diff:
            return draft.before
        stored = await self._household.people.save_policy(
            draft.text, before=draft.before, by=by, diff=draft.diff, meant=draft.meant
        )
        self._household.changed()
        if stored is None:
            raise SomebodyWasFirst((await self.current())[0])
        return stored.version

    async def explain(
        self,
        case: Circumstances,
        *,
        at: datetime | None = None,
        limit: timedelta | None = None,
        owner: str | None = None,
        on_behalf_of: str | None = None,
        draft: Draft | None = None,
    ) -> Explanation:
        """What would happen to such a question; with a draft, what would happen if that were the policy."""
        ground = (await self._household.house()).ground
        book, roster = ground.rulebook, ground.roster
        if draft is not None:
            groups = {name: _members(name, rule, ground) for name, rule in draft.rulebook.groups.items()}
            book = draft.rulebook
            roster = Roster(roster.people, groups, book.schedules, roster.connected)
        now = at.astimezone(UTC) if at is not None else ground.now.replace(microsecond=0)
        ground = Ground(book, roster, now, ground.channels)
        kind, own = KINDS[case.kind], limit is None
        problem = _unknown(owner, on_behalf_of, ground) or (None if own else limit_problem(limit, kind, self._limits))
        if problem is not None:
            return Explanation(problem, version=book.version)
        asker = Asker(
            agent_principal(case.agent),
            case.agent,
            owner=_person(owner, ground) or SOMEBODY,
            on_behalf_of=_person(on_behalf_of, ground),
        )
        return explain(case, asker, ground, kind_limit(kind, self._limits) if own else limit, own=own)

    async def _roster(self) -> Roster:
        self._household.changed()
        return await self._household.roster()


def _members(name: str, rule: GroupRule, ground: Ground) -> tuple[PersonId, ...]:
    """Who is in a group of a draft. Of one that a surface keeps that is known only where it is in force already."""
    if rule.backing is None:
        return rule.members
    return ground.roster.groups.get(name, ()) if ground.rulebook.groups.get(name) == rule else ()


def _unknown(owner: str | None, on_behalf_of: str | None, ground: Ground) -> str | None:
    """Asking would not get this far with them either: such a key cannot be made, such a question is refused."""
    if owner is not None and _person(owner, ground) is None:
        return f"There is nobody called {shown(owner)} here for a key to belong to."
    if on_behalf_of is not None and _person(on_behalf_of, ground) is None:
        return f"There is nobody called {shown(on_behalf_of)} here for the agent to work for."
    return None


def _person(name: str | None, ground: Ground) -> PersonId | None:
    person = ground.roster.find(name) if name is not None else None
    return person.id if person is not None else None
