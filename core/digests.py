"""The digest that binds an approval to exactly what was shown: SHA-256 over the RFC 8785 form of the action."""

import hashlib

import rfc8785

from core.ids import JsonObject
from core.question import Action, Risk


def digest_problem(arguments: JsonObject) -> str | None:
    """Why these arguments have no canonical form and so no digest, if they have none."""
    try:
        rfc8785.dumps(arguments)
    except (rfc8785.CanonicalizationError, UnicodeError, RecursionError):
        return "The arguments hold a number beyond ±(2^53 - 1) or a broken character. Send such values as texts."
    return None


def action_digest(tool: str, arguments: JsonObject, diff: str | None, risk: Risk | None) -> str:
    canonical: JsonObject = {"tool": tool, "arguments": arguments}
    if diff is not None:
        canonical["diff"] = diff
    if risk is not None:
        canonical["risk"] = risk.value
    return "sha256:" + hashlib.sha256(rfc8785.dumps(canonical)).hexdigest()


def edited_digest(action: Action, arguments: JsonObject) -> str:
    return action_digest(action.tool, arguments, action.diff, action.risk)
