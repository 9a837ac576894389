"""Settings: oneself, and for admins everybody: roles, handles, hours, absence, groups, who is on call, signing in."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.posted import Posted
from bot.people import PersonChange, person_called
from bot.settings import parse_duration
from bot.web.ground import Pages, Refusal, need_sure, see
from bot.web.visitors import Visitor, new_link
from core.hours import instant_of, windows_text
from core.ids import PersonId
from core.membership import NotPossible, handle_from
from core.people import Person, Role
from core.phrasing import span
from core.roster import Roster
from core.schedules import next_on_call, on_call

#: Where people type a code to be known there too.
_CHATS = {"slack": "Slack", "discord": "Discord"}
_FIELDS = ("name", "role", "zone", "working", "quiet")


class PeopleSettings(Pages):
    async def own(self, request: Request, visitor: Visitor) -> Response:
        return await self._own_page(visitor)

    async def several(self, request: Request, visitor: Visitor) -> Response:
        return await self._people_page(visitor)

    async def one(self, request: Request, visitor: Visitor) -> Response:
        self._need_admin(visitor)
        return await self._person_page(visitor, await self._person(request))

    async def _own_page(self, visitor: Visitor, status: int = 200, **more: Any) -> Response:
        roster = await self.services.people_office.roster()
        connected, rules = self.services.household.connected, self.site.visitors.rules
        shown = {"problem": "", "code": "", "kept": Posted({}), **more}
        return self.page(
            visitor,
            "settings.html",
            status,
            person=roster.active(visitor.person.id) or visitor.person,
            hours=windows_text,
            people=_active_names(roster),
            names=_names(roster),
            connected=connected,
            chats=[name for surface, name in _CHATS.items() if surface in connected],
            idle=span(rules.idle),
            lifetime=span(rules.lifetime),
            **shown,
        )

    async def _people_page(self, visitor: Visitor, status: int = 200, **more: Any) -> Response:
        roster = await self.services.people_office.roster()
        now = datetime.now(UTC)
        known = [person for person in roster.people.values() if person.merged_into is None]
        schedules = [
            (name, [roster.people[id].name for id in on_call(schedule, now)], next_on_call(schedule, now))
            for name, schedule in sorted(roster.schedules.items())
        ]
        rules = self.services.household.rulebook.groups
        groups = [(name, [p.name for p in roster.members(name)], rules[name].backing) for name in sorted(roster.groups)]
        shown = {"problem": "", "kept": Posted({}), **more}
        return self.page(
            visitor,
            "settings_people.html",
            status,
            everybody=sorted(known, key=lambda person: (not person.is_active, person.name.casefold())),
            roster=roster,
            groups=groups,
            schedules=schedules,
            roles=list(Role),
            hours=windows_text,
            **shown,
        )

    async def _person_page(self, visitor: Visitor, person: Person, status: int = 200, **more: Any) -> Response:
        roster = await self.services.people_office.roster()
        shown = {"problem": "", "link": "", "kept": Posted({}), **more}
        return self.page(
            visitor,
            "settings_person.html",
            status,
            person=roster.people.get(person.id, person),
            roles=list(Role),
            hours=windows_text,
            people=_active_names(roster),
            names=_names(roster),
            **shown,
        )

    async def change_own(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        change = PersonChange(zone=posted.text("zone"), working=posted.text("working"), quiet=posted.text("quiet"))

        async def work() -> None:
            await self.services.people_office.change(visitor.person, change, by=visitor.person.name)

        return await self._tried(
            work, "/settings", lambda problem: self._own_page(visitor, 422, problem=problem, kept=posted)
        )

    async def away_own(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        return await self._tried(
            lambda: self._set_away(visitor.person, posted, visitor),
            "/settings",
            lambda problem: self._own_page(visitor, 422, problem=problem, kept=posted),
        )

    async def code(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        code = await self.services.people_office.link_code(visitor.person)
        return await self._own_page(visitor, code=code)

    async def add(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        self._need_admin(visitor)
        handles = tuple(filter(None, posted.text("handles").split()))
        change = PersonChange(posted.text("name"), posted.maybe("role"), handles)

        async def work() -> None:
            await self.services.people_office.add(change, by=visitor.person.name)

        return await self._tried(
            work, "/settings/people", lambda problem: self._people_page(visitor, 422, problem=problem, kept=posted)
        )

    async def change(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        self._need_admin(visitor)
        person = await self._person(request)
        handles = tuple(posted.text("handles").split())
        change = PersonChange(**{name: posted.text(name) for name in _FIELDS}, handles=handles)

        async def work() -> None:
            await self.services.people_office.change(person, change, by=visitor.person.name)

        return await self._tried(work, _address(person), self._again(visitor, person, posted))

    async def away(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        self._need_admin(visitor)
        person = await self._person(request)
        return await self._tried(
            lambda: self._set_away(person, posted, visitor), _address(person), self._again(visitor, person, posted)
        )

    async def link(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        self._need_admin(visitor)
        person = await self._person(request)

        async def work() -> None:
            await self.services.people_office.connect(
                person, handle_from(posted.text("handle")), by=visitor.person.name
            )

        return await self._tried(work, _address(person), self._again(visitor, person, posted))

    async def sign_in_link(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        self._need_admin(visitor)
        person = await self._person(request)
        if not person.is_active:
            raise Refusal(f"{person.name} was removed and does not sign in.", 422)
        link = await new_link(self.site.visitors.sessions, person, self.site.base_url)
        return await self._person_page(visitor, person, link=link)

    async def end_sessions(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        self._need_admin(visitor)
        person = await self._person(request)
        await self.site.visitors.end_all(person)
        return see(_address(person))

    async def remove(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        self._need_admin(visitor)
        person = await self._person(request)
        need_sure(posted)

        async def work() -> None:
            await self.services.people_office.remove(person, by=visitor.person.name)
            await self.site.visitors.end_all(person)

        return await self._tried(work, "/settings/people", self._again(visitor, person, posted))

    async def _set_away(self, person: Person, posted: Posted, visitor: Visitor) -> None:
        office = self.services.people_office
        until = None if posted.text("back") else _until(posted.text("until"), person.zone)
        stand_in = await office.find(posted.text("stand_in")) if posted.text("stand_in") else None
        await office.set_away(person, until, stand_in, by=visitor.person.name)

    def _again(self, visitor: Visitor, person: Person, posted: Posted) -> Callable[[str], Awaitable[Response]]:
        return lambda problem: self._person_page(visitor, person, 422, problem=problem, kept=posted)

    async def _tried(
        self, work: Callable[[], Awaitable[None]], path: str, again: Callable[[str], Awaitable[Response]]
    ) -> Response:
        try:
            await work()
        except NotPossible as problem:
            return await again(str(problem))
        return see(path)

    async def _person(self, request: Request) -> Person:
        roster = await self.services.people_office.roster()
        known = roster.people.get(request.path_params["id"])
        try:
            return known or person_called(roster, request.path_params["id"])
        except NotPossible as problem:
            raise Refusal(str(problem), 404) from None

    def _need_admin(self, visitor: Visitor) -> None:
        if not visitor.is_admin:
            raise Refusal("Only an admin changes other people.")

    def routes(self) -> list[Route]:
        one = "/settings/people/{id}"
        verbs = ("change", "away", "link", "sign_in_link", "end_sessions", "remove")
        return [
            Route("/settings", self.reading(self.own)),
            Route("/settings", self.changing(self.change_own), methods=["POST"]),
            Route("/settings/away", self.changing(self.away_own), methods=["POST"]),
            Route("/settings/code", self.changing(self.code), methods=["POST"]),
            Route("/settings/people", self.reading(self.several)),
            Route("/settings/people", self.changing(self.add), methods=["POST"]),
            Route(one, self.reading(self.one)),
            *(Route(f"{one}/{verb}", self.changing(getattr(self, verb)), methods=["POST"]) for verb in verbs),
        ]


def _address(person: Person) -> str:
    return f"/settings/people/{person.id}"


def _active_names(roster: Roster) -> list[str]:
    return sorted(person.name for person in roster.people.values() if person.is_active)


def _names(roster: Roster) -> dict[PersonId, str]:
    return {person.id: person.name for person in roster.people.values()}


def _until(text: str, zone: str) -> datetime:
    """A span from now on, or a date or time as the person's own clock has it."""
    try:
        found = parse_duration(text)
    except ValueError:
        found = None
    if isinstance(found, timedelta):
        return datetime.now(UTC) + found
    try:
        when = datetime.fromisoformat(text)
        return when.astimezone(UTC) if when.tzinfo is not None else instant_of(when, zone)
    except (ValueError, OverflowError):
        raise NotPossible("Write until when as a date, a time or a span such as 3d.") from None
