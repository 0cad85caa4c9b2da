"""The plan of a scan: its parts, and everything that workers need to make one of them."""
from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from ...scan import Scan
from ..fingerprint import Files, calibration_hashes, hash_of
from ..ome_zarr import layout
from ..ome_zarr.layout import Layout
from ..ome_zarr.metadata import Output
from ..storage.ownership import claim_json


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

    def _lengths(self) -> tuple[int, int]:
        """Number of positions in a volume, and in a part."""
        return self.layout.shape[0] // self.slices_per_b_scan, -(-self.layout.shard // self.slices_per_b_scan)

    def parts(self) -> Iterator[Part]:
        b_scans, step = self._lengths()
        for volume in range(self.layout.times):
            for begin in range(0, b_scans, step):
                yield Part(volume, begin, min(begin + step, b_scans))

    def b_scans_per_part(self) -> int:
        return self._lengths()[1]

    def count(self) -> int:
        b_scans, step = self._lengths()
        return self.layout.times * -(-b_scans // step)

    def a_scans(self, part: Part) -> int:
        return (part.end - part.begin) * self.lines_per_b_scan

    def unit(self) -> int:
        """Number of positions processed at a time."""
        return layout.shard_unit(self.layout.shape, self.slices_per_b_scan) // self.slices_per_b_scan

    def to_json(self) -> bytes:
        """Content of plan.json."""
        return claim_json("scan", self.identity, [one.name for one in self.outputs], plan=asdict(self))

    @staticmethod
    def from_json(text: bytes) -> Plan:
        fields = json.loads(text)["plan"]
        for one in fields["outputs"]:
            one["layout"] = Layout(**{**one["layout"], "shape": tuple(one["layout"]["shape"])})
        fields["outputs"] = tuple(Output(**one) for one in fields["outputs"])
        fields["inputs"] = tuple((name, size, changed) for name, size, changed in fields["inputs"])
        fields["settings"] = tuple(fields["settings"])
        return Plan(**fields)


def scan_fingerprint(scan: Scan, inputs: Files) -> str:
    return hash_of("scan", scan.toml(with_defaults=True), calibration_hashes(scan),
                   [(os.path.basename(name), size, changed) for name, size, changed in inputs])
