"""A scan that a worker has opened: its volumes, slab by slab. Spectra are read ahead, and the plan of the reconstruction
is made once for all scans of one protocol."""
from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...reconstructor import Reconstructor
from ...scan import Scan
from ..lru_cache import Cache
from ..fingerprint import protocol_of
from ..threads import ahead

_BLOCK = 16 << 20  # bytes of spectra that are read at a time

Array = np.ndarray[Any, Any]

_reconstructors: Cache[Reconstructor] = Cache(2)  # scans of one protocol share one
_slabs: Cache[list[Array]] = Cache(1)  # of all sources: a worker makes one part at a time


def forget() -> None:
    """Reconstructors that are kept: a device that failed may have left them broken."""
    _reconstructors.clear()


class Source:
    """slabs() of one source are used at a time; what they yield is overwritten two slabs later."""

    def __init__(self, scan: Scan, device: str) -> None:
        self._scan, self._device = scan, device
        self._make: Reconstructor | None = None
        self._used = ""

    def device(self) -> str:
        """That the last slab was made on."""
        return self._used

    def warm_up(self) -> None:
        """Makes what is made once."""
        for _ in self.slabs(0, 0, 1, 1):
            pass

    def time_s(self, volume: int) -> float:
        return self._scan.reconstruct(volume, b_scans=(0, 1), device=self._device, progress=False).time_s

    def slabs(self, volume: int, begin: int, end: int, step: int) -> Iterator[tuple[Array, ...]]:
        """Voxels [z, y, x] (B-scan, depth, A-scan) of the positions [begin, end), `step` of them at a time: structure, and
        flow where the scan says so."""
        if self._scan.recipe.background == "running":  # sees all before it: made in one go
            return self._cut(volume, begin, end, end - begin, step)
        if self._scan.flow.method != "none":
            return self._cut(volume, begin, end, step, step)
        return self._made(volume, begin, end, step)

    def _cut(self, volume: int, begin: int, end: int, count: int, step: int) -> Iterator[tuple[Array, ...]]:
        for first in range(begin, end, count):
            made = self._scan.reconstruct(volume, b_scans=(first, min(first + count, end)), device=self._device,
                                          progress=False)
            self._used = made.provenance.get("backend", "")
            whole = [np.asarray(made)] + ([np.asarray(made.flow.velocities())] if made.flow is not None else [])
            slices = step * made.shape[0] // (min(first + count, end) - first)
            for z in range(0, made.shape[0], slices):
                yield tuple(one[z:z + slices].transpose(0, 2, 1) for one in whole)

    def _made(self, volume: int, begin: int, end: int, step: int) -> Iterator[tuple[Array, ...]]:
        if self._make is None:
            self._make = _reconstructors.get(protocol_of(self._scan, self._device),
                                             lambda: Reconstructor(self._scan, device=self._device))
        make = self._make
        self._used = make.device
        b, a, depth = make.grid().shape
        slices = b // self._scan.shape[0]
        size, dtype = (step * slices, a, depth), make.grid().dtype
        buffers = itertools.cycle(_slabs.get((size, dtype), lambda: [np.empty(size, dtype) for _ in range(2)]))
        slab, filled = next(buffers), 0
        for first, spectra in ahead(self._blocks(volume, begin, end, step)):
            count = len(spectra) * slices
            make(spectra, out=slab[filled:filled + count], volume=volume, first_b_scan=first)
            filled += count
            if filled == len(slab) or first + len(spectra) == end:
                yield (slab[:filled].transpose(0, 2, 1),)
                slab, filled = next(buffers), 0

    def _blocks(self, volume: int, begin: int, end: int, step: int) -> Iterator[tuple[int, Array]]:
        """Spectra of some positions, and the first of them. No block reaches into another slab."""
        shape = self._scan.shape
        empty = self._scan.read(volume, begin, 1)  # of the right type
        most = max(1, _BLOCK // empty.nbytes)
        buffers = itertools.cycle([np.empty((min(most, step), *shape[1:]), empty.dtype) for _ in range(2)])
        for slab in range(begin, end, step):
            for first in range(slab, min(slab + step, end), most):
                count = min(most, slab + step - first, end - first)
                block = next(buffers)[:count]
                self._scan._core.read(volume, first, count, block.reshape(-1).view(np.uint8))
                yield first, block
