"""All pages in one list."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from adapters.web.reference import body_rows
from adapters.web.rendering import Static
from bot.web.ground import Pages, Site
from bot.web.history import History
from bot.web.inbox import Inbox
from bot.web.jobs import Jobs
from bot.web.live import Live
from bot.web.questions import Questions
from bot.web.settings_access import AccessSettings
from bot.web.settings_people import PeopleSettings
from bot.web.settings_policy import PolicySettings
from bot.web.signing_in import SigningIn
from core.sessions import IdentityProvider


class Reference(Pages):
    """The page about the HTTP API, for whoever writes an agent; it tells nothing that needs a login."""

    async def show(self, request: Request) -> Response:
        visitor = await self.site.visitors.of(request)
        document = request.app.openapi()
        return self.page(visitor, "docs.html", document=document, bodies=body_rows(document))

    def routes(self) -> list[Route]:
        return [Route("/docs", self.show)]


def page_routes(site: Site, static: Static, provider: IdentityProvider | None) -> list[BaseRoute]:
    groups = (Inbox, Questions, Jobs, History, Live, PeopleSettings, PolicySettings, AccessSettings, Reference)
    return [
        *static.routes(),
        *SigningIn(site, provider).routes(),
        *(route for group in groups for route in group(site).routes()),
    ]
