"""Links sign somebody in once and in time, and sessions last as long as their rules say, wherever they are kept."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from adapters.sql.tables import login_links, sessions
from adapters.web.cookies import digest_of
from bot.household import Household
from bot.web.visitors import Visitors, new_link
from core.deadlines import TimeLimits
from core.sessions import SessionRules
from tests.support.backends import Backend, sql_backend, sqlite_url
from tests.support.builders import DANA, EVE, WORKSPACE
from tests.support.clocks import Clock
from tests.support.waiting import eventually

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
TICK = timedelta(milliseconds=1)
RULES = SessionRules(idle=30 * MINUTE, lifetime=12 * HOUR)
#: Over as soon as they begin: what a database does with its own clock needs no waiting then.
IDLE_AT_ONCE = SessionRules(idle=timedelta(0), lifetime=HOUR)
OVER_AT_ONCE = SessionRules(idle=HOUR, lifetime=timedelta(0))
ENDED = (IDLE_AT_ONCE, OVER_AT_ONCE)


async def passed(backend: Backend, time: timedelta) -> None:
    """So much time by the database's own clock."""
    until = await backend.store.now() + time

    async def is_over() -> bool:
        return await backend.store.now() >= until

    await eventually(is_over)


async def test_a_link_is_taken_once_and_by_its_digest_only(backend: Backend) -> None:
    await backend.sessions.add_link("digest", EVE.id, lasts=MINUTE)
    await backend.sessions.add_link("danas", DANA.id, lasts=MINUTE)

    taken = [await backend.sessions.take_link(digest) for digest in ("other", "digest", "digest", "danas")]

    assert taken == [None, EVE.id, None, DANA.id]


