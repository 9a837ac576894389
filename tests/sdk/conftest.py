"""Fixtures: a stand-in server, and the real command run as a process in an empty folder."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from .stand_in import AGENT_KEY, PERSON_KEY, StandIn

COMMAND = str(Path(sys.executable).parent / "handraise")
PATIENCE = 20


@dataclass
class Terminal:
    """A shell without a terminal: its own folder and home, no proxies, no keys but those it is given."""

    folder: Path
    settings: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        path = f"{Path(COMMAND).parent}{os.pathsep}{os.environ['PATH']}"
        return {"PATH": path, "HOME": str(self.folder), "LC_ALL": "C.UTF-8", **self.settings}

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return self._run([COMMAND, *words], stdin)

    def python(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self._run([sys.executable, *words], "")

    def shell(self, script: str) -> subprocess.CompletedProcess[str]:
        return self._run(["sh", "-c", script], "")

    def _run(self, command: list[str], stdin: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment(),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [COMMAND, *words],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


@pytest.fixture
def server() -> Iterator[StandIn]:
    with StandIn() as stand_in:
        yield stand_in


@pytest.fixture
def terminal(tmp_path: Path, server: StandIn) -> Terminal:
    """A terminal beside a server that was started here."""
    write_credentials(tmp_path / ".handraise" / "credentials.json", server.url)
    return Terminal(tmp_path)


@pytest.fixture
def bare_terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


def write_credentials(path: Path, url: str, mode: int = 0o600) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{{"url": "{url}", "adminKey": "{PERSON_KEY}", "agentKey": "{AGENT_KEY}"}}')
    path.chmod(mode)
    return path
