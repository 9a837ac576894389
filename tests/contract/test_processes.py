"""One winner, across processes."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.backends import Backend, sql_backend, sqlite_url
from tests.support.builders import ask, question_id
from tests.support.servers import ROOT

PROCESSES, QUESTIONS = 4, 25


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_of_eight_answers_from_four_processes_one_wins_and_all_learn_which(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    url = sqlite_url(tmp_path) if kind == "sqlite" else request.getfixturevalue("postgres").new_database()
    with sql_backend(url) as backend:
        asyncio.run(_ask_all(backend))
    rivals = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.support.rival", url, f"rival {number} ", str(QUESTIONS)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(PROCESSES)
    ]

    for rival in rivals:
        assert rival.stdout is not None
        assert rival.stdout.readline() == "ready\n"
    for rival in rivals:
        assert rival.stdin is not None
        rival.stdin.write("go\n")
        rival.stdin.flush()
    told = [json.loads(rival.communicate(timeout=120)[0]) for rival in rivals]

    assert [rival.returncode for rival in rivals] == [0] * PROCESSES
    with sql_backend(url) as backend:
        for number in range(1, QUESTIONS + 1):
            mine = [entry for report in told for entry in report[2 * number - 2 : 2 * number]]
            assert sum(won for won, _ in mine) == 1
            assert len({winner for _, winner in mine}) == 1
            assert asyncio.run(_names(backend, number)) == ["question.asked", "question.answered"]


async def _ask_all(backend: Backend) -> None:
    engine = backend.engine()
    for number in range(1, QUESTIONS + 1):
        await engine.handle(ask(number))


async def _names(backend: Backend, number: int) -> list[str]:
    return [event.name for event in await backend.reader.history(question_id(number))]
