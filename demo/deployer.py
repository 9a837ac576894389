"""The deployer: wants an approval for a release, with the real difference, and releases what was approved."""

import difflib
from dataclasses import dataclass
from pathlib import Path

from handraise import Decision

from demo.agent import Agent, quoted

FILE = "checkout.toml"
RUNNING, NEW = "2.3.0", "2.4.0"
MACHINES = {"eu-central": 8, "us-east": 12, "ap-south": 4}

_FILES = Path(__file__).parent / "files"
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_BACKGROUND = (
    "Payments hung for up to 30 seconds last week. 2.4.0 gives up after 10 and tries twice more; a payment that is "
    "sent again is charged once. Back to 2.3.0 takes a minute."
)


class Unreleasable(Exception):
    """The approved arguments do not say what to release where."""


@dataclass(frozen=True)
class Release:
    version: str
    region: str
    percent: int

    @property
    def machines(self) -> int:
        """How many machines that is; a release to some percent reaches at least one."""
        return max(1, round(MACHINES[self.region] * self.percent / 100))


async def run(agent: Agent) -> None:
    diff = difference()
    await agent.show(f"shop {NEW} is built and tested. This is what changes in production:")
    for line in diff.splitlines():
        agent.say(f"  {line}", _COLOURS.get(line[0], "dim"))
    asked = await agent.people.approve(
        f"Release shop {NEW} to 25 % of eu-central?",
        tool="deploy.release",
        arguments={"service": "shop", "version": NEW, "region": "eu-central", "percent": 25},
        diff=diff,
        risk="medium",
        editable=True,
        context={"projectName": "shop", "currentStep": "release", "runningNow": RUNNING},
        job=agent.job,
        wait=None,
        **agent.limits,
    )
    agent.raise_hand(asked)
    await react(agent, Decision((await agent.hear(asked, _BACKGROUND)).question))


async def react(agent: Agent, decision: Decision) -> None:
    if decision.approved:
        agent.say(f"Approved by {decision.decided_by}{quoted(decision.text)}", "green")
        await _release(agent, decision)
    elif decision.status == "answered":
        agent.say(f"Rejected by {decision.decided_by}{quoted(decision.text)}", "red")
        await agent.step(f"{NEW} is put aside{quoted(decision.text)}")
        agent.say(f"Nothing was deployed; {RUNNING} keeps running. I come back with the next version.")
    elif decision.status == "withdrawn":
        agent.say(f"The question was withdrawn. Nothing was deployed; {RUNNING} keeps running.", "yellow")
    else:
        agent.say("Nobody decided in time, and silence is not a yes.", "yellow")
        agent.say(f"Nothing was deployed; {RUNNING} keeps running.")


async def _release(agent: Agent, decision: Decision) -> None:
    try:
        release = release_in(decision.arguments or {})
    except Unreleasable as why:
        agent.say(f"{why} Nothing was deployed; {RUNNING} keeps running.", "red")
        return
    if decision.has_changed_arguments:
        agent.say(f"You changed what I asked for, so now it is {release.percent} % of {release.region}.", "yellow")
    for machine in range(1, release.machines + 1):
        await agent.step(f"shop-{release.region}-{machine} runs {release.version} ({machine} of {release.machines})")
    await agent.step(f"shop {release.version} is live on {release.percent} % of {release.region}.")
    agent.say("Done.", "green")


def difference() -> str:
    """The change of the file between the two versions, as `diff -u` shows it."""
    old, new = ((_FILES / f"shop-{version}" / FILE).read_text(encoding="utf-8") for version in (RUNNING, NEW))
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), f"a/{FILE}", f"b/{FILE}", lineterm="")
    return "\n".join(lines) + "\n"


def release_in(arguments: dict[str, object]) -> Release:
    """What the arguments say; a person may have edited them, so they are looked at closely."""
    version, region, percent = (arguments.get(name) for name in ("version", "region", "percent"))
    if version != NEW:
        raise Unreleasable(f"I have built {NEW} only, not {version}.")
    if not isinstance(region, str) or region not in MACHINES:
        raise Unreleasable(f"I know no region {region}, only {', '.join(MACHINES)}.")
    if isinstance(percent, bool) or not isinstance(percent, int) or not 1 <= percent <= 100:
        raise Unreleasable(f"The percentage must be a whole number from 1 to 100, not {percent}.")
    return Release(NEW, region, percent)
