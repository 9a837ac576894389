"""The line that shows, on a terminal, whom a wait is for and how much time is left."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from handraise.durations import spoken
from handraise.question import Question
from handraise.safe_text import one_line

REFRESHES_PER_SECOND = 2


@contextmanager
def countdown(latest: Callable[[], Question]) -> Iterator[None]:
    """While this lasts the line is kept up to date on stderr; it leaves nothing behind. Off a terminal, nothing."""
    if not sys.stderr.isatty():
        yield
        return
    # Only a terminal needs rich, and only here.
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    def line() -> Text:
        # Text, not str: rich must not read markup in what an agent wrote.
        return Text(waiting_line(latest(), now=datetime.now(UTC)), no_wrap=True, overflow="ellipsis")

    with Live(
        get_renderable=line,
        console=Console(stderr=True),
        refresh_per_second=REFRESHES_PER_SECOND,
        transient=True,
        redirect_stdout=False,
    ):
        yield


def waiting_line(question: Question, *, now: datetime) -> str:
    whom = question.asked_whom or "somebody"
    return one_line(f"waiting for {whom} to answer {question.id}: {_time_left(question, now)}")


def _time_left(question: Question, now: datetime) -> str:
    if question.is_clock_paused:
        return "the clock is paused until the asker replies"
    if question.deadline is None:
        return "no time limit"
    return f"{spoken(question.deadline - now)} left" if question.deadline > now else "its time is over"
