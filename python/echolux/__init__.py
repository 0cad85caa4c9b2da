"""Optical coherence tomography: spectra to volumes and pictures, on a CPU or a GPU."""
from __future__ import annotations

import atexit

from . import _core
from .errors import (BadArgument, BadFile, BadSetting, Cancelled, DeviceFailed, Error, MissingFile, OutOfMemory,
                     OutputFailed, Unsupported)
from .reconstructor import Reconstructor
from .scan import Scan, open
from .volume import Series, Volume, load


atexit.register(_core.wait_for_workers)  # what an interrupted call left


def gpus() -> list[str]:
    """Names of the GPUs that can be used, in the order of device="cuda:0", "cuda:1" ..."""
    return _core.gpus()


__version__: str = _core.version

__all__ = ["BadArgument", "BadFile", "BadSetting", "Cancelled", "DeviceFailed", "Error", "MissingFile", "OutOfMemory",
           "OutputFailed", "Reconstructor", "Scan", "Series", "Unsupported",
           "Volume", "gpus", "load", "open"]
