"""The plan of a scan: its parts of whole shards, and everything that workers need to make one of them. A plan is made once
and stored beside the result. Restarted jobs read it from there, so that parts always have the same meaning.
"""
from __future__ import annotations

import json
import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ..errors import BadArgument
from ..scan import Scan
from ..volume import Volume
from . import part, results
from .inputs import Files, ScanFile, hash_of, open_scan, protocol_key, scan_fingerprint, scan_inputs
from .ome_zarr import Layout, Output
from .storage import Store


@dataclass(frozen=True)
class Part:
    """B-scan positions [begin, end) of one volume of a scan: whole shards of its arrays."""

    time: int
    begin: int
    end: int

    @property
    def key(self) -> str:
        return f"{self.time}-{self.begin}"


@dataclass(frozen=True)
class Plan:
    """Everything that a worker needs to make any part of a scan."""

    name: str  # of the structure
    fingerprint: str  # hash of everything that determines the voxels
    path: str  # of the scan
    settings: tuple[str, ...]
    inputs: Files
    outputs: tuple[Output, ...]  # the structure and, if requested, the flow; same shape and shards
    slices_per_b_scan: int
    lines_per_b_scan: int

    @property
    def layout(self) -> Layout:
        return self.outputs[0].layout

    @property
    def identity(self) -> str:
        """Identifies the result and its division: parts of different plans do not fit together even if the voxels are
        the same.
        """
        return hash_of(self.fingerprint, self.layout.shard)

    @property
    def b_scans(self) -> int:
        """Number of positions in a volume."""
        return self.layout.shape[0] // self.slices_per_b_scan

    @property
    def b_scans_per_part(self) -> int:
        return -(-self.layout.shard // self.slices_per_b_scan)

    def parts(self) -> list[Part]:
        step = self.b_scans_per_part
        return [Part(volume, begin, min(begin + step, self.b_scans))
                for volume in range(self.layout.times) for begin in range(0, self.b_scans, step)]

    def a_scans(self, part: Part) -> int:
        return (part.end - part.begin) * self.lines_per_b_scan

    def unit(self) -> int:
        """Number of positions processed at a time."""
        return self.layout.unit(self.slices_per_b_scan) // self.slices_per_b_scan

    def to_json(self) -> bytes:
        """Content of plan.json."""
        return results.claim_json("scan", self.identity, [one.name for one in self.outputs], plan=asdict(self))

    @staticmethod
    def from_json(text: bytes) -> Plan:
        fields = json.loads(text)["plan"]
        for one in fields["outputs"]:
            one["layout"] = Layout(**{**one["layout"], "shape": tuple(one["layout"]["shape"])})
        fields["outputs"] = tuple(Output(**one) for one in fields["outputs"])
        fields["inputs"] = tuple((name, size, changed) for name, size, changed in fields["inputs"])
        fields["settings"] = tuple(fields["settings"])
        return Plan(**fields)


@dataclass(frozen=True)
class PartSize:
    """b_scans: per part, in whole shards; None: as many as take about `seconds`, measured on the first B-scans, with at
    most `memory` bytes of voxels.
    """

    seconds: float = 10.0
    memory: int = 1 << 30
    b_scans: int | None = None


def _output(name: str, volume: Volume, shape: tuple[int, int, int], times: int, slices: int) -> Output:
    """Returns the metadata that the program writes for this volume, with the smallest possible shards."""
    with tempfile.TemporaryDirectory() as folder:
        volume.save(Path(folder) / "one.ome.zarr")
        written = json.loads((Path(folder) / "one.ome.zarr/.zattrs").read_bytes())
    layout = Layout(times, shape, volume.dtype.name, 1)
    return Output(name, replace(layout, shard=layout.unit(slices)), written["multiscales"][0], written["echolux"]["texts"])


_measured: dict[str, float] = {}  # in this process: scans of one protocol take the same time


def _seconds(plan: Plan, scan: Scan, device: str) -> float:
    """Measures the time of this plan's first part, without writing it to disk."""
    protocol = protocol_key(scan, device)
    if protocol not in _measured:
        opened = part.OpenScan(open_scan(plan.path, plan.settings), device)
        opened.warm_up()
        began = time.monotonic()
        part.make(plan, plan.parts()[0], opened, results.PartFiles())
        _measured[protocol] = max(1e-3, time.monotonic() - began)
    return _measured[protocol]


def _smallest(file: ScanFile, settings: tuple[str, ...], scan: Scan, device: str) -> Plan:
    """Returns the plan with the smallest possible parts. One B-scan is reconstructed to learn the shape of volumes."""
    core = scan._core.shape()
    inputs = scan_inputs(file.path, scan)
    fingerprint = scan_fingerprint(scan, inputs)
    first = part.batch(device).reconstruct(scan, b_scans=(0, 1), progress=False)
    slices, a, depth = first.shape
    if scan.recipe.noise_floor_db == 0 and "recipe.noise_floor_db" in first.provenance:
        settings = (*settings, f"recipe.noise_floor_db={first.provenance['recipe.noise_floor_db']}")
    volumes = {".ome.zarr": first, **({"-flow.ome.zarr": first.flow.velocities()} if first.flow is not None else {})}
    outputs = tuple(_output(file.name + ending, volume, (slices * core.b_scans, depth, a), scan.volumes, slices)
                    for ending, volume in volumes.items())
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


def make_plan(file: ScanFile, settings: tuple[str, ...], size: PartSize, *, device: str = "auto") -> Plan:
    """Makes a new plan of a scan. Raises what opening the scan raises, BadArgument, BadSetting."""
    scan = open_scan(file.path, settings)
    plan = _smallest(file, settings, scan, device)
    shard = _units(plan, scan, size, device) * plan.layout.shard
    return replace(plan, outputs=tuple(replace(one, layout=replace(one.layout, shard=shard)) for one in plan.outputs))


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
    key = results.plan_key(name)
    text = store.get(key)
    scan = open_scan(file.path, settings)
    found = _parse(text)
    if found is not None and found.fingerprint == scan_fingerprint(scan, scan_inputs(file.path, scan)):
        return found
    results.require_replaceable(store, name, None, overwrite=overwrite)
    plan = make_plan(file, settings, size, device=device)
    if store.get(key) != text:  # another share of this job was faster
        return find_or_make_plan(store, file, settings, size, overwrite=overwrite, device=device)
    inputs = [path for path, _, _ in plan.inputs]
    return Plan.from_json(results.claim(store, name, text, plan.to_json(), overwrite=overwrite, inputs=inputs))
