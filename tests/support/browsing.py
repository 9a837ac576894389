"""A browser without a screen: signs in with a one-time link, keeps cookies, sends forms as our pages do."""

import html
import re
import subprocess
from typing import Any

import httpx2

from tests.support.servers import BIN, RunningServer, clean_environment

_TOKEN = re.compile(r'data-token="([^"]+)"')


def login_link(server: RunningServer, name: str | None = None) -> str:
    """What `handraise-bot people login` prints."""
    words = [name] if name is not None else []
    done = subprocess.run(
        [str(BIN / "handraise-bot"), "people", "login", *words, "--data-dir", str(server.data_dir)],
        cwd=server.data_dir,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.strip()


def words_of(page: str) -> str:
    """The text of a page as a reader sees it, on one line."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


class Visit(httpx2.Client):
    """Somebody who is signed in, or nobody yet."""

    def __init__(self, server: RunningServer, name: str | None = None, *, signed_in: bool = True) -> None:
        super().__init__(base_url=server.url, timeout=60)
        self._origin = server.url
        if signed_in:
            secret = login_link(server, name).rsplit("/", 1)[1]
            entered = httpx2.post(f"{server.url}/login", data={"link": secret}, headers={"Origin": server.url})
            assert entered.status_code == 303, entered.text
            self.cookies = entered.cookies

    def token(self) -> str:
        found = _TOKEN.search(self.get("/jobs").text)
        assert found is not None
        return found[1]

    def submit(self, path: str, fields: dict[str, Any], *, by_script: bool = False) -> httpx2.Response:
        """A form of one of our pages."""
        headers = {"Origin": self._origin} | ({"X-Handraise": "1"} if by_script else {})
        return self.post(path, data={"token": self.token(), **fields}, headers=headers)

    def words(self, path: str) -> str:
        response = self.get(path)
        assert response.status_code == 200, (path, response.status_code, words_of(response.text))
        return words_of(response.text)
