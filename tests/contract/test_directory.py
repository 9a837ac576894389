"""What a directory of people and keys promises, whichever it is."""

from dataclasses import replace
from datetime import UTC, datetime

from core.ids import WorkspaceId
from core.people import Person, Role
from core.registry import ApiKey
from tests.support.backends import Backend
from tests.support.builders import DANA, EVE

KEY = ApiKey(
    id="k_1",
    name="builder",
    digest="d1",
    hint="hr_abc",
    scopes=("ask", "read"),
    workspace_id=WorkspaceId("default"),
    created_at=datetime(2026, 1, 1, tzinfo=UTC),
)


async def test_a_key_is_found_by_its_digest_and_nothing_else(backend: Backend) -> None:
    await backend.directory.add_key(KEY)

    assert await backend.directory.key("d1") == KEY
    assert await backend.directory.key("k_1") is None


async def test_a_key_of_a_person_brings_the_person(backend: Backend) -> None:
    await backend.directory.add_person(DANA)
    await backend.directory.add_key(replace(KEY, person=DANA))

    found = await backend.directory.key("d1")

    assert found is not None
    assert found.person == DANA


async def test_a_revoked_key_says_when_and_keeps_the_first_instant(backend: Backend) -> None:
    await backend.directory.add_key(KEY)

    revoked = await backend.directory.revoke_key("k_1")
    first = await backend.directory.key("d1")
    again = await backend.directory.revoke_key("k_1")

    assert (revoked, again, await backend.directory.revoke_key("k_none")) == (True, True, False)
    assert first is not None
    assert first.revoked_at is not None
    assert await backend.directory.key("d1") == first


async def test_use_is_noted_for_the_keys_that_were_used(backend: Backend) -> None:
    await backend.directory.add_key(KEY)
    await backend.directory.add_key(replace(KEY, id="k_2", digest="d2"))

    await backend.directory.note_used(["k_2", "k_gone"])

    used = {key.id: key.last_used_at is not None for key in await backend.directory.keys()}
    assert used == {"k_1": False, "k_2": True}


async def test_people_are_listed_and_one_who_is_there_stays_as_they_are(backend: Backend) -> None:
    await backend.directory.add_person(EVE)
    await backend.directory.add_person(DANA)
    await backend.directory.add_person(Person(EVE.id, "Somebody else", Role.ADMIN))

    assert await backend.people.everybody() == [DANA, EVE]
