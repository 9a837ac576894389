"""Delivery reports: whose mail did not arrive and why, and that no report breaks the reader."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.email.bounces import Bounce, bounce_in
from core.safetext import visible
from tests.email.reports import DELAYED, EXCHANGE, EXIM, GMAIL, KEY, MESSAGE_ID, OURS, POSTFIX

TO = "dana@example.net"
FAILED = f"The mail to {TO} could not be delivered: "


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (POSTFIX, "550 5.1.1 <dana@example.net>: Recipient address rejected: User unknown"),
        (EXIM, "550-5.7.1 This mailbox is closed 550 5.7.1 for good"),
        (
            EXCHANGE,
            "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient dana@example.net not found by SMTP address lookup",
        ),
        (
            GMAIL,
            "550-5.1.1 The email account that you tried to reach does not exist. "
            "Please try 550 5.1.1 https://support.google.com/mail/?p=NoSuchUser",
        ),
    ],
    ids=["postfix", "exim", "exchange", "gmail"],
)
def test_a_failure_names_the_notice_the_recipient_and_the_reason(report: bytes, said: str) -> None:
    assert bounce_in(report) == Bounce(KEY, MESSAGE_ID, TO, True, FAILED + said)
    assert bounce_in(report.replace(b"\r\n", b"\n")) == Bounce(KEY, MESSAGE_ID, TO, True, FAILED + said)


def test_a_delay_is_not_a_failure() -> None:
    assert bounce_in(DELAYED) == Bounce(
        KEY,
        MESSAGE_ID,
        TO,
        False,
        f"The mail to {TO} is delayed; the mail server is still trying: "
        "connect to mail.example.net[192.0.2.1]:25: Connection timed out",
    )


def test_a_server_that_gave_up_after_days_has_failed() -> None:
    given_up = bounce_in(POSTFIX.replace(b"Status: 5.1.1", b"Status: 4.4.7"))

    assert given_up is not None
    assert given_up.is_permanent


def test_without_an_action_the_status_decides() -> None:
    failed = bounce_in(POSTFIX.replace(b"Action: failed\r\n", b""))
    delayed = bounce_in(POSTFIX.replace(b"Action: failed\r\n", b"").replace(b"Status: 5.1.1", b"Status: 4.2.2"))

    assert failed is not None
    assert delayed is not None
    assert (failed.is_permanent, delayed.is_permanent) == (True, False)


@pytest.mark.parametrize("action", [b"delivered", b"relayed", b"expanded", b"nonsense"])
def test_what_arrived_is_no_bounce(action: bytes) -> None:
    assert bounce_in(POSTFIX.replace(b"Action: failed", b"Action: " + action)) is None


def test_of_several_recipients_the_failed_one_counts() -> None:
    late = b"Final-Recipient: rfc822; eve@example.net\r\nAction: delayed\r\nStatus: 4.4.1\r\n\r\n"
    report = POSTFIX.replace(b"Final-Recipient: rfc822; dana", late + b"Final-Recipient: rfc822; dana")

    found = bounce_in(report)

    assert found is not None
    assert (found.recipient, found.is_permanent) == (TO, True)


def test_whom_we_wrote_to_counts_for_more_than_where_it_was_forwarded() -> None:
    found = bounce_in(POSTFIX.replace(b"Final-Recipient: rfc822; dana@example.net", b"Final-Recipient: rfc822; x@y.z"))

    assert found is not None
    assert found.recipient == TO


def test_without_our_header_the_message_id_is_left() -> None:
    bare = EXCHANGE.partition(b"Content-Type: message/rfc822")[0] + b"--d5dd1c8b-8e1c-4f0a-9d5c-0e0a1f0c4f22--\r\n"
    found = bounce_in(bare)

    assert found is not None
    assert (found.notice, found.message_id) == (None, MESSAGE_ID)


def test_a_report_in_utf8_is_read_as_well() -> None:
    report = POSTFIX.replace(b"message/delivery-status", b"message/global-delivery-status").replace(
        b"text/rfc822-headers", b"message/global-headers"
    )

    assert bounce_in(report) == bounce_in(POSTFIX)


def test_other_mails_are_no_bounces() -> None:
    assert bounce_in(OURS.encode()) is None
    assert bounce_in(b"") is None
    assert bounce_in(b"Subject: out of office\r\n\r\nI am away.") is None
    assert bounce_in(POSTFIX.replace(b"report-type=delivery-status", b"report-type=disposition-notification")) is None
    assert bounce_in(b"Subject: Fwd\r\nContent-Type: message/rfc822\r\n\r\n" + POSTFIX) is None


def test_a_message_id_that_is_not_ours_is_not_taken() -> None:
    found = bounce_in(POSTFIX.replace(MESSAGE_ID.encode(), b"<someone@else.example>"))

    assert found is not None
    assert found.message_id is None


def test_a_report_above_the_limit_is_not_read() -> None:
    assert bounce_in(POSTFIX + b"x" * 1_000_000) is None


def test_what_a_report_says_is_made_visible_and_short() -> None:
    found = bounce_in(POSTFIX.replace(b"User unknown", "\u202e\x1b[2J".encode() + b"z" * 5_000))

    assert found is not None
    assert visible(found.sentence) == found.sentence
    assert len(found.sentence) < 400


@given(st.binary(max_size=2_000))
@settings(max_examples=200, deadline=None)
def test_noise_is_no_bounce(raw: bytes) -> None:
    assert bounce_in(raw) is None


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_a_damaged_report_never_raises(data: st.DataObject) -> None:
    report = bytearray(data.draw(st.sampled_from([POSTFIX, EXIM, EXCHANGE, GMAIL])))
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(report) - 1))
        report[at : at + data.draw(st.integers(0, 80))] = data.draw(st.binary(max_size=20))

    found = bounce_in(bytes(report))

    assert found is None or visible(found.sentence) == found.sentence


@pytest.mark.parametrize(
    "raw",
    [
        b"".join(b"Content-Type: multipart/report; boundary=b%d\r\n\r\n--b%d\r\n" % (n, n) for n in range(15_000)),
        b"Content-Type: message/rfc822\r\n\r\n" * 30_000,
        b"Content-Type: multipart/report; boundary=b\r\n\r\n" + b"--b\r\n\r\n" * 120_000,
        b"Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n"
        + b"Action: failed\r\n\r\n" * 50_000,
        b"Content-Type: multipart/report; " + b'a="' * 300_000,
        b"A: b\r\n" * 160_000,
        b"Content-Type: multipart/report; report-type*0*=x''%ff; report-type*1=y; boundary=b\r\n\r\n--b\r\n\r\n--b--",
    ],
    ids=["nested reports", "nested mails", "many parts", "many recipients", "parameters", "headers", "encoded"],
)
def test_a_mail_made_to_hurt_is_read_soon_and_does_not_raise(raw: bytes) -> None:
    began = time.perf_counter()

    bounce_in(raw)

    assert time.perf_counter() - began < 10
