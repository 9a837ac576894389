"""Jobs: what they wait for, what they go back to, and what happens to their questions when they end."""

from urllib.parse import quote

import httpx2
import pytest

from tests.scenario.talk import (
    APPROVAL,
    CHOICE,
    ONE_SECOND,
    Json,
    answer,
    ask,
    cancel,
    happened,
    job_of,
    look,
    ok,
    pick,
    problem,
    settled,
)

_STANDING = ("status", "resumeStatus", "blockReason")


def _steer(client: httpx2.Client, job_id: str, **wish: object) -> Json:
    return ok(client.patch(f"/api/jobs/{job_id}", json=wish))


def _standing(client: httpx2.Client, job_id: str) -> tuple[object, ...]:
    job = job_of(client, job_id)
    return tuple(job[name] for name in _STANDING)


def test_a_job_comes_into_being_when_first_named(agent: httpx2.Client) -> None:
    question = ask(agent, CHOICE, job="born", agent="builder")

    assert job_of(agent, "born") == {
        "id": "born",
        "workspaceId": "default",
        "status": "waiting_for_input",
        "resumeStatus": "running",
        "blockReason": None,
        "onTimeout": "fail",
        "maxOpenHolding": None,
        "humanInput": {
            "openQuestionId": question["id"],
            "openQuestionCount": 1,
            "awaitingSince": question["createdAt"],
            "requestedByRole": "builder",
            "resumeStatus": "running",
        },
        "progress": None,
        "owner": "agent:agent",
        "version": 1,
        "createdAt": question["createdAt"],
        "updatedAt": question["createdAt"],
    }


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("blocking", "waiting_for_input"),
        ("error_recovery", "waiting_for_input"),
        ("approval", "waiting_for_approval"),
        ("non_blocking", "running"),
        ("clarifying", "running"),
        ("confirming", "running"),
        ("preference", "running"),
        ("educational", "running"),
        ("celebratory", "running"),
    ],
)
def test_the_kind_of_a_question_decides_whether_its_job_waits(
    agent: httpx2.Client, admin: httpx2.Client, kind: str, status: str
) -> None:
    extra = {"defaultResponse": {"value": "a"}} if kind == "non_blocking" else {}
    question = ask(agent, job=f"kind-{kind}", type=kind, **extra)
    while_open = job_of(agent, f"kind-{kind}")["status"]

    answered = ok(answer(admin, question["id"], True if kind == "approval" else "go"))

    assert while_open == status
    assert answered["jobResumed"] is (status != "running")
    assert _standing(agent, f"kind-{kind}") == ("running", None, None)


def test_a_job_goes_back_to_what_it_was(agent: httpx2.Client, admin: httpx2.Client) -> None:
    _steer(agent, "was-blocked", status="blocked", reason="no licence")
    question = ask(agent, APPROVAL, job="was-blocked")
    while_open = _standing(agent, "was-blocked")

    ok(answer(admin, question["id"], True))

    assert while_open == ("waiting_for_approval", "blocked", "no licence")
    assert _standing(agent, "was-blocked") == ("blocked", None, "no licence")


def test_a_job_waits_until_the_last_question_that_holds_it_has_settled(
    agent: httpx2.Client, admin: httpx2.Client
) -> None:
    first = ask(agent, CHOICE, job="several")
    second = ask(agent, APPROVAL, job="several")
    third = ask(agent, CHOICE, job="several")

    told = [
        (ok(answer(admin, second["id"], True))["jobResumed"], job_of(agent, "several")["status"]),
        (ok(cancel(agent, first["id"]))["success"], job_of(agent, "several")["status"]),
        (ok(answer(admin, third["id"], "pg"))["jobResumed"], job_of(agent, "several")["status"]),
    ]

    assert told == [(False, "waiting_for_input"), (True, "waiting_for_input"), (True, "running")]
    assert job_of(agent, "several")["humanInput"] == {
        "openQuestionId": None,
        "openQuestionCount": 0,
        "awaitingSince": None,
        "requestedByRole": None,
        "resumeStatus": None,
    }


