"""Result of a job, and its progress in one line: rewritten on a terminal, and printed every ten seconds to a file."""
from __future__ import annotations

import sys
import time
from collections import deque
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from ..errors import Error

_RECENT_S = 60.0


def _counted(count: int, noun: str) -> str:
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
        widths = [max((len(row[i]) for row in rows), default=0) for i in (0, 1)]
        return "\n".join(f"{scan.ljust(widths[0])}  {part.ljust(widths[1])}  {reason}" for scan, part, reason in rows)

    def __str__(self) -> str:
        words = [f"{self.finished} of {_counted(self.scans, self.noun)} finished", f"{_counted(self.made, 'part')} made"]
        if self.there:
            words.append(f"{self.there} were there")
        if self.failures:
            words.append(f"{len(self.failures)} failed")
        return "\n".join([f"{', '.join(words)} in {self.seconds:.1f} s", *self.notes, *([self.table()] if self.failures else [])])


class Incomplete(Error):
    """Some volumes failed. results: in order, None for failed ones; failures: the failed volumes and the reasons."""

    def __init__(self, results: list[Any], failures: list[Failure]) -> None:
        super().__init__(f"{len(failures)} of {len(results)} volumes failed, the first: {failures[0].reason}",
                         failures[0].scan, "the exception has .results and .failures")
        self.results, self.failures = results, failures

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.results, self.failures)


def _rate(a_scans_per_s: float) -> str:
    factor, prefix = next((one for one in ((1e6, " M"), (1e3, " k")) if a_scans_per_s >= one[0]), (1, ""))
    return f"{a_scans_per_s / factor:.3g}{prefix} A-scans/s"


class Progress:
    """Shows a report that is being made, if `shown`."""

    def __init__(self, report: Report, shown: bool) -> None:
        self.report = report
        self.planned = self.parts = 0
        self._shown = shown
        self._is_terminal = sys.stderr.isatty()
        self._last = 0.0 if self._is_terminal else time.monotonic()
        self._recent: deque[tuple[float, int]] = deque([(time.monotonic(), 0)])
        self._is_open = False  # an unfinished line is on the terminal

    def line(self, workers: int) -> str:
        now, report = time.monotonic(), self.report
        self._recent.append((now, report.a_scans))
        while now - self._recent[0][0] > _RECENT_S:
            self._recent.popleft()
        seconds, a_scans = now - self._recent[0][0], report.a_scans - self._recent[0][1]
        done, is_planned = min(report.made + report.there, self.parts), self.planned == report.scans  # lost parts are made twice
        words = [f"{done} of {_counted(self.parts, 'part')}" if is_planned else
                 f"{_counted(done, 'part')}, {self.planned} of {_counted(report.scans, report.noun)} planned"]
        if a_scans and seconds > 0:
            words.append(_rate(a_scans / seconds))
            if is_planned and done < self.parts:
                left_s = (self.parts - done) * report.a_scans / report.made * seconds / a_scans
                words.append(f"{timedelta(seconds=round(left_s))} left")
        words.append(_counted(workers, "worker"))
        if report.failures:
            words.append(f"{len(report.failures)} failed")
        return ", ".join(words)

    def is_due(self) -> bool:
        return self._shown and time.monotonic() - self._last >= (0.5 if self._is_terminal else 10)

    def show(self, workers: int) -> None:
        self._last = time.monotonic()
        self._write(self.line(workers), ends=not self._is_terminal)

    def tell(self, text: str) -> None:
        if self._shown:
            self._write(text, ends=True)

    def close(self) -> None:
        """Ends the line."""
        if self._is_open:
            sys.stderr.write("\n")
            sys.stderr.flush()
        self._is_open = False

    def _write(self, text: str, ends: bool) -> None:
        begin = "\r\x1b[K" if self._is_terminal else ""
        sys.stderr.write(begin + text + ("\n" if ends else ""))
        self._is_open = not ends
        sys.stderr.flush()
