"""Where the server is and which keys to use: options, then the environment, then a credentials.json near by."""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from handraise.errors import HandraiseError

FILE_NAME = "credentials.json"
FOLDER_NAME = ".handraise"
LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "::1", "0.0.0.0"})


class CredentialsError(HandraiseError):
    """No usable address or key; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The agent's key asks, the person's key answers; `source` says where they came from."""

    url: str
    agent_key: str
    person_key: str
    source: str


@dataclass(frozen=True, slots=True)
class _CredentialsFile:
    path: Path
    url: str
    agent_key: str | None
    person_key: str | None


def find_credentials(
    *, url: str | None, api_key: str | None, environment: Mapping[str, str], folder: Path, home: Path
) -> Credentials:
    key_source = "--api-key" if api_key else "HANDRAISE_API_KEY"
    url = url or environment.get("HANDRAISE_URL") or None
    api_key = api_key or environment.get("HANDRAISE_API_KEY") or None
    file = None if url and api_key else _nearest_file(environment, folder, home)
    url = url or (file.url if file else None)
    if url is None:
        raise CredentialsError(
            _nothing_found("there is a key but no address" if api_key else "no server is known here")
        )
    url = checked_url(url)
    if api_key:
        key = _checked_key(api_key, key_source)
        return Credentials(url, key, key, key_source)
    # The file's keys belong to the file's server and are never shown to another one.
    if file is None or _server(checked_url(file.url)) != _server(url):
        raise CredentialsError(_nothing_found(f"there is no key for {url}"))
    agent_key, person_key = file.agent_key or file.person_key, file.person_key or file.agent_key
    if agent_key is None or person_key is None:
        raise CredentialsError(f"{file.path} holds neither an agentKey nor an adminKey.")
    source = str(file.path)
    return Credentials(url, _checked_key(agent_key, source), _checked_key(person_key, source), source)


def candidate_files(environment: Mapping[str, str], folder: Path, home: Path) -> Iterator[Path]:
    data_dir = environment.get("HANDRAISE_DATA_DIR")
    if data_dir:
        yield Path(data_dir).expanduser() / FILE_NAME
    for place in (folder, *folder.parents):
        yield place / FOLDER_NAME / FILE_NAME
    yield home / FOLDER_NAME / FILE_NAME


def checked_url(url: str) -> str:
    trimmed = url.strip().rstrip("/")
    try:
        parts = urlsplit(trimmed)
        is_usable = (
            # Of the whole text, because splitting it drops line ends and tabs.
            trimmed.isprintable()
            and " " not in trimmed
            and parts.scheme in ("http", "https")
            and bool(parts.hostname and parts.hostname.encode("idna"))
            and parts.port != 0
        )
    except ValueError:
        is_usable = False
    if not is_usable:
        raise CredentialsError(f"{url!r} is not the address of a server: write it as http://HOST:PORT or https://HOST.")
    return trimmed


def _nearest_file(environment: Mapping[str, str], folder: Path, home: Path) -> _CredentialsFile | None:
    for path in candidate_files(environment, folder, home):
        if path.exists():
            return _read(path)
    return None


def _read(path: Path) -> _CredentialsFile:
    try:
        # A file from a cloned repository is not private, so it cannot lead questions to a stranger's server.
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise CredentialsError(f"{path} can be read by others, so it is not trusted: if it is yours, chmod 600 it.")
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as failure:
        raise CredentialsError(f"{path} cannot be read: {failure.strerror}.") from None
    except ValueError:
        raise CredentialsError(f"{path} is broken: it does not hold JSON.") from None
    if not isinstance(content, dict) or not isinstance(content.get("url"), str):
        raise CredentialsError(f'{path} is broken: it should hold {{"url", "adminKey", "agentKey"}}.')
    return _CredentialsFile(path, content["url"], _key(content, "agentKey", path), _key(content, "adminKey", path))


def _key(content: dict[str, object], name: str, path: Path) -> str | None:
    key = content.get(name)
    if key is not None and not isinstance(key, str):
        raise CredentialsError(f"{path} is broken: {name} is not a string.")
    return key or None


def _checked_key(key: str, source: str) -> str:
    trimmed = key.strip()
    if not trimmed.isascii() or not trimmed.isprintable() or " " in trimmed or not trimmed:
        raise CredentialsError(f"The key from {source} is not a key: it should look like hr_….")
    return trimmed


def _server(url: str) -> tuple[str, str, int, str]:
    parts = urlsplit(url)
    host = "loopback" if parts.hostname in LOOPBACK_HOSTS else str(parts.hostname)
    return parts.scheme, host, parts.port or (443 if parts.scheme == "https" else 80), parts.path


def _nothing_found(what: str) -> str:
    return (
        f"Cannot tell which server to talk to: {what}. Start one with `make run` or `handraise-bot serve`, "
        "or set HANDRAISE_URL and HANDRAISE_API_KEY."
    )
