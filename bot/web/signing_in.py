"""Signing in with a one-time link or an identity provider, and signing out. Looking at a link uses nothing up."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.web.cookies import digest_of, local_path
from adapters.web.posted import Posted
from bot.web.ground import Pages, Refusal, Site, see
from bot.web.visitors import SESSION, Visitor
from core.ids import PersonId
from core.people import Handle, Person
from core.roster import Roster
from core.sessions import IdentityProvider, SignInFailed

#: Where an identity provider sends people back to.
CALLBACK = "/login/oidc/callback"
_TICKET, _NEXT = "ticket", "next"
_TICKET_SECONDS = 600
_NO_LINK = "This link was used before, is older than 30 minutes or was cut short. Ask for a new one."


class SigningIn(Pages):
    def __init__(self, site: Site, provider: IdentityProvider | None) -> None:
        super().__init__(site)
        self._provider = provider

    async def show(self, request: Request) -> Response:
        return self._login_page(request)

    async def link(self, request: Request) -> Response:
        secret = request.path_params["secret"]
        person = await self._active(await self.site.visitors.sessions.owner_of_link(digest_of(secret)))
        if person is None:
            return self._login_page(request, 410, problem=_NO_LINK)
        return self.page(None, "link.html", person=person, secret=secret, next=self._next(request))

    async def enter(self, request: Request) -> Response:
        """The button on a one-time link."""
        try:
            posted = await self.form(request)
        except Refusal as refusal:
            return self._login_page(request, refusal.status, problem=refusal.sentence)
        wanted = local_path(posted.text("next"))
        owner = await self.site.visitors.sessions.take_link(digest_of(posted.text("link")))
        person = await self._active(owner)
        if person is None:
            return self._login_page(request, 410, problem=_NO_LINK, next=wanted)
        return await self._welcome(person, wanted)

    async def depart(self, request: Request) -> Response:
        """Off to the identity provider."""
        if self._provider is None:
            return self._login_page(request, 404, problem="No identity provider is set up here.")
        try:
            posted = await self.form(request)
        except Refusal as refusal:
            return self._login_page(request, refusal.status, problem=refusal.sentence)
        wanted = local_path(posted.text("next"))
        try:
            departure = await self._provider.depart()
        except SignInFailed as failure:
            return self._login_page(request, 502, problem=str(failure), next=wanted)
        # Not a redirect: browsers hold every address that a form is redirected to against our policy, and where a
        # provider sends people on to is its own business.
        response = self.page(None, "departing.html", url=departure.url)
        cookies = self.site.visitors.cookies
        cookies.write(response, _TICKET, departure.ticket, seconds=_TICKET_SECONDS)
        cookies.write(response, _NEXT, wanted, seconds=_TICKET_SECONDS)
        return response

    async def returned(self, request: Request) -> Response:
        """Back from the provider. The page sends on what it brought, so that this GET changes nothing either."""
        given = {name: request.query_params.get(name, "")[:4000] for name in ("code", "state", "error")}
        if given["error"] or not given["code"]:
            problem = "The identity provider did not let you in. Try again, or use a one-time link."
            return self._login_page(request, 403, problem=problem, next=self._kept_next(request))
        return self.page(None, "returned.html", code=given["code"], state=given["state"])

    async def arrive(self, request: Request) -> Response:
        cookies = self.site.visitors.cookies
        ticket, wanted = cookies.read(request, _TICKET), self._kept_next(request)
        try:
            posted = await self.form(request)
            if self._provider is None or ticket is None:
                raise SignInFailed("Signing in took too long or began in another browser. Try again.")
            found = await self._provider.arrive(ticket=ticket, state=posted.text("state"), code=posted.text("code"))
        except Refusal as refusal:
            return self._login_page(request, refusal.status, problem=refusal.sentence)
        except SignInFailed as failure:
            return self._login_page(request, 403, problem=str(failure), next=wanted)
        roster = await self.services.household.roster()
        person = _known_as(roster, Handle("oidc", found.subject))
        if person is None and found.email is not None:
            person = _known_as(roster, Handle("email", found.email))
        if person is None:
            who = found.email or found.name or found.subject
            problem = f"Nobody here is known as {who}. Ask an admin to add you with this address."
            return self._login_page(request, 403, problem=problem, next=wanted)
        response = await self._welcome(person, wanted)
        cookies.clear(response, _TICKET)
        cookies.clear(response, _NEXT)
        return response

    async def leave(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        if posted.text("everywhere"):
            await self.site.visitors.end_all(visitor.person)
        else:
            await self.site.visitors.end(visitor.digest)
        response = see("/login?left=1")
        self.site.visitors.cookies.clear(response, SESSION)
        return response

    async def _welcome(self, person: Person, path: str) -> Response:
        response = see(path)
        seconds = round(self.site.visitors.rules.lifetime.total_seconds())
        self.site.visitors.cookies.write(response, SESSION, await self.site.visitors.begin(person), seconds=seconds)
        return response

    def _login_page(
        self, request: Request, status: int = 200, *, problem: str = "", next: str | None = None
    ) -> Response:
        return self.page(
            None,
            "login.html",
            status,
            problem=problem,
            next=self._next(request) if next is None else next,
            has_provider=self._provider is not None,
            left=bool(request.query_params.get("left")),
        )

    def _next(self, request: Request) -> str:
        return local_path(request.query_params.get("next"))

    def _kept_next(self, request: Request) -> str:
        return local_path(self.site.visitors.cookies.read(request, _NEXT))

    async def _active(self, person_id: PersonId | None) -> Person | None:
        return (await self.services.household.roster()).active(person_id) if person_id is not None else None

    def routes(self) -> list[Route]:
        return [
            Route("/login", self.show),
            Route("/login", self.enter, methods=["POST"]),
            Route("/login/oidc", self.depart, methods=["POST"]),
            Route(CALLBACK, self.returned),
            Route(CALLBACK, self.arrive, methods=["POST"]),
            Route("/login/{secret}", self.link),
            Route("/logout", self.changing(self.leave), methods=["POST"]),
        ]


def _known_as(roster: Roster, handle: Handle) -> Person | None:
    """Letter by letter: mail addresses are kept in lower case, and two subjects may differ in nothing but that."""
    found = [person for person in roster.people.values() if person.is_active and handle in person.handles]
    return found[0] if len(found) == 1 else None
