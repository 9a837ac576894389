"""Settings: agents and their keys, webhooks and what became of every message. For admins."""

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.posted import Posted
from bot.api.callers import Scope
from bot.api.hooks import test_message
from bot.keys import checked_key, new_key
from bot.web.ground import NotShown, Pages, Refusal, need_sure, see
from bot.web.visitors import Visitor
from core.membership import NotPossible
from core.webhooks import OVERLAP, Endpoint, MessageState

_LOGGED = 100


class AccessSettings(Pages):
    async def agents(self, request: Request, visitor: Visitor) -> Response:
        _need_admin(visitor)
        return await self._agents_page(visitor)

    async def _agents_page(self, visitor: Visitor, status: int = 200, **more: Any) -> Response:
        roster = await self.services.people_office.roster()
        keys = sorted(await self.site.directory.keys(), key=lambda key: (key.revoked_at is not None, key.created_at))
        names = {person.id: person.name for person in roster.people.values()}
        people = sorted(person.name for person in roster.people.values() if person.is_active)
        shown = {"problem": "", "made": None, "secret": "", "kept": Posted({}), **more}
        return self.page(
            visitor, "settings_agents.html", status, keys=keys, names=names, people=people, scopes=list(Scope), **shown
        )

    async def add_key(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        _need_admin(visitor)
        office = self.services.people_office
        try:
            name, scopes = checked_key(
                posted.text("name"), posted.all("scope"), posted.maybe("person"), posted.maybe("owner")
            )
            person = await office.find(posted.text("person")) if posted.text("person") else None
            owner = await office.find(posted.text("owner")) if posted.text("owner") else None
        except NotPossible as problem:
            return await self._agents_page(visitor, 422, problem=str(problem), kept=posted)
        hosts = posted.text("hosts").split()
        secret, key = new_key(
            name, scopes, self.site.workspace_id, person, hosts, owner.id if owner is not None else None
        )
        await self.site.directory.add_key(key)
        return await self._agents_page(visitor, made=key, secret=secret)

    async def revoke(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        _need_admin(visitor)
        need_sure(posted)
        if not await self.site.directory.revoke_key(request.path_params["id"]):
            raise NotShown
        return see("/settings/agents")

    async def own(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        _need_admin(visitor)
        try:
            owner = await self.services.people_office.find(posted.text("owner"))
        except NotPossible as problem:
            return await self._agents_page(visitor, 422, problem=str(problem))
        if not await self.site.directory.set_owner(request.path_params["id"], owner.id):
            raise NotShown
        return see("/settings/agents")

    async def webhooks(self, request: Request, visitor: Visitor) -> Response:
        _need_admin(visitor)
        return await self._webhooks_page(visitor, request.query_params.get("state", ""))

    async def _webhooks_page(self, visitor: Visitor, state: str = "", **more: Any) -> Response:
        webhooks = self.services.webhooks
        wanted = MessageState(state) if state in set(MessageState) else None
        endpoints = await webhooks.endpoints(self.site.workspace_id)
        shown = {"secret": "", "rotated": "", **more}
        return self.page(
            visitor,
            "settings_webhooks.html",
            endpoints=endpoints,
            addresses={endpoint.id: endpoint.url for endpoint in endpoints},
            records=await webhooks.log(self.site.workspace_id, limit=_LOGGED, state=wanted),
            states=list(MessageState),
            state=wanted,
            **shown,
        )

    async def delete(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        need_sure(posted)

        async def work(endpoint: Endpoint) -> Response:
            await self.services.webhooks.remove_endpoint(endpoint.id)
            await self.services.postman.refresh()
            return see("/settings/webhooks")

        return await self._with_endpoint(request, visitor, work)

    async def rotate(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        async def work(endpoint: Endpoint) -> Response:
            secret = self.services.new_webhook_secret()
            await self.services.webhooks.rotate(endpoint.id, secret, overlap=OVERLAP)
            return await self._webhooks_page(visitor, secret=secret, rotated=endpoint.id)

        return await self._with_endpoint(request, visitor, work)

    async def test(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        async def work(endpoint: Endpoint) -> Response:
            await self.services.webhooks.queue(test_message(endpoint))
            self.services.postman.wake()
            return see("/settings/webhooks")

        return await self._with_endpoint(request, visitor, work)

    async def _with_endpoint(
        self, request: Request, visitor: Visitor, work: Callable[[Endpoint], Awaitable[Response]]
    ) -> Response:
        _need_admin(visitor)
        for endpoint in await self.services.webhooks.endpoints(self.site.workspace_id):
            if endpoint.id == request.path_params["id"]:
                return await work(endpoint)
        raise NotShown

    def routes(self) -> list[Route]:
        one = "/settings/webhooks/{id}"
        return [
            Route("/settings/agents", self.reading(self.agents)),
            Route("/settings/agents", self.changing(self.add_key), methods=["POST"]),
            Route("/settings/agents/{id}/revoke", self.changing(self.revoke), methods=["POST"]),
            Route("/settings/agents/{id}/owner", self.changing(self.own), methods=["POST"]),
            Route("/settings/webhooks", self.reading(self.webhooks)),
            *(
                Route(f"{one}/{verb}", self.changing(getattr(self, verb)), methods=["POST"])
                for verb in ("delete", "rotate", "test")
            ),
        ]


def _need_admin(visitor: Visitor) -> None:
    if not visitor.is_admin:
        raise Refusal("Only an admin sees and changes this.")
