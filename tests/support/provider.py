"""An OpenID provider on this machine, over real HTTP, with a page that people click and knobs to misbehave.

It runs in a thread of its own, for tests that have a loop, a browser or another process:
`with Provider() as provider: provider.issuer`.
"""

import asyncio
import base64
import hashlib
import html
import re
import secrets
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import parse_qs, unquote_plus, urlencode, urlsplit

import httpx2
from aiohttp import web

from tests.support.signatures import Signing, encoded, half_hash, signed, signing_keys

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Result = TypeVar("Result")

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_PAGE = """<!doctype html><html lang="en"><title>Test provider</title><h1>Test provider</h1>
<form method="post" action="/consent"><input type="hidden" name="visit" value="{visit}">{buttons}
<button name="subject" value="">Cancel</button></form></html>"""


@dataclass(frozen=True)
class Account:
    subject: str
    name: str
    email: str | None = None
    is_verified: bool = True


DANA = Account("dana-1", "Dana", "dana@example.com")
ERIK = Account("erik-2", "Erik", "erik@example.com")


@dataclass
class Knobs:
    """What a provider can do wrong, or merely otherwise than another."""

    signing: Signing = Signing.RS256
    has_kid: bool = True
    #: Whether name and address are in the ID token or only at the userinfo endpoint.
    tells_in_token: bool = True
    #: Instead of what would be there; None leaves it out.
    claims: dict[str, Any] = field(default_factory=dict)
    userinfo: dict[str, Any] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)
    token_answer: dict[str, Any] = field(default_factory=dict)
    more_keys: list[Any] = field(default_factory=list)
    #: Which generation of keys is in the list, if not the one that signs.
    publishes: int | None = None
    takes_secret_in_body: bool = False
    #: By path: a status instead of an answer, a body that is not JSON, no answer at all.
    statuses: dict[str, int] = field(default_factory=dict)
    bodies: dict[str, str] = field(default_factory=dict)
    silent: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class _Visit:
    """A browser that has come to sign in, later a code that it was given."""

    redirect_uri: str
    state: str
    nonce: str | None
    challenge: str
    account: Account | None = None


