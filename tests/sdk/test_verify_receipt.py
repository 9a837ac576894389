"""`handraise verify-receipt`: yes, no, or proves nothing, with nothing but a public key."""

import base64
import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from handraise.receipts import digest_of

from .conftest import Terminal

SIGNING_KEY = Ed25519PrivateKey.from_private_bytes(b"a key for the tests and no other")
ACTION = {"tool": "deploy", "arguments": {"env": "prod"}}


def base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def instant(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.000Z"


def public_key(of: Ed25519PrivateKey = SIGNING_KEY) -> str:
    return f"hrpk_{base64url(of.public_key().public_bytes_raw())}"


def receipt(age: timedelta = timedelta(0), **members: Any) -> str:
    """A receipt as the server signs it."""
    decided_at = datetime.now(UTC) - age
    raw_key = SIGNING_KEY.public_key().public_bytes_raw()
    payload = {
        "v": 1,
        "kid": f"k_{hashlib.sha256(raw_key).hexdigest()[:16]}",
        "questionId": "q_1",
        "workspaceId": "default",
        "decision": "approved",
        "source": "person",
        "deciders": [{"type": "person", "id": "p_1", "name": "Dana\x1b[2J", "surface": "slack"}],
        "actionDigest": digest_of(ACTION),
        "decidedDigest": None,
        "policyVersion": "1",
        "decidedAt": instant(decided_at),
        "issuedAt": instant(decided_at),
        "expiresAt": instant(decided_at + timedelta(minutes=15)),
        "nonce": "A" * 22,
        "epoch": "e_1",
        **members,
    }
    signed = f"hr1.{base64url(json.dumps(payload).encode())}"
    return f"{signed}.{base64url(SIGNING_KEY.sign(signed.encode()))}"


@pytest.fixture
def action(bare_terminal: Terminal) -> Path:
    path = bare_terminal.folder / "action.json"
    path.write_text(json.dumps(ACTION))
    return path


def test_an_approval_of_exactly_this_exits_0(bare_terminal: Terminal, action: Path) -> None:
    done = bare_terminal.run("verify-receipt", receipt(), "--key", public_key(), "--action", str(action))

    assert (done.returncode, done.stdout) == (0, "approved\n")
    assert done.stderr.startswith("q_1 approved by Dana␛[2J; in force until ")
    assert "was not checked" not in done.stderr


def test_without_the_action_it_says_what_was_not_checked(bare_terminal: Terminal) -> None:
    done = bare_terminal.run("verify-receipt", receipt(), "--key", public_key())

    assert done.returncode == 0
    assert "which action it is about was not checked; give it with --action FILE" in done.stderr


def test_a_rejection_exits_1(bare_terminal: Terminal) -> None:
    done = bare_terminal.run("verify-receipt", receipt(decision="rejected"), "--key", public_key())

    assert (done.returncode, done.stdout) == (1, "rejected\n")


def test_files_and_stdin_hold_what_is_too_long_to_type(bare_terminal: Terminal) -> None:
    (bare_terminal.folder / "receipt").write_text(f"{receipt()}\n")
    (bare_terminal.folder / "key").write_text(f"{public_key()}\n")

    words = ["@receipt", "--key", "@key", "--action", "-"]
    done = bare_terminal.run("verify-receipt", *words, stdin=json.dumps(ACTION))

    assert (done.returncode, done.stdout) == (0, "approved\n")


def test_one_of_several_keys_is_enough(bare_terminal: Terminal) -> None:
    other = public_key(Ed25519PrivateKey.from_private_bytes(b"b" * 32))

    done = bare_terminal.run("verify-receipt", receipt(), "--key", other, "--key", public_key())

    assert done.returncode == 0


def test_json_tells_all_that_was_signed(bare_terminal: Terminal) -> None:
    done = bare_terminal.run("verify-receipt", receipt(), "--key", public_key(), "--json")

    told = json.loads(done.stdout)
    assert (told["questionId"], told["approved"], told["decision"]) == ("q_1", True, "approved")
    assert told["deciders"][0]["id"] == "p_1"
    assert told["actionDigest"] == digest_of(ACTION)
    assert datetime.fromisoformat(told["expiresAt"]) - datetime.fromisoformat(told["issuedAt"]) == timedelta(minutes=15)


def forged() -> str:
    return receipt(decision="rejected").replace(".", ".x", 1)


@pytest.mark.parametrize(
    ("worthless", "key", "why"),
    [
        (receipt()[:-4] + "AAAA", public_key(), "The signature is wrong"),
        (forged(), public_key(), "The receipt"),
        ("", public_key(), "three segments"),
        ("yes", public_key(), "three segments"),
        (receipt(age=timedelta(hours=1)), public_key(), "The receipt expired at"),
        (receipt(age=timedelta(hours=-1)), public_key(), "from the future"),
        (receipt(), public_key(Ed25519PrivateKey.from_private_bytes(b"b" * 32)), "signed with another key"),
    ],
)
def test_what_proves_nothing_exits_1(bare_terminal: Terminal, worthless: str, key: str, why: str) -> None:
    done = bare_terminal.run("verify-receipt", worthless, "--key", key, "--json")

    assert done.returncode == 1
    assert done.stderr.startswith("handraise: this receipt proves nothing: ")
    assert why in done.stderr
    assert json.loads(done.stdout)["code"] == "receipt_invalid"


def test_a_receipt_for_another_action_proves_nothing_about_this_one(bare_terminal: Terminal, action: Path) -> None:
    action.write_text(json.dumps({"tool": "deploy", "arguments": {"env": "staging"}}))

    done = bare_terminal.run("verify-receipt", receipt(), "--key", public_key(), "--action", str(action))

    assert (done.returncode, done.stdout) == (1, "")
    assert "The receipt is about another action than the one given." in done.stderr


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "--action needs a JSON object"),
        ("[]", "--action needs a JSON object: it is not an object."),
        ('{"arguments": {}}', "An action is a mapping with its tool as a text."),
        ('{"tool": "deploy", "env": "prod"}', "An action has tool, arguments, diff and risk, not 'env'."),
        ('{"tool": "deploy", "arguments": {"x": NaN}}', "NaN is not JSON"),
        (b"\xff", "is not UTF-8 text"),
        (None, "cannot be read: No such file or directory."),
    ],
)
def test_an_action_that_is_none_is_a_usage_error(
    bare_terminal: Terminal, action: Path, content: str | bytes | None, told: str
) -> None:
    action.unlink()
    if content is not None:
        action.write_bytes(content if isinstance(content, bytes) else content.encode())

    done = bare_terminal.run("verify-receipt", receipt(), "--key", public_key(), "--action", str(action))

    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--key", "hrpk_short"], "This is no Ed25519 public key; a character may be missing."),
        (["--key", "whsec_c2VjcmV0"], "This is a webhook secret"),
        (["--key", f"hrpk_{base64url(bytes(32))}"], "it looks like a placeholder"),
        (["--key", "@nowhere"], "--key: nowhere cannot be read"),
        (["--key", ""], "A public key begins with hrpk_"),
        ([], "Missing option '--key'"),
    ],
)
def test_a_key_that_is_none_is_a_usage_error(bare_terminal: Terminal, words: list[str], told: str) -> None:
    done = bare_terminal.run("verify-receipt", receipt(), *words, "--json")

    assert (done.returncode, json.loads(done.stdout)["code"]) == (2, "usage")
    assert told in done.stderr


def test_without_the_extra_package_it_says_what_to_install(bare_terminal: Terminal) -> None:
    words = ["handraise", "verify-receipt", receipt(), "--key", public_key()]
    program = f"import sys; sys.modules['cryptography'] = None; sys.argv = {words}; import handraise.__main__"

    done = bare_terminal.python("-c", program)

    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'handraise[receipts]'" in done.stderr
