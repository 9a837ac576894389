"""One of several processes that answer the same questions at the same time, straight at the database.

`python -m tests.support.rival URL NAME COUNT`: says `ready`, waits for a line, answers questions 1 to COUNT as fast as
it can and prints what became of each as one JSON list of [won, winner].
"""

import asyncio
import json
import sys

from core.decisions import Accepted
from core.engine import Handled
from tests.support.backends import sql_backend
from tests.support.builders import answer


async def _answer_all(url: str, name: str, count: int) -> list[tuple[bool, object]]:
    with sql_backend(url) as backend:
        engine = backend.engine()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)
        found: list[tuple[bool, object]] = []
        for number in range(1, count + 1):
            # Two at once from each process, so that four processes are eight rivals.
            results = await asyncio.gather(*(engine.handle(answer(number, f"{name}{twin}")) for twin in "ab"))
            for done in results:
                assert isinstance(done, Handled)
                assert done.question is not None
                assert done.question.outcome is not None
                assert done.question.outcome.answer is not None
                found.append((isinstance(done.decision, Accepted), done.question.outcome.answer.value))
        return found


def main() -> None:
    url, name, count = sys.argv[1:]
    json.dump(asyncio.run(_answer_all(url, name, int(count))), sys.stdout)


if __name__ == "__main__":
    main()
