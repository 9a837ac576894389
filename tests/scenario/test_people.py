"""People over HTTP: added, changed, away, linked, removed, each change told; and who may do any of it."""

import asyncio
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.scenario.talk import Json, ok, problem
from tests.support.servers import BIN, RunningServer, clean_environment, running

_numbers = count(1)


def add(admin: httpx2.Client, name: str | None = None, **fields: Any) -> Json:
    """Somebody new; without a name, one that nobody has."""
    answer = admin.post("/api/people", json={"name": name or f"Person {next(_numbers)}"} | fields)
    assert answer.status_code == 201, answer.text
    person: Json = answer.json()
    return person


def people(client: httpx2.Client) -> dict[str, Json]:
    return {person["name"]: person for person in ok(client.get("/api/people"))["people"]}


def in_days(days: float) -> str:
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(days=days)
    return at.isoformat().replace("+00:00", ".000Z")


def pointers(response: httpx2.Response) -> list[str]:
    return sorted(error["pointer"] for error in response.json()["errors"])


@pytest.fixture(scope="module")
def nobody(server: RunningServer) -> Iterator[httpx2.Client]:
    with server.client("hr_wrong") as client:
        yield client


def test_a_new_person_is_a_member_who_is_never_out_of_hours(admin: httpx2.Client) -> None:
    made = add(admin, "Noor")

    assert made == {
        "id": "p_noor",
        "name": "Noor",
        "role": "member",
        "active": True,
        "handles": [],
        "zone": "UTC",
        "working": "",
        "quiet": "",
        "awayUntil": None,
        "standIn": None,
    }
    assert people(admin)["Noor"] == made


def test_everything_about_a_person_is_set_at_once_and_comes_back(admin: httpx2.Client) -> None:
    made = add(
        admin,
        "Mia",
        role="lead",
        handles=["email:Mia@Example.com", "slack:U0MIA", "discord:4711"],
        zone="Europe/Berlin",
        working="mon-fri 09:00-17:00",
        quiet="daily 22:00-07:00",
    )

    assert made["handles"] == ["email:mia@example.com", "slack:U0MIA", "discord:4711"]
    assert (made["role"], made["zone"]) == ("lead", "Europe/Berlin")
    assert (made["working"], made["quiet"]) == ("mon-fri 09:00-17:00", "daily 22:00-07:00")
    assert people(admin)["Mia"] == made


def test_two_people_of_one_name_get_ids_of_their_own_but_not_both_at_once(admin: httpx2.Client) -> None:
    first = add(admin, "Kim")
    again = admin.post("/api/people", json={"name": "kim"})
    ok(admin.delete(f"/api/people/{first['id']}"))
    second = add(admin, "Kim")

    assert problem(again) == (422, "not_possible")
    assert (first["id"], second["id"]) == ("p_kim", "p_kim2")


def test_a_change_touches_what_it_names_and_nothing_else(admin: httpx2.Client) -> None:
    before = add(admin, role="approver", handles=["slack:U0KEEP"], working="mon-fri 09:00-17:00")

    changed = ok(admin.patch(f"/api/people/{before['id']}", json={"zone": "Asia/Tokyo"}))
    emptied = ok(admin.patch(f"/api/people/{before['id']}", json={"working": "", "handles": []}))

    assert changed == before | {"zone": "Asia/Tokyo"}
    assert emptied == changed | {"working": "", "handles": []}


def test_a_handle_named_twice_is_one_handle(admin: httpx2.Client) -> None:
    made = add(admin, handles=["email:Two@example.com", "slack:U0TWO", "email:two@EXAMPLE.com"])

    assert made["handles"] == ["email:two@example.com", "slack:U0TWO"]


def test_nobody_is_renamed_to_somebody_else(admin: httpx2.Client) -> None:
    first, second = add(admin, "Robin"), add(admin, "Sascha")

    refused = admin.patch(f"/api/people/{second['id']}", json={"name": "ROBIN"})
    same = ok(admin.patch(f"/api/people/{first['id']}", json={"name": "ROBIN"}))

    assert problem(refused) == (422, "not_possible")
    assert "Robin" in refused.json()["detail"] or "ROBIN" in refused.json()["detail"]
    assert same["name"] == "ROBIN"


