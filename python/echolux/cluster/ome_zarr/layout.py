"""Layout of a volume in arrays, shards and chunks of Zarr 3. A shard contains some slices of a level with all rows and
columns, and belongs to exactly one part of the work.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import BadArgument
from . import levels


def compressor_of(dtype: str) -> dict[str, Any]:
    """Compressor in numcodecs notation. Most bits of a volume are noise, so strong compression gains little.
    Bit-shuffled lz4 compresses floats better than zstd in half the time, and zstd's level 1 loses nothing to its level 3.
    """
    if dtype.startswith(("float", "complex")):
        return {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 2}
    return {"id": "zstd", "level": 1}


@dataclass(frozen=True)
class Layout:
    """Layout of a volume [t] z y x. A shard contains `shard` slices with all rows and columns."""

    times: int
    shape: tuple[int, int, int]
    dtype: str
    shard: int

    def __post_init__(self) -> None:
        if self.shard < 1:
            raise BadArgument(f"cannot have {self.shard} slices", "shard", "give at least one")

    @property
    def is_series(self) -> bool:
        return self.times > 1

    def levels(self) -> list[tuple[int, int, int]]:
        return levels.shapes(self.shape)

    def bytes_of(self, slices: int) -> int:
        """Size of the voxels, uncompressed."""
        return slices * self.shape[1] * self.shape[2] * np.dtype(self.dtype).itemsize

    def edges(self, level: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Shapes of a level's array, chunks and shards."""
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

    def keys(self, time: int, begin: int) -> list[str]:
        """Keys of the shards of all levels that start with this slice of a volume."""
        volume = f"{time}/" if self.is_series else ""
        return [f"{level}/c/{volume}{begin // self.shard}/0/0" for level in range(len(self.levels()))]

    def check(self, begin: int, end: int) -> None:
        """Rejects slices [begin, end) that are not whole shards. Otherwise two parts would write to one file, or
        readers would misinterpret a file.
        """
        if not (0 <= begin < self.shape[0] and begin % self.shard == 0 and end == min(begin + self.shard, self.shape[0])):
            raise BadArgument(f"slices {begin} to {end} are not whole shards of {self.shard}", "part",
                              "let each part be one shard")


def shard_unit(shape: tuple[int, int, int], slices_per_b_scan: int) -> int:
    """Returns the number of slices of which shards must be a multiple: whole chunks in every level, and whole B-scan
    positions.
    """
    if shape[0] <= levels.SIDE:
        return shape[0]
    halvings = len(levels.shapes(shape)) - 1
    return math.lcm(levels.SIDE, 1 << halvings, slices_per_b_scan)


def array_metadata(layout: Layout) -> dict[str, bytes]:
    """Returns zarr.json of each level's array by key, as zarr-python writes it."""
    import zarr
    from zarr.codecs import BloscCodec, Crc32cCodec, ZstdCodec

    wanted = compressor_of(layout.dtype)
    if wanted["id"] == "blosc":
        codec: Any = BloscCodec(cname=wanted["cname"], clevel=wanted["clevel"], shuffle="bitshuffle")
    else:
        codec = ZstdCodec(level=wanted["level"])
    made = {}
    for level in range(len(layout.levels())):
        shape, chunk, shard = layout.edges(level)
        written: dict[str, Any] = {}
        zarr.create_array(store=zarr.storage.MemoryStore(written), shape=shape, chunks=chunk, shards=shard, dtype=layout.dtype,
                          fill_value=0, compressors=[codec, Crc32cCodec()], dimension_names=list("tzyx")[-len(shape):])
        made[f"{level}/zarr.json"] = written["zarr.json"].to_bytes()
    return made
