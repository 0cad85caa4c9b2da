"""A piece of work for each of many files: convert, figures, calibrations, functions of the user's. What it makes of a file
is one part, done exactly once like any other where there is an output, and only given back where there is none."""
from __future__ import annotations

import io
import os
from typing import Any, Optional

import numpy as np

from . import file_work
from ..storage import markers
from ..fingerprint import hash_of
from ..storage.ownership import WHOLE, claim, claim_text, key_of, parsed, require_replaceable
from ..storage.store import Store


def planned(store: Optional[Store], task: dict[str, Any]) -> dict[str, Any]:
    """All of it: there are no parts to plan."""
    work = getattr(file_work, task["work"])
    if store is None:
        return {**_ended(task, work(task, None)), "made": 1}
    job = hash_of(task["work"], task["token"], task["settings"], file_work.facts(task))
    there = markers.read(store, task["name"], WHOLE, job, verify=task["verify"])
    if there is not None:
        return _ended(task, _kept_result(store, there))
    require_replaceable(store, task["name"], job, overwrite=task["overwrite"])
    with markers.files(store) as files, store.scratch() as folder:
        result = work(task, folder)
        facts: dict[str, Any] = {"result": result}
        if isinstance(result, np.ndarray):
            np.save(folder / (_base(task) + ".npy"), result, allow_pickle=False)
            facts = {"array": os.path.join(os.path.dirname(task["name"]), _base(task) + ".npy")}
        above = os.path.dirname(task["name"])
        targets = sorted(os.path.join(above, one.name) for one in folder.iterdir())
        before = store.get(key_of(task["name"]))
        if before is None or parsed(before, task["name"]).identity != job:
            claim(store, task["name"], before, claim_text(task["work"], job, targets), overwrite=task["overwrite"],
                  inputs=[task["path"]])
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                files.take(os.path.join(above, str(path.relative_to(folder))), path)
        files.commit(task["name"], WHOLE, job, facts)
    return {**_ended(task, result), "made": 1}


def _base(task: dict[str, Any]) -> str:
    return os.path.basename(str(task["name"]))


def _kept_result(store: Store, marker: dict[str, Any]) -> Any:
    if "array" not in marker:
        return marker.get("result")
    return np.load(io.BytesIO(store.get(marker["array"]) or b""), allow_pickle=False)


def _ended(task: dict[str, Any], result: Any) -> dict[str, Any]:
    return {"name": task["name"], "id": "", "count": 1, "missing": [], "is_finished": True, "result": result}
