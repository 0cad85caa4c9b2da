"""What is complete is known from the output alone: beside the results lies a small marker for each finished part, which is
put last. It names what made its files (the identity of its plan) and their check sums."""
from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from .checksums import crc32c, spelled
from .ownership import marker_key, require_current
from .store import Store, Writing
from ..threads import pool

_READABLE = (".zarray", ".zgroup", ".zattrs", "zarr.json")  # with which a folder of Zarr can be opened


class Files:
    """The files of a part, which appear in commit(), and then their marker."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._files: dict[str, Writing] = {}

    def creator(self, name: str) -> Callable[[str], Writing]:
        """Makes a file of a key below a result."""
        def create(key: str) -> Writing:
            file = self._files[f"{name}/{key}"] = self._store.writing(f"{name}/{key}")
            return file

        return create

    def take(self, key: str, path: Path) -> None:
        """A finished file from the store's scratch()."""
        self._files[key] = self._store.taking(key, path)

    def sync(self) -> None:
        for file in self._files.values():
            file.sync()

    def commit(self, name: str, part: str, identity: str, facts: dict[str, Any]) -> None:
        """facts: what else the marker tells. Raises Stale where the plan has been replaced since the part was begun: a worker
        cannot be stopped within a part, and goes on with it when its job was stopped."""
        require_current(self._store, name, identity)
        last = [key for key in self._files if key.endswith(_READABLE)]
        first = [file for key, file in self._files.items() if key not in last]
        list(pool().map(lambda file: file.commit(), first))  # disks take several at a time
        for key in sorted(last, key=lambda key: -key.count("/")):
            self._files[key].commit()
        listed = {key: {"bytes": file.bytes, "crc32c": spelled(file.crc)} for key, file in self._files.items()}
        self._store.put(marker_key(name, part), json.dumps({"id": identity, "files": listed, **facts}, indent=1).encode() + b"\n")

    def discard(self) -> None:
        for file in self._files.values():
            file.discard()


@contextlib.contextmanager
def files(store: Store) -> Iterator[Files]:
    """Whatever is not committed is discarded."""
    made = Files(store)
    try:
        yield made
    finally:
        made.discard()


def read(store: Store, name: str, part: str, identity: str, *, verify: bool = False) -> dict[str, Any] | None:
    """The marker of a part that this plan finished; None: it is to be made. Sizes are always compared; verify: also the
    check sums, which reads all files."""
    text = store.get(marker_key(name, part))
    if text is None:
        return None
    try:
        marker: dict[str, Any] = json.loads(text)
        if marker["id"] != identity:
            return None
        for key, facts in marker["files"].items():
            if store.size(key) != facts["bytes"]:
                return None
            if verify and spelled(crc32c(store.get(key) or b"")) != facts["crc32c"]:
                return None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return marker
