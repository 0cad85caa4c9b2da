"""Errors as exceptions. Each is an echolux.Error and also the built-in exception that a caller would expect."""
from __future__ import annotations

import errno
import os


class Error(RuntimeError):
    """Error reported by the library.

    code: "bad_argument", "bad_setting", "bad_file", "output", "out_of_memory", "device", "cancelled", "unsupported" or
        "internal"
    what: the problem; where: file, key or argument (may be empty); remedy: how to fix it (may be empty)
    """

    code: str = "internal"

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        named = where.encode("utf-8", "backslashreplace").decode("utf-8")  # a file name may contain any bytes
        super().__init__((f"{named}: " if where else "") + what + (f" ({remedy})" if remedy else ""))
        self.what = what
        self.where = where
        self.remedy = remedy
        if isinstance(self, OSError):
            file = _file_of(what, where)
            is_file = isinstance(self, (MissingFile, OutputFailed)) or os.path.exists(file)
            self.filename = file if file and is_file else None
            self.errno = errno.ENOENT if isinstance(self, MissingFile) else None

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[type[Error], tuple[str, str, str]]:  # to pass errors between processes
        return type(self), (self.what, self.where, self.remedy)


class BadArgument(Error, ValueError, TypeError):
    """An argument has a wrong shape, type, size or device."""

    code = "bad_argument"


class BadSetting(Error, ValueError):
    """An invalid value, key or combination of settings."""

    code = "bad_setting"


class BadFile(Error, OSError):
    """A file is malformed, truncated or of the wrong size."""

    code = "bad_file"


class MissingFile(BadFile, FileNotFoundError):
    """A file does not exist."""


class OutputFailed(Error, OSError):
    """A result could not be written."""

    code = "output"


class OutOfMemory(Error, MemoryError):
    """Not enough memory."""

    code = "out_of_memory"


class DeviceFailed(Error):
    """A compute or graphics device failed or is missing."""

    code = "device"


class Cancelled(Error):
    """The work was stopped."""

    code = "cancelled"


class Unsupported(Error, NotImplementedError):
    """The required part is missing from this build, or cannot work in this process."""

    code = "unsupported"


def require_whole(**values: object) -> None:
    """Checks arguments that must be whole numbers, by name."""
    for name, value in values.items():
        if not hasattr(value, "__index__"):
            raise BadArgument(f"is not a whole number: {value!r}", name)


def require_number(**values: object) -> None:
    """Checks arguments that must be numbers, by name."""
    for name, value in values.items():
        if isinstance(value, str) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
            raise BadArgument(f"is not a number: {value!r}", name)


def require_text(**values: object) -> None:
    """Checks arguments that must be texts, by name."""
    for name, value in values.items():
        if not isinstance(value, str):
            raise BadArgument(f"is not a text: {value!r}", name)


# Terms of the C interface that have other names in Python.
_OURS = {"give `range` LOW:HIGH": "give low and high",
         "give LOW:HIGH": "give a low that is less than high",
         "pass it as an assignment to echolux_scan_open": "give it to echolux.open",
         "echolux_settings_describe lists all keys": "help(scan.recipe) lists those of a section",
         "submit its blocks to a reconstructor": "give its spectra to a Reconstructor",
         "set it to what echolux_measure_noise_floor returns, or set": "reconstruct a block first, which measures it, or set"}

_MISSING = (" does not exist", " cannot be opened", " matches this pattern")  # messages about missing files


def _file_of(what: str, where: str) -> str:
    """Returns the file that an error is about; `where` may be the key that names it."""
    named, says_so, _ = what.partition(_MISSING[0])
    return named if says_so else where


_BY_STATUS = {1: BadArgument, 2: BadSetting, 3: BadFile, 4: OutputFailed, 5: OutOfMemory, 6: DeviceFailed, 7: Cancelled,
              8: Unsupported}


def made(status: int, what: str, where: str, remedy: str) -> Error:
    """Converts a status of the C interface to an exception; called by the extension module."""
    kind: type[Error] = _BY_STATUS.get(status, Error)
    where = where.removeprefix("settings, ").removeprefix("command line, ")
    for theirs, ours in _OURS.items():
        remedy = remedy.replace(theirs, ours)
    if kind is BadFile and any(says in " " + what for says in _MISSING):
        file = _file_of(what, where)
        kind = MissingFile if file and not os.path.exists(file) else BadFile
    return kind(what, where, remedy)
