"""From a draft to a question: what is filled in, what contradicts itself, and the words for it."""

from dataclasses import replace
from datetime import timedelta

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
    RawAnswer,
    TextShape,
)
from core.asking import Draft, DraftAction, DraftOption, compose
from core.delivering import INBOX
from core.ids import JobId, JsonObject, Principal
from core.kinds import Kind
from core.people import Role
from core.places import Target
from core.policies import Panel, Policy
from core.question import Action, Asker, Risk, Spec, Urgency
from core.refusals import Reason, Unacceptable
from core.steps import Step, StepKind
from tests.support.builders import ADMIN_ANSWERS, ASKER, DANA, HOUSE, WORKSPACE, composed, draft, refused

YES = DraftOption("Yes", True)
NO = DraftOption("No", False)
NAME_FORM: JsonObject = {"type": "object", "properties": {"name": {"type": "string"}}}


def test_a_bare_text_becomes_a_blocking_text_question_of_half_an_hour() -> None:
    made = compose(Draft("Which database?"), Asker(Principal("agent:builder"), "builder"), HOUSE)

    assert made == Spec(
        workspace_id=WORKSPACE,
        asker=Asker(Principal("agent:builder"), "builder"),
        text="Which database?",
        kind=Kind.BLOCKING,
        shape=TextShape(),
        policy=Policy((Panel("an admin", roles=(Role.ADMIN,)),), rule="admins"),
        time_limit=timedelta(minutes=30),
        route=((INBOX,),),
        asked=(DANA.id,),
        limit_is_default=True,
    )


def test_everything_the_asker_sent_is_kept() -> None:
    sent = Draft(
        text="Which database?",
        kind="error_recovery",
        job_id=JobId("nightly"),
        project_id="shop",
        context={"currentStep": "migrate"},
        to="release-managers",
        urgency=Urgency.URGENT,
        reminder=timedelta(minutes=5),
        tags=("db",),
        metadata={"k": "v"},
        callback_url="https://example.org/hook",
        agent="planner",
        phase="build",
        category="scopeChanges",
        operation_id="op-1",
    )

    assert composed(sent) == Spec(
        workspace_id=WORKSPACE,
        asker=ASKER,
        text="Which database?",
        kind=Kind.ERROR_RECOVERY,
        shape=TextShape(),
        policy=ADMIN_ANSWERS,
        time_limit=timedelta(minutes=10),
        job_id=JobId("nightly"),
        project_id="shop",
        context={"currentStep": "migrate"},
        to="release-managers",
        urgency=Urgency.URGENT,
        reminder=timedelta(minutes=5),
        tags=("db",),
        metadata={"k": "v"},
        callback_url="https://example.org/hook",
        agent="planner",
        phase="build",
        category="scopeChanges",
        operation_id="op-1",
        route=((INBOX,),),
        ladder=tuple(Step(StepKind.REMIND, timedelta(minutes=5 * n), direct=True) for n in (1, 2, 3)),
        limit_is_default=True,
    )


def test_policy_and_targets_of_the_house_are_frozen_into_the_question() -> None:
    house = replace(HOUSE, targets=(Target("slack", "C1"),))

    made = composed(draft(), house)

    assert (made.policy, made.targets) == (ADMIN_ANSWERS, (Target("slack", "C1"),))


# The text


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_question_is_refused(text: str) -> None:
    assert refused(draft(text)) == Unacceptable(Reason.TEXT_EMPTY, "Write the question: it is empty.", "/question")


def test_a_question_of_10000_characters_is_fine() -> None:
    assert composed(draft("x" * 10_000)).text == "x" * 10_000


def test_a_longer_question_is_refused() -> None:
    assert refused(draft("x" * 10_001)) == Unacceptable(
        Reason.TEXT_TOO_LONG,
        "The question is longer than 10,000 characters; put the detail into context.",
        "/question",
    )


# The kind


