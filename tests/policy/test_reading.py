"""What a text says, as rules."""

from datetime import UTC, datetime, timedelta

from adapters.policy import DEFAULT_TEXT, edit_policy, read_policy, rulebook_json
from core.delivering import INBOX
from core.freezing import Frozen, Ground, freeze
from core.hours import parse_windows
from core.ids import PersonId, Principal
from core.kinds import Kind
from core.people import Handle, Role
from core.places import Target
from core.question import Asker, Risk, Urgency
from core.roster import Roster
from core.rulebook import (
    AnswerRule,
    Circumstances,
    GroupRule,
    LadderRule,
    Match,
    Place,
    PlaceKind,
    RouteRule,
    Rulebook,
    Seats,
    StepRule,
)
from core.schedules import Override, Rotation, Schedule, Shift
from core.steps import StepKind
from tests.policy.people import DANA, ERIK, TEAM, roster_of

FULL = """
unknown_recipients = "refuse"

[groups]
release = ["Dana", "ERIK@example.com", "p_dana"]
dba = "slack:S0123ABC"

[schedules.platform]
zone = "Europe/Berlin"
rotations = [{ people = ["Dana", "UERIK"], starts = 2026-01-05T09:00:00, every = "1w", hours = "mon-fri 09:00-17:00" }]
overrides = [{ person = "Erik", start = 2026-03-01T00:00:00Z, end = 2026-03-02T00:00:00+01:00 }]
shifts = [{ person = "Dana", start = 2026-07-01T09:00:00, end = "2026-07-01T17:00:00" }]

[[answer]]
name = "production deploys"
kind = "approval"
risk = ["high", "critical", "unstated"]
urgency = "urgent"
tool = "deploy*"
project = ["web", "api"]
agent = "ci-*"
tag = "prod"
to = "release"
by = [{ group = "release", need = 2 }, { role = "lead" }, { people = "Dana" }]
four_eyes = true
rejections = 2
solo = true

[[route]]
name = "dba"
addressed_to = "dba"
to = ["slack:C0123", ["dm", "email"], "chat", "discord:42", "inbox"]

[[ladder]]
name = "all of it"
kind = ["blocking", "approval"]
acknowledgement = "1h30m"
steps = [
  { remind = "12.5%" },
  { escalate = "20m", via = ["email", "slack:C1"], joins = "release", hold = false, every = "10m", times = 3, to = [
    "on-call:platform", "group:release", "role:lead", "Dana", "asked",
  ] },
]
"""

WHOLE = Rulebook(
    7,
    {"release": GroupRule((DANA.id, ERIK.id)), "dba": GroupRule(backing=Handle("slack", "S0123ABC"))},
    {
        "platform": Schedule(
            "platform",
            "Europe/Berlin",
            (Rotation((DANA.id, ERIK.id), datetime(2026, 1, 5, 9), 7, parse_windows("mon-fri 09:00-17:00")),),  # noqa: DTZ001
            (Override(ERIK.id, datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 1, 23, tzinfo=UTC)),),
            (Shift(DANA.id, datetime(2026, 7, 1, 7, tzinfo=UTC), datetime(2026, 7, 1, 15, tzinfo=UTC)),),
        )
    },
    (
        AnswerRule(
            "production deploys",
            Match(
                (Kind.APPROVAL,),
                (Urgency.URGENT,),
                ("high", "critical", "unstated"),
                ("deploy*",),
                ("web", "api"),
                ("ci-*",),
                ("prod",),
                ("release",),
            ),
            (Seats(2, group="release"), Seats(role=Role.LEAD), Seats(people=(DANA.id,))),
            four_eyes=True,
            rejections=2,
            solo=True,
        ),
    ),
    (
        RouteRule(
            "dba",
            Match(to=("dba",)),
            (
                (Place(PlaceKind.CHANNEL, "slack", "C0123"),),
                (Place(PlaceKind.DIRECT), Place(PlaceKind.EMAIL)),
                (Place(PlaceKind.CHAT),),
                (Place(PlaceKind.CHANNEL, "discord", "42"),),
                (Place(PlaceKind.INBOX),),
            ),
        ),
    ),
    (
        LadderRule(
            "all of it",
            Match((Kind.BLOCKING, Kind.APPROVAL)),
            (
                StepRule(StepKind.REMIND, 0.125, places=(Place(PlaceKind.DIRECT),)),
                StepRule(
                    StepKind.ESCALATE,
                    timedelta(minutes=20),
                    ("schedule:platform", "group:release", "role:lead", "person:p_dana", "asked"),
                    (Place(PlaceKind.EMAIL), Place(PlaceKind.CHANNEL, "slack", "C1")),
                    "release",
                    False,
                    3,
                    timedelta(minutes=10),
                ),
            ),
            timedelta(minutes=90),
        ),
    ),
    refuses_unknown=True,
)


def test_every_key_arrives() -> None:
    assert read_policy(FULL, TEAM, version=7) == WHOLE


def test_an_empty_text_lets_nobody_answer() -> None:
    assert read_policy("", TEAM, version=2) == Rulebook(2)


