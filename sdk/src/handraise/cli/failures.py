"""How a command that failed says so: a sentence on stderr, a problem document on stdout under --json, an exit code."""

from handraise.cli.exit_codes import ExitCode, exit_code_for_failure
from handraise.cli.output import print_json, say
from handraise.cli.session import Session
from handraise.errors import APIError, AuthError, HandraiseError, InvalidArgument, PassingFailure, Unreachable
from handraise.wire import Json

_CODES = {
    ExitCode.UNREACHABLE: "server_unreachable",
    ExitCode.NOT_AUTHORISED: "not_authorised",
    ExitCode.INTERRUPTED: "interrupted",
}


class Stop(HandraiseError):
    """Ends the command with this exit code; `document` is what --json prints instead of a result."""

    def __init__(self, message: str, exit_code: ExitCode, document: Json | None = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.document = document


def in_doubt(failure: Unreachable | PassingFailure, what_to_know: str) -> HandraiseError:
    """The failure, with what to know where the request may have taken effect all the same."""
    if not failure.may_have_arrived:
        return failure
    document = _document(failure, ExitCode.UNREACHABLE)
    return Stop(f"{failure}\n  {what_to_know}", ExitCode.UNREACHABLE, document)


def report(failure: HandraiseError, session: Session) -> ExitCode:
    say(f"handraise: {_sentence(failure, session)}")
    exit_code = failure.exit_code if isinstance(failure, Stop) else exit_code_for_failure(failure)
    if session.wants_json:
        print_json(_document(failure, exit_code))
    return exit_code


def usage(problem: ValueError | str) -> InvalidArgument:
    return InvalidArgument(str(problem))


def _sentence(failure: HandraiseError, session: Session) -> str:
    if not isinstance(failure, APIError):
        return str(failure)
    faults = [f"  {pointer}: {detail}" for pointer, detail in failure.errors if detail not in failure.detail]
    if isinstance(failure, AuthError):
        return f"not authorised with the key from {session.credentials.source}: {failure.detail}"
    return "\n".join([failure.detail, *faults])


def _document(failure: HandraiseError, exit_code: ExitCode) -> Json:
    """The server's own problem where there is one, else one of ours in the same form."""
    if isinstance(failure, APIError):
        return {"status": failure.status, "detail": failure.detail, **failure.problem}
    if isinstance(failure, Stop) and failure.document is not None:
        return failure.document
    return {
        "type": "about:blank",
        "title": exit_code.name.replace("_", " ").capitalize(),
        "code": _CODES.get(exit_code, "usage"),
        "detail": str(failure),
    }
