"""The engine against an independent telling of its rules, on random histories; and proof that the check can fail."""

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import pytest

from core.people import Person, Role
from core.policies import Panel, Policy
from tests.authority.histories import Distortion, World, run

SHORT, LONG, ENOUGH = 400, 10_000, 300


def _compared(seeds: Iterable[int]) -> tuple[Counter[str], int, int]:
    states, steps, presses = Counter[str](), 0, 0
    for seed in seeds:
        result = run(seed)
        assert result.disagreement is None, "\n".join([f"seed {seed}:", *result.story, result.disagreement])
        states[result.state] += 1
        steps += result.steps
        presses += result.presses
    return states, steps, presses


def test_engine_and_reference_agree_on_random_histories() -> None:
    states, _, _ = _compared(range(SHORT))

    assert min(states[state] for state in ("open", "approved", "rejected")) > SHORT // 10


@pytest.mark.soak
def test_engine_and_reference_agree_on_ten_thousand_histories() -> None:
    states, steps, presses = _compared(range(1_000_000, 1_000_000 + LONG))

    counts = ", ".join(f"{count:,} {state}" for state, count in sorted(states.items()))
    sys.stdout.write(f"\n{LONG:,} histories, {steps:,} steps, {presses:,} of them votes: {counts}\n")


def test_a_history_is_told_by_its_seed() -> None:
    assert run(7) == run(7)
    assert run(7) != run(8)


def _with_people(world: World, *, forget: str) -> World:
    people = {p.id: _forgetting(p, forget) for p in world.roster.people.values()}
    return replace(world, roster=replace(world.roster, people=people))


def _forgetting(person: Person, what: str) -> Person:
    match what:
        case "merges":
            return replace(person, merged_into=None, is_active=person.is_active or person.merged_into is not None)
        case "removals":
            return replace(person, is_active=person.merged_into is None)
        case "absences":
            return replace(person, away_until=None)
        case _:
            return replace(person, role=Role.APPROVER)


def _with_policy(world: World, policy: Policy) -> World:
    return replace(world, policy=policy)


def _with_panels(world: World, *panels: Panel) -> World:
    return _with_policy(world, replace(world.policy, panels=panels))


BROKEN: dict[str, Distortion] = {
    "forgets merges": lambda world: _with_people(world, forget="merges"),
    "forgets removals": lambda world: _with_people(world, forget="removals"),
    "forgets absences": lambda world: _with_people(world, forget="absences"),
    "forgets roles": lambda world: _with_people(world, forget="roles"),
    "forgets groups": lambda world: replace(world, roster=replace(world.roster, groups={})),
    "drops a panel": lambda world: _with_panels(world, *world.policy.panels[1:]),
    "asks one fewer": lambda world: _with_panels(
        world, *(replace(panel, need=max(1, panel.need - 1)) for panel in world.policy.panels)
    ),
    "forgets four eyes": lambda world: _with_policy(world, replace(world.policy, barred=())),
    "ends at the first rejection": lambda world: _with_policy(world, replace(world.policy, rejections=1)),
    "never ends at a rejection": lambda world: _with_policy(world, replace(world.policy, rejections=99)),
}


@pytest.mark.parametrize("distorted", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_engine_is_found_out(distorted: Distortion) -> None:
    found = [seed for seed in range(ENOUGH) if run(seed, distorted).disagreement is not None]

    assert len(found) > 3, f"only the seeds {found} show it"
