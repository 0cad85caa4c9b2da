"""Divides scans into parts of whole shards. A plan is made once and stored beside the result. Restarted jobs read it
from there, so that parts always have the same meaning.
"""
from __future__ import annotations

import dataclasses
import json
import os
import tempfile
import time
from pathlib import Path

from ...errors import BadArgument
from ...scan import Scan
from ...volume import Volume
from ..fingerprint import Files, open_scan, protocol_key, scan_inputs
from ..ome_zarr import layout
from ..ome_zarr.layout import Layout
from ..ome_zarr.metadata import Output
from ..scan_list import ScanFile
from ..storage import markers
from ..storage.folder import Folder
from ..storage.ownership import claim, plan_key, require_replaceable
from ..storage.pending_file import PendingFile
from ..storage.store import Store
from . import part, slabs
from .plan import Plan, scan_fingerprint


@dataclasses.dataclass(frozen=True)
class PartSize:
    """b_scans: per part, in whole shards; None: as many as take about `seconds`, measured on the first B-scans, with at
    most `memory` bytes of voxels.
    """

    seconds: float = 10.0
    memory: int = 1 << 30
    b_scans: int | None = None


class Nowhere(Folder):
    """A file that discards everything written."""

    class _File(PendingFile):
        def _append(self, data: bytes) -> None:
            pass

        def commit(self) -> None:
            pass

        def discard(self) -> None:
            pass

    def __init__(self) -> None:
        super().__init__(os.devnull)

    def create(self, key: str) -> PendingFile:
        return self._File()


def _output(name: str, volume: Volume, shape: tuple[int, int, int], times: int, shard: int) -> Output:
    """Returns the metadata that the program writes for this volume."""
    with tempfile.TemporaryDirectory() as folder:
        volume.save(Path(folder) / "one.ome.zarr")
        written = json.loads((Path(folder) / "one.ome.zarr/.zattrs").read_bytes())
    return Output(name, Layout(times, shape, volume.dtype.name, shard), written["multiscales"][0], written["echolux"]["texts"])


_measured: dict[str, float] = {}  # in this process: scans of one protocol take the same time


def _seconds(plan: Plan, scan: Scan, device: str) -> float:
    """Measures the time of this plan's first part, without writing it to disk."""
    protocol = protocol_key(scan, device)
    if protocol not in _measured:
        opened = slabs.OpenScan(open_scan(plan.path, plan.settings), device)
        opened.warm_up()
        began = time.monotonic()
        part.make(plan, next(plan.parts()), opened, markers.PartFiles(Nowhere()))
        _measured[protocol] = max(1e-3, time.monotonic() - began)
    return _measured[protocol]


def _smallest(file: ScanFile, settings: tuple[str, ...], scan: Scan, inputs: Files, device: str) -> Plan:
    """Returns the plan with the smallest possible parts. One B-scan is reconstructed to learn the shape of volumes."""
    core = scan._core.shape()
    first = slabs.batch(device).reconstruct(scan, b_scans=(0, 1), progress=False)
    slices, a, depth = first.shape
    shape = (slices * core.b_scans, depth, a)
    unit = layout.shard_unit(shape, slices)
    fingerprint = scan_fingerprint(scan, inputs)
    if scan.recipe.noise_floor_db == 0 and "recipe.noise_floor_db" in first.provenance:
        settings = (*settings, f"recipe.noise_floor_db={first.provenance['recipe.noise_floor_db']}")
    volumes = {".ome.zarr": first, **({"-flow.ome.zarr": first.flow.velocities()} if first.flow is not None else {})}
    outputs = tuple(_output(file.name + ending, volume, shape, scan.volumes, unit) for ending, volume in volumes.items())
    lines = core.a_scans * core.a_repeats * core.b_repeats
    return Plan(outputs[0].name, fingerprint, file.path, settings, inputs, outputs, slices, lines)


def _units(plan: Plan, scan: Scan, size: PartSize, device: str) -> int:
    """Returns how many of the smallest parts form one."""
    unit, slices = plan.layout.shard, plan.slices_per_b_scan
    count = -(-plan.layout.shape[0] // unit)
    if size.b_scans is not None:
        if (size.b_scans * slices) % unit:
            raise BadArgument(f"{size.b_scans} B-scans are not whole shards", "part_b_scans",
                              f"give a multiple of {unit // slices}")
        return min(count, size.b_scans * slices // unit)
    count = min(count, max(1, size.memory // sum(one.layout.bytes_of(unit) for one in plan.outputs)))
    if count > 1:
        count = min(count, max(1, int(size.seconds / _seconds(plan, scan, device))))
    return count


def _cut(plan: Plan, units: int) -> Plan:
    return dataclasses.replace(plan, outputs=tuple(
        dataclasses.replace(one, layout=dataclasses.replace(one.layout, shard=units * one.layout.shard)) for one in plan.outputs))


def make_plan(file: ScanFile, settings: tuple[str, ...], size: PartSize, *, device: str = "auto") -> Plan:
    """Makes a new plan of a scan. Raises what opening the scan raises, BadArgument, BadSetting."""
    scan = open_scan(file.path, settings)
    plan = _smallest(file, settings, scan, scan_inputs(file.path, scan), device)
    return _cut(plan, _units(plan, scan, size, device))


def _parse(text: bytes | None) -> Plan | None:
    try:
        return None if text is None else Plan.from_json(text)
    except (ValueError, KeyError, TypeError):
        return None


def find_or_make_plan(store: Store, file: ScanFile, settings: tuple[str, ...], size: PartSize, *, overwrite: bool = False,
                      device: str = "auto") -> Plan:
    """Returns the stored plan of a scan, or makes a new one. Removes what an unfinished job with other settings left
    behind. A finished result of other settings raises Stale unless it may be overwritten.
    """
    name = f"{file.name}.ome.zarr"
    text = store.get(plan_key(name))
    scan = open_scan(file.path, settings)
    found = _parse(text)
    if found is not None and found.fingerprint == scan_fingerprint(scan, scan_inputs(file.path, scan)):
        return found
    require_replaceable(store, name, None, overwrite=overwrite)
    plan = make_plan(file, settings, size, device=device)
    if store.get(plan_key(name)) != text:  # another share of this job was faster
        return find_or_make_plan(store, file, settings, size, overwrite=overwrite, device=device)
    inputs = [path for path, _, _ in plan.inputs]
    return Plan.from_json(claim(store, name, text, plan.to_json(), overwrite=overwrite, inputs=inputs))
