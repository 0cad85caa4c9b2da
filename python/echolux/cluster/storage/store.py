"""Where results go: a folder, or any address of fsspec (s3://bucket/archive). A file appears whole or not at all, and what
is there outlives a loss of power.

In a folder that takes a temporary name, fsync, a rename, and fsync of the folder. Object stores have no rename and need
none: an upload becomes an object when it is complete. Of several files, neither has a way to make all appear at once; what
belongs together is known to be complete from the marker that is written last (markers.py).
"""
from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import shutil
import socket
import tempfile
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Union

from ...errors import OutputFailed
from .checksums import crc32c

_UNFINISHED = ".unfinished-"
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)  # of exFAT, SMB, many of FUSE


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _make(folder: Path) -> None:
    """As mkdir -p; what it makes outlives a loss of power."""
    if folder.is_dir():
        return
    _make(folder.parent)
    try:
        folder.mkdir()
    except FileExistsError:
        return
    _sync(folder.parent)


class Writing(ABC):
    """A file that is written piece by piece and appears in commit(). Whoever does not commit it discards it."""

    def __init__(self) -> None:
        self.bytes = 0
        self.crc = 0

    def write(self, data: bytes) -> None:
        self._append(data)
        self.bytes += len(data)
        self.crc = crc32c(data, self.crc)

    @abstractmethod
    def _append(self, data: bytes) -> None: ...

    def sync(self) -> None:
        """What was written goes to the disk now: less is left for commit()."""

    @abstractmethod
    def commit(self) -> None: ...

    @abstractmethod
    def discard(self) -> None:
        """Does nothing to a file that was committed."""


class _FolderFile(Writing):
    def __init__(self, path: Path) -> None:
        super().__init__()
        _make(path.parent)
        self._path = path
        self._temporary = path.with_name(f"{_UNFINISHED}{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}")
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
        """The temporary file, whole on the disk."""
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


class _Taken(Writing):
    """A file that somebody else has written, in the same file system."""

    def __init__(self, path: Path, source: Path) -> None:
        super().__init__()
        self._path, self._source = path, source
        for piece in _pieces(source):
            self.write(piece)

    def _append(self, data: bytes) -> None:
        """It is there."""

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
        """It goes with its folder."""


class Folder:
    """A folder of a file system."""

    def __init__(self, address: str | os.PathLike[str]) -> None:
        self.root = Path(address).absolute()
        self.address = str(self.root)

    def local(self, key: str) -> Path | None:
        """Where it lies on this machine, if it does."""
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

    def writing(self, key: str) -> Writing:
        return _FolderFile(self.root / key)

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder for files that taking() puts into their place, or that go with it."""
        above = self.root / ".echolux"
        _make(above)
        with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=above) as folder:
            yield Path(folder)

    def taking(self, key: str, path: Path) -> Writing:
        return _Taken(self.root / key, path)

    def put(self, key: str, data: bytes) -> None:
        _put(self.writing(key), data)

    def put_new(self, key: str, data: bytes) -> bool:
        """Unless there is one, which stays."""
        path = self.root / key
        file = _FolderFile(path)
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
        """It and all below it."""
        path = self.root / key
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def names(self, key: str) -> list[str]:
        """In a folder; those that are unfinished left out."""
        try:
            return sorted(name for name in os.listdir(self.root / key) if not name.startswith(_UNFINISHED))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def sweep(self, key: str) -> None:
        """Removes what killed workers left unfinished below."""
        for path in list((self.root / key).rglob(_UNFINISHED + "*")):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _put_exclusively(path: Path, data: bytes) -> bool:
    """Where there are no links. A process that is killed meanwhile leaves a file that is cut off."""
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


def _pieces(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while piece := file.read(16 << 20):
            yield piece


def _put(file: Writing, data: bytes) -> None:
    with contextlib.ExitStack() as stack:
        stack.callback(file.discard)
        file.write(data)
        file.commit()


class _Upload(Writing):
    """Held in memory until it is whole."""

    def __init__(self, remote: Remote, key: str) -> None:
        super().__init__()
        self._remote, self._key, self._data = remote, key, io.BytesIO()

    def _append(self, data: bytes) -> None:
        self._data.write(data)

    def commit(self) -> None:
        self._remote.put(self._key, self._data.getvalue())

    def discard(self) -> None:
        self._data = io.BytesIO()


class Remote:
    """An address of fsspec. Object stores put whole objects; of two that put_new() at once S3 takes one, and others are
    told apart by reading again."""

    def __init__(self, address: str) -> None:
        fsspec: Any = importlib.import_module("fsspec")
        self.address = address
        try:
            self._files, root = fsspec.core.url_to_fs(address)
        except ImportError as error:
            raise OutputFailed(f"needs another package: {error}", address, "pip install it: s3fs for s3://") from None
        except (ValueError, OSError) as error:
            raise OutputFailed(f"cannot be opened: {error}", address, "give a folder or an address of fsspec") from None
        self._root = str(root).rstrip("/")

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}".rstrip("/")

    def local(self, key: str) -> Path | None:
        return Path(self._path(key)).resolve() if "file" in _protocols(self._files) else None

    def get(self, key: str) -> bytes | None:
        try:
            return bytes(self._files.cat_file(self._path(key)))
        except (FileNotFoundError, IsADirectoryError):
            return None

    def size(self, key: str) -> int | None:
        self._files.invalidate_cache()
        try:
            return int(self._files.info(self._path(key))["size"])
        except FileNotFoundError:
            return None

    def writing(self, key: str) -> Writing:
        return _Upload(self, key)

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(prefix="echolux-") as folder:
            yield Path(folder)

    def taking(self, key: str, path: Path) -> Writing:
        file = self.writing(key)
        for piece in _pieces(path):
            file.write(piece)
        return file

    def put(self, key: str, data: bytes) -> None:
        path = self._path(key)
        if "file" in _protocols(self._files):
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._files.pipe_file(path, data)

    def put_new(self, key: str, data: bytes) -> bool:
        path = self._path(key)
        if "file" in _protocols(self._files):
            return Folder(os.path.dirname(path)).put_new(os.path.basename(path), data)
        if self.get(key) is not None:
            return False
        try:
            self._files.pipe_file(path, data, mode="create")  # S3: If-None-Match
        except FileExistsError:
            return False
        return self.get(key) == data

    def remove(self, key: str) -> None:
        self._files.invalidate_cache()
        if self._files.exists(self._path(key)):
            self._files.rm(self._path(key), recursive=True)

    def names(self, key: str) -> list[str]:
        self._files.invalidate_cache()
        try:
            return sorted(str(path).rstrip("/").rpartition("/")[2] for path in self._files.ls(self._path(key), detail=False))
        except FileNotFoundError:
            return []

    def sweep(self, key: str) -> None:
        """An object store has nothing unfinished."""


def _protocols(files: Any) -> tuple[str, ...]:
    protocol = files.protocol
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)


Store = Union[Folder, Remote]


def opened(address: str | os.PathLike[str]) -> Store:
    """A folder by its path, all else by its address."""
    text = os.fspath(address)
    return Remote(text) if "://" in text or "::" in text else Folder(text)
