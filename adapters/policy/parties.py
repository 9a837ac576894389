"""Who the rules speak of: people by what they are called, and the groups and schedules that the text defines."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from adapters.policy.fields import Fields, Word, as_word, text_problem, type_name
from adapters.policy.problems import Findings
from adapters.policy.words import backing_in
from core.ids import PersonId
from core.people import Handle
from core.phrasing import shown
from core.roster import Roster
from core.rulebook import GroupRule


class People:
    """Looks people up as the text calls them."""

    def __init__(self, roster: Roster, findings: Findings, *, lenient: bool) -> None:
        self._roster = roster
        self._findings = findings
        self._lenient = lenient
        self._known: dict[str, PersonId | None] = {}

    def find(self, word: Word, others: Iterable[str] = ()) -> PersonId | None:
        found = self._called(word.text)
        if found is None and not self._lenient:
            self._findings.add(word.where, self._nobody(word.text, others))
        return found

    def find_all(self, words: Iterable[Word]) -> tuple[PersonId, ...]:
        """Each person once, however often and under whatever name they are written down."""
        found = [self.find(word) for word in words]
        return tuple(dict.fromkeys(person for person in found if person is not None))

    def count(self, words: Collection[Word]) -> int:
        """How many people these are. Strangers count as well: they are a problem of their own already.

        In what was stored earlier every word counts, since people have left or turned out to be one person since.
        """
        return len(words) if self._lenient else len({self._called(word.text) or word.text for word in words})

    def _called(self, name: str) -> PersonId | None:
        if name not in self._known and self._findings.is_full:
            return None  # looking for somebody goes through everybody, and nobody reads on anyway
        if name not in self._known:
            person = self._roster.find(name)
            self._known[name] = person.id if person is not None else None
        return self._known[name]

    def _nobody(self, name: str, others: Iterable[str]) -> str:
        if self._findings.is_full:
            return ""  # not told any more, only counted
        active = [person for person in self._roster.people.values() if person.is_active]
        called = [person for person in active if person.name.casefold() == name.casefold()]
        if len(called) > 1:
            return f"{len(called)} people are called {shown(name)}. Write an id or an address instead of the name."
        names = [*others, *(person.name for person in active), *(h.address for p in active for h in p.handles)]
        return f"Nobody is called {shown(name)}.{self._findings.nearest(name, names)}"


@dataclass(frozen=True, slots=True)
class Parties:
    """Everybody that rules can name. Broken groups and schedules are among them: one mistake is one problem."""

    people: People
    group_names: tuple[str, ...] = ()
    schedule_names: tuple[str, ...] = ()
    #: How many people a group has; absent where a surface keeps it or it is broken.
    sizes: Mapping[str, int] = field(default_factory=dict)


def read_groups(root: Fields, people: People) -> tuple[dict[str, GroupRule], dict[str, int]]:
    """The groups, and how many people those have that the text itself names."""
    groups: dict[str, GroupRule] = {}
    sizes: dict[str, int] = {}
    for name, where, value in root.entries("groups"):
        check_name(name, where, root.findings)
        if isinstance(value, str):
            groups[name] = GroupRule(backing=_backing(value, where, root.findings))
        elif isinstance(value, list):
            words = _members(value, where, root.findings)
            groups[name] = GroupRule(people.find_all(words))
            if len(words) == len(value):
                sizes[name] = people.count(words)
        else:
            sentence = f"Write a list of people or a text such as “slack:S0123ABC”; this is {type_name(value)}."
            root.findings.add(where, sentence)
            groups[name] = GroupRule()
    return groups, sizes


def check_name(name: str, where: str, findings: Findings) -> None:
    problem = text_problem(name)
    if problem is None and ":" in name:
        problem = "A name has no colon: the word before a colon says what it is the name of."
    if problem is not None:
        findings.add(where, problem)


def _backing(text: str, where: str, findings: Findings) -> Handle | None:
    try:
        return Handle(*backing_in(text))
    except ValueError as problem:
        findings.add(where, str(problem))
        return None


def _members(value: Sequence[object], where: str, findings: Findings) -> list[Word]:
    if not value:
        findings.add(where, "A group needs at least one person.")
    words = [as_word(each, f"{where}[{n}]", findings) for n, each in enumerate(value)]
    return [word for word in words if word is not None]
