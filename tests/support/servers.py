"""The product as a process: started as a person starts it, talked to over real HTTP, stopped or killed."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

BIN = Path(sys.executable).parent
ROOT = Path(__file__).parents[2]
_READY = re.compile(r"handraise ready at (http://\S+)")
_HANG_SECONDS = 60


def clean_environment(**settings: str) -> dict[str, str]:
    """This process's environment without settings of ours, plus the given ones."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HANDRAISE_")}
    return kept | {f"HANDRAISE_{name.upper()}": value for name, value in settings.items()}


class RunningServer:
    """One `handraise-bot serve`. Its log is kept in `<data_dir>/server.log`."""

    def __init__(self, data_dir: Path, *, port: int = 0, **settings: str) -> None:
        data_dir.mkdir(parents=True, exist_ok=True)
        self.data_dir = data_dir
        self.log = data_dir / "server.log"
        self._settings = settings
        environment = clean_environment(**({"rate_limit": "off", "min_time_limit": "1s"} | settings))
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(BIN / "handraise-bot"), "serve", "--port", str(port), "--data-dir", str(data_dir)],
                cwd=data_dir,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self.url = self._ready()
        self.port = int(self.url.rsplit(":", 1)[1])
        credentials = json.loads((data_dir / "credentials.json").read_text())
        self.agent_key: str = credentials["agentKey"]
        self.admin_key: str = credentials["adminKey"]

    def _ready(self) -> str:
        watchdog = threading.Timer(_HANG_SECONDS, self.process.kill)
        watchdog.start()
        try:
            assert self.process.stdout is not None
            for line in self.process.stdout:
                found = _READY.match(line)
                if found is not None:
                    return found[1]
        finally:
            watchdog.cancel()
        self.process.stdout.close()
        raise AssertionError(f"the server did not start:\n{self.log.read_text()}")

    def client(self, key: str | None = None) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, headers=_bearer(key or self.agent_key), timeout=_HANG_SECONDS)

    def admin(self) -> httpx2.Client:
        return self.client(self.admin_key)

    def async_client(self, key: str | None = None) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            base_url=self.url,
            headers=_bearer(key or self.agent_key),
            timeout=_HANG_SECONDS,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=None),
        )

    def new_key(self, name: str, scope: str, person: str | None = None) -> str:
        """A key made as an operator makes it, with `handraise-bot keys create`."""
        whose = ["--person", person] if person is not None else []
        made: str = self.made_key(name, scope, *whose)["key"]
        return made

    def made_key(self, name: str, scope: str, *words: str) -> dict[str, Any]:
        """The same, with all that is said about it."""
        made: dict[str, Any] = json.loads(self._keys("create", "--name", name, "--scope", scope, "--json", *words))
        return made

    def revoke(self, name: str) -> None:
        """Revoke the keys of this name, as an operator does."""
        for key in json.loads(self._keys("list", "--json")):
            if key["name"] == name:
                self._keys("revoke", key["id"])

    def _keys(self, *words: str) -> str:
        done = subprocess.run(
            [str(BIN / "handraise-bot"), "keys", *words, "--data-dir", str(self.data_dir)],
            cwd=self.data_dir,
            env=clean_environment(**self._settings),
            capture_output=True,
            text=True,
            check=True,
            timeout=_HANG_SECONDS,
        )
        return done.stdout

    def kill(self) -> None:
        """The power goes out."""
        self.process.send_signal(signal.SIGKILL)
        self._gone()

    def stop(self) -> int:
        """Ask it to stop, as an operator does; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self._gone()

    def _gone(self) -> int:
        code = self.process.wait(_HANG_SECONDS)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code


def _bearer(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"}


@contextmanager
def running(data_dir: Path, **settings: Any) -> Iterator[RunningServer]:
    server = RunningServer(data_dir, **settings)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()
