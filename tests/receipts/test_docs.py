"""docs/receipts.md keeps its word: its examples run, and its table is complete."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from adapters.receipts.keys import SigningKey
from core.question import Question
from tests.receipts.samples import DIGEST, KEY, key, payload_of, receipt, settled
from tests.support.servers import ROOT

DOCS = (ROOT / "docs" / "receipts.md").read_text(encoding="utf-8")

_NODE = """
try {
  const payload = payloadOf(process.env.RECEIPT, process.env.PEM, process.env.DIGEST);
  console.log(payload.decision, "by", payload.deciders[0].name);
} catch (refusal) { console.log("refused:", refusal.message); process.exit(1); }
"""


def example(name: str) -> str:
    match = re.search(rf"<!-- test: {name} -->\n```\w+\n(.*?)```", DOCS, re.DOTALL)
    assert match is not None
    return match[1]


def decided_just_now(value: bool = True) -> Question:
    question = settled(value=value)
    assert question.outcome is not None
    return replace(question, outcome=replace(question.outcome, decided_at=datetime.now(UTC)))


def run(command: list[str], folder: Path, text: str, by: SigningKey = KEY) -> tuple[int, str]:
    (folder / "handraise.pem").write_text(by.public.pem)
    given = {"RECEIPT": text, "HANDRAISE_PUBLIC_KEY": by.public.text, "PEM": by.public.pem, "DIGEST": DIGEST}
    done = subprocess.run(command, cwd=folder, env=os.environ | given, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def tampered(text: str) -> str:
    return text[:-8] + ("AAAA" if text[-8:-4] != "AAAA" else "BBBB") + text[-4:]


def test_the_python_example_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-c", example("python")]

    assert run(command, tmp_path, receipt(decided_just_now())) == (0, "approved by Dana\n")
    assert run(command, tmp_path, receipt(decided_just_now(False))) == (1, "rejected\n")
    code, told = run(command, tmp_path, receipt())
    assert (code, told.startswith("refused: The receipt")) == (1, True)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_the_shell_example_runs(tmp_path: Path) -> None:
    command = ["sh", "-c", example("shell")]

    code, told = run(command, tmp_path, receipt())

    assert code == 0, told
    assert "Signature Verified Successfully" in told
    assert '"decision":"approved"' in told
    assert run(command, tmp_path, tampered(receipt()))[0] != 0
    assert run(command, tmp_path, receipt(), by=key(2))[0] != 0


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_node_example_runs(tmp_path: Path) -> None:
    command = ["node", "-e", example("node") + _NODE]

    assert run(command, tmp_path, receipt(decided_just_now())) == (0, "approved by Dana\n")
    assert run(command, tmp_path, receipt(decided_just_now(False))) == (0, "rejected by Dana\n")
    assert run(command, tmp_path, receipt()) == (1, "refused: expired\n")
    assert run(command, tmp_path, receipt(decided_just_now()) + "=") == (1, "refused: malformed\n")
    forged = run(command, tmp_path, tampered(receipt(decided_just_now())))
    assert forged == (1, "refused: not signed by this key\n")


def test_the_table_lists_every_name_of_the_payload() -> None:
    table = DOCS.split("<!-- test: payload -->\n")[1].split("\n\n")[0]

    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == payload_of(receipt()).keys()
