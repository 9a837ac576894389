"""The server the demo talks to: the one that runs here already, or one of the demo's own."""

import asyncio
import json
import os
import sys
import tomllib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from handraise import AsyncHandraise, HandraiseError

_LOOK_AGAIN_SECONDS = 0.1
_STOP_SECONDS = 20.0


class NoServer(Exception):
    """The server ended before it was ready; it has said why itself."""


@dataclass(frozen=True)
class Place:
    """Where the server is, and the key that agents ask with."""

    url: str
    agent_key: str

    def people(self, agent: str) -> AsyncHandraise:
        return AsyncHandraise(self.agent_key, base_url=self.url, agent=agent)


@dataclass(frozen=True)
class Server:
    place: Place
    #: None for a server that was there before.
    process: asyncio.subprocess.Process | None

    @property
    def is_ours(self) -> bool:
        return self.process is not None

    async def ended(self) -> int:
        """Its exit code, once it has one; a server of somebody else's is not watched."""
        if self.process is None:
            await asyncio.Event().wait()
            return 0
        return await self.process.wait()


@asynccontextmanager
async def local_server() -> AsyncIterator[Server]:
    data_dir = data_dir_of(os.environ, Path.cwd())
    running = await _answering(data_dir)
    if running is not None:
        yield Server(running, None)
        return
    # In a session of its own, so that Ctrl-C reaches the demo alone: agents first withdraw what they asked.
    process = await asyncio.create_subprocess_exec(
        Path(sys.executable).parent / "handraise-bot",
        "serve",
        "--data-dir",
        data_dir,
        stdin=asyncio.subprocess.DEVNULL,
        env=server_environment(os.environ),
        start_new_session=True,
    )
    try:
        yield Server(await _ready(data_dir, process), process)
    finally:
        await _stop(process)


def data_dir_of(environment: Mapping[str, str], folder: Path) -> Path:
    """Where `handraise-bot serve`, started here, keeps its data."""
    try:
        settings = tomllib.loads((folder / "handraise.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        settings = {}
    return Path(environment.get("HANDRAISE_DATA_DIR") or str(settings.get("data_dir", ".handraise")))


def server_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment as it is; only who has not said otherwise gets time limits short enough to watch them run out."""
    return {"HANDRAISE_MIN_TIME_LIMIT": "1s", **environment}


def place_in(data_dir: Path) -> Place | None:
    """What the newest server with this data folder has left for programs on this machine."""
    try:
        content = json.loads((data_dir / "credentials.json").read_text(encoding="utf-8"))
        return Place(str(content["url"]), str(content["agentKey"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


async def _answering(data_dir: Path) -> Place | None:
    """The place, if a server is there that knows the key."""
    place = place_in(data_dir)
    if place is None:
        return None
    try:
        async with AsyncHandraise(place.agent_key, base_url=place.url, timeout=5.0, max_retries=0) as people:
            await people.pending(limit=1)
    except HandraiseError:
        return None
    return place


async def _ready(data_dir: Path, process: asyncio.subprocess.Process) -> Place:
    while process.returncode is None:
        place = await _answering(data_dir)
        if place is not None:
            return place
        await asyncio.sleep(_LOOK_AGAIN_SECONDS)
    raise NoServer


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _STOP_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
