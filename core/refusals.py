"""Why something is refused: a stable word for programs, a sentence for people. Refusals are values, not errors."""

from dataclasses import dataclass
from enum import StrEnum


class Reason(StrEnum):
    # about a question that exists
    QUESTION_NOT_FOUND = "question_not_found"
    ALREADY_ANSWERED = "question_already_answered"
    EXPIRED = "question_expired"
    WITHDRAWN = "question_withdrawn"
    INVALID_ANSWER = "question_invalid_answer"
    CONFLICT_OPEN = "question_conflict_open"
    NOT_A_RESPONDER = "not_a_responder"
    NOT_ALLOWED = "not_allowed"
    TOO_MANY_COMMENTS = "too_many_comments"
    TOO_SOON = "too_soon"
    SNOOZE_OUT_OF_RANGE = "snooze_out_of_range"
    NOBODY_CALLED_THAT = "nobody_called_that"
    # about jobs
    JOB_ENDED = "job_ended"
    JOB_NOT_FOUND = "job_not_found"
    JOB_STATUS_NOT_SETTABLE = "job_status_not_settable"
    # about what was asked
    NO_RESPONDER = "no_responder"
    RECIPIENT_UNKNOWN = "recipient_unknown"
    # about the policy
    POLICY_INVALID = "policy_invalid"
    KIND_UNKNOWN = "kind_unknown"
    SHAPE_CONFLICT = "shape_conflict"
    OPTIONS_MISSING = "options_missing"
    OPTION_DUPLICATE = "option_duplicate"
    DEFAULT_REQUIRED = "default_required"
    DEFAULT_FORBIDDEN = "default_forbidden"
    DEFAULT_INVALID = "default_invalid"
    TIME_LIMIT_OUT_OF_RANGE = "time_limit_out_of_range"
    SCHEMA_INVALID = "schema_invalid"
    TEXT_EMPTY = "text_empty"
    TEXT_TOO_LONG = "text_too_long"


@dataclass(frozen=True, slots=True)
class Unacceptable:
    """What was asked cannot be a question: which part, and what to do about it."""

    reason: Reason
    sentence: str
    pointer: str = ""
