"""Many deadlines in a short time: none early, none lost, none twice."""

import pytest

from bench.figures import milliseconds, percentile
from bench.timers import Outcome, product


def _faults(found: Outcome) -> dict[str, int]:
    return {"early": found.early, "lost": found.lost, "twice": found.twice}


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_thousand_deadlines_inside_a_second_are_each_kept_once(
    kind: str, request: pytest.FixtureRequest
) -> None:
    url = "" if kind == "sqlite" else request.getfixturevalue("postgres").new_database()

    found = await product(1000, seconds=1.0, database_url=url)

    assert _faults(found) == {"early": 0, "lost": 0, "twice": 0}


@pytest.mark.soak
async def test_ten_thousand_deadlines_inside_five_seconds_are_each_kept_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = await product(10_000, seconds=5.0)

    with capsys.disabled():
        p50, p99 = (milliseconds(percentile(found.lags, share)) for share in (0.5, 0.99))
        print(f"\n{found.count:,} deadlines inside 5 s: {_faults(found)}, lag p50 {p50}, p99 {p99}")  # noqa: T201
    assert _faults(found) == {"early": 0, "lost": 0, "twice": 0}
