"""Who has the inbox before their eyes, wherever that is kept."""

from datetime import timedelta

import pytest

from core.sessions import SessionRules
from tests.support.backends import Backend
from tests.support.builders import DANA, EVE
from tests.support.clocks import Clock

MINUTE, HOUR, TICK = timedelta(minutes=1), timedelta(hours=1), timedelta(milliseconds=1)
RULES = SessionRules(idle=30 * MINUTE, lifetime=12 * HOUR)
#: Over as soon as they begin, by whatever clock.
ENDED = (SessionRules(idle=timedelta(0), lifetime=HOUR), SessionRules(idle=HOUR, lifetime=timedelta(0)))


async def test_whoever_says_so_looks_and_nobody_else(backend: Backend) -> None:
    await backend.sessions.begin("eve 1", EVE.id, RULES)
    await backend.sessions.begin("eve 2", EVE.id, RULES)
    await backend.sessions.begin("dana", DANA.id, RULES)
    before = await backend.sessions.looking()

    await backend.sessions.look("eve 2", lasts=MINUTE)
    one = await backend.sessions.looking()
    await backend.sessions.look("eve 1", lasts=MINUTE)
    await backend.sessions.look("dana", lasts=MINUTE)

    assert (before, one) == (frozenset(), frozenset({EVE.id}))
    assert await backend.sessions.looking() == {EVE.id, DANA.id}


async def test_looking_is_over_when_nobody_says_so_again(timed: Backend, clock: Clock) -> None:
    await timed.sessions.begin("digest", EVE.id, RULES)
    await timed.sessions.look("digest", lasts=MINUTE)
    seen = []

    for time in (MINUTE - TICK, TICK):
        clock.passes(time)
        seen.append(await timed.sessions.looking())
    await timed.sessions.look("digest", lasts=MINUTE)
    clock.passes(MINUTE / 2)
    await timed.sessions.look("digest", lasts=MINUTE)
    clock.passes(MINUTE - TICK)

    assert seen == [{EVE.id}, frozenset()]
    assert await timed.sessions.looking() == {EVE.id}


@pytest.mark.parametrize("lasts", [timedelta(0), -MINUTE])
async def test_whoever_looks_away_says_so(backend: Backend, lasts: timedelta) -> None:
    await backend.sessions.begin("digest", EVE.id, RULES)
    await backend.sessions.look("digest", lasts=HOUR)

    await backend.sessions.look("digest", lasts=lasts)

    assert await backend.sessions.looking() == frozenset()
    assert await backend.sessions.find("digest") == EVE.id


async def test_a_session_that_was_ended_does_not_look(backend: Backend) -> None:
    for digest in ("one", "other"):
        await backend.sessions.begin(digest, EVE.id, RULES)
        await backend.sessions.look(digest, lasts=HOUR)

    await backend.sessions.end("one")
    after_one = await backend.sessions.looking()
    await backend.sessions.end_all(EVE.id)

    assert after_one == {EVE.id}
    assert await backend.sessions.looking() == frozenset()


@pytest.mark.parametrize("rules", ENDED)
async def test_what_has_ended_does_not_look_whatever_it_says(backend: Backend, rules: SessionRules) -> None:
    await backend.sessions.begin("digest", EVE.id, rules)

    await backend.sessions.look("digest", lasts=HOUR)
    await backend.sessions.look("never was", lasts=HOUR)
    await backend.sessions.keep("digest", RULES)

    assert await backend.sessions.looking() == frozenset()


@pytest.mark.parametrize("rules", [SessionRules(MINUTE, HOUR), SessionRules(HOUR, MINUTE)])
async def test_nobody_looks_longer_than_their_session_lasts(timed: Backend, clock: Clock, rules: SessionRules) -> None:
    await timed.sessions.begin("digest", EVE.id, rules)
    await timed.sessions.look("digest", lasts=HOUR)
    seen = []

    for time in (MINUTE - TICK, TICK):
        clock.passes(time)
        seen.append(await timed.sessions.looking())

    assert seen == [{EVE.id}, frozenset()]


async def test_looking_does_not_keep_a_session(timed: Backend, clock: Clock) -> None:
    await timed.sessions.begin("digest", EVE.id, RULES)

    clock.passes(RULES.idle - TICK)
    await timed.sessions.look("digest", lasts=HOUR)
    clock.passes(TICK)

    assert await timed.sessions.find("digest") is None
