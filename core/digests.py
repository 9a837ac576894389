"""The digest that binds an approval to exactly what was shown: SHA-256 over the RFC 8785 form of the action."""

import hashlib

import rfc8785

from core.ids import JsonObject
from core.question import Action, Risk


def action_digest(tool: str, arguments: JsonObject, diff: str | None, risk: Risk | None) -> str:
    canonical: JsonObject = {"tool": tool, "arguments": arguments}
    if diff is not None:
        canonical["diff"] = diff
    if risk is not None:
        canonical["risk"] = risk.value
    return "sha256:" + hashlib.sha256(rfc8785.dumps(canonical)).hexdigest()


def edited_digest(action: Action, arguments: JsonObject) -> str:
    return action_digest(action.tool, arguments, action.diff, action.risk)
