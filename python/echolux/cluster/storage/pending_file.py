"""A file that is written piece by piece and appears complete or not at all."""
from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path

from .checksums import crc32c


class PendingFile(ABC):
    """The file appears in commit(). Without it, the data is discarded."""

    def __init__(self) -> None:
        self.bytes = 0
        self.crc = 0

    def write(self, data: bytes) -> None:
        self._append(data)
        self.bytes += len(data)
        self.crc = crc32c(data, self.crc)

    @abstractmethod
    def _append(self, data: bytes) -> None: ...

    def sync(self) -> None:
        """Starts writing to disk now, so that less remains for commit()."""

    @abstractmethod
    def commit(self) -> None: ...

    @abstractmethod
    def discard(self) -> None:
        """Does nothing after commit()."""


def put_at_once(file: PendingFile, data: bytes) -> None:
    with contextlib.ExitStack() as stack:
        stack.callback(file.discard)
        file.write(data)
        file.commit()


def pieces(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while piece := file.read(16 << 20):
            yield piece