async def test_of_many_who_take_a_link_at_once_one_is_signed_in(backend: Backend) -> None:
    await backend.sessions.add_link("digest", EVE.id, lasts=MINUTE)

    taken = await asyncio.gather(*(backend.sessions.take_link("digest") for _ in range(20)))

    assert sorted(str(person) for person in taken) == ["None"] * 19 + [EVE.id]


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_of_two_processes_that_take_a_link_at_once_one_has_it(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = sqlite_url(tmp_path) if kind == "sqlite" else request.getfixturevalue("postgres").new_database()
    with sql_backend(url) as one, sql_backend(url) as other:
        digests = [f"digest {number}" for number in range(10)]
        for digest in digests:
            await one.sessions.add_link(digest, EVE.id, lasts=MINUTE)

        taken = await asyncio.gather(*(side.sessions.take_link(d) for d in digests for side in (one, other)))

    pairs = [{taken[place], taken[place + 1]} for place in range(0, 20, 2)]
    assert pairs == [{None, EVE.id}] * 10


async def test_asking_whose_link_it_is_uses_nothing_up(backend: Backend) -> None:
    await backend.sessions.add_link("digest", EVE.id, lasts=MINUTE)

    owners = [await backend.sessions.owner_of_link(digest) for digest in ("digest", "digest", "other")]
    taken = await backend.sessions.take_link("digest")

    assert (owners, taken) == ([EVE.id, EVE.id, None], EVE.id)
    assert await backend.sessions.owner_of_link("digest") is None


@pytest.mark.parametrize("lasts", [timedelta(0), -MINUTE])
async def test_a_link_whose_time_is_over_is_nobodys(backend: Backend, lasts: timedelta) -> None:
    await backend.sessions.add_link("digest", EVE.id, lasts=lasts)

    assert await backend.sessions.owner_of_link("digest") is None
    assert await backend.sessions.take_link("digest") is None


async def test_a_link_is_good_for_as_long_as_it_lasts(timed: Backend, clock: Clock) -> None:
    await timed.sessions.add_link("digest", EVE.id, lasts=MINUTE)

    clock.passes(MINUTE - TICK)
    just_before = await timed.sessions.owner_of_link("digest")
    clock.passes(TICK)

    assert just_before == EVE.id
    assert await timed.sessions.owner_of_link("digest") is None
    assert await timed.sessions.take_link("digest") is None


async def test_a_new_link_leaves_the_others_as_they_are(timed: Backend, clock: Clock) -> None:
    await timed.sessions.add_link("short", EVE.id, lasts=MINUTE)
    await timed.sessions.add_link("long", EVE.id, lasts=HOUR)
    clock.passes(MINUTE)
    await timed.sessions.add_link("new", EVE.id, lasts=MINUTE)

    taken = [await timed.sessions.take_link(digest) for digest in ("short", "long", "new")]

    assert taken == [None, EVE.id, EVE.id]


async def test_a_session_is_found_by_its_digest_until_it_is_ended(backend: Backend) -> None:
    await backend.sessions.begin("eves", EVE.id, RULES)
    await backend.sessions.begin("danas", DANA.id, RULES)
    found = [await backend.sessions.find(digest) for digest in ("eves", "danas", "other")]

    await backend.sessions.end("eves")
    await backend.sessions.end("other")

    assert found == [EVE.id, DANA.id, None]
    assert [await backend.sessions.find(digest) for digest in ("eves", "danas")] == [None, DANA.id]


async def test_a_session_that_nobody_uses_ends(timed: Backend, clock: Clock) -> None:
    await timed.sessions.begin("digest", EVE.id, RULES)

    clock.passes(RULES.idle - TICK)
    just_before = await timed.sessions.find("digest")
    clock.passes(TICK)

    assert just_before == EVE.id
    assert await timed.sessions.find("digest") is None


async def test_finding_a_session_is_no_use_of_it(timed: Backend, clock: Clock) -> None:
    await timed.sessions.begin("digest", EVE.id, RULES)

    found = []
    for _ in range(3):
        found.append(await timed.sessions.find("digest"))
        clock.passes(RULES.idle / 2)

    assert found == [EVE.id, EVE.id, None]


async def test_a_session_in_use_lasts_until_its_lifetime_is_over(timed: Backend, clock: Clock) -> None:
    await timed.sessions.begin("digest", EVE.id, RULES)
    used = timedelta(0)
    while used < RULES.lifetime - TICK:
        step = min(RULES.idle - TICK, RULES.lifetime - TICK - used)
        clock.passes(step)
        used += step
        assert await timed.sessions.find("digest") == EVE.id
        await timed.sessions.keep("digest", RULES)

    clock.passes(TICK)
    await timed.sessions.keep("digest", RULES)

    assert await timed.sessions.find("digest") is None


async def test_however_it_is_used_a_session_ends_by_the_databases_own_clock(backend: Backend) -> None:
    await backend.sessions.begin("digest", EVE.id, SessionRules(idle=HOUR, lifetime=TICK))

    await passed(backend, TICK)
    await backend.sessions.keep("digest", RULES)

    assert await backend.sessions.find("digest") is None


async def test_use_counts_from_when_it_happens_by_the_rules_of_then(backend: Backend) -> None:
    await backend.sessions.begin("digest", EVE.id, SessionRules(idle=HOUR, lifetime=HOUR))
    await backend.sessions.begin("other", EVE.id, SessionRules(idle=HOUR, lifetime=HOUR))

    await backend.sessions.keep("digest", IDLE_AT_ONCE)

    assert await backend.sessions.find("digest") is None
    assert await backend.sessions.find("other") == EVE.id


@pytest.mark.parametrize("rules", ENDED)
async def test_what_has_ended_cannot_be_kept(backend: Backend, rules: SessionRules) -> None:
    await backend.sessions.begin("digest", EVE.id, rules)
    at_once = await backend.sessions.find("digest")

    await backend.sessions.keep("digest", RULES)

    assert at_once is None
    assert await backend.sessions.find("digest") is None


async def test_what_was_ended_or_never_was_cannot_be_kept(backend: Backend) -> None:
    await backend.sessions.begin("digest", EVE.id, RULES)
    await backend.sessions.end("digest")

    for digest in ("digest", "other"):
        await backend.sessions.keep(digest, RULES)

    assert [await backend.sessions.find(digest) for digest in ("digest", "other")] == [None, None]


async def test_a_session_that_begins_leaves_the_others_as_they_are(backend: Backend) -> None:
    await backend.sessions.begin("first", EVE.id, RULES)
    await backend.sessions.begin("idle", EVE.id, IDLE_AT_ONCE)
    await backend.sessions.begin("over", EVE.id, OVER_AT_ONCE)
    await backend.sessions.begin("second", EVE.id, RULES)

    found = [await backend.sessions.find(digest) for digest in ("first", "idle", "over", "second")]

    assert found == [EVE.id, None, None, EVE.id]


async def test_all_sessions_and_unused_links_of_one_person_end_together(backend: Backend) -> None:
    for digest, person in (("eve 1", EVE), ("eve 2", EVE), ("dana", DANA)):
        await backend.sessions.begin(digest, person.id, RULES)
        await backend.sessions.add_link(f"link {digest}", person.id, lasts=MINUTE)

    ended = await backend.sessions.end_all(EVE.id)

    assert ended == 2
    assert [await backend.sessions.find(digest) for digest in ("eve 1", "eve 2", "dana")] == [None, None, DANA.id]
    taken = [await backend.sessions.take_link(f"link {digest}") for digest in ("eve 1", "eve 2", "dana")]
    assert taken == [None, None, DANA.id]
    assert await backend.sessions.end_all(EVE.id) == 0


async def test_sessions_that_had_ended_before_are_not_counted(backend: Backend) -> None:
    await backend.sessions.begin("lasts", EVE.id, RULES)
    await backend.sessions.begin("idle", EVE.id, IDLE_AT_ONCE)
    await backend.sessions.begin("over", EVE.id, OVER_AT_ONCE)

    assert await backend.sessions.end_all(EVE.id) == 1


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_what_a_browser_holds_is_nowhere_in_the_database(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = sqlite_url(tmp_path) if kind == "sqlite" else request.getfixturevalue("postgres").new_database()
    with sql_backend(url) as opened:
        household = Household(opened.people, WORKSPACE, TimeLimits())
        visitors = Visitors(opened.sessions, household, RULES, None, "http://127.0.0.1:8080")
        link = (await new_link(opened.sessions, EVE, "http://127.0.0.1:8080")).rsplit("/", 1)[1]
        session = await visitors.begin(EVE)

        assert opened.database is not None
        with opened.database.reading.connect() as connection:
            kept = [list(connection.execute(select(table)).mappings()) for table in (login_links, sessions)]
        by_secret = (await opened.sessions.take_link(link), await opened.sessions.find(session))

    assert [[row["digest"] for row in rows] for rows in kept] == [[digest_of(link)], [digest_of(session)]]
    assert not any(secret in str(kept) for secret in (link, session))
    assert by_secret == (None, None)
