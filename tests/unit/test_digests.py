"""Digests of actions. The expected ones come from sha256sum over canonical JSON written by hand."""

import pytest

from core.digests import action_digest, edited_digest
from core.ids import JsonObject
from core.question import Action, Risk

FIVE: JsonObject = {"count": 5, "team": "core"}
DIFF = "-a\n+b\n"

# {"arguments":{"count":5,"team":"core"},"tool":"linear.create"}
PLAIN = "sha256:33abe1602673363fef65fcaf46218f82a18f5b26e376a5d04439a05383725353"
# {"arguments":{"count":5,"team":"core"},"diff":"-a\n+b\n","risk":"high","tool":"linear.create"}
WHOLE = "sha256:6854fa208ca961835dc934a7d8da5592286f116f76eab1c73d1a6296cdc2e7e4"
# the same with "count":6
WHOLE_EDITED = "sha256:c7ac734cee4d07f7f6c30010087b0b656732c1bdf3d1afbcbf80e69095ea767b"


def test_the_digest_is_sha256_over_the_canonical_action() -> None:
    assert action_digest("linear.create", FIVE, None, None) == PLAIN


def test_diff_and_risk_are_part_of_the_digest() -> None:
    assert action_digest("linear.create", FIVE, DIFF, Risk.HIGH) == WHOLE


@pytest.mark.parametrize(
    ("tool", "arguments", "diff", "risk", "digest"),
    [
        # {"arguments":{"count":5,"team":"core"},"tool":"linear.delete"}
        ("linear.delete", FIVE, None, None, "8cbe5f092647b94850dfaa640188796a8a5aa8092730ad0ae5e4778581e3504a"),
        # {"arguments":{"count":6,"team":"core"},"tool":"linear.create"}
        (
            "linear.create",
            {"count": 6, "team": "core"},
            None,
            None,
            "68011ff3880592791d40d9c4dfc3d94d9e2124c785d36e36bab05ca49978d042",
        ),
        # {"arguments":{},"tool":"linear.create"}
        ("linear.create", {}, None, None, "6fd290222f4bc8fe293817893efd91fd8e38bd0cb7268d55f0968a7040c2b72a"),
        # {"arguments":{"count":5,"team":"core"},"diff":"-a\n+b\n","tool":"linear.create"}
        ("linear.create", FIVE, DIFF, None, "a8cf3e543b39586e05ccf426db84a7072d46e1a2aa13c5d11222539d3e27c0a2"),
        # {"arguments":{"count":5,"team":"core"},"risk":"high","tool":"linear.create"}
        ("linear.create", FIVE, None, Risk.HIGH, "a7a861ba14486dd348058256dcb7fc50c5d39d7eb3d84c9e61667206256c2d84"),
        # {"arguments":{"count":5,"team":"core"},"diff":"","tool":"linear.create"}
        ("linear.create", FIVE, "", None, "dd334110b232c3f4bce86812d8932f646b840fa388445117cbf83e9510609093"),
        # {"arguments":{"city":"Zürich"},"tool":"mail.send"}, in UTF-8
        (
            "mail.send",
            {"city": "Zürich"},
            None,
            None,
            "13af51322e57df83d60744633ef3af8fddd29b437c851b03bbacc3436d5ab3ee",
        ),
    ],
    ids=["tool", "arguments", "no arguments", "diff", "risk", "empty diff", "non-ascii"],
)
def test_changing_one_part_changes_the_digest(
    tool: str, arguments: JsonObject, diff: str | None, risk: Risk | None, digest: str
) -> None:
    assert action_digest(tool, arguments, diff, risk) == "sha256:" + digest


def test_the_order_in_which_arguments_were_written_does_not_matter() -> None:
    # {"arguments":{"a":1,"b":2,"ä":3},"tool":"t"}
    expected = "sha256:e7d8f8de92c18ada106d760a27b825c559f95814071f59e1a6d0beb7deb35fe3"

    assert action_digest("t", {"ä": 3, "b": 2, "a": 1}, None, None) == expected


def test_a_float_that_is_whole_counts_as_the_number_it_is() -> None:
    assert action_digest("linear.create", {"count": 5.0, "team": "core"}, None, None) == PLAIN


def test_edited_arguments_keep_tool_diff_and_risk() -> None:
    action = Action("linear.create", FIVE, WHOLE, DIFF, Risk.HIGH, editable=True)

    assert edited_digest(action, {"count": 6, "team": "core"}) == WHOLE_EDITED


def test_arguments_edited_back_to_what_was_shown_have_the_shown_digest() -> None:
    action = Action("linear.create", FIVE, WHOLE, DIFF, Risk.HIGH, editable=True)

    assert edited_digest(action, {"team": "core", "count": 5}) == WHOLE
