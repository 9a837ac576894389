"""Our signatures in the eyes of others: the Standard Webhooks libraries of Python and of Node."""

import base64
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.webhooks.signing import new_secret, signature_headers
from tests.support.foreign import Message, verdict_of_python, verdicts_of_node

BODIES = [
    b'{"type":"question.answered","data":{"answer":"yes"}}',
    b"{}",
    '{"text":"Grüße ✋ 漢字 \U0001f64b"}'.encode(),
    b'{"a":"b.c.d"}\n',
    json.dumps({"long": "x" * 100_000}).encode(),
]


def now() -> int:
    return int(datetime.now(UTC).timestamp())


def signed(secret: str, count: int) -> list[Message]:
    return [
        (secret, signature_headers(f"msg_{number}", now() - number % 200, body, [secret]), body)
        for number in range(count)
        for body in [BODIES[number % len(BODIES)]]
    ]


def test_both_foreign_libraries_accept_what_we_sign(node_package: Path) -> None:
    messages = [message for _ in range(20) for message in signed(new_secret(), 25)]

    in_python, in_node = [verdict_of_python(each) for each in messages], verdicts_of_node(node_package, messages)

    assert in_python == in_node == ["accepted"] * 500


def test_while_a_secret_is_rotated_each_of_the_two_is_enough(node_package: Path) -> None:
    old, new, stranger = new_secret(), new_secret(), new_secret()
    headers = signature_headers("msg_1", now(), BODIES[0], [new, old])
    messages = [(secret, headers, BODIES[0]) for secret in (old, new, stranger)]

    in_python, in_node = [verdict_of_python(each) for each in messages], verdicts_of_node(node_package, messages)

    assert in_python == in_node == ["accepted", "accepted", "WebhookVerificationError"]


def test_both_foreign_libraries_refuse_what_was_changed(node_package: Path) -> None:
    secret = new_secret()
    headers = signature_headers("msg_1", now(), BODIES[0], [secret])
    stale = signature_headers("msg_1", now() - 3600, BODIES[0], [secret])
    messages = [
        (secret, headers, BODIES[0].replace(b"yes", b"no")),
        (secret, headers | {"webhook-id": "msg_2"}, BODIES[0]),
        (secret, headers | {"webhook-timestamp": str(now() + 1)}, BODIES[0]),
        (secret, stale, BODIES[0]),
    ]

    in_python, in_node = [verdict_of_python(each) for each in messages], verdicts_of_node(node_package, messages)

    assert in_python == in_node == ["WebhookVerificationError"] * 4


def test_the_headers_are_the_three_of_the_standard() -> None:
    """The vector of the Standard Webhooks specification."""
    headers = signature_headers(
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    )

    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_secrets_are_random_and_long() -> None:
    secrets = {new_secret() for _ in range(100)}

    assert len(secrets) == 100
    assert {len(base64.b64decode(secret.removeprefix("whsec_"))) for secret in secrets} == {32}


@pytest.mark.parametrize("message_id", ["", "a.b", "a b", "a\r\nx-evil: 1", "ä", "a" * 256])
def test_an_id_that_could_be_read_differently_is_not_signed(message_id: str) -> None:
    with pytest.raises(ValueError, match="A message id has"):
        signature_headers(message_id, 1, b"{}", [new_secret()])


@pytest.mark.parametrize(
    "secret", ["", "whsec_", "hunter2hunter2", "whsec_hunter2!", "whsec_ä", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]
)
def test_a_malformed_secret_is_refused_without_repeating_it(secret: str) -> None:
    with pytest.raises(ValueError, match=r"^A webhook secret is whsec_ and base64\.$") as refusal:
        signature_headers("msg_1", 1, b"{}", [secret])

    assert refusal.value.__cause__ is None


def test_nothing_is_sent_unsigned() -> None:
    with pytest.raises(ValueError, match="no secret"):
        signature_headers("msg_1", 1, b"{}", [])
