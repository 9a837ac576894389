"""What people look for is found, and nothing else, among what waits and what has settled alike."""

from dataclasses import replace
from typing import Any

import pytest

from core.browsing import Sieve
from core.ids import JobId, PersonId
from core.kinds import Kind
from core.question import Asker, OutcomeKind
from tests.support.backends import Backend
from tests.support.builders import AGENT, DANA, EVE, WORKSPACE, question_id
from tests.support.inboxes import EVERYTHING, answered, asked, escalated, handed_to_dana, settled, waiting

NIGHTLY, DEPLOYER = JobId("nightly"), Asker(AGENT.principal, "deployer")
#: Whom a wildcard would take for Dana.
LIKE_DANA = PersonId("pxdana")

#: What is asked under these numbers.
QUESTIONS: dict[int, dict[str, Any]] = {
    1: {"kind": Kind.CLARIFYING, "project_id": "shop", "job": "nightly", "asked": (DANA.id,)},
    2: {"kind": Kind.CLARIFYING, "project_id": "shop", "agent": "deployer", "asked": (EVE.id,)},
    3: {
        "kind": Kind.CONFIRMING,
        "project_id": "Shop",
        "asker": DEPLOYER,
        "job": "nightly",
        "asked": (LIKE_DANA,),
        "text": "Deploy now?",
    },
    4: {"kind": Kind.CONFIRMING, "agent": "builder", "asker": DEPLOYER, "asked": (DANA.id, EVE.id)},
    5: {"kind": Kind.CLARIFYING, "project_id": "shop", "job": "Nightly", "asked": (DANA.id,), "text": "Deploy?"},
}

#: What each of these lets through.
SIEVES: dict[Sieve, list[int]] = {
    EVERYTHING: [1, 2, 3, 4, 5],
    Sieve(WORKSPACE, kind=Kind.CLARIFYING): [1, 2, 5],
    Sieve(WORKSPACE, kind=Kind.APPROVAL): [],
    Sieve(WORKSPACE, project_id="shop"): [1, 2, 5],
    Sieve(WORKSPACE, project_id="sho"): [],
    Sieve(WORKSPACE, agent="builder"): [1, 4, 5],
    Sieve(WORKSPACE, agent="deployer"): [2, 3],
    Sieve(WORKSPACE, job_id=NIGHTLY): [1, 3],
    Sieve(WORKSPACE, job_id=JobId("night%")): [],
    Sieve(WORKSPACE, words="deploy"): [3, 5],
    Sieve(WORKSPACE, put_to=DANA.id): [1, 4, 5],
    Sieve(WORKSPACE, put_to=EVE.id): [2, 4],
    Sieve(WORKSPACE, put_to=PersonId("p_dan")): [],
    Sieve(WORKSPACE, put_to=PersonId("p%dana")): [],
    Sieve(WORKSPACE, put_to=LIKE_DANA): [3],
    Sieve(WORKSPACE, Kind.CLARIFYING, "shop"): [1, 2, 5],
    Sieve(WORKSPACE, Kind.CLARIFYING, "shop", "builder"): [1, 5],
    Sieve(WORKSPACE, Kind.CLARIFYING, "shop", "builder", NIGHTLY): [1],
    Sieve(WORKSPACE, Kind.CLARIFYING, "shop", "builder", None, "DEPLOY", DANA.id): [5],
    Sieve(WORKSPACE, Kind.CONFIRMING, words="deploy"): [3],
    Sieve(WORKSPACE, job_id=NIGHTLY, words="deploy", put_to=DANA.id): [],
}

TEXTS: dict[int, str] = {
    1: "Which database?",
    2: "STRASSE IN ZÜRICH: ÄÖÜ?",
    3: '100% of _all_, or \\ as "quoted"?',
    4: "Welche Straße, a/b?",
    5: "first\nsecond\ttab, Привет ✋",
    6: "Five \u212a, and the o\ufb03ce",
    7: "rub\x7fout\nand go",
}