def test_a_person_is_named_by_id_name_or_address(admin: httpx2.Client) -> None:
    person = add(admin, "Ines", handles=["slack:U0INES"])

    for name in (person["id"], "ines", "U0INES"):
        assert ok(admin.patch(f"/api/people/{name}", json={})) == person
    assert problem(admin.patch("/api/people/p_none", json={})) == (404, "person_not_found")


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({"name": "X", "role": "king"}, ["/role"]),
        ({"name": "", "zone": 7}, ["/name", "/zone"]),
        ({"name": "X", "handles": "slack:U1"}, ["/handles"]),
        ({"name": "X", "handles": ["slack:U1", 5]}, ["/handles/1"]),
        ({"name": "X", "shoeSize": 43}, ["/shoeSize"]),
        ({"name": "x" * 201, "working": "y" * 2001}, ["/name", "/working"]),
    ],
)
def test_a_body_of_the_wrong_form_is_refused_with_every_place_that_is_wrong(
    admin: httpx2.Client, body: Json, wrong: list[str]
) -> None:
    refused = admin.post("/api/people", json=body)

    assert problem(refused)[0] == 422
    assert pointers(refused) == wrong


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": "  "},
        {"name": "two\nlines"},
        {"name": "n" * 101},
        {"zone": "Europe/Berlni"},
        {"working": "every now and then"},
        {"quiet": "25:00-26:00"},
        {"handles": ["fax:123"]},
        {"handles": ["email:nobody"]},
        {"handles": ["slack:"]},
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence_and_changes_nothing(admin: httpx2.Client, body: Json) -> None:
    before = people(admin)
    given = {"name": "Nonsense"} | body if body else body

    refused = admin.post("/api/people", json=given)

    assert problem(refused) == (422, "not_possible")
    assert refused.json()["detail"].endswith((".", "?"))
    assert people(admin) == before


def test_a_handle_of_somebody_else_is_refused_and_names_them(admin: httpx2.Client) -> None:
    owner = add(admin, handles=["slack:U0OWN"])
    other = add(admin)

    refused = admin.patch(f"/api/people/{other['id']}", json={"handles": ["slack:U0OWN"], "zone": "Asia/Tokyo"})

    assert problem(refused) == (422, "not_possible")
    assert refused.json()["detail"] == f"slack:U0OWN belongs to {owner['name']}."
    assert people(admin)[other["name"]] == other


def test_the_handle_of_somebody_who_left_can_be_given_to_somebody_else(admin: httpx2.Client) -> None:
    left = add(admin, role="admin", handles=["slack:U0LEFT", "slack:U0LEFT2", "slack:U0LEFT3"])
    ok(admin.delete(f"/api/people/{left['id']}"))

    heir = add(admin, handles=["slack:U0LEFT"])
    other = add(admin)
    by_patch = ok(admin.patch(f"/api/people/{other['id']}", json={"handles": ["slack:U0LEFT2"]}))
    by_link = ok(admin.post(f"/api/people/{heir['id']}/handles", json={"handle": "slack:U0LEFT3"}))

    assert by_patch["handles"] == ["slack:U0LEFT2"]
    assert by_link["handles"] == ["slack:U0LEFT", "slack:U0LEFT3"]
    assert people(admin)[left["name"]]["active"] is False
    assert people(admin)[left["name"]]["handles"] == []


def test_somebody_goes_away_with_a_stand_in_and_comes_back(admin: httpx2.Client) -> None:
    person, deputy, until = add(admin), add(admin, role="lead"), in_days(3)

    gone = ok(admin.post(f"/api/people/{person['id']}/away", json={"until": until, "standIn": deputy["name"]}))
    back = ok(admin.post(f"/api/people/{person['id']}/away", json={"until": None}))

    assert (gone["awayUntil"], gone["standIn"]) == (until, deputy["id"])
    assert back == person


def test_an_absence_that_makes_no_sense_is_refused(admin: httpx2.Client) -> None:
    person, lesser = add(admin, role="lead"), add(admin)
    away = f"/api/people/{person['id']}/away"

    for body in (
        {"until": in_days(-1)},
        {"until": in_days(1), "standIn": person["id"]},
        {"until": in_days(1), "standIn": lesser["id"]},
    ):
        assert problem(admin.post(away, json=body)) == (422, "not_possible"), body
    assert problem(admin.post(away, json={"until": in_days(1), "standIn": "p_none"})) == (404, "person_not_found")
    malformed: list[Json] = [
        {},
        {"until": "2030-01-01T00:00:00"},
        {"until": "9999-12-31T23:59:59-01:00"},
        {"until": "0001-01-01T00:00:00+01:00"},
    ]
    for body in malformed:
        refused = admin.post(away, json=body)
        assert (problem(refused), pointers(refused)) == ((422, "invalid_request"), ["/until"]), body
    assert people(admin)[person["name"]] == person


