"""One run of the command: which server, which keys, and whether stdout belongs to JSON."""

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import typer

from handraise.client import Handraise
from handraise.credentials import Credentials, find_credentials
from handraise.errors import NotFound

T = TypeVar("T")


class Session:
    def __init__(self) -> None:
        self.url: str | None = None
        self.api_key: str | None = None
        self.wants_json = False

    @cached_property
    def credentials(self) -> Credentials:
        return find_credentials(
            url=self.url, api_key=self.api_key, environment=os.environ, folder=Path.cwd(), home=Path.home()
        )

    @cached_property
    def agent(self) -> Handraise:
        """The client that asks."""
        return self._client(self.credentials.agent_key)

    @cached_property
    def person(self) -> Handraise:
        """The client that answers and sees what waits for its person."""
        return self._client(self.credentials.person_key)

    def as_asker_or_person(self, act: Callable[[Handraise], T]) -> T:
        """The agent's own questions first; what it may not see, the person at this machine may."""
        try:
            return act(self.agent)
        except NotFound:
            if self.credentials.agent_key == self.credentials.person_key:
                raise
            return act(self.person)

    def _client(self, api_key: str) -> Handraise:
        return Handraise(api_key, base_url=self.credentials.url)


def session_in(context: typer.Context, *, wants_json: bool) -> Session:
    session = context.obj
    if not isinstance(session, Session):
        raise TypeError("the command runs without a session")
    session.wants_json = wants_json
    return session
