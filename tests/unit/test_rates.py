"""How often somebody may do something; seconds of a steady clock are given."""

from datetime import timedelta

from core.rates import Rate, RateLimiter

TWO_A_MINUTE = Rate(2, timedelta(minutes=1))


def test_the_whole_count_may_come_at_once() -> None:
    limiter = RateLimiter(TWO_A_MINUTE)

    waits = [limiter.wait("builder", 100.0) for _ in range(2)]

    assert waits == [0.0, 0.0]


def test_one_more_than_the_count_has_to_wait_for_its_share_of_the_period() -> None:
    limiter = RateLimiter(TWO_A_MINUTE)
    limiter.wait("builder", 100.0)
    limiter.wait("builder", 100.0)

    assert limiter.wait("builder", 100.0) == 30.0


def test_the_wait_shrinks_as_time_passes() -> None:
    limiter = RateLimiter(TWO_A_MINUTE)
    limiter.wait("builder", 100.0)
    limiter.wait("builder", 100.0)

    assert limiter.wait("builder", 120.0) == 10.0


def test_after_the_wait_it_goes_on() -> None:
    limiter = RateLimiter(TWO_A_MINUTE)
    limiter.wait("builder", 100.0)
    limiter.wait("builder", 100.0)

    assert limiter.wait("builder", 130.0) == 0.0


def test_being_refused_costs_nothing() -> None:
    limiter = RateLimiter(TWO_A_MINUTE)
    for _ in range(5):
        limiter.wait("builder", 100.0)

    assert limiter.wait("builder", 130.0) == 0.0


def test_after_the_burst_the_rest_comes_evenly() -> None:
    limiter = RateLimiter(TWO_A_MINUTE)
    limiter.wait("builder", 100.0)
    limiter.wait("builder", 100.0)
    limiter.wait("builder", 130.0)

    assert limiter.wait("builder", 130.0) == 30.0


def test_a_quiet_period_fills_the_bucket_but_not_beyond_the_count() -> None:
    limiter = RateLimiter(TWO_A_MINUTE)
    limiter.wait("builder", 100.0)

    waits = [limiter.wait("builder", 10_000.0) for _ in range(3)]

    assert waits == [0.0, 0.0, 30.0]


def test_each_name_has_its_own_bucket() -> None:
    limiter = RateLimiter(TWO_A_MINUTE)
    limiter.wait("builder", 100.0)
    limiter.wait("builder", 100.0)

    assert limiter.wait("tester", 100.0) == 0.0


def test_rounding_does_not_make_the_last_of_a_burst_wait() -> None:
    limiter = RateLimiter(Rate(600, timedelta(minutes=1)))

    waits = {limiter.wait("builder", 1_700_000_000.123) for _ in range(600)}

    assert waits == {0.0}


def test_the_601st_of_600_a_minute_waits() -> None:
    limiter = RateLimiter(Rate(600, timedelta(minutes=1)))
    for _ in range(600):
        limiter.wait("builder", 0.0)

    assert 0.09 < limiter.wait("builder", 0.0) < 0.11


def test_a_name_that_has_to_wait_is_remembered_among_very_many_names() -> None:
    limiter = RateLimiter(TWO_A_MINUTE)
    limiter.wait("builder", 100.0)
    limiter.wait("builder", 100.0)

    for number in range(10_001):
        limiter.wait(f"agent-{number}", 100.0)

    assert limiter.wait("builder", 100.0) == 30.0
