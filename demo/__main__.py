"""`make demo`: the server as `make run` starts it, and three example agents that ask and react."""

import argparse
import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from handraise import HandraiseError
from rich.console import Console
from rich.text import Text

from demo import deployer, migrator, planner
from demo.agent import Agent, Limits
from demo.server import NoServer, Server, local_server
from demo.voice import Voice

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LEAVE_SECONDS = 3.0


@dataclass(frozen=True)
class Role:
    run: Callable[[Agent], Awaitable[None]]
    colour: str


ROLES: Mapping[str, Role] = {
    "deployer": Role(deployer.run, "cyan"),
    "planner": Role(planner.run, "magenta"),
    "migrator": Role(migrator.run, "blue"),
}


@dataclass(frozen=True)
class Options:
    roles: Sequence[str]
    pace: float
    limits: Limits


def main() -> int:
    options = _options(sys.argv[1:])
    console = Console(highlight=False, soft_wrap=True)
    return asyncio.run(_until_done_or_stopped(options, console))


async def _until_done_or_stopped(options: Options, console: Console) -> int:
    """The exit code; a signal lets everything end in order first."""
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[int] = loop.create_future()
    for number in _SIGNALS:
        loop.add_signal_handler(number, _note, stopped, number)
    demo = asyncio.create_task(_demo(options, console))
    await asyncio.wait({demo, stopped}, return_when=asyncio.FIRST_COMPLETED)
    if demo.done():
        return demo.result()
    console.print("\n  Stopping.\n")
    demo.cancel()
    await asyncio.gather(demo, return_exceptions=True)
    return 128 + stopped.result()


def _note(stopped: asyncio.Future[int], number: int) -> None:
    if not stopped.done():
        stopped.set_result(number)


async def _demo(options: Options, console: Console) -> int:
    try:
        async with local_server() as server:
            _introduce(options, server, console)
            return await _while_the_server_lives(options, server, console)
    except NoServer:
        console.print("The server did not start, so there is no demo.", style="red")
        return 1


async def _while_the_server_lives(options: Options, server: Server, console: Console) -> int:
    working = asyncio.create_task(_let_agents_work(options, server, console))
    ended = asyncio.create_task(server.ended())
    try:
        await asyncio.wait({working, ended}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            console.print(f"The server ended by itself with exit code {ended.result()}; so does the demo.", style="red")
            return 1
        code = working.result()
        _conclude(server, console, all_went_well=code == 0)
        if server.is_ours and console.is_terminal:
            await ended
        return code
    finally:
        working.cancel()
        ended.cancel()
        await asyncio.gather(working, ended, return_exceptions=True)


async def _let_agents_work(options: Options, server: Server, console: Console) -> int:
    stamp = f"{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    agents = {
        name: Agent(
            server.place.people(name),
            Voice(console, name, ROLES[name].colour),
            job=f"{name}-{stamp}",
            pace=options.pace,
            limits=options.limits,
        )
        for name in options.roles
    }
    try:
        went_well = await asyncio.gather(*(_let_work(ROLES[name], agent) for name, agent in agents.items()))
    finally:
        await _send_home(agents.values())
    return 0 if all(went_well) else 1


async def _let_work(role: Role, agent: Agent) -> bool:
    try:
        await role.run(agent)
    except HandraiseError as failure:
        agent.say(f"I cannot go on: {failure}", "red")
        return False
    return True


async def _send_home(agents: Collection[Agent]) -> None:
    try:
        async with asyncio.timeout(_LEAVE_SECONDS):
            await asyncio.gather(*(agent.leave() for agent in agents))
    except TimeoutError:
        pass  # the server is gone, and with it whoever could answer
    await asyncio.gather(*(agent.people.close() for agent in agents))


def _introduce(options: Options, server: Server, console: Console) -> None:
    names = Text(", ").join(Text(name, ROLES[name].colour) for name in options.roles)
    console.print(
        Text.assemble(
            ("\n  Example agents at work: ", "bold"),
            names,
            f"\n  {_where_to_answer(server, console)}\n",
            ("  What they release, plan and migrate exists in this demo only.\n", "dim"),
        )
    )


def _where_to_answer(server: Server, console: Console) -> str:
    if server.is_ours and console.is_terminal:
        return "Answer in your inbox, or in another terminal with the lines below."
    whose = "" if server.is_ours else "A server runs here already, so they ask there.\n  "
    return f"{whose}Answer at {server.place.url}/ or with the handraise command."


def _conclude(server: Server, console: Console, *, all_went_well: bool) -> None:
    if not server.is_ours:
        what_next = f"The server at {server.place.url} was there before and goes on."
    elif console.is_terminal:
        what_next = f"The server keeps running at {server.place.url} until you press Ctrl-C."
    else:
        what_next = "The server stops."
    how = "All agents are done." if all_went_well else "All agents have ended, not all of them as they wanted."
    console.print(Text.assemble((f"\n  {how}", "bold"), f"\n  {what_next}\n"))


def _options(words: Sequence[str]) -> Options:
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("roles", nargs="*", type=_role, metavar="AGENT", help=f"{', '.join(ROLES)}; without any, all")
    parser.add_argument("--pace", type=float, default=0.7, metavar="SECONDS", help="pause between two steps")
    parser.add_argument("--time-limit", metavar="DURATION", help="how long their questions wait, such as 30s or 5m")
    given = parser.parse_args(words)
    limits = Limits() if given.time_limit is None else Limits(time_limit=given.time_limit)
    return Options(given.roles or tuple(ROLES), given.pace, limits)


def _role(name: str) -> str:
    if name not in ROLES:
        raise argparse.ArgumentTypeError(f"there is no {name}; the agents are {', '.join(ROLES)}")
    return name


if __name__ == "__main__":
    sys.exit(main())
