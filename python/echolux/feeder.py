"""Sources written in Python: passes their arrays to a session."""
from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from . import _core
from .arrays import host_copy, in_native_order, known_array
from .errors import BadArgument
from .scan import Scan

PATIENCE_S = 1.0  # time for a source to end
_ROOM_MS = 50  # while waiting for room, interval of checks whether volumes are still wanted


class Feeder:
    """Pushes the arrays of a Python source on its own thread."""

    def __init__(self, core: _core.Live, scan: Scan, arrays: Iterator[Any]) -> None:
        self._core, self._scan, self._arrays = core, scan, arrays
        self._stopped = threading.Event()
        self.raised: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="echolux source", daemon=True)
        _feeders[id(self)] = self

    def start(self) -> None:
        self._thread.start()

    def abandon(self) -> None:
        """Ends with the next array, because no more volumes are wanted."""
        self._stopped.set()

    def stop(self, patience_s: float = PATIENCE_S) -> None:
        """Waits for the thread, unless the source is waiting for its instrument."""
        self.abandon()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(patience_s)

    def _work(self) -> None:
        try:
            self._push_all()
        except BaseException as error:
            self.raised = error
        with suppress(BadArgument):  # the session is closed
            self._core.end()

    def _push_all(self) -> None:
        volume = position = 0
        b_scans = self._scan.shape[0]
        for spectra in self._arrays:
            lines = host_copy(in_native_order(known_array(spectra), self._scan.scan.byte_order))
            count = _core.b_scans_of(self._scan._core, lines)
            if position + count > b_scans:
                raise BadArgument(f"{count} B-scans from B-scan {position} on go beyond the volume of {b_scans}", "source",
                                  "yield whole volumes, or parts that end where a volume ends")
            while not self._core.push(self._scan._core, lines, volume, position, _ROOM_MS):
                if self._stopped.is_set():
                    return
            if self._stopped.is_set():
                return
            position += count
            if position == b_scans:
                volume, position = volume + 1, 0


_feeders: weakref.WeakValueDictionary[int, Feeder] = weakref.WeakValueDictionary()


def all_feeders() -> list[Feeder]:
    """Feeders of all open sessions."""
    return [feeder for ref in _feeders.valuerefs() if (feeder := ref()) is not None]