def test_conditions_that_name_what_is_not_there_are_not_no_conditions() -> None:
    text = (
        '[[answer]]\nname = "a"\ntool = "*"\nby = [{ role = "lead" }]\n[[answer]]\nname = "b"\nby = [{ role = "lead" }]'
    )

    assert [rule.name for rule in read_policy(text, TEAM, version=1).answers] == ["a", "b"]


def frozen(case: Circumstances, roster: Roster, text: str = DEFAULT_TEXT) -> Frozen:
    ground = Ground(read_policy(text, roster, version=1), roster, datetime(2026, 1, 7, 12, tzinfo=UTC), {"slack": "C1"})
    result = freeze(case, Asker(Principal("agent:ci"), "ci"), ground, limit=timedelta(minutes=30))
    assert isinstance(result, Frozen)
    return result


def test_the_default_serves_a_workspace_of_one_admin() -> None:
    alone = roster_of(DANA)

    for kind in Kind:
        result = frozen(Circumstances(kind), alone)
        assert result.asked == (DANA.id,)
        assert result.route == ((Target("slack", "C1"),), (INBOX,))


def test_the_default_follows_the_table_of_the_seed() -> None:
    ladders = {kind: frozen(Circumstances(kind), TEAM).ladder for kind in Kind}

    climbing = [(StepKind.REMIND, timedelta(minutes=15), True), (StepKind.ESCALATE, timedelta(minutes=24), True)]
    for kind in (Kind.BLOCKING, Kind.APPROVAL):
        assert [(step.kind, step.after, step.direct and step.email) for step in ladders[kind]] == climbing
    assert [(step.kind, step.direct, step.email) for step in ladders[Kind.ERROR_RECOVERY]] == [
        (StepKind.REMIND, True, False)
    ]
    assert all(ladders[kind] == () for kind in Kind if kind not in (Kind.BLOCKING, Kind.APPROVAL, Kind.ERROR_RECOVERY))


def test_by_default_members_answer_questions_and_approvers_approve() -> None:
    assert len(frozen(Circumstances(Kind.BLOCKING), TEAM).asked) == 5
    approvers = frozen(Circumstances(Kind.APPROVAL, risk=Risk.LOW), TEAM).asked
    assert set(approvers) == {PersonId(f"p_{name}") for name in ("dana", "erik", "mia", "noor")}


def test_the_rules_as_json() -> None:
    assert rulebook_json(read_policy(FULL, TEAM, version=7)) == {
        "version": 7,
        "unknownRecipients": "refuse",
        "groups": {
            "release": {"members": ["p_dana", "p_erik"]},
            "dba": {"keptBy": "slack", "address": "S0123ABC"},
        },
        "schedules": {
            "platform": {
                "zone": "Europe/Berlin",
                "rotations": [
                    {
                        "people": ["p_dana", "p_erik"],
                        "starts": "2026-01-05T09:00:00",
                        "every": "1w",
                        "hours": "mon-fri 09:00-17:00",
                    }
                ],
                "overrides": [
                    {"person": "p_erik", "start": "2026-03-01T00:00:00.000Z", "end": "2026-03-01T23:00:00.000Z"}
                ],
                "shifts": [
                    {"person": "p_dana", "start": "2026-07-01T07:00:00.000Z", "end": "2026-07-01T15:00:00.000Z"}
                ],
            }
        },
        "answers": [
            {
                "name": "production deploys",
                "match": {
                    "kind": ["approval"],
                    "urgency": ["urgent"],
                    "risk": ["high", "critical", "unstated"],
                    "tool": ["deploy*"],
                    "project": ["web", "api"],
                    "agent": ["ci-*"],
                    "tag": ["prod"],
                    "to": ["release"],
                },
                "by": [
                    {"need": 2, "group": "release"},
                    {"need": 1, "role": "lead"},
                    {"need": 1, "people": ["p_dana"]},
                ],
                "fourEyes": True,
                "rejections": 2,
                "solo": True,
            }
        ],
        "routes": [
            {
                "name": "dba",
                "match": {"to": ["dba"]},
                "to": [["slack:C0123"], ["dm", "email"], ["chat"], ["discord:42"], ["inbox"]],
            }
        ],
        "ladders": [
            {
                "name": "all of it",
                "match": {"kind": ["blocking", "approval"]},
                "acknowledgement": "1h30m",
                "steps": [
                    {
                        "kind": "remind",
                        "at": "12.5%",
                        "to": ["asked"],
                        "via": ["dm"],
                        "joins": None,
                        "hold": True,
                        "times": 1,
                        "every": None,
                    },
                    {
                        "kind": "escalate",
                        "at": "20m",
                        "to": ["schedule:platform", "group:release", "role:lead", "person:p_dana", "asked"],
                        "via": ["email", "slack:C1"],
                        "joins": "release",
                        "hold": False,
                        "times": 3,
                        "every": "10m",
                    },
                ],
            }
        ],
    }


def test_what_json_says_of_a_schedule_can_be_written_back() -> None:
    book = read_policy(FULL, TEAM, version=7)
    said = rulebook_json(book)["schedules"]
    assert isinstance(said, dict)

    text = edit_policy(FULL, {"schedules.platform": said["platform"]})

    assert read_policy(text, TEAM, version=7) == book
