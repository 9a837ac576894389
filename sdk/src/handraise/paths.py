"""Names that become part of a request: pieces of a path and values of headers, which they can neither leave nor end."""

from urllib.parse import quote

from handraise.errors import InvalidArgument


def question_path(question_id: str) -> str:
    return f"/api/questions/{segment(question_id)}"


def job_path(job: str) -> str:
    return f"/api/jobs/{segment(job)}"


def webhook_path(webhook_id: str) -> str:
    return f"/api/webhooks/{segment(webhook_id)}"


def segment(name: str) -> str:
    try:
        quoted = quote(name, safe="")
    except UnicodeEncodeError:
        quoted = ""
    if quoted in ("", ".", ".."):
        raise InvalidArgument(f"{name!r} cannot be the id of anything.")
    return quoted


def idempotency_header(key: str) -> str:
    if not key.isascii() or not key.isprintable():
        raise InvalidArgument(f"{key!r} cannot be an idempotency key: use printable ASCII.")
    return key
