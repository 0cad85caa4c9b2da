"""A part of a job: a pure function from scan, settings and a range of B-scans to whole shards. Spectra are read ahead. Plan,
tables and device memory are created once for all scans of a protocol. The steps of a part overlap: while one slab of voxels
is packed, the next is reconstructed and the previous one is written.
"""
from __future__ import annotations

import contextlib
import functools
import itertools
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from ..reconstructor import Reconstructor
from ..scan import Batch, Scan
from ..volume import Volume
from . import results
from .inputs import protocol_key
from .ome_zarr import Array, Output, ShardWriter
from .storage import Store
from .threads import prefetch

if TYPE_CHECKING:
    from .plan import Part, Plan

_BLOCK = 16 << 20  # bytes of spectra read at a time

_reconstructors: dict[str, Reconstructor] = {}  # by protocol and device: the two used last


def forget_devices() -> None:
    """Releases everything kept on devices, which a failed one may have left broken."""
    _reconstructors.clear()
    batch.cache_clear()


@functools.lru_cache(1)
def batch(device: str) -> Batch:
    """For work that is not done block by block: the first B-scan, flow, running backgrounds."""
    return Batch(device)


@functools.lru_cache(1)
def _buffers(size: tuple[int, ...], dtype: Any) -> list[Array]:
    """Shared by all scans: a worker makes one part at a time."""
    return [np.empty(size, dtype) for _ in range(2)]


def _reconstructor(scan: Scan, device: str) -> Reconstructor:
    key = protocol_key(scan, device)
    made = _reconstructors.pop(key, None) or Reconstructor(scan, device=device)
    _reconstructors[key] = made
    for old in [*_reconstructors][:-2]:
        del _reconstructors[old]
    return made


