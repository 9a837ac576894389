"""Delivery reports as Postfix, Exim, Exchange and Gmail write them, about one mail of ours."""

import re

from adapters.email.addresses import Mailbox
from adapters.email.message import Headers, compose, message_id_of, notice_parts
from core.ids import NoticeId
from tests.email.samples import PAGE, noon, open_prompt

KEY = NoticeId("q_00000000000000000000000001:email:dana@example.net")
MESSAGE_ID = message_id_of(KEY, "example.com")
OURS = compose(
    notice_parts(open_prompt(), PAGE),
    Headers(Mailbox("bot@example.com", "Handraise"), "dana@example.net", MESSAGE_ID, KEY, noon()),
).decode()
HEADERS = OURS.partition("\r\n\r\n")[0]

_POSTFIX = """\
Return-Path: <>
Received: by mx.example.com (Postfix) id 4Zx1; Sun,  1 Mar 2026 12:00:05 +0000 (UTC)
Date: Sun,  1 Mar 2026 12:00:05 +0000 (UTC)
From: MAILER-DAEMON@mx.example.com (Mail Delivery System)
Subject: Undelivered Mail Returned to Sender
To: bot@example.com
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
\tboundary="4Zx0.1772366405/mx.example.com"
Content-Transfer-Encoding: 8bit
Message-Id: <20260301120005.4Zx1@mx.example.com>

This is a MIME-encapsulated message.

--4Zx0.1772366405/mx.example.com
Content-Description: Notification
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

This is the mail system at host mx.example.com.

I'm sorry to have to inform you that your message could not
be delivered to one or more recipients.

<dana@example.net>: host mail.example.net[192.0.2.1] said: 550 5.1.1
    <dana@example.net>: Recipient address rejected: User unknown (in reply to RCPT TO command)

--4Zx0.1772366405/mx.example.com
Content-Description: Delivery report
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.com
X-Postfix-Queue-ID: 4Zx0
X-Postfix-Sender: rfc822; bot@example.com
Arrival-Date: Sun,  1 Mar 2026 12:00:01 +0000 (UTC)

Final-Recipient: rfc822; dana@example.net
Original-Recipient: rfc822;dana@example.net
Action: failed
Status: 5.1.1
Remote-MTA: dns; mail.example.net
Diagnostic-Code: smtp; 550 5.1.1 <dana@example.net>: Recipient address
    rejected: User unknown

--4Zx0.1772366405/mx.example.com
Content-Description: Undelivered Message Headers
Content-Type: text/rfc822-headers
Content-Transfer-Encoding: 8bit

Return-Path: <bot@example.com>
{headers}

--4Zx0.1772366405/mx.example.com--
"""

_EXIM = """\
Return-path: <>
X-Failed-Recipients: dana@example.net
Auto-Submitted: auto-replied
From: Mail Delivery System <Mailer-Daemon@exim.example.com>
To: bot@example.com
References: {message_id}
Content-Type: multipart/report; report-type=delivery-status; boundary=1772366405-eximdsn-1804289383
MIME-Version: 1.0
Subject: Mail delivery failed: returning message to sender
Message-Id: <E1tqABC-0001Xy-2z@exim.example.com>

--1772366405-eximdsn-1804289383
Content-type: text/plain; charset=us-ascii

This message was created automatically by mail delivery software.
A message that you sent could not be delivered to one or more of its recipients.

--1772366405-eximdsn-1804289383
Content-type: message/delivery-status

Reporting-MTA: dns; exim.example.com

Action: failed
Final-Recipient: rfc822;dana@example.net
Status: 5.0.0
Remote-MTA: dns; mail.example.net
Diagnostic-Code: smtp; 550-5.7.1 This mailbox is closed
 550 5.7.1 for good

--1772366405-eximdsn-1804289383
Content-type: message/rfc822

{mail}
--1772366405-eximdsn-1804289383--
"""