@pytest.mark.parametrize("kind", list(Kind))
def test_every_kind_can_be_asked_for_by_its_word(kind: Kind) -> None:
    default = RawAnswer("PostgreSQL") if kind is Kind.NON_BLOCKING else None

    assert composed(draft(kind=kind.value, default=default)).kind is kind


def test_an_unknown_kind_is_refused_with_the_list_of_kinds() -> None:
    assert refused(draft(kind="urgent")) == Unacceptable(
        Reason.KIND_UNKNOWN,
        "There is no kind “urgent”. Use one of “blocking”, “approval”, “error_recovery”, “non_blocking”, “clarifying”, "
        "“confirming”, “preference”, “educational” and “celebratory”.",
        "/type",
    )


def test_asking_for_approval_as_response_makes_it_an_approval() -> None:
    assert composed(draft(response_type="approval")).kind is Kind.APPROVAL


def test_showing_an_action_makes_it_an_approval() -> None:
    assert composed(draft(action=DraftAction("linear.create"))).kind is Kind.APPROVAL


# The shape


@pytest.mark.parametrize(
    ("asked", "shape"),
    [
        (draft(), TextShape()),
        (draft(response_type="text"), TextShape()),
        (draft(response_type="text", allow_free_text=True), TextShape()),
        (draft(response_type="number"), NumberShape()),
        (draft(response_type="boolean"), BooleanShape()),
        (draft(kind="approval"), ApprovalShape()),
        (draft(kind="approval", response_type="approval"), ApprovalShape()),
        (draft(schema=NAME_FORM), FormShape(NAME_FORM)),
        (draft(response_type="form", schema=NAME_FORM), FormShape(NAME_FORM)),
        (draft(response_type="text", schema={}), TextShape()),
        (draft(options=(DraftOption("A"),)), ChoiceShape((Option("A", "A"),))),
        (
            draft(options=(DraftOption("A"),), allow_free_text=True),
            ChoiceShape((Option("A", "A"),), allow_free_text=True),
        ),
        (
            draft(response_type="multi_choice", options=(DraftOption("A"),), allow_free_text=True),
            MultiChoiceShape((Option("A", "A"),), allow_free_text=True),
        ),
        (
            draft(response_type="boolean", options=(NO, YES)),
            BooleanShape((Option("No", False), Option("Yes", True))),
        ),
    ],
)
def test_the_shape_follows_from_what_was_sent(asked: Draft, shape: AnswerShape) -> None:
    assert composed(asked).shape == shape


TOGETHER = (
    'An approval is answered with approve or reject: use type "approval" together with responseType "approval", '
    "or neither."
)


@pytest.mark.parametrize(
    ("asked", "sentence", "pointer"),
    [
        (
            draft(response_type="essay"),
            "There is no response type “essay”. Use one of “text”, “choice”, “multi_choice”, “boolean”, “approval”, "
            "“number” and “form”.",
            "/responseType",
        ),
        (draft(kind="approval", response_type="boolean"), TOGETHER, "/responseType"),
        (draft(kind="blocking", response_type="approval"), TOGETHER, "/responseType"),
        (draft(kind="non_blocking", response_type="approval", default=RawAnswer(True)), TOGETHER, "/responseType"),
        (
            draft(response_type="text", options=(DraftOption("A"),)),
            "A question of response type text takes no options; leave them out or ask for a choice.",
            "/options",
        ),
        (
            draft(kind="approval", options=(YES, NO)),
            "A question of response type approval takes no options; leave them out or ask for a choice.",
            "/options",
        ),
        (
            draft(response_type="number", allow_free_text=True),
            "allowFreeText goes with a choice, not with number.",
            "/allowFreeText",
        ),
        (
            draft(response_type="text", schema=NAME_FORM),
            'A schema describes a form; use responseType "form" or leave the schema out of text.',
            "/schema",
        ),
        (
            draft(kind="blocking", action=DraftAction("linear.create")),
            'An action is shown for approval; use type "approval".',
            "/action",
        ),
        (
            draft(response_type="boolean", options=(YES,)),
            "The options of a boolean question are two, with the values true and false.",
            "/options",
        ),
        (
            draft(response_type="boolean", options=(YES, DraftOption("No", "no"))),
            "The options of a boolean question are two, with the values true and false.",
            "/options",
        ),
        (
            draft(response_type="boolean", options=(YES, NO, DraftOption("Maybe", "maybe"))),
            "The options of a boolean question are two, with the values true and false.",
            "/options",
        ),
        (
            draft(options=tuple(DraftOption(f"o{number}") for number in range(101))),
            "There are more than 100 options; ask for a text or narrow them down.",
            "/options",
        ),
    ],
)
def test_parts_that_contradict_each_other_are_refused(asked: Draft, sentence: str, pointer: str) -> None:
    assert refused(asked) == Unacceptable(Reason.SHAPE_CONFLICT, sentence, pointer)


