"""A decision receipt, from the approval to the deployer who checks and spends it."""

import asyncio
import subprocess
from typing import Any

import httpx2
import pytest
from handraise.receipts import InvalidReceipt, verify_receipt

from tests.scenario.talk import APPROVAL, CHOICE, answer, ask, cancel, look, ok, problem, settled
from tests.support.servers import BIN, RunningServer, clean_environment

Json = dict[str, Any]
ACTION = {"tool": "deploy", "arguments": {"version": "1.4", "replicas": 3}}


@pytest.fixture(scope="module")
def public_key(server: RunningServer) -> str:
    done = subprocess.run(
        [str(BIN / "handraise-bot"), "receipts", "key", "--data-dir", str(server.data_dir)],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.strip()


def approved(agent: httpx2.Client, admin: httpx2.Client, value: bool = True, **how: Any) -> Json:
    question = ask(agent, APPROVAL, action=ACTION | how.pop("action", {}))
    outcome: Json = ok(answer(admin, question["id"], value, **how))["question"]["outcome"]
    return outcome


def test_an_approval_carries_a_receipt_that_a_deployer_verifies_with_the_public_key_alone(
    agent: httpx2.Client, admin: httpx2.Client, public_key: str
) -> None:
    outcome = approved(agent, admin)

    receipt = verify_receipt(outcome["receipt"], public_key, action=ACTION)

    assert receipt.approved is True
    assert receipt.action_digest == outcome["actionDigest"]


def test_a_receipt_is_the_same_wherever_it_is_read(agent: httpx2.Client, admin: httpx2.Client) -> None:
    question = ask(agent, APPROVAL, action=ACTION)
    first = ok(answer(admin, question["id"], True))["question"]["outcome"]["receipt"]

    assert look(agent, question["id"])["outcome"]["receipt"] == first


def test_a_receipt_fits_no_other_action(agent: httpx2.Client, admin: httpx2.Client, public_key: str) -> None:
    outcome = approved(agent, admin)

    with pytest.raises(InvalidReceipt):
        verify_receipt(outcome["receipt"], public_key, action={"tool": "deploy", "arguments": {"version": "1.5"}})


def test_edited_arguments_are_what_was_approved(agent: httpx2.Client, admin: httpx2.Client, public_key: str) -> None:
    edited = {"version": "1.4", "replicas": 1}
    outcome = approved(agent, admin, action={"editable": True}, arguments=edited)

    receipt = verify_receipt(outcome["receipt"], public_key, action={"tool": "deploy", "arguments": edited})

    assert receipt.approved is True
    with pytest.raises(InvalidReceipt):
        verify_receipt(outcome["receipt"], public_key, action=ACTION)


def test_a_rejection_has_a_receipt_that_approves_nothing(
    agent: httpx2.Client, admin: httpx2.Client, public_key: str
) -> None:
    outcome = approved(agent, admin, value=False)

    assert verify_receipt(outcome["receipt"], public_key).approved is False
    refused = agent.post("/api/receipts/redeem", json={"receipt": outcome["receipt"]})
    assert problem(refused) == (422, "receipt_rejects")


def test_neither_time_nor_the_asker_nor_another_question_makes_a_receipt(
    agent: httpx2.Client, admin: httpx2.Client
) -> None:
    expired = settled(agent, ask(agent, APPROVAL, timeoutMinutes=1 / 60)["id"])
    withdrawn = ask(agent, APPROVAL)
    cancel(agent, withdrawn["id"])
    chosen = ask(agent, CHOICE)
    answer(admin, chosen["id"], "pg")

    outcomes = [expired["outcome"], look(agent, withdrawn["id"])["outcome"], look(agent, chosen["id"])["outcome"]]
    assert [outcome.get("receipt") for outcome in outcomes] == [None, None, None]


async def test_of_many_who_redeem_a_receipt_one_succeeds(
    agent: httpx2.Client, admin: httpx2.Client, server: RunningServer
) -> None:
    outcome = approved(agent, admin)
    body = {"receipt": outcome["receipt"], "actionDigest": outcome["actionDigest"]}
    async with server.async_client() as deployer:
        replies = await asyncio.gather(*(deployer.post("/api/receipts/redeem", json=body) for _ in range(20)))

    assert sorted(reply.status_code for reply in replies) == [200] + [409] * 19
    assert {reply.json()["code"] for reply in replies if reply.status_code == 409} == {"receipt_redeemed"}


def test_what_is_no_receipt_of_ours_is_refused(agent: httpx2.Client, admin: httpx2.Client) -> None:
    receipt: str = approved(agent, admin)["receipt"]
    forged = receipt[:-4] + ("AAAA" if not receipt.endswith("AAAA") else "BBBB")

    for wrong in (forged, "hr1.x.y", receipt + ".z", "whsec_abc"):
        refused = agent.post("/api/receipts/redeem", json={"receipt": wrong})
        assert problem(refused) == (422, "receipt_invalid")


def test_a_receipt_for_another_action_is_not_spent(agent: httpx2.Client, admin: httpx2.Client) -> None:
    outcome = approved(agent, admin)
    other = {"receipt": outcome["receipt"], "actionDigest": "sha256:" + "0" * 64}

    refused = agent.post("/api/receipts/redeem", json=other)
    spent = agent.post("/api/receipts/redeem", json={"receipt": outcome["receipt"]})

    assert problem(refused) == (422, "receipt_for_another_action")
    assert spent.status_code == 200
