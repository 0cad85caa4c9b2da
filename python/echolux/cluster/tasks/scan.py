"""The tasks of a scan: its plan, its parts, and its end, when every part is there."""
from __future__ import annotations

import time
from typing import Any

from .. import fingerprint
from ..ome_zarr import layout, metadata
from ..parts import part, plan, planner, slabs
from ..storage import markers
from ..lru_cache import Cache
from ..scan_list import ScanFile
from ..storage.ownership import FOLDER, WHOLE, key_of, marker_key, require_current
from ..storage.store import Store

_plans: Cache[plan.Plan] = Cache(4)
_sources: Cache[slabs.Source] = Cache(4)
rate = {"a_scans": 0.0, "seconds": 0.0}  # of the last part


def forget() -> None:
    """Scans that were open, and their reconstructors: what failed may have been their fault."""
    _sources.clear()
    slabs.forget()


def _plan_of(store: Store, name: str, identity: str) -> plan.Plan:
    def read() -> plan.Plan:
        require_current(store, name, identity)
        return plan.Plan.from_json(store.get(key_of(name)) or b"")

    return _plans.get((store.address, name, identity), read)


def planned(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    """A scan's plan, and which of its parts are missing."""
    file = ScanFile(task["path"], task["name"], tuple(task["settings"]))
    made = planner.settle(store, file, file.settings, overwrite=task["overwrite"], device=task["device"],
                           **task["wanted"])
    missing = [(one.time, one.begin, one.end) for number, one in enumerate(made.parts())
               if number % task["of"] == task["share"]
               and markers.read(store, made.name, one.key, made.identity, verify=task["verify"]) is None]
    is_finished = not missing and task["of"] == 1 and markers.read(store, made.name, WHOLE, made.identity) is not None
    if missing:
        store.remove(marker_key(made.name, WHOLE))
        store.remove(f"{made.name}/zarr.json")
    mine = -(-(made.count() - task["share"]) // task["of"])
    wanted, there = task["wanted"]["part_b_scans"], made.b_scans_per_part()
    count = made.layout.shape[0] // made.slices_per_b_scan
    note = f"parts of {there} B-scans, as in the plan that is there" if wanted and min(wanted, count) != min(there, count) else ""
    return {"note": note, "name": made.name, "id": made.identity, "count": mine, "missing": missing, "is_finished": is_finished}


def made(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    """One part."""
    whole = _plan_of(store, task["name"], task["id"])
    fingerprint.require_unchanged(whole.files)
    scan = _sources.get((store.address, task["name"], task["id"], task["device"]),
                        lambda: slabs.Source(fingerprint.opened(whole.path, whole.settings), task["device"]))
    began = time.perf_counter()
    facts = part.work(store, whole, plan.Part(task["time"], task["begin"], task["end"]), scan, verify=task["verify"])
    if not facts.get("was_there"):
        rate["a_scans"], rate["seconds"] = facts["a_scans"], time.perf_counter() - began
    return facts


def finished(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    return {"is_finished": _finish(store, _plan_of(store, task["name"], task["id"]))}


def _finish(store: Store, whole: plan.Plan, *, verify: bool = False) -> bool:
    """Writes the groups if every part is there. Any number of jobs may try it: they write the same."""
    times_s: list[float] = []
    for one in whole.parts():
        marker = markers.read(store, whole.name, one.key, whole.identity, verify=verify)
        if marker is None:
            return False
        if one.begin == 0:
            times_s.append(marker["time_s"])
    store.sweep(f"{FOLDER}/{whole.name}")
    with markers.files(store) as files:
        for output in reversed(whole.outputs):  # the structure's group is the last: with it the scan can be opened
            store.sweep(output.name)
            create = files.creator(output.name)
            for key, text in layout.metadata(output.layout).items():
                create(key).write(text)
            create("zarr.json").write(metadata.group(output, times_s))
        files.commit(whole.name, WHOLE, whole.identity, {})
    return True
