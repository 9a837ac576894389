"""The edges: values, orders and sizes that nobody sends on purpose."""

import math
from dataclasses import replace

import pytest

from bot.settings import SettingsProblem, load_settings
from core.answers import (
    AnswerValue,
    ApprovalShape,
    BooleanShape,
    ChoiceShape,
    Invalid,
    MultiChoiceShape,
    NumberShape,
    Option,
    RawAnswer,
    fit,
)
from core.asking import DraftAction, compose
from core.commands import Answer
from core.decisions import Accepted, Case, Refused
from core.forms import FormProblem, form_problem, schema_problem
from core.ids import JsonObject, JsonValue
from core.kinds import JobStatus, Kind
from core.prompt import Button, TextBox, prompt_for
from core.question import Action, Comment, Decider
from core.refusals import Reason, Unacceptable
from core.steering import decide_job
from tests.support.builders import (
    AGENT,
    ASKER,
    DANA,
    HOUSE,
    NOW,
    a_job,
    acting,
    after,
    ask,
    decide,
    draft,
    happened,
    opened,
    question_id,
    question_of,
    remark,
    spec,
    steer,
    tick,
)


def test_a_form_answer_is_judged_with_every_format_known() -> None:
    assert form_problem({"type": "object", "properties": {"a": {"type": "string"}}}, {"a": "x"}) is None


def test_a_very_long_whole_number_is_refused() -> None:
    assert isinstance(fit(NumberShape(), RawAnswer(10**400)), AnswerValue | Invalid)


@pytest.mark.parametrize("value", [2**60, math.inf, "\ud800"], ids=["beyond 2**53", "infinite", "lone surrogate"])
def test_arguments_without_a_canonical_form_are_refused_when_asked(value: JsonValue) -> None:
    assert isinstance(compose(draft(action=DraftAction("t", {"n": value})), ASKER, HOUSE), Unacceptable)


def test_edited_arguments_without_a_canonical_form_are_refused() -> None:
    action = Action("deploy", {"n": 1}, "sha256:00", editable=True)
    case = Case(opened(spec(Kind.APPROVAL, ApprovalShape(editable=True), action=action)))
    edited = Answer(question_id(1), acting(DANA), RawAnswer(True, None, {"n": 2**60}))

    refused = decide(case, edited, after(1))

    assert isinstance(refused, Refused)
    assert (refused.reason, refused.pointer) == (Reason.INVALID_ANSWER, "/response/arguments")


def test_asking_again_under_the_id_of_an_existing_question_is_refused() -> None:
    assert isinstance(decide(Case(opened()), ask(), after(1)), Refused)


def test_multi_choice_keeps_true_and_one_apart() -> None:
    shape = MultiChoiceShape((Option("one", 1), Option("yes", True)))

    fitted = fit(shape, RawAnswer([1, True]))

    assert isinstance(fitted, AnswerValue)
    assert fitted.value == [1, True]
    assert isinstance(fitted.value, list)
    assert len(fitted.value) == 2


def test_an_approval_is_never_granted_by_silence_even_if_its_spec_has_a_default() -> None:
    case = Case(opened(spec(Kind.APPROVAL, ApprovalShape(), default=AnswerValue(True))))

    outcome = question_of(happened(case, (tick(), after(15)))).outcome

    assert outcome is not None
    assert outcome.answer is None


def test_a_job_cannot_go_on_before_its_old_questions_are_withdrawn() -> None:
    ended = a_job(status=JobStatus.COMPLETED, closing=True)

    decision = decide_job(ended, steer(status=JobStatus.RUNNING), after(1))

    assert isinstance(decision, Refused)
    assert decision.reason is Reason.JOB_ENDED


def test_boolean_buttons_carry_the_labels_of_the_options() -> None:
    shape = BooleanShape((Option("Ship it", True), Option("Hold", False)))

    controls = prompt_for(opened(spec(shape=shape))).controls

    assert controls == (Button("answer", "true", "Ship it"), Button("answer", "false", "Hold"))


def test_a_choice_with_free_text_offers_a_place_to_write_it() -> None:
    controls = prompt_for(opened(spec(shape=ChoiceShape((Option("A", "a"),), allow_free_text=True)))).controls

    assert any(isinstance(control, TextBox) for control in controls)


def test_an_infinite_number_fits_no_form() -> None:
    schema: JsonObject = {"type": "object", "properties": {"n": {"type": "number"}}}

    assert isinstance(form_problem(schema, {"n": math.inf}), FormProblem)


def test_pointers_are_escaped() -> None:
    problem = schema_problem({"type": "object", "properties": {"a/b": {"type": "nope"}}})

    assert problem is not None
    assert problem.pointer == "/properties/a~1b"


def test_a_bad_default_is_told_of_its_field() -> None:
    problem = schema_problem({"type": "object", "properties": {"n": {"type": "number", "default": "x"}}})

    assert problem is not None
    assert "The form" not in problem.sentence


def test_a_form_field_whose_bounds_exclude_everything_is_refused() -> None:
    schema: JsonObject = {"type": "object", "properties": {"a": {"type": "string", "minLength": 5, "maxLength": 2}}}

    assert schema_problem(schema) is not None


def test_values_are_shown_as_json_writes_them() -> None:
    refused = fit(ChoiceShape((Option("A", "a"),)), RawAnswer(None))

    assert refused == Invalid("null is not an option. Pick one of “A”.", "/response/value")


def test_an_enormous_duration_is_a_problem_of_the_settings() -> None:
    with pytest.raises(SettingsProblem):
        load_settings(max_time_limit="999999999999d")


def test_a_full_thread_still_lets_the_asker_resume_the_clock() -> None:
    comments = (Comment(Decider("person"), "…", NOW, asks_back=False),) * 199
    case = happened(Case(replace(opened(), comments=comments)), (remark(), after(1)))

    assert isinstance(decide(case, remark("Large.", AGENT), after(2)), Accepted)
