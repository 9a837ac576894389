"""Signatures in the eyes of others: the Standard Webhooks libraries of Python and of Node."""

import base64
import json
import subprocess
from pathlib import Path

from standardwebhooks import Webhook, WebhookVerificationError

NODE_PACKAGE = "standardwebhooks@1.1.1"
VERIFIER = """
const { Webhook } = require("standardwebhooks");
for (const line of require("fs").readFileSync(0, "utf8").split("\\n").filter(Boolean)) {
  const { secret, headers, body } = JSON.parse(line);
  try {
    new Webhook(secret).verify(Buffer.from(body, "base64"), headers);
    console.log("accepted");
  } catch (error) {
    console.log(error.constructor.name);
  }
}
"""
#: Secret, headers, body.
Message = tuple[str, dict[str, str], bytes]


def install_node_verifier(folder: Path) -> None:
    command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", NODE_PACKAGE]
    installed = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if installed.returncode != 0:
        raise AssertionError(f"npm cannot install {NODE_PACKAGE}, which checks our signatures:\n{installed.stderr}")
    (folder / "verify.cjs").write_text(VERIFIER, encoding="utf-8")


def verdicts_of_node(folder: Path, messages: list[Message]) -> list[str]:
    lines = [
        json.dumps({"secret": secret, "headers": headers, "body": base64.b64encode(body).decode()})
        for secret, headers, body in messages
    ]
    command = ["node", str(folder / "verify.cjs")]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.split()


def verdict_of_python(message: Message) -> str:
    secret, headers, body = message
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return "WebhookVerificationError"
    return "accepted"
