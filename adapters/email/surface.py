"""Questions by mail. A mail cannot be changed once it is sent, so the end of a question is one more mail."""

import json
import ssl
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import Self

from adapters.email.addresses import Mailbox, SmtpAddress, mail_address
from adapters.email.letter import SETTLED, closing
from adapters.email.message import Headers, Parts, compose, message_id_of, notice_parts, parts_of
from adapters.email.transport import LIMIT, Mailer
from core.ids import NoticeId, QuestionId
from core.places import Target
from core.ports import Deferred, Delivery, MessageRef, NotDeliverable, Posted, notice_id
from core.prompt import Prompt

NAME = "email"

_REMEMBERED = 1000


def _machine_clock() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class _Sent:
    """What a ref remembers of a mail: who has it, its Message-ID, and whether they know how it ended."""

    to: str
    message_id: str
    is_closed: bool = False

    @property
    def ref(self) -> MessageRef:
        return MessageRef(json.dumps({"to": self.to, "id": self.message_id, "closed": self.is_closed}))


def _sent_of(ref: MessageRef) -> _Sent | None:
    try:
        known = json.loads(ref.value)
        to, message_id = mail_address(known["to"]), known["id"]
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    if to is None or not isinstance(message_id, str):
        return None
    return _Sent(to, message_id, known.get("closed") is True)


class EmailSurface:
    """Its targets' addresses are mail addresses."""

    def __init__(
        self,
        smtp: SmtpAddress,
        sender: Mailbox,
        base_url: str,
        *,
        timeout: timedelta = LIMIT,
        tls: ssl.SSLContext | None = None,
        clock: Callable[[], datetime] = _machine_clock,
    ) -> None:
        self._sender = sender
        self._base_url = base_url.rstrip("/")
        self._clock = clock
        self._mailer = Mailer(smtp, timeout=timeout, tls=tls, domain=sender.domain)
        #: Message-IDs that the server took from this process; a repeated call shows nothing twice.
        self._taken: OrderedDict[str, None] = OrderedDict()

    @property
    def name(self) -> str:
        return NAME

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._mailer.close()

    async def post(self, target: Target, prompt: Prompt, *, key: NoticeId) -> Delivery:
        to = mail_address(target.address)
        if to is None:
            return _no_address()
        sent = _Sent(to, self._id(key))
        if prompt.tone in SETTLED:
            # The notice may have gone out without our knowing. If it has not, one short mail does no harm.
            return await self._close(sent, prompt)
        trouble = await self._send(sent, notice_parts(prompt, self._page(prompt.question_id)), key)
        return trouble or Posted(sent.ref)

    async def revise(self, ref: MessageRef, prompt: Prompt) -> Delivery:
        """Nothing while the question is open: a mail for each change would be noise, and the page is up to date."""
        sent = _sent_of(ref)
        if sent is None:
            return NotDeliverable("There is no such mail.")
        if sent.is_closed or prompt.tone not in SETTLED:
            return Posted(ref)
        return await self._close(sent, prompt)

    async def nudge(
        self, target: Target, ref: MessageRef | None, prompt: Prompt, sentence: str, *, key: NoticeId
    ) -> Delivery:
        """The notice once more with a sentence on top, as a reply to the mail of `ref`. The ref of the thread stays."""
        to = mail_address(target.address)
        if to is None:
            return _no_address()
        root = _sent_of(ref) if ref is not None else None
        if prompt.tone in SETTLED:
            settled = NotDeliverable("The question was settled before the reminder went out.")
            return Posted(ref) if ref is not None and root is not None else settled
        mail = _Sent(to, self._id(key))
        parts = notice_parts(prompt, self._page(prompt.question_id), sentence)
        trouble = await self._send(mail, parts, key, replies_to=root.message_id if root is not None else None)
        if trouble is not None:
            return trouble
        # Somebody new is told of the end in reply to what they have, which is this mail.
        return Posted(root.ref if root is not None and root.to == to else mail.ref)

    async def _close(self, sent: _Sent, prompt: Prompt) -> Delivery:
        last = _Sent(sent.to, self._id(f"{sent.message_id} closed"))
        parts = parts_of(closing(prompt, self._page(prompt.question_id)))
        key = notice_id(prompt.question_id, Target(NAME, sent.to))
        trouble = await self._send(last, parts, key, replies_to=sent.message_id)
        return trouble or Posted(replace(sent, is_closed=True).ref)

    async def _send(
        self, mail: _Sent, parts: Parts, key: NoticeId, *, replies_to: str | None = None
    ) -> Deferred | NotDeliverable | None:
        if mail.message_id in self._taken:
            return None
        headers = Headers(self._sender, mail.to, mail.message_id, key, self._clock(), replies_to)
        trouble = await self._mailer.send(self._sender.address, mail.to, compose(parts, headers))
        if trouble is None:
            self._taken[mail.message_id] = None
            while len(self._taken) > _REMEMBERED:
                self._taken.popitem(last=False)
        return trouble

    def _id(self, key: str) -> str:
        return message_id_of(key, self._sender.domain)

    def _page(self, question_id: QuestionId) -> str:
        return f"{self._base_url}/q/{question_id}"


def _no_address() -> NotDeliverable:
    return NotDeliverable("This is not a mail address that mail can be sent to.")