def test_an_approval_among_the_open_questions_decides_what_the_job_waits_for(agent: httpx2.Client) -> None:
    first = ask(agent, CHOICE, job="mixed")
    ask(agent, APPROVAL, job="mixed")

    job = job_of(agent, "mixed")

    assert job["status"] == "waiting_for_approval"
    assert pick(job["humanInput"], "openQuestionId", "openQuestionCount") == {
        "openQuestionId": first["id"],
        "openQuestionCount": 2,
    }


def test_a_status_wished_while_a_question_is_open_takes_effect_afterwards(
    agent: httpx2.Client, admin: httpx2.Client
) -> None:
    question = ask(agent, CHOICE, job="wish")
    _steer(agent, "wish", status="blocked", reason="waits for a part")
    while_open = _standing(agent, "wish")

    answer(admin, question["id"], "pg")

    assert while_open == ("waiting_for_input", "blocked", "waits for a part")
    assert _standing(agent, "wish") == ("blocked", None, "waits for a part")


def test_a_second_question_is_refused_where_the_job_allows_one(agent: httpx2.Client, admin: httpx2.Client) -> None:
    _steer(agent, "one-at-a-time", maxOpenHolding=1)
    first = ask(agent, CHOICE, job="one-at-a-time")

    refused = agent.post("/api/jobs/one-at-a-time/questions", json=APPROVAL)
    beside = ask(agent, job="one-at-a-time", type="clarifying")
    answer(admin, first["id"], "pg")
    after = agent.post("/api/jobs/one-at-a-time/questions", json=APPROVAL)

    assert problem(refused) == (409, "question_conflict_open")
    assert refused.json()["detail"] == (
        f"Job “one-at-a-time” already waits for “{first['id']}” and its policy allows no more. "
        "Wait for the answer or cancel it first."
    )
    assert after.status_code == 201
    listed = ok(agent.get("/api/jobs/one-at-a-time/questions"))["questions"]
    assert [question["id"] for question in listed] == [first["id"], beside["id"], after.json()["questionId"]]


def test_the_limit_of_open_questions_can_be_lifted_again(agent: httpx2.Client) -> None:
    _steer(agent, "lifted", maxOpenHolding=1)
    ask(agent, CHOICE, job="lifted")

    _steer(agent, "lifted", maxOpenHolding=None)

    ask(agent, CHOICE, job="lifted")
    assert pick(job_of(agent, "lifted"), "maxOpenHolding", "status") == {
        "maxOpenHolding": None,
        "status": "waiting_for_input",
    }


def test_a_holding_question_that_expires_fails_the_job_and_withdraws_the_others(agent: httpx2.Client) -> None:
    other = ask(agent, CHOICE, job="fails")
    beside = ask(agent, job="fails", type="clarifying")
    question = ask(agent, APPROVAL, job="fails", timeoutMinutes=ONE_SECOND)

    settled(agent, question["id"])

    assert _standing(agent, "fails") == ("failed", None, f"question {question['id']} expired without an answer")
    for withdrawn in (settled(agent, other["id"]), settled(agent, beside["id"])):
        assert withdrawn["status"] == "cancelled"
        assert pick(withdrawn["outcome"], "kind", "reason") == {
            "kind": "withdrawn",
            "reason": "job “fails” ended (failed)",
        }


def test_a_job_may_ask_to_be_blocked_instead_of_failed(agent: httpx2.Client) -> None:
    _steer(agent, "blocks", onTimeout="block")
    question = ask(agent, CHOICE, job="blocks", timeoutMinutes=ONE_SECOND)

    settled(agent, question["id"])

    assert _standing(agent, "blocks") == ("blocked", None, f"question {question['id']} expired without an answer")
    assert _steer(agent, "blocks", status="running")["blockReason"] is None


def test_a_job_with_another_open_question_is_blocked_once_that_has_settled(
    agent: httpx2.Client, admin: httpx2.Client
) -> None:
    _steer(agent, "blocks-later", onTimeout="block")
    stays = ask(agent, CHOICE, job="blocks-later")
    expires = ask(agent, CHOICE, job="blocks-later", timeoutMinutes=ONE_SECOND)
    settled(agent, expires["id"])
    while_open = job_of(agent, "blocks-later")

    answer(admin, stays["id"], "pg")

    assert pick(while_open, "status", "resumeStatus") == {"status": "waiting_for_input", "resumeStatus": "blocked"}
    assert job_of(agent, "blocks-later")["status"] == "blocked"


