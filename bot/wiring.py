"""One function builds the program from its settings. Nothing happens at import."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version

import structlog
from fastapi import FastAPI

from adapters.email.addresses import parse_mailbox, parse_smtp_url
from adapters.email.surface import NAME as EMAIL
from adapters.email.surface import EmailSurface
from adapters.oidc.client import OidcClient, OidcSettings
from adapters.receipts.keys import load_epoch, load_signing_key
from adapters.receipts.verifier import verify
from adapters.sql.access import Access
from adapters.sql.browser import SqlBrowser
from adapters.sql.database import migrate, open_database
from adapters.sql.directory import SqlDirectory
from adapters.sql.eventlog import SqlEventLog
from adapters.sql.outbox import SqlOutbox
from adapters.sql.people import SqlPeople
from adapters.sql.reader import SqlReader
from adapters.sql.redemptions import SqlRedemptions
from adapters.sql.sessions import SqlSessions
from adapters.sql.store import SqlStore
from adapters.sql.webhooks import SqlWebhooks
from adapters.web.rendering import Renderer, Static
from adapters.webhooks.guard import Guard
from adapters.webhooks.heartbeat import beat
from adapters.webhooks.sender import WebhookSender
from adapters.webhooks.signing import new_secret
from bot import firstrun
from bot.api.app import create_app
from bot.api.callers import Callers
from bot.api.services import Services
from bot.api.wire import View
from bot.household import Household
from bot.messages import MessageWords
from bot.metrics import Metrics
from bot.people import PeopleOffice
from bot.policy import PolicyOffice
from bot.scheduler import Chores, Scheduler
from bot.settings import Settings
from bot.web.ground import Site
from bot.web.signing_in import CALLBACK
from bot.web.site import page_routes
from bot.web.visitors import Visitors, new_link
from core.auditing import Auditor
from core.delivery import Deliverer
from core.engine import Engine
from core.ids import WorkspaceId
from core.places import NAMEABLE, Target
from core.ports import Change, Claim, Reader, Store, StoreUnavailable, Surface
from core.posting import Postman
from core.rates import RateLimiter
from core.receipts import receipt_for
from core.stream import EventHub
from core.sweeper import Sweeper
from core.waiters import Waiters

_log = structlog.get_logger("handraise")

WORKSPACE = WorkspaceId("default")
_PATIENCE_SECONDS = 3.0


@dataclass(frozen=True)
class Program:
    app: FastAPI
    engine: Engine
    reader: Reader
    waiters: Waiters
    hub: EventHub
    #: A one-time link that signs the first admin in.
    admin_link: Callable[[], Awaitable[str]]

    def let_go(self) -> None:
        """Send away everybody who waits or listens: the program is about to stop."""
        self.waiters.stop()
        self.hub.stop()


@asynccontextmanager
async def open_program(
    settings: Settings, base_url: str, local_url: str, command: str, surfaces: Mapping[Target, Surface]
) -> AsyncIterator[Program]:
    """The running program: database up to date, loops beating. Leaving stops it in order."""
    async with AsyncExitStack() as stack:
        database = open_database(settings.database)
        await asyncio.to_thread(migrate, database)
        access = Access(database)
        stack.push_async_callback(asyncio.to_thread, access.close)
        store, reader, directory = SqlStore(access), SqlReader(access), SqlDirectory(access)
        await firstrun.prepare(directory, settings.data_dir, WORKSPACE, local_url)

        by_name = {surface.name: surface for surface in surfaces.values()}
        if settings.smtp_url:
            smtp, sender = parse_smtp_url(settings.smtp_url), parse_mailbox(settings.mail_from)
            by_name[EMAIL] = await stack.enter_async_context(EmailSurface(smtp, sender, base_url))
        sessions = SqlSessions(access)
        household = Household(
            SqlPeople(access),
            WORKSPACE,
            settings.limits,
            targets=tuple(surfaces),
            connected=NAMEABLE & by_name.keys(),
            presence=sessions,
        )
        waiters, metrics, callers = Waiters(), Metrics(), Callers(directory, household)
        engine = Engine(store, reader, waiters, household.roster)
        log = SqlEventLog(access)
        hub = EventHub(log, WORKSPACE)
        webhooks, guard = SqlWebhooks(access), Guard(settings.allowed_hosts)
        courier = WebhookSender(guard)
        stack.push_async_callback(courier.close)
        signing_key, epoch = load_signing_key(settings.data_dir), load_epoch(settings.data_dir)
        view = View(base_url, lambda question: receipt_for(question, signing_key, epoch))
        words = MessageWords(log, store, view)
        postman = Postman(webhooks, courier, words.compose, WORKSPACE, random.random)

        def on_change(change: Change) -> None:
            metrics.count(change.events)
            hub.noticed()
            postman.noticed(change.after)

        engine.on_change = on_change
        chores = Chores(
            store,
            reader,
            engine,
            waiters,
            Sweeper(store, engine, on_failure=_tick_failed),
            Deliverer(SqlOutbox(access), store, reader, engine, by_name, NAMEABLE),
            hub,
            postman,
            webhooks,
            callers.note_used,
            WORKSPACE,
            Auditor(reader, store),
            partial(beat, settings.heartbeat_url) if settings.heartbeat_url else None,
        )
        scheduler = Scheduler(chores, metrics)
        services = Services(
            engine,
            reader,
            waiters,
            hub,
            callers,
            household,
            PeopleOffice(household),
            PolicyOffice(household, settings.limits),
            view,
            RateLimiter(settings.rate_limit) if settings.rate_limit is not None else None,
            webhooks,
            postman,
            guard.objection,
            new_secret,
            store.now,
            SqlRedemptions(access),
            lambda receipt, now: verify(receipt, [signing_key.public], now, epoch=epoch),
            lambda: _troubles(store, scheduler),
        )
        static = Static()
        visitors = Visitors(sessions, household, settings.session_rules, settings.public_url or None, local_url)
        site = Site(
            services, visitors, Renderer(static), SqlBrowser(access), log, directory, WORKSPACE, command, base_url
        )
        provider = _provider(settings, base_url)
        if provider is not None:
            stack.push_async_callback(provider.close)
        pages = page_routes(site, static, provider)
        app = create_app(services, metrics, pages, version("handraise-bot"))
        stack.push_async_callback(_note_last_uses, callers)
        stack.push_async_callback(scheduler.stop)
        scheduler.start()
        yield Program(app, engine, reader, waiters, hub, partial(new_link, sessions, firstrun.ADMIN, base_url))


def _provider(settings: Settings, base_url: str) -> OidcClient | None:
    if not settings.oidc_issuer:
        return None
    callback = f"{base_url}{CALLBACK}"
    return OidcClient(
        OidcSettings(settings.oidc_issuer, settings.oidc_client_id, settings.oidc_client_secret, callback)
    )


async def _note_last_uses(callers: Callers) -> None:
    try:
        await callers.note_used()
    except StoreUnavailable as failure:
        _log.warning("which keys were used last is not written down", why=str(failure))


async def _troubles(store: Store, scheduler: Scheduler) -> list[str]:
    troubles = scheduler.troubles()
    try:
        await asyncio.wait_for(store.next_due(), _PATIENCE_SECONDS)
    except TimeoutError:
        troubles.append(f"The database does not answer within {_PATIENCE_SECONDS:g} s.")
    except StoreUnavailable:
        troubles.append("The database is not available; the log says why.")
    return troubles


def _tick_failed(claim: Claim, failure: Exception) -> None:
    _log.error("what is due could not be done and is tried again", question=claim.question_id, why=str(failure))
