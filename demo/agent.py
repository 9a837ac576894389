"""What the three example agents have in common: a voice, a job, people to ask, and good manners while they wait."""

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TypedDict

from handraise import Answer, AsyncHandraise, HandraiseError, Question

from demo.voice import Voice


class Limits(TypedDict, total=False):
    time_limit: str


@dataclass(frozen=True)
class Agent:
    people: AsyncHandraise
    voice: Voice
    job: str
    #: Seconds between two steps, so that people can follow.
    pace: float = 0.0
    #: How long its questions wait, where whoever runs the demo says so.
    limits: Limits = field(default_factory=lambda: Limits())
    _open: set[str] = field(default_factory=set)

    def say(self, words: str, style: str = "") -> None:
        self.voice.say(words, style)

    async def show(self, words: str, style: str = "") -> None:
        self.say(words, style)
        await asyncio.sleep(self.pace)

    async def step(self, words: str) -> None:
        """A step of the work, told on the terminal and to whoever follows the job."""
        await self.people.progress(self.job, words)
        await self.show(words)

    def raise_hand(self, asked: Answer) -> None:
        question = asked.question
        self._open.add(question.id)
        self.say(f"✋ {question.text}", "bold")
        until = f"  (until {question.deadline.astimezone():%H:%M})" if question.deadline is not None else ""
        self.say(f"{question.url}{until}", "dim")

    async def hear(self, asked: Answer, background: str) -> Answer:
        """The answer, once there is one; whoever asks back meanwhile is told the background."""
        replying = asyncio.create_task(self._reply_to_whoever_asks_back(asked.id, background))
        try:
            answer = await self.people.wait(asked.id)
        finally:
            replying.cancel()
            await asyncio.gather(replying, return_exceptions=True)
        self._open.discard(asked.id)
        return answer

    async def take_back(self, question_id: str, reason: str) -> Question | None:
        """The withdrawn question; None where somebody was faster, or the server is gone."""
        self._open.discard(question_id)
        with contextlib.suppress(HandraiseError):
            return await self.people.cancel(question_id, reason=reason)
        return None

    async def leave(self) -> None:
        """Nobody will hear the answers any more, so nobody shall be asked."""
        await asyncio.gather(*(self.take_back(each, "the demo was stopped") for each in tuple(self._open)))

    async def _reply_to_whoever_asks_back(self, question_id: str, background: str) -> None:
        async with contextlib.aclosing(self.people.events(job=self.job, after=0)) as events:
            async for event in events:
                question = event.question
                if event.type != "question.asked_back" or question is None or question.id != question_id:
                    continue
                for comment in question.comments[-1:]:
                    self.say(f"{comment.by} asks back: “{comment.text}”", "yellow")
                with contextlib.suppress(HandraiseError):
                    await self.people.comment(question_id, background)
                    self.say(f"replies: {background}")


def quoted(words: str | None) -> str:
    """What a person wrote beside the answer, ready to stand behind a sentence's subject."""
    return f": “{words}”" if words else "."
