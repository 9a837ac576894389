"""One question: its page, answering it, asking back, and what people do about it short of answering."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.posted import Posted, answer_from, to_edit
from bot.web.ground import NotShown, Pages, Refusal, by_script, form_key, said, see
from bot.web.visitors import Visitor
from core.answers import Invalid
from core.commands import Acknowledge, Answer, QuestionCommand, Reassign, Remark, Remind, Snooze, Withdraw
from core.decisions import Refused
from core.delivering import delivery_state
from core.digests import digest_problem, edited_digest
from core.engine import Handled, Replayed
from core.ids import JsonObject, PersonId
from core.phrasing import names_of
from core.policies import candidates
from core.ports import JobKey
from core.question import Action, Question, Status
from core.refusals import Reason
from core.roster import Roster
from core.telling import told
from core.wording import outcome_sentence, still_needed

_MOST_NAMED = 30
_SNOOZES = {"15": "15 min", "60": "1 h", "240": "4 h"}


class Questions(Pages):
    async def show(self, request: Request, visitor: Visitor) -> Response:
        question = await self.shown_question(visitor, request.path_params["id"])
        return await self._page(visitor, question)

    async def card(self, request: Request, visitor: Visitor) -> Response:
        """One card of the inbox, as it is now."""
        question = await self.shown_question(visitor, request.path_params["id"])
        return self.fragment(visitor, "card_alone.html", sheet=await self.sheet(visitor, question))

    async def dialog(self, request: Request, visitor: Visitor) -> Response:
        question = await self.shown_question(visitor, request.path_params["id"])
        return self.fragment(visitor, "dialog.html", sheet=await self.sheet(visitor, question))

    async def _page(
        self, visitor: Visitor, question: Question, status: int = 200, *, problem: str = "", kept: Posted | None = None
    ) -> Response:
        roster, now = await self.services.household.roster(), await self.services.now()
        able = candidates(question.policy, question.spec.asker.principal, roster, now, most=_MOST_NAMED + 1)
        asked = [person.name for id in question.asked if (person := roster.active(id)) is not None]
        history = await self.reader.history(question.id)
        job = None
        if question.spec.job_id is not None:
            job = await self.reader.job(JobKey(question.spec.workspace_id, question.spec.job_id))
        return self.page(
            visitor,
            "question.html",
            status,
            sheet=await self.sheet(visitor, question),
            able=names_of([person.name for person in able]) if able else "",
            asked=names_of(asked),
            people=sorted(person.name for person in able) if visitor.is_lead or not question.asked else [],
            groups=sorted(roster.groups),
            history=[(stored.event.at, stored.name, told(stored.event, question.spec)) for stored in history],
            delivery=delivery_state(question),
            job=job,
            works_for=_names(roster, question.spec.asker.on_behalf_of),
            belongs_to=_names(roster, question.spec.asker.owner),
            snoozes=_SNOOZES,
            problem=problem,
            kept=kept or Posted({}),
            to_edit=to_edit,
            may_steer=visitor.is_lead or self._may_answer(question, visitor.person.id, {p.id for p in able}),
        )

    def _may_answer(self, question: Question, person_id: PersonId, able: set[PersonId]) -> bool:
        return question.is_open and person_id in able

    async def answer(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        question = await self.shown_question(visitor, request.path_params["id"])
        action = question.spec.action
        if action is not None and posted.text("digest") != action.digest:
            return await self._refused(request, visitor, question, 409, "changed", _OTHER_ACTION, posted)
        raw = answer_from(question.spec.shape, posted)
        if isinstance(raw, Invalid):
            return await self._refused(request, visitor, question, 422, "invalid", raw.sentence, posted)
        if action is not None and _is_as_shown(action, raw.arguments):
            raw = replace(raw, arguments=None)  # sent along as they were shown
        command = Answer(question.id, visitor.actor, raw, late=posted.text("late") == "1")
        done = await self.engine.handle(command, key=form_key(visitor, "answer", question.id, posted))
        if isinstance(done, Replayed):
            if not done.same:
                return await self._refused(request, visitor, question, 409, "changed", _OTHER_FORM, posted)
            question = await self.shown_question(visitor, question.id)
            return self._accepted(request, question, _after_answer(question))
        if isinstance(done.decision, Refused):
            state, status = _why(done.decision.reason)
            return await self._refused(
                request, visitor, done.question or question, status, state, done.decision.sentence, posted
            )
        after = done.question or question
        return self._accepted(request, after, _after_answer(after), resumed=done.job_resumed)

    def _accepted(self, request: Request, question: Question, sentence: str, *, resumed: bool = False) -> Response:
        if by_script(request):
            return said(200, "done", sentence, open=question.is_open, jobResumed=resumed)
        return see(f"/q/{question.id}")

    async def _refused(
        self,
        request: Request,
        visitor: Visitor,
        question: Question,
        status: int,
        state: str,
        sentence: str,
        posted: Posted,
    ) -> Response:
        if by_script(request):
            return said(status, state, sentence, open=question.is_open)
        return await self._page(visitor, question, status, problem=sentence, kept=posted)

    async def comment(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        text = posted.text("text")
        if not text:
            raise Refusal("Write what you want to know.", 422)
        if len(text) > 10_000:
            raise Refusal("Shorten it to 10,000 characters.", 422)
        asks_back = posted.text("kind") != "note"
        return await self._do(request, visitor, posted, lambda q: Remark(q.id, visitor.actor, text, asks_back))

    async def acknowledge(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        return await self._do(request, visitor, posted, lambda q: Acknowledge(q.id, visitor.actor))

    async def remind(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        return await self._do(request, visitor, posted, lambda q: Remind(q.id, visitor.actor))

    async def snooze(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        minutes = posted.text("minutes")
        if minutes not in _SNOOZES:
            raise Refusal("Choose for how long.", 422)
        until = await self.services.now() + timedelta(minutes=int(minutes))
        return await self._do(request, visitor, posted, lambda q: Snooze(q.id, visitor.actor, until))

    async def reassign(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        to, reason = posted.text("to")[:200], posted.maybe("reason")
        if not to:
            raise Refusal("Say to whom: a person or a group.", 422)
        return await self._do(request, visitor, posted, lambda q: Reassign(q.id, visitor.actor, to, reason))

    async def withdraw(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        reason = posted.text("reason")[:2000] or None
        return await self._do(request, visitor, posted, lambda q: Withdraw(q.id, visitor.actor, reason))

    async def _do(
        self, request: Request, visitor: Visitor, posted: Posted, command: Callable[[Question], QuestionCommand]
    ) -> Response:
        question = await self.shown_question(visitor, request.path_params["id"])
        wanted = command(question)
        key = form_key(visitor, type(wanted).__name__.lower(), question.id, posted)
        done = await self.engine.handle(wanted, key=key)
        if isinstance(done, Replayed) and not done.same:
            return await self._refused(request, visitor, question, 409, "changed", _OTHER_FORM, posted)
        if isinstance(done, Handled) and isinstance(done.decision, Refused):
            state, status = _why(done.decision.reason)
            return await self._refused(
                request, visitor, done.question or question, status, state, done.decision.sentence, posted
            )
        after = await self.reader.question(question.id)
        if after is None:
            raise NotShown
        return self._accepted(request, after, "Done.")

    def routes(self) -> list[Route]:
        one = "/q/{id}"
        steering = ("comment", "acknowledge", "remind", "snooze", "reassign", "withdraw")
        return [
            Route(one, self.reading(self.show)),
            Route(f"{one}/card", self.reading(self.card)),
            Route(f"{one}/dialog", self.reading(self.dialog)),
            Route(f"{one}/answer", self.changing(self.answer), methods=["POST"]),
            *(Route(f"{one}/{verb}", self.changing(getattr(self, verb)), methods=["POST"]) for verb in steering),
        ]


_OTHER_ACTION = "What you saw is not what this question is about. Load the page again and read it."
_OTHER_FORM = "This form was sent before and said something else then. Load the page again."
_STATES = {
    Reason.EXPIRED: ("late", 409),
    Reason.ALREADY_ANSWERED: ("lost", 409),
    Reason.WITHDRAWN: ("lost", 409),
    Reason.INVALID_ANSWER: ("invalid", 422),
    Reason.NOT_A_RESPONDER: ("forbidden", 403),
    Reason.NOT_ALLOWED: ("forbidden", 403),
    Reason.QUESTION_NOT_FOUND: ("gone", 404),
}


def _names(roster: Roster, person_id: PersonId | None) -> str:
    person = roster.people.get(person_id) if person_id is not None else None
    return person.name if person is not None else ""


def _is_as_shown(action: Action, arguments: JsonObject | None) -> bool:
    """By the digest: in Python 1 and True are equal."""
    if arguments is None or digest_problem(arguments) is not None:
        return False
    return edited_digest(action, arguments) == action.digest


def _why(reason: Reason) -> tuple[str, int]:
    return _STATES.get(reason, ("refused", 422))


def _after_answer(question: Question) -> str:
    if question.status is Status.EXPIRED:
        return "Your answer was sent on as a late answer."
    if question.outcome is not None:
        return outcome_sentence(question, question.outcome)
    return f"Your word counts. {still_needed(question.tally.missing)}"
