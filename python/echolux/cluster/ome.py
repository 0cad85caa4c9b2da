"""The metadata of a finished result: a group of OME-Zarr 0.5 as the program writes it, with all levels. It comes last:
without it the folder is no picture."""
from __future__ import annotations

import json
import math
from typing import Any

from . import layout, markers
from .plan import Output, Plan
from .settled import FOLDER, WHOLE
from .store import Store


def _datasets(output: Output, step_s: float) -> list[dict[str, Any]]:
    first = output.picture["datasets"][0]["coordinateTransformations"]
    scale, origin = first[0]["scale"], first[1]["translation"]
    datasets = []
    factor = [1, 1, 1]
    for level, shape in enumerate(output.layout.levels()):
        scales = [s * f for s, f in zip(scale, factor)]
        origins = [o + (f - 1) / 2 * s for o, f, s in zip(origin, factor, scale)]
        if output.layout.is_series:
            scales, origins = [step_s if step_s > 0 else 1.0, *scales], [0.0, *origins]
        datasets.append({"path": str(level), "coordinateTransformations": [
            {"type": "scale", "scale": scales}, {"type": "translation", "translation": origins}]})
        factor = [f * 2 if n > 1 else f for f, n in zip(factor, shape)]
    return datasets


def group(output: Output, times_s: list[float]) -> bytes:
    """zarr.json of the group. times_s: of each volume."""
    picture = {key: value for key, value in output.picture.items() if key not in ("version", "datasets")}
    step_s = times_s[1] - times_s[0] if len(times_s) > 1 else 0.0
    if output.layout.is_series:
        time: dict[str, str] = {"name": "t", "type": "time"}
        if step_s > 0:
            time["unit"] = "second"
        picture["axes"] = [time, *picture["axes"]]
    picture["datasets"] = _datasets(output, step_s)
    ours: dict[str, Any] = {"texts": output.texts}
    is_even = all(math.isclose(t, i * step_s, rel_tol=1e-12) for i, t in enumerate(times_s))
    if step_s > 0 and is_even:
        ours["texts"] = {**output.texts, "echolux_time_step_s": f"{step_s!r}".removesuffix(".0")}
    elif any(times_s):
        ours["times_s"] = times_s
    attributes = {"ome": {"version": "0.5", "multiscales": [picture]}, "echolux": ours}
    return json.dumps({"zarr_format": 3, "node_type": "group", "attributes": attributes}, indent=2).encode() + b"\n"


def finish(store: Store, plan: Plan, *, verify: bool = False) -> bool:
    """Writes the groups if every part is there. Any number of jobs may try it: they write the same."""
    times_s: list[float] = []
    for part in plan.parts():
        marker = markers.read(store, plan.name, part.key, plan.identity, verify=verify)
        if marker is None:
            return False
        if part.begin == 0:
            times_s.append(marker["time_s"])
    store.sweep(f"{FOLDER}/{plan.name}")
    with markers.files(store) as files:
        for output in reversed(plan.outputs):  # the structure's group is the last: with it the scan can be opened
            store.sweep(output.name)
            create = files.creator(output.name)
            for key, metadata in layout.metadata(output.layout).items():
                create(key).write(metadata)
            create("zarr.json").write(group(output, times_s))
        files.commit(plan.name, WHOLE, plan.identity, {})
    return True
