"""What goes wrong, as exceptions: each is an echolux.Error, and also the exception of Python that a caller would expect."""
from __future__ import annotations

import errno
import os


class Error(RuntimeError):
    """What the library reports.

    code: "bad_argument", "bad_setting", "bad_file", "output", "out_of_memory", "device", "cancelled", "unsupported" or
        "internal"
    what: what is wrong; where: the file, key or argument (may be empty); remedy: what to do about it (may be empty)
    """

    code: str = "internal"

    def __init__(self, what: str, where: str = "", remedy: str = "") -> None:
        named = where.encode("utf-8", "backslashreplace").decode("utf-8")  # a file's name may be of any bytes
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


def require_whole(**values: object) -> None:
    """Arguments that are whole numbers, by name."""
    for name, value in values.items():
        if not hasattr(value, "__index__"):
            raise BadArgument(f"is not a whole number: {value!r}", name)


def require_number(**values: object) -> None:
    """Arguments that are numbers, by name."""
    for name, value in values.items():
        if isinstance(value, str) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
            raise BadArgument(f"is not a number: {value!r}", name)


def require_text(**values: object) -> None:
    """Arguments that are texts, by name."""
    for name, value in values.items():
        if not isinstance(value, str):
            raise BadArgument(f"is not a text: {value!r}", name)


# The C interface's words for what has another name here.
_OURS = {"give `range` LOW:HIGH": "give low and high",
         "give LOW:HIGH": "give a low that is less than high",
         "pass it as an assignment to echolux_scan_open": "give it to echolux.open",
         "echolux_settings_describe lists all keys": "help(scan.recipe) lists those of a section",
         "submit its blocks to a reconstructor": "give its spectra to a Reconstructor",
         "set it to what echolux_measure_noise_floor returns, or set": "reconstruct a block first, which measures it, or set"}

_MISSING = (" does not exist", " cannot be opened", " matches this pattern")  # how that is said of a file


def _file_of(what: str, where: str) -> str:
    """The file that an error is about: `where` may also be the key that names it."""
    named, says_so, _ = what.partition(_MISSING[0])
    return named if says_so else where


_BY_STATUS = {1: BadArgument, 2: BadSetting, 3: BadFile, 4: OutputFailed, 5: OutOfMemory, 6: DeviceFailed, 7: Cancelled,
              8: Unsupported}


def made(status: int, what: str, where: str, remedy: str) -> Error:
    """The exception of a status of the C interface; called by the extension module."""
    kind: type[Error] = _BY_STATUS.get(status, Error)
    where = where.removeprefix("settings, ").removeprefix("command line, ")
    for theirs, ours in _OURS.items():
        remedy = remedy.replace(theirs, ours)
    if kind is BadFile and any(says in " " + what for says in _MISSING):
        file = _file_of(what, where)
        kind = MissingFile if file and not os.path.exists(file) else BadFile
    return kind(what, where, remedy)
