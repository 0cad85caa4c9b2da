"""Optical coherence tomography: spectra to volumes and pictures, on a CPU or a GPU."""
from __future__ import annotations

from . import _core
from .errors import (BadArgument, BadFile, BadSetting, Cancelled, DeviceFailed, Error, MissingFile, OutOfMemory,
                     OutputFailed, Unsupported)
from .reconstructor import Reconstructor
from .scan import Scan, open
from .volume import Volume, load

__version__: str = _core.version

__all__ = ["BadArgument", "BadFile", "BadSetting", "Cancelled", "DeviceFailed", "Error", "MissingFile", "OutOfMemory",
           "OutputFailed", "Reconstructor", "Scan", "Unsupported", "Volume", "load", "open"]
