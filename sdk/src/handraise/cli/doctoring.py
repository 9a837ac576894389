"""`handraise doctor`: whether this machine can ask and be answered, and what to do where it cannot."""

from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version as installed_version

import typer

from handraise.cli import options as shared
from handraise.cli.diagnosis import Finding, examine
from handraise.cli.exit_codes import ExitCode
from handraise.cli.output import print_json, print_line
from handraise.cli.session import Session, session_in
from handraise.client import Handraise
from handraise.credentials import CredentialsError
from handraise.safe_text import one_line

_SUBJECT_WIDTH = 10


def doctor(context: typer.Context, json: shared.JsonOption = False) -> None:
    """Find out why asking does not work, and what to do.

    Looks at the address, the keys, the server and the clocks; a line with PROBLEM says what to do about it.
    Exit codes: 0 all is well, 1 something is not.
    """
    session = session_in(context, wants_json=json)
    findings = []
    for finding in _findings(session):
        findings.append(finding)
        if not json:
            print_line(_line(finding))
    is_well = all(finding.advice is None for finding in findings)
    if json:
        told = [{"subject": each.subject, "what": each.what, "advice": each.advice} for each in findings]
        print_json({"isWell": is_well, "findings": told})
    raise typer.Exit(ExitCode.DONE if is_well else ExitCode.PROBLEMS_FOUND)


def _findings(session: Session) -> Iterator[Finding]:
    try:
        credentials = session.credentials
    except CredentialsError as failure:
        yield Finding("keys", "none that can be used", str(failure))
        return
    yield from examine(
        credentials,
        lambda key: Handraise(key, base_url=credentials.url, timeout=10.0),
        own_version=installed_version("handraise"),
        now=lambda: datetime.now(UTC),
    )


def _line(finding: Finding) -> str:
    verdict = "ok     " if finding.advice is None else "PROBLEM"
    what = f"{verdict}  {finding.subject:<{_SUBJECT_WIDTH}}  {one_line(finding.what)}"
    return what if finding.advice is None else f"{what}\n         -> {one_line(finding.advice)}"
