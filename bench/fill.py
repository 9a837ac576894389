"""Fill a data folder with open questions, as if they had been asked one by one."""

import asyncio
from datetime import timedelta
from pathlib import Path

from bot.wiring import WORKSPACE
from core.answers import TextShape
from core.commands import Ask
from core.ids import QuestionId
from core.kinds import Kind
from core.people import Role, agent_principal
from core.policies import Panel, Policy
from core.question import Asker, Spec
from tests.support.backends import sql_backend, sqlite_url

_AT_ONCE = 1000
ANYBODY = Policy((Panel("any member", roles=(Role.MEMBER,)),))


async def fill(folder: Path, amount: int) -> None:
    asker = Asker(agent_principal("earlier"), "earlier")
    limit = timedelta(hours=24)
    spec = Spec(WORKSPACE, asker, "Which database?", Kind.BLOCKING, TextShape(), ANYBODY, time_limit=limit)
    with sql_backend(sqlite_url(folder)) as backend:
        engine = backend.engine()
        for start in range(0, amount, _AT_ONCE):
            numbers = range(start, min(start + _AT_ONCE, amount))
            await asyncio.gather(*(engine.handle(Ask(QuestionId(f"q_{number:026d}"), spec)) for number in numbers))
