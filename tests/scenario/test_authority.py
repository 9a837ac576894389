"""Who may decide, how many it takes and what people do about a question meanwhile, over HTTP under a policy."""

import asyncio
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from handraise.receipts import verify_receipt

from tests.scenario.talk import Json, answer, ask, cancel, happened, history, look, ok, problem
from tests.scenario.test_streams import listening
from tests.support.servers import BIN, RunningServer, clean_environment, running

POLICY = """\
[groups]
release = ["Dana", "Erik", "Mia"]

[[answer]]
name = "two of release"
kind = "approval"
tool = "deploy"
by = [{ group = "release", need = 2 }]

[[answer]]
name = "two rejections"
kind = "approval"
tool = "drop"
by = [{ group = "release", need = 2 }]
rejections = 2

[[answer]]
name = "two parts"
kind = "approval"
tool = "merge"
by = [{ group = "release" }, { role = "lead" }]

[[answer]]
name = "four eyes"
kind = "approval"
tool = "payment"
by = [{ people = ["Dana", "Erik"] }]
four_eyes = true

[[answer]]
name = "both of them"
kind = "approval"
tool = "wire"
by = [{ people = ["Dana", "Erik"], need = 2 }]
four_eyes = true

[[answer]]
name = "two approvers"
kind = "approval"
tool = "by-role"
by = [{ role = "approver", need = 2 }]

[[answer]]
name = "other approvals"
kind = "approval"
by = [{ role = "approver" }]

[[answer]]
name = "everything else"
by = [{ role = "member" }]

[[ladder]]
name = "somebody is waiting"
kind = ["blocking", "approval"]
acknowledgement = "20m"
steps = [{ remind = "50%" }, { escalate = "80%", to = ["role:lead"] }]
"""


@dataclass(frozen=True)
class Team:
    """Everybody with a key of their own; the agent of Dana belongs to her."""

    dana: httpx2.Client
    erik: httpx2.Client
    mia: httpx2.Client
    noor: httpx2.Client
    danas_agent: httpx2.Client


def person(admin: httpx2.Client, name: str, role: str) -> None:
    added = admin.post("/api/people", json={"name": name, "role": role})
    assert added.status_code == 201, added.text


def put(admin: httpx2.Client, text: str = POLICY) -> int:
    version: int = ok(admin.put("/api/policy", json={"text": text}))["version"]
    return version


@pytest.fixture(scope="module")
def team(server: RunningServer, admin: httpx2.Client) -> Iterator[Team]:
    for name, role in (("Dana", "lead"), ("Erik", "approver"), ("Mia", "approver"), ("Noor", "member")):
        person(admin, name, role)
    put(admin)
    owned = server.made_key("danas-agent", "ask,read", "--owner", "Dana")["key"]
    keys = [server.new_key(f"{name}'s phone", "answer", name) for name in ("Dana", "Erik", "Mia", "Noor")]
    with ExitStack() as stack:
        yield Team(*(stack.enter_context(server.client(key)) for key in (*keys, owned)))


def approval(client: httpx2.Client, tool: str = "deploy", **fields: Any) -> Json:
    return ask(client, type="approval", action={"tool": tool, "arguments": {"version": "1.4"}}, **fields)


def vote(client: httpx2.Client, question: Json, value: bool = True) -> Json:
    said = ok(answer(client, question["id"], value))
    assert said["success"] is True
    after: Json = said["question"]
    return after


def names(deciders: list[Json]) -> list[str]:
    return [decider["name"] for decider in deciders]


def steer(client: httpx2.Client, question: Json, what: str, **body: Any) -> httpx2.Response:
    return client.post(f"/api/questions/{question['id']}/{what}", json=body or None)


# A quorum


