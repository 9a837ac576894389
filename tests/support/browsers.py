"""Finds the Chromium that browser tests run in; `python -m tests.support.browsers` installs one if there is none.

In this order: chromium or chrome on the PATH, Debian's chromium where it may be installed, Playwright's own download.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
#: A bare machine has no fonts, and without them every text is as wide as nothing.
DEBIAN_PACKAGES = ("chromium", "fonts-dejavu-core", "fonts-noto-color-emoji")
LEFT_OUT = (
    "browser tests are left out: there is no chromium or chrome on the PATH. "
    "Install one (`apt-get install chromium`) or run `.venv/bin/playwright install chromium`."
)
_HANG_SECONDS = 900
#: Asked in a process of its own: Playwright leaves an event loop running in the one that asks.
_WHERE_PLAYWRIGHT_KEEPS_ITS_OWN = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""

Way = Callable[[], "Found | None"]
Say = Callable[[str], None]


class Found(NamedTuple):
    executable: Path
    version: str


class Machine(NamedTuple):
    """What the search depends on."""

    path: str
    is_root: bool

    @classmethod
    def this(cls) -> "Machine":
        return cls(path=os.environ.get("PATH", os.defpath), is_root=os.geteuid() == 0)

    def which(self, name: str) -> str | None:
        return shutil.which(name, path=self.path)


def first_found(ways: Iterator[Way]) -> Found | None:
    """The later ways are not even tried when an earlier one leads somewhere."""
    return next((found for way in ways if (found := way()) is not None), None)


def ways_that_change_nothing(machine: Machine, downloaded: Way) -> Iterator[Way]:
    yield lambda: on_the_path(machine)
    yield downloaded


def ways_that_may_install(machine: Machine, download: Way, say: Say) -> Iterator[Way]:
    yield lambda: on_the_path(machine)
    yield lambda: from_debian(machine, say)
    yield download


def on_the_path(machine: Machine) -> Found | None:
    executables = (machine.which(name) for name in NAMES)
    return next((found for each in executables if each is not None and (found := _running(Path(each)))), None)


def from_debian(machine: Machine, say: Say) -> Found | None:
    become_root = _how_to_become_root(machine)
    apt_get = machine.which("apt-get")
    if apt_get is None or become_root is None:
        return None
    say(f"no browser found; installing {', '.join(DEBIAN_PACKAGES)} with apt-get")
    command = [*become_root, "env", "DEBIAN_FRONTEND=noninteractive", apt_get]
    patient = ["-q", "-o", "DPkg::Lock::Timeout=300"]
    _shown([*command, "update", *patient])
    installed = _shown([*command, "install", *patient, "--yes", "--no-install-recommends", *DEBIAN_PACKAGES])
    return on_the_path(machine) if installed else None


def playwrights_own() -> Found | None:
    """What `playwright install` left on this machine earlier."""
    command = [sys.executable, "-c", _WHERE_PLAYWRIGHT_KEEPS_ITS_OWN]
    asked = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_HANG_SECONDS)
    executable = Path(asked.stdout.strip())
    return _running(executable) if asked.returncode == 0 and executable.is_file() else None


def playwrights_download(say: Say) -> Found | None:
    already = playwrights_own()
    if already is not None:
        return already
    say("no browser found; downloading Playwright's own chromium")
    _shown([sys.executable, "-m", "playwright", "install", "--no-shell", "chromium"])
    return playwrights_own()


def verdict(found: Found | None, environment: Mapping[str, str]) -> tuple[str, int]:
    """What to say, and the exit code: where everything must be tested, a missing browser is a failure."""
    if found is not None:
        return f"browser tests use {found.version}: {found.executable}", 0
    if must_have_a_browser(environment):
        return f"CI=true, and {LEFT_OUT}", 1
    return LEFT_OUT, 0


def must_have_a_browser(environment: Mapping[str, str]) -> bool:
    return environment.get("CI") == "true"


def _running(executable: Path) -> Found | None:
    """Asked for its version, because some distributions ship a `chromium` that only says how to get one."""
    try:
        asked = subprocess.run([executable, "--version"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = asked.stdout.strip()
    return Found(executable, version) if asked.returncode == 0 and "Chrom" in version else None


def _how_to_become_root(machine: Machine) -> list[str] | None:
    if machine.is_root:
        return []
    sudo = machine.which("sudo")
    if sudo is not None and subprocess.run([sudo, "-n", "true"], capture_output=True, check=False).returncode == 0:
        return [sudo, "-n"]
    return None


def _shown(command: list[str]) -> bool:
    try:
        return subprocess.run(command, check=False, timeout=_HANG_SECONDS).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> int:
    found = first_found(ways_that_may_install(Machine.this(), lambda: playwrights_download(_say), _say))
    line, exit_code = verdict(found, os.environ)
    _say(line)
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