def test_a_default_lets_the_job_go_on(agent: httpx2.Client) -> None:
    question = ask(agent, CHOICE, job="goes-on", timeoutMinutes=ONE_SECOND, defaultResponse={"value": "lite"})

    settled(agent, question["id"])

    assert _standing(agent, "goes-on") == ("running", None, None)


def test_a_question_that_holds_nothing_expires_without_harm(agent: httpx2.Client) -> None:
    question = ask(agent, job="unharmed", type="clarifying", timeoutMinutes=ONE_SECOND)

    settled(agent, question["id"])

    assert _standing(agent, "unharmed") == ("running", None, None)


@pytest.mark.parametrize("end", ["completed", "failed", "cancelled"])
def test_a_job_that_ends_withdraws_its_open_questions_and_takes_no_more(
    agent: httpx2.Client, admin: httpx2.Client, end: str
) -> None:
    job = f"ends-{end}"
    kept = ask(agent, CHOICE, job=job)
    answer(admin, kept["id"], "pg")
    open_ones = [ask(agent, CHOICE, job=job), ask(agent, APPROVAL, job=job), ask(agent, job=job, type="preference")]

    _steer(agent, job, status=end, reason="that is it")
    refused = agent.post(f"/api/jobs/{job}/questions", json=CHOICE)
    no_progress = agent.post(f"/api/jobs/{job}/progress", json={"text": "more"})

    assert _standing(agent, job) == (end, None, "that is it")
    assert [look(agent, question["id"])["status"] for question in (kept, *open_ones)] == [
        "answered",
        "cancelled",
        "cancelled",
        "cancelled",
    ]
    assert [happened(agent, question["id"]) for question in open_ones] == [["question.asked", "question.withdrawn"]] * 3
    outcome = look(agent, open_ones[0]["id"])["outcome"]
    assert pick(outcome, "kind", "reason") == {"kind": "withdrawn", "reason": f"job “{job}” ended ({end})"}
    assert pick(outcome["decidedBy"], "type", "id") == {"type": "asker", "id": "agent:agent"}
    assert problem(refused) == (409, "job_ended")
    assert problem(no_progress) == (409, "job_ended")
    assert problem(answer(admin, open_ones[0]["id"], "pg")) == (409, "question_withdrawn")


def test_an_ended_job_can_be_taken_up_again(agent: httpx2.Client) -> None:
    _steer(agent, "again", status="failed", reason="oops")

    _steer(agent, "again", status="running")

    assert _standing(agent, "again") == ("running", None, None)
    ask(agent, CHOICE, job="again")


@pytest.mark.parametrize("status", ["waiting_for_input", "waiting_for_approval"])
def test_a_job_cannot_be_set_waiting_by_hand(agent: httpx2.Client, status: str) -> None:
    refused = agent.patch("/api/jobs/by-hand", json={"status": status})

    assert problem(refused) == (422, "job_status_not_settable")
    assert problem(agent.get("/api/jobs/by-hand")) == (404, "job_not_found")


def test_progress_is_kept_and_changes_nothing_else(agent: httpx2.Client) -> None:
    ask(agent, CHOICE, job="progress")
    before = job_of(agent, "progress")

    said = agent.post("/api/jobs/progress/progress", json={"text": "Analyzed 3/10 documents…"})

    after = job_of(agent, "progress")
    assert said.status_code == 202
    assert said.json() == after
    assert after == before | {
        "progress": {"text": "Analyzed 3/10 documents…", "at": after["updatedAt"]},
        "updatedAt": after["updatedAt"],
        "version": before["version"] + 1,
    }


