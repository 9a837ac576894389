"""Jobs: how each one stands, what it waits for, its questions and everything that happened in it."""

from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.web.ground import NotShown, Pages, query
from bot.web.visitors import Visitor
from core.browsing import Sieve
from core.ids import JobId
from core.job import Job
from core.ports import EventFilter, JobFilter, JobKey, LoggedEvent, QuestionFilter
from core.question import Question
from core.telling import told

_PAGE = 50
_MOST_QUESTIONS, _MOST_EVENTS = 100, 300
_CHUNKS = 10
#: Where whoever is no lead sees only jobs they have a question of, so many questions are looked at.
_SAMPLE = 50


class Jobs(Pages):
    async def several(self, request: Request, visitor: Visitor) -> Response:
        given = query(request, {"after": 200, "words": 200})
        after = JobId(given["after"]) if given["after"] else None
        found: list[Job] = []
        more = None
        for _ in range(_CHUNKS):
            chunk = await self.reader.jobs(JobFilter(self.site.workspace_id), limit=_PAGE, after=after)
            wanted = [job for job in chunk if given["words"].casefold() in job.id.casefold()]
            found += [job for job in wanted if await self._sees(visitor, job)]
            after = chunk[-1].id if chunk else None
            more = f"/jobs?{urlencode({'after': after, 'words': given['words']})}" if len(chunk) == _PAGE else None
            if more is None or len(found) >= _PAGE:
                break
        return self.page(visitor, "jobs.html", jobs=found, given=given, more=more, address=address)

    async def one(self, request: Request, visitor: Visitor) -> Response:
        job_id = JobId(request.path_params["job_id"].replace("\x00", ""))
        job = await self.reader.job(JobKey(self.site.workspace_id, job_id))
        if job is None or not await self._sees(visitor, job):
            raise NotShown
        questions, has_earlier = await self._newest(visitor, job)
        given = query(request, {"after": 18})["after"]
        after = int(given) if given.isascii() and given.isdigit() else 0
        where = EventFilter(self.site.workspace_id, job_id=job.id)
        events = await self.site.log.after(after, where, limit=_MOST_EVENTS)
        timeline = [
            (logged.stored.event.at, logged.stored.name, logged.question, _sentence(logged))
            for logged in events
            if logged.question is None or await self.sees(visitor, logged.question)  # else they hear nothing of it
        ]
        return self.page(
            visitor,
            "job.html",
            job=job,
            questions=[await self.sheet(visitor, question) for question in questions],
            earlier=f"/history?{urlencode({'job': job.id})}" if has_earlier else None,
            texts={question.id: question.spec.text for question in questions},
            owner=job.owner.partition(":")[2],
            timeline=timeline,
            later=f"{address(job.id)}?after={events[-1].position}" if len(events) == _MOST_EVENTS else None,
        )

    async def _sees(self, visitor: Visitor, job: Job) -> bool:
        return visitor.is_lead or bool(await self._questions(visitor, job, _SAMPLE))

    async def _newest(self, visitor: Visitor, job: Job) -> tuple[list[Question], bool]:
        """What waits and what was settled last, oldest first, and whether more was settled before."""
        sieve = Sieve(self.site.workspace_id, job_id=job.id)
        waiting = await self.site.browser.waiting(sieve, limit=_MOST_QUESTIONS)
        settled = await self.site.browser.settled(sieve, limit=_MOST_QUESTIONS)
        found = sorted((*waiting, *settled), key=lambda question: question.id)
        return [each for each in found if await self.sees(visitor, each)], len(settled) == _MOST_QUESTIONS

    async def _questions(self, visitor: Visitor, job: Job, most: int) -> list[Question]:
        where = QuestionFilter(self.site.workspace_id, job_id=job.id)
        found = await self.reader.questions(where, limit=most)
        return [question for question in found if await self.sees(visitor, question)]

    def routes(self) -> list[Route]:
        return [Route("/jobs", self.reading(self.several)), Route("/jobs/{job_id:path}", self.reading(self.one))]


def address(job_id: str) -> str:
    return f"/jobs/{quote(job_id)}"


def _sentence(logged: LoggedEvent) -> str:
    return told(logged.stored.event, logged.question.spec if logged.question is not None else None)
