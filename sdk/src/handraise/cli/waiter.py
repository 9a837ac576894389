"""The wait that `ask`, `approve` and `check` share."""

from datetime import timedelta

import typer

from handraise.cli.countdown import countdown
from handraise.cli.exit_codes import ExitCode, exit_code_for_failure
from handraise.cli.failures import Stop
from handraise.cli.output import print_json
from handraise.cli.telling import WaitTeller, check_command, say_interrupted
from handraise.client import Handraise
from handraise.errors import HandraiseError
from handraise.question import Question


def wait_for(client: Handraise, question: Question, *, limit: timedelta | None, wants_json: bool) -> Question:
    """The question as it stands when it settles or the wait is over. Whatever happens here, it stays open."""
    teller = WaitTeller(question)
    try:
        teller.saw(question)
        if not question.is_open or limit == timedelta(0):
            return question
        with countdown(lambda: teller.latest):
            return client.wait(question.id, limit=limit, watcher=teller).question
    except KeyboardInterrupt:
        say_interrupted(question)
        if wants_json:
            print_json(teller.latest.json)
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    except HandraiseError as failure:
        raise Stop(
            f"{failure}\n  The question may still be open; to wait for it again: {check_command(question)}",
            exit_code_for_failure(failure),
        ) from failure
