"""No connection where none may be: the canaries count, and errors alone prove nothing."""

import asyncio
import json
import subprocess
import sys
from collections import Counter

import pytest

from adapters.webhooks.guard import Guard
from adapters.webhooks.sender import WebhookSender
from tests.support.servers import ROOT
from tests.webhooks.attempts import SECRETS, by_the_second_wall_alone, by_the_sender
from tests.webhooks.canaries import Canaries
from tests.webhooks.resolvers import Answers, LeadsInside
from tests.webhooks.spellings import SPELLINGS, hostile

REFUSED = "The host leads to an address that webhooks may not reach."
PUBLIC = "8.8.8.8"
WALLED = ["unshare", "--user", "--map-root-user", "--net"]


async def test_a_canary_hears_whoever_comes() -> None:
    async with Canaries() as canaries:
        heard = [
            await canaries.met_by(address, port)
            for address in ("127.0.0.1", "127.1.2.3", "::1")
            for port in canaries.ports
        ]

    assert len(heard) >= 9
    assert all(heard)


async def test_no_hostile_spelling_reaches_a_canary() -> None:
    async with Canaries() as canaries:
        urls = [url for port in canaries.ports for url in hostile(port)]

        sent = await by_the_sender(urls, LeadsInside())

    assert SPELLINGS >= 120
    assert canaries.met == []
    assert [(each.status, each.failure is None) for each in sent] == [(None, False)] * len(urls)


async def test_none_would_even_if_its_text_were_accepted() -> None:
    async with Canaries() as canaries:
        await by_the_second_wall_alone(hostile(canaries.ports[0]), LeadsInside())

    assert canaries.met == []


@pytest.mark.parametrize("inner", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "::"])
async def test_a_name_that_was_public_at_the_last_look_up_is_not_trusted(inner: str) -> None:
    async with Canaries() as canaries:
        resolver = Answers([PUBLIC], [inner], at=canaries.ports[0])
        async with WebhookSender(Guard(), resolver=resolver) as sender:
            failures = set()
            for _ in range(200):
                # What a check at registration would see, and find harmless.
                [seen] = await resolver.resolve("hooks.example.com")
                assert seen["host"] == PUBLIC
                sent = await sender.send("https://hooks.example.com/", "msg_1", b"{}", SECRETS)
                failures.add(sent.failure)

    assert canaries.met == []
    assert failures == {REFUSED}
    assert len(resolver.asked) == 400


async def test_no_address_of_an_answer_is_tried_when_all_are_inner() -> None:
    async with Canaries() as canaries:
        resolver = Answers(["127.0.0.1", "::1", "127.0.0.2", "::ffff:127.0.0.1"], at=canaries.ports[0])
        async with WebhookSender(Guard(), resolver=resolver) as sender:
            sent = await sender.send("https://hooks.example.com/", "msg_1", b"{}", SECRETS)
        await asyncio.sleep(0.5)  # longer than the next address of an answer is waited for

    assert canaries.met == []
    assert sent.failure == REFUSED


async def test_a_strangers_name_does_not_lead_to_a_host_of_the_operators() -> None:
    async with Canaries() as canaries:
        resolver = Answers(["127.0.0.1"], at=canaries.ports[0])
        guard = Guard(["127.0.0.1", "localhost", "n8n.internal"])
        async with WebhookSender(guard, resolver=resolver) as sender:
            named = await sender.send("http://n8n.internal/", "msg_1", b"{}", SECRETS)
            met = len(canaries.met)
            stranger = await sender.send("https://hooks.example.com/", "msg_1", b"{}", SECRETS)

    assert met == 1
    assert named.failure == "The receiver broke the connection off."
    assert len(canaries.met) == 1
    assert stranger.failure == REFUSED


async def test_a_host_of_the_operators_does_not_lead_to_metadata() -> None:
    addresses = [
        "169.254.169.254",
        "fd00:ec2::254",
        "100.100.100.200",
        "192.0.0.192",
        "::ffff:169.254.169.254",
        "fe80::1",
    ]
    resolver = Answers(*([address] for address in addresses))

    async with WebhookSender(Guard(["n8n.internal"]), resolver=resolver) as sender:
        sent = [await sender.send("http://n8n.internal/", "msg_1", b"{}", SECRETS) for _ in addresses]

    assert [each.failure for each in sent] == [REFUSED] * len(addresses)


def _may_have_a_network_of_its_own() -> bool:
    try:
        return subprocess.run([*WALLED, "ip", "link"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not _may_have_a_network_of_its_own(), reason="needs a network namespace, as Linux gives to users")
def test_in_a_network_where_every_address_listens_only_public_ones_are_met() -> None:
    command = [*WALLED, sys.executable, "-m", "tests.webhooks.walled"]

    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert {80, 443} < set(report["ports"])
    assert report["heard"] == 25 * len(report["ports"])
    assert len(report["no_guard"]) >= 200  # what the guard is for
    assert "169.254.169.254" in report["no_guard"]
    assert report["sender"] == []
    assert report["second_wall"] == []
    assert Counter(report["flips"]) == {"8.8.8.8": 200, "2606:4700::1111": 200}
    assert set(report["mixed"]) == {"8.8.8.8"}
    assert {"169.254.169.254", "100.100.100.200", "fd00:ec2::254"}.isdisjoint(report["metadata_by_name"])
    assert {"10.0.0.5", "fd00::2"} <= set(report["metadata_by_name"])
