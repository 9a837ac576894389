"""A TOML text that is changed in place: its comments stay beside what they are about.

tomlkit takes a comment above a table for the end of the table before. So while a text is changed such comments are
kept apart, each with the table below it, and are put back when the text is written.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.items import AoT, Comment, Item, Null, Table, Whitespace

from core.ids import JsonObject

_LONGEST_LINE = 100

#: A place in the document: keys of tables and numbers of rules.
Path = tuple[str | int, ...]


class Layout:
    def __init__(self, text: str) -> None:
        self.document = tomlkit.parse(text)
        #: What stands above a table; the table is kept with it so that nothing else gets its id.
        self._above: dict[int, tuple[Table, str]] = {}
        self._end = ""
        self._set_comments_apart()
        if self.text() != text:  # written in a way that we do not see through: better comments off than comments lost
            self.document, self._above, self._end = tomlkit.parse(text), {}, ""

    def text(self) -> str:
        for table, above in self._above.values():
            table.trivia.indent = above + table.trivia.indent
        written = tomlkit.dumps(self.document) + self._end
        for table, above in self._above.values():
            table.trivia.indent = table.trivia.indent.removeprefix(above)
        return written

    def put(self, path: Path, key: str, value: object) -> None:
        """Sets a key of a table that is there, in its place if it has one."""
        table = self._at(path)
        if isinstance(table.get(key), (Table, AoT)):
            del table[key]  # it stood below headers of its own; a plain value stands above them
        table[key] = _item(value)

    def drop(self, path: Path, key: str | int) -> None:
        holder = self._at(path)
        if isinstance(holder[key], Table):
            self._hand_on(holder[key])
        del holder[key]
        if isinstance(holder, AoT) and not len(holder):
            del self.document[str(path[0])]  # otherwise the text says that there is an empty list

    def add_table(self, path: Path, key: str, values: JsonObject) -> None:
        table = _table(values)
        if self.document.body:
            self._keep(table, "\n")
        self._at(path).append(key, table)
        table.trivia.indent = ""

    def insert(self, section: str, place: int, values: JsonObject) -> None:
        """Puts a rule before the one that has this place."""
        apart = "\n" if self.document.body else ""
        if section not in self.document:
            self.document.append(section, tomlkit.aot())
        rules: Any = self.document[section]
        if not isinstance(rules, AoT):
            rules.insert(place, _item(values))
            return
        table = _table(values)
        self._keep(table, apart)
        if place == 0 and len(rules):
            first = rules[0]
            about_all, about_it = _parted(self._above_of(first))
            self._keep(table, about_all)
            self._keep(first, "\n" + about_it)
        rules.insert(place, table)
        # tomlkit parts rules with an empty line of its own, unless it has read all of them.
        for each in rules.body:
            each.trivia.indent = each.trivia.indent.lstrip("\n")

    def _at(self, path: Path) -> Any:
        found: Any = self.document
        for step in path:
            found = found[step]
        return found

    def _set_comments_apart(self) -> None:
        order = list(_tables(self.document))
        if order:
            self._keep(order[0], _cut_middle(self.document))
        for before, after in pairwise(order):
            self._keep(after, _cut_end(before.value.body))
        if order:
            self._end = _cut_end(order[-1].value.body)

    def _keep(self, table: Table, above: str) -> None:
        self._above[id(table)] = (table, above)

    def _above_of(self, table: Table) -> str:
        return self._above.get(id(table), (table, ""))[1]

    def _hand_on(self, table: Table) -> None:
        """A comment right above a table goes with it. What stands apart is about more: the next table gets it."""
        going = list(_headed(table))
        order = list(_tables(self.document))
        about_all = "".join(_parted(self._above_of(each))[0] for each in going)
        if not about_all.strip() or not going:
            return
        last = next(place for place, each in enumerate(order) if each is going[-1])
        if last + 1 == len(order):
            self._end = about_all + self._end
            return
        following = order[last + 1]
        self._keep(following, about_all.rstrip("\n") + "\n" + self._above_of(following))


def _item(value: object) -> Item:
    return tomlkit.value(_written(value, at_top=True))


def _written(value: object, *, at_top: bool = False) -> str:
    """The value as people write it: tables in braces, long lists of tables one to a line."""
    if isinstance(value, Mapping):
        pairs = [f"{tomlkit.key(key).as_string()} = {_written(each)}" for key, each in value.items()]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list):
        parts = [_written(each) for each in value]
        line = f"[{', '.join(parts)}]"
        if len(line) <= _LONGEST_LINE or not at_top:
            return line
        return "".join(["[\n", *(f"  {part},\n" for part in parts), "]"])
    return tomlkit.item(value).as_string()


def _table(values: JsonObject) -> Table:
    table = tomlkit.table()
    for key, value in values.items():
        table.append(key, _item(value))
    return table


def _tables(holder: Any) -> Iterator[Table]:
    """All tables with a header, in the order of the text."""
    for key, item in holder.body:
        if key is not None and key.is_dotted():
            continue
        if isinstance(item, Table):
            yield from _headed(item)
        elif isinstance(item, AoT):
            for table in item.body:
                yield from _headed(table)


def _headed(table: Table) -> Iterator[Table]:
    if not table.is_super_table():
        yield table
    yield from _tables(table.value)


def _is_between(entry: tuple[object, Item]) -> bool:
    return entry[0] is None and isinstance(entry[1], (Whitespace, Comment, Null))


def _cut_end(body: list[Any]) -> str:
    """Takes blank lines and comments off the end of a table."""
    length = len(body)
    while length and _is_between(body[length - 1]):
        length -= 1
    text = "".join(item.as_string() for _, item in body[length:])
    del body[length:]
    return text


def _cut_middle(document: TOMLDocument) -> str:
    """Takes blank lines and comments away that stand between the keys at the top and the first table."""
    body = document.body
    first = next((n for n, (_, item) in enumerate(body) if isinstance(item, (Table, AoT))), len(body))
    start = first
    while start and _is_between(body[start - 1]):
        start -= 1
    if not start:
        return ""  # no keys: these comments are about the whole text
    text = "".join(item.as_string() for _, item in body[start:first])
    for place in range(start, first):
        body[place] = (None, Null())  # keys are found by their number, so nothing may move
    return text


def _parted(above: str) -> tuple[str, str]:
    """What stands apart from the table below it, up to the last empty line, and what stands right above it."""
    lines = above.splitlines(keepends=True)
    empty = [place for place, line in enumerate(lines) if not line.strip()]
    cut = empty[-1] + 1 if empty else 0
    return "".join(lines[:cut]), "".join(lines[cut:])
