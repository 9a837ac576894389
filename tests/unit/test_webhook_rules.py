"""Which events an endpoint gets, and what follows from an attempt."""

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from core.answers import AnswerValue
from core.events import Answered, Asked, JobChanged
from core.question import Asker
from core.webhooks import (
    Again,
    Arrived,
    Endpoint,
    EndpointGone,
    Fate,
    GivenUp,
    fate_of,
    messages_for,
    pattern_problem,
    wants,
)
from tests.support.builders import AGENT, BY_DANA, NOW, OTHER_AGENT, WORKSPACE, a_job, after, opened, question_id, spec

HERE = Endpoint("wh_1", WORKSPACE, AGENT.principal, "https://a.example/", ("question.*",), "whsec_a", NOW)


@dataclass(frozen=True)
class Reply:
    status: int | None
    failure: str | None = None
    retry_after: timedelta | None = None
    duration: timedelta = timedelta(0)


@pytest.mark.parametrize(
    ("pattern", "name", "wanted"),
    [
        ("*", "job.status", True),
        ("question.*", "question.answered", True),
        ("question.*", "job.status", False),
        ("question.answered", "question.answered", True),
        ("question.answered", "question.asked", False),
        ("question.an*", "question.answered", False),
        ("question", "question.answered", False),
    ],
)
def test_a_pattern_is_a_name_a_family_or_everything(pattern: str, name: str, wanted: bool) -> None:
    assert wants(replace(HERE, patterns=(pattern,)), name) is wanted


def test_a_disabled_endpoint_wants_nothing() -> None:
    assert not wants(replace(HERE, disabled_at=NOW), "question.answered")


@pytest.mark.parametrize("patterns", [["question.*"], ["*"], ["job.progress", "question.asked"]])
def test_patterns_that_mean_something_are_taken(patterns: list[str]) -> None:
    assert pattern_problem(patterns) is None


@pytest.mark.parametrize("patterns", [[], ["nonsense"], ["question.*", "question.nonsense"], ["*.answered"]])
def test_patterns_that_mean_nothing_are_refused(patterns: list[str]) -> None:
    assert pattern_problem(patterns) is not None


@pytest.mark.parametrize(
    ("attempt", "reply", "fate"),
    [
        (1, Reply(200), Arrived()),
        (1, Reply(204), Arrived()),
        (8, Reply(299), Arrived()),
        (1, Reply(500), Again(timedelta(seconds=5))),
        (2, Reply(301, "it redirects"), Again(timedelta(seconds=30))),
        (3, Reply(None, "no connection"), Again(timedelta(minutes=2))),
        (4, Reply(200, "broke off"), Again(timedelta(minutes=10))),
        (5, Reply(404), Again(timedelta(hours=1))),
        (6, Reply(500), Again(timedelta(hours=6))),
        (7, Reply(500), Again(timedelta(hours=24))),
        (8, Reply(500), GivenUp("gave up after 8 attempts: status 500")),
        (8, Reply(None, "no connection"), GivenUp("gave up after 8 attempts: no connection")),
        (1, Reply(410, "gone"), EndpointGone()),
        (1, Reply(429, retry_after=timedelta(seconds=90)), Again(timedelta(seconds=90))),
        (3, Reply(503, retry_after=timedelta(seconds=1)), Again(timedelta(minutes=2))),
    ],
)
def test_what_follows_from_an_attempt(attempt: int, reply: Reply, fate: Fate) -> None:
    assert fate_of(attempt, reply, chance=0.5) == fate


@pytest.mark.parametrize(("chance", "seconds"), [(0.0, 4), (0.5, 5), (1.0, 6)])
def test_pauses_are_spread_by_a_fifth(chance: float, seconds: int) -> None:
    assert fate_of(1, Reply(500), chance) == Again(timedelta(seconds=seconds))


def test_an_event_goes_to_the_endpoints_of_its_owner_under_an_id_of_its_own() -> None:
    others = replace(HERE, id="wh_2", owner=OTHER_AGENT.principal)
    event = Answered(after(1), AnswerValue("yes"), BY_DANA)

    (message,) = messages_for(event, opened(), 2, [HERE, others])

    assert message.id == f"msg_{question_id(1)}_2_wh_1"
    assert (message.event, message.sequence, message.owner) == ("question.answered", 2, AGENT.principal)


def test_a_question_with_a_callback_sends_there_as_well() -> None:
    question = opened(spec(callback_url="https://b.example/", asker=Asker(AGENT.principal, AGENT.name, "k_1")))

    (message,) = messages_for(Asked(NOW, question.id, question.spec), question, 1, [])

    assert (message.callback_url, message.key_id, message.endpoint_id) == ("https://b.example/", "k_1", None)


def test_a_job_that_did_not_move_sends_nothing() -> None:
    job, everything = a_job(), replace(HERE, patterns=("*",))

    assert messages_for(JobChanged(NOW, job, replace(job, version=2)), None, 2, [everything]) == []


def test_both_secrets_sign_until_the_overlap_ends() -> None:
    rotated = replace(HERE, secret="whsec_b", previous_secret="whsec_a", previous_until=after(10))

    assert rotated.secrets(after(9)) == ("whsec_b", "whsec_a")
    assert rotated.secrets(after(10)) == ("whsec_b",)
