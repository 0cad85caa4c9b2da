"""How a scan is cut into parts of whole shards. A plan is made once, kept beside the result, and found there by every later
start, so that parts always mean the same."""
from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import _core
from ..errors import BadArgument, BadFile, Error
from ..scan import Scan
from ..volume import Volume
from . import markers, shards
from .scans import ScanFile
from .shards import Layout
from .store import Store

_FORMAT = 1  # of what is written: markers of another one are not taken up
_COPIES = 4  # of a part's voxels that are in memory at a time: as they are made, turned, packed, and coarser
SECONDS = 10.0
MEMORY = 1 << 30


class Stale(Error):
    """A finished result of other settings, input or program version is in the way."""

    code = "output"


@dataclass(frozen=True)
class Part:
    """Slices [begin, end) of one volume of a scan: whole shards of its array."""

    name: str
    time: int
    begin: int
    end: int


@dataclass(frozen=True)
class Plan:
    """All that a worker needs to know to make any part of a scan."""

    name: str  # of the result: "eye1/scan.ome.zarr"
    job: str  # hash of what determines every byte of the result
    path: str  # of the scan
    settings: tuple[str, ...]
    files: tuple[tuple[str, int, int], ...]  # of the input: name, bytes, time of change in ns
    layout: Layout
    slices_per_b_scan: int
    lines_per_b_scan: int
    picture: dict[str, Any]  # metadata of the finest level, as the program writes it
    texts: dict[str, str]

    def parts(self) -> Iterator[Part]:
        for volume in range(self.layout.times):
            for begin in range(0, self.layout.shape[0], self.layout.shard):
                yield Part(self.name, volume, begin, min(begin + self.layout.shard, self.layout.shape[0]))

    def count(self) -> int:
        return self.layout.times * -(-self.layout.shape[0] // self.layout.shard)

    def a_scans(self, part: Part) -> int:
        return (part.end - part.begin) // self.slices_per_b_scan * self.lines_per_b_scan

    def b_scans(self, part: Part) -> tuple[int, int]:
        return part.begin // self.slices_per_b_scan, -(-part.end // self.slices_per_b_scan)

    def to_json(self) -> bytes:
        return json.dumps(asdict(self), indent=1).encode() + b"\n"

    @staticmethod
    def from_json(text: bytes) -> Plan:
        fields = json.loads(text)
        layout = fields.pop("layout")
        fields["layout"] = Layout(**{**layout, "shape": tuple(layout["shape"])})
        fields["files"] = tuple((name, size, changed) for name, size, changed in fields["files"])
        fields["settings"] = tuple(fields["settings"])
        return Plan(**fields)


def key_of(name: str) -> str:
    return f"{markers.FOLDER}/{name}/plan.json"


def input_files(path: str, scan: Scan) -> tuple[tuple[str, int, int], ...]:
    """The scan's file and its spectra: name, bytes, time of change."""
    paths = {Path(path)}
    if scan.scan.file:
        paths.add(Path(path).parent / scan.scan.file)
    return tuple((str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in sorted(paths))


def require_unchanged(plan: Plan) -> None:
    for name, size, changed in plan.files:
        try:
            now = os.stat(name)
        except FileNotFoundError:
            raise BadFile("is no longer there", name) from None
        if (now.st_size, now.st_mtime_ns) != (size, changed):
            raise BadFile("has changed since the job began", name, "start the job again")


def opened(path: str, settings: tuple[str, ...]) -> Scan:
    return Scan(_core.Scan.open(path, list(settings)))


def _hash(scan: Scan, files: tuple[tuple[str, int, int], ...]) -> str:
    calibration = {name: hashlib.sha256(scan.calibration[name].tobytes()).hexdigest()
                   for name in scan.calibration}
    facts = [_FORMAT, _core.version, scan.toml(with_defaults=True), calibration,
             [(os.path.basename(name), size, changed) for name, size, changed in files]]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:32]


def _template(volume: Volume) -> tuple[dict[str, Any], dict[str, str]]:
    """The metadata that the program writes for this volume."""
    with tempfile.TemporaryDirectory() as folder:
        volume.save(Path(folder) / "one.ome.zarr")
        written = json.loads((Path(folder) / "one.ome.zarr/.zattrs").read_bytes())
    return written["multiscales"][0], written["echolux"]["texts"]


_measured: dict[str, float] = {}  # in this process: scans of one protocol take the same time


def _seconds(scan: Scan, b_scans: int, device: str) -> float:
    """That so many B-scans of a scan of this kind take to read and reconstruct."""
    settings = [line for line in scan.toml(with_defaults=True).splitlines() if not line.startswith("file =")]
    kind = "\n".join([device, str(b_scans), *settings])
    if kind not in _measured:
        began = time.monotonic()
        scan.reconstruct(b_scans=(0, b_scans), device=device, progress=False)
        _measured[kind] = max(1e-3, time.monotonic() - began)
    return _measured[kind]


def made(file: ScanFile, settings: tuple[str, ...], *, device: str = "auto", seconds: float = SECONDS,
         memory: int = MEMORY, part_b_scans: int | None = None) -> Plan:
    """The plan of a scan whose parts take about `seconds`, measured on its first B-scans, and at most `memory` bytes; or
    have part_b_scans, which must be whole shards. Raises what opening the scan raises, BadArgument, BadSetting."""
    scan = opened(file.path, settings)
    files = input_files(file.path, scan)
    job = _hash(scan, files)
    shape = scan._core.shape()
    first = scan.reconstruct(b_scans=(0, 1), device=device, progress=False)
    picture, texts = _template(first)
    slices, a, depth = first.shape
    b = slices * shape.b_scans
    unit = shards.unit((b, depth, a), slices)
    if scan.recipe.noise_floor_db == 0 and "recipe.noise_floor_db" in first.provenance:
        settings = (*settings, f"recipe.noise_floor_db={first.provenance['recipe.noise_floor_db']}")
    units = -(-b // unit)
    if part_b_scans is None:
        most = max(1, memory // (_COPIES * unit * a * depth * first.dtype.itemsize))
        if min(units, most) > 1:
            most = min(most, max(1, int(seconds / _seconds(scan, unit // slices, device))))
        units = min(units, most)
    elif (part_b_scans * slices) % unit:
        raise BadArgument(f"{part_b_scans} B-scans are not whole shards", "part_b_scans",
                          f"give a multiple of {unit // slices}")
    else:
        units = min(units, part_b_scans * slices // unit)
    layout = Layout(scan.volumes, (b, depth, a), first.dtype.name, units * unit)
    lines = shape.a_scans * shape.a_repeats * shape.b_repeats
    return Plan(f"{file.name}.ome.zarr", job, file.path, settings, files, layout, slices, lines, picture, texts)


def job_of(file: ScanFile, settings: tuple[str, ...]) -> str:
    """The hash of a plan of these, without making it."""
    scan = opened(file.path, settings)
    return _hash(scan, input_files(file.path, scan))


def is_finished(store: Store, name: str) -> bool:
    return store.size(f"{name}/zarr.json") is not None


def settle(store: Store, file: ScanFile, settings: tuple[str, ...], *, overwrite: bool = False, **wanted: Any) -> Plan:
    """The plan of a scan that lies beside its result, or a new one. What an unfinished job of other settings left is
    removed; a finished result of other settings raises Stale unless it may be overwritten."""
    name = f"{file.name}.ome.zarr"
    text = store.get(key_of(name))
    job = job_of(file, settings)
    if text is not None:
        try:
            found = Plan.from_json(text)
        except (ValueError, KeyError, TypeError):
            found = None
        if found is not None and found.job == job:
            return found
    is_ours = text is not None or not store.names(name)
    if not is_ours or is_finished(store, name):
        if not (is_ours and overwrite):
            what = "holds the result of other settings, another input or another version" if is_ours else "is in the way"
            raise Stale(what, f"{store.address}/{name}",
                        "choose another output" + (", or allow it to be overwritten" if is_ours else ", or move it"))
    plan = made(file, settings, **wanted)
    now = store.get(key_of(name))
    if now != text:  # another share of this job was faster
        return settle(store, file, settings, overwrite=overwrite, **wanted)
    if text is not None:
        store.remove(f"{name}/zarr.json")  # first: from now on it is no picture
        store.remove(name)
        store.remove(f"{markers.FOLDER}/{name}")
    if store.put_new(key_of(name), plan.to_json()):
        return plan
    return Plan.from_json(store.get(key_of(name)) or b"")  # of a job that was faster
