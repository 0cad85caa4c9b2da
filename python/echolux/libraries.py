"""Specifics of GPU array libraries: querying their current stream, using another stream, and creating arrays. Unknown
libraries are used through DLPack and the array API standard.
"""
from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

_CUDA = 2  # DLPack device type
_NO_STREAM = -1  # in DLPack: no synchronisation by the producer


def name_of_library(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


class Library:
    """Uses only the standards."""

    def place(self, array: Any) -> tuple[int, int]:
        """Returns kind and number of its device, as in DLPack."""
        kind, number = array.__dlpack_device__()
        return int(kind), int(number)

    def current_stream(self, array: Any) -> Any:
        """Returns the library's current stream on the array's device; None if unknown."""
        return None

    def entered(self, array: Any, handle: int) -> AbstractContextManager[Any]:
        """Context in which the library uses the stream with that handle; 0 is CUDA's default stream."""
        return nullcontext()

    def lent_here(self, array: Any) -> Any:
        """Returns its DLPack capsule, for work on the library's current stream."""
        return array.__dlpack__(stream=_NO_STREAM)

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str) -> Any:
        space = like.__array_namespace__()
        return space.empty(shape, dtype=getattr(space, dtype), device=like.device)


class _Handle:
    """A stream in CUDA's protocol for Python."""

    def __init__(self, handle: int) -> None:
        self._handle = handle

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._handle


class _CuPy(Library):
    @property
    def _module(self) -> Any:
        return sys.modules["cupy"]

    def current_stream(self, array: Any) -> Any:
        with array.device:
            return self._module.cuda.get_current_stream()

    def entered(self, array: Any, handle: int) -> AbstractContextManager[Any]:
        cuda = self._module.cuda
        stream: AbstractContextManager[Any]
        if hasattr(cuda.Stream, "from_external"):  # CuPy 14
            stream = cuda.Stream.from_external(_Handle(handle))
        else:
            stream = cuda.ExternalStream(handle, array.device.id)
        return stream

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str) -> Any:
        with like.device:
            return self._module.empty(shape, dtype)


class _Torch(Library):
    """Its native functions have less overhead per call than the standard ones, which are written in Python."""

    @property
    def _module(self) -> Any:
        return sys.modules["torch"]

    def place(self, array: Any) -> tuple[int, int]:
        device = array.device
        return (_CUDA, device.index) if device.type == "cuda" else super().place(array)

    def current_stream(self, array: Any) -> Any:
        return self._module.cuda.current_stream(array.device)

    def entered(self, array: Any, handle: int) -> AbstractContextManager[Any]:
        cuda = self._module.cuda
        entered: AbstractContextManager[Any] = cuda.stream(cuda.ExternalStream(handle, array.device))
        return entered

    def lent_here(self, array: Any) -> Any:
        # the standard function rejects tensors that require gradients
        return super().lent_here(array) if array.requires_grad else self._module.utils.dlpack.to_dlpack(array)

    def empty(self, like: Any, shape: tuple[int, ...], dtype: str) -> Any:
        return self._module.empty(shape, dtype=getattr(self._module, dtype), device=like.device)


_STANDARD = Library()
_KNOWN: dict[str, Library] = {"cupy": _CuPy(), "torch": _Torch()}


def library_of(array: Any) -> Library:
    return _KNOWN.get(name_of_library(array), _STANDARD)
