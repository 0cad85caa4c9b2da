"""Validates reconstructions of this build against formulas and publications."""
from __future__ import annotations

import math
from dataclasses import dataclass

from . import _core
from .progress import Progress, watching


@dataclass(frozen=True)
class Check:
    """One measured quantity.

    topic, what, unit: its description, and the unit of the numbers ("": a ratio)
    found: measured value; expected: value from formulas or publications, None if there is none
    bound: "near" (at most `limit` from the expected value), "at least" and "at most" (`limit`), or "reported"
    passed: the value is within the bound
    """

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
    """Results of a validation.

    checks: the individual checks; report: all of them as Markdown
    """

    checks: tuple[Check, ...]
    report: str

    @property
    def passed(self) -> bool:
        """Whether all checks passed."""
        return all(check.passed for check in self.checks)

    @property
    def failures(self) -> tuple[Check, ...]:
        """Checks that did not pass."""
        return tuple(check for check in self.checks if not check.passed)

    def _repr_markdown_(self) -> str:
        return self.report


_BOUNDS = ("near", "at least", "at most", "reported")


def validate(*, quick: bool = False, device: str = "auto", progress: Progress = None) -> Validation:
    """Runs the checks of `echolux validate`: compares reconstructions with formulas and publications.

    quick: fewer depths, kernels and scenes
    device, progress: as in Scan.reconstruct()

    A failed check does not raise. Raises DeviceFailed.
    """
    with watching(progress) as told:
        found, report = _core.validate(device, quick, told)
    checks = []
    for topic, what, unit, value, expected, limit, bound, passed in found:
        checks.append(Check(topic, what, unit, value, None if math.isnan(expected) else expected, limit, _BOUNDS[bound],
                            passed))
    return Validation(tuple(checks), report)
