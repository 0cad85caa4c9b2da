"""What this build reconstructs, against what formulas and publications say of it."""
from __future__ import annotations

import math
from dataclasses import dataclass

from . import _core
from .progress import Progress, watching


@dataclass(frozen=True)
class Check:
    """What was found, and what was expected (None: nothing) with the bound: "near" (at most `limit` away), "at least" and
    "at most" (`limit`), or "reported"."""

    topic: str
    what: str
    unit: str
    found: float
    expected: float | None
    limit: float
    bound: str
    passed: bool


@dataclass(frozen=True)
class Validation:
    """checks, and all of them as Markdown."""

    checks: tuple[Check, ...]
    report: str

    @property
    def passed(self) -> bool:
        """Every check did."""
        return all(check.passed for check in self.checks)

    @property
    def failures(self) -> tuple[Check, ...]:
        """Checks that did not pass."""
        return tuple(check for check in self.checks if not check.passed)

    def _repr_markdown_(self) -> str:
        return self.report


_BOUNDS = ("near", "at least", "at most", "reported")


def validate(*, quick: bool = False, device: str = "auto", progress: Progress = None) -> Validation:
    """What `echolux validate` measures. quick: fewer depths, kernels and scenes. A check that fails raises nothing."""
    with watching(progress) as told:
        found, report = _core.validate(device, quick, told)
    checks = []
    for topic, what, unit, value, expected, limit, bound, passed in found:
        checks.append(Check(topic, what, unit, value, None if math.isnan(expected) else expected, limit, _BOUNDS[bound],
                            passed))
    return Validation(tuple(checks), report)
