"""From request bytes to a checked value: whatever a client sends ends as a value or a sentence, never as a 500."""

import math
from collections.abc import AsyncIterator
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from starlette.requests import ClientDisconnect, Request

from bot.api.problems import Problem, invalid_request
from core.answers import LARGEST_WHOLE_NUMBER
from core.ids import JsonValue

BODY_LIMIT = 256 * 1024
DEPTH_LIMIT = 20

Model = TypeVar("Model", bound=BaseModel)


async def read_json(request: Request, *, empty: JsonValue = None) -> JsonValue:
    """The body as JSON; `empty` when there is none."""
    data = await read_body(request)
    if not data.strip():
        return empty
    try:
        data.decode()
    except UnicodeDecodeError as failure:
        raise Problem(400, "not_utf8", f"The body is not UTF-8 (byte {failure.start}). Send it as UTF-8.") from None
    try:
        value: JsonValue = from_json(data, allow_inf_nan=False)
    except ValueError as failure:
        if "recursion" in str(failure):
            raise _too_deep() from None
        raise Problem(400, "malformed_json", f"The body is not JSON: {failure}.") from None
    _check(value)
    return value


async def read_body(request: Request) -> bytes:
    chunks: list[bytes] = []
    size = 0
    async for chunk in _chunks(request):
        size += len(chunk)
        if size > BODY_LIMIT:
            detail = f"The body is larger than {BODY_LIMIT // 1024} kB. Send a link to the rest."
            raise Problem(413, "body_too_large", detail, headers={"Connection": "close"})
        chunks.append(chunk)
    return b"".join(chunks)


async def _chunks(request: Request) -> AsyncIterator[bytes]:
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect:
        # Nobody is there to read this; it ends the call without an alarm in the log.
        raise Problem(400, "client_disconnected", "The connection ended before the body did.") from None


def _too_deep() -> Problem:
    return Problem(422, "json_too_deep", f"The body nests deeper than {DEPTH_LIMIT} levels. Flatten it.")


def _check(value: JsonValue) -> None:
    """Refuse what JSON allows and some database, digest or client along the way does not."""
    level = [value]
    for _ in range(DEPTH_LIMIT + 1):
        below: list[JsonValue] = []
        for item in level:
            if isinstance(item, dict):
                below.extend(item.values())
                below.extend(item)
            elif isinstance(item, list):
                below.extend(item)
            else:
                _check_scalar(item)
        if not below:
            return
        level = below
    raise _too_deep()


def _check_scalar(value: JsonValue) -> None:
    if isinstance(value, str):
        if "\x00" in value:
            raise Problem(422, "text_invalid", "A text contains the character U+0000. Leave it out.")
    elif isinstance(value, bool):
        return
    elif isinstance(value, int) and abs(value) > LARGEST_WHOLE_NUMBER:
        raise Problem(422, "number_out_of_range", "A whole number is beyond ±(2^53 - 1). Send it as a text.")
    elif isinstance(value, float) and not math.isfinite(value):
        raise Problem(422, "number_out_of_range", "A number is too large. Send it as a text.")


def checked(model: type[Model], value: JsonValue) -> Model:
    try:
        return model.model_validate(value)
    except ValidationError as failure:
        raise invalid_request(failure) from None
