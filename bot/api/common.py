"""What several calls share: names in paths and queries, command keys, and finding what the caller may see."""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import NoReturn, TypeVar

from fastapi import Request
from pydantic_core import to_json
from starlette.responses import Response

from bot.api.callers import Caller
from bot.api.paths import TAKEN_ENDINGS
from bot.api.problems import Problem, refused
from bot.api.services import Services
from bot.api.wire import Json, outcome_json, question_json
from core.decisions import Refused
from core.engine import Handled, Replayed
from core.ids import CommandId, JobId, JsonValue, QuestionId
from core.kinds import Kind
from core.phrasing import listing, shown
from core.ports import CommandKey
from core.question import Question
from core.wording import no_question

T = TypeVar("T")

REPLAYED = {"Idempotency-Replayed": "true"}

_ID = re.compile(r"q_[0-9A-HJKMNP-TV-Z]{26}")
_NAME = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]{1,200}")
_KEY = re.compile(r"[\x20-\x7e]{1,255}")


def json_response(body: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(to_json(body), status, headers, "application/json")


def page_of(found: Sequence[T], limit: int) -> tuple[Sequence[T], T | None]:
    """A page from one entry more than it shows, and its last entry if something follows."""
    return found[:limit], found[limit - 1] if len(found) > limit else None


def job_name(text: str) -> JobId:
    if not _NAME.fullmatch(text):
        raise Problem(422, "job_id_invalid", "A job id has 1 to 200 characters and no control characters.")
    if text.endswith(TAKEN_ENDINGS):
        detail = f"A job id cannot end in {' or '.join(TAKEN_ENDINGS)}: calls about jobs do."
        raise Problem(422, "job_id_invalid", detail)
    return JobId(text)


def question_name(text: str) -> QuestionId:
    if not _ID.fullmatch(text):
        raise Problem(404, "question_not_found", no_question(QuestionId(text)))
    return QuestionId(text)


def project_name(text: str | None) -> str | None:
    if text is not None and not _NAME.fullmatch(text):
        raise Problem(422, "project_id_invalid", "A project id has 1 to 200 characters and no control characters.")
    return text


def question_cursor(cursor: str | None) -> QuestionId | None:
    if cursor is not None and not _ID.fullmatch(cursor):
        raise Problem(422, "cursor_invalid", "Use the nextCursor of the page before.")
    return QuestionId(cursor) if cursor is not None else None


def kind_named(name: str | None) -> Kind | None:
    if name is None:
        return None
    try:
        return Kind(name)
    except ValueError:
        kinds = listing([kind.value for kind in Kind])
        raise Problem(422, "kind_unknown", f"There is no kind {shown(name)}. Use one of {kinds}.") from None


def same_workspace(caller: Caller, workspace_id: str | None) -> None:
    if workspace_id is not None and workspace_id != caller.key.workspace_id:
        detail = f"There is no workspace {shown(workspace_id)}, or this key does not belong to it."
        raise Problem(404, "workspace_not_found", detail)


def command_key(
    request: Request, caller: Caller, verb: str, operation_id: str | None, body: JsonValue
) -> CommandKey | None:
    """The durable name of this command, if the caller gave it one; bare and quoted forms are the same."""
    given = request.headers.get("idempotency-key")
    if given is not None:
        given = given.strip()
        if len(given) >= 2 and given[0] == given[-1] == '"':
            given = given[1:-1]
        if not _KEY.fullmatch(given):
            detail = "Idempotency-Key has 1 to 255 printable ASCII characters."
            raise Problem(422, "idempotency_key_invalid", detail)
    name = given or operation_id
    if name is None:
        return None
    told = json.dumps([request.url.path, body], sort_keys=True, separators=(",", ":"))
    return CommandKey(
        CommandId(f"{caller.key.workspace_id}:{caller.principal}:{verb}:{name}"),
        hashlib.sha256(told.encode()).hexdigest(),
    )


def key_reused() -> Problem:
    detail = "This idempotency key was used for another request. Use a new key for a new request."
    return Problem(422, "idempotency_key_reused", detail)


class QuestionCalls:
    """The ground under every group of calls about questions."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.engine = services.engine
        self.reader = services.reader
        self.callers = services.callers

    def shown(self, question: Question) -> Json:
        return question_json(question, self.services.view)

    async def visible(self, caller: Caller, raw_id: str) -> Question:
        """The question, if there is one and this caller may see it; otherwise it does not exist."""
        question_id = question_name(raw_id)
        question = await self.reader.question(question_id)
        if question is None or not caller.sees(question):
            raise Problem(404, "question_not_found", no_question(question_id))
        return question

    async def replayed(self, found: Replayed) -> Question:
        if not found.same:
            raise key_reused()
        question = await self.reader.question(found.question_id) if found.question_id is not None else None
        if question is None:
            raise Problem(404, "question_not_found", "The question of this request is gone.")
        return question

    def outcome_of(self, done: Handled, caller: Caller, question_id: QuestionId) -> Question:
        """The question after an accepted command; a refusal becomes a problem, and a stranger sees neither."""
        if done.question is None or not caller.sees(done.question):
            raise Problem(404, "question_not_found", no_question(question_id))
        if isinstance(done.decision, Refused):
            self._refuse(done.decision, done.question)
        return done.question

    def _refuse(self, refusal: Refused, question: Question) -> NoReturn:
        """A refusal about a question that has settled tells the loser how, and who won."""
        if question.outcome is None:
            raise refused(refusal)
        outcome = outcome_json(question, question.outcome, self.services.view)
        raise refused(refusal, {"question": self.shown(question), "outcome": outcome})
