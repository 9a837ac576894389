"""How questions, jobs and events look on the wire: camelCase, seed 1's status words, instants in UTC milliseconds."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.answers import AnswerShape, AnswerValue, FormShape, Option, options_of
from core.delivering import delivery_state
from core.events import (
    Acknowledged,
    Answered,
    Asked,
    AskedBack,
    Commented,
    Defaulted,
    Delivered,
    DeliveryFailed,
    Escalated,
    Event,
    Held,
    JobChanged,
    LateAnswered,
    Progressed,
    Reassigned,
    Reminded,
    Snoozed,
    Undeliverable,
    Voted,
    VoteVoided,
    Withdrawn,
)
from core.job import Job
from core.ladder import next_step_at
from core.ports import LoggedEvent, StoredEvent
from core.question import (
    Action,
    Comment,
    Decider,
    DeliveryRecord,
    Outcome,
    OutcomeKind,
    Question,
    Status,
)
from core.wording import who_may_answer

Json = dict[str, object]


@dataclass(frozen=True)
class View:
    """What this server adds to a question when it tells of it: where it is seen, and the receipt of its decision."""

    base_url: str
    receipt_of: Callable[[Question], str | None]


STATUS_WORDS: Mapping[Status, str] = {
    Status.OPEN: "pending",
    Status.ANSWERED: "answered",
    Status.EXPIRED: "timeout",
    Status.WITHDRAWN: "cancelled",
}


def instant(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def maybe_instant(at: datetime | None) -> str | None:
    return None if at is None else instant(at)


def _minutes(duration: timedelta | None) -> float | None:
    if duration is None:
        return None
    minutes = duration / timedelta(minutes=1)
    return int(minutes) if minutes.is_integer() else minutes


def response_json(shape: AnswerShape, answer: AnswerValue) -> Json:
    body: Json = {"type": shape.type, "value": answer.value}
    if answer.text is not None:
        body["text"] = answer.text
    if answer.arguments is not None:
        body["arguments"] = answer.arguments
    return body


def decider_json(decider: Decider) -> Json:
    return {"type": decider.type, "id": decider.id, "name": decider.name, "surface": decider.surface}


def outcome_json(question: Question, outcome: Outcome, view: View) -> Json:
    spec = question.spec
    body: Json = {
        "kind": outcome.kind.value,
        "response": response_json(spec.shape, outcome.answer) if outcome.answer is not None else None,
        "decidedBy": decider_json(outcome.decided_by),
        "deciders": [decider_json(decider) for decider in outcome.deciders],
        "decidedAt": instant(outcome.decided_at),
        "reason": outcome.reason,
    }
    if outcome.claimed_by is not None:
        body["answeredBy"] = outcome.claimed_by
    if spec.action is not None:
        body["actionDigest"] = spec.action.digest
        if outcome.decided_digest is not None:
            body["decidedDigest"] = outcome.decided_digest
    receipt = view.receipt_of(question)
    if receipt is not None:
        body["receipt"] = receipt
    return body


def _option(option: Option) -> Json:
    return {
        "id": option.id,
        "label": option.label,
        "value": option.value,
        "description": option.description,
        "recommended": option.recommended,
        "implications": option.implications,
        "pros": option.pros,
        "cons": option.cons,
    }


def _action(action: Action) -> Json:
    return {
        "tool": action.tool,
        "arguments": action.arguments,
        "diff": action.diff,
        "risk": action.risk,
        "editable": action.editable,
        "digest": action.digest,
    }


def _comment(comment: Comment) -> Json:
    return {
        "by": decider_json(comment.author),
        "text": comment.text,
        "at": instant(comment.at),
        "askBack": comment.asks_back,
    }


def _delivery(record: DeliveryRecord) -> Json:
    body: Json = {"surface": record.surface, "state": record.state.value, "at": instant(record.at)}
    if record.link is not None:
        body["link"] = record.link
    if record.why is not None:
        body["why"] = record.why
    return body


def question_json(question: Question, view: View) -> Json:
    spec, outcome = question.spec, question.outcome
    url = f"{view.base_url}/q/{question.id}"
    # The web page shows the record itself, so a question is there the moment it is asked.
    web: Json = {"surface": "web", "state": "posted", "at": instant(question.asked_at), "link": url}
    answered = outcome is not None and outcome.kind is OutcomeKind.ANSWERED
    options = options_of(spec.shape)
    return {
        "id": question.id,
        "jobId": spec.job_id,
        "workspaceId": spec.workspace_id,
        "projectId": spec.project_id,
        "type": spec.kind.value,
        "responseType": spec.shape.type,
        "question": spec.text,
        "status": STATUS_WORDS[question.status],
        "version": question.version,
        "createdAt": instant(question.asked_at),
        "timeoutAt": maybe_instant(question.deadline),
        "clock": _clock(question),
        "votes": _votes(question),
        "responders": _responders(question),
        "asked": question.asked,
        "acknowledged": _acknowledged(question),
        "nextStepAt": maybe_instant(next_step_at(question)),
        "story": [{"at": instant(told.at), "text": told.sentence} for told in question.story],
        "response": response_json(spec.shape, outcome.answer) if outcome and outcome.answer else None,
        "respondedBy": outcome.decided_by.name if outcome is not None and answered else None,
        "respondedAt": instant(outcome.decided_at) if outcome is not None and answered else None,
        "outcome": outcome_json(question, outcome, view) if outcome is not None else None,
        "comments": [_comment(comment) for comment in question.comments],
        "lateAnswers": [
            {"response": response_json(spec.shape, late.answer), "by": decider_json(late.by), "at": instant(late.at)}
            for late in question.late_answers
        ],
        "deliveryState": delivery_state(question),
        "deliveries": [web, *map(_delivery, question.deliveries)],
        "url": url,
        "options": [_option(option) for option in options] if options else None,
        "allowFreeText": getattr(spec.shape, "allow_free_text", False),
        "schema": spec.shape.schema if isinstance(spec.shape, FormShape) else None,
        "context": spec.context,
        "timeoutMinutes": _minutes(spec.time_limit),
        "defaultResponse": response_json(spec.shape, spec.default) if spec.default is not None else None,
        "action": _action(spec.action) if spec.action is not None else None,
        "to": spec.to,
        "urgency": spec.urgency.value,
        "priority": spec.rule.priority.value,
        "reminderMinutes": _minutes(spec.reminder),
        "tags": spec.tags,
        "metadata": spec.metadata,
        "callbackUrl": spec.callback_url,
        "agent": spec.agent,
        "phase": spec.phase,
        "category": spec.category,
        "operationId": spec.operation_id,
        "askedBy": spec.asker.name,
        "onBehalfOf": spec.asker.on_behalf_of,
    }


def _votes(question: Question) -> Json:
    outcome, tally = question.outcome, question.tally
    answered = outcome is not None and outcome.kind is OutcomeKind.ANSWERED
    # Where one is enough nothing is counted: who decided is who agreed.
    alone = len(outcome.deciders) if outcome is not None and answered else 0
    body: Json = {"have": tally.have if tally.need > 1 else alone, "need": tally.need}
    if question.votes:
        shape = question.spec.shape
        body["cast"] = [
            {"by": decider_json(vote.by), "response": response_json(shape, vote.answer), "at": instant(vote.at)}
            for vote in question.votes
        ]
    if question.is_open and tally.need > 1:
        body["missing"] = [{"from": name, "count": count} for name, count in tally.missing]
    return body


def _responders(question: Question) -> Json:
    """Who may answer and why: the rule of the policy, and the panels it asks for."""
    policy = question.policy
    return {
        "text": who_may_answer(policy, question.is_approval),
        "rule": policy.rule,
        "policyVersion": policy.version,
        "panels": [
            {
                "name": panel.name,
                "need": panel.need,
                "people": [*panel.people, *panel.joined],
                "roles": [role.value for role in panel.roles],
            }
            for panel in policy.panels
        ],
        "fourEyes": policy.four_eyes,
        "solo": policy.solo,
    }


def _acknowledged(question: Question) -> Json | None:
    seen = question.acknowledged
    if seen is None:
        return None
    return {"by": decider_json(seen.by), "at": instant(seen.at), "until": instant(seen.until)}


def _clock(question: Question) -> Json:
    if question.pause is None:
        return {"paused": False}
    return {
        "paused": True,
        "since": instant(question.pause.since),
        "until": instant(question.pause.until),
        "remainingMinutes": _minutes(question.pause.remaining),
    }


def job_json(job: Job) -> Json:
    first = min(job.holding, key=lambda entry: entry.since, default=None)
    return {
        "id": job.id,
        "workspaceId": job.workspace_id,
        "status": job.status.value,
        "resumeStatus": job.resume_status,
        "blockReason": job.block_reason,
        "onTimeout": job.on_timeout.value,
        "maxOpenHolding": job.max_open_holding,
        "humanInput": {
            "openQuestionId": first.question_id if first is not None else None,
            "openQuestionCount": job.held_by,
            "awaitingSince": instant(first.since) if first is not None else None,
            "requestedByRole": first.role if first is not None else None,
            "resumeStatus": job.resume_status,
        },
        "progress": {"text": job.progress.text, "at": instant(job.progress.at)} if job.progress else None,
        "owner": job.owner,
        "version": job.version,
        "createdAt": instant(job.created_at),
        "updatedAt": instant(job.updated_at),
    }


def envelope_json(logged: LoggedEvent, view: View) -> Json:
    """An event as streams and webhooks carry it: what happened, and the question or job it happened to."""
    stored, question, job = logged.stored, logged.question, logged.job
    data: Json = {}
    if question is not None:
        data = question_json(question, view)
        data["event"] = event_json(stored, question.spec.shape)
    elif job is not None:
        data = job_json(job)
        data["event"] = _head(stored) | _job_event(stored.event)
    data["sequence"] = stored.sequence
    return {"type": stored.name, "timestamp": instant(stored.event.at), "data": data}


def _head(stored: StoredEvent) -> Json:
    return {"sequence": stored.sequence, "type": stored.name, "at": instant(stored.event.at)}


def _job_event(event: Event) -> Json:
    match event:
        case JobChanged():
            return {"status": event.after.status.value}
        case Progressed():
            return {"text": event.text}
        case _:
            return {}


def _step_json(event: Reminded | Escalated | Held | Acknowledged | Snoozed | Reassigned) -> Json:
    body: Json = {"text": event.sentence}
    match event:
        case Reminded():
            body["people"] = event.people
            if event.by is not None:
                body["by"] = decider_json(event.by)
        case Escalated():
            body["people"] = event.people
        case Reassigned():
            body |= {"people": event.people, "to": event.to, "by": decider_json(event.by), "reason": event.reason}
        case Held():
            body["until"] = instant(event.until)
        case Acknowledged() | Snoozed():
            body |= {"by": decider_json(event.by), "until": instant(event.until)}
    return body


def event_json(stored: StoredEvent, shape: AnswerShape) -> Json:
    event = stored.event
    body = _head(stored)
    match event:
        case Asked():
            body["askedBy"] = event.spec.asker.name
        case Answered() | LateAnswered():
            body |= {"response": response_json(shape, event.answer), "by": decider_json(event.by)}
        case Defaulted():
            body["response"] = response_json(shape, event.answer)
        case Withdrawn():
            body |= {"by": decider_json(event.by), "reason": event.reason}
        case AskedBack() | Commented():
            body |= {"by": decider_json(event.comment.author), "text": event.comment.text}
        case Delivered() | Undeliverable() | DeliveryFailed():
            body["delivery"] = _delivery(event.delivery)
        case Voted():
            vote = event.vote
            body |= {"response": response_json(shape, vote.answer), "by": decider_json(vote.by)}
        case VoteVoided():
            body |= {"personId": event.person_id, "name": event.name}
        case Reminded() | Escalated() | Held() | Acknowledged() | Snoozed() | Reassigned():
            body |= _step_json(event)
        case _:
            pass
    return body
