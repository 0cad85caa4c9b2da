"""Results that are neither ours to replace nor to be believed: whose is what lies at an output, and is it finished."""
from __future__ import annotations

import hashlib
import json
from typing import Any

from .. import _core
from ..errors import Error
from . import markers
from .store import Store

FORMAT = 2  # of what is written: markers of another one are not taken up


class Stale(Error):
    """A finished result of other settings, input or program version is in the way."""

    code = "output"


def key_of(name: str) -> str:
    """Of what says that a result is ours; for a scan it is its plan."""
    return f"{markers.FOLDER}/{name}/plan.json"


def hash_of(*facts: Any) -> str:
    """Of what determines every byte of a result, with the version of the program."""
    return hashlib.sha256(json.dumps([FORMAT, _core.version, *facts]).encode()).hexdigest()[:32]


def require_replaceable(store: Store, name: str, job: str, *, overwrite: bool) -> None:
    """Raises Stale where another job's result is finished and may not be overwritten."""
    text = store.get(key_of(name))
    if text is None or json.loads(text).get("job") == job or overwrite:
        return
    if store.size(f"{markers.FOLDER}/{name}/{markers.WHOLE}.json") is not None:
        raise Stale("holds the result of other settings, another input or another version", f"{store.address}/{name}",
                    "choose another output, or allow it to be overwritten")


def claim(store: Store, name: str, job: str, *, overwrite: bool, targets: list[str]) -> None:
    """Makes way for the result `name`: of another job's only what is unfinished, or may be overwritten, is removed. targets:
    files or folders of the result."""
    require_replaceable(store, name, job, overwrite=overwrite)
    text = store.get(key_of(name))
    if text is not None and json.loads(text).get("job") == job:
        return
    if text is None and any(store.size(one) is not None or store.names(one) for one in targets):
        raise Stale("is in the way", f"{store.address}/{targets[0]}", "choose another output, or move it")
    store.remove(f"{markers.FOLDER}/{name}")
    for one in targets:
        store.remove(one)
    store.put(key_of(name), json.dumps({"job": job}).encode() + b"\n")