@pytest.mark.parametrize("response_type", ["choice", "multi_choice"])
@pytest.mark.parametrize("options", [None, ()])
def test_a_choice_without_options_is_refused(response_type: str, options: tuple[DraftOption, ...] | None) -> None:
    assert refused(draft(response_type=response_type, options=options)) == Unacceptable(
        Reason.OPTIONS_MISSING, "A choice needs options; give at least one, each with a label.", "/options"
    )


@pytest.mark.parametrize("schema", [None, {}])
def test_a_form_without_schema_is_refused(schema: JsonObject | None) -> None:
    assert refused(draft(response_type="form", schema=schema)) == Unacceptable(
        Reason.SCHEMA_INVALID, "A form needs a schema that names its fields.", "/schema"
    )


def test_a_schema_that_is_no_form_is_refused_where_it_breaks() -> None:
    schema: JsonObject = {"type": "object", "properties": {"name": {"type": "string", "pattern": "a"}}}

    assert refused(draft(schema=schema)) == Unacceptable(
        Reason.SCHEMA_INVALID, "Field “name”: a field of type string may not use “pattern”.", "/schema/properties/name"
    )


# The action


def test_an_action_is_bound_by_its_digest() -> None:
    sent = DraftAction("linear.create", {"team": "core", "count": 5}, "-a\n+b\n", Risk.HIGH)

    # sha256 of {"arguments":{"count":5,"team":"core"},"diff":"-a\n+b\n","risk":"high","tool":"linear.create"}
    assert composed(draft(action=sent)).action == Action(
        tool="linear.create",
        arguments={"team": "core", "count": 5},
        digest="sha256:6854fa208ca961835dc934a7d8da5592286f116f76eab1c73d1a6296cdc2e7e4",
        diff="-a\n+b\n",
        risk=Risk.HIGH,
        editable=False,
    )


def test_an_action_that_may_be_edited_makes_an_approval_that_may() -> None:
    made = composed(draft(action=DraftAction("linear.create", editable=True)))

    assert (made.shape, made.action and made.action.editable) == (ApprovalShape(editable=True), True)


def test_an_action_is_not_editable_unless_it_says_so() -> None:
    assert composed(draft(action=DraftAction("linear.create"))).shape == ApprovalShape(editable=False)


# The words that programs rely on


def test_the_reasons_are_the_stable_words() -> None:
    words = {reason.value for reason in Reason}

    assert words >= {
        "question_not_found",
        "question_already_answered",
        "question_invalid_answer",
        "question_conflict_open",
        "question_expired",
        "question_withdrawn",
        "not_a_responder",
        "not_allowed",
        "job_ended",
        "job_not_found",
        "job_status_not_settable",
        "kind_unknown",
        "shape_conflict",
        "options_missing",
        "option_duplicate",
        "default_required",
        "default_forbidden",
        "default_invalid",
        "time_limit_out_of_range",
        "schema_invalid",
        "text_empty",
        "text_too_long",
    }
