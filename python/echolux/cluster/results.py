"""Completeness and ownership of results, determined from the output alone.

Beside every result there is a plan.json that describes its origin: a reconstruction, a conversion, a movie ... Its
identity is a hash of everything that determines the result and its division into parts. Beside it, there is a small
marker per finished part, written last, with that identity and the sizes and checksums of the part's files.

Unfinished results of other plans are removed. A finished result, which has the marker FINISHED, is kept unless it may be
overwritten.
"""
from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Optional

from ..errors import BadArgument, Error
from .storage import PendingFile, Store, crc32c
from .threads import cpu_pool, io_pool

FOLDER = ".echolux"  # beside the results, so that Zarr readers find no unknown files in them
FINISHED = "whole"  # the part that is written last

Marker = dict[str, Any]

_READABLE = (".zarray", ".zgroup", ".zattrs", "zarr.json")  # files that make a Zarr folder readable


class Stale(Error):
    """A finished result of other settings, input or program version is in the way."""

    code = "output"


def plan_key(name: str) -> str:
    return f"{FOLDER}/{name}/plan.json"


def marker_key(name: str, part: str) -> str:
    return f"{FOLDER}/{name}/{part}.json"


def claim_json(kind: str, identity: str, targets: Sequence[str], **more: Any) -> bytes:
    return json.dumps({"kind": kind, "id": identity, "targets": list(targets), **more}, indent=1).encode() + b"\n"


def parse_claim(text: bytes | None, name: str) -> tuple[str, tuple[str, ...]]:
    """Returns the identity, and the files and folders of the result. A damaged file, or one of another version, is
    treated as unowned.
    """
    try:
        fields = json.loads(text or b"")
        return str(fields["id"]), tuple(str(one) for one in fields["targets"])
    except (ValueError, KeyError, TypeError):
        return "", (name,)


def _identity_of(store: Store, name: str) -> str:
    """Returns the identity of the plan that is there."""
    return parse_claim(store.get(plan_key(name)), name)[0]


# ---- ownership

def require_current(store: Store, name: str, identity: str) -> None:
    """Raises Stale if another plan has replaced this one: its parts must not be written into the other result."""
    if _identity_of(store, name) != identity:
        raise Stale("is no longer the output of this job", f"{store.address}/{name}", "start the job again")


def _is_finished(store: Store, name: str) -> bool:
    """Returns true if all files of a finished result exist, even if they were changed later."""
    try:
        return all(store.size(key) is not None for key in json.loads(store.get(marker_key(name, FINISHED)) or b"")["files"])
    except (ValueError, KeyError, TypeError):
        return False


def require_replaceable(store: Store, name: str, identity: str | None, *, overwrite: bool) -> None:
    """Raises Stale if another finished result exists and may not be overwritten. identity: None: every result counts as
    another one.
    """
    if not overwrite and _identity_of(store, name) != identity and _is_finished(store, name):
        raise Stale("holds the result of other settings, another input or another version", f"{store.address}/{name}",
                    "choose another output, or allow it to be overwritten")


def _require_apart(store: Store, targets: Iterable[str], inputs: Iterable[str]) -> None:
    """Refuses to replace input of the result."""
    read = [Path(one).resolve() for one in inputs]
    for one in targets:
        place = store.local(one)
        if place is not None and any(path == place or place in path.parents for path in read):
            raise BadArgument("is an input, and would be replaced", str(place), "choose another output")


def claim(store: Store, name: str, before: bytes | None, mine: bytes, *, overwrite: bool, inputs: Sequence[str]) -> bytes:
    """Clears the place of the result `name`, whose plan.json was `before`, and writes `mine`. Returns the plan that is
    then there, possibly that of a faster process. inputs: paths of its input, which are never removed.
    """
    identity, targets = parse_claim(mine, name)
    _require_apart(store, targets, inputs)
    require_replaceable(store, name, identity, overwrite=overwrite)
    ours = () if before is None else parse_claim(before, name)[1]
    for one in targets:
        if one not in ours and (store.size(one) is not None or store.names(one)):
            raise Stale("is in the way", f"{store.address}/{one}", "choose another output, or move it")
    _require_apart(store, ours, inputs)
    if before is not None:
        for one in sorted(ours):
            if store.size(f"{one}/zarr.json") is not None:
                store.remove(f"{one}/zarr.json")  # first, so that it cannot be opened any longer
            store.remove(one)
        store.remove(f"{FOLDER}/{name}")
    return mine if store.put_new(plan_key(name), mine) else store.get(plan_key(name)) or b""


# ---- parts

class PartFiles:
    """The files of a part. They appear in commit(), followed by their marker. folder: temporary; None: the files are
    discarded.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._files: dict[str, PendingFile] = {}

    def create(self, key: str) -> PendingFile:
        file = self._files[key] = PendingFile(self.folder and self.folder / f"part-{len(self._files)}")
        return file

    def adopt(self, key: str, path: Path) -> None:
        """Adds a complete file in `folder`."""
        self._files[key] = PendingFile(path, is_complete=True)

    def sync(self) -> None:
        for file in self._files.values():
            file.sync()

    def commit(self, store: Store, name: str, part: str, identity: str, facts: Marker) -> None:
        """facts: further content of the marker. Raises Stale if the plan was replaced since the part was started: a
        worker cannot be stopped within a part, so it continues after its job was stopped.
        """
        require_current(store, name, identity)
        last = sorted((key for key in self._files if key.endswith(_READABLE)), key=lambda key: -key.count("/"))
        first = [key for key in self._files if key not in last]
        list(cpu_pool().map(lambda key: store.move(self._files[key], key), first))  # disks handle several at a time
        for key in last:
            store.move(self._files[key], key)
        listed = {key: {"bytes": file.bytes, "crc32c": f"{file.crc:08x}"} for key, file in self._files.items()}
        store.put(marker_key(name, part), json.dumps({"id": identity, "files": listed, **facts}, indent=1).encode() + b"\n")

    def close(self) -> None:
        for file in self._files.values():
            file.close()


@contextlib.contextmanager
def part_files(store: Store, folder: str = FOLDER) -> Iterator[PartFiles]:
    """folder: contains the temporary one. Everything that is not committed is discarded."""
    with store.scratch(folder) as scratch, contextlib.closing(PartFiles(scratch)) as files:
        yield files


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
            if verify and f'{crc32c(store.get(key) or b""):08x}' != facts["crc32c"]:
                return None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return marker
