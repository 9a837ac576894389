"""Redeeming a receipt: whoever is about to act spends it, so that one approval lets one action through."""

from fastapi import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from adapters.receipts.verifier import Invalid
from bot.api.bodies import RedeemBody
from bot.api.callers import Scope
from bot.api.common import json_response
from bot.api.documents import takes
from bot.api.plain import plain_router
from bot.api.problems import Problem
from bot.api.reading import checked, read_json
from bot.api.services import Services
from bot.api.wire import instant
from core.ids import QuestionId


class Receipts:
    def __init__(self, services: Services) -> None:
        self._services = services

    async def redeem(self, request: Request) -> Response:
        caller = await self._services.callers.of(request, Scope.READ, Scope.ASK, Scope.ANSWER)
        body = checked(RedeemBody, await read_json(request))
        verified = self._services.read_receipt(body.receipt, await self._services.now())
        if isinstance(verified, Invalid):
            raise Problem(422, "receipt_invalid", verified.reason, pointer="/receipt")
        if verified.decision != "approved":
            detail = "This receipt says that the action was rejected. Do not carry it out."
            raise Problem(422, "receipt_rejects", detail, pointer="/receipt")
        if body.action_digest is not None and body.action_digest != verified.digest:
            detail = "This receipt is for another action. Do not carry this one out."
            raise Problem(422, "receipt_for_another_action", detail, pointer="/actionDigest")
        question_id = QuestionId(verified.question_id)
        if not await self._services.redemptions.redeem(verified.nonce, question_id, caller.principal):
            detail = "This receipt was redeemed before. Ask for a new approval."
            raise Problem(409, "receipt_redeemed", detail)
        said = {
            "success": True,
            "questionId": question_id,
            "decision": verified.decision,
            "actionDigest": verified.digest,
            "expiresAt": instant(verified.expires_at),
        }
        return json_response(said)


def routes(services: Services) -> list[BaseRoute]:
    router, calls = plain_router("receipts"), Receipts(services)
    router.add_api_route(
        "/api/receipts/redeem",
        calls.redeem,
        methods=["POST"],
        openapi_extra=takes(RedeemBody),
        summary="Spend a decision receipt, once",
    )
    return router.routes
