"""Functions that may only be called with an approval: what is asked, and what is called after the answer."""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from handraise.answer import Decision, NotApproved
from handraise.drafts import Details, approval_details
from handraise.errors import InvalidArgument
from handraise.wire import Json

Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]

_RECEIVERS = ("self", "cls")


class Guard:
    """The gate before one function."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        tool: str | None,
        when: Callable[..., bool] | None,
        describe: Callable[..., str] | str | None,
        editable: bool,
        details: Details,
    ) -> None:
        self._signature = inspect.signature(function)
        self._tool = tool or qualified_name(function)
        self._when = when
        self._describe = describe
        self._editable = editable
        self._details = details

    def request(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> "GuardedCall | None":
        """What to ask before this call, or None where `when` says that nobody has to be asked."""
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if self._when is not None and not self._when(*args, **kwargs):
            return None
        shown = shown_arguments(self._tool, bound)
        details = approval_details(
            self._details, tool=self._tool, arguments=shown, diff=None, risk=None, editable=self._editable
        )
        return GuardedCall(self._tool, self._text(args, kwargs), bound, shown, details)

    def _text(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        if self._describe is None:
            return f"May {self._tool} be called?"
        return self._describe if isinstance(self._describe, str) else self._describe(*args, **kwargs)


@dataclass(frozen=True, slots=True)
class GuardedCall:
    """One call that waits for its approval; `shown` is what people see of its arguments."""

    tool: str
    text: str
    bound: inspect.BoundArguments
    shown: Json
    details: Details

    def allowed(self, decision: Decision) -> Arguments:
        """What to call the function with; NotApproved where that is nothing."""
        if not decision.approved:
            raise NotApproved(decision)
        if _canonical(shown_arguments(self.tool, self.bound)) != _canonical(self.shown):
            raise InvalidArgument(f"The arguments of {self.tool} changed while people looked at them; ask again.")
        approved = decision.arguments
        if approved is not None and decision.has_changed_arguments:
            self._change(approved)
        return self.bound.args, self.bound.kwargs

    def _change(self, approved: Mapping[str, Any]) -> None:
        """Every value that a person changed replaces its own; the others stay the objects they were."""
        if approved.keys() != self.shown.keys():
            raise InvalidArgument(f"The arguments were changed to ones that {self.tool} does not take.")
        for name, value in approved.items():
            if _canonical(value) != _canonical(self.shown[name]):
                self._refuse_misfit(name, value)
                self.bound.arguments[name] = value

    def _refuse_misfit(self, name: str, value: object) -> None:
        """A list of further arguments must stay a list, and named ones must not take the place of others."""
        kind = self.bound.signature.parameters[name].kind
        fits = True
        if kind is inspect.Parameter.VAR_POSITIONAL:
            fits = isinstance(value, list)
        elif kind is inspect.Parameter.VAR_KEYWORD:
            fits = isinstance(value, dict) and not value.keys() & self.bound.signature.parameters.keys()
        if not fits:
            raise InvalidArgument(f"The argument {name} was changed to what {self.tool} does not take.")


def shown_arguments(tool: str, bound: inspect.BoundArguments) -> Json:
    """The arguments as JSON, but for the object that a method belongs to."""
    names = list(bound.arguments)
    if names and names[0] in _RECEIVERS:
        names = names[1:]
    return {name: _as_json(tool, name, bound.arguments[name]) for name in names}


def _as_json(tool: str, name: str, value: object) -> object:
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as failure:
        raise InvalidArgument(
            f"People cannot be asked about this call of {tool}: its argument {name} cannot be shown as JSON "
            f"({failure}). Pass it as text, numbers, lists or dicts."
        ) from None


def qualified_name(function: Callable[..., Any]) -> str:
    """Module and name, as people would look for it."""
    name = getattr(function, "__qualname__", type(function).__qualname__).replace("<locals>.", "")
    module = getattr(function, "__module__", None)
    return name if module in (None, "__main__", "builtins") else f"{module}.{name}"


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)
