"""Arrays of Zarr 3 in shards, and the bytes of whole shards, both made by zarr-python in memory: writing them is the
store's work, so that a shard appears whole."""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import BadArgument
from . import levels


@dataclass(frozen=True)
class Layout:
    """How a volume [t] z y x lies in arrays and shards. A shard holds `shard` slices and every row and column."""

    times: int
    shape: tuple[int, int, int]
    dtype: str
    shard: int

    @property
    def is_series(self) -> bool:
        return self.times > 1

    @property
    def has_one_part(self) -> bool:
        """Of each volume."""
        return self.shard >= self.shape[0]

    def levels(self) -> list[tuple[int, int, int]]:
        return levels.shapes(self.shape)

    def edges(self, level: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Shape, chunk and shard of a level's array."""
        shape = self.levels()[level]
        shard_z = self.shard >> level
        chunk_z = math.gcd(levels.SIDE, shard_z)
        if self.shape[0] <= levels.SIDE:
            shard_z = chunk_z = shape[0]
        chunk = (chunk_z, min(levels.SIDE, shape[1]), min(levels.SIDE, shape[2]))
        shard = (shard_z, *(math.ceil(n / c) * c for n, c in zip(shape[1:], chunk[1:])))
        if not self.is_series:
            return shape, chunk, shard
        return (self.times, *shape), (1, *chunk), (1, *shard)

    def check(self, begin: int, end: int) -> None:
        """Refuses slices [begin, end) that are not whole shards: two parts would write to the same file."""
        whole = begin % self.shard == 0 and (end % self.shard == 0 or end == self.shape[0])
        if not (0 <= begin < end <= self.shape[0]) or not whole:
            raise BadArgument(f"slices {begin} to {end} are not whole shards of {self.shard}", "part",
                              "let parts begin and end at multiples of the shard")


def unit(shape: tuple[int, int, int], slices_per_b_scan: int) -> int:
    """Slices that a shard is a multiple of: whole chunks in every level, and whole B-scan positions."""
    if shape[0] <= levels.SIDE:
        return shape[0]
    halvings = len(levels.shapes(shape)) - 1
    return math.lcm(levels.SIDE, 1 << halvings, slices_per_b_scan)


def _array(layout: Layout, level: int) -> tuple[dict[str, Any], Any]:
    """What zarr-python writes, by key, and the array to write to."""
    import zarr
    from zarr.codecs import ZstdCodec

    shape, chunk, shard = layout.edges(level)
    written: dict[str, Any] = {}
    array = zarr.create_array(
        store=zarr.storage.MemoryStore(written), shape=shape, chunks=chunk, shards=shard, dtype=layout.dtype, fill_value=0,
        compressors=ZstdCodec(level=3, checksum=True), dimension_names=list("tzyx")[-len(shape):],
        config={"write_empty_chunks": True})
    return written, array


def metadata(layout: Layout) -> dict[str, bytes]:
    """zarr.json of each level, by key."""
    return {f"{level}/zarr.json": _array(layout, level)[0]["zarr.json"].to_bytes()
            for level in range(len(layout.levels()))}


def encoded(layout: Layout, time: int, begin: int, voxels: np.ndarray[Any, Any]) -> dict[str, bytes]:
    """Shards of all levels by key, of the voxels [z, y, x] from slice `begin` of a volume. They are whole shards."""
    layout.check(begin, begin + voxels.shape[0])
    made: dict[str, bytes] = {}
    for level in range(len(layout.levels())):
        written, array = _array(layout, level)
        first = begin >> level
        where: tuple[Any, ...] = (slice(first, first + voxels.shape[0]),)
        array[(time, *where) if layout.is_series else where] = voxels
        made.update((f"{level}/{key}", value.to_bytes()) for key, value in sorted(written.items())
                    if key != "zarr.json")
        if level + 1 < len(layout.levels()):
            voxels = levels.coarser(voxels)
    return made
