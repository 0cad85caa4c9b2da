"""What this build reconstructs, against what formulas and publications say of it."""
from __future__ import annotations

import math
from dataclasses import dataclass

from . import _core
from .progress import Progress, watching


@dataclass(frozen=True)
class Check:
    """One thing that was measured.

    topic, what, unit: what it is, and the unit of the numbers ("": a ratio)
    found: what came out; expected: what formulas or publications say, None where they say nothing
    bound: "near" (at most `limit` from what is expected), "at least" and "at most" (`limit`), or "reported"
    passed: whether it keeps to the bound
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
    """What a validation measured.

    checks: one by one; report: all of them as Markdown
    """

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
    """Measures what `echolux validate` measures: reconstructions against formulas and publications.

    quick: fewer depths, kernels and scenes
    device, progress: as of Scan.reconstruct()

    A check that fails raises nothing. Raises DeviceFailed.
    """
    with watching(progress) as told:
        found, report = _core.validate(device, quick, told)
    checks = []
    for topic, what, unit, value, expected, limit, bound, passed in found:
        checks.append(Check(topic, what, unit, value, None if math.isnan(expected) else expected, limit, _BOUNDS[bound],
                            passed))
    return Validation(tuple(checks), report)