_EXCHANGE = """\
From: <postmaster@example.net>
To: <bot@example.com>
Date: Sun, 1 Mar 2026 12:00:09 +0000
Content-Type: multipart/report; report-type=delivery-status;
\tboundary="d5dd1c8b-8e1c-4f0a-9d5c-0e0a1f0c4f22"
Content-Language: en-US
Message-ID: <a1b2c3@AM0PR01MB0001.eurprd01.prod.exchangelabs.com>
In-Reply-To: {message_id}
References: {message_id}
Subject: Undeliverable: builder asks: Which database?
Auto-Submitted: auto-replied
MIME-Version: 1.0

--d5dd1c8b-8e1c-4f0a-9d5c-0e0a1f0c4f22
Content-Type: multipart/alternative; differences=Content-Type;
\tboundary="8d9a0f30-1f43-4c0b-8f6e-5ad31f4a0001"

--8d9a0f30-1f43-4c0b-8f6e-5ad31f4a0001
Content-Type: text/plain; charset="us-ascii"
Content-Transfer-Encoding: quoted-printable

Your message to dana@example.net couldn't be delivered.

--8d9a0f30-1f43-4c0b-8f6e-5ad31f4a0001
Content-Type: text/html; charset="us-ascii"
Content-Transfer-Encoding: quoted-printable

<html><body><p>Your message couldn't be delivered.</p></body></html>

--8d9a0f30-1f43-4c0b-8f6e-5ad31f4a0001--

--d5dd1c8b-8e1c-4f0a-9d5c-0e0a1f0c4f22
Content-Type: message/delivery-status

Reporting-MTA: dns;AM0PR01MB0001.eurprd01.prod.exchangelabs.com
Received-From-MTA: dns;mx.example.com
Arrival-Date: Sun, 1 Mar 2026 12:00:07 +0000

Final-Recipient: rfc822;dana@example.net
Action: failed
Status: 5.1.10
Diagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient dana@example.net not found by SMTP
 address lookup
X-Display-Name: dana@example.net

--d5dd1c8b-8e1c-4f0a-9d5c-0e0a1f0c4f22
Content-Type: message/rfc822

{mail}
--d5dd1c8b-8e1c-4f0a-9d5c-0e0a1f0c4f22--
"""

_GMAIL = """\
From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>
To: bot@example.com
Auto-Submitted: auto-replied
Subject: Delivery Status Notification (Failure)
References: {message_id}
In-Reply-To: {message_id}
X-Failed-Recipients: dana@example.net
Message-ID: <67c2f0a5.050a0220.1d3a5b.1234.GMR@mx.google.com>
Date: Sun, 01 Mar 2026 04:00:05 -0800 (PST)
MIME-Version: 1.0
Content-Type: multipart/report; boundary="000000000000abcdef062f4a1b2c"; report-type=delivery-status

--000000000000abcdef062f4a1b2c
Content-Type: multipart/related; boundary="000000000000abcdf0062f4a1b2d"

--000000000000abcdf0062f4a1b2d
Content-Type: multipart/alternative; boundary="000000000000abcdf1062f4a1b2e"

--000000000000abcdf1062f4a1b2e
Content-Type: text/plain; charset="UTF-8"

** Address not found **

--000000000000abcdf1062f4a1b2e
Content-Type: text/html; charset="UTF-8"

<html><body><h2>Address not found</h2></body></html>
--000000000000abcdf1062f4a1b2e--
--000000000000abcdf0062f4a1b2d
Content-Type: image/png; name="icon.png"
Content-Disposition: attachment; filename="icon.png"
Content-Transfer-Encoding: base64
Content-ID: <icon.png>

iVBORw0KGgo=
--000000000000abcdf0062f4a1b2d--
--000000000000abcdef062f4a1b2c
Content-Type: message/delivery-status

Reporting-MTA: dns; googlemail.com
Arrival-Date: Sun, 01 Mar 2026 04:00:04 -0800 (PST)
X-Original-Message-ID: {message_id}

Final-Recipient: rfc822; dana@example.net
Action: failed
Status: 5.1.1
Remote-MTA: dns; gmail-smtp-in.l.google.com. (192.0.2.27, the server for the domain example.net.)
Diagnostic-Code: smtp; 550-5.1.1 The email account that you tried to reach does not exist. Please try
 550 5.1.1 https://support.google.com/mail/?p=NoSuchUser
Last-Attempt-Date: Sun, 01 Mar 2026 04:00:05 -0800 (PST)

--000000000000abcdef062f4a1b2c
Content-Type: message/rfc822

{mail}
--000000000000abcdef062f4a1b2c--
"""


def _report(form: str) -> bytes:
    filled = form.replace("{headers}", HEADERS).replace("{mail}", OURS).replace("{message_id}", MESSAGE_ID)
    return re.sub(r"\r?\n", "\r\n", filled).encode()


POSTFIX, EXIM, EXCHANGE, GMAIL = (_report(form) for form in (_POSTFIX, _EXIM, _EXCHANGE, _GMAIL))
DELAYED = POSTFIX.replace(b"Action: failed\r\nStatus: 5.1.1", b"Action: delayed\r\nStatus: 4.4.1").replace(
    b"smtp; 550 5.1.1 <dana@example.net>: Recipient address\r\n    rejected: User unknown",
    b"X-Postfix; connect to mail.example.net[192.0.2.1]:25: Connection timed out\r\nWill-Retry-Until: Fri,  6 Mar 2026",
)
