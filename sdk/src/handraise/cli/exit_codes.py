"""Exit codes: part of the product's promise, so all of them live here."""

from enum import IntEnum

from handraise.errors import (
    AuthError,
    HandraiseError,
    PassingFailure,
    UnexpectedReply,
    Unreachable,
)
from handraise.question import Standing


class ExitCode(IntEnum):
    DONE = 0
    REJECTED = 1
    PROBLEMS_FOUND = 1  # another word for the same code: `doctor` approves nothing
    USAGE = 2
    WITHDRAWN = 3
    EXPIRED = 4
    UNREACHABLE = 69
    STILL_OPEN = 75
    NOT_AUTHORISED = 77
    INTERRUPTED = 130


_BY_STANDING = {
    Standing.OPEN: ExitCode.STILL_OPEN,
    Standing.ANSWERED: ExitCode.DONE,
    Standing.APPROVED: ExitCode.DONE,
    Standing.DEFAULTED: ExitCode.DONE,
    Standing.REJECTED: ExitCode.REJECTED,
    Standing.WITHDRAWN: ExitCode.WITHDRAWN,
    Standing.EXPIRED: ExitCode.EXPIRED,
}


# What trying later, or the right address, may cure.
_SERVER_AT_FAULT = (Unreachable, PassingFailure, UnexpectedReply)


def exit_code_for(standing: Standing) -> ExitCode:
    return _BY_STANDING[standing]


def exit_code_for_lost(standing: Standing) -> ExitCode:
    """For whoever came too late: 3 and 4 say that it was withdrawn or out of time, 1 that somebody else was first."""
    if standing is Standing.DEFAULTED:
        return ExitCode.EXPIRED
    return _BY_STANDING[standing] if standing in (Standing.WITHDRAWN, Standing.EXPIRED) else ExitCode.REJECTED


def exit_code_for_failure(failure: HandraiseError) -> ExitCode:
    """A refused key is 77, a server that does not answer as one 69, and everything on this side 2."""
    if isinstance(failure, AuthError):
        return ExitCode.NOT_AUTHORISED
    return ExitCode.UNREACHABLE if isinstance(failure, _SERVER_AT_FAULT) else ExitCode.USAGE
