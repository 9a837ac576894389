"""Authority and quorum told a second time, in the plainest way there is. Nothing here comes from `core`.

A vote is a word: "no", or what exactly somebody said yes to. Time is a number. Brute force is welcome.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

NO = "no"


@dataclass
class Someone:
    rank: int
    there: bool = True
    same_as: str | None = None
    away_until: int = 0
    stand_in: str | None = None


@dataclass(frozen=True)
class Bench:
    need: int
    names: frozenset[str] = frozenset()
    group: str | None = None  # names are only good while they are in it
    rank: int | None = None  # or whoever has this one


@dataclass
class Model:
    people: dict[str, Someone]
    groups: dict[str, set[str]]
    benches: list[Bench]
    barred: frozenset[str]  # the asker among them, if it is a person
    rejections: int
    words: dict[str, str] = field(default_factory=dict)  # what each id said last, the newest word last
    state: str = "open"
    have: int = 0
    deciders: frozenset[str] = frozenset()

    def real(self, name: str) -> str:
        other = self.people[name].same_as
        return name if other is None else self.real(other)

    def may(self, name: str, now: int) -> bool:
        if name not in self.people or not self.people[self.real(name)].there:
            return False
        me, unwanted = self.real(name), {self.real(other) for other in self.barred}
        return me not in unwanted and any(self.sits(me, bench, now, unwanted) for bench in self.benches)

    def sits(self, name: str, bench: Bench, now: int, not_replaced: Collection[str]) -> bool:
        if bench.rank is not None and self.people[name].rank >= bench.rank:
            return True
        named = {self.real(other) for other in bench.names}
        if bench.group is not None:
            named &= {self.real(other) for other in self.groups[bench.group]}
        return name in named or any(self.replaces(name, other, now) for other in named - set(not_replaced))

    def replaces(self, name: str, absent: str, now: int) -> bool:
        """Whether `name` sits for somebody who is away, and is nobody lesser."""
        passed = [absent]
        while self.people[passed[-1]].away_until > now and (after := self.people[passed[-1]].stand_in) is not None:
            if self.real(after) in passed or not self.people[self.real(after)].there:
                break
            passed.append(self.real(after))
        enough = self.people[name].rank >= self.people[absent].rank
        return self.people[absent].there and absent != name and passed[-1] == name and enough

    def seated(self, names: Collection[str], now: int) -> int:
        """The most seats that these people can fill, each of them one."""
        reach = {(0,) * len(self.benches)}
        own = {self.real(other) for other in self.barred} | set(names)  # a place is not there twice
        for name in names:
            fits = [n for n, bench in enumerate(self.benches) if self.sits(name, bench, now, own)]
            reach |= {(*taken[:n], taken[n] + 1, *taken[n + 1 :]) for taken in reach for n in fits}
            reach = {taken for taken in reach if all(t <= b.need for t, b in zip(taken, self.benches, strict=True))}
        return max(sum(taken) for taken in reach)

    def press(self, name: str, word: str, now: int) -> bool:
        """Somebody says a word; False when it is not heard."""
        if self.state != "open" or not self.may(name, now):
            return False
        me, before = self.real(name), list(self.words.items())
        last = {self.real(other): other for other in self.words}  # one person, one word: the last under any id
        self.words = {by: said for by, said in before if last[self.real(by)] == by and self.may(by, now)}
        if self.words.get(me) != word:
            self.words = {by: said for by, said in self.words.items() if self.real(by) != me} | {me: word}
        same = frozenset(self.real(by) for by, said in self.words.items() if said == word)
        if word == NO and len(same) >= self.rejections:
            self.state, self.deciders = "rejected", same
        elif word != NO and self.seated(same, now) == sum(bench.need for bench in self.benches) > 0:
            self.state, self.deciders, self.words = "approved", same, dict.fromkeys(same, word)
        if self.state != "open" or list(self.words.items()) != before:  # a second press changes nothing
            yes = [(self.real(by), said) for by, said in self.words.items() if said != NO]
            self.have = self.seated([by for by, said in yes if said == yes[-1][1]], now)
        return True