def test_it_takes_two(agent: httpx2.Client, team: Team) -> None:
    question = approval(agent)

    first = vote(team.erik, question)
    second = vote(team.mia, question)

    assert question["votes"] == {"have": 0, "need": 2, "missing": [{"from": "release", "count": 2}]}
    assert question["responders"]["rule"] == "two of release"
    assert first["status"] == "pending"
    assert first["outcome"] is None
    assert {name: first["votes"][name] for name in ("have", "need", "missing")} == {
        "have": 1,
        "need": 2,
        "missing": [{"from": "release", "count": 1}],
    }
    assert names([cast["by"] for cast in first["votes"]["cast"]]) == ["Erik"]
    assert (second["status"], second["response"]["value"]) == ("answered", True)
    assert names(second["outcome"]["deciders"]) == ["Erik", "Mia"]
    assert second["outcome"]["decidedBy"]["name"] == "Mia"
    assert (second["votes"]["have"], second["votes"]["need"]) == (2, 2)
    assert happened(agent, question["id"]) == ["question.asked", "question.voted", "question.answered"]


def test_a_receipt_names_everybody_it_took(agent: httpx2.Client, team: Team, server: RunningServer) -> None:
    done = subprocess.run(
        [str(BIN / "handraise-bot"), "receipts", "key", "--data-dir", str(server.data_dir)],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    question = approval(agent)
    undecided = vote(team.dana, question)
    outcome = vote(team.mia, question)["outcome"]

    receipt = verify_receipt(
        outcome["receipt"], done.stdout.strip(), action={"tool": "deploy", "arguments": {"version": "1.4"}}
    )

    assert undecided["outcome"] is None
    assert receipt.approved
    assert [decider.id for decider in receipt.deciders] == ["p_dana", "p_mia"]


def test_one_person_is_one_vote_however_often_they_press(agent: httpx2.Client, team: Team) -> None:
    question = approval(agent)

    for _ in range(3):
        again = vote(team.erik, question)

    assert (again["status"], again["votes"]["have"]) == ("pending", 1)
    assert happened(agent, question["id"]) == ["question.asked", "question.voted"]


def test_a_rejection_ends_it(agent: httpx2.Client, team: Team) -> None:
    question = approval(agent)
    vote(team.erik, question)

    rejected = vote(team.mia, question, False)

    assert (rejected["status"], rejected["response"]["value"]) == ("answered", False)
    assert names(rejected["outcome"]["deciders"]) == ["Mia"]
    late = answer(team.dana, question["id"], True)
    assert problem(late) == (409, "question_already_answered")
    assert late.json()["outcome"]["decidedBy"]["name"] == "Mia"


def test_it_takes_as_many_rejections_as_the_rule_says(agent: httpx2.Client, team: Team) -> None:
    question = approval(agent, "drop")

    first = vote(team.mia, question, False)
    second = vote(team.erik, question, False)

    assert first["status"] == "pending"
    assert (second["status"], second["response"]["value"]) == ("answered", False)
    assert names(second["outcome"]["deciders"]) == ["Mia", "Erik"]


def test_somebody_who_thinks_again_has_one_word_the_last(agent: httpx2.Client, team: Team) -> None:
    question = approval(agent, "drop")
    vote(team.mia, question, False)
    changed = vote(team.mia, question, True)

    done = vote(team.erik, question, True)

    assert (changed["status"], changed["votes"]["have"]) == ("pending", 1)
    assert (done["status"], done["response"]["value"]) == ("answered", True)


def test_every_part_has_to_agree_and_nobody_fills_two_seats(agent: httpx2.Client, team: Team) -> None:
    question = approval(agent, "merge")

    alone = vote(team.dana, question)
    both = vote(team.erik, question)

    assert (alone["status"], alone["votes"]["have"], alone["votes"]["need"]) == ("pending", 1, 2)
    assert (both["status"], names(both["outcome"]["deciders"])) == ("answered", ["Dana", "Erik"])


def test_whoever_is_not_asked_does_not_even_see_it(agent: httpx2.Client, admin: httpx2.Client, team: Team) -> None:
    question = approval(agent)

    assert problem(answer(team.noor, question["id"], True)) == (404, "question_not_found")
    assert problem(answer(admin, question["id"], True)) == (403, "not_a_responder")
    assert problem(answer(agent, question["id"], True)) == (403, "scope_missing")
    assert look(agent, question["id"])["votes"]["have"] == 0


def test_votes_of_many_at_once_add_up(agent: httpx2.Client, team: Team, server: RunningServer) -> None:
    keys = [client.headers["authorization"].removeprefix("Bearer ") for client in (team.dana, team.erik, team.mia)]

    async def all_at_once(question_id: str) -> list[int]:
        async with server.async_client() as client:
            body = {"response": {"value": True}}
            path = f"/api/questions/{question_id}/answer"
            calls = (client.post(path, json=body, headers={"Authorization": f"Bearer {key}"}) for key in keys * 3)
            return [reply.status_code for reply in await asyncio.gather(*calls)]

    for _ in range(5):
        question = approval(agent)
        codes = asyncio.run(all_at_once(question["id"]))
        after = look(agent, question["id"])
        assert after["status"] == "answered"
        assert len(set(names(after["outcome"]["deciders"]))) == len(after["outcome"]["deciders"]) == 2
        assert set(codes) <= {200, 409}


# Four eyes


def test_the_owner_of_the_asking_key_does_not_decide(team: Team) -> None:
    question = approval(team.danas_agent, "payment")

    refused = answer(team.dana, question["id"], True)
    seen = look(team.dana, question["id"])
    decided = vote(team.erik, question)

    assert problem(refused) == (403, "not_a_responder")
    assert "Four eyes" in refused.json()["detail"]
    assert seen["responders"]["fourEyes"] is True
    assert names(decided["outcome"]["deciders"]) == ["Erik"]


def test_whom_the_agent_works_for_does_not_decide(agent: httpx2.Client, team: Team) -> None:
    question = approval(agent, "payment", onBehalfOf="Erik")

    assert question["onBehalfOf"] == "p_erik"
    assert problem(answer(team.erik, question["id"], True)) == (403, "not_a_responder")
    assert vote(team.dana, question)["status"] == "answered"


def test_the_agent_works_for_somebody_we_know(agent: httpx2.Client, team: Team) -> None:
    refused = agent.post("/api/questions", json={"question": "?", "onBehalfOf": "Nobody"})

    assert problem(refused) == (422, "recipient_unknown")
    assert refused.json()["errors"][0]["pointer"] == "/onBehalfOf"


def test_where_four_eyes_are_not_wanted_the_owner_decides(team: Team) -> None:
    question = approval(team.danas_agent, "other")

    assert vote(team.dana, question)["status"] == "answered"


def test_what_nobody_could_ever_answer_is_refused_and_says_why(agent: httpx2.Client, team: Team) -> None:
    body = {"question": "Wire it?", "type": "approval", "action": {"tool": "wire"}, "onBehalfOf": "Dana"}

    refused = agent.post("/api/questions", json=body)

    assert problem(refused) == (422, "no_responder")
    detail = refused.json()["detail"]
    assert "both of them" in detail
    assert "needs 2 people and only Erik" in detail
    assert "handraise-bot policy" in detail


# Those who leave


def test_the_vote_of_somebody_who_was_removed_is_void(
    agent: httpx2.Client, admin: httpx2.Client, team: Team, server: RunningServer
) -> None:
    person(admin, "Leaver", "approver")
    question = approval(agent, "by-role")
    with server.client(server.new_key("leaver's phone", "answer", "Leaver")) as leaver:
        assert vote(leaver, question)["votes"]["have"] == 1
        ok(admin.delete("/api/people/p_leaver"))
        assert answer(leaver, question["id"], True).status_code == 401

    second = vote(team.erik, question)
    third = vote(team.mia, question)

    assert (second["status"], second["votes"]["have"]) == ("pending", 1)
    assert (third["status"], names(third["outcome"]["deciders"])) == ("answered", ["Erik", "Mia"])
    events = history(agent, question["id"])
    assert [event["type"] for event in events] == [
        "question.asked",
        "question.voted",
        "question.vote_voided",
        "question.voted",
        "question.answered",
    ]
    assert (events[2]["personId"], events[2]["name"]) == ("p_leaver", "Leaver")


def test_somebody_known_twice_has_one_vote_once_that_is_known(
    agent: httpx2.Client, admin: httpx2.Client, team: Team, server: RunningServer
) -> None:
    person(admin, "Max", "approver")
    person(admin, "Maximilian", "approver")
    ok(admin.post("/api/people/p_max/handles", json={"handle": "slack:U0MAX"}))
    question = approval(agent, "by-role")
    with (
        server.client(server.new_key("max's phone", "answer", "p_max")) as phone,
        server.client(server.new_key("max's desk", "answer", "p_maximilian")) as desk,
    ):
        vote(phone, question)
        ok(admin.post("/api/people/p_maximilian/handles", json={"handle": "slack:U0MAX"}))
        again = vote(desk, question)

    assert (again["status"], again["votes"]["have"]) == ("pending", 1)
    assert vote(team.erik, question)["status"] == "answered"
    ok(admin.delete("/api/people/p_maximilian"))


# Steering


def test_a_reminder_by_hand_is_told_and_not_repeated_at_once(agent: httpx2.Client, team: Team) -> None:
    question = approval(agent)

    reminded = ok(steer(team.erik, question, "remind"))["question"]
    again = steer(team.mia, question, "remind")

    assert reminded["status"] == "pending"
    assert problem(again) == (429, "too_soon")
    event = history(agent, question["id"])[-1]
    assert (event["type"], event["by"]["name"]) == ("question.reminded", "Erik")
    assert sorted(event["people"]) == ["p_dana", "p_erik", "p_mia"]
    assert "Erik sent a reminder" in event["text"]
    assert reminded["story"][-1]["text"] == event["text"]


def test_looking_at_it_keeps_the_next_step_back(agent: httpx2.Client, team: Team) -> None:
    question = approval(agent)

    seen = ok(steer(team.mia, question, "acknowledge"))["question"]

    assert seen["acknowledged"]["by"]["name"] == "Mia"
    assert seen["timeoutAt"] == question["timeoutAt"]
    assert seen["createdAt"] < seen["acknowledged"]["until"] < seen["timeoutAt"]
    assert seen["nextStepAt"] >= max(seen["acknowledged"]["until"], question["nextStepAt"])
    assert happened(agent, question["id"])[-1] == "question.acknowledged"


def test_snoozing_moves_the_next_step_and_never_the_deadline(agent: httpx2.Client, team: Team) -> None:
    question = approval(agent, timeoutMinutes=600)
    until = (datetime.now(UTC) + timedelta(hours=7)).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    by_span = ok(steer(team.mia, question, "snooze", minutes=400))["question"]
    by_instant = ok(steer(team.mia, question, "snooze", until=until))["question"]

    assert question["nextStepAt"] < by_span["nextStepAt"] < by_instant["nextStepAt"] == until
    assert question["timeoutAt"] == by_instant["timeoutAt"]
    event = history(agent, question["id"])[-1]
    assert (event["type"], event["by"]["name"], event["until"]) == ("question.snoozed", "Mia", until)


def test_a_snooze_that_makes_no_sense_is_refused(agent: httpx2.Client, team: Team) -> None:
    question = approval(agent)
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()

    bodies: list[Json] = [{"minutes": 5, "until": soon}, {"minutes": 0}, {"minutes": -5}, {"minutes": 1441}]
    for body in bodies:
        assert problem(steer(team.mia, question, "snooze", **body))[0] == 422
    empty = team.mia.post(f"/api/questions/{question['id']}/snooze", json={})
    past = steer(team.mia, question, "snooze", until="2020-01-01T00:00:00Z")
    far = steer(team.mia, question, "snooze", until=(datetime.now(UTC) + timedelta(days=3)).isoformat())

    assert problem(empty)[0] == 422
    for refused in (past, far):
        assert refused.status_code in (403, 422)
        assert refused.json()["errors"][0]["pointer"] == "/until"
    assert happened(agent, question["id"]) == ["question.asked"]


def test_a_question_is_put_to_somebody_else_who_may_answer_it(agent: httpx2.Client, team: Team) -> None:
    question = approval(agent)

    handed = ok(steer(team.erik, question, "reassign", to="mia", reason="she knows"))["question"]
    back = ok(steer(team.mia, question, "reassign", to="release"))["question"]

    assert handed["asked"] == ["p_mia"]
    assert back["asked"] == ["p_dana", "p_erik", "p_mia"]
    events = [event for event in history(agent, question["id"]) if event["type"] == "question.reassigned"]
    assert [(e["by"]["name"], e["to"], e["reason"]) for e in events] == [
        ("Erik", "Mia", "she knows"),
        ("Mia", "release", None),
    ]


def test_handing_over_gives_nobody_a_right(agent: httpx2.Client, team: Team) -> None:
    question = approval(agent)

    incapable = steer(team.erik, question, "reassign", to="Noor")
    unknown = steer(team.erik, question, "reassign", to="nobody at all")

    assert problem(incapable) == (403, "not_a_responder")
    assert problem(unknown) == (422, "nobody_called_that")
    assert unknown.json()["errors"][0]["pointer"] == "/to"
    assert look(agent, question["id"])["asked"] == question["asked"]


STEERING: dict[str, Json] = {"remind": {}, "acknowledge": {}, "snooze": {"minutes": 5}, "reassign": {"to": "Mia"}}


@pytest.mark.parametrize("what", STEERING)
def test_who_may_steer(
    what: str, agent: httpx2.Client, admin: httpx2.Client, stranger: httpx2.Client, team: Team
) -> None:
    """Responders may; an admin may all but look at it in a responder's place; agents and others may not."""
    question = approval(agent)
    body = STEERING[what]

    assert problem(steer(agent, question, what, **body)) == (403, "scope_missing")
    assert problem(steer(stranger, question, what, **body)) == (403, "scope_missing")
    assert problem(steer(team.noor, question, what, **body)) == (404, "question_not_found")
    by_admin = steer(admin, question, what, **body)
    assert by_admin.status_code == (403 if what == "acknowledge" else 200)
    fresh = approval(agent)
    assert steer(team.erik, fresh, what, **body).status_code == 200


@pytest.mark.parametrize("what", STEERING)
def test_a_settled_question_is_not_steered(what: str, agent: httpx2.Client, team: Team) -> None:
    question = approval(agent)
    cancel(agent, question["id"])

    refused = steer(team.erik, question, what, **STEERING[what])

    assert problem(refused) == (409, "question_withdrawn")


def test_everything_is_heard_on_the_stream(agent: httpx2.Client, team: Team, server: RunningServer) -> None:
    with server.client() as ears, listening(ears) as stream:
        question = approval(agent)
        ok(steer(team.erik, question, "remind"))
        ok(steer(team.erik, question, "acknowledge"))
        ok(steer(team.erik, question, "snooze", minutes=5))
        ok(steer(team.erik, question, "reassign", to="Mia"))
        vote(team.erik, question)
        vote(team.mia, question)
        heard = [stream.next() for _ in range(7)]

    assert [name for _, name, _ in heard] == [
        "question.asked",
        "question.reminded",
        "question.acknowledged",
        "question.snoozed",
        "question.reassigned",
        "question.voted",
        "question.answered",
    ]
    assert [event["data"]["sequence"] for _, _, event in heard] == [1, 2, 3, 4, 5, 6, 7]
    assert heard[5][2]["data"]["event"]["by"]["name"] == "Erik"
    assert happened(agent, question["id"]) == [name for _, name, _ in heard]


# Whom a question is addressed to


def test_a_question_is_addressed_to_a_group_or_a_person(agent: httpx2.Client, team: Team) -> None:
    to_group = ask(agent, to="release")
    to_person = ask(agent, to="noor")

    assert to_group["asked"] == ["p_dana", "p_erik", "p_mia"]
    assert to_person["asked"] == ["p_noor"]
    # Being addressed is no right of its own, and not being addressed takes none away.
    assert ok(answer(team.noor, to_group["id"], "mine"))["question"]["status"] == "answered"


def test_a_question_to_somebody_who_may_not_answer_it_is_refused(agent: httpx2.Client, team: Team) -> None:
    refused = agent.post("/api/questions", json={"question": "?", "type": "approval", "to": "Noor"})

    assert problem(refused) == (422, "no_responder")
    assert refused.json()["errors"][0]["pointer"] == "/to"


def test_a_question_to_somebody_nobody_knows_goes_where_others_go(agent: httpx2.Client, team: Team) -> None:
    question = ask(agent, to="the-old-team")

    assert (question["to"], question["asked"]) == ("the-old-team", [])


def test_a_policy_may_refuse_unknown_recipients(data_dir: Path) -> None:
    with running(data_dir) as server, server.admin() as admin, server.client() as agent:
        ok(admin.put("/api/policy", json={"changes": {"unknown_recipients": "refuse"}}))
        refused = agent.post("/api/questions", json={"question": "?", "to": "the-old-team"})
        taken = agent.post("/api/questions", json={"question": "?", "to": "Admin"})

    assert problem(refused) == (422, "recipient_unknown")
    assert refused.json()["errors"][0]["pointer"] == "/to"
    assert taken.status_code == 201


# The policy itself


def test_at_first_the_admin_answers_and_nobody_else_is_there(data_dir: Path) -> None:
    with running(data_dir) as server, server.admin() as admin, server.client() as agent:
        shown = ok(admin.get("/api/policy"))
        everybody = ok(admin.get("/api/people"))["people"]
        question, wish = ask(agent), ask(agent, type="approval")
        by_agent = answer(agent, question["id"], "me")
        done = [ok(answer(admin, question["id"], "yes")), ok(answer(admin, wish["id"], True))]

    assert shown["version"] == 0
    assert shown["text"].startswith("# The policy of this workspace")
    assert [(person["name"], person["role"]) for person in everybody] == [("Admin", "admin")]
    assert question["asked"] == ["p_admin"]
    assert problem(by_agent) == (403, "scope_missing")
    assert [said["question"]["status"] for said in done] == ["answered", "answered"]


def test_by_default_members_answer_questions_and_approvers_approvals(data_dir: Path) -> None:
    with (
        running(data_dir) as server,
        server.admin() as admin,
        server.client() as agent,
        server.client(server.new_key("eve's phone", "answer", "Eve")) as eve,
    ):
        question, wish = ask(agent), ask(agent, type="approval")
        taken = ok(answer(eve, question["id"], "yes"))["question"]
        refused = answer(eve, wish["id"], True)
        ok(admin.patch("/api/people/Eve", json={"role": "approver"}))
        promoted = ok(answer(eve, wish["id"], True))["question"]

    assert taken["outcome"]["decidedBy"]["name"] == "Eve"
    assert problem(refused) == (404, "question_not_found")
    assert promoted["outcome"]["decidedBy"]["name"] == "Eve"


def test_a_policy_is_compared_applied_and_never_overwritten_unseen(data_dir: Path) -> None:
    changes = {"changes": {"groups.release": ["Admin"]}}
    with running(data_dir) as server, server.admin() as admin:
        before = ok(admin.get("/api/policy"))
        compared = ok(admin.post("/api/policy/diff", json=changes))
        untouched = ok(admin.get("/api/policy"))
        applied = ok(admin.put("/api/policy", json=changes | {"version": 0}))
        stale = admin.put("/api/policy", json={"text": before["text"], "version": 0})
        same = ok(admin.put("/api/policy", json=changes | {"version": 1}))
        blind = ok(admin.put("/api/policy", json={"text": before["text"]}))
        audit = [(e["what"], e["by"], e["subject"]) for e in ok(admin.get("/api/audit"))["entries"]]

    assert untouched == before
    assert "+release = [" in compared["diff"]
    assert (applied["version"], applied["diff"], applied["text"]) == (1, compared["diff"], compared["text"])
    assert problem(stale) == (409, "policy_changed")
    assert stale.json()["version"] == 1
    assert (same["version"], same["diff"]) == (1, "")
    assert blind["version"] == 2
    assert audit == [("policy.changed", "Admin", "version 2"), ("policy.changed", "Admin", "version 1")]


async def test_of_two_who_change_the_policy_at_once_one_is_told_to_look_again(data_dir: Path) -> None:
    with running(data_dir) as server:
        async with server.async_client(server.admin_key) as admin:
            texts = [f"{POLICY_OF_ONE}# {number}\n" for number in range(6)]
            replies = await asyncio.gather(*(admin.put("/api/policy", json={"text": t, "version": 0}) for t in texts))
            kept = (await admin.get("/api/policy")).json()

    assert sorted(reply.status_code for reply in replies) == [200] + [409] * 5
    assert kept["version"] == 1
    (winner,) = [reply.json() for reply in replies if reply.status_code == 200]
    assert kept["text"] == winner["text"]


POLICY_OF_ONE = '[[answer]]\nname = "all"\nby = [{ role = "admin" }]\n'


def test_all_problems_of_a_policy_are_told_at_once_and_nothing_changes(admin: httpx2.Client, team: Team) -> None:
    before = ok(admin.get("/api/policy"))
    text = POLICY.replace('group = "release", need = 2', 'group = "relase", need = 2', 1)
    text = text.replace('remind = "50%"', 'remind = "150%"').replace('"Mia"]', '"Mai"]')

    refused = admin.put("/api/policy", json={"text": text})
    compared = admin.post("/api/policy/diff", json={"text": text})

    assert problem(refused) == problem(compared) == (422, "policy_invalid")
    places = [error["pointer"] for error in refused.json()["errors"]]
    assert places == ["groups.release[2]", "answer[0].by[0].group", "ladder[0].steps[0].remind"]
    assert "Did you mean “release”?" in refused.json()["errors"][1]["detail"]
    assert "3 problems" in refused.json()["detail"]
    assert ok(admin.get("/api/policy")) == before


@pytest.mark.parametrize("body", [{}, {"text": "x", "changes": {}}, {"text": 5}, {"changes": {"groups.x": 5}}])
def test_what_is_no_policy_is_refused(admin: httpx2.Client, body: Json) -> None:
    assert problem(admin.put("/api/policy", json=body))[0] == 422


def test_a_policy_under_which_nobody_could_answer_is_refused(admin: httpx2.Client) -> None:
    assert problem(admin.put("/api/policy", json={"text": "# nothing\n"})) == (422, "policy_invalid")


def test_a_question_keeps_the_rules_it_was_asked_under(data_dir: Path) -> None:
    with running(data_dir) as server, server.admin() as admin, server.client() as agent:
        for name in ("Dana", "Erik", "Mia"):
            person(admin, name, "approver")
        version = put(admin)
        question = approval(agent)
        ok(admin.put("/api/policy", json={"text": POLICY_OF_ONE}))
        later = approval(agent)
        seen = look(agent, question["id"])

    assert (seen["responders"]["rule"], seen["responders"]["policyVersion"]) == ("two of release", version)
    assert (later["responders"]["rule"], later["responders"]["policyVersion"]) == ("all", version + 1)


# Explaining


def test_what_would_happen_is_explained_to_whoever_asks(agent: httpx2.Client, team: Team) -> None:
    at = "2026-03-02T10:00:00Z"
    told = ok(agent.post("/api/policy/explain", json={"type": "approval", "tool": "deploy", "at": at}))

    assert told["refused"] is None
    assert told["rules"] == {"answer": "two of release", "route": "", "ladder": "somebody is waiting"}
    assert told["responders"] == ["Dana", "Erik", "Mia"]
    assert told["whoMayAnswer"] == "Needed: 2 of release."
    assert [(step["at"], step["people"]) for step in told["timeline"]] == [
        ("2026-03-02T10:07:30.000Z", ["Dana", "Erik", "Mia"]),
        ("2026-03-02T10:12:00.000Z", ["Admin", "Dana"]),
        ("2026-03-02T10:15:00.000Z", []),
    ]


def test_instants_are_explained_in_utc_and_impossible_ones_refused(agent: httpx2.Client, team: Team) -> None:
    told = ok(agent.post("/api/policy/explain", json={"type": "approval", "at": "2026-03-02T12:00:00+02:00"}))

    assert told["timeline"][-1]["at"] == "2026-03-02T10:15:00.000Z"
    for at in ("9999-12-31T23:59:59-01:00", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+01:00"):
        refused = agent.post("/api/policy/explain", json={"type": "approval", "at": at})
        assert problem(refused) == (422, "invalid_request")
        assert refused.json()["errors"][0]["pointer"] == "/at"


def test_explaining_and_asking_agree(agent: httpx2.Client, team: Team) -> None:
    for tool in ("deploy", "merge", "payment", "by-role", "other"):
        told = ok(agent.post("/api/policy/explain", json={"type": "approval", "tool": tool}))
        asked = approval(agent, tool)
        assert told["rules"]["answer"] == asked["responders"]["rule"]
        assert told["whoMayAnswer"] == asked["responders"]["text"]
        assert len(told["asked"]) == len(asked["asked"])


def test_four_eyes_are_explained(agent: httpx2.Client, team: Team) -> None:
    told = ok(agent.post("/api/policy/explain", json={"type": "approval", "tool": "payment", "owner": "Dana"}))
    refused = ok(agent.post("/api/policy/explain", json={"type": "approval", "tool": "wire", "onBehalfOf": "Dana"}))

    assert (told["responders"], told["barred"]) == (["Erik"], ["Dana"])
    assert "only Erik could answer" in refused["refused"]


def test_a_policy_that_nobody_applied_is_explained(admin: httpx2.Client, agent: httpx2.Client, team: Team) -> None:
    before = ok(admin.get("/api/policy"))

    told = ok(admin.post("/api/policy/explain", json={"type": "approval", "text": POLICY_OF_ONE}))
    broken = admin.post("/api/policy/explain", json={"text": "nonsense"})
    curious = agent.post("/api/policy/explain", json={"text": POLICY_OF_ONE})

    assert (told["rules"]["answer"], told["responders"]) == ("all", ["Admin"])
    assert problem(broken) == (422, "policy_invalid")
    assert problem(curious) == (403, "not_allowed")
    assert ok(admin.get("/api/policy")) == before


def test_renaming_somebody_moves_no_authority_and_nobody_takes_over_a_name(data_dir: Path) -> None:
    with running(data_dir) as server, server.admin() as admin:
        erik = admin.post("/api/people", json={"name": "Erik", "role": "approver"}).json()
        text = '[groups]\nrelease = ["Erik"]\n[[answer]]\nname = "all"\nby = [{ group = "release" }]\n'
        assert admin.put("/api/policy", json={"text": text}).status_code == 200

        assert admin.patch(f"/api/people/{erik['id']}", json={"name": "Rick"}).status_code == 200
        other = admin.post("/api/people", json={"name": "Erik"}).json()

        groups = admin.get("/api/people").json()["groups"]
        assert groups == {"release": [erik["id"]]}
        assert other["id"] != erik["id"]


def test_an_admin_who_is_demoted_has_no_admins_key_any_more(data_dir: Path) -> None:
    with running(data_dir) as server, server.admin() as admin:
        dana = admin.post("/api/people", json={"name": "Dana", "role": "admin"}).json()
        with server.client(server.new_key("hers", "answer,admin", "Dana")) as hers:
            assert hers.get("/api/audit").status_code == 200

            assert admin.patch(f"/api/people/{dana['id']}", json={"role": "member"}).status_code == 200

            assert problem(hers.get("/api/audit")) == (403, "scope_missing")
            assert hers.patch("/api/people/me", json={"role": "admin"}).status_code == 403
