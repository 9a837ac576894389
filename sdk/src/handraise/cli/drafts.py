"""What was typed about a new question, as the details the client takes."""

from datetime import timedelta
from typing import cast

from handraise.cli.failures import usage
from handraise.cli.options import key_values, time_limit_typed
from handraise.drafts import Details, answer_shape
from handraise.values import value_for


def shape_details(
    *,
    kind: str | None,
    response_type: str | None,
    options: list[str] | None,
    multiple: bool,
    allow_free_text: bool,
    schema: dict[str, object] | None,
    default: str | None,
) -> Details:
    """How the answer may look, and what stands if nobody gives one."""
    details = _given(
        kind=kind,
        response_type=response_type,
        options=options or None,
        multiple=multiple or None,
        allow_free_text=allow_free_text or None,
        schema=schema,
    )
    if default is not None:
        details["default"] = _default_value(details, default)
    return details


def circumstances(
    *,
    to: str | None,
    time_limit: str | None,
    context: list[str] | None,
    urgency: str | None,
    tags: list[str] | None,
    agent: str | None,
    project: str | None,
) -> Details:
    """What every question may carry, whatever it asks."""
    details = _given(
        to=to,
        context=key_values(context, "--context") if context else None,
        urgency=urgency,
        tags=tags or None,
        agent=agent,
        project=project,
    )
    if time_limit is not None:
        details["time_limit"] = time_limit_typed(time_limit)
    return details


def _given(**members: str | bool | timedelta | list[str] | dict[str, str] | dict[str, object] | None) -> Details:
    return cast(Details, {name: value for name, value in members.items() if value is not None})


def _default_value(details: Details, typed: str) -> object:
    try:
        return value_for(answer_shape(details), typed)
    except ValueError as failure:
        raise usage(f"--default: {failure}") from None
