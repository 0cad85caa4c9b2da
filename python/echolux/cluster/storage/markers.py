"""Completeness is determined from the output alone: beside the results there is a small marker per finished part,
written last. It contains the identity of the plan, and the sizes and checksums of the part's files.
"""
from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Optional

from ..threads import cpu_pool, io_pool
from .checksums import crc32c, to_hex
from .ownership import FOLDER, marker_key, require_current
from .pending_file import PendingFile
from .store import Store

Marker = dict[str, Any]

_READABLE = (".zarray", ".zgroup", ".zattrs", "zarr.json")  # files that make a Zarr folder readable


class PartFiles:
    """The files of a part. They appear in commit(), followed by their marker."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._files: dict[str, PendingFile] = {}

    def creator(self, name: str) -> Callable[[str], PendingFile]:
        """Returns a function that creates files by their keys below a result."""
        def create(key: str) -> PendingFile:
            file = self._files[f"{name}/{key}"] = self._store.create(f"{name}/{key}")
            return file

        return create

    def adopt(self, key: str, path: Path) -> None:
        """Adds a finished file from the store's scratch()."""
        self._files[key] = self._store.adopt(key, path)

    def sync(self) -> None:
        for file in self._files.values():
            file.sync()

    def commit(self, name: str, part: str, identity: str, facts: Marker) -> None:
        """facts: further content of the marker. Raises Stale if the plan was replaced since the part was started: a
        worker cannot be stopped within a part, so it continues after its job was stopped.
        """
        require_current(self._store, name, identity)
        last = [key for key in self._files if key.endswith(_READABLE)]
        first = [file for key, file in self._files.items() if key not in last]
        list(cpu_pool().map(lambda file: file.commit(), first))  # disks handle several at a time
        for key in sorted(last, key=lambda key: -key.count("/")):
            self._files[key].commit()
        listed = {key: {"bytes": file.bytes, "crc32c": to_hex(file.crc)} for key, file in self._files.items()}
        self._store.put(marker_key(name, part), json.dumps({"id": identity, "files": listed, **facts}, indent=1).encode() + b"\n")

    def discard(self) -> None:
        for file in self._files.values():
            file.discard()


@contextlib.contextmanager
def part_files(store: Store) -> Iterator[PartFiles]:
    """Everything that is not committed is discarded."""
    files = PartFiles(store)
    try:
        yield files
    finally:
        files.discard()


def read(store: Store, name: str, part: str, identity: str, *, verify: bool = False) -> Optional[Marker]:
    """Returns the marker of a part finished by this plan; None if the part must be made. Compares sizes; verify: also
    checksums, which reads all files.
    """
    return _checked(store, store.get(marker_key(name, part)), identity, store.size, verify)


def read_all(store: Store, name: str, parts: Iterable[str], identity: str, targets: Iterable[str], *,
             verify: bool = False) -> dict[str, Marker]:
    """Returns the markers of all finished parts of a result, by part. Lists each target and the markers once, and reads
    markers concurrently, because a result of 10,000 parts has 10,000 of them.

    targets: files and folders of the result
    """
    there = store.sizes(f"{FOLDER}/{name}")
    wanted = [part for part in parts if marker_key(name, part) in there]
    if not wanted:
        return {}
    sizes = {key: size for one in targets for key, size in store.sizes(one).items()}

    def checked(part: str) -> Optional[Marker]:
        return _checked(store, store.get(marker_key(name, part)), identity, sizes.get, verify)

    return {part: marker for part, marker in zip(wanted, io_pool().map(checked, wanted)) if marker is not None}


def _checked(store: Store, text: bytes | None, identity: str, size: Callable[[str], Optional[int]],
             verify: bool) -> Optional[Marker]:
    """Returns the content of a marker if its files match it."""
    try:
        marker: Marker = json.loads(text or b"")
        if marker["id"] != identity:
            return None
        for key, facts in marker["files"].items():
            if size(key) != facts["bytes"]:
                return None
            if verify and to_hex(crc32c(store.get(key) or b"")) != facts["crc32c"]:
                return None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return marker
