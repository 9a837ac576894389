"""Which browser the browser tests take. The machines are folders of small programs; nothing is installed."""

from pathlib import Path

import pytest

from tests.support.browsers import (
    DEBIAN_PACKAGES,
    NAMES,
    Found,
    Machine,
    first_found,
    verdict,
    ways_that_change_nothing,
    ways_that_may_install,
)

DOWNLOADED = Found(Path("playwright/chrome"), "Chromium 3")


def _program(folder: Path, name: str, script: str) -> Path:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def _browser(folder: Path, name: str) -> Path:
    return _program(folder, name, f'echo "Chromium 1 called {name}"')


def _apt_get(folder: Path) -> None:
    """Installs a chromium into the same folder and notes what it was told."""
    spare = _program(folder, "chromium.deb", 'echo "Chromium 2 from Debian"')
    installing = f'[ "$1" = install ] && /bin/cp -p {spare} {folder / "chromium"}'
    _program(folder, "apt-get", f'echo "$@" >> {folder / "told"}\n{installing}\ntrue')


def _found(machine: Machine, said: list[str] | None = None) -> Found | None:
    say = (said if said is not None else []).append
    return first_found(ways_that_may_install(machine, lambda: DOWNLOADED, say))


@pytest.mark.parametrize("name", NAMES)
def test_a_browser_on_the_path_is_taken_under_each_of_its_names(tmp_path: Path, name: str) -> None:
    browser = _browser(tmp_path, name)

    assert _found(Machine(str(tmp_path), is_root=True)) == Found(browser, f"Chromium 1 called {name}")


def test_chromium_on_the_path_comes_before_chrome_and_nothing_is_installed(tmp_path: Path) -> None:
    _browser(tmp_path, "google-chrome")
    chromium = _browser(tmp_path, "chromium")
    _program(tmp_path, "apt-get", f"echo called >> {tmp_path / 'told'}")
    said: list[str] = []

    found = _found(Machine(str(tmp_path), is_root=True), said)

    assert found is not None
    assert found.executable == chromium
    assert (said, (tmp_path / "told").exists()) == ([], False)


def test_a_chromium_that_only_says_how_to_get_one_is_passed_over(tmp_path: Path) -> None:
    _program(tmp_path, "chromium", "echo 'Chromium has to be installed otherwise'; exit 1")
    _program(tmp_path, "chromium-browser", "echo 'install me from the store'")
    chrome = _browser(tmp_path, "google-chrome")

    found = _found(Machine(str(tmp_path), is_root=True))

    assert found is not None
    assert found.executable == chrome


def test_root_gets_debians_package_with_fonts_after_one_line(tmp_path: Path) -> None:
    _apt_get(tmp_path)
    said: list[str] = []

    found = _found(Machine(str(tmp_path), is_root=True), said)

    assert found == Found(tmp_path / "chromium", "Chromium 2 from Debian")
    assert len(said) == 1
    update, install = (tmp_path / "told").read_text(encoding="utf-8").splitlines()
    assert update.startswith("update")
    assert install.endswith(" ".join(DEBIAN_PACKAGES))


def test_whoever_becomes_root_without_a_password_gets_it_too(tmp_path: Path) -> None:
    _apt_get(tmp_path)
    _program(tmp_path, "sudo", 'shift; exec "$@"')

    found = _found(Machine(str(tmp_path), is_root=False))

    assert found is not None
    assert found.version == "Chromium 2 from Debian"


@pytest.mark.parametrize("sudo", [None, "exit 1"])
def test_whoever_may_not_install_gets_playwrights_download(tmp_path: Path, sudo: str | None) -> None:
    _apt_get(tmp_path)
    if sudo is not None:
        _program(tmp_path, "sudo", sudo)

    assert _found(Machine(str(tmp_path), is_root=False)) == DOWNLOADED
    assert not (tmp_path / "told").exists()


def test_without_such_a_package_playwrights_download_is_taken(tmp_path: Path) -> None:
    _program(tmp_path, "apt-get", "exit 100")

    assert _found(Machine(str(tmp_path), is_root=True)) == DOWNLOADED


def test_without_apt_get_playwrights_download_is_taken(tmp_path: Path) -> None:
    assert _found(Machine(str(tmp_path), is_root=True)) == DOWNLOADED


def test_a_test_itself_installs_nothing(tmp_path: Path) -> None:
    _apt_get(tmp_path)

    looking = ways_that_change_nothing(Machine(str(tmp_path), is_root=True), lambda: None)

    assert first_found(looking) is None
    assert not (tmp_path / "told").exists()


def test_a_browser_is_named() -> None:
    assert verdict(DOWNLOADED, {"CI": "true"}) == ("browser tests use Chromium 3: playwright/chrome", 0)


@pytest.mark.parametrize(("environment", "exit_code"), [({}, 0), ({"CI": "false"}, 0), ({"CI": "true"}, 1)])
def test_a_missing_browser_is_a_clear_line_and_in_ci_a_failure(environment: dict[str, str], exit_code: int) -> None:
    line, code = verdict(None, environment)

    assert "browser tests are left out: there is no chromium or chrome on the PATH" in line
    assert "apt-get install chromium" in line
    assert code == exit_code
