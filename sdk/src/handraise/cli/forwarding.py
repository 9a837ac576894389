"""`handraise listen --forward URL`: webhooks on the developer's own machine, from the event stream."""

import base64
import json
import secrets
import time
from collections.abc import Callable
from typing import Annotated

import httpx2
import typer

from handraise.cli.failures import usage
from handraise.cli.output import print_line, say
from handraise.cli.session import session_in
from handraise.cli.streaming import (
    AfterOption,
    Bookmark,
    JobOfEventsOption,
    StreamTeller,
    of_job,
    until_stopped,
)
from handraise.credentials import CredentialsError, checked_url
from handraise.event import RESYNC, Event
from handraise.safe_text import one_line
from handraise.webhooks import SECRET_PREFIX, InvalidWebhook, sign

ATTEMPTS = 4
FIRST_PAUSE = 0.25
ANSWER_TIMEOUT = 15.0

_SECRET_BYTES = 32


def listen(
    context: typer.Context,
    forward: Annotated[str, typer.Option("--forward", metavar="URL", help="Where your receiver listens.")],
    secret: Annotated[
        str | None, typer.Option("--secret", metavar="whsec_…", help="Sign with this; else with a new one.")
    ] = None,
    job: JobOfEventsOption = None,
    after: AfterOption = None,
) -> None:
    """Forward each event to a URL as a signed webhook.

    For developing a receiver: the messages are made here from the event stream, in order, so the URL may be one that
    the server could never reach. A receiver that does not answer with success gets a message up to 4 times.
    """
    session = session_in(context, wants_json=False)
    chosen = secret or new_secret()
    _refuse_unusable(forward, chosen)
    way_back = ("handraise", "listen", "--forward", forward, "--secret", chosen, *of_job(job))
    bookmark = Bookmark(way_back, position=after)
    say(f"signing with {chosen}")
    say(f"forwarding events to {one_line(forward)} until Ctrl-C")
    # No proxy and no redirect: the receiver is near by, and what it answers is shown as it is.
    with httpx2.Client(trust_env=False, timeout=ANSWER_TIMEOUT) as http, until_stopped(bookmark, "stopped forwarding"):
        forwarder = Forwarder(http, forward, chosen)
        for event in session.agent.events(after=after, job=job, watcher=StreamTeller()):
            if event.type != RESYNC:
                forwarder.forward(event)
            bookmark.position = event.id


class Forwarder:
    """Brings one event after the other to the receiver; the next one waits until this one is done or given up."""

    def __init__(self, http: httpx2.Client, url: str, secret: str, pause: Callable[[float], None] = time.sleep) -> None:
        self._http, self._url, self._secret, self._pause = http, url, secret, pause

    def forward(self, event: Event) -> bool:
        """Whether the receiver took it."""
        body = json.dumps(event.json, ensure_ascii=False).encode("utf-8", "replace")
        message_id = f"evt_{event.id}"
        subject = event.question.id if event.question else event.job_id or ""
        what = one_line(f"{message_id} {event.type} {subject}")
        for attempt in range(1, ATTEMPTS + 1):
            was_taken, answer = self._attempt(message_id, body)
            print_line(f"{what} -> {answer}{_verdict(was_taken, attempt)}")
            if was_taken:
                return True
            if attempt < ATTEMPTS:
                self._pause(FIRST_PAUSE * 2 ** (attempt - 1))
        return False

    def _attempt(self, message_id: str, body: bytes) -> tuple[bool, str]:
        headers = sign(body, message_id=message_id, at=int(time.time()), secret=self._secret)
        headers["Content-Type"] = "application/json"
        try:
            reply = self._http.post(self._url, content=body, headers=headers)
        except httpx2.RequestError as failure:
            return False, f"no answer ({one_line(str(failure) or type(failure).__name__, 100)})"
        return reply.is_success, str(reply.status_code)


def new_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()


def _verdict(was_taken: bool, attempt: int) -> str:
    if was_taken:
        return ""
    return ", trying again" if attempt < ATTEMPTS else ", given up"


def _refuse_unusable(url: str, secret: str) -> None:
    try:
        checked_url(url)
        if not secret.startswith(SECRET_PREFIX):
            raise InvalidWebhook("without its prefix almost any word would pass for one")
        sign(b"", message_id="try", at=0, secret=secret)
    except CredentialsError:
        raise usage(f"--forward: {url!r} is not a URL: write it as http://HOST:PORT/PATH.") from None
    except InvalidWebhook:
        raise usage("--secret: a webhook secret is whsec_ and base64.") from None
