"""Settings: the rules in force as people read them, and the policy as text, with its difference before it counts."""

from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from adapters.policy import PolicyProblems, rulebook_json
from adapters.web.posted import Posted
from bot.api.bodies import ExplainBody
from bot.policy import Draft, SomebodyWasFirst
from bot.web.ground import Pages, Refusal, see
from bot.web.visitors import Visitor
from core.explaining import explanation_text
from core.kinds import Kind
from core.question import Risk, Urgency

_AUDITED = 50
#: What the audit calls a change, as a word between who made it and whom or what it is about.
_DEEDS = {
    "person.added": "added",
    "person.changed": "changed",
    "person.removed": "removed",
    "person.away": "changed the absence of",
    "person.linked": "linked a handle to",
    "policy.changed": "changed the policy to",
}


class PolicySettings(Pages):
    async def rules(self, request: Request, visitor: Visitor) -> Response:
        await self.services.household.roster()
        names = {person.id: person.name for person in self.services.household.known.people.values()}
        rules = rulebook_json(self.services.household.rulebook)
        return self.page(visitor, "settings_rules.html", rules=rules, names=names)

    async def show(self, request: Request, visitor: Visitor) -> Response:
        version, text = await self.services.policy_office.current()
        return await self._policy_page(visitor, text, version)

    async def _policy_page(self, visitor: Visitor, text: str, version: int, status: int = 200, **more: Any) -> Response:
        audit = await self.services.household.people.audit(limit=_AUDITED) if visitor.is_lead else ()
        names = {person.id: person.name for person in self.services.household.known.people.values()}
        shown = {"problems": (), "diff": "", "explained": "", "said": "", "kept": Posted({}), **more}
        return self.page(
            visitor,
            "settings_policy.html",
            status,
            text=text,
            version=version,
            audit=audit,
            deeds=_DEEDS,
            names=names,
            kinds=list(Kind),
            risks=list(Risk),
            urgencies=list(Urgency),
            **shown,
        )

    async def act(self, request: Request, visitor: Visitor, posted: Posted) -> Response:
        """One form, three buttons: see the difference, save it, or explain what it would mean."""
        text = posted.text("text") + "\n"
        given = posted.text("version")
        version, now = await self.services.policy_office.current()
        based_on = int(given) if given.isascii() and given.isdigit() and len(given) < 10 else version
        try:
            draft = await self.services.policy_office.draft(text)
        except PolicyProblems as broken:
            return await self._policy_page(visitor, text, based_on, 422, problems=broken.problems, kept=posted)
        match posted.text("do"):
            case "explain":
                explained = await self._explained(posted, draft if text.strip() != now.strip() else None)
                return await self._policy_page(
                    visitor, text, based_on, explained=explained, diff=draft.diff, kept=posted
                )
            case "save":
                return await self._saved(visitor, text, based_on, draft, posted)
            case _:
                said = "" if draft.diff else "That is the policy in force; nothing is different."
                return await self._policy_page(visitor, text, based_on, diff=draft.diff, said=said)

    async def _saved(self, visitor: Visitor, text: str, based_on: int, draft: Draft, posted: Posted) -> Response:
        if not visitor.is_admin:
            raise Refusal("Only an admin changes the policy.")
        if posted.text("seen") != draft.diff.strip():
            said = "This is what would change. Look at it, then save it."
            return await self._policy_page(visitor, text, based_on, 409, diff=draft.diff, said=said)
        try:
            await self.services.policy_office.apply(draft, by=visitor.person.name, expected=based_on)
        except SomebodyWasFirst as first:
            return await self._policy_page(visitor, text, first.version, 409, diff=draft.diff, said=str(first))
        return see("/settings/policy")

    async def _explained(self, posted: Posted, draft: Draft | None) -> str:
        names = ("type", "urgency", "risk", "tool", "project_id", "agent", "to", "owner", "on_behalf_of", "at")
        given: dict[str, Any] = {name: posted.text(name) for name in names if posted.text(name)}
        try:
            case = ExplainBody.model_validate(given)
        except ValidationError as failure:
            first = failure.errors()[0]
            return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        at = case.at or datetime.now(UTC).replace(microsecond=0)
        try:
            found = await self.services.policy_office.explain(
                case.circumstances(), at=at, owner=case.owner, on_behalf_of=case.on_behalf_of, draft=draft
            )
        except OverflowError:
            return "This is too far away to plan for."
        return explanation_text(found, at)

    def routes(self) -> list[Route]:
        return [
            Route("/settings/rules", self.reading(self.rules)),
            Route("/settings/policy", self.reading(self.show)),
            Route("/settings/policy", self.changing(self.act), methods=["POST"]),
        ]
