"""`handraise status`: how the server is, or what a job is doing and waiting for."""

from typing import Annotated

import typer

from handraise.cli import options as shared
from handraise.cli.exit_codes import ExitCode
from handraise.cli.output import print_json, print_line
from handraise.cli.session import Session, session_in
from handraise.question import Json
from handraise.safe_text import one_line

MOST_COUNTED = 1000
MOST_JOBS = 50


def status(
    context: typer.Context,
    job: Annotated[str | None, typer.Argument(metavar="JOB", help="A job's id; without it, the server.")] = None,
    json: shared.JsonOption = False,
) -> None:
    """Show a job and what it waits for, or the server, what is pending and its jobs."""
    session = session_in(context, wants_json=json)
    if job is None:
        _show_server(session)
        return
    found = session.person.job(job)
    if json:
        print_json(found)
        return
    for line in job_lines(found):
        print_line(line)


def _show_server(session: Session) -> None:
    is_ready, parts = session.person.readiness()
    pending = session.person.pending(limit=MOST_COUNTED)
    jobs = session.person.jobs(limit=MOST_JOBS)
    if session.wants_json:
        server = {"url": session.person.base_url, "isReady": is_ready, "parts": parts}
        print_json({"server": server, "pendingQuestions": len(pending["questions"]), "jobs": jobs["jobs"]})
    else:
        print_line(
            f"server   {session.person.base_url}  {'ready' if is_ready else 'not ready'}{_detail(parts, is_ready)}"
        )
        more = "or more " if pending["nextCursor"] else ""
        print_line(f"pending  {len(pending['questions'])} {more}question(s)")
        for found in jobs["jobs"]:
            print_line(f"job      {job_summary(found)}")
    if not is_ready:
        raise typer.Exit(ExitCode.UNREACHABLE)


def job_lines(job: Json) -> list[str]:
    lines = [f"job      {job_summary(job)}"]
    waiting = _human_input(job)
    if waiting.get("openQuestionId"):
        count = waiting.get("openQuestionCount")
        several = f" ({count} open)" if isinstance(count, int) and count > 1 else ""
        since = f" since {waiting['awaitingSince']}" if waiting.get("awaitingSince") else ""
        asker = f", asked by {waiting['requestedByRole']}" if waiting.get("requestedByRole") else ""
        lines.append(f"waits    for {waiting['openQuestionId']}{several}{since}{asker}")
    resumes_as = job.get("resumeStatus") or waiting.get("resumeStatus")
    if resumes_as:
        lines.append(f"resumes  as {resumes_as}")
    if job.get("onTimeout"):
        lines.append(f"timeout  {job['onTimeout']}s the job")
    return [one_line(line) for line in lines]


def job_summary(job: Json) -> str:
    blocked = f": {job['blockReason']}" if job.get("blockReason") else ""
    waiting = _human_input(job).get("openQuestionId")
    waits = f" (waits for {waiting})" if waiting else ""
    return one_line(f"{job.get('id')}  {job.get('status')}{blocked}{waits}")


def _human_input(job: Json) -> Json:
    found = job.get("humanInput")
    return found if isinstance(found, dict) else {}


def _detail(parts: Json, is_ready: bool) -> str:
    detail = parts.get("detail")
    return f": {one_line(str(detail))}" if detail and not is_ready else ""