def test_an_admin_links_a_handle_and_whoever_had_it_turns_out_to_be_the_same_person(admin: httpx2.Client) -> None:
    known = add(admin, role="approver")
    double = add(admin, handles=["discord:815", "email:double@example.com"])

    linked = ok(admin.post(f"/api/people/{known['id']}/handles", json={"handle": "discord:815"}))
    again = ok(admin.post(f"/api/people/{known['id']}/handles", json={"handle": "discord:815"}))

    assert linked["handles"] == ["discord:815", "email:double@example.com"]
    assert again == linked
    assert double["name"] not in people(admin)
    assert ok(admin.patch(f"/api/people/{double['id']}", json={})) == linked


def test_nobody_swallows_somebody_who_may_more(admin: httpx2.Client) -> None:
    lesser = add(admin)
    lead = add(admin, role="lead", handles=["discord:816"])

    refused = admin.post(f"/api/people/{lesser['id']}/handles", json={"handle": "discord:816"})

    assert problem(refused) == (422, "not_possible")
    assert people(admin)[lead["name"]] == lead
    for wrong in ("discord", "discord:", "telegraph:1"):
        answer = admin.post(f"/api/people/{lesser['id']}/handles", json={"handle": wrong})
        assert problem(answer) == (422, "not_possible")


def test_a_link_code_is_short_and_each_is_another(admin: httpx2.Client, member: httpx2.Client) -> None:
    codes = []
    for client, name in ((member, "me"), (member, "Eve"), (admin, "Eve")):
        answer = client.post(f"/api/people/{name}/link-code")
        assert (answer.status_code, answer.json()["expiresInMinutes"]) == (201, 10)
        codes.append(answer.json()["code"])

    assert len(set(codes)) == 3
    assert all(len(code) == 9 and code[4] == "-" for code in codes)


def test_people_change_their_own_hours_and_absence_and_nothing_else(
    admin: httpx2.Client, member: httpx2.Client
) -> None:
    deputy = add(admin)
    hours = {"zone": "Europe/Paris", "working": "mon-thu 08:00-16:00", "quiet": "daily 20:00-08:00"}

    changed = ok(member.patch("/api/people/me", json=hours))
    away = ok(member.post("/api/people/me/away", json={"until": in_days(1), "standIn": deputy["id"]}))

    assert {name: changed[name] for name in hours} == hours
    assert away["standIn"] == deputy["id"]
    foreign: list[Json] = [{"role": "admin"}, {"name": "Eva"}, {"handles": []}, {"role": "member", "zone": "UTC"}]
    for body in foreign:
        assert problem(member.patch("/api/people/me", json=body)) == (403, "not_allowed")
    assert ok(member.patch("/api/people/Eve", json={})) == away
    ok(member.post("/api/people/me/away", json={"until": None}))


def test_an_admin_is_me_in_every_call(admin: httpx2.Client, server: RunningServer) -> None:
    person = add(admin, role="admin")
    with server.client(server.new_key("second admin", "answer,admin", person["id"])) as second:
        linked = ok(second.post("/api/people/me/handles", json={"handle": "web:second"}))
        removed = ok(second.delete("/api/people/me"))
        after = second.get("/api/people")

    assert linked == person | {"handles": ["web:second"]}
    assert removed == linked | {"active": False}
    assert problem(after) == (401, "key_revoked")


def test_a_key_that_belongs_to_nobody_is_not_me(server: RunningServer) -> None:
    with server.client(server.new_key("a robot", "admin")) as robot:
        for call in ("away", "link-code"):
            answer = robot.post(f"/api/people/me/{call}", json={"until": None})
            assert problem(answer) == (404, "person_not_found")
        assert problem(robot.patch("/api/people/me", json={})) == (404, "person_not_found")


