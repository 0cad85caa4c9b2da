"""Writes shards of Zarr 3 chunk by chunk while the volume is reconstructed: all levels of a part, with little more than
one layer of chunks in memory (https://zarr-specs.readthedocs.io, sharding codec v1.0).
"""
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np

from ..storage.checksums import crc32c
from ..storage.pending_file import PendingFile
from ..threads import cpu_pool
from . import levels
from .layout import Layout, compressor_of

_ABSENT = 2**64 - 1  # offset and length of a chunk outside the array

Array = np.ndarray[Any, Any]


@functools.cache
def _compressor(dtype: str) -> Any:
    return importlib.import_module("numcodecs").get_codec(compressor_of(dtype))


def _compressed(pieces: list[Array], chunk: tuple[int, ...]) -> bytes:
    """Assembles a chunk from its slices, padded with zeros beyond the array, with its checksum."""
    voxels = np.concatenate(pieces)  # in memory order; transposed while in the cache, which is 3 times as fast
    if voxels.shape != chunk:
        whole = np.zeros(chunk, voxels.dtype)
        whole[tuple(slice(0, n) for n in voxels.shape)] = voxels
        voxels = whole
    little = voxels.astype(voxels.dtype.newbyteorder("<"), order="C", copy=False)
    packed: bytes = _compressor(voxels.dtype.name).encode(little)
    return packed + crc32c(packed).to_bytes(4, "little")


class _Shard:
    """Chunks one after another, followed by an index of their positions."""

    def __init__(self, layout: Layout, level: int, file: PendingFile, writer: Executor) -> None:
        shape, chunk, shard = (edge[-3:] for edge in layout.edges(level))
        self._rows, self._columns, self._chunk = shape[1], shape[2], chunk
        self._file, self._writer = file, writer
        self._index = np.full((*(s // c for s, c in zip(shard, chunk)), 2), _ABSENT, "<u8")
        self._layer = 0
        self._rest: list[Array] = []  # slices that do not yet fill a layer of chunks

    def add(self, voxels: Array) -> list[Future[None]]:
        """Compresses whole layers of chunks. They are written in the background."""
        written, deep = [], self._chunk[0]
        while len(voxels) > 0:
            count = deep - sum(len(one) for one in self._rest)
            self._rest.append(voxels[:count])
            if len(voxels) >= count:
                written.append(self._pack())
            voxels = voxels[count:]
        return written

    def close(self) -> Future[None]:
        if self._rest:
            self._pack()
        return self._writer.submit(self._end)

    def _pack(self) -> Future[None]:
        """Cuts the available slices into a layer of chunks."""
        _, height, width = self._chunk
        cut = [[one[:, y:y + height, x:x + width] for one in self._rest]
               for y in range(0, self._rows, height) for x in range(0, self._columns, width)]
        packed = list(cpu_pool().map(_compressed, cut, [self._chunk] * len(cut)))
        self._rest = []
        self._layer += 1
        return self._writer.submit(self._append, self._layer - 1, packed)

    def _append(self, layer: int, chunks: list[bytes]) -> None:
        for place, chunk in zip(np.ndindex(*self._index.shape[1:3]), chunks):
            self._index[(layer, *place)] = self._file.bytes, len(chunk)
            self._file.write(chunk)

    def _end(self) -> None:
        index = self._index.tobytes()
        self._file.write(index + crc32c(index).to_bytes(4, "little"))


def _coarser(voxels: Array) -> Callable[[], Array]:
    """Computes the next level in the background on all cores. Calling the result waits for it."""
    coarse = np.empty_like(voxels, shape=tuple((n + 1) // 2 for n in voxels.shape))

    def make(z: int) -> None:
        coarse[z // 2:z // 2 + 1] = levels.downsample(voxels[z:z + 2])

    made = [cpu_pool().submit(make, z) for z in range(0, len(voxels), 2)]

    def wait() -> Array:
        for one in made:
            one.result()
        return coarse

    return wait


class ShardWriter:
    """All levels of the slices of a volume from `begin` on: whole shards. create: creates the file of a key; writer: a
    thread that writes.
    """

    def __init__(self, layout: Layout, time: int, begin: int, end: int, create: Callable[[str], PendingFile],
                 writer: Executor) -> None:
        layout.check(begin, end)
        self._shards = [_Shard(layout, level, create(key), writer) for level, key in enumerate(layout.keys(time, begin))]

    def add(self, voxels: Array) -> list[Future[None]]:
        """Adds the next slices [z, y, x]: a multiple of layout.unit(), except for the last ones. They are compressed
        when this returns (the last ones when close() does), and written when its futures are done.
        """
        written = []
        for level, shard in enumerate(self._shards):
            coarse = _coarser(voxels) if level + 1 < len(self._shards) else None
            written += shard.add(voxels)
            if coarse is not None:
                voxels = coarse()
        return written

    def close(self) -> list[Future[None]]:
        return [shard.close() for shard in self._shards]
