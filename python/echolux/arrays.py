"""Arrays of other libraries: their device, the CUDA stream that orders work on them, and new arrays of the same kind.

An array on a GPU is borrowed through its __dlpack__(stream=...); its producer makes that stream wait for pending
writes. The result is an array created by the same library on that stream. Its memory therefore comes from that
library's pool, and its later work on the result runs after ours.
"""
from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from .errors import BadArgument
from .libraries import Library, library_of, name_of_library

_CPU, _CUDA, _CUDA_HOST, _CUDA_MANAGED = 1, 2, 3, 13  # DLPack device types
_LEGACY_DEFAULT = 1  # DLPack's number for CUDA's default stream; 0 would be ambiguous
_NO_SYNC, _ON_STREAM = 0, 1  # ECHOLUX_SYNC_...


def is_numpy(array: Any) -> bool:
    return type(array).__module__ == "numpy"


def known_array(array: Any) -> Any:
    """Converts objects without DLPack (lists, h5py datasets, xarray) to NumPy arrays."""
    if is_numpy(array) or hasattr(array, "__dlpack__"):
        return array
    import numpy as np

    made = np.asarray(array)
    if made.dtype.kind not in "biufc":
        raise BadArgument(f"is not an array of numbers: {type(array).__name__}", "spectra", "give [b, a, samples]")
    return made


def in_native_order(spectra: Any, stored: str) -> Any:
    """Returns arrays whose samples are in the scan's byte order as bytes."""
    if not is_numpy(spectra) or spectra.dtype.itemsize == 1:
        return spectra
    native = stored == sys.byteorder
    if spectra.dtype.isnative != native:
        raise BadArgument(f"is not in the scan's byte order, which is {stored}", "spectra",
                          "set scan.byte_order, or convert it")
    return spectra if native else spectra.view(spectra.dtype.newbyteorder("="))


def result_array(out: Any, name: str) -> Any:
    """Checks an array of the caller that receives voxels, or None."""
    if out is None or is_numpy(out):
        return out
    if not hasattr(out, "__dlpack__"):
        raise BadArgument(f"is not an array but of type {type(out).__name__}", name,
                          "give a NumPy array, or one that speaks DLPack")
    if name_of_library(out) in ("jax", "jaxlib"):
        raise BadArgument("is an array of JAX, which never changes", name, "leave it out")
    return out


def _number_of(stream: Any) -> int:
    """Returns the stream's number in DLPack."""
    if hasattr(stream, "__cuda_stream__"):
        handle = stream.__cuda_stream__()[1]
    elif hasattr(stream, "cuda_stream"):  # PyTorch
        handle = stream.cuda_stream
    elif hasattr(stream, "ptr"):  # CuPy
        handle = stream.ptr
    else:
        if isinstance(stream, bool) or not hasattr(stream, "__index__") or int(stream) < -1 or int(stream) == 0:
            raise BadArgument(f"{stream!r} is not a CUDA stream", "stream",
                              "a stream of PyTorch or CuPy, an object with __cuda_stream__, -1, 1, 2 or a handle; not 0")
        return int(stream)
    return int(handle) or _LEGACY_DEFAULT


def _ready(array: Any) -> Any:
    """Waits until JAX has computed the array."""
    return array.block_until_ready() if hasattr(array, "block_until_ready") else array


class HostOrder:
    """Arrays in host memory: everything is done when the call returns."""

    sync, stream, waits = _NO_SYNC, 0, False

    def current(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def lent(self, array: Any, name: str) -> Any:
        if is_numpy(array):
            return array
        if library_of(array).place(array)[0] in (_CUDA, _CUDA_MANAGED):
            raise BadArgument("lies on a GPU, the spectra in host memory", name, "give both on the same device")
        return _ready(array)


class StreamOrder:
    """Arrays on a GPU, ordered on a stream given by its DLPack number. is_current: the array library already uses this
    stream, so its arrays need no synchronisation. waits: the call returns when the GPU is done.
    """

    def __init__(self, library: Library, spectra: Any, place: tuple[int, int], number: int, *, is_current: bool = False,
                 waits: bool = False) -> None:
        self._library, self._spectra, self._place = library, spectra, place
        self._number, self._is_current = number, is_current
        self.waits = waits or number < 0
        self.sync = _NO_SYNC if number < 0 else _ON_STREAM
        self.stream = max(number, 0)  # 1 and 2 are also handles of the CUDA runtime

    def current(self) -> AbstractContextManager[Any]:
        """Context in which new arrays belong to the stream."""
        if self._is_current or self._number < 0:
            return nullcontext()
        return self._library.entered(self._spectra, 0 if self._number == _LEGACY_DEFAULT else self._number)

    def lent(self, array: Any, name: str) -> Any:
        if array is not self._spectra and (is_numpy(array) or library_of(array).place(array) != self._place):
            raise BadArgument("does not lie on the GPU that the spectra are on", name, "give both on the same device")
        if self._is_current and library_of(array) is self._library:
            return self._library.lent_here(array)
        return _ready(array).__dlpack__(stream=self._number)


def order_of(spectra: Any, stream: Any, device: str) -> HostOrder | StreamOrder:
    """Returns how work on these spectra is ordered with the caller's."""
    library = library_of(spectra)
    place = (_CPU, 0) if is_numpy(spectra) else library.place(spectra)
    kind = place[0]
    if kind in (_CPU, _CUDA_HOST):
        if stream is not None:
            raise BadArgument("is for arrays on a GPU, these spectra lie in host memory", "stream", "leave it out")
        return HostOrder()
    if kind not in (_CUDA, _CUDA_MANAGED):
        raise BadArgument(f"lies on a device of kind {kind} of DLPack, which is neither the CPU nor CUDA", "spectra",
                          "copy it to host memory")
    if not device.startswith("cuda"):
        raise BadArgument(f"lies on a GPU, but this Reconstructor works on: {device}", "spectra",
                          'copy it to host memory, or make the Reconstructor with device="cuda"')
    if stream is not None:
        return StreamOrder(library, spectra, place, _number_of(stream))
    current = library.current_stream(spectra)
    if current is None:
        return StreamOrder(library, spectra, place, _LEGACY_DEFAULT, waits=True)
    return StreamOrder(library, spectra, place, _number_of(current), is_current=True)


def empty(like: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """Returns a new array of the same library and on the same device as another one."""
    if is_numpy(like):
        import numpy as np

        return np.empty(shape, dtype)
    return library_of(like).empty(like, shape, dtype)


def host_copy(array: Any) -> Any:
    """Returns a NumPy array with the same elements, from any device."""
    if is_numpy(array):
        return array
    import numpy as np

    for name in ("cpu", "get"):  # PyTorch, CuPy
        if hasattr(array, name):
            array = getattr(array, name)()
    return np.asarray(array)
