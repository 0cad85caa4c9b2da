"""Optical coherence tomography: spectra to volumes and pictures, on a CPU or a GPU."""
from __future__ import annotations

from . import _core, calibrate
from .errors import (BadArgument, BadFile, BadSetting, Cancelled, DeviceFailed, Error, MissingFile, OutOfMemory,
                     OutputFailed, Unsupported)
from .reconstructor import Reconstructor
from .live import Live, LiveStats, Recorded, live
from .scan import Scan, open
from .series import LazyVolume, Series, load, load_series
from .simulation import Simulation, Truth, simulate
from .stages import Place, Stages
from .validation import Check, Validation, validate
from .volume import Volume

__version__: str = _core.version

__all__ = ["BadArgument", "BadFile", "BadSetting", "Cancelled", "Check", "DeviceFailed", "Error", "LazyVolume", "Live",
           "LiveStats", "MissingFile", "OutOfMemory", "OutputFailed", "Place", "Reconstructor", "Recorded", "Scan", "Series",
           "Simulation", "Stages", "Truth", "Unsupported", "Validation", "Volume", "calibrate", "live", "load", "load_series",
           "open", "simulate", "validate"]
