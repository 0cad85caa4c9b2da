"""Ownership of results in an output: what may be reused or replaced, and what must be kept.

Beside every result there is a plan.json that describes its origin: a reconstruction, a conversion, a movie ... Its
identity is a hash of everything that determines the result and its division into parts. Unfinished results of other
plans are removed. A finished result, which has the marker FINISHED, is kept unless it may be overwritten.
"""
from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import BadArgument, Error
from .store import Store

FOLDER = ".echolux"  # beside the results, so that Zarr readers find no unknown files in them
FINISHED = "whole"  # the part that is written last


class Stale(Error):
    """A finished result of other settings, input or program version is in the way."""

    code = "output"


@dataclass(frozen=True)
class Claim:
    """Content of plan.json for any kind of result."""

    identity: str
    targets: tuple[str, ...]  # files and folders of the result


def plan_key(name: str) -> str:
    return f"{FOLDER}/{name}/plan.json"


def marker_key(name: str, part: str) -> str:
    return f"{FOLDER}/{name}/{part}.json"


def claim_json(kind: str, identity: str, targets: Sequence[str], **more: Any) -> bytes:
    return json.dumps({"kind": kind, "id": identity, "targets": list(targets), **more}, indent=1).encode() + b"\n"


def parse_claim(text: bytes, name: str) -> Claim:
    """A damaged file, or one of another version, is treated as unowned."""
    try:
        fields = json.loads(text)
        return Claim(str(fields["id"]), tuple(str(one) for one in fields["targets"]))
    except (ValueError, KeyError, TypeError):
        return Claim("", (name,))


def require_current(store: Store, name: str, identity: str) -> None:
    """Raises Stale if another plan has replaced this one: its parts must not be written into the other result."""
    text = store.get(plan_key(name))
    if text is None or parse_claim(text, name).identity != identity:
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
    text = store.get(plan_key(name))
    if text is None or overwrite or parse_claim(text, name).identity == identity:
        return
    if _is_finished(store, name):
        raise Stale("holds the result of other settings, another input or another version", f"{store.address}/{name}",
                    "choose another output, or allow it to be overwritten")


def _require_apart(store: Store, targets: Iterable[str], inputs: Iterable[str]) -> None:
    """Refuses to replace input of the result."""
    read = [Path(one).resolve() for one in inputs]
    for one in targets:
        place = store.local(one)
        if place is not None and any(path == place or place in path.parents for path in read):
            raise BadArgument("is an input, and would be replaced", str(place), "choose another output")


def claim(store: Store, name: str, before: bytes | None, mine: bytes, *, overwrite: bool, inputs: Iterable[str]) -> bytes:
    """Clears the place of the result `name`, whose plan.json was `before`, and writes `mine`. Returns the plan that is
    then there, possibly that of a faster process. inputs: paths of its input, which are never removed.
    """
    wanted = parse_claim(mine, name)
    _require_apart(store, wanted.targets, inputs)
    require_replaceable(store, name, wanted.identity, overwrite=overwrite)
    ours = () if before is None else parse_claim(before, name).targets
    for one in wanted.targets:
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