def test_the_questions_of_a_job_are_listed_by_status_in_either_dialect(
    agent: httpx2.Client, admin: httpx2.Client
) -> None:
    answered, timed_out, cancelled, pending = (
        ask(agent, CHOICE, job="statuses", timeoutMinutes=minutes, **extra)
        for minutes, extra in [
            (10, {}),
            (ONE_SECOND, {"defaultResponse": {"value": "lite"}}),
            (10, {}),
            (10, {}),
        ]
    )
    answer(admin, answered["id"], "pg")
    cancel(agent, cancelled["id"])
    settled(agent, timed_out["id"])

    def listed(status: str) -> list[str]:
        page = ok(agent.get("/api/jobs/statuses/questions", params={"status": status}))
        return [question["id"] for question in page["questions"]]

    everything = [answered["id"], timed_out["id"], cancelled["id"], pending["id"]]
    assert {
        word: listed(word)
        for word in ("pending", "open", "answered", "timeout", "expired", "cancelled", "withdrawn", "all")
    } == {
        "pending": [pending["id"]],
        "open": [pending["id"]],
        "answered": [answered["id"]],
        "timeout": [timed_out["id"]],
        "expired": [timed_out["id"]],
        "cancelled": [cancelled["id"]],
        "withdrawn": [cancelled["id"]],
        "all": everything,
    }
    assert [each["id"] for each in ok(agent.get("/api/jobs/statuses/questions"))["questions"]] == everything


def test_ready_jobs_are_those_that_can_go_on(stranger: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(stranger, CHOICE, job="r1-waiting")
    ask(stranger, job="r2-running", type="clarifying")
    _steer(stranger, "r3-blocked", status="blocked")
    _steer(stranger, "r4-done", status="completed")

    def jobs(**where: bool) -> list[str]:
        return [job["id"] for job in ok(stranger.get("/api/jobs", params=where))["jobs"]]

    before = jobs(ready=True)
    answer(admin, question["id"], "pg")

    assert before == ["r2-running"]
    assert jobs(ready=True) == ["r1-waiting", "r2-running"]
    assert jobs() == ["r1-waiting", "r2-running", "r3-blocked", "r4-done"]


def test_jobs_are_listed_page_by_page(agent: httpx2.Client, server_jobs: list[str]) -> None:
    first = ok(agent.get("/api/jobs", params={"limit": 2, "cursor": "pages"}))
    second = ok(agent.get("/api/jobs", params={"limit": 2, "cursor": first["nextCursor"]}))

    found = [job["id"] for page in (first, second) for job in page["jobs"]]
    assert found[:3] == server_jobs


@pytest.fixture
def server_jobs(agent: httpx2.Client) -> list[str]:
    names = ["pages-a", "pages-b", "pages-c"]
    for name in names:
        _steer(agent, name, status="running")
    return names


def test_the_job_of_another_agent_does_not_exist(agent: httpx2.Client, stranger: httpx2.Client) -> None:
    question = ask(agent, CHOICE, job="mine")
    before = job_of(agent, "mine")

    refusals = [
        stranger.get("/api/jobs/mine"),
        stranger.get("/api/jobs/mine/questions"),
        stranger.patch("/api/jobs/mine", json={"status": "cancelled"}),
        stranger.post("/api/jobs/mine/progress", json={"text": "mine now"}),
        stranger.post("/api/jobs/mine/questions", json=CHOICE),
        stranger.post("/api/questions", json=CHOICE | {"jobId": "mine"}),
    ]

    assert [problem(refused) for refused in refusals] == [(404, "job_not_found")] * 6
    assert job_of(agent, "mine") == before
    assert look(agent, question["id"]) == question


def test_the_admin_sees_and_steers_every_job(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, CHOICE, job="overseen")

    steered = _steer(admin, "overseen", status="cancelled", reason="budget")

    assert pick(steered, "status", "owner") == {"status": "cancelled", "owner": "agent:agent"}
    assert settled(agent, question["id"])["status"] == "cancelled"


def test_the_job_may_be_named_in_the_body(agent: httpx2.Client) -> None:
    question = ask(agent, CHOICE, jobId="in-body")

    assert question["jobId"] == "in-body"
    assert job_of(agent, "in-body")["humanInput"]["openQuestionId"] == question["id"]


@pytest.mark.parametrize("name", ["ärger 🙂", "a.b:c@d", "it's 100%"])
def test_a_job_may_have_any_printable_name(agent: httpx2.Client, name: str) -> None:
    question = ask(agent, CHOICE, jobId=name)

    listed = ok(agent.get(f"/api/jobs/{quote(name, safe='')}/questions"))

    assert listed["questions"] == [question]