#: What each call answers to a wrong key, an agent, a member, an admin.
RIGHTS: dict[str, tuple[str, str, Json | None, tuple[int, int, int, int]]] = {
    "list": ("GET", "/api/people", None, (401, 403, 200, 200)),
    "add": ("POST", "/api/people", {}, (401, 403, 403, 201)),
    "change": ("PATCH", "/api/people/{id}", {"zone": "Asia/Tokyo"}, (401, 403, 403, 200)),
    "promote": ("PATCH", "/api/people/{id}", {"role": "admin"}, (401, 403, 403, 200)),
    "away": ("POST", "/api/people/{id}/away", {"until": None}, (401, 403, 403, 200)),
    "link code": ("POST", "/api/people/{id}/link-code", None, (401, 403, 403, 201)),
    "link": ("POST", "/api/people/{id}/handles", {"handle": "slack:{id}"}, (401, 403, 403, 200)),
    "remove": ("DELETE", "/api/people/{id}", None, (401, 403, 403, 200)),
    "audit": ("GET", "/api/audit", None, (401, 403, 403, 200)),
    "policy": ("GET", "/api/policy", None, (401, 403, 200, 200)),
    "policy diff": ("POST", "/api/policy/diff", {"changes": {}}, (401, 403, 200, 200)),
    "policy change": ("PUT", "/api/policy", {"changes": {}}, (401, 403, 403, 200)),
    "explain": ("POST", "/api/policy/explain", {}, (401, 200, 200, 200)),
}


@pytest.mark.parametrize("name", RIGHTS)
def test_who_may_do_what(
    name: str,
    admin: httpx2.Client,
    member: httpx2.Client,
    agent: httpx2.Client,
    nobody: httpx2.Client,
) -> None:
    method, path, body, wanted = RIGHTS[name]
    someone = add(admin)
    before = people(admin)
    found: list[int] = []
    for client in (nobody, agent, member, admin):
        sent = (
            {
                key: value.replace("{id}", someone["id"]) if isinstance(value, str) else value
                for key, value in body.items()
            }
            if body
            else body
        )
        if name == "add":
            sent = {"name": f"Person {next(_numbers)}"}
        if client is admin:
            assert people(admin) == before, "somebody who may not has changed something"
        answer = client.request(method, path.replace("{id}", someone["id"]), json=sent)
        found.append(answer.status_code)

    assert tuple(found) == wanted


def test_every_change_is_in_the_audit_with_who_and_what(admin: httpx2.Client, member: httpx2.Client) -> None:
    person = add(admin, "Tariq", role="approver")
    ok(admin.patch("/api/people/p_tariq", json={"role": "lead", "handles": ["slack:U0TARIQ"]}))
    ok(admin.patch("/api/people/p_tariq", json={"role": "lead"}))
    ok(admin.post("/api/people/p_tariq/handles", json={"handle": "discord:1729"}))
    ok(admin.post("/api/people/p_tariq/away", json={"until": "2099-01-01T00:00:00Z"}))
    ok(member.patch("/api/people/me", json={"zone": "Europe/Madrid"}))
    ok(admin.delete("/api/people/p_tariq"))

    entries = ok(admin.get("/api/audit"))["entries"][:6]

    assert [(e["what"], e["by"], e["subject"]) for e in reversed(entries)] == [
        ("person.added", "Admin", person["id"]),
        ("person.changed", "Admin", person["id"]),
        ("person.linked", "Admin", person["id"]),
        ("person.away", "Admin", person["id"]),
        ("person.changed", "Eve", "p_eve"),
        ("person.removed", "Admin", person["id"]),
    ]
    assert entries[4]["detail"].splitlines() == ["role: approver -> lead", "handles: none -> slack:U0TARIQ"]
    assert "none -> 2099-01-01 00:00:00" in entries[2]["detail"]
    assert "->" in entries[0]["detail"]


def test_the_audit_is_read_page_by_page(admin: httpx2.Client) -> None:
    person = add(admin)
    for number in range(101):
        ok(admin.patch(f"/api/people/{person['id']}", json={"name": f"Renamed {person['id']} {number}"}))

    first = ok(admin.get("/api/audit"))
    second = ok(admin.get("/api/audit", params={"before": first["nextBefore"]}))

    assert len(first["entries"]) == 100
    numbers = [entry["sequence"] for entry in (*first["entries"], *second["entries"])]
    assert numbers == sorted(set(numbers), reverse=True)
    assert second["entries"][1]["what"] == "person.added"
    for wrong in ("x", "-1", "1.5", "9" * 19):
        refused = admin.get("/api/audit", params={"before": wrong})
        assert (problem(refused), pointers(refused)) == ((422, "cursor_invalid"), ["/query/before"])


def test_the_key_of_somebody_who_was_removed_stops_working(admin: httpx2.Client, server: RunningServer) -> None:
    person = add(admin, role="admin")
    with server.client(server.new_key("leaver's phone", "answer,admin", person["id"])) as leaver:
        ok(leaver.get("/api/people"))
        ok(admin.delete(f"/api/people/{person['id']}"))

        refused = leaver.get("/api/people")

    assert problem(refused) == (401, "key_revoked")
    assert person["name"] in refused.json()["detail"]


