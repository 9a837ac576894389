"""Who may decide and when it is decided, case by case."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from core.answers import RawAnswer, TextShape
from core.commands import Answer
from core.decisions import Refused
from core.events import EVENT_NAMES, Answered, Voted, VoteVoided
from core.ids import JsonObject
from core.kinds import Kind
from core.machine import decide
from core.people import Actor, Person, Role, agent_principal, person_principal
from core.policies import Panel, Tally
from core.question import Asker, Status
from core.refusals import Reason
from tests.authority.room import ADA, ANA, BEN, CLEO, DAN, LEE, MIA, Room, panel, person
from tests.support.builders import AGENT, OTHER_AGENT, acting, question_id, tick

SIX: JsonObject = {"count": 6}
SEVEN: JsonObject = {"count": 7}


# Counting


def test_two_people_are_needed_and_two_approve() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=2))

    room.says(ANA)
    assert (room.decided, room.have) == (None, 1)
    room.says(BEN)

    assert room.decided is True
    assert room.deciders == {"Ana", "Ben"}


def test_the_same_person_twice_counts_once_and_nothing_happens() -> None:
    room = Room(panel(ANA, BEN, need=2))

    room.says(ANA, on="slack")
    again = room.says(ANA, on="discord")

    assert again == ()
    assert (room.decided, room.have) == (None, 1)


def test_what_is_still_missing_is_told_by_panel() -> None:
    room = Room(panel(ANA, BEN, need=2, name="release"), panel(LEE, name="security"))

    room.says(ANA)

    assert room.question.tally == Tally(1, 3, (("release", 1), ("security", 1)))


def test_a_person_in_two_panels_fills_one_seat() -> None:
    room = Room(panel(ANA, BEN, name="release"), panel(ANA, CLEO, name="security"))

    room.says(ANA)

    assert (room.decided, room.have) == (None, 1)


def test_somebody_in_two_panels_makes_room_for_somebody_in_one() -> None:
    room = Room(panel(ANA, BEN, name="release"), panel(ANA, CLEO, name="security"))

    room.says(ANA)
    room.says(BEN)

    assert room.decided is True


def test_every_panel_has_to_agree_however_many_of_one_do() -> None:
    room = Room(panel(ANA, BEN, CLEO, name="release"), panel(LEE, name="security"))

    for each in (ANA, BEN, CLEO):
        room.says(each)
    assert (room.decided, room.have) == (None, 1)
    room.says(LEE)

    assert room.decided is True


def test_a_higher_role_fills_the_seat_of_a_lower_one() -> None:
    room = Room(Panel("two approvers", 2, roles=(Role.APPROVER,)))

    room.refuses(MIA)
    room.says(ADA)
    room.says(LEE)

    assert room.decided is True


def test_a_policy_without_panels_lets_nobody_answer() -> None:
    assert Room().refuses(ADA).reason is Reason.NOT_A_RESPONDER


def test_a_panel_without_people_and_roles_lets_nobody_answer() -> None:
    assert Room(Panel("empty")).refuses(ADA).reason is Reason.NOT_A_RESPONDER


# Rejecting and changing one's mind


def test_any_rejection_ends_it() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=2))

    room.says(ANA)
    room.says(BEN, value=False)

    assert room.decided is False
    assert room.deciders == {"Ben"}
    assert room.refuses(CLEO).reason is Reason.ALREADY_ANSWERED


def test_a_rejection_does_not_forget_how_many_had_approved() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=3))

    room.says(ANA)
    room.says(BEN)
    room.says(CLEO, value=False)

    assert (room.decided, room.have) == (False, 2)


def test_two_rejections_are_two_people() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=3), rejections=2)

    room.says(ANA, value=False, on="slack")
    room.says(ANA, value=False, on="web")
    assert room.decided is None
    room.says(BEN, value=False)

    assert room.decided is False
    assert room.deciders == {"Ana", "Ben"}


def test_a_rejection_after_an_approval_of_the_same_person_replaces_it() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=2), rejections=2)

    room.says(ANA)
    room.says(ANA, value=False)
    room.says(BEN)

    assert (room.decided, room.have) == (None, 1)


def test_an_approval_after_a_rejection_of_the_same_person_replaces_it() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=2), rejections=2)

    room.says(ANA, value=False)
    room.says(ANA)
    room.says(BEN, value=False)
    assert room.decided is None
    room.says(CLEO)

    assert room.decided is True
    assert room.deciders == {"Ana", "Cleo"}


# Edited arguments are another thing


def test_edited_arguments_restart_the_count() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=2))

    room.says(ANA)
    room.says(BEN, arguments=SIX)
    assert (room.decided, room.have) == (None, 1)
    room.says(CLEO, arguments=SIX)

    assert room.decided is True
    assert room.deciders == {"Ben", "Cleo"}


def test_two_different_edits_do_not_add_up() -> None:
    room = Room(panel(ANA, BEN, need=2))

    room.says(ANA, arguments=SIX)
    room.says(BEN, arguments=SEVEN)

    assert (room.decided, room.have) == (None, 1)


def test_arguments_sent_along_as_they_were_shown_are_not_edited() -> None:
    room = Room(panel(ANA, BEN, need=2))

    room.says(ANA, arguments={"count": 5})
    room.says(BEN)

    assert room.decided is True
    assert room.question.outcome is not None
    assert room.question.outcome.decided_digest is None


def test_who_agrees_with_an_edit_afterwards_leaves_the_first_thing() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=3))

    room.says(ANA)
    room.says(BEN, arguments=SIX)
    room.says(ANA, arguments=SIX)
    assert room.have == 2
    room.says(CLEO)

    assert (room.decided, room.have) == (None, 1)


# Who left since


def test_the_vote_of_somebody_removed_is_void() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=2))

    room.says(ANA)
    room.change(ANA, is_active=False)
    events = room.says(BEN)

    assert [type(event) for event in events] == [VoteVoided, Voted]
    assert EVENT_NAMES[VoteVoided] == "question.vote_voided"
    assert room.voided == ["Ana"]
    assert (room.question.status, room.have) == (Status.OPEN, 1)
    assert [vote.by.name for vote in room.question.votes] == ["Ben"]


def test_somebody_removed_cannot_vote() -> None:
    room = Room(panel(ANA, BEN, need=2))
    room.change(ANA, is_active=False)

    refusal = room.refuses(ANA)

    assert refusal.reason is Reason.NOT_A_RESPONDER
    assert refusal.sentence == "Ana is no longer among the people of this workspace."


def test_the_rejection_of_somebody_removed_is_void() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=3), rejections=2)

    room.says(ANA, value=False)
    room.change(ANA, is_active=False)
    room.says(BEN, value=False)

    assert room.decided is None
    assert room.voided == ["Ana"]


def test_who_removed_somebody_and_presses_again_still_counts() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=3))

    room.says(ANA)
    room.says(BEN)
    room.change(ANA, is_active=False)
    room.says(BEN, on="slack")

    assert room.voided == ["Ana"]
    assert room.have == 1


def test_a_void_vote_does_not_come_back_with_its_voter() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=3))

    room.says(ANA)
    room.change(ANA, is_active=False)
    room.says(BEN)
    room.change(ANA, is_active=True)
    room.says(CLEO)

    assert (room.decided, room.have) == (None, 2)


def test_who_is_taken_out_of_the_group_is_out_of_the_panel() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=2, group="release"), groups={"release": (ANA, BEN, CLEO)})

    room.says(ANA)
    room.groups["release"] = (BEN.id, CLEO.id)
    room.says(BEN)

    assert room.voided == ["Ana"]
    assert (room.decided, room.have) == (None, 1)
    room.refuses(ANA)


def test_who_lost_the_role_is_out_of_its_panel() -> None:
    room = Room(Panel("approvers", 2, roles=(Role.APPROVER,)))

    room.says(ANA)
    room.change(ANA, role=Role.MEMBER)
    room.says(BEN)

    assert room.voided == ["Ana"]
    assert room.decided is None


def test_who_joins_the_group_later_is_not_admitted() -> None:
    room = Room(panel(ANA, need=1, group="release"), groups={"release": (ANA,)})

    room.groups["release"] = (ANA.id, BEN.id)

    assert room.refuses(BEN).reason is Reason.NOT_A_RESPONDER


def test_a_group_without_anybody_left_lets_nobody_answer() -> None:
    room = Room(panel(ANA, group="release"), groups={"release": (ANA,)})

    room.groups["release"] = ()

    room.refuses(ANA)


def test_five_hundred_times_somebody_removed_between_two_votes_decides_nothing() -> None:
    for _ in range(500):
        room = Room(panel(ANA, BEN, need=2))
        room.says(ANA)
        room.change(ANA, is_active=False)
        room.says(BEN)
        room.refuses(ANA)
        assert room.decided is None


# Standing in


def test_a_stand_in_counts_for_somebody_who_is_away() -> None:
    room = Room(panel(ANA, BEN, need=2))

    room.refuses(DAN)
    room.away(ANA, DAN)
    room.says(DAN)
    room.says(BEN)

    assert room.decided is True
    assert room.deciders == {"Dan", "Ben"}


def test_a_stand_in_of_a_lower_role_does_not_count() -> None:
    room = Room(panel(ANA, BEN, need=2))

    room.away(ANA, MIA)

    assert room.refuses(MIA).reason is Reason.NOT_A_RESPONDER


def test_a_stand_in_who_sits_there_already_still_fills_one_seat() -> None:
    room = Room(panel(ANA, BEN, need=2))

    room.away(ANA, BEN)
    room.says(BEN)

    assert (room.decided, room.have) == (None, 1)


def test_the_vote_of_a_stand_in_is_void_once_the_other_is_back() -> None:
    room = Room(panel(ANA, BEN, need=2))

    room.away(ANA, DAN, minutes=2)
    room.says(DAN)
    room.says(BEN)  # at the very instant Ana comes back

    assert room.voided == ["Dan"]
    assert room.decided is None


def test_nobody_stands_in_for_somebody_removed() -> None:
    room = Room(panel(ANA, BEN, need=2))

    room.away(ANA, DAN)
    room.change(ANA, is_active=False)

    room.refuses(DAN)


def test_standing_in_goes_on_to_whoever_is_there() -> None:
    room = Room(panel(ANA))

    room.away(ANA, BEN)
    room.away(BEN, CLEO)

    room.refuses(BEN)
    room.says(CLEO)
    assert room.decided is True


def test_two_who_stand_in_for_each_other_lead_nowhere() -> None:
    room = Room(panel(ANA))

    room.away(ANA, BEN)
    room.away(BEN, ANA)
    room.says(ANA)

    assert room.decided is True


# Whoever asked, and for whom


def test_agents_never_answer() -> None:
    room = Room(panel(ANA), Panel("members", roles=(Role.MEMBER,)))

    for actor in (AGENT, OTHER_AGENT, Actor(agent_principal(ANA.id), "Ana", "api", is_admin=True)):
        assert room.refuses(actor).reason is Reason.NOT_A_RESPONDER
    assert room.have == 0


def test_somebody_nobody_knows_does_not_answer() -> None:
    room = Room(Panel("members", roles=(Role.MEMBER,)))

    assert room.refuses(person("Zoe", Role.ADMIN)).reason is Reason.NOT_A_RESPONDER


def test_the_role_that_counts_is_the_one_the_workspace_knows() -> None:
    room = Room(Panel("admins", roles=(Role.ADMIN,)))

    room.refuses(replace(MIA, role=Role.ADMIN))


@pytest.mark.parametrize("who", [ANA, BEN], ids=["owner of the key", "on behalf of"])
def test_whom_the_agent_works_for_is_barred_under_four_eyes(who: Person) -> None:
    asker = Asker(AGENT.principal, AGENT.name, owner=ANA.id, on_behalf_of=BEN.id)
    room = Room(panel(ANA, BEN, CLEO), asker=asker, barred=(ANA.id, BEN.id), four_eyes=True)

    refusal = room.refuses(who)

    assert refusal.sentence == f"Four eyes: the agent works for {who.name}, so somebody else has to decide."
    room.says(CLEO)
    assert room.decided is True


def test_somebody_barred_is_barred_under_any_id() -> None:
    room = Room(panel(ANA, BEN), barred=(ANA.id,), four_eyes=True)

    room.merge(ANA, BEN)

    room.refuses(BEN)
    room.refuses(ANA)


def test_somebody_barred_is_barred_however_often_they_were_merged() -> None:
    room = Room(Panel("members", roles=(Role.MEMBER,)), barred=(ANA.id,), four_eyes=True)

    chain = (ANA, BEN, CLEO, DAN, MIA, LEE, ADA)
    for one, into in pairwise(chain):
        room.merge(one, into)

    room.refuses(ADA)


def test_the_vote_of_somebody_who_turns_out_to_be_barred_is_void() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=2), barred=(DAN.id,), four_eyes=True)

    room.says(ANA)
    room.merge(DAN, ANA)
    room.says(BEN)

    assert room.voided == ["Ana"]
    assert room.decided is None


def test_a_person_does_not_answer_their_own_question() -> None:
    room = Room(panel(ANA, BEN), asker=Asker(person_principal(ANA.id), "Ana"))

    assert room.refuses(ANA).sentence == "You asked this question; somebody else has to answer it."


def test_a_person_does_not_answer_their_own_question_under_another_id() -> None:
    room = Room(panel(ANA, BEN), asker=Asker(person_principal(ANA.id), "Ana"))

    room.merge(ANA, BEN)

    room.refuses(ANA)
    room.refuses(BEN)


# One person, several ids


def test_a_vote_under_a_merged_id_counts_once() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=2))

    room.says(ANA)
    room.merge(ANA, BEN)
    room.says(BEN)

    assert (room.decided, room.have) == (None, 1)
    room.says(CLEO)
    assert room.decided is True
    assert room.deciders == {"Ben", "Cleo"}


def test_two_votes_of_people_who_turn_out_to_be_one_count_once() -> None:
    room = Room(panel(ANA, BEN, CLEO, DAN, need=3))

    room.says(ANA)
    room.says(BEN)
    room.merge(ANA, BEN)
    room.says(CLEO)
    assert (room.decided, room.have) == (None, 2)
    assert room.voided == ["Ana"]
    room.says(DAN)

    assert room.deciders == {"Ben", "Cleo", "Dan"}


def test_two_rejections_of_people_who_turn_out_to_be_one_count_once() -> None:
    room = Room(panel(ANA, BEN, CLEO, DAN), rejections=3)

    room.says(ANA, value=False)
    room.says(BEN, value=False)
    room.merge(ANA, BEN)
    room.says(CLEO, value=False)

    assert room.decided is None


def test_the_last_word_counts_when_two_turn_out_to_be_one() -> None:
    room = Room(panel(ANA, BEN, CLEO, need=2), rejections=2)

    room.says(ANA)
    room.says(BEN, value=False)
    room.merge(ANA, BEN)
    room.says(CLEO)

    assert room.voided == ["Ana"]
    assert (room.decided, room.have) == (None, 1)


def test_pressing_with_the_id_that_was_merged_away_counts_for_the_person() -> None:
    room = Room(panel(ANA, BEN, need=2))

    room.merge(ANA, DAN)
    room.says(ANA)

    assert [vote.by.id for vote in room.question.votes] == [DAN.id]


# Other questions


def test_an_ordinary_question_is_answered_by_any_member() -> None:
    room = Room(Panel("any member", roles=(Role.MEMBER,)), kind=Kind.BLOCKING, shape=TextShape())

    events = room.says(MIA, value="SQLite")

    assert [type(event) for event in events] == [Answered]
    assert room.question.status is Status.ANSWERED


def test_an_approval_is_for_those_it_names() -> None:
    room = Room(panel(ANA, name="approvers"))

    for each in (MIA, BEN, LEE, ADA):  # an admin neither
        room.refuses(each)
    room.says(ANA)

    assert room.decided is True


def test_time_alone_never_approves() -> None:
    room = Room(panel(ANA, BEN, need=2))
    room.says(ANA)

    decision = decide(room.case, tick(), room.now + timedelta(days=365), room.roster)

    assert decision.events == ()


def test_a_press_after_the_end_is_refused_with_nothing_changed() -> None:
    room = Room(panel(ANA, BEN))
    room.says(ANA)
    before = room.question

    decision = room.tries(acting(BEN), value=False)

    assert isinstance(decision, Refused)
    assert room.question == before


def test_saying_that_somebody_else_answered_gives_no_right() -> None:
    room = Room(panel(ANA))
    claimed = Answer(question_id(1), acting(MIA), RawAnswer(True), claimed_by="Ana")

    assert isinstance(decide(room.case, claimed, room.now, room.roster), Refused)


def test_a_place_is_not_there_twice_when_the_one_who_is_away_votes_as_well() -> None:
    room = Room(panel(ANA, BEN, need=2))
    room.away(ANA, DAN)

    room.says(ANA)
    room.says(DAN)

    assert (room.decided, room.have) == (None, 1)
    room.says(BEN)
    assert room.decided is True


def test_whoever_is_barred_does_not_choose_who_decides_instead() -> None:
    room = Room(panel(ANA, BEN), barred=(ANA.id,), four_eyes=True)
    room.away(ANA, DAN)

    assert room.refuses(DAN).reason is Reason.NOT_A_RESPONDER
