"""Ever coarser levels of a volume, voxel for voxel those of `echolux convert`: the mean of 2 x 2 x 2 voxels, of fewer at the
edges; integers are rounded, halves upwards."""
from __future__ import annotations

from typing import Any

import numpy as np

SIDE = 64  # of a chunk; a volume that fits into one has one level


def shapes(shape: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    """(z, y, x) of each level, the finest first."""
    every = [shape]
    while max(every[-1]) > SIDE:
        z, y, x = every[-1]
        every.append(((z + 1) // 2, (y + 1) // 2, (x + 1) // 2))
    return every


def downsample(voxels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Half the resolution of [z, y, x], with the same order in memory. The order of the sum is that of the program, which
    rounds floats alike."""
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
        total[tuple(edge)] *= 0.5  # a power of two: exact, like the division by the count
    if voxels.dtype.kind in "iu":
        total = np.floor(total + 0.5, out=total)
    return total.astype(voxels.dtype)
