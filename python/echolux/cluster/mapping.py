"""A function of the user's for each volume of many."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import Error
from .report import Failure


class Incomplete(Error):
    """Some volumes failed. results: in order, None where there is none; failures: which, and why."""

    def __init__(self, results: list[Any], failures: list[Failure]) -> None:
        super().__init__(f"{len(failures)} of {len(results)} volumes failed, the first: {failures[0].reason}",
                         failures[0].scan, "the exception has .results and .failures")
        self.results, self.failures = results, failures

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.results, self.failures)


def token_of(function: Callable[[Any], Any]) -> str:
    """Of what it does, as far as can be seen: changed functions have others."""
    import inspect

    from dask.base import tokenize

    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        source = ""
    return str(tokenize(function, source))
