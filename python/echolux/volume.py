"""Volumes: voxels, and what they mean."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    import numpy as np


class Volume(_core.Volume):
    """Voxels [b, a, depth] in host memory, and what they mean. Never changes.

    An array wherever one is expected: numpy.asarray(volume) and torch.from_dlpack(volume) see its codes without a copy;
    value = code * scale + offset, in `unit`.
    """

    flow: Volume | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """[b, a, depth]; [b, a, depth, 2] where voxels are pairs (phasors)."""
        return self._grid.shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """The codes; without a copy where dtype is theirs and copy is not True."""
        import numpy as np

        codes = self._numpy()
        if dtype is not None and np.dtype(dtype) != codes.dtype:
            if copy is False:
                raise ValueError(f"a copy is needed for codes of type {codes.dtype} as {np.dtype(dtype)}")
            return codes.astype(dtype)
        return codes.copy() if copy else codes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it; the ending decides the format (.nrrd, .nii.gz, .tiff, .h5, .ome.zarr ...)."""
        self._write(os.fspath(path))


def load(path: str | os.PathLike[str]) -> Volume:
    """The volume of a file or folder in any format that `echolux convert` reads."""
    return Volume(_core.Volume.open(os.fspath(path)))
