"""Progress of a job in one line: rewritten on a terminal, and printed every ten seconds to a file."""
from __future__ import annotations

import sys
import time
from collections import deque

from .report import counted

_RECENT_S = 60.0


def _time(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _rate(a_scans_per_s: float) -> str:
    if a_scans_per_s >= 1e6:
        return f"{a_scans_per_s / 1e6:.3g} M A-scans/s"
    if a_scans_per_s >= 1e3:
        return f"{a_scans_per_s / 1e3:.3g} k A-scans/s"
    return f"{a_scans_per_s:.3g} A-scans/s"


class Progress:
    """shown: False: print nothing; noun: what `scans` counts."""

    def __init__(self, scans: int, shown: bool, noun: str = "scan") -> None:
        self.noun = noun
        self.scans, self.planned, self.parts, self.done, self.failures = scans, 0, 0, 0, 0
        self._shown = shown
        self._is_terminal = sys.stderr.isatty()
        self._last = 0.0 if self._is_terminal else time.monotonic()
        self._recent: deque[tuple[float, int]] = deque([(time.monotonic(), 0)])
        self._made = 0
        self._is_open = False  # an unfinished line is on the terminal
        self._a_scans = 0

    def add_part(self, a_scans: int) -> None:
        """Counts a finished part."""
        self.done += 1
        self._made += 1
        self._a_scans += a_scans

    def line(self, workers: int) -> str:
        now = time.monotonic()
        self._recent.append((now, self._a_scans))
        while now - self._recent[0][0] > _RECENT_S:
            self._recent.popleft()
        seconds, a_scans = now - self._recent[0][0], self._a_scans - self._recent[0][1]
        words = [f"{self.done} of {counted(self.parts, 'part')}" if self.planned == self.scans else
                 f"{counted(self.done, 'part')}, {self.planned} of {counted(self.scans, self.noun)} planned"]
        if a_scans and seconds > 0:
            words.append(_rate(a_scans / seconds))
            per_part = self._a_scans / self._made
            if self.planned == self.scans and self.done < self.parts:
                words.append(f"{_time((self.parts - self.done) * per_part * seconds / a_scans)} left")
        words.append(counted(workers, "worker"))
        if self.failures:
            words.append(f"{self.failures} failed")
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