class OpenScan:
    """Use only one iterator of slabs() at a time. A yielded slab is overwritten two slabs later."""

    def __init__(self, scan: Scan, device: str) -> None:
        self._scan, self._device = scan, device
        self._reconstructor: Reconstructor | None = None
        self.device = ""  # that made the last slab

    def warm_up(self) -> None:
        """Performs one-time setup."""
        for _ in self.slabs(0, 0, 1, 1):
            pass

    def time_s(self, volume: int) -> float:
        """Start time of a volume."""
        return self._range(volume, 0, 1).time_s

    def slabs(self, volume: int, begin: int, end: int, step: int) -> Iterator[tuple[Array, ...]]:
        """Yields voxels [z, y, x] (B-scan, depth, A-scan) of the positions [begin, end), `step` at a time: structure
        and, if requested, flow.
        """
        if self._scan.recipe.background == "running":  # depends on all previous B-scans, so it is done in one go
            return self._by_ranges(volume, begin, end, end - begin, step)
        if self._scan.flow.method != "none":
            return self._by_ranges(volume, begin, end, step, step)
        return self._by_blocks(volume, begin, end, step)

    def _range(self, volume: int, begin: int, end: int) -> Volume:
        return batch(self._device).reconstruct(self._scan, volume, b_scans=(begin, end), progress=False)

    def _by_ranges(self, volume: int, begin: int, end: int, count: int, step: int) -> Iterator[tuple[Array, ...]]:
        for first in range(begin, end, count):
            last = min(first + count, end)
            made = self._range(volume, first, last)
            self.device = made.provenance.get("backend", "")
            whole = [np.asarray(made)] + ([np.asarray(made.flow.velocities())] if made.flow is not None else [])
            slices = step * made.shape[0] // (last - first)
            for z in range(0, made.shape[0], slices):
                yield tuple(one[z:z + slices].transpose(0, 2, 1) for one in whole)

    def _by_blocks(self, volume: int, begin: int, end: int, step: int) -> Iterator[tuple[Array, ...]]:
        if self._reconstructor is None:
            self._reconstructor = _reconstructor(self._scan, self._device)
        reconstruct = self._reconstructor
        self.device = reconstruct.device
        b, a, depth = reconstruct.grid().shape
        slices = b // self._scan.shape[0]
        size, dtype = (step * slices, a, depth), reconstruct.grid().dtype
        buffers = itertools.cycle(_buffers(size, dtype))
        slab, filled = next(buffers), 0
        for first, spectra in prefetch(self._blocks(volume, begin, end, step)):
            count = len(spectra) * slices
            reconstruct(spectra, out=slab[filled:filled + count], volume=volume, first_b_scan=first)
            filled += count
            if filled == len(slab) or first + len(spectra) == end:
                yield (slab[:filled].transpose(0, 2, 1),)
                slab, filled = next(buffers), 0

    def _blocks(self, volume: int, begin: int, end: int, step: int) -> Iterator[tuple[int, Array]]:
        """Yields spectra of some positions, and the first of them. A block never crosses a slab boundary."""
        shape = self._scan.shape
        one = self._scan.read(volume, begin, 1)
        max_count = max(1, _BLOCK // one.nbytes)
        buffers = itertools.cycle([np.empty((min(max_count, step), *shape[1:]), one.dtype) for _ in range(2)])
        for slab in range(begin, end, step):
            for first in range(slab, min(slab + step, end), max_count):
                count = min(max_count, slab + step - first, end - first)
                block = next(buffers)[:count]
                self._scan._core.read(volume, first, count, block.reshape(-1).view(np.uint8))
                yield first, block


class _Stopwatch:
    """Seconds spent on each step, which may run in different threads."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextlib.contextmanager
    def step(self, what: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[what] = self.seconds.get(what, 0.0) + time.perf_counter() - began

    def timed(self, what: str, items: Iterator[Any]) -> Iterator[Any]:
        """Yields the items and measures the time to produce them."""
        while True:
            with self.step(what):
                item = next(items, None)
            if item is None:
                return
            yield item


def _wait(futures: list[Future[None]]) -> None:
    for one in futures:
        one.result()


def make(plan: Plan, part: Part, scan: OpenScan, files: results.PartFiles) -> dict[str, Any]:
    """Writes the part's shards without committing them, and returns facts about the work. A running background is
    updated from the preceding B-scans.
    """
    begin, end = (n * plan.slices_per_b_scan for n in (part.begin, part.end))
    watch = _Stopwatch()

    def writer_of(output: Output) -> ShardWriter:
        return ShardWriter(output.layout, part.time, begin, end, lambda key: files.create(f"{output.name}/{key}"), writer)

    with ThreadPoolExecutor(1, "echolux-write") as writer:
        shards = [writer_of(one) for one in plan.outputs]
        written: list[Future[None]] = []
        for slab in prefetch(watch.timed("reconstruct", scan.slabs(part.time, part.begin, part.end, plan.unit()))):
            with watch.step("pack"):
                packed = [one for shard, voxels in zip(shards, slab) for one in shard.add(voxels)]
            _wait(written)  # at most two slabs wait for the disk
            written = [*packed, writer.submit(files.sync)]
        _wait([*written, *(one for shard in shards for one in shard.close())])
    facts = {"device": scan.device, "a_scans": plan.a_scans(part), "seconds": watch.seconds}
    if part.begin == 0:
        facts["time_s"] = scan.time_s(part.time)
    return facts


def run(store: Store, plan: Plan, part: Part, scan: OpenScan, *, verify: bool = False) -> dict[str, Any]:
    """Makes a part unless it exists, and returns its marker. Raises Stale if another plan has replaced this one."""
    marker = results.read(store, plan.name, part.key, plan.identity, verify=verify)
    if marker is not None:
        return {**marker, "was_there": True}
    watch = _Stopwatch()
    with watch.step("whole"), results.part_files(store, f"{results.FOLDER}/{plan.name}") as files:
        facts = make(plan, part, scan, files)
        with watch.step("write"):
            files.commit(store, plan.name, part.key, plan.identity, facts)
    return {**facts, "seconds": {**facts["seconds"], **watch.seconds}}
