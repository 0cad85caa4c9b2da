"""Slabs of voxels of a scan that a worker has opened, one after another. Spectra are read ahead. Plan, tables and
device memory are created once for all scans of a protocol.
"""
from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...reconstructor import Reconstructor
from ...scan import Batch, Scan
from ...volume import Volume
from ..fingerprint import protocol_key
from ..lru_cache import LruCache
from ..threads import prefetch

_BLOCK = 16 << 20  # bytes of spectra read at a time

Array = np.ndarray[Any, Any]

_reconstructors: LruCache[Reconstructor] = LruCache(2)  # by protocol and device
_batches: LruCache[Batch] = LruCache(1)  # by device
_buffers: LruCache[list[Array]] = LruCache(1)  # shared by all scans: a worker makes one part at a time


def forget() -> None:
    """Releases everything kept on devices, which a failed one may have left broken."""
    _reconstructors.clear()
    _batches.clear()


def batch(device: str) -> Batch:
    """For work that is not done block by block: the first B-scan, flow, running backgrounds."""
    return _batches.get(device, lambda: Batch(device))


class OpenScan:
    """Use only one iterator of slabs() at a time. A yielded slab is overwritten two slabs later."""

    def __init__(self, scan: Scan, device: str) -> None:
        self._scan, self._device = scan, device
        self._reconstructor: Reconstructor | None = None
        self._device_used = ""

    def device(self) -> str:
        """Device that made the last slab."""
        return self._device_used

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
            self._device_used = made.provenance.get("backend", "")
            whole = [np.asarray(made)] + ([np.asarray(made.flow.velocities())] if made.flow is not None else [])
            slices = step * made.shape[0] // (last - first)
            for z in range(0, made.shape[0], slices):
                yield tuple(one[z:z + slices].transpose(0, 2, 1) for one in whole)

    def _by_blocks(self, volume: int, begin: int, end: int, step: int) -> Iterator[tuple[Array, ...]]:
        if self._reconstructor is None:
            self._reconstructor = _reconstructors.get(protocol_key(self._scan, self._device),
                                                      lambda: Reconstructor(self._scan, device=self._device))
        reconstruct = self._reconstructor
        self._device_used = reconstruct.device
        b, a, depth = reconstruct.grid().shape
        slices = b // self._scan.shape[0]
        size, dtype = (step * slices, a, depth), reconstruct.grid().dtype
        buffers = itertools.cycle(_buffers.get((size, dtype), lambda: [np.empty(size, dtype) for _ in range(2)]))
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
