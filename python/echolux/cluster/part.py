"""A part of a job: a pure function of scan, settings and range of B-scans to whole shards."""
from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..scan import Scan
from . import markers, shards
from .plan import Part, Plan
from .store import Store


def shards_of(plan: Plan, part: Part, scan: Scan, device: str) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The part's shards by key, and facts about how they were made. A running background sees the B-scans before it."""
    began = time.perf_counter()
    volume = scan.reconstruct(part.time, b_scans=plan.b_scans(part), device=device, progress=False)
    made = time.perf_counter()
    voxels = np.asarray(volume).transpose(0, 2, 1)  # files have [z, y, x]: B-scan, depth, A-scan
    encoded = shards.encoded(plan.layout, part.time, part.begin, voxels)
    seconds = {"reconstruct": made - began, "pack": time.perf_counter() - made}
    facts = {"time_s": volume.time_s, "device": volume.provenance.get("backend", ""), "warnings": volume.warnings,
             "a_scans": plan.a_scans(part), "seconds": seconds}
    return encoded, facts


def work(store: Store, plan: Plan, part: Part, scan: Scan, device: str, *, verify: bool = False) -> dict[str, Any]:
    """Makes a part unless it is there, and gives its marker."""
    there = markers.read(store, plan.name, plan.job, part.time, part.begin, verify=verify)
    if there is not None:
        return {**there, "was_there": True}
    encoded, facts = shards_of(plan, part, scan, device)
    began = time.perf_counter()
    markers.put(store, plan.name, plan.job, part.time, part.begin, encoded, facts)
    facts["seconds"]["write"] = time.perf_counter() - began
    facts["bytes"] = sum(map(len, encoded.values()))
    return facts
