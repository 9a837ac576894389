"""Random lives of one approval, lived by the engine and by the reference side by side."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta

from core.answers import ApprovalShape, RawAnswer
from core.commands import Answer
from core.decisions import Accepted, Case
from core.digests import action_digest
from core.ids import JsonObject, PersonId
from core.kinds import Kind
from core.machine import apply, decide
from core.people import Actor, Person, Role, agent_principal, person_principal
from core.policies import Panel, Policy
from core.question import Action, Asker, Decider, Question, Status, Vote
from core.roster import Roster
from tests.authority.reference import NO, Bench, Model, Someone
from tests.support.builders import AGENT, NOW, OTHER_AGENT, acting, opened, question_id, spec

SURFACES = ("slack", "discord", "web")
ROLES = tuple(Role)
GROUPS = ("red", "blue")
STRANGER = Person(PersonId("p_stranger"), "A stranger", Role.ADMIN)
MOST_STEPS = 40
#: How often somebody knocks at a question that is closed already before the history ends.
KNOCKS = 3

#: The arguments as they were shown, and two ways to edit them.
SHOWN: JsonObject = {"count": 5}
EDITED: Mapping[str, JsonObject] = {"six": {"count": 6}, "seven": {"count": 7}, "shown": SHOWN}
ACTION = Action("deploy", SHOWN, action_digest("deploy", SHOWN, None, None), editable=True)
WORDS = {None: "shown", ACTION.digest: "shown"} | {
    action_digest("deploy", arguments, None, None): word for word, arguments in EDITED.items()
}


@dataclass(frozen=True)
class World:
    """What the engine is given. A broken engine is the real one in a world where something was forgotten."""

    policy: Policy
    roster: Roster


Distortion = Callable[[World], World]


@dataclass
class Result:
    steps: int = 0
    presses: int = 0
    state: str = "open"
    story: list[str] = field(default_factory=list)
    disagreement: str | None = None


class History:
    def __init__(self, seed: int, distorted: Distortion) -> None:
        self.rng = random.Random(seed)
        self.distorted = distorted
        self.result = Result()
        names = [f"p_{letter}" for letter in "abcdef"[: self.rng.randint(2, 6)]]
        self.people = {PersonId(n): Person(PersonId(n), n, self.rng.choice(ROLES)) for n in names}
        self.groups = {group: {p for p in self.people if self.rng.random() < 0.5} for group in GROUPS}
        benches = [self._bench() for _ in range(self.rng.randint(1, 3))]
        four_eyes, asking = self.rng.random() < 0.5, self.rng.random() < 0.2
        owner = self.rng.choice(list(self.people))
        barred = (owner,) if four_eyes or asking else ()
        rejections = self.rng.randint(1, 2)
        self.model = Model(
            {n: Someone(ROLES.index(p.role)) for n, p in self.people.items()},
            {group: set(members) for group, members in self.groups.items()},
            benches,
            frozenset(barred),
            rejections,
        )
        self.policy = Policy(
            tuple(_panel(place, bench) for place, bench in enumerate(benches)),
            barred if four_eyes else (),
            rejections,
            four_eyes,
        )
        asker = Asker(person_principal(owner) if asking else AGENT.principal, "asker", owner=owner)
        of = spec(
            Kind.APPROVAL,
            ApprovalShape(editable=True),
            time_limit=None,
            action=ACTION,
            asker=asker,
            policy=self._world().policy,
        )
        self.case = Case(opened(of))
        self._tell(f"people {[(p.id, p.role.value) for p in self.people.values()]}, groups {self.model.groups}")
        for _ in range(self.rng.randint(0, 2)):
            self._tell(self._go_away(0))
        self._tell(f"benches {benches}, barred {barred}, rejections {rejections}, asker {asker.principal}")

    def _bench(self) -> Bench:
        need = self.rng.choice((1, 1, 2, 2, 3))
        kind = self.rng.choice(("group", "people", "role", "group"))
        if kind == "role":
            return Bench(need, rank=self.rng.randrange(len(ROLES)))
        if kind == "people":
            return Bench(need, frozenset(p for p in self.people if self.rng.random() < 0.5))
        group = self.rng.choice(GROUPS)
        return Bench(need, frozenset(self.groups[group]), group)

    def _tell(self, what: str) -> None:
        self.result.story.append(what)

    def _world(self) -> World:
        groups = {group: tuple(sorted(members)) for group, members in self.groups.items()}
        return self.distorted(World(self.policy, Roster(dict(self.people), groups)))

    def run(self) -> Result:
        knocks = 0
        for now in range(1, self.rng.randint(5, MOST_STEPS) + 1):
            self.result.steps += 1
            if self.rng.random() < 0.6:
                self._press(now)
                knocks += self.model.state != "open"
            else:
                self._change(now)
            if self.result.disagreement is not None or knocks > KNOCKS:
                break
        self.result.state = self.model.state
        return self.result

    def _press(self, now: int) -> None:
        self.result.presses += 1
        surface = self.rng.choice(SURFACES)
        who = self.rng.random()
        if who < 0.04:
            actor, name = self.rng.choice((AGENT, OTHER_AGENT, Actor(agent_principal("p_a"), "p_a", "api"))), "an agent"
        elif who < 0.08:
            actor, name = acting(STRANGER, surface), STRANGER.id
        else:
            person = self.rng.choice(list(self.people.values()))
            actor, name = acting(person, surface), person.id
        raw, word = self._word()
        heard = self.model.press(name, word, now)
        world = self._world()
        decision = decide(self.case, Answer(question_id(1), actor, raw), NOW + timedelta(minutes=now), world.roster)
        self.case = apply(self.case, decision.events)
        self._tell(f"{now}: {name} on {surface} says {word} ({raw.arguments}) -> {heard} {self.model.state}")
        self.result.disagreement = self._difference(heard, isinstance(decision, Accepted))

    def _word(self) -> tuple[RawAnswer, str]:
        chance = self.rng.random()
        if chance < 0.15:
            return RawAnswer(False), NO
        if chance < 0.8:
            return RawAnswer(True), "shown"
        word = self.rng.choice(tuple(EDITED))
        return RawAnswer(True, None, dict(EDITED[word])), word

    def _difference(self, heard: bool, accepted: bool) -> str | None:
        question = self.case.question
        assert question is not None
        if heard != accepted:
            return f"the reference says heard={heard}, the engine {accepted}"
        state, deciders = _state(question), [d.id or "" for d in _deciders(question)]
        known = {self.model.real(name) for name in deciders}, {self.model.real(name) for name in self.model.deciders}
        if state != self.model.state or known[0] != known[1] or len(set(deciders)) != len(deciders):
            return f"the reference says {self.model.state} by {known[1]}, the engine {state} by {deciders}"
        # Where a single word decides nothing is counted.
        if (question.is_open or question.policy.need > 1) and question.tally.have != self.model.have:
            return f"the reference counts {self.model.have}, the engine {question.tally.have}"
        votes = [(vote.by.id, _said(vote)) for vote in question.votes]
        if question.is_open and votes != list(self.model.words.items()):
            return f"the reference keeps {self.model.words}, the engine {votes}"
        return None

    def _change(self, now: int) -> None:
        change = self.rng.choice(
            (self._remove, self._return, self._leave_group, self._change_role, self._go_away, self._merge)
        )
        self._tell(f"{now}: {change(now)}")

    def _anybody(self) -> PersonId:
        return self.rng.choice(list(self.people))

    def _remove(self, now: int) -> str:
        who = self._anybody()
        self.people[who] = replace(self.people[who], is_active=False)
        self.model.people[who].there = False
        return f"{who} is removed"

    def _return(self, now: int) -> str:
        gone = [p for p in self.people.values() if p.merged_into is None and not p.is_active]
        if not gone:
            return "nobody to bring back"
        who = self.rng.choice(gone)
        self.people[who.id] = replace(who, is_active=True)
        self.model.people[who.id].there = True
        return f"{who.id} is active again"

    def _leave_group(self, now: int) -> str:
        who, group = self._anybody(), self.rng.choice(GROUPS)
        joins = self.rng.random() < 0.4
        kept = self.groups[group] - {who}
        self.groups[group] = kept | {who} if joins else kept
        self.model.groups[group] = set(self.groups[group])
        return f"{who} {'joins' if joins else 'leaves'} {group}"

    def _change_role(self, now: int) -> str:
        who, role = self._anybody(), self.rng.choice(ROLES)
        self.people[who] = replace(self.people[who], role=role)
        self.model.people[who].rank = ROLES.index(role)
        return f"{who} is {role} now"

    def _go_away(self, now: int) -> str:
        who, stand_in = self._anybody(), self._anybody()
        until = now + self.rng.randint(0, 20)
        self.people[who] = replace(self.people[who], away_until=NOW + timedelta(minutes=until), stand_in=stand_in)
        self.model.people[who].away_until, self.model.people[who].stand_in = until, stand_in
        return f"{who} is away until {until}, {stand_in} stands in"

    def _merge(self, now: int) -> str:
        apart = [p for p in self.people.values() if p.merged_into is None]
        if len(apart) < 2 or self.rng.random() < 0.5:
            return "nobody turns out to be somebody else"
        one, other = self.rng.sample(apart, 2)
        self.people[one.id] = replace(one, is_active=False, merged_into=other.id)
        self.model.people[one.id].there, self.model.people[one.id].same_as = False, other.id
        return f"{one.id} turns out to be {other.id}"


def _panel(place: int, bench: Bench) -> Panel:
    roles = () if bench.rank is None else (ROLES[bench.rank],)
    return Panel(f"bench {place}", bench.need, tuple(map(PersonId, sorted(bench.names))), roles, bench.group)


def _state(question: Question) -> str:
    if question.is_open:
        return "open"
    assert question.status is Status.ANSWERED
    assert question.outcome is not None
    assert question.outcome.answer is not None
    return "approved" if question.outcome.answer.value is True else "rejected"


def _deciders(question: Question) -> tuple[Decider, ...]:
    return question.outcome.deciders if question.outcome is not None else ()


def _said(vote: Vote) -> str:
    return WORDS[vote.digest] if vote.answer.value is True else NO


def truthful(world: World) -> World:
    return world


def run(seed: int, distorted: Distortion = truthful) -> Result:
    return History(seed, distorted).run()
