"""People over HTTP: who there is, how to reach them, when they work, and who stands in."""

from collections.abc import Awaitable, Callable

from fastapi import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from bot.api.bodies import AwayBody, LinkBody, PersonBody
from bot.api.callers import Caller, Scope
from bot.api.common import json_response
from bot.api.documents import takes
from bot.api.plain import plain_router
from bot.api.problems import Problem
from bot.api.reading import checked, read_json
from bot.api.services import Services
from bot.api.wire import Json, instant, maybe_instant
from bot.people import OWN_FIELDS, PersonChange
from core.hours import windows_text
from core.membership import NotPossible, handle_from
from core.people import Person
from core.roster import Roster

_AUDIT_PAGE = 100


class PeopleCalls:
    def __init__(self, services: Services) -> None:
        self._services = services
        self._office = services.people_office

    async def several(self, request: Request) -> Response:
        await self._services.callers.of(request, Scope.ANSWER, Scope.ADMIN)
        roster = await self._office.roster()
        people = sorted((p for p in roster.people.values() if p.merged_into is None), key=lambda p: p.name.casefold())
        groups = {name: [p.id for p in roster.members(name)] for name in sorted(roster.groups)}
        return json_response({"people": [person_json(person) for person in people], "groups": groups})

    async def create(self, request: Request) -> Response:
        caller = await self._services.callers.of(request, Scope.ADMIN)
        body = checked(PersonBody, await read_json(request))
        person = await _possible(lambda: self._office.add(_change(body), by=_name(caller)))
        return json_response(person_json(person), 201)

    async def change(self, request: Request, id: str) -> Response:
        caller, person = await self._caller_and_person(request, id)
        body = checked(PersonBody, await read_json(request))
        foreign = body.model_fields_set - set(OWN_FIELDS)
        if foreign and not caller.sees_everything:
            names = " and ".join(sorted(foreign))
            raise Problem(403, "not_allowed", f"Only an admin changes {names}.")
        changed = await _possible(lambda: self._office.change(person, _change(body), by=_name(caller)))
        return json_response(person_json(changed))

    async def remove(self, request: Request, id: str) -> Response:
        caller = await self._services.callers.of(request, Scope.ADMIN)
        person = await self._person(_meant(caller, id))
        return json_response(person_json(await _possible(lambda: self._office.remove(person, by=_name(caller)))))

    async def away(self, request: Request, id: str) -> Response:
        caller, person = await self._caller_and_person(request, id)
        body = checked(AwayBody, await read_json(request))
        stand_in = await self._person(body.stand_in) if body.stand_in is not None else None
        changed = await _possible(lambda: self._office.set_away(person, body.until, stand_in, by=_name(caller)))
        return json_response(person_json(changed))

    async def link_code(self, request: Request, id: str) -> Response:
        _, person = await self._caller_and_person(request, id)
        return json_response({"code": await self._office.link_code(person), "expiresInMinutes": 10}, 201)

    async def link(self, request: Request, id: str) -> Response:
        """An admin says that a handle is this person's."""
        caller = await self._services.callers.of(request, Scope.ADMIN)
        person = await self._person(_meant(caller, id))
        body = checked(LinkBody, await read_json(request))

        async def connect() -> Person:
            await self._office.connect(person, handle_from(body.handle), by=_name(caller))
            return await self._office.find(person.id)

        return json_response(person_json(await _possible(connect)))

    async def audit(self, request: Request) -> Response:
        await self._services.callers.of(request, Scope.ADMIN)
        entries = await self._services.household.people.audit(limit=_AUDIT_PAGE, before=_before(request))
        told = [
            {
                "sequence": entry.sequence,
                "at": instant(entry.at),
                "by": entry.by,
                "what": entry.what,
                "subject": entry.subject,
                "detail": entry.detail,
            }
            for entry in entries
        ]
        return json_response(
            {"entries": told, "nextBefore": entries[-1].sequence if len(entries) == _AUDIT_PAGE else None}
        )

    async def _caller_and_person(self, request: Request, name: str) -> tuple[Caller, Person]:
        """The person, whom the caller is or may change."""
        caller = await self._services.callers.of(request, Scope.ANSWER, Scope.ADMIN)
        person = await self._person(_meant(caller, name))
        roster: Roster = await self._services.household.roster()
        is_self = caller.key.person is not None and roster.canonical(caller.key.person.id) == person.id
        if not is_self and not caller.sees_everything:
            raise Problem(403, "not_allowed", "Only an admin changes somebody else.")
        return caller, person

    async def _person(self, name: str) -> Person:
        try:
            return await self._office.find(name)
        except NotPossible as problem:
            raise Problem(404, "person_not_found", str(problem)) from None


async def _possible(work: Callable[[], Awaitable[Person]]) -> Person:
    try:
        return await work()
    except NotPossible as problem:
        raise Problem(422, "not_possible", str(problem)) from None


def _meant(caller: Caller, name: str) -> str:
    return caller.key.person.id if name == "me" and caller.key.person is not None else name


def _name(caller: Caller) -> str:
    return caller.actor.name


def _change(body: PersonBody) -> PersonChange:
    handles = tuple(body.handles) if body.handles is not None else None
    return PersonChange(body.name, body.role, handles, body.zone, body.working, body.quiet)


def _before(request: Request) -> int | None:
    given = request.query_params.get("before")
    if given is None:
        return None
    if not given.isascii() or not given.isdigit() or len(given) > 18:
        raise Problem(422, "cursor_invalid", "before is the nextBefore of the page before.", pointer="/query/before")
    return int(given)


def person_json(person: Person) -> Json:
    return {
        "id": person.id,
        "name": person.name,
        "role": person.role.value,
        "active": person.is_active,
        "handles": [f"{handle.surface}:{handle.address}" for handle in person.handles],
        "zone": person.zone,
        "working": windows_text(person.working),
        "quiet": windows_text(person.quiet),
        "awayUntil": maybe_instant(person.away_until),
        "standIn": person.stand_in,
    }


def routes(services: Services) -> list[BaseRoute]:
    router, calls = plain_router("people"), PeopleCalls(services)
    router.add_api_route("/api/people", calls.several, methods=["GET"], summary="Everybody, and the groups they are in")
    router.add_api_route(
        "/api/people",
        calls.create,
        methods=["POST"],
        status_code=201,
        openapi_extra=takes(PersonBody),
        summary="Add a person",
    )
    one = "/api/people/{id}"
    router.add_api_route(
        one, calls.change, methods=["PATCH"], openapi_extra=takes(PersonBody), summary="Change a person"
    )
    router.add_api_route(one, calls.remove, methods=["DELETE"], summary="Remove a person; their open votes are void")
    router.add_api_route(
        f"{one}/away", calls.away, methods=["POST"], openapi_extra=takes(AwayBody), summary="Away, with a stand-in"
    )
    router.add_api_route(
        f"{one}/link-code",
        calls.link_code,
        methods=["POST"],
        status_code=201,
        summary="A one-time code to link a handle",
    )
    router.add_api_route(
        f"{one}/handles", calls.link, methods=["POST"], openapi_extra=takes(LinkBody), summary="Link a handle"
    )
    router.add_api_route(
        "/api/audit", calls.audit, methods=["GET"], summary="Changes of people and policy, newest first"
    )
    return router.routes
