"""Whose a result is that lies at an output, and whether it is finished: what may be taken for ours, what replaced, and what stays.

Beside every result lies plan.json, which names what makes it: a reconstruction, a conversion, a movie ... Its identity is a
hash of all that determines the result and how it is cut. What other plans have left is removed while it is unfinished; a
finished result, which has the marker FINISHED, stays unless it may be overwritten."""
from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...errors import BadArgument, Error
from .store import Store

FOLDER = ".echolux"  # beside the results, so that they hold nothing that readers of Zarr do not know
FINISHED = "whole"  # the part that is put last


class Stale(Error):
    """A finished result of other settings, input or program version is in the way."""

    code = "output"


@dataclass(frozen=True)
class Claim:
    """What plan.json says, whatever makes the result."""

    identity: str
    targets: tuple[str, ...]  # files and folders of the result


def plan_key(name: str) -> str:
    return f"{FOLDER}/{name}/plan.json"


def marker_key(name: str, part: str) -> str:
    return f"{FOLDER}/{name}/{part}.json"


def claim_json(kind: str, identity: str, targets: Sequence[str], **more: Any) -> bytes:
    return json.dumps({"kind": kind, "id": identity, "targets": list(targets), **more}, indent=1).encode() + b"\n"


def parse_claim(text: bytes, name: str) -> Claim:
    """Of a file that is damaged, or of another version: of nobody's, for the result of this name."""
    try:
        fields = json.loads(text)
        return Claim(str(fields["id"]), tuple(str(one) for one in fields["targets"]))
    except (ValueError, KeyError, TypeError):
        return Claim("", (name,))


def require_current(store: Store, name: str, identity: str) -> None:
    """Raises Stale where another plan has taken this one's place: its parts must not land in that one's result."""
    text = store.get(plan_key(name))
    if text is None or parse_claim(text, name).identity != identity:
        raise Stale("is no longer the output of this job", f"{store.address}/{name}", "start the job again")


def _is_finished(store: Store, name: str) -> bool:
    """Whether all files of some finished result are there, be they changed since."""
    try:
        return all(store.size(key) is not None for key in json.loads(store.get(marker_key(name, FINISHED)) or b"")["files"])
    except (ValueError, KeyError, TypeError):
        return False


def require_replaceable(store: Store, name: str, identity: str | None, *, overwrite: bool) -> None:
    """Raises Stale where another result is finished and may not be overwritten. identity: None: all that are there are others."""
    text = store.get(plan_key(name))
    if text is None or overwrite or parse_claim(text, name).identity == identity:
        return
    if _is_finished(store, name):
        raise Stale("holds the result of other settings, another input or another version", f"{store.address}/{name}",
                    "choose another output, or allow it to be overwritten")


def _require_apart(store: Store, targets: Iterable[str], inputs: Iterable[str]) -> None:
    """Refuses to replace what the result is made from."""
    read = [Path(one).resolve() for one in inputs]
    for one in targets:
        place = store.local(one)
        if place is not None and any(path == place or place in path.parents for path in read):
            raise BadArgument("is an input, and would be replaced", str(place), "choose another output")


def claim(store: Store, name: str, before: bytes | None, mine: bytes, *, overwrite: bool, inputs: Iterable[str]) -> bytes:
    """Makes way for the result `name`, whose plan.json was `before`, and puts `mine`; gives what is there then: that of a
    process which was faster, perhaps. inputs: paths that it is made from, which stay."""
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
                store.remove(f"{one}/zarr.json")  # first: from now on it is no picture
            store.remove(one)
        store.remove(f"{FOLDER}/{name}")
    return mine if store.put_new(plan_key(name), mine) else store.get(plan_key(name)) or b""
