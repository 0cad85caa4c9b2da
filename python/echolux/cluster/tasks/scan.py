"""Tasks of a scan: planning, its parts, and finishing when all parts exist."""
from __future__ import annotations

import time
from typing import Any

from ..fingerprint import open_scan, require_unchanged
from ..lru_cache import LruCache
from ..ome_zarr import layout, metadata
from ..parts import part, planner, slabs
from ..parts.plan import Part, Plan
from ..scan_list import ScanFile
from ..storage import markers
from ..storage.ownership import FINISHED, FOLDER, marker_key, plan_key, require_current
from ..storage.store import Store

_plans: LruCache[Plan] = LruCache(4)
_scans: LruCache[slabs.OpenScan] = LruCache(4)
rate = {"a_scans": 0.0, "seconds": 0.0}  # of the last part


def forget() -> None:
    """Closes open scans and devices: they may have caused a failure."""
    _scans.clear()
    slabs.forget()


def _plan(store: Store, name: str, identity: str) -> Plan:
    def read() -> Plan:
        require_current(store, name, identity)
        return Plan.from_json(store.get(plan_key(name)) or b"")

    return _plans.get((store.address, name, identity), read)


def _markers(store: Store, plan: Plan, *, verify: bool = False) -> dict[str, markers.Marker]:
    return markers.read_all(store, plan.name, (one.key for one in plan.parts()), plan.identity,
                            [one.name for one in plan.outputs], verify=verify)


def plan(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    """Returns the plan of a scan and its missing parts."""
    file = ScanFile(task["path"], task["name"], tuple(task["settings"]))
    size = planner.PartSize(**task["part_size"])
    found = planner.find_or_make_plan(store, file, file.settings, size, overwrite=task["overwrite"], device=task["device"])
    there, (share, of) = _markers(store, found, verify=task["verify"]), task["share"]
    missing = [(one.time, one.begin, one.end) for number, one in enumerate(found.parts())
               if number % of == share and one.key not in there]
    is_finished = not missing and of == 1 and markers.read(store, found.name, FINISHED, found.identity) is not None
    if missing:
        store.remove(marker_key(found.name, FINISHED))
        store.remove(f"{found.name}/zarr.json")
        for folder in f"{FOLDER}/{found.name}", *(one.name for one in found.outputs):
            store.sweep(folder)
    return {"note": _size_note(found, size), "name": found.name, "id": found.identity,
            "count": -(-(found.count() - share) // of), "missing": missing, "is_finished": is_finished}


def _size_note(found: Plan, size: planner.PartSize) -> str:
    """Note if the requested part size differs from that of the existing plan."""
    there, count = found.b_scans_per_part(), found.layout.shape[0] // found.slices_per_b_scan
    if size.b_scans is None or min(size.b_scans, count) == min(there, count):
        return ""
    return f"parts of {there} B-scans, as in the plan that is there"


def run_part(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    whole = _plan(store, task["name"], task["id"])
    require_unchanged(whole.inputs)
    scan = _scans.get((store.address, task["name"], task["id"], task["device"]),
                      lambda: slabs.OpenScan(open_scan(whole.path, whole.settings), task["device"]))
    began = time.perf_counter()
    facts = part.run(store, whole, Part(task["time"], task["begin"], task["end"]), scan, verify=task["verify"])
    if not facts.get("was_there"):
        rate["a_scans"], rate["seconds"] = facts["a_scans"], time.perf_counter() - began
    return facts


def finish(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    return {"is_finished": write_groups(store, _plan(store, task["name"], task["id"]))}


def write_groups(store: Store, plan: Plan) -> bool:
    """Writes the metadata with which the results can be opened, if every part exists. Several jobs may do this; they
    write the same.
    """
    there = _markers(store, plan)
    if len(there) < plan.count():
        return False
    times_s = [there[one.key]["time_s"] for one in plan.parts() if one.begin == 0]
    store.sweep(f"{FOLDER}/{plan.name}", in_use_too=True)
    with markers.part_files(store) as files:
        for output in reversed(plan.outputs):  # the group of the structure is last, because it makes the scan readable
            store.sweep(output.name, in_use_too=True)
            create = files.creator(output.name)
            for key, text in layout.array_metadata(output.layout).items():
                create(key).write(text)
            create("zarr.json").write(metadata.group(output, times_s))
        files.commit(plan.name, FINISHED, plan.identity, {})
    return True
