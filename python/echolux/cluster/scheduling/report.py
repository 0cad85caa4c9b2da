"""Result of a job."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...errors import Error


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' if count != 1 else ''}"


@dataclass(frozen=True)
class Failure:
    """Something that could not be made, and the reason."""

    scan: str
    part: str  # "B-scans 64:128 of volume 0"; empty for the whole
    reason: str


@dataclass
class Report:
    """Result of a job. Existing parts are counted in `there`."""

    noun: str = "scan"  # unit of `scans` and `finished`; or "volume", "movie"
    scans: int = 0
    finished: int = 0
    made: int = 0
    there: int = 0
    a_scans: int = 0
    seconds: float = 0.0
    # Sums over all workers: reconstruct, pack and write, which overlap, and the total.
    work_s: dict[str, float] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # arguments without effect, with reasons
    files: list[str] = field(default_factory=list)  # finished results, relative to the output
    results: dict[str, Any] = field(default_factory=dict)  # return values by volume, only for `echolux batch map`

    @property
    def ok(self) -> bool:
        return not self.failures

    def table(self) -> str:
        """The failures, one per line; empty if there are none."""
        rows = [(one.scan, one.part or f"the whole {self.noun}", one.reason) for one in self.failures]
        if not rows:
            return ""
        widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
        return "\n".join(f"{scan.ljust(widths[0])}  {part.ljust(widths[1])}  {reason}" for scan, part, reason in rows)

    def __str__(self) -> str:
        words = [f"{self.finished} of {counted(self.scans, self.noun)} finished", f"{counted(self.made, 'part')} made"]
        if self.there:
            words.append(f"{self.there} were there")
        if self.failures:
            words.append(f"{len(self.failures)} failed")
        return ", ".join(words) + f" in {self.seconds:.1f} s" + "".join(f"\n{note}" for note in self.notes) + (f"\n{self.table()}" if self.failures else "")


class Incomplete(Error):
    """Some volumes failed. results: in order, None for failed ones; failures: the failed volumes and the reasons."""

    def __init__(self, results: list[Any], failures: list[Failure]) -> None:
        super().__init__(f"{len(failures)} of {len(results)} volumes failed, the first: {failures[0].reason}",
                         failures[0].scan, "the exception has .results and .failures")
        self.results, self.failures = results, failures

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.results, self.failures)
