"""`handraise verify-receipt`: did a person approve exactly this?"""

from typing import TYPE_CHECKING, Annotated

import typer

from handraise.cli import options as shared
from handraise.cli.exit_codes import ExitCode
from handraise.cli.failures import Stop
from handraise.cli.output import print_json, print_line, say
from handraise.cli.session import session_in
from handraise.errors import InvalidArgument
from handraise.safe_text import one_line
from handraise.wire import Json

if TYPE_CHECKING:
    from handraise.receipts import Receipt


def verify_receipt(
    context: typer.Context,
    receipt: Annotated[str, typer.Argument(metavar="RECEIPT", help="The receipt, or @FILE that holds it.")],
    key: Annotated[
        list[str],
        typer.Option(
            "--key", metavar="hrpk_…", help="The server's public key, or @FILE; repeatable while keys change."
        ),
    ],
    action: Annotated[
        str | None,
        typer.Option("--action", metavar="FILE", help="The action about to be carried out, as JSON; - is stdin."),
    ] = None,
    json: shared.JsonOption = False,
) -> None:
    """Check offline that a person approved exactly this.

    Needs the server's public key, which handraise-bot receipts key prints, and asks no server.
    Exit codes: 0 approved, 1 rejected or the receipt proves nothing, 2 the key or the action is unusable.
    """
    session_in(context, wants_json=json)
    # Only this command needs the cryptography behind it.
    from handraise import receipts

    given = shared.json_object_in(shared.file_text(action, "--action"), "--action") if action is not None else None
    keys = [shared.typed_or_file(each, "--key").strip() for each in key]
    try:
        found = receipts.verify_receipt(shared.typed_or_file(receipt, "RECEIPT").strip(), keys, action=given)
    except InvalidArgument:
        raise
    except receipts.InvalidReceipt as failure:
        message = f"this receipt proves nothing: {failure}"
        document = {"type": "about:blank", "title": "Invalid receipt", "code": "receipt_invalid", "detail": message}
        raise Stop(message, ExitCode.REJECTED, document) from failure
    if json:
        print_json(receipt_json(found))
    else:
        print_line(found.decision)
    who = ", ".join(one_line(decider.name or decider.id, 100) for decider in found.deciders) or found.source
    say(f"{found.question_id} {found.decision} by {who}; in force until {found.expires_at:%Y-%m-%d %H:%M:%S} UTC")
    if given is None:
        say("  which action it is about was not checked; give it with --action FILE")
    raise typer.Exit(ExitCode.DONE if found.approved else ExitCode.REJECTED)


def receipt_json(receipt: "Receipt") -> Json:
    return {
        "questionId": receipt.question_id,
        "workspaceId": receipt.workspace_id,
        "decision": receipt.decision,
        "approved": receipt.approved,
        "source": receipt.source,
        "deciders": [
            {"type": each.type, "id": each.id, "name": each.name, "surface": each.surface} for each in receipt.deciders
        ],
        "actionDigest": receipt.action_digest,
        "decidedDigest": receipt.decided_digest,
        "policyVersion": receipt.policy_version,
        "decidedAt": receipt.decided_at.isoformat(),
        "issuedAt": receipt.issued_at.isoformat(),
        "expiresAt": receipt.expires_at.isoformat(),
        "nonce": receipt.nonce,
        "epoch": receipt.epoch,
        "keyId": receipt.key_id,
    }
