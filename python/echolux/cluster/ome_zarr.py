"""OME-Zarr 0.5 of a volume [t] z y x: layout in arrays, shards and chunks of Zarr 3, coarser levels, metadata, and writing
shards (https://zarr-specs.readthedocs.io, sharding codec v1.0). A shard contains some slices of a level with all rows and
columns, and belongs to exactly one part of the work.
"""
from __future__ import annotations

import functools
import importlib
import json
import math
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import BadArgument
from .threads import cpu_pool
from .storage import PendingFile, crc32c

Array = np.ndarray[Any, Any]
Shape = tuple[int, int, int]

_SIDE = 64  # of a chunk; a volume that fits into one chunk has one level


# ---- layout

def _compression_of(dtype: str) -> dict[str, Any]:
    """Compressor in numcodecs notation. Most bits of a volume are noise, so strong compression gains little.
    Bit-shuffled lz4 compresses floats better than zstd in half the time, and zstd's level 1 loses nothing to its level 3.
    """
    if dtype.startswith(("float", "complex")):
        return {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 2}
    return {"id": "zstd", "level": 1}


@dataclass(frozen=True)
class Layout:
    """Layout of a volume in files. A shard contains `shard` slices with all rows and columns."""

    times: int
    shape: Shape
    dtype: str
    shard: int

    def __post_init__(self) -> None:
        if self.shard < 1:
            raise BadArgument(f"cannot have {self.shard} slices", "shard", "give at least one")

    @property
    def is_series(self) -> bool:
        return self.times > 1

    def levels(self) -> list[Shape]:
        """Returns (z, y, x) of each level, finest first."""
        every = [self.shape]
        while max(every[-1]) > _SIDE:
            z, y, x = every[-1]
            every.append(((z + 1) // 2, (y + 1) // 2, (x + 1) // 2))
        return every

    def unit(self, slices_per_b_scan: int) -> int:
        """Returns the number of slices of which shards must be a multiple: whole chunks in every level, and whole B-scan
        positions.
        """
        if self.shape[0] <= _SIDE:
            return self.shape[0]
        return math.lcm(_SIDE, 1 << (len(self.levels()) - 1), slices_per_b_scan)

    def bytes_of(self, slices: int) -> int:
        """Size of the voxels, uncompressed."""
        return slices * self.shape[1] * self.shape[2] * np.dtype(self.dtype).itemsize

    def edges(self, level: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Shapes of a level's array, chunks and shards."""
        shape = self.levels()[level]
        shard_z = self.shard >> level
        chunk_z = math.gcd(_SIDE, shard_z)
        if self.shape[0] <= _SIDE:
            shard_z = chunk_z = shape[0]
        chunk = (chunk_z, min(_SIDE, shape[1]), min(_SIDE, shape[2]))
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


# ---- metadata

@dataclass(frozen=True)
class Output:
    """An OME-Zarr of a scan: its structure or its flow."""

    name: str  # "eye1/scan.ome.zarr"
    layout: Layout
    picture: dict[str, Any]  # metadata of the finest level, as written by the program
    texts: dict[str, str]


def array_metadata(layout: Layout) -> dict[str, bytes]:
    """Returns zarr.json of each level's array by key, as zarr-python writes it."""
    import zarr
    from zarr.codecs import BloscCodec, Crc32cCodec, ZstdCodec

    wanted = _compression_of(layout.dtype)
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


def group_metadata(output: Output, times_s: list[float]) -> bytes:
    """Returns zarr.json of the group, as the program writes it. It is written last; without it, the folder cannot be
    opened as an image. times_s: time of each volume.
    """
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


# ---- coarser levels

def downsample(voxels: Array) -> Array:
    """Returns [z, y, x] at half resolution, in the same memory order: means of 2 x 2 x 2 voxels, or fewer at the edges.
    Integers are rounded, with halves rounded up. Sums in the order used by the program, so that floats are rounded
    identically.
    """
    wide = np.complex128 if voxels.dtype.kind == "c" else np.float64
    total = np.zeros_like(voxels[::2, ::2, ::2], wide)
    for y in 0, 1:
        for x in 0, 1:
            for z in 0, 1:
                part = voxels[z::2, y::2, x::2]
                total[tuple(slice(0, n) for n in part.shape)] += part
    for axis, n in enumerate(voxels.shape):
        edge = [slice(None)] * 3
        edge[axis] = slice(0, n // 2)
        total[tuple(edge)] *= 0.5  # a power of two, so it is exact, as is the division by the count
    if voxels.dtype.kind in "iu":
        total = np.floor(total + 0.5, out=total)
    return total.astype(voxels.dtype)


def _coarser(voxels: Array) -> Callable[[], Array]:
    """Computes the next level in the background on all cores. Calling the result waits for it."""
    coarse = np.empty_like(voxels, shape=tuple((n + 1) // 2 for n in voxels.shape))

    def make(z: int) -> None:
        coarse[z // 2:z // 2 + 1] = downsample(voxels[z:z + 2])

    made = [cpu_pool().submit(make, z) for z in range(0, len(voxels), 2)]

    def wait() -> Array:
        for one in made:
            one.result()
        return coarse

    return wait


# ---- shards, written chunk by chunk while the volume is reconstructed, with little more than one layer of chunks in memory

_ABSENT = 2**64 - 1  # offset and length of a chunk outside the array


@functools.cache
def _compressor(dtype: str) -> Any:
    return importlib.import_module("numcodecs").get_codec(_compression_of(dtype))


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