def test_a_removal_by_command_reaches_a_running_server(admin: httpx2.Client, server: RunningServer) -> None:
    person = add(admin)
    with server.client(server.new_key("remote leaver", "answer", person["id"])) as leaver:
        ok(leaver.get("/api/people"))
        _bot(server, "people", "remove", person["id"])
        for _ in range(100):
            answer = leaver.get("/api/people")
            if answer.status_code != 200:
                break
            time.sleep(0.1)

    assert problem(answer) == (401, "key_revoked")


def test_somebody_who_was_removed_is_found_no_more(admin: httpx2.Client) -> None:
    person = add(admin)
    removed = ok(admin.delete(f"/api/people/{person['id']}"))

    assert removed == person | {"active": False}
    assert problem(admin.delete(f"/api/people/{person['id']}")) == (404, "person_not_found")
    assert problem(admin.patch(f"/api/people/{person['id']}", json={"role": "admin"})) == (404, "person_not_found")


def test_the_key_of_somebody_merged_acts_for_the_person_they_are(admin: httpx2.Client, server: RunningServer) -> None:
    known, double = add(admin, "Ursula"), add(admin, "Uschi", handles=["discord:51"])
    with server.client(server.new_key("uschi's phone", "answer", double["id"])) as client:
        ok(admin.post(f"/api/people/{known['id']}/handles", json={"handle": "discord:51"}))

        me = ok(client.patch("/api/people/me", json={"zone": "Asia/Tokyo"}))

    assert (me["id"], me["zone"]) == (known["id"], "Asia/Tokyo")


def test_the_last_admin_stays(data_dir: Path) -> None:
    with running(data_dir) as server, server.admin() as admin:
        removed = admin.delete("/api/people/p_admin")
        demoted = admin.patch("/api/people/me", json={"role": "lead"})
        other = add(admin, "Otto", role="admin")
        stepped_down = ok(admin.patch("/api/people/me", json={"role": "member"}))
        with server.client(server.new_key("otto's", "admin", "Otto")) as otto:
            last = otto.delete(f"/api/people/{other['id']}")

    for refused in (removed, demoted, last):
        assert problem(refused) == (422, "not_possible")
        assert "only admin" in refused.json()["detail"]
    assert stepped_down["role"] == "member"


async def test_of_two_admins_who_remove_each_other_at_once_one_stays(data_dir: Path) -> None:
    # a key of nobody's, which stays an admin's whoever is removed
    with running(data_dir) as server, server.client(robot := server.new_key("robot", "admin")) as admin:
        rounds = []
        for number in range(5):
            other = add(admin, f"Admin {number}", role="admin")
            async with server.async_client(robot) as one:
                both = await asyncio.gather(
                    one.patch("/api/people/p_admin", json={"role": "lead"}), one.delete(f"/api/people/{other['id']}")
                )
            rounds.append(sorted(answer.status_code for answer in both))
            ok(admin.patch("/api/people/p_admin", json={"role": "admin"}))
            if both[1].status_code != 200:
                ok(admin.delete(f"/api/people/{other['id']}"))

    assert rounds == [[200, 422]] * 5


async def test_changes_at_the_same_time_do_not_undo_each_other(admin: httpx2.Client, server: RunningServer) -> None:
    person = add(admin)
    path = f"/api/people/{person['id']}"
    async with server.async_client(server.admin_key) as client:
        await asyncio.gather(
            client.patch(path, json={"zone": "Asia/Tokyo"}),
            client.patch(path, json={"role": "lead"}),
            client.patch(path, json={"working": "mon-fri 09:00-17:00"}),
            client.post(f"{path}/away", json={"until": "2099-01-01T00:00:00Z"}),
            *(client.post(f"{path}/handles", json={"handle": f"slack:{person['id']}{n}"}) for n in range(5)),
        )

    after = people(admin)[person["name"]]
    assert (after["zone"], after["role"], after["working"]) == ("Asia/Tokyo", "lead", "mon-fri 09:00-17:00")
    assert after["awayUntil"] == "2099-01-01T00:00:00.000Z"
    assert sorted(after["handles"]) == [f"slack:{person['id']}{n}" for n in range(5)]


def _bot(server: RunningServer, *words: str) -> str:
    done = subprocess.run(
        [str(BIN / "handraise-bot"), *words, "--data-dir", str(server.data_dir)],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout
