"""What the rules make of a question at the moment it is asked, and which ones nobody could ever answer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from core.asking import DraftAction, House, compose
from core.commands import Answer
from core.deadlines import TimeLimits
from core.decisions import Accepted, Case, Refused
from core.freezing import Ground
from core.ids import PersonId
from core.kinds import Kind
from core.machine import decide
from core.people import Person, Role, person_principal
from core.question import Asker, Spec
from core.refusals import Reason, Unacceptable
from core.roster import Roster
from core.rulebook import AnswerRule, Match, Rulebook, Seats
from tests.authority.room import ADA, ANA, BEN, CLEO, DAN, MIA
from tests.support.builders import AGENT, ASKER, NOW, WORKSPACE, acting, after, answer, draft, opened

DEPLOY = DraftAction("deploy", {"count": 5})
TWO = (ANA, BEN)


def house(
    rule: AnswerRule | None, people: Sequence[Person] = (ANA, BEN, CLEO, MIA), **groups: Sequence[Person]
) -> House:
    members = {name: tuple(each.id for each in group) for name, group in groups.items()}
    roster = Roster({each.id: each for each in people}, members)
    rules = Rulebook(version=3, answers=() if rule is None else (rule,))
    return House(WORKSPACE, TimeLimits(), Ground(rules, roster, NOW))


def rule(*seats: Seats, **fields: Any) -> AnswerRule:
    return AnswerRule("deploys", Match(), seats, **fields)


def asked(at: House, asker: Asker = ASKER, **fields: Any) -> Spec:
    made = compose(draft("Deploy?", action=DEPLOY, **fields), asker, at)
    assert isinstance(made, Spec), made
    return made


def refusal(at: House, asker: Asker = ASKER, **fields: Any) -> Unacceptable:
    made = compose(draft("Deploy?", action=DEPLOY, **fields), asker, at)
    assert isinstance(made, Unacceptable), made
    assert made.reason is Reason.NO_RESPONDER
    assert made.sentence.endswith("An admin can change that with handraise-bot policy.")
    return made


def owned(by: Person) -> Asker:
    return replace(ASKER, owner=by.id)


# Nobody could ever answer


def test_an_empty_group_answers_nothing() -> None:
    why = refusal(house(rule(Seats(group="release")), release=()))

    assert "leaves nobody who could" in why.sentence


def test_a_group_nobody_has_heard_of_answers_nothing() -> None:
    refusal(house(rule(Seats(group="relaese")), release=TWO))


def test_a_group_of_people_who_left_answers_nothing() -> None:
    refusal(house(rule(Seats(group="release")), (replace(ANA, is_active=False), BEN), release=(ANA,)))


def test_no_rule_means_nobody() -> None:
    assert "no rule of the policy says who may answer it" in refusal(house(None)).sentence


def test_a_rule_for_something_else_does_not_apply() -> None:
    elsewhere = AnswerRule("questions", Match(kinds=(Kind.BLOCKING,)), (Seats(role=Role.MEMBER),))

    refusal(house(elsewhere))


def test_four_eyes_need_a_second_person() -> None:
    why = refusal(house(rule(Seats(people=(ANA.id,)), four_eyes=True)), owned(ANA))

    assert "The people the agent works for do not count." in why.sentence


def test_four_eyes_are_refused_to_an_agent_that_is_nobodys() -> None:
    why = compose(draft("Deploy?", action=DEPLOY), ASKER, house(rule(Seats(people=(ANA.id,)), four_eyes=True)))

    assert isinstance(why, Unacceptable)
    assert why.reason is Reason.NO_RESPONDER
    assert "nobody knows whose agent asks" in why.sentence
    assert "keys owner" in why.sentence


def test_a_person_who_asks_is_somebody() -> None:
    by_ana = Asker(person_principal(ANA.id), "Ana")
    made = asked(house(rule(Seats(people=(ANA.id, BEN.id)), four_eyes=True)), asker=by_ana)

    assert made.policy.barred == ()


def test_more_are_needed_than_there_are() -> None:
    why = refusal(house(rule(Seats(3, group="release")), release=TWO))

    assert "needs 3 people and only Ana and Ben could answer" in why.sentence


def test_one_person_for_two_panels_is_too_few() -> None:
    refusal(house(rule(Seats(group="red"), Seats(group="blue")), red=(ANA,), blue=(ANA,)))


def test_two_ids_of_one_person_are_too_few_for_two() -> None:
    merged = replace(BEN, is_active=False, merged_into=ANA.id)

    refusal(house(rule(Seats(2, group="release")), (ANA, merged), release=TWO))


def test_who_asks_does_not_count_among_those_who_answer() -> None:
    refusal(house(rule(Seats(2, group="release")), release=TWO), replace(ASKER, principal=acting(ANA).principal))


# Frozen when asked


def test_the_policy_names_its_rule_and_version_and_the_people_of_the_group() -> None:
    policy = asked(house(rule(Seats(2, group="release"), rejections=2), release=TWO)).policy

    assert (policy.rule, policy.version, policy.need, policy.rejections) == ("deploys", 3, 2, 2)
    assert policy.panels[0].people == (ANA.id, BEN.id)


def test_owner_and_the_one_it_works_for_are_barred_under_four_eyes_only() -> None:
    at = house(rule(Seats(role=Role.MEMBER), four_eyes=True))

    assert asked(at, owned(ANA), on_behalf_of="Ben").policy.barred == (ANA.id, BEN.id)
    assert asked(house(rule(Seats(role=Role.MEMBER))), owned(ANA), on_behalf_of="Ben").policy.barred == ()


def test_an_agent_cannot_work_for_somebody_unknown() -> None:
    made = compose(draft("Deploy?", action=DEPLOY, on_behalf_of="Zoe"), ASKER, house(rule(Seats(role=Role.MEMBER))))

    assert isinstance(made, Unacceptable)
    assert made.reason is Reason.RECIPIENT_UNKNOWN


def test_a_policy_edit_after_asking_changes_nothing() -> None:
    before = house(rule(Seats(2, group="release")), release=TWO)
    question = opened(asked(before))
    later = house(rule(Seats(role=Role.MEMBER)), release=(ANA, BEN, MIA)).ground.roster

    by_mia = decide(Case(question), answer(value=True, by=acting(MIA)), after(1), later)
    by_ana = decide(Case(question), answer(value=True, by=acting(ANA)), after(1), later)

    assert isinstance(by_mia, Refused)
    assert isinstance(by_ana, Accepted)
    assert question.policy.need == 2


# Alone


def alone(seats: Seats, *, solo: bool, people: Sequence[Person] = (ADA,)) -> House:
    return house(rule(seats, four_eyes=True, solo=solo), people, release=people)


def test_the_only_person_may_decide_alone_where_the_policy_says_so() -> None:
    spec = asked(alone(Seats(2, group="release"), solo=True), owned(ADA))

    assert spec.policy.solo
    assert (spec.policy.need, spec.policy.barred) == (1, ())
    by_ada = Answer(opened().id, acting(ADA), answer(value=True).raw)
    decision = decide(Case(opened(spec)), by_ada, after(1), Roster({ADA.id: ADA}))
    assert isinstance(decision, Accepted)


def test_the_only_person_may_not_decide_alone_otherwise() -> None:
    refusal(alone(Seats(2, group="release"), solo=False), owned(ADA))


def test_with_two_people_nobody_decides_alone() -> None:
    spec = asked(alone(Seats(1, group="release"), solo=True, people=TWO), owned(ANA))

    assert not spec.policy.solo
    assert spec.policy.barred == (ANA.id,)


def test_somebody_who_left_or_was_merged_is_not_the_second_person() -> None:
    people = (ADA, replace(BEN, is_active=False), replace(CLEO, is_active=False, merged_into=ADA.id))

    assert asked(alone(Seats(2, group="release"), solo=True, people=people), owned(ADA)).policy.solo


def test_solo_is_not_told_where_nothing_had_to_be_waived() -> None:
    assert not asked(alone(Seats(1, group="release"), solo=True)).policy.solo


def test_an_agent_is_not_made_a_responder_by_solo() -> None:
    spec = asked(alone(Seats(2, group="release"), solo=True), owned(ADA))

    decision = decide(Case(opened(spec)), answer(value=True, by=AGENT), after(1), Roster({ADA.id: ADA}))

    assert isinstance(decision, Refused)


# Away when asked


def test_a_stand_in_makes_it_answerable_but_not_one_of_a_lower_role() -> None:
    def at(stand_in: Person) -> House:
        away = replace(ANA, away_until=after(60), stand_in=stand_in.id)
        return house(rule(Seats(people=(PersonId("p_ana"),)), four_eyes=False), (away, DAN, MIA))

    assert asked(at(DAN)).asked == (DAN.id,)
    # Ana may answer herself even so; that she is reached is another matter.
    by_mia = decide(Case(opened(asked(at(MIA)))), answer(value=True, by=acting(MIA)), after(1), at(MIA).ground.roster)
    assert isinstance(by_mia, Refused)
