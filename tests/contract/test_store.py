"""What a store promises, whichever it is."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from core.answers import (
    AnswerShape,
    ApprovalShape,
    BooleanShape,
    ChoiceShape,
    FormShape,
    MultiChoiceShape,
    NumberShape,
    Option,
    TextShape,
)
from core.commands import Remark, SteerJob, Tick, Withdraw
from core.decisions import Accepted, Refused
from core.engine import Handled, Replayed
from core.ids import CommandId, JobId
from core.kinds import JobStatus, Kind
from core.places import Target
from core.ports import CommandKey, JobKey, QuestionFilter, Scope, Snapshot, StaleClaim, Verdict
from core.question import Action, OutcomeKind, Question, Risk, Status, Urgency
from core.refusals import Reason
from tests.support.backends import Backend
from tests.support.builders import AGENT, DANA, WORKSPACE, acting, answer, ask, question_id, spec
from tests.support.waiting import eventually

LEASE = timedelta(seconds=30)
SOON = timedelta(milliseconds=1)


async def _asked(backend: Backend, number: int = 1, **fields: object) -> Question:
    done = await backend.engine().handle(ask(number, spec(**fields)))  # type: ignore[arg-type]
    assert isinstance(done, Handled)
    assert done.question is not None
    return done.question


async def _claimed_now(backend: Backend, lease: timedelta = LEASE, limit: int = 10) -> list[tuple[str, int]]:
    return [(c.question_id, c.fence) for c in await backend.store.claim_due(limit=limit, lease=lease)]


async def test_a_question_comes_back_as_it_was_asked(backend: Backend) -> None:
    options = (Option("PostgreSQL", "pg", "a", "big", True, "ops", ("fast",), ("heavy",)), Option("SQLite", 3))
    wanted = spec(
        Kind.BLOCKING,
        ChoiceShape(options, allow_free_text=True),
        job="job-1",
        project_id="shop",
        context={"jobType": "migration", "deep": {"list": [1, 2.5, None, True, "ü✋"]}},
        to="release-managers",
        urgency=Urgency.HIGH,
        reminder=timedelta(minutes=5),
        tags=("a", "b"),
        metadata={"k": "v"},
        callback_url="https://example.com/hook",
        agent="builder",
        phase="build",
        category="scopeChanges",
        operation_id="op-1",
        targets=(Target("memory", "here"),),
    )

    asked = await backend.engine().handle(ask(1, wanted))

    assert isinstance(asked, Handled)
    assert asked.question is not None
    assert asked.question.spec == wanted
    assert await backend.reader.question(question_id(1)) == asked.question


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        (Kind.BLOCKING, TextShape()),
        (Kind.BLOCKING, ChoiceShape((Option("A", "a"),))),
        (Kind.BLOCKING, MultiChoiceShape((Option("A", "a"),))),
        (Kind.BLOCKING, BooleanShape()),
        (Kind.BLOCKING, BooleanShape((Option("Yes", True), Option("No", False)))),
        (Kind.APPROVAL, ApprovalShape()),
        (Kind.BLOCKING, NumberShape()),
        (Kind.BLOCKING, FormShape({"type": "object", "properties": {"name": {"type": "string"}}})),
    ],
)
async def test_every_shape_of_answer_comes_back(backend: Backend, kind: Kind, shape: AnswerShape) -> None:
    await backend.engine().handle(ask(1, spec(kind, shape)))

    found = await backend.reader.question(question_id(1))

    assert found is not None
    assert found.spec.shape == shape


async def test_an_approval_comes_back_with_its_action_and_outcome(backend: Backend) -> None:
    action = Action("deploy", {"env": "prod"}, "sha256:00", "--- a\n+++ b", Risk.CRITICAL, editable=True)
    engine = backend.engine()
    await engine.handle(ask(1, spec(Kind.APPROVAL, ApprovalShape(editable=True), action=action)))
    await engine.handle(Remark(question_id(1), acting(DANA), "why prod?"))
    answered = await engine.handle(answer(1, True))

    assert isinstance(answered, Handled)
    assert await backend.reader.question(question_id(1)) == answered.question


async def test_instants_are_aware_and_in_whole_milliseconds(backend: Backend) -> None:
    question = await _asked(backend)

    now = await backend.store.now()

    assert question.asked_at.tzinfo is UTC
    assert now.tzinfo is UTC
    assert question.asked_at.microsecond % 1000 == 0
    assert now.microsecond % 1000 == 0
    assert question.deadline == question.asked_at + timedelta(minutes=30)


async def test_work_that_fails_leaves_nothing_and_harms_nobody_beside_it(backend: Backend) -> None:
    class Broken(Exception):
        pass

    def broken(snapshot: Snapshot) -> Verdict:
        raise Broken

    engine = backend.engine()
    results = await asyncio.gather(
        *(engine.handle(ask(number)) for number in range(1, 6)),
        backend.store.transact(Scope(question_id=question_id(99)), broken),
        *(engine.handle(ask(number)) for number in range(6, 11)),
        return_exceptions=True,
    )

    assert [type(result) for result in results] == [Handled] * 5 + [Broken] + [Handled] * 5
    found = await backend.reader.questions(QuestionFilter(WORKSPACE), limit=100)
    assert [question.id for question in found] == [question_id(number) for number in range(1, 11)]


async def test_a_refused_command_changes_nothing(backend: Backend) -> None:
    before = await _asked(backend)

    refused = await backend.engine().handle(answer(1, 7))

    assert isinstance(refused, Handled)
    assert isinstance(refused.decision, Refused)
    assert await backend.reader.question(before.id) == before
    assert len(await backend.reader.history(before.id)) == 1


async def test_the_same_command_twice_has_one_effect(backend: Backend) -> None:
    engine, key = backend.engine(), CommandKey(CommandId("ask:1"), "same")

    await engine.handle(ask(1), key=key)
    again = await engine.handle(ask(2), key=key)

    assert again == Replayed(question_id(1), same=True)
    assert await backend.reader.question(question_id(2)) is None


async def test_the_same_key_for_another_command_is_told_apart(backend: Backend) -> None:
    engine = backend.engine()

    await engine.handle(ask(1), key=CommandKey(CommandId("ask:1"), "one"))
    other = await engine.handle(ask(2), key=CommandKey(CommandId("ask:1"), "other"))

    assert other == Replayed(question_id(1), same=False)


async def test_twenty_times_the_same_command_at_once_is_one_question(backend: Backend) -> None:
    engine, key = backend.engine(), CommandKey(CommandId("ask:1"), "same")

    results = await asyncio.gather(*(engine.handle(ask(number), key=key) for number in range(1, 21)))

    assert sum(isinstance(result, Handled) for result in results) == 1
    assert sum(isinstance(result, Replayed) and result.same for result in results) == 19
    assert len(await backend.reader.questions(QuestionFilter(WORKSPACE), limit=100)) == 1


async def test_a_refusal_is_not_remembered_under_its_key(backend: Backend) -> None:
    engine, key = backend.engine(), CommandKey(CommandId("answer:1"), "same")
    await engine.handle(ask(1))

    await engine.handle(answer(1, 7), key=key)
    second = await engine.handle(answer(1, "SQLite"), key=key)

    assert isinstance(second, Handled)
    assert isinstance(second.decision, Accepted)


async def test_forgotten_keys_may_be_used_again(backend: Backend) -> None:
    engine, key = backend.engine(), CommandKey(CommandId("ask:1"), "same")
    await engine.handle(ask(1), key=key)

    kept = await backend.store.forget_commands(before=await backend.store.now() - timedelta(days=1))
    dropped = await backend.store.forget_commands(before=await backend.store.now() + timedelta(seconds=1))
    again = await engine.handle(ask(2), key=key)

    assert (kept, dropped) == (0, 1)
    assert isinstance(again, Handled)


@pytest.mark.parametrize("rivals", [2, 8])
async def test_of_simultaneous_answers_one_wins_and_the_others_learn_who(backend: Backend, rivals: int) -> None:
    engines = [backend.engine() for _ in range(rivals)]
    for number in range(1, 11):
        await engines[0].handle(ask(number))

        results = await asyncio.gather(
            *(engine.handle(answer(number, f"answer {place}")) for place, engine in enumerate(engines))
        )

        handled = [result for result in results if isinstance(result, Handled)]
        winners = [result for result in handled if isinstance(result.decision, Accepted)]
        losers = [result.decision for result in handled if isinstance(result.decision, Refused)]
        assert (len(winners), len(losers)) == (1, rivals - 1)
        assert {loser.reason for loser in losers} == {Reason.ALREADY_ANSWERED}
        assert all("Dana" in loser.sentence for loser in losers)
        settled = await backend.reader.question(question_id(number))
        assert winners[0].question == settled
        assert {result.question for result in handled} == {settled}
        names = [event.name for event in await backend.reader.history(question_id(number))]
        assert names == ["question.asked", "question.answered"]


async def test_of_simultaneous_holding_questions_a_limited_job_takes_one(backend: Backend) -> None:
    engine, job = backend.engine(), JobId("job-1")
    await engine.handle(SteerJob(WORKSPACE, job, AGENT, max_open_holding=1, sets_max_open_holding=True))

    results = await asyncio.gather(*(engine.handle(ask(number, spec(job="job-1"))) for number in range(1, 9)))

    decisions = [result.decision for result in results if isinstance(result, Handled)]
    assert sum(isinstance(decision, Accepted) for decision in decisions) == 1
    assert {d.reason for d in decisions if isinstance(d, Refused)} == {Reason.CONFLICT_OPEN}
    assert len(await backend.reader.questions(QuestionFilter(WORKSPACE), limit=100)) == 1


async def test_a_job_that_ends_while_questions_are_asked_keeps_none_open(backend: Backend) -> None:
    engine, job = backend.engine(), JobId("job-1")
    ending = SteerJob(WORKSPACE, job, AGENT, status=JobStatus.COMPLETED)

    await asyncio.gather(
        *(engine.handle(ask(number, spec(Kind.CLARIFYING, job="job-1"))) for number in range(1, 11)),
        engine.handle(ending),
        *(engine.handle(ask(number, spec(Kind.CLARIFYING, job="job-1"))) for number in range(11, 21)),
    )

    assert await backend.reader.count_open(WORKSPACE) == 0
    ended = await backend.reader.job(JobKey(WORKSPACE, job))
    assert ended is not None
    assert (ended.status, ended.closing) == (JobStatus.COMPLETED, False)


async def test_events_are_numbered_as_the_question_is(backend: Backend) -> None:
    engine = backend.engine()
    await engine.handle(ask(1))
    await engine.handle(Remark(question_id(1), acting(DANA), "which version?"))
    await engine.handle(Remark(question_id(1), AGENT, "17"))
    done = await engine.handle(answer(1))

    history = await backend.reader.history(question_id(1))

    assert [(event.sequence, event.name) for event in history] == [
        (1, "question.asked"),
        (2, "question.asked_back"),
        (3, "question.commented"),
        (4, "question.answered"),
    ]
    positions = [event.position for event in history]
    assert positions == sorted(set(positions))
    assert isinstance(done, Handled)
    assert done.question is not None
    assert done.question.version == 4


async def test_five_hundred_commands_at_once_are_all_kept(backend: Backend) -> None:
    engine = backend.engine()

    await asyncio.gather(*(engine.handle(ask(number)) for number in range(1, 501)))

    found = await backend.reader.questions(QuestionFilter(WORKSPACE), limit=1000)
    assert [question.id for question in found] == [question_id(number) for number in range(1, 501)]


async def test_what_is_not_due_is_not_claimed(backend: Backend) -> None:
    await _asked(backend)

    assert await _claimed_now(backend) == []


async def test_what_is_due_is_claimed_earliest_first_and_no_more_than_asked_for(backend: Backend) -> None:
    limits = ((1, 800), (2, 200), (3, 500), (4, 1100))
    asked = [await _asked(backend, n, time_limit=timedelta(milliseconds=limit)) for n, limit in limits]
    by_deadline = sorted(asked, key=lambda question: question.deadline or question.asked_at)
    await _until(backend, by_deadline[-1].deadline)

    first = await _claimed_now(backend, limit=3)
    rest = await _claimed_now(backend)

    assert first + rest == [(question.id, 1) for question in by_deadline]
    assert len(first) == 3


async def _until(backend: Backend, instant: datetime | None) -> None:
    assert instant is not None

    async def passed() -> bool:
        return await backend.store.now() > instant

    await eventually(passed)


async def test_claims_of_several_claimers_never_overlap(backend: Backend) -> None:
    asked = [await _asked(backend, number, time_limit=SOON) for number in range(1, 41)]
    await _until(backend, asked[-1].deadline)

    batches = await asyncio.gather(*(_claimed_now(backend, limit=7) for _ in range(8)))

    claimed = [name for batch in batches for name, _ in batch]
    assert sorted(claimed) == [question_id(number) for number in range(1, 41)]


async def test_a_lease_that_ran_out_goes_to_another_and_the_first_holder_is_too_late(backend: Backend) -> None:
    asked = await _asked(backend, time_limit=SOON)
    await _until(backend, asked.deadline)
    first = await _claimed_now(backend, lease=SOON)
    taken: list[tuple[str, int]] = []

    async def taken_over() -> bool:
        taken.extend(await _claimed_now(backend))
        return bool(taken)

    await eventually(taken_over)

    assert (first, taken) == ([(asked.id, 1)], [(asked.id, 2)])
    with pytest.raises(StaleClaim):
        await backend.engine().handle(Tick(asked.id), fence=1)
    assert await backend.reader.question(asked.id) == asked
    done = await backend.engine().handle(Tick(asked.id), fence=2)
    assert isinstance(done, Handled)
    assert done.question is not None
    assert done.question.outcome is not None
    assert done.question.outcome.kind is OutcomeKind.EXPIRED


async def test_next_due_is_the_earliest_deadline_of_an_open_question(backend: Backend) -> None:
    assert await backend.store.next_due() is None
    late = await _asked(backend, 1, time_limit=timedelta(hours=2))
    early = await _asked(backend, 2, time_limit=timedelta(hours=1))
    await _asked(backend, 3, kind=Kind.CLARIFYING, time_limit=None)

    first = await backend.store.next_due()
    await backend.engine().handle(Withdraw(early.id, AGENT))
    second = await backend.store.next_due()
    await backend.engine().handle(answer(1))
    third = await backend.store.next_due()

    assert (first, second, third) == (early.deadline, late.deadline, None)


async def test_an_asked_back_question_is_due_when_its_pause_ends(backend: Backend) -> None:
    await _asked(backend)

    await backend.engine().handle(Remark(question_id(1), acting(DANA), "which version?"))

    paused = await backend.reader.question(question_id(1))
    assert paused is not None
    assert paused.pause is not None
    assert await backend.store.next_due() == paused.pause.until


async def test_a_settled_question_has_status_and_version_of_its_last_event(backend: Backend) -> None:
    await _asked(backend)
    await backend.engine().handle(Withdraw(question_id(1), AGENT, "no longer needed"))

    settled = await backend.reader.settled_among([question_id(1), question_id(2)])

    assert [(question.status, question.version) for question in settled] == [(Status.WITHDRAWN, 2)]
