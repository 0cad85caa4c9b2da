"""What goes wrong, as exceptions: each is an echolux.Error, and also the exception of Python that a caller would expect."""
from __future__ import annotations

import os


class Error(RuntimeError):
    """What the library reports.

    code: "bad_argument", "bad_setting", "bad_file", "output", "out_of_memory", "device", "cancelled", "unsupported" or
        "internal"
    what: what is wrong; where: the file, key or argument (may be empty); remedy: what to do about it (may be empty)
    """

    code: str = "internal"

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        super().__init__((f"{where}: " if where else "") + what + (f" ({remedy})" if remedy else ""))
        self.what = what
        self.where = where
        self.remedy = remedy

    def __reduce__(self) -> tuple[type[Error], tuple[str, str, str]]:  # so that it passes between processes
        return type(self), (self.what, self.where, self.remedy)


class BadArgument(Error, ValueError, TypeError):
    """An argument of a wrong shape, type, size or device."""

    code = "bad_argument"


class BadSetting(Error, ValueError):
    """A value, a key or a combination of settings that cannot work."""

    code = "bad_setting"


class BadFile(Error, OSError):
    """A file that is malformed, truncated or of the wrong size."""

    code = "bad_file"


class MissingFile(BadFile, FileNotFoundError):
    """A file that is not there."""


class OutputFailed(Error, OSError):
    """A result could not be written."""

    code = "output"


class OutOfMemory(Error, MemoryError):
    """The work needs more memory than there is."""

    code = "out_of_memory"


class DeviceFailed(Error):
    """A compute or graphics device failed or is missing."""

    code = "device"


class Cancelled(Error):
    """Work that was stopped."""

    code = "cancelled"


class Unsupported(Error, NotImplementedError):
    """This build lacks the part that is needed, or this process cannot work."""

    code = "unsupported"


# The C interface's words for what has another name here.
_OURS = {"pass it as an assignment to echolux_scan_open": "give it to echolux.open",
         "echolux_settings_describe lists all keys": "help(scan.recipe) lists those of a section",
         "submit its blocks to a reconstructor": "give its spectra to a Reconstructor",
         "set it to what echolux_measure_noise_floor returns, or set": "reconstruct a block first, which measures it, or set"}

_BY_STATUS = {1: BadArgument, 2: BadSetting, 3: BadFile, 4: OutputFailed, 5: OutOfMemory, 6: DeviceFailed, 7: Cancelled,
              8: Unsupported}


def made(status: int, what: str, where: str, remedy: str) -> Error:
    """The exception of a status of the C interface; called by the extension module."""
    kind: type[Error] = _BY_STATUS.get(status, Error)
    where = where.removeprefix("settings, ")
    for theirs, ours in _OURS.items():
        remedy = remedy.replace(theirs, ours)
    if kind is BadFile and where and not os.path.exists(where):
        kind = MissingFile
    return kind(what, where, remedy)
