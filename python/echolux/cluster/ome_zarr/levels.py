"""Coarser levels of a volume, identical to those of `echolux convert`: means of 2 x 2 x 2 voxels, or fewer at the
edges. Integers are rounded, with halves rounded up.
"""
from __future__ import annotations

from typing import Any

import numpy as np

SIDE = 64  # of a chunk; a volume that fits into one chunk has one level


def shapes(shape: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    """Returns (z, y, x) of each level, finest first."""
    every = [shape]
    while max(every[-1]) > SIDE:
        z, y, x = every[-1]
        every.append(((z + 1) // 2, (y + 1) // 2, (x + 1) // 2))
    return every


def downsample(voxels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns [z, y, x] at half resolution, in the same memory order. Sums in the order used by the program, so that
    floats are rounded identically.
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
