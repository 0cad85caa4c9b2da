"""Metadata of a finished result: an OME-Zarr 0.5 group with all levels, as the program writes it. It is written last;
without it, the folder cannot be opened as an image.
"""
from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

from .layout import Layout


@dataclass(frozen=True)
class Output:
    """An OME-Zarr of a scan: its structure or its flow."""

    name: str  # "eye1/scan.ome.zarr"
    layout: Layout
    picture: dict[str, Any]  # metadata of the finest level, as written by the program
    texts: dict[str, str]


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
    """Returns zarr.json of the group. times_s: time of each volume."""
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