#: Whom each of these words finds. Some stand in what is stored, but not in what was asked.
WORDS: dict[str, list[int]] = {
    "": [1, 2, 3, 4, 5, 6, 7],
    "DATABASE": [1],
    "Which data": [1],
    "which  data": [],
    "zürich": [2],
    "Zürich: äöü": [2],
    "zurich": [],
    "straße": [2, 4],
    "STRASSE": [2, 4],
    "strasse, A/B": [4],
    "five k": [6],
    "office": [6],
    "привет": [5],
    "ПРИВЕТ ✋": [5],
    "first\nsecond": [5],
    "second\ttab": [5],
    "first second": [],
    "RUB\x7fOUT\nand": [7],
    "OUT\nAND": [7],
    "%": [3],
    "100%": [3],
    "1%0": [],
    "_all_": [3],
    "d_tabase": [],
    "\\": [3],
    "\\ as": [3],
    '"quoted"': [3],
    "\\n": [],
    "/": [4],
    "//": [],
    "*": [],
    "'": [],
    "principal": [],
    "builder": [],
    question_id(1): [1],
    question_id(4).upper(): [4],
    "Q_0": [1, 2, 3, 4, 5, 6, 7],
    "000000001": [1],
    "q%1": [],
    "1\n": [],
}


@pytest.mark.parametrize("has_settled", [False, True])
async def test_every_sieve_lets_through_what_fits_all_of_it(backend: Backend, has_settled: bool) -> None:
    for number, fields in QUESTIONS.items():
        await asked(backend, number, **fields)
    if has_settled:
        await answered(backend, *QUESTIONS)

    look = settled if has_settled else waiting
    found = {sieve: sorted(await look(backend, sieve)) for sieve in SIEVES}

    assert found == SIEVES


@pytest.mark.parametrize("has_settled", [False, True])
async def test_words_are_found_in_any_case_and_mean_themselves(backend: Backend, has_settled: bool) -> None:
    for number, text in TEXTS.items():
        await asked(backend, number, text=text)
    if has_settled:
        await answered(backend, *TEXTS)

    look = settled if has_settled else waiting
    found = {words: sorted(await look(backend, replace(EVERYTHING, words=words))) for words in WORDS}

    assert found == WORDS


async def test_a_question_that_was_handed_over_is_put_to_whoever_has_it_now(backend: Backend) -> None:
    await asked(backend, 1, asked=(EVE.id,))
    await asked(backend, 2, asked=(EVE.id,))

    await handed_to_dana(backend, 1)

    assert await waiting(backend, Sieve(WORKSPACE, put_to=DANA.id)) == [1]
    assert await waiting(backend, Sieve(WORKSPACE, put_to=EVE.id)) == [2]


async def test_only_what_is_put_to_the_very_person_is_counted(backend: Backend) -> None:
    for number, fields in QUESTIONS.items():
        await asked(backend, number, **fields)

    people = (DANA.id, EVE.id, LIKE_DANA, PersonId("p_dan"), PersonId("p%"), PersonId("dana"))
    counts = [await backend.browser.count_put_to(WORKSPACE, person) for person in people]

    assert counts == [3, 2, 1, 0, 0, 0]


async def test_an_escalated_question_is_put_to_those_before_and_those_it_went_on_to(backend: Backend) -> None:
    await asked(backend, 1, asked=(EVE.id,))

    await escalated(backend, 1, DANA)

    assert await waiting(backend, Sieve(WORKSPACE, put_to=DANA.id)) == [1]
    assert await waiting(backend, Sieve(WORKSPACE, put_to=EVE.id)) == [1]


async def test_nothing_that_waits_has_ended_in_any_way(backend: Backend) -> None:
    await asked(backend, 1)

    found = [await waiting(backend, Sieve(WORKSPACE, ended=ended)) for ended in OutcomeKind]

    assert found == [[], [], [], []]


async def test_how_it_ended_counts_beside_everything_else(backend: Backend) -> None:
    for number, fields in QUESTIONS.items():
        await asked(backend, number, **fields)
    await answered(backend, 1, 2, 3)

    found = [
        await settled(backend, Sieve(WORKSPACE, Kind.CLARIFYING, ended=OutcomeKind.ANSWERED)),
        await settled(backend, Sieve(WORKSPACE, job_id=NIGHTLY, ended=OutcomeKind.ANSWERED)),
        await settled(backend, Sieve(WORKSPACE, words="deploy", ended=OutcomeKind.ANSWERED)),
        await settled(backend, Sieve(WORKSPACE, project_id="shop", ended=OutcomeKind.EXPIRED)),
    ]

    assert found == [[2, 1], [3, 1], [3], []]
