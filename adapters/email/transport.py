"""One attempt to hand one mail to the mail server, and what a failure means for the notice."""

import asyncio
import os
import socket
import ssl
from datetime import timedelta

from aiosmtplib import (
    SMTP,
    SMTPAuthenticationError,
    SMTPConnectError,
    SMTPConnectResponseError,
    SMTPDataError,
    SMTPException,
    SMTPRecipientsRefused,
    SMTPResponseException,
    SMTPSenderRefused,
)

from adapters.email.addresses import SmtpAddress, Tls
from core.ports import Deferred, NotDeliverable
from core.safetext import one_line

LIMIT = timedelta(seconds=15)

_UNREACHABLE = timedelta(seconds=30)
_BUSY = timedelta(seconds=60)
# What only an operator can mend takes longer, and asking a server again and again may lock an account.
_MISCONFIGURED = timedelta(minutes=5)
_KEPT_SECONDS = 5.0
_LONGEST_REPLY = 200
_WANTS_LOGIN = frozenset({530, 534, 535, 538})


class Mailer:
    """Keeps its connection for a moment, because notices come in bunches."""

    def __init__(
        self, smtp: SmtpAddress, *, timeout: timedelta = LIMIT, tls: ssl.SSLContext | None = None, domain: str
    ) -> None:
        self._smtp = smtp
        self._timeout = timeout
        self._tls = tls
        self._domain = domain
        self._lock = asyncio.Lock()
        self._kept: SMTP | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def send(self, sender: str, recipient: str, message: bytes) -> Deferred | NotDeliverable | None:
        """None when the server has taken the mail."""
        async with self._lock:
            try:
                async with asyncio.timeout(self._timeout.total_seconds()):
                    await self._attempt(sender, recipient, message)
            except (SMTPException, OSError) as error:
                return self._judge(error)
            return None

    async def close(self) -> None:
        async with self._lock:
            client = self._take()
            if client is None:
                return
            try:
                async with asyncio.timeout(self._timeout.total_seconds()):
                    await client.quit()
            except (SMTPException, OSError):
                pass  # It is going away anyhow.
            finally:
                client.close()

    async def _attempt(self, sender: str, recipient: str, message: bytes) -> None:
        client = await self._reused() or await self._connected()
        try:
            await client.sendmail(sender, [recipient], message)
        except BaseException:
            # In whatever state the conversation is now, nobody goes on with it.
            client.close()
            raise
        self._keep(client)

    async def _reused(self) -> SMTP | None:
        """The kept connection, if the server still listens there: nothing has been sent yet, so asking is safe."""
        client = self._take()
        if client is None:
            return None
        try:
            await client.rset()
        except (SMTPException, OSError):
            client.close()
            return None
        except BaseException:
            client.close()
            raise
        return client

    async def _connected(self) -> SMTP:
        client = SMTP(
            hostname=self._smtp.host,
            port=self._smtp.port,
            username=self._smtp.user,
            password=self._smtp.password,
            local_hostname=self._domain,
            timeout=self._timeout.total_seconds(),
            use_tls=self._smtp.tls is Tls.IMPLICIT,
            start_tls=self._smtp.tls is Tls.STARTTLS,
            tls_context=self._tls,
        )
        await client.connect()
        return client

    def _take(self) -> SMTP | None:
        if self._timer is not None:
            self._timer.cancel()
        client, self._kept, self._timer = self._kept, None, None
        return client

    def _keep(self, client: SMTP) -> None:
        self._kept = client
        self._timer = asyncio.get_running_loop().call_later(_KEPT_SECONDS, self._drop)

    def _drop(self) -> None:
        client = self._take()
        if client is not None:
            client.close()

    def _judge(self, error: Exception) -> Deferred | NotDeliverable:
        match error:
            case SMTPRecipientsRefused(recipients=[first, *_]):
                return _refusal(first, "The mail server does not take mail for this address")
            case SMTPDataError():
                return _refusal(error, "The mail server does not take this mail")
            case SMTPAuthenticationError():
                # Without its words: they are about a password.
                why = f"The mail server does not accept the user name and password of the SMTP URL ({error.code})."
                return Deferred(_MISCONFIGURED, why)
            case SMTPSenderRefused():
                said = _said(error, "The mail server does not take mail from our address; check the sender")
                return Deferred(_BUSY if _is_passing(error.code) else _MISCONFIGURED, said)
            case SMTPConnectResponseError():
                return Deferred(_BUSY, _said(error, "The mail server turns us away"))
            case SMTPResponseException():
                return Deferred(_MISCONFIGURED, _said(error, "The mail server refuses the conversation"))
            case TimeoutError():
                return Deferred(_UNREACHABLE, f"The mail server did not answer in {self._timeout.total_seconds():g} s.")
            case OSError():
                return _no_connection(error)
        return Deferred(_MISCONFIGURED, f"The mail server does not offer what the SMTP URL asks for: {_brief(error)}")


def _refusal(error: SMTPResponseException, what: str) -> Deferred | NotDeliverable:
    if error.code in _WANTS_LOGIN:
        return Deferred(_MISCONFIGURED, _said(error, "The mail server wants a login or encryption; check the SMTP URL"))
    if 500 <= error.code < 600:
        return NotDeliverable(_said(error, what))
    return Deferred(_BUSY, _said(error, f"{what} now"))


def _no_connection(error: OSError) -> Deferred:
    reason = error if isinstance(error, ssl.SSLError) else error.__cause__
    match reason:
        case ssl.SSLCertVerificationError():
            why = f"The certificate of the mail server is not accepted: {one_line(reason.verify_message)}."
            return Deferred(_MISCONFIGURED, why)
        case ssl.SSLError():
            return Deferred(_MISCONFIGURED, "The TLS handshake with the mail server failed; check scheme and port.")
        case socket.gaierror():
            return Deferred(_UNREACHABLE, "The name of the mail server could not be looked up.")
        case OSError(errno=int(number)) if number > 0:
            return Deferred(_UNREACHABLE, f"There is no connection to the mail server: {os.strerror(number)}.")
    if isinstance(error, SMTPConnectError):
        return Deferred(_UNREACHABLE, "There is no connection to the mail server.")
    return Deferred(_UNREACHABLE, "The mail server broke the connection off.")


def _is_passing(code: int) -> bool:
    return 400 <= code < 500


def _said(error: SMTPResponseException, what: str) -> str:
    return f"{what}: {error.code} {_brief(error)}"


def _brief(error: Exception) -> str:
    text = one_line(str(getattr(error, "message", "")))
    return text if len(text) <= _LONGEST_REPLY else text[: _LONGEST_REPLY - 1] + "…"
