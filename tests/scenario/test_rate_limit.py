"""The rate limit on asking, per key and per job."""

from collections.abc import Iterator

import httpx2
import pytest

from tests.scenario.talk import CHOICE, ok, problem
from tests.support.servers import RunningServer, running
from tests.support.waiting import eventually


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running(tmp_path_factory.mktemp("slow"), rate_limit="3/hour") as started:
        yield started


def _asking(server: RunningServer, name: str) -> httpx2.Client:
    """A client with a fresh key of the agent `name`."""
    return server.client(server.new_key(name, "ask,read"))


def test_a_key_that_asks_too_often_is_told_when_to_come_back(slow: RunningServer) -> None:
    with _asking(slow, "eager") as eager:
        statuses = [eager.post("/api/questions", json=CHOICE).status_code for _ in range(3)]
        refused = eager.post("/api/questions", json=CHOICE)
        asked = ok(eager.get("/api/questions/pending"))["questions"]

    assert statuses == [201, 201, 201]
    assert problem(refused) == (429, "rate_limited")
    # One of three in an hour is free again after twenty minutes.
    assert 1100 <= int(refused.headers["retry-after"]) <= 1201
    assert refused.json()["detail"] == f"Too many questions at once. Try again in {refused.headers['retry-after']} s."
    assert len(asked) == 3


def test_another_key_is_not_slowed_down(slow: RunningServer) -> None:
    with _asking(slow, "busy") as busy, _asking(slow, "calm") as calm:
        for _ in range(4):
            busy.post("/api/questions", json=CHOICE)

        asked = calm.post("/api/questions", json=CHOICE)

    assert asked.status_code == 201


def test_a_job_is_limited_across_the_keys_that_ask_in_it(slow: RunningServer) -> None:
    with _asking(slow, "team") as first, _asking(slow, "team") as second:
        statuses = [
            client.post("/api/jobs/shared/questions", json=CHOICE).status_code for client in (first, first, second)
        ]
        in_job = second.post("/api/jobs/shared/questions", json=CHOICE)
        by_body = second.post("/api/questions", json=CHOICE | {"jobId": "shared"})
        elsewhere = first.post("/api/jobs/other/questions", json=CHOICE)

    assert statuses == [201, 201, 201]
    assert problem(in_job) == (429, "rate_limited")
    assert problem(by_body) == (429, "rate_limited")
    assert elsewhere.status_code == 201


def test_only_asking_is_limited(slow: RunningServer) -> None:
    with _asking(slow, "curious") as curious, slow.admin() as admin:
        asked = [curious.post("/api/questions", json=CHOICE).json()["questionId"] for _ in range(3)]
        looks = [curious.get(f"/api/questions/{asked[0]}").status_code for _ in range(10)]
        progress = [curious.post("/api/jobs/curious/progress", json={"text": f"{n}"}).status_code for n in range(10)]
        answers = [
            admin.post(f"/api/questions/{each}/answer", json={"response": {"value": "pg"}}).status_code
            for each in asked
        ]

    assert (looks, progress, answers) == ([200] * 10, [202] * 10, [200] * 3)


async def test_after_the_wait_asking_works_again(tmp_path_factory: pytest.TempPathFactory) -> None:
    with running(tmp_path_factory.mktemp("quick"), rate_limit="2/second") as quick, quick.client() as agent:
        statuses = {agent.post("/api/questions", json=CHOICE).status_code for _ in range(30)}

        async def works() -> bool:
            return agent.post("/api/questions", json=CHOICE).status_code == 201

        await eventually(works)

    assert statuses == {201, 429}
