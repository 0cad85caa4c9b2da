"""A folder of results. A file is written under a temporary name, synced and renamed, and then its folder is synced. It
therefore appears complete and survives a power failure.
"""
from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from . import leftovers
from .pending_file import PendingFile, pieces, put_at_once

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)  # from exFAT, SMB and many FUSE file systems


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _make(folder: Path) -> None:
    """Like mkdir -p. New folders survive a power failure."""
    if folder.is_dir():
        return
    _make(folder.parent)
    try:
        folder.mkdir()
    except FileExistsError:
        return
    _sync(folder.parent)


class FolderFile(PendingFile):
    def __init__(self, path: Path) -> None:
        super().__init__()
        _make(path.parent)
        self._path = path
        self._temporary = path.with_name(leftovers.name())
        self._file: int | None = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)

    def _append(self, data: bytes) -> None:
        assert self._file is not None
        left = memoryview(data)
        while left:
            left = left[os.write(self._file, left):]

    def sync(self) -> None:
        assert self._file is not None
        os.fdatasync(self._file)

    def finish(self) -> Path:
        """Returns the temporary file, completely on disk."""
        assert self._file is not None
        os.fsync(self._file)
        self._close()
        return self._temporary

    def commit(self) -> None:
        os.replace(self.finish(), self._path)
        _sync(self._path.parent)

    def discard(self) -> None:
        self._close()
        self._temporary.unlink(missing_ok=True)

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            os.close(file)


class _AdoptedFile(PendingFile):
    """A file written by another program, in the same file system."""

    def __init__(self, path: Path, source: Path) -> None:
        super().__init__()
        self._path, self._source = path, source
        for piece in pieces(source):
            self.write(piece)

    def _append(self, data: bytes) -> None:
        """Does nothing: `source` contains the data already."""

    def commit(self) -> None:
        file = os.open(self._source, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
        _make(self._path.parent)
        os.replace(self._source, self._path)
        _sync(self._path.parent)

    def discard(self) -> None:
        """Does nothing: `source` is removed with its temporary folder."""


class Folder:
    """A folder of a file system."""

    def __init__(self, address: str | os.PathLike[str]) -> None:
        self.root = Path(address).absolute()
        self.address = str(self.root)

    def local(self, key: str) -> Path | None:
        """Path on this machine, if there is one."""
        return (self.root / key).resolve()

    def get(self, key: str) -> bytes | None:
        try:
            return (self.root / key).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def size(self, key: str) -> int | None:
        try:
            return (self.root / key).stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            return None

    def create(self, key: str) -> PendingFile:
        return FolderFile(self.root / key)

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """Temporary folder for files that adopt() moves to their place. The folder is removed with the other files."""
        above = self.root / ".echolux"
        _make(above)
        with tempfile.TemporaryDirectory(prefix=leftovers.prefix(), dir=above) as folder:
            yield Path(folder)

    def adopt(self, key: str, path: Path) -> PendingFile:
        return _AdoptedFile(self.root / key, path)

    def put(self, key: str, data: bytes) -> None:
        put_at_once(self.create(key), data)

    def put_new(self, key: str, data: bytes) -> bool:
        """Writes the file unless it exists."""
        path = self.root / key
        file = FolderFile(path)
        try:
            file.write(data)
            os.link(file.finish(), path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return _put_exclusively(path, data)
        finally:
            file.discard()
        _sync(path.parent)
        return True

    def remove(self, key: str) -> None:
        """Removes it, including everything below."""
        path = self.root / key
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def names(self, key: str) -> list[str]:
        """Names in a folder, without unfinished files."""
        try:
            return sorted(name for name in os.listdir(self.root / key) if not name.startswith(leftovers.PREFIX))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def sizes(self, key: str) -> dict[str, int]:
        """Sizes of all files below a folder, by key."""
        found: dict[str, int] = {}
        folders = [key]
        while folders:
            above = folders.pop()
            with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(self.root / above) as entries:
                for one in entries:
                    if one.is_dir():
                        folders.append(f"{above}/{one.name}")
                    elif not one.name.startswith(leftovers.PREFIX):
                        found[f"{above}/{one.name}"] = one.stat().st_size
        return found

    def sweep(self, key: str, *, in_use_too: bool = False) -> None:
        """Removes unfinished files of killed workers below a folder; in_use_too: also files that others are writing."""
        leftovers.remove(list((self.root / key).rglob(leftovers.PREFIX + "*")), in_use_too=in_use_too)


def _put_exclusively(path: Path, data: bytes) -> bool:
    """For file systems without hard links. A process that is killed during the call leaves a truncated file."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        return False
    with os.fdopen(file, "wb") as written:
        written.write(data)
        written.flush()
        os.fsync(file)
    _sync(path.parent)
    return True
