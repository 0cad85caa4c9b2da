"""Optical coherence tomography: reconstructs spectra to volumes and pictures on a CPU or GPU."""
from __future__ import annotations

import atexit
import sys
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import (BadArgument, BadFile, BadSetting, Cancelled, DeviceFailed, Error, MissingFile, OutOfMemory,
                     OutputFailed, Unsupported)
from .reconstructor import Reconstructor
from .scan import Batch, Scan
from .scan import open as open
from .series import LazyVolume, Series, load, load_series
from .simulation import Simulation, Truth, simulate
from .stages import Place, Stages
from .volume import Volume

if TYPE_CHECKING:
    from . import calibrate, cluster, operations
    from ._sections import LiveStats
    from .layers import Surfaces, segment
    from .movies import movie
    from .registration import Registration, register
    from .session import Live, live
    from .vessel_flow import flow

__version__: str = _core.version


def _end() -> None:
    """Run before the interpreter shuts down: a thread that returns to it later would end the process."""
    if _core.is_fork():
        return
    session, pictures = (sys.modules.get(f"{__name__}.{name}") for name in ("session", "pictures"))
    if session is not None:
        session.close_all()
    _core.shut()
    if pictures is not None:
        pictures.forget()


atexit.register(_end)

_LATER = {"calibrate": "calibrate", "cluster": "cluster", "operations": "operations", "movie": "movies",
          "live": "session", "Live": "session", "LiveStats": "session",
          "Surfaces": "layers", "segment": "layers", "Registration": "registration", "register": "registration",
          "flow": "vessel_flow"}


def gpus() -> list[str]:
    """Returns the names of the usable GPUs, in the order of device="cuda:0", "cuda:1" ..."""
    return _core.gpus()


def __getattr__(name: str) -> Any:
    """Less common parts are imported on first use, so that importing the package is fast."""
    if name not in _LATER:
        from .operation import descriptions

        hint = f"; did you mean operations.{name}?" if not name.startswith("_") and name in descriptions() else ""
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    from importlib import import_module

    module = import_module(f"{__name__}.{_LATER[name]}")
    found = module if name == _LATER[name] else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, "open", *(name for name in globals() if name.startswith("__"))})


# Does not contain open, so `from echolux import *` does not hide Python's own.
__all__ = ["BadArgument", "BadFile", "BadSetting", "Batch", "Cancelled", "DeviceFailed",
           "Error", "LazyVolume", "Live", "LiveStats", "MissingFile", "OutOfMemory", "OutputFailed", "Place", "Reconstructor",
           "Registration", "Scan", "Series", "Simulation", "Stages", "Surfaces", "Truth", "Unsupported",
           "Volume", "calibrate", "cluster", "flow", "gpus", "live", "load", "load_series", "movie", "operations",
           "register", "segment", "simulate"]
