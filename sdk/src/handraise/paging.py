"""Lists that the server tells page by page. A page may be empty though more follow: rows that a key may not see."""

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from handraise.errors import UnexpectedReply
from handraise.messages import Call
from handraise.wire import Json

PAGE_SIZE = 100

T = TypeVar("T")


class Paging(Generic[T]):
    """Where in a list we are: the call for the next page, until there is none."""

    def __init__(
        self,
        path: str,
        name: str,
        read: Callable[[object], T],
        *,
        limit: int | None,
        query: Mapping[str, str] | None = None,
    ) -> None:
        self._path, self._name, self._read = path, name, read
        self._query = query or {}
        self._left = limit
        self.cursor: str | None = None
        self.is_over = limit is not None and limit <= 0

    def next_call(self) -> Call:
        size = PAGE_SIZE if self._left is None else min(PAGE_SIZE, self._left)
        query = {**self._query, "limit": str(size)}
        if self.cursor is not None:
            query["cursor"] = self.cursor
        return Call("GET", self._path, query=query)

    def take(self, page: Json) -> tuple[T, ...]:
        rows, following = page.get(self._name), page.get("nextCursor")
        if not isinstance(rows, list):
            raise UnexpectedReply(f"The server sent a list without {self._name}.")
        found = tuple(map(self._read, rows))
        if not isinstance(following, str) or following == self.cursor:
            self.cursor, self.is_over = None, True
        else:
            self.cursor = following
        if self._left is not None:
            found = found[: self._left]
            self._left -= len(found)
            self.is_over = self.is_over or self._left == 0
        return found
