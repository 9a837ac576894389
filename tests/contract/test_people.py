"""What people and policy promise, wherever they are kept."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.hours import parse_windows
from core.ids import PersonId
from core.people import Handle, Person, Role
from core.registry import HandleTaken, Outdated, StoredPolicy
from tests.support.backends import Backend, memory_backend, sql_backend, sqlite_url
from tests.support.builders import DANA, EVE, NOW
from tests.support.waiting import eventually

SLACK, MAIL, DISCORD = Handle("slack", "U1"), Handle("email", "eve@example.com"), Handle("discord", "42")
FULL = Person(
    PersonId("p_zoe"),
    "Zoë “Z” Ångström",
    Role.LEAD,
    (MAIL, SLACK, DISCORD),
    "Europe/Berlin",
    parse_windows("mon-fri 09:00-17:00, sat 10:00-12:00"),
    parse_windows("daily 22:00-07:00"),
    datetime(2026, 8, 31, 7, 0, tzinfo=UTC),
    EVE.id,
)


async def save(backend: Backend, *people: Person, what: str = "person.changed") -> None:
    await backend.people.save(people, by="Dana", what=what, detail="why not")


async def test_nobody_and_no_policy_at_first(backend: Backend) -> None:
    assert list(await backend.people.everybody()) == []
    assert await backend.people.policy() is None
    assert list(await backend.people.audit(limit=10)) == []


async def test_people_come_back_as_they_were_saved_by_id(backend: Backend) -> None:
    await save(backend, FULL, EVE, DANA)

    assert list(await backend.people.everybody()) == [DANA, EVE, FULL]


async def test_saving_again_replaces_everything_about_a_person(backend: Backend) -> None:
    await save(backend, FULL)
    bare = Person(FULL.id, "Zoe", Role.MEMBER)

    await save(backend, bare)

    assert list(await backend.people.everybody()) == [bare]


async def test_the_order_of_handles_is_kept(backend: Backend) -> None:
    await save(backend, FULL)
    turned = replace(FULL, handles=(DISCORD, MAIL, SLACK))

    await save(backend, turned)

    assert list(await backend.people.everybody()) == [turned]


async def test_those_who_left_or_were_merged_stay_known(backend: Backend) -> None:
    left = replace(DANA, is_active=False)
    merged = replace(EVE, is_active=False, merged_into=FULL.id)

    await save(backend, left, merged, FULL)

    assert list(await backend.people.everybody()) == [left, merged, FULL]


async def test_a_person_whom_the_first_start_added_is_among_them(backend: Backend) -> None:
    await backend.directory.add_person(DANA)
    await save(backend, replace(DANA, handles=(SLACK,)))
    await backend.directory.add_person(DANA)

    assert list(await backend.people.everybody()) == [replace(DANA, handles=(SLACK,))]


async def test_a_handle_that_somebody_has_is_refused_and_nothing_has_changed(backend: Backend) -> None:
    await save(backend, replace(EVE, handles=(SLACK,)))
    before = await backend.people.revision()

    with pytest.raises(HandleTaken) as taken:
        await save(backend, replace(EVE, name="Evelyn", handles=()), replace(DANA, handles=(MAIL, DISCORD)), FULL)

    assert (taken.value.handle, taken.value.person_id) in [(MAIL, DANA.id), (MAIL, FULL.id)]
    assert list(await backend.people.everybody()) == [replace(EVE, handles=(SLACK,))]
    assert await backend.people.revision() == before
    assert len(await backend.people.audit(limit=10)) == 1


async def test_handles_move_between_people_who_are_saved_together(backend: Backend) -> None:
    await save(backend, replace(EVE, handles=(SLACK, MAIL)), replace(DANA, handles=(DISCORD,)))
    moved = (replace(DANA, handles=(SLACK,)), replace(EVE, handles=(DISCORD, MAIL)))

    await save(backend, *moved)

    assert list(await backend.people.everybody()) == list(moved)


async def test_many_who_save_one_person_at_once_do_not_get_in_each_others_way(backend: Backend) -> None:
    await save(backend, replace(EVE, handles=(SLACK, MAIL)))

    names = [f"Eve {number}" for number in range(8)]
    await asyncio.gather(*(save(backend, replace(EVE, name=name, handles=(MAIL, SLACK))) for name in names))

    (only,) = await backend.people.everybody()
    assert only.name in names
    assert only.handles == (MAIL, SLACK)
    assert len(await backend.people.audit(limit=100)) == 9


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_two_processes_that_save_one_person_do_not_find_their_own_handles_taken(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = sqlite_url(tmp_path) if kind == "sqlite" else request.getfixturevalue("postgres").new_database()
    with sql_backend(url) as one, sql_backend(url) as other:
        await save(one, replace(EVE, handles=(SLACK, MAIL)))

        async def saves(backend: Backend, name: str) -> None:
            for number in range(25):
                handles = (MAIL, SLACK) if number % 2 else (SLACK, MAIL, DISCORD)
                await save(backend, replace(EVE, name=f"{name} {number}", handles=handles))

        await asyncio.gather(saves(one, "one"), saves(other, "other"))

        (only,) = await one.people.everybody()
        assert only.name in ("one 24", "other 24")
        assert only.handles == (SLACK, MAIL, DISCORD)
        assert len(await one.people.audit(limit=100)) == 51


async def test_of_two_who_take_a_handle_at_once_one_has_it(backend: Backend) -> None:
    rivals = [Person(PersonId(f"p_{number}"), f"Rival {number}", Role.MEMBER, (SLACK,)) for number in range(6)]

    done = await asyncio.gather(*(save(backend, rival) for rival in rivals), return_exceptions=True)

    assert sorted(type(result).__name__ for result in done) == ["HandleTaken"] * 5 + ["NoneType"]
    (winner,) = await backend.people.everybody()
    assert {result.person_id for result in done if isinstance(result, HandleTaken)} == {winner.id}


async def test_a_policy_has_versions(backend: Backend) -> None:
    first = await backend.people.save_policy("one", before=0, by="Dana", diff="+one")
    second = await backend.people.save_policy("two", before=1, by="Eve", diff="-one\n+two")

    assert isinstance(first, StoredPolicy)
    assert isinstance(second, StoredPolicy)
    assert (first.version, first.text, first.by, first.diff) == (1, "one", "Dana", "+one")
    assert (second.version, second.text, second.by, second.diff) == (2, "two", "Eve", "-one\n+two")
    assert await backend.people.policy() == second
    assert first.at.tzinfo is not None


@pytest.mark.parametrize("before", [0, 2, 5])
async def test_a_policy_on_top_of_another_version_is_not_kept(backend: Backend, before: int) -> None:
    first = await backend.people.save_policy("one", before=0, by="Dana", diff="+one")
    revision = await backend.people.revision()

    assert await backend.people.save_policy("other", before=before, by="Eve", diff="+other") is None

    assert await backend.people.policy() == first
    assert await backend.people.revision() == revision


async def test_of_many_who_build_on_one_version_one_wins(backend: Backend) -> None:
    texts = [f"policy {number}" for number in range(8)]

    done = await asyncio.gather(*(backend.people.save_policy(t, before=0, by=t, diff=t) for t in texts))

    (winner,) = [stored for stored in done if stored is not None]
    assert await backend.people.policy() == winner
    assert [entry.by for entry in await backend.people.audit(limit=10)] == [winner.by]


async def test_the_audit_tells_newest_first_who_did_what(backend: Backend) -> None:
    await save(backend, EVE, what="person.added")
    await save(backend, DANA, EVE, what="person.linked")
    await backend.people.save_policy("one", before=0, by="Eve", diff="+one")

    told = [(e.by, e.what, e.subject, e.detail) for e in await backend.people.audit(limit=10)]

    assert told == [
        ("Eve", "policy.changed", "version 1", "+one"),
        ("Dana", "person.linked", "p_dana,p_eve", "why not"),
        ("Dana", "person.added", "p_eve", "why not"),
    ]


async def test_the_audit_is_read_page_by_page(backend: Backend) -> None:
    for number in range(7):
        await save(backend, EVE, what=f"change {number}")

    pages, before = list[list[str]](), None
    while page := await backend.people.audit(limit=3, before=before):
        pages.append([entry.what for entry in page])
        before = page[-1].sequence

    assert pages == [["change 6", "change 5", "change 4"], ["change 3", "change 2", "change 1"], ["change 0"]]


async def test_the_revision_changes_with_every_change_and_with_nothing_else(backend: Backend) -> None:
    seen = [await backend.people.revision()]

    async def noted() -> bool:
        """Whether the revision is one that was never there before."""
        now = await backend.people.revision()
        is_new = now not in seen
        seen.append(now)
        return is_new

    await backend.people.add_link_code("d", EVE.id, lasts=timedelta(minutes=1))
    assert not await noted()
    await save(backend, EVE)
    assert await noted()
    assert not await noted()
    await save(backend, EVE)
    assert await noted()
    await backend.people.save_policy("one", before=0, by="Dana", diff="+one")
    assert await noted()


async def test_a_link_code_works_once(backend: Backend) -> None:
    await backend.people.add_link_code("digest", EVE.id, lasts=timedelta(minutes=1))

    taken = [await backend.people.take_link_code(digest) for digest in ("other", "digest", "digest")]

    assert taken == [None, EVE.id, None]


async def test_of_many_who_type_a_code_at_once_one_is_taken_for_its_person(backend: Backend) -> None:
    await backend.people.add_link_code("digest", EVE.id, lasts=timedelta(minutes=1))

    taken = await asyncio.gather(*(backend.people.take_link_code("digest") for _ in range(8)))

    assert sorted(str(person) for person in taken) == ["None"] * 7 + [EVE.id]


async def test_a_newer_code_of_the_same_person_voids_the_older(backend: Backend) -> None:
    await backend.people.add_link_code("older", EVE.id, lasts=timedelta(minutes=1))
    await backend.people.add_link_code("danas", DANA.id, lasts=timedelta(minutes=1))
    await backend.people.add_link_code("newer", EVE.id, lasts=timedelta(minutes=1))

    taken = [await backend.people.take_link_code(digest) for digest in ("older", "danas", "newer")]

    assert taken == [None, DANA.id, EVE.id]


async def test_a_code_expires_by_the_databases_own_clock(backend: Backend) -> None:
    await backend.people.add_link_code("short", EVE.id, lasts=timedelta(milliseconds=1))
    at = await backend.store.now()

    async def has_passed() -> bool:
        return await backend.store.now() > at + timedelta(milliseconds=1)

    await eventually(has_passed)

    assert await backend.people.take_link_code("short") is None


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_code_is_good_until_the_very_instant_it_expires(kind: str, tmp_path: Path) -> None:
    clock = [NOW]

    async def last_moments(backend: Backend) -> list[PersonId | None]:
        taken = []
        for late in (timedelta(minutes=10) - timedelta(milliseconds=1), timedelta(minutes=10)):
            clock[0] = NOW
            await backend.people.add_link_code("digest", EVE.id, lasts=timedelta(minutes=10))
            clock[0] = NOW + late
            taken.append(await backend.people.take_link_code("digest"))
        return taken

    if kind == "memory":
        taken = await last_moments(memory_backend(lambda: clock[0]))
    else:
        with sql_backend(sqlite_url(tmp_path), lambda: clock[0]) as backend:
            taken = await last_moments(backend)

    assert taken == [EVE.id, None]


async def test_a_change_that_was_judged_on_older_people_is_not_made(backend: Backend) -> None:
    await backend.people.save([DANA], by="Dana", what="person.added", detail="")
    seen = await backend.people.revision()
    await backend.people.save([replace(DANA, is_active=False)], by="Eve", what="person.removed", detail="", seen=seen)

    with pytest.raises(Outdated):
        await backend.people.save([DANA], by="Dana", what="person.changed", detail="", seen=seen)

    (kept,) = [person for person in await backend.people.everybody() if person.id == DANA.id]
    assert not kept.is_active


async def test_of_two_changes_judged_on_the_same_people_one_is_made(backend: Backend) -> None:
    await backend.people.save([DANA], by="Dana", what="person.added", detail="")
    seen = await backend.people.revision()

    done = await asyncio.gather(
        *(
            backend.people.save([replace(DANA, zone=zone)], by=zone, what="person.changed", detail="", seen=seen)
            for zone in ("Europe/Berlin", "Asia/Tokyo", "America/Lima")
        ),
        return_exceptions=True,
    )

    assert sorted(type(result).__name__ for result in done) == ["NoneType", "Outdated", "Outdated"]


async def test_a_policy_keeps_whom_its_names_meant(backend: Backend) -> None:
    await backend.people.save_policy("one", before=0, by="Dana", diff="+one", meant={"Dana": DANA.id})

    stored = await backend.people.policy()

    assert stored is not None
    assert stored.meant == {"Dana": DANA.id}
