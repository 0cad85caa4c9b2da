"""Tasks of a scan: planning, its parts, and finishing when all parts exist."""
from __future__ import annotations

import functools
import time
from typing import Any

from . import ome_zarr, part, results
from .inputs import ScanFile, open_scan, require_unchanged
from .plan import Part, PartSize, Plan, find_or_make_plan
from .results import FINISHED, FOLDER
from .storage import Store, open_store

rate = {"a_scans": 0.0, "seconds": 0.0}  # of the last part


def forget() -> None:
    """Closes open scans and devices: they may have caused a failure."""
    _opened.cache_clear()
    part.forget_devices()


@functools.lru_cache(4)
def _plan(address: str, name: str, identity: str) -> Plan:
    store = open_store(address)
    results.require_current(store, name, identity)
    return Plan.from_json(store.get(results.plan_key(name)) or b"")


@functools.lru_cache(4)
def _opened(address: str, name: str, identity: str, device: str) -> part.OpenScan:
    plan = _plan(address, name, identity)
    return part.OpenScan(open_scan(plan.path, plan.settings), device)


def _markers(store: Store, plan: Plan, *, verify: bool = False) -> dict[str, results.Marker]:
    return results.read_all(store, plan.name, (one.key for one in plan.parts()), plan.identity,
                            [one.name for one in plan.outputs], verify=verify)


def plan(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    """Returns the plan of a scan and its missing parts."""
    file = ScanFile(task["path"], task["name"], tuple(task["settings"]))
    size = PartSize(**task["part_size"])
    found = find_or_make_plan(store, file, file.settings, size, overwrite=task["overwrite"], device=task["device"])
    there, (share, of) = _markers(store, found, verify=task["verify"]), task["share"]
    mine = found.parts()[share::of]
    missing = [(one.time, one.begin, one.end) for one in mine if one.key not in there]
    is_finished = not missing and of == 1 and results.read(store, found.name, FINISHED, found.identity) is not None
    if missing:
        store.remove(results.marker_key(found.name, FINISHED))
        store.remove(f"{found.name}/zarr.json")
        store.sweep(f"{FOLDER}/{found.name}")
    return {"note": _size_note(found, size), "name": found.name, "id": found.identity, "count": len(mine), "missing": missing,
            "is_finished": is_finished}


def _size_note(found: Plan, size: PartSize) -> str:
    """Note if the requested part size differs from that of the existing plan."""
    there, count = found.b_scans_per_part, found.b_scans
    if size.b_scans is None or min(size.b_scans, count) == min(there, count):
        return ""
    return f"parts of {there} B-scans, as in the plan that is there"


def run_part(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    key = store.address, task["name"], task["id"]
    whole = _plan(*key)
    require_unchanged(whole.inputs)
    scan = _opened(*key, task["device"])
    began = time.perf_counter()
    facts = part.run(store, whole, Part(task["time"], task["begin"], task["end"]), scan, verify=task["verify"])
    if not facts.get("was_there"):
        rate["a_scans"], rate["seconds"] = facts["a_scans"], time.perf_counter() - began
    return facts


def finish(store: Store, task: dict[str, Any]) -> dict[str, Any]:
    return {"is_finished": write_groups(store, _plan(store.address, task["name"], task["id"]))}


def write_groups(store: Store, plan: Plan) -> bool:
    """Writes the metadata with which the results can be opened, if every part exists. Several jobs may do this; they
    write the same.
    """
    there, parts = _markers(store, plan), plan.parts()
    if len(there) < len(parts):
        return False
    times_s = [there[one.key]["time_s"] for one in parts if one.begin == 0]
    store.sweep(f"{FOLDER}/{plan.name}", in_use_too=True)
    with results.part_files(store, f"{FOLDER}/{plan.name}") as files:
        for output in reversed(plan.outputs):  # the group of the structure is last, because it makes the scan readable
            for key, text in ome_zarr.array_metadata(output.layout).items():
                files.create(f"{output.name}/{key}").write(text)
            files.create(f"{output.name}/zarr.json").write(ome_zarr.group_metadata(output, times_s))
        files.commit(store, plan.name, FINISHED, plan.identity, {})
    return True
