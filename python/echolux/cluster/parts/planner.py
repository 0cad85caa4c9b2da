"""How a scan is cut into parts of whole shards. A plan is made once, kept beside the result, and found there by every later
start, so that parts always mean the same."""
from __future__ import annotations

import dataclasses
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from ...errors import BadArgument
from ...scan import Scan
from ...volume import Volume
from . import part
from ..ome_zarr import layout
from ..storage import markers
from ..fingerprint import of_scan, opened, protocol_of
from ..ome_zarr.layout import Layout
from ..ome_zarr.metadata import Output
from .plan import Plan, job_of
from ..scan_list import ScanFile
from ..storage.ownership import claim, key_of, require_replaceable
from .slabs import Source
from ..storage.store import Folder, Store, Writing

SECONDS = 10.0
MEMORY = 1 << 30


class _Nowhere(Folder):
    """Drops what is written."""

    class _File(Writing):
        def _append(self, data: bytes) -> None:
            pass

        def commit(self) -> None:
            pass

        def discard(self) -> None:
            pass

    def writing(self, key: str) -> Writing:
        return self._File()


_NOWHERE = _Nowhere(os.devnull)


def _output(name: str, volume: Volume, shape: tuple[int, int, int], times: int, shard: int) -> Output:
    """With the metadata that the program writes for this volume."""
    with tempfile.TemporaryDirectory() as folder:
        volume.save(Path(folder) / "one.ome.zarr")
        written = json.loads((Path(folder) / "one.ome.zarr/.zattrs").read_bytes())
    return Output(name, Layout(times, shape, volume.dtype.name, shard), written["multiscales"][0], written["echolux"]["texts"])


_measured: dict[str, float] = {}  # in this process: scans of one protocol take the same time


def _seconds(plan: Plan, scan: Scan, device: str) -> float:
    """That the first part of this plan takes, without the disk that it is written to."""
    kind = protocol_of(scan, device)
    if kind not in _measured:
        source = Source(opened(plan.path, plan.settings), device)
        source.warm_up()
        began = time.monotonic()
        part.make(plan, next(plan.parts()), source, markers.Files(_NOWHERE))
        _measured[kind] = max(1e-3, time.monotonic() - began)
    return _measured[kind]


def made(file: ScanFile, settings: tuple[str, ...], *, device: str = "auto", seconds: float = SECONDS,
         memory: int = MEMORY, part_b_scans: int | None = None) -> Plan:
    """The plan of a scan whose parts take about `seconds`, measured on its first B-scans, and have at most `memory` bytes of
    voxels; or have part_b_scans, which must be whole shards. Raises what opening the scan raises, BadArgument, BadSetting."""
    scan = opened(file.path, settings)
    files = of_scan(file.path, scan)
    job = job_of(scan, files)
    core = scan._core.shape()
    first = scan.reconstruct(b_scans=(0, 1), device=device, progress=False)
    slices, a, depth = first.shape
    shape = (slices * core.b_scans, depth, a)
    unit = layout.unit(shape, slices)
    if scan.recipe.noise_floor_db == 0 and "recipe.noise_floor_db" in first.provenance:
        settings = (*settings, f"recipe.noise_floor_db={first.provenance['recipe.noise_floor_db']}")
    volumes = {".ome.zarr": first, **({"-flow.ome.zarr": first.flow.velocities()} if first.flow is not None else {})}
    outputs = tuple(_output(file.name + ending, volume, shape, scan.volumes, unit) for ending, volume in volumes.items())
    lines = core.a_scans * core.a_repeats * core.b_repeats
    least = Plan(outputs[0].name, job, file.path, settings, files, outputs, slices, lines)
    units = -(-shape[0] // unit)
    if part_b_scans is None:
        most = max(1, memory // (unit * a * depth * sum(volume.dtype.itemsize for volume in volumes.values())))
        if min(units, most) > 1:
            most = min(most, max(1, int(seconds / _seconds(least, scan, device))))
        units = min(units, most)
    elif (part_b_scans * slices) % unit:
        raise BadArgument(f"{part_b_scans} B-scans are not whole shards", "part_b_scans",
                          f"give a multiple of {unit // slices}")
    else:
        units = min(units, part_b_scans * slices // unit)
    return dataclasses.replace(least, outputs=tuple(
        dataclasses.replace(one, layout=dataclasses.replace(one.layout, shard=units * unit)) for one in outputs))


def _parsed(text: bytes | None) -> Plan | None:
    try:
        return None if text is None else Plan.from_json(text)
    except (ValueError, KeyError, TypeError):
        return None


def settle(store: Store, file: ScanFile, settings: tuple[str, ...], *, overwrite: bool = False, **wanted: Any) -> Plan:
    """The plan of a scan that lies beside its result, or a new one. What an unfinished job of other settings left is
    removed; a finished result of other settings raises Stale unless it may be overwritten."""
    name = f"{file.name}.ome.zarr"
    text = store.get(key_of(name))
    scan = opened(file.path, settings)
    job = job_of(scan, of_scan(file.path, scan))
    found = _parsed(text)
    if found is not None and found.job == job:
        return found
    require_replaceable(store, name, None, overwrite=overwrite)
    plan = made(file, settings, **wanted)
    if store.get(key_of(name)) != text:  # another share of this job was faster
        return settle(store, file, settings, overwrite=overwrite, **wanted)
    inputs = [path for path, _, _ in plan.files]
    return Plan.from_json(claim(store, name, text, plan.to_json(), overwrite=overwrite, inputs=inputs))
