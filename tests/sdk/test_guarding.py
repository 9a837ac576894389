"""`requires_approval`: the function runs with an approval or not at all."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from handraise import AsyncHandraise, Handraise, InvalidArgument, NotApproved

from .clients import Client, each_client
from .conftest import PATIENCE
from .questions import PersonActs, answering
from .stand_in import AGENT_KEY, StandIn

ACTS = PersonActs()


@pytest.fixture(params=["blocking", "asynchronous"])
def client(request: pytest.FixtureRequest, server: StandIn) -> Iterator[Client]:
    yield from each_client(server, request.param)


@pytest.fixture
def deployed() -> list[Any]:
    return []


@pytest.fixture
def deploy(deployed: list[Any]) -> Callable[..., str]:
    def deploy(env: str, *, count: int = 1, hosts: tuple[str, ...] = ("a",)) -> str:
        deployed.append((env, count, hosts))
        return f"deployed to {env}"

    return deploy


def test_an_approved_call_is_made_and_its_result_returned(
    server: StandIn, client: Client, deploy: Callable[..., str], deployed: list[Any]
) -> None:
    server.when_polled(answering(True))
    guarded = client.guarded(deploy, to="release-managers", time_limit="30m", job="build-17")

    assert guarded("prod", count=2) == "deployed to prod"

    assert deployed == [("prod", 2, ("a",))]
    asked = server.questions["q_1"]
    assert asked["action"] == {
        "tool": "tests.sdk.test_guarding.deploy.deploy",
        "arguments": {"env": "prod", "count": 2, "hosts": ["a"]},
        "editable": True,
    }
    assert (asked["to"], asked["timeoutMinutes"], asked["jobId"]) == ("release-managers", 30, "build-17")


@pytest.mark.parametrize("act", [answering(False, text="not on a Friday"), ACTS.expire, ACTS.withdraw])
def test_without_an_approval_the_function_is_not_called(
    server: StandIn, client: Client, deploy: Callable[..., str], deployed: list[Any], act: Any
) -> None:
    server.when_polled(act)

    with pytest.raises(NotApproved) as caught:
        client.guarded(deploy)("prod")

    assert deployed == []
    assert not caught.value.decision.approved
    assert str(caught.value) == caught.value.decision.for_model()


def test_changed_arguments_replace_theirs_and_leave_the_others_as_they_were(
    server: StandIn, client: Client, deploy: Callable[..., str], deployed: list[Any]
) -> None:
    server.when_polled(answering(True, arguments={"env": "staging", "count": 2, "hosts": ["a"]}))

    client.guarded(deploy)("prod", count=2)

    assert deployed == [("staging", 2, ("a",))]


@pytest.mark.parametrize("changed", [{"env": "prod"}, {"env": "prod", "count": 1, "hosts": [], "force": True}])
def test_arguments_that_do_not_fit_are_not_called_with(
    server: StandIn, client: Client, deploy: Callable[..., str], deployed: list[Any], changed: Any
) -> None:
    server.when_polled(answering(True, arguments=changed))

    with pytest.raises(InvalidArgument, match="does not take"):
        client.guarded(deploy)("prod")

    assert deployed == []


@pytest.mark.parametrize(
    "changed", [{"rest": "text", "more": {}}, {"rest": [], "more": []}, {"rest": [], "more": {"rest": 1}}]
)
def test_further_arguments_keep_their_kind(server: StandIn, client: Client, changed: Any) -> None:
    calls: list[Any] = []

    def run(*rest: str, **more: int) -> None:
        calls.append((rest, more))

    server.when_polled(
        answering(True, arguments={"rest": ["x", "z"], "more": {"n": 2}}), answering(True, **{"arguments": changed})
    )
    guarded = client.guarded(run)
    guarded("x", "y", n=1)

    with pytest.raises(InvalidArgument, match="does not take"):
        guarded("x", n=1)

    assert calls == [(("x", "z"), {"n": 2})]


def test_where_when_says_no_nobody_is_asked(
    server: StandIn, client: Client, deploy: Callable[..., str], deployed: list[Any]
) -> None:
    guarded = client.guarded(deploy, when=lambda env, **_: env == "prod")

    guarded("staging", count=3)

    assert (deployed, server.requests) == ([("staging", 3, ("a",))], [])


def test_the_question_may_be_worded(server: StandIn, client: Client, deploy: Callable[..., str]) -> None:
    server.when_polled(answering(True), answering(True))

    client.guarded(deploy, describe=lambda env, **_: f"Deploy to {env}?", tool="deploy")("prod")
    client.guarded(deploy, describe="Deploy now?", tool="deploy")("prod")

    assert [asked["question"] for asked in server.questions.values()] == ["Deploy to prod?", "Deploy now?"]
    assert server.questions["q_1"]["action"]["tool"] == "deploy"


@pytest.mark.parametrize("value", [Path("/tmp"), float("nan"), {1, 2}, b"x", [object()]])
def test_arguments_that_people_cannot_be_shown_are_named_before_anything_is_asked(
    server: StandIn, client: Client, deploy: Callable[..., str], deployed: list[Any], value: Any
) -> None:
    with pytest.raises(InvalidArgument, match="its argument env cannot be shown as JSON"):
        client.guarded(deploy)(value)

    assert (deployed, server.requests) == ([], [])


def test_a_call_that_does_not_fit_the_function_fails_as_it_would_without_the_guard(
    server: StandIn, client: Client, deploy: Callable[..., str]
) -> None:
    with pytest.raises(TypeError, match="env"):
        client.guarded(deploy)(count=1)

    assert server.requests == []


def test_what_changed_while_people_looked_at_it_is_not_called_with(server: StandIn, client: Client) -> None:
    calls: list[Any] = []
    hosts = ["a"]

    def swap(question: Any) -> None:
        hosts[0] = "production"
        ACTS.answer(question, True)

    def restart(hosts: list[str]) -> None:
        calls.append(hosts)

    server.when_polled(swap)

    with pytest.raises(InvalidArgument, match="changed while people looked"):
        client.guarded(restart)(hosts)

    assert calls == []


def test_a_method_is_asked_about_without_its_object(server: StandIn) -> None:
    server.when_polled(answering(True))
    people = Handraise(AGENT_KEY, base_url=server.url)

    class Cluster:
        @people.requires_approval()
        def scale(self, count: int) -> int:
            """Scale it."""
            return count

    with people:
        assert Cluster().scale(3) == 3

    assert server.questions["q_1"]["action"]["arguments"] == {"count": 3}
    assert (Cluster.scale.__name__, Cluster.scale.__doc__) == ("scale", "Scale it.")


def test_the_blocking_client_guards_coroutines_without_holding_up_the_loop(server: StandIn) -> None:
    server.longest_hold = 60.0
    people = Handraise(AGENT_KEY, base_url=server.url)

    @people.requires_approval(tool="deploy")
    async def deploy(env: str) -> str:
        return env

    async def both() -> str:
        calling = asyncio.create_task(deploy("prod"))
        await asyncio.to_thread(server.polled.wait, PATIENCE)
        server.settle(server.questions["q_1"], True)
        return await calling

    with people:
        assert asyncio.run(both()) == "prod"


def test_the_asynchronous_client_refuses_functions_that_cannot_wait(server: StandIn) -> None:
    people = AsyncHandraise(AGENT_KEY, base_url=server.url)

    with pytest.raises(InvalidArgument, match="is no coroutine function"):
        people.requires_approval()(len)
