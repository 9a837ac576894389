"""A real SMTP server on the loopback that takes, refuses, drops or holds what it is told to."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

USER, PASSWORD = "bot@example.com", "s3cret/with:odd@signs"


@dataclass
class Office:
    """The server's handler, and what it has seen."""

    at_sender: str | None = None
    at_recipient: str | None = None
    at_data: str | None = None
    drops: bool = False
    hangs: bool = False
    port: int = 0
    raw: list[bytes] = field(default_factory=list)
    senders: list[str] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    logins: list[str] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    connections: list[asyncio.BaseTransport] = field(default_factory=list)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def mails(self) -> list[EmailMessage]:
        parsed = [message_from_bytes(raw, policy=policy.default) for raw in self.raw]
        return [mail for mail in parsed if isinstance(mail, EmailMessage)]

    def only_mail(self) -> EmailMessage:
        (only,) = self.mails
        return only

    def hang_up(self) -> None:
        for transport in self.connections:
            transport.close()

    async def handle_MAIL(  # noqa: N802  # the name is aiosmtpd's
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.at_sender is not None:
            return self.at_sender
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.hangs:
            await self.released.wait()
        if self.drops:
            self.hang_up()
        if self.at_recipient is not None:
            return self.at_recipient
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if self.at_data is not None:
            return self.at_data
        assert isinstance(envelope.content, bytes)
        self.raw.append(envelope.content)
        self.senders.append(envelope.mail_from or "")
        self.recipients += envelope.rcpt_tos
        self.encrypted.append(session.ssl is not None)
        return "250 taken"

    def authenticate(self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any) -> AuthResult:
        assert isinstance(data, LoginPassword)
        self.logins.append(mechanism)
        return AuthResult(success=(data.login, data.password) == (USER.encode(), PASSWORD.encode()), handled=False)


class _Listening(SMTP):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(self.event_handler, Office)
        self.event_handler.connections.append(transport)
        super().connection_made(transport)


@asynccontextmanager
async def opened_office(
    office: Office | None = None, *, tls: ssl.SSLContext | None = None, implicit: bool = False, login: bool = False
) -> AsyncIterator[Office]:
    handler = office if office is not None else Office()
    loop = asyncio.get_running_loop()

    def serve() -> SMTP:
        return _Listening(
            handler,
            loop=loop,
            hostname="mail.example.com",
            enable_SMTPUTF8=True,
            tls_context=None if implicit else tls,
            require_starttls=tls is not None and not implicit,
            # Where TLS comes first, aiosmtpd does not know of it and would not let anybody log in.
            auth_required=login and not implicit,
            auth_require_tls=not implicit,
            authenticator=handler.authenticate if login else None,
        )

    server = await loop.create_server(serve, "127.0.0.1", 0, ssl=tls if implicit else None)
    handler.port = server.sockets[0].getsockname()[1]
    try:
        yield handler
    finally:
        handler.released.set()
        server.close()
        handler.hang_up()
        await asyncio.sleep(0)
