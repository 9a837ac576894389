"""`handraise status`: how the server is, or what a job is doing and waiting for."""

from typing import Annotated

import typer

from handraise.cli import options as shared
from handraise.cli.exit_codes import ExitCode
from handraise.cli.output import print_json, print_line
from handraise.cli.session import Session, session_in
from handraise.cli.telling import when
from handraise.job import Job
from handraise.safe_text import one_line
from handraise.wire import Json, text

MOST_COUNTED = 1000
MOST_JOBS = 50


def status(
    context: typer.Context,
    job: Annotated[str | None, typer.Argument(metavar="JOB", help="A job's id; without it, the server.")] = None,
    json: shared.JsonOption = False,
) -> None:
    """Show the server and its jobs, or one job."""
    session = session_in(context, wants_json=json)
    if job is None:
        _show_server(session)
        return
    found = session.as_asker_or_person(lambda client: client.job(job))
    if json:
        print_json(found.json)
        return
    for line in job_lines(found):
        print_line(line)


def _show_server(session: Session) -> None:
    url = session.person.base_url
    is_ready, parts = session.person.readiness()
    if not is_ready:
        if session.wants_json:
            print_json({"server": {"url": url, "isReady": False, "parts": parts}})
        else:
            print_line(f"server   {url}  not ready{_detail(parts)}")
        raise typer.Exit(ExitCode.UNREACHABLE)
    pending = session.person.pending(limit=MOST_COUNTED)
    jobs = session.person.jobs(limit=MOST_JOBS)
    if session.wants_json:
        server = {"url": url, "isReady": True, "parts": parts}
        found = [job.json for job in jobs.items]
        print_json({"server": server, "pendingQuestions": len(pending.items), "jobs": found})
        return
    print_line(f"server   {url}  ready")
    more = " or more" if pending.next_cursor else ""
    print_line(f"pending  {len(pending.items)}{more} question(s)")
    for job in jobs.items:
        print_line(f"job      {job_summary(job)}")


def job_lines(job: Job) -> list[str]:
    lines = [f"job      {job_summary(job)}"]
    if job.open_question_id:
        several = f" ({job.open_question_count} open)" if job.open_question_count > 1 else ""
        since = when(job.awaiting_since).replace(" at ", " since ")
        asker = f", asked by {job.requested_by_role}" if job.requested_by_role else ""
        lines.append("waits    " + one_line(f"for {job.open_question_id}{several}{since}{asker}"))
    if job.resume_status:
        lines.append(f"resumes  as {one_line(job.resume_status)}")
    if job.on_timeout:
        lines.append(f"expiry   {one_line(job.on_timeout)}s the job")
    return lines


def job_summary(job: Job) -> str:
    blocked = f": {job.block_reason}" if job.block_reason else ""
    waits = f" (waits for {job.open_question_id})" if job.open_question_id else ""
    return one_line(f"{job.id} {job.status}{blocked}{waits}")


def _detail(parts: Json) -> str:
    detail = text(parts, "detail")
    return f": {one_line(detail)}" if detail else ""
