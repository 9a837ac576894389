"""A program for a network namespace of its own, where every address is ours: inner ones, metadata and public ones.

It prints who was met at which address. Run by test_canaries.py, under uvloop, as the server does.
"""

import asyncio
import json
import subprocess
import sys

import uvloop

from adapters.webhooks.guard import Guard
from adapters.webhooks.sender import WebhookSender
from tests.webhooks.attempts import SECRETS, by_the_second_wall_alone, by_the_sender, without_a_guard
from tests.webhooks.canaries import Canaries
from tests.webhooks.resolvers import Answers, LeadsInside
from tests.webhooks.spellings import hostile

PUBLIC = ("8.8.8.8", "2606:4700::1111")
INNER = (
    *("10.0.0.5", "172.16.0.1", "192.168.0.1", "100.64.0.1", "198.18.0.1", "192.0.2.2", "203.0.113.1"),
    *("169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "168.63.129.16"),
    *("fd00::2", "fc00::1", "fd00:ec2::254", "fd20:ce::254", "2001:db8::1", "fec0::1", "2002:7f00:1::"),
    *("64:ff9b::a9fe:a9fe", "64:ff9b::7f00:1", "::127.0.0.1", "100::1"),
)
FLIPS = 1000


def own_every_address() -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for address in PUBLIC + INNER:
        size = "128" if ":" in address else "32"
        subprocess.run(["ip", "address", "add", f"{address}/{size}", "dev", "lo"], check=True)


async def flipping(*answers: tuple[str, ...]) -> None:
    async with WebhookSender(Guard(), resolver=Answers(*answers)) as sender:
        for _ in range(FLIPS):
            await sender.send("https://hooks.example.com/", "msg_1", b"{}", SECRETS)


async def metadata_by_name() -> None:
    everything = [f"[{address}]" if ":" in address else address for address in INNER]
    guard = Guard([*everything, "hooks.example.com"])
    async with WebhookSender(guard, resolver=Answers(*((address,) for address in INNER))) as sender:
        for host in everything:
            await sender.send(f"http://{host}/", "msg_1", b"{}", SECRETS)
            await sender.send("http://hooks.example.com/", "msg_1", b"{}", SECRETS)


async def main() -> None:
    async with Canaries() as canaries:
        urls = hostile(canaries.ports[0])
        heard = [
            address for address in PUBLIC + INNER for port in canaries.ports if await canaries.met_by(address, port)
        ]
        report: dict[str, object] = {"ports": canaries.ports, "heard": len(heard), "urls": len(urls)}
        for name, attempt in {
            "sender": by_the_sender(urls, LeadsInside()),
            "second_wall": by_the_second_wall_alone(urls, LeadsInside()),
            "no_guard": without_a_guard(urls, LeadsInside()),
            "flips": flipping(PUBLIC[:1], ("127.0.0.1",), PUBLIC[1:], ("::1",), ("169.254.169.254",)),
            "mixed": flipping(("10.0.0.5", "8.8.8.8"), ("fd00::2", "8.8.8.8", "127.0.0.1")),
            "metadata_by_name": metadata_by_name(),
        }.items():
            canaries.met.clear()
            await attempt
            await asyncio.sleep(0.1)  # for a connection that nobody waited for
            report[name] = [address for address, _ in canaries.met]
    sys.stdout.write(json.dumps(report))


if __name__ == "__main__":
    own_every_address()
    uvloop.run(main())
