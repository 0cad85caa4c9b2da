"""Tasks of a file: it is converted, drawn, calibrated, or passed to a user's function. With an output, the result is
one part, done exactly once like any other. Without an output, it is only returned.
"""
from __future__ import annotations

import io
import os
from typing import Any, Optional

import numpy as np

from ..fingerprint import hash_of
from ..storage import markers
from ..storage.ownership import FINISHED, claim, claim_json, parse_claim, plan_key, require_replaceable
from ..storage.store import Store
from . import file_work


def plan(store: Optional[Store], task: dict[str, Any]) -> dict[str, Any]:
    """Does all the work: there are no parts to plan."""
    work = getattr(file_work, task["work"])
    if store is None:
        return {**_outcome(task, work(task, None)), "made": 1}
    identity = hash_of(task["work"], task["token"], task["settings"], file_work.input_facts(task))
    marker = markers.read(store, task["name"], FINISHED, identity, verify=task["verify"])
    if marker is not None:
        return _outcome(task, _kept_result(store, marker))
    require_replaceable(store, task["name"], identity, overwrite=task["overwrite"])
    with markers.part_files(store) as files, store.scratch() as folder:
        result = work(task, folder)
        facts: dict[str, Any] = {"result": result}
        if isinstance(result, np.ndarray):
            np.save(folder / (_base(task) + ".npy"), result, allow_pickle=False)
            facts = {"array": os.path.join(os.path.dirname(task["name"]), _base(task) + ".npy")}
        above = os.path.dirname(task["name"])
        targets = sorted(os.path.join(above, one.name) for one in folder.iterdir())
        before = store.get(plan_key(task["name"]))
        if before is None or parse_claim(before, task["name"]).identity != identity:
            claim(store, task["name"], before, claim_json(task["work"], identity, targets), overwrite=task["overwrite"],
                  inputs=[task["path"]])
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                files.adopt(os.path.join(above, str(path.relative_to(folder))), path)
        files.commit(task["name"], FINISHED, identity, facts)
    return {**_outcome(task, result), "made": 1}


def _base(task: dict[str, Any]) -> str:
    return os.path.basename(str(task["name"]))


def _kept_result(store: Store, marker: dict[str, Any]) -> Any:
    if "array" not in marker:
        return marker.get("result")
    return np.load(io.BytesIO(store.get(marker["array"]) or b""), allow_pickle=False)


def _outcome(task: dict[str, Any], result: Any) -> dict[str, Any]:
    return {"name": task["name"], "id": "", "count": 1, "missing": [], "is_finished": True, "result": result}
