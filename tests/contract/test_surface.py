"""What a surface promises, whichever it is, and that the deliverer keeps it up to date."""

import io
from collections.abc import Callable

import pytest

from adapters.memory.surface import MemorySurface
from adapters.terminal.surface import TARGET, TerminalSurface
from core.decisions import Case
from core.delivery import Deliverer
from core.ids import NoticeId
from core.machine import apply
from core.places import Target
from core.ports import Posted, Surface
from core.prompt import Prompt, Tone, prompt_for
from tests.support.backends import Backend, memory_backend
from tests.support.builders import NOW, answer, ask, decide, question_id, spec

HOSTILE = "fine\x1b[2J‮<script>@everyone <!channel>\r\nmore"


class Shown:
    """A surface and a way to read what a person sees there."""

    def __init__(self, surface: Surface, read: Callable[[], str]) -> None:
        self.surface = surface
        self.read = read


def _memory() -> Shown:
    surface = MemorySurface()
    return Shown(surface, lambda: "\n".join(f"{p.text} {p.footer}" for p in surface.messages.values()))


def _terminal() -> Shown:
    screen = io.StringIO()
    surface = TerminalSurface(screen, "handraise")

    def read() -> str:
        surface.flush()
        return screen.getvalue()

    return Shown(surface, read)


@pytest.fixture(params=[_memory, _terminal], ids=["memory", "terminal"])
def shown(request: pytest.FixtureRequest) -> Shown:
    made: Shown = request.param()
    return made


def _prompts(text: str = "Which database?") -> tuple[Prompt, Prompt]:
    """The same question, open and answered."""
    asked = apply(Case(), decide(Case(), ask(1, spec(text=text)), NOW).events)
    answered = apply(asked, decide(asked, answer(1), NOW).events)
    assert asked.question is not None
    assert answered.question is not None
    return prompt_for(asked.question), prompt_for(answered.question)


async def test_what_is_posted_is_seen_and_can_be_revised(shown: Shown) -> None:
    opened, answered = _prompts()

    posted = await shown.surface.post(TARGET, opened, key=NoticeId("n1"))
    assert isinstance(posted, Posted)
    revised = await shown.surface.revise(posted.ref, answered)

    assert isinstance(revised, Posted)
    assert "Which database?" in shown.read()
    assert "Dana" in shown.read()


async def test_the_same_key_is_one_message(shown: Shown) -> None:
    opened, _ = _prompts()

    first = await shown.surface.post(TARGET, opened, key=NoticeId("n1"))
    second = await shown.surface.post(TARGET, opened, key=NoticeId("n1"))

    assert first == second
    assert shown.read().count("Which database?") == 1


async def test_hostile_text_does_not_reach_the_terminal_as_it_came() -> None:
    shown = _terminal()
    opened, _ = _prompts(HOSTILE)

    await shown.surface.post(TARGET, opened, key=NoticeId("n1"))

    assert "\x1b" not in shown.read()
    assert "‮" not in shown.read()
    assert "⟨U+001B⟩" in shown.read()


async def test_the_deliverer_posts_revises_and_proves_it() -> None:
    backend: Backend = memory_backend()
    surface, engine = MemorySurface(), backend.engine()
    deliverer = Deliverer(backend.outbox, backend.store, backend.reader, engine, {"memory": surface})
    await engine.handle(ask(1, spec(targets=(Target("memory", "here"),))))

    posted = await deliverer.deliver()
    await engine.handle(answer(1))
    revised = await deliverer.deliver()

    assert (posted, revised) == (1, 1)
    assert [prompt.tone for prompt in surface.messages.values()] == [Tone.DONE]
    names = [event.name for event in await backend.reader.history(question_id(1))]
    assert names == ["question.asked", "question.delivered", "question.answered"]
    assert await deliverer.deliver() == 0
