"""Long lists of cases: a part of them in every run, all of them in `make soak`."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def shortly(cases: Iterable[Any], *, keep: Collection[int]) -> list[Any]:
    """The cases for `parametrize`; those at other places than these are left to the long run."""
    return [case if place in keep else _long(case) for place, case in enumerate(cases)]


def _long(case: Any) -> Any:
    values = case if isinstance(case, tuple) and type(case) is tuple else (case,)
    return pytest.param(*values, marks=pytest.mark.soak)