class Provider:
    """Listens on 127.0.0.1 under the name `localhost`, so that to a browser it is another site than 127.0.0.1 is."""

    def __init__(
        self,
        *accounts: Account,
        client_id: str = "handraise",
        client_secret: str = "s3cret",
        host: str = "localhost",
        path: str = "",
    ) -> None:
        self.accounts = {account.subject: account for account in accounts or (DANA,)}
        self.client_id, self.client_secret = client_id, client_secret
        self.knobs = Knobs()
        #: How often each path was asked for.
        self.asked: Counter[str] = Counter()
        #: The one that is registered; any is good while it is empty.
        self.redirect_uri = ""
        self._host, self._port, self._path = host, 0, path
        self._generation = 0
        self._visits: dict[str, _Visit] = {}
        self._codes: dict[str, _Visit] = {}
        self._visitors: dict[str, Account] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="test provider", daemon=True)
        self._runner: web.AppRunner | None = None

    @property
    def issuer(self) -> str:
        return f"{self._base}{self._path}"

    @property
    def _base(self) -> str:
        return f"http://{self._host}:{self._port}"

    def __enter__(self) -> Self:
        self._thread.start()
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
        self._within(_end_the_rest())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def start(self) -> None:
        """Listen, on the same port as before."""
        self._within(self._listen())

    def stop(self) -> None:
        """Be down: nobody listens at the port."""
        runner, self._runner = self._runner, None
        if runner is not None:
            self._within(runner.cleanup())

    def rotate(self) -> None:
        """Sign with new keys and publish no others."""
        self._generation += 1

    def _within(self, doing: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(30)

    async def _listen(self) -> None:
        application = web.Application(middlewares=[self._misbehaving])
        application.add_routes(
            [
                web.get(f"{self._path.rstrip('/')}/.well-known/openid-configuration", self._describe),
                web.get("/jwks", self._publish_keys),
                web.get("/authorize", self._show),
                web.post("/consent", self._send_back),
                web.post("/token", self._hand_out),
                web.get("/userinfo", self._tell),
            ]
        )
        self._runner = web.AppRunner(application, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self._port = self._runner.addresses[0][1]

    @web.middleware
    async def _misbehaving(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self.asked[request.path] += 1
        if request.path in self.knobs.silent:
            await asyncio.sleep(3600)
        if request.path in self.knobs.bodies:
            return web.Response(text=self.knobs.bodies[request.path], content_type="application/json")
        if request.path in self.knobs.statuses:
            return web.Response(status=self.knobs.statuses[request.path], text="<h1>Sorry</h1>")
        return await handler(request)

    async def _describe(self, request: web.Request) -> web.Response:
        methods = ["client_secret_post"] if self.knobs.takes_secret_in_body else ["client_secret_basic"]
        document = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self._base}/authorize",
            "token_endpoint": f"{self._base}/token",
            "jwks_uri": f"{self._base}/jwks",
            "userinfo_endpoint": f"{self._base}/userinfo",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256", "ES256", "EdDSA", "HS256", "none"],
            "token_endpoint_auth_methods_supported": methods,
            "code_challenge_methods_supported": ["S256"],
        }
        return web.json_response(_changed(document, self.knobs.document))

    async def _publish_keys(self, request: web.Request) -> web.Response:
        generation = self._generation if self.knobs.publishes is None else self.knobs.publishes
        published = signing_keys(generation).published()
        return web.json_response({"keys": [*self.knobs.more_keys, *published]})

    async def _show(self, request: web.Request) -> web.Response:
        """The page where people say who they are."""
        asked = request.query
        wrong = self._wrong_in(asked)
        if wrong:
            return web.Response(status=400, text=f"wrong: {', '.join(wrong)}")
        visit = secrets.token_urlsafe()
        self._visits[visit] = _Visit(asked["redirect_uri"], asked["state"], asked.get("nonce"), asked["code_challenge"])
        buttons = "".join(map(_button, self.accounts.values()))
        return web.Response(text=_PAGE.format(visit=visit, buttons=buttons), content_type="text/html")

    def _wrong_in(self, asked: Mapping[str, str]) -> list[str]:
        redirect_uri = asked.get("redirect_uri", "")
        right = {
            "client_id": asked.get("client_id") == self.client_id,
            "redirect_uri": redirect_uri != "" and redirect_uri == (self.redirect_uri or redirect_uri),
            "response_type": asked.get("response_type") == "code",
            "scope": "openid" in asked.get("scope", "").split(),
            "state": bool(asked.get("state")),
            "code_challenge_method": asked.get("code_challenge_method") == "S256",
            "code_challenge": _CHALLENGE.fullmatch(asked.get("code_challenge", "")) is not None,
        }
        return [name for name, is_right in right.items() if not is_right]

    async def _send_back(self, request: web.Request) -> web.Response:
        form = await request.post()
        visit = self._visits.pop(str(form.get("visit")), None)
        if visit is None:
            return web.Response(status=400, text="unknown visit")
        account = self.accounts.get(str(form.get("subject")))
        if account is None:
            answer = {"error": "access_denied", "state": visit.state}
        else:
            answer = {"code": secrets.token_urlsafe(), "state": visit.state}
            self._codes[answer["code"]] = _Visit(visit.redirect_uri, visit.state, visit.nonce, visit.challenge, account)
        return web.Response(status=303, headers={"Location": f"{visit.redirect_uri}?{urlencode(answer)}"})

    async def _hand_out(self, request: web.Request) -> web.Response:
        """Tokens for a code, once."""
        form = {name: str(value) for name, value in (await request.post()).items()}
        if not self._is_client(request.headers.get("Authorization", ""), form):
            return web.json_response({"error": "invalid_client"}, status=401)
        if form.get("grant_type") != "authorization_code":
            return web.json_response({"error": "unsupported_grant_type"}, status=400)
        visit = self._codes.pop(form.get("code", ""), None)
        challenge = encoded(_sha256(form.get("code_verifier", "")))
        if visit is None or visit.redirect_uri != form.get("redirect_uri") or visit.challenge != challenge:
            return web.json_response({"error": "invalid_grant"}, status=400)
        assert visit.account is not None
        access_token = secrets.token_urlsafe()
        self._visitors[access_token] = visit.account
        tokens = {
            "access_token": access_token,
            "token_type": "Bearer",
            "expires_in": 300,
            "id_token": self._id_token(visit.account, visit.nonce, access_token),
        }
        return web.json_response(_changed(tokens, self.knobs.token_answer), headers={"Set-Cookie": "who=was-here"})

    def _is_client(self, authorization: str, form: dict[str, str]) -> bool:
        if self.knobs.takes_secret_in_body:
            given = form.get("client_id", ""), form.get("client_secret", "")
        else:
            pair = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
            given = unquote_plus(pair[0]), unquote_plus(pair[2])
        return given == (self.client_id, self.client_secret)

    def _id_token(self, account: Account, nonce: str | None, access_token: str) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "sub": account.subject,
            "aud": self.client_id,
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
            "at_hash": half_hash(access_token, self.knobs.signing),
        }
        if self.knobs.tells_in_token:
            claims |= _profile(account)
        keys = signing_keys(self._generation)
        return signed(
            _changed(claims, self.knobs.claims),
            keys,
            self.knobs.signing,
            self.client_secret,
            has_kid=self.knobs.has_kid,
        )

    async def _tell(self, request: web.Request) -> web.Response:
        account = self._visitors.get(request.headers.get("Authorization", "").removeprefix("Bearer "))
        if account is None or "Cookie" in request.headers:
            return web.Response(status=401)
        return web.json_response(_changed({"sub": account.subject} | _profile(account), self.knobs.userinfo))


async def signed_in(url: str, account: Account = DANA) -> tuple[str, str]:
    """What a browser does that is sent to `url` and presses the button: the state and the code it comes back with."""
    async with httpx2.AsyncClient(trust_env=False) as browser:
        page = (await browser.get(url)).raise_for_status()
        visit = re.search(r'name="visit" value="([^"]+)"', page.text)
        assert visit is not None
        assert f"Continue as {html.escape(account.name)}</button>" in page.text
        address = str(page.url.join("/consent"))
        sent_back = await browser.post(address, data={"visit": visit[1], "subject": account.subject})
    answer = parse_qs(urlsplit(sent_back.headers["Location"]).query)
    return answer["state"][0], answer["code"][0]


async def _end_the_rest() -> None:
    """Whoever is still being kept waiting in silence."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


def _button(account: Account) -> str:
    subject, name = html.escape(account.subject), html.escape(account.name)
    return f'<button name="subject" value="{subject}">Continue as {name}</button>'


def _profile(account: Account) -> dict[str, Any]:
    told: dict[str, Any] = {"name": account.name}
    return told if account.email is None else told | {"email": account.email, "email_verified": account.is_verified}


def _changed(document: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in {**document, **changes}.items() if value is not None}


def _sha256(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
