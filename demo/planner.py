"""The planner: a trade-off for people to decide, details in a form, and a question it does not wait for."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil

from handraise import Answer

from demo.agent import Agent, quoted

_WORKING_DAYS = 5
_DEFAULT_NAME = "Find"
_BACKGROUND = (
    "The shop has 40,000 articles and about 300 searches a minute. One in five finds nothing today, mostly because of "
    "spelling. All three ways cure that; they differ in cost, in upkeep and in how far they carry."
)
_FORM_BACKGROUND = "I only need to know when the team is free and how many people it has. The rest I work out."


@dataclass(frozen=True)
class Step:
    what: str
    person_days: int


@dataclass(frozen=True)
class Scheduled:
    what: str
    first_day: date
    last_day: date


OPTIONS: tuple[Mapping[str, object], ...] = (
    {
        "id": "postgres",
        "label": "PostgreSQL full text",
        "description": "The database we have already, with its own search index.",
        "recommended": True,
        "pros": ["Nothing new to run", "Always in step with the articles"],
        "cons": ["Forgives little misspelling", "Slower beyond a million articles"],
        "implications": "Live in about two weeks; we decide again when the catalogue has grown tenfold.",
    },
    {
        "id": "cluster",
        "label": "A search cluster of our own",
        "description": "OpenSearch on three machines, fed by events.",
        "pros": ["Forgives misspelling", "Filters and suggestions", "Grows with us"],
        "cons": ["Three machines to look after", "Two copies of the truth"],
        "implications": "Somebody has to be on call for it.",
    },
    {
        "id": "hosted",
        "label": "A hosted service",
        "description": "We send the articles, they answer the searches.",
        "pros": ["Live within days", "Best results without tuning"],
        "cons": ["Paid by the search", "Articles leave our machines"],
        "implications": "Needs a data protection review before the first article is sent.",
    },
)

PLANS: Mapping[str, Sequence[Step]] = {
    "postgres": (
        Step("Index names and descriptions", 4),
        Step("Search page on top of it", 6),
        Step("Measure with 1,000 frequent searches", 2),
    ),
    "cluster": (
        Step("OpenSearch on three machines, with alarms", 10),
        Step("Feed it from events, compare it nightly", 8),
        Step("Search page with filters, suggestions", 10),
        Step("Write the on-call guide", 2),
    ),
    "hosted": (
        Step("Data protection review and contract", 5),
        Step("Send the articles, without key accounts", 3),
        Step("Search page, with a budget alarm", 4),
    ),
}
_BETA = Step("Beta with a tenth of the customers", 3)


async def run(agent: Agent) -> None:
    await agent.show("Planning the shop's new search. What it is called can wait; how it is built cannot.")
    name = await agent.people.ask(
        "What shall customers see as the name of the new search?",
        kind="non_blocking",
        default=_DEFAULT_NAME,
        context={"projectName": "shop", "currentStep": "naming"},
        job=agent.job,
    )
    agent.raise_hand(name)
    await agent.show(f"I do not wait for that: until somebody has a better idea it is called “{name.value}”.")
    naming = asyncio.create_task(_hear_the_name(agent, name))
    try:
        planned = await _plan(agent)
    finally:
        naming.cancel()
        await asyncio.gather(naming, return_exceptions=True)
    await _settle_the_name(agent, name, planned)


async def _plan(agent: Agent) -> bool:
    """Whether there is a plan in the end."""
    asked = await agent.people.ask(
        "How shall we build search for the shop?",
        options=OPTIONS,
        allow_free_text=True,
        category="architectureDecisions",
        context={"projectName": "shop", "currentStep": "architecture"},
        job=agent.job,
        wait=None,
        **agent.limits,
    )
    agent.raise_hand(asked)
    way = await agent.hear(asked, _BACKGROUND)
    if way.status != "answered":
        agent.say("Nobody decided. How we build it is not mine to choose, so there is no plan yet.", "yellow")
        return False
    agent.say(f"{way.decided_by} chose {label_of(str(way.value))}{quoted(way.text)}", "green")

    start, people, with_beta = await _ask_for_the_details(agent)
    steps = [*steps_for(str(way.value)), *([_BETA] if with_beta else [])]
    await agent.people.progress(agent.job, f"Plan of {len(steps)} steps from {start}, {people} people")
    agent.say(f"The plan for {_people(people)}:", "bold")
    for step in schedule(steps, start, people):
        await agent.show(f"  {step.first_day:%a %d %b} – {step.last_day:%a %d %b}  {step.what}")
    return True


async def _ask_for_the_details(agent: Agent) -> tuple[date, int, bool]:
    suggestion = {"start": next_monday(date.today()).isoformat(), "people": 2, "beta": True}  # noqa: DTZ011  # a wall calendar
    asked = await agent.people.ask(
        "When does the team start, and with how many people?",
        schema={
            "type": "object",
            "properties": {
                "start": {"type": "string", "format": "date", "title": "First day", "default": suggestion["start"]},
                "people": {"type": "integer", "minimum": 1, "maximum": 6, "title": "People", "default": 2},
                "beta": {"type": "boolean", "title": "Beta with a tenth of the customers first", "default": True},
            },
            "required": ["start", "people"],
        },
        default=suggestion,
        context={"projectName": "shop", "currentStep": "schedule"},
        job=agent.job,
        wait=None,
        **agent.limits,
    )
    agent.raise_hand(asked)
    details = await agent.hear(asked, _FORM_BACKGROUND)
    if details.status != "answered":
        agent.say("Nobody said, so I plan with what I suggested.", "yellow")
    given = details.value if isinstance(details.value, dict) else suggestion
    return date.fromisoformat(str(given["start"])), int(str(given["people"])), given.get("beta") is True


async def _hear_the_name(agent: Agent, name: Answer) -> None:
    answer = await agent.hear(name, "Short is good: it stands beside the magnifying glass on every page.")
    if answer.status == "answered":
        agent.say(f"{answer.decided_by} named it “{answer.value}”. I use that from now on.", "green")


async def _settle_the_name(agent: Agent, name: Answer, planned: bool) -> None:
    """A question that nobody needs any more does not stay in anybody's inbox."""
    withdrawn = await agent.take_back(name.id, "the plan is finished" if planned else "there is no plan")
    if not planned:
        return
    chosen = name if withdrawn is not None else await agent.people.wait(name.id)
    agent.say(f"The plan for “{chosen.value}” is finished.", "green")


def label_of(value: str) -> str:
    return next((str(option["label"]) for option in OPTIONS if option["id"] == value), f"“{value}”")


def steps_for(value: str) -> Sequence[Step]:
    """The plan for one of the options, or for an idea of the person's own."""
    own_idea = (
        Step(f"Work out what “{value}” would take", 3),
        Step("Try it with 1,000 frequent searches", 5),
        Step("Come back with the result and ask again", 1),
    )
    return PLANS.get(value, own_idea)


def schedule(steps: Sequence[Step], start: date, people: int) -> list[Scheduled]:
    """One step after the other, everybody on the same one, nobody at the weekend."""
    scheduled = []
    day = _working_day(start)
    for step in steps:
        last = day
        for _ in range(ceil(step.person_days / people) - 1):
            last = _working_day(last + timedelta(days=1))
        scheduled.append(Scheduled(step.what, day, last))
        day = _working_day(last + timedelta(days=1))
    return scheduled


def next_monday(today: date) -> date:
    return today + timedelta(days=7 - today.weekday())


def _working_day(day: date) -> date:
    while day.weekday() >= _WORKING_DAYS:
        day += timedelta(days=1)
    return day


def _people(count: int) -> str:
    return "one person" if count == 1 else f"{count} people"
