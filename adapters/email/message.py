"""A letter as the bytes that travel: headers nobody else can write into, a text part and an HTML part."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from email import policy
from email.charset import QP, Charset
from email.header import Header
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.utils import format_datetime, formataddr
from urllib.parse import quote

from adapters.email.addresses import Mailbox
from adapters.email.letter import Letter, notice
from adapters.email.rendering import as_html, as_text
from core.ids import NoticeId
from core.prompt import Prompt

NOTICE_HEADER = "X-Handraise-Notice"

# Gmail clips a longer HTML part and tells in small print only, so a longer notice is told in less room.
_MOST_HTML = 100_000
_ROOMS = (40_000, 20_000, 10_000, 5_000, 2_000, 500)
_LONGEST_NOTICE = 600
# Only the subject is folded, and that by ourselves: some mail programs do not find a Message-ID on a second line.
_WIRE = policy.compat32.clone(linesep="\r\n", max_line_length=998)
_LONGEST_SUBJECT_LINE = 75
_PRINTABLE = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) != "%")


@dataclass(frozen=True, slots=True)
class Parts:
    subject: str
    text: str
    html: str


@dataclass(frozen=True, slots=True)
class Headers:
    """What stands above a mail besides its subject."""

    sender: Mailbox
    to: str
    message_id: str
    notice: NoticeId
    at: datetime
    replies_to: str | None = None


def message_id_of(key: str, domain: str) -> str:
    """The same for every attempt at one mail, so that whoever gets two of them can tell."""
    return f"<{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()}@{domain}>"


def parts_of(letter: Letter) -> Parts:
    return Parts(letter.subject, as_text(letter), as_html(letter))


def notice_parts(prompt: Prompt, url: str, sentence: str | None = None) -> Parts:
    for room in _ROOMS:
        parts = parts_of(notice(prompt, url, sentence=sentence, room=room))
        if len(parts.html.encode()) <= _MOST_HTML:
            break
    return parts


def compose(parts: Parts, headers: Headers) -> bytes:
    mail = MIMEMultipart("alternative", policy=_WIRE)
    mail["From"] = formataddr((headers.sender.name, headers.sender.address))
    mail["To"] = headers.to
    mail["Subject"] = _subject(f"Re: {parts.subject}" if headers.replies_to else parts.subject)
    mail["Date"] = format_datetime(headers.at)
    mail["Message-ID"] = headers.message_id
    if headers.replies_to:
        mail["In-Reply-To"] = headers.replies_to
        mail["References"] = headers.replies_to
    mail["Auto-Submitted"] = "auto-generated"
    mail["X-Auto-Response-Suppress"] = "All"
    mail["List-Id"] = f"handraise <handraise.{headers.sender.domain}>"
    named = quote(headers.notice, safe=_PRINTABLE, errors="replace")
    # A longer line is not allowed in a mail; the Message-ID names the notice as well.
    if len(named) <= _LONGEST_NOTICE:
        mail[NOTICE_HEADER] = named
    mail.attach(_part(parts.text, "plain"))
    mail.attach(_part(parts.html, "html"))
    return mail.as_bytes(policy=_WIRE)


def _subject(text: str) -> str:
    # What looks like an encoded word is encoded as well: a mail program would decode it and show what is hidden in it.
    is_plain = text.isascii() and "=?" not in text
    header = Header(text, "us-ascii" if is_plain else "utf-8", header_name="Subject")
    return header.encode(maxlinelen=_LONGEST_SUBJECT_LINE)


def _part(text: str, kind: str) -> MIMEText:
    charset = Charset("utf-8")
    charset.body_encoding = QP  # 7-bit lines of bounded length, which every server passes on unchanged
    return MIMEText(text, kind, charset, policy=_WIRE)  # type: ignore[arg-type]  # a Charset is accepted, but not typed
