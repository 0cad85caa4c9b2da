"""Storage of results: a folder or any fsspec address. Neither can make several files appear at once. The marker that is
written last (results.py) determines which files belong together and are complete.
"""
from __future__ import annotations

import contextlib
import errno
import functools
import importlib
import io
import os
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Union

from ..errors import OutputFailed, Unsupported

# ---- CRC-32C (Castagnoli; RFC 3720), used at the end of Zarr shards and in markers

@functools.cache
def _extend() -> Callable[[int, bytes], int]:
    try:
        extend: Callable[[int, bytes], int] = importlib.import_module("google_crc32c").extend
    except ModuleNotFoundError:
        raise Unsupported("is missing", "the Python package google-crc32c", "pip install 'echolux[cluster]'") from None
    return extend


def crc32c(data: Any, crc: int = 0) -> int:
    """CRC of data; crc: that of the preceding data."""
    return _extend()(crc, bytes(data) if isinstance(data, memoryview) else data)


# ---- scratch folders: their names identify the writer, so that those of killed workers can be removed

UNFINISHED = ".unfinished-"
_OLD_S = 3600.0  # age without changes after which files of another host count as abandoned


def _prefix() -> str:
    """Prefix of this process."""
    return f"{UNFINISHED}{socket.gethostname()}-{os.getpid()}-"


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # a process of another user
        pass
    return True


def _is_abandoned(path: Path) -> bool:
    found = re.fullmatch(re.escape(UNFINISHED) + r"(.*)-(\d+)-[^-]*", path.name)
    if found is None:
        return True
    if found[1] == socket.gethostname():
        return not _is_alive(int(found[2]))
    try:
        return time.time() - max(one.stat().st_mtime for one in (path, *path.rglob("*"))) > _OLD_S
    except FileNotFoundError:  # its writer is at work
        return False


def _remove_unfinished(paths: Iterable[Path], *, in_use_too: bool = False) -> None:
    for path in paths:
        if in_use_too or _is_abandoned(path):
            shutil.rmtree(path, ignore_errors=True)


# ---- files

class PendingFile:
    """A file in a scratch folder, with its size and checksum. path: None: all data is discarded; is_complete: another
    program has written the file.
    """

    def __init__(self, path: Path | None, is_complete: bool = False) -> None:
        self.path = path
        self.bytes = 0
        self.crc = 0
        self._file = None if path is None else io.FileIO(path, "r" if is_complete else "x")
        if is_complete and self._file is not None:
            with self._file:
                while piece := self._file.read(16 << 20):
                    self._count(piece)

    def write(self, data: bytes) -> None:
        left = memoryview(data)
        while self._file is not None and left:
            left = left[self._file.write(left):]
        self._count(data)

    def _count(self, data: bytes) -> None:
        self.bytes += len(data)
        self.crc = crc32c(data, self.crc)

    def sync(self) -> None:
        """Starts writing to disk now, so that less remains for finish()."""
        if self._file is not None:
            os.fdatasync(self._file)

    def finish(self) -> Path:
        """Returns its path when it is completely on disk."""
        assert self.path is not None
        self.close()
        with open(self.path, "rb") as file:
            os.fsync(file)
        return self.path

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


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


# ---- stores

_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)  # from exFAT, SMB and many FUSE file systems


class Folder:
    """A folder of a file system. Files are written in a scratch folder, synced and renamed; then their folder is synced.
    They therefore appear complete and survive a power failure.
    """

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

    @contextlib.contextmanager
    def scratch(self, key: str) -> Iterator[Path]:
        """Temporary folder in another, for files to be moved. sweep() removes those of killed workers."""
        _make(self.root / key)
        with tempfile.TemporaryDirectory(prefix=_prefix(), dir=self.root / key, ignore_cleanup_errors=True) as folder:
            yield Path(folder)

    def move(self, file: PendingFile, key: str) -> None:
        """Makes a file from scratch() appear."""
        _make((self.root / key).parent)
        os.replace(file.finish(), self.root / key)
        _sync((self.root / key).parent)

    @contextlib.contextmanager
    def _pending(self, key: str, data: bytes) -> Iterator[PendingFile]:
        with self.scratch(os.path.dirname(key)) as folder, contextlib.closing(PendingFile(folder / "file")) as file:
            file.write(data)
            yield file

    def put(self, key: str, data: bytes) -> None:
        with self._pending(key, data) as file:
            self.move(file, key)

    def put_new(self, key: str, data: bytes) -> bool:
        """Writes the file unless it exists."""
        path = self.root / key
        with self._pending(key, data) as file, contextlib.suppress(FileExistsError):
            try:
                os.link(file.finish(), path)
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                with contextlib.closing(PendingFile(path)) as whole:  # a process that is killed here leaves a truncated file
                    whole.write(data)
                    whole.finish()
            _sync(path.parent)
            return True
        return False

    def remove(self, key: str) -> None:
        """Removes it, including everything below."""
        path = self.root / key
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def names(self, key: str) -> list[str]:
        """Names in a folder."""
        try:
            return sorted(os.listdir(self.root / key))
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
                    if one.name.startswith(UNFINISHED):
                        continue
                    if one.is_dir():
                        folders.append(f"{above}/{one.name}")
                    else:
                        found[f"{above}/{one.name}"] = one.stat().st_size
        return found

    def sweep(self, key: str, *, in_use_too: bool = False) -> None:
        """Removes scratch folders of killed workers below a folder; in_use_too: also those in use."""
        _remove_unfinished(list((self.root / key).rglob(UNFINISHED + "*")), in_use_too=in_use_too)


class Remote:
    """An fsspec address (s3://bucket/archive). Object stores have no rename and do not need it: an upload becomes an
    object only when it is complete. Of two concurrent put_new(), S3 accepts one; on other stores, reading again shows
    which one won.
    """

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
        return None

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

    @contextlib.contextmanager
    def scratch(self, _: str) -> Iterator[Path]:
        _remove_unfinished(Path(tempfile.gettempdir()).glob(UNFINISHED + "*"))
        with tempfile.TemporaryDirectory(prefix=_prefix()) as folder:
            yield Path(folder)

    def move(self, file: PendingFile, key: str) -> None:
        self.put(key, file.finish().read_bytes())

    def put(self, key: str, data: bytes) -> None:
        self._files.pipe_file(self._path(key), data)

    def put_new(self, key: str, data: bytes) -> bool:
        if self.get(key) is not None:
            return False
        try:
            self._files.pipe_file(self._path(key), data, mode="create")  # S3: If-None-Match
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

    def sizes(self, key: str) -> dict[str, int]:
        """Uses one listing, which object stores return in pages of a thousand."""
        self._files.invalidate_cache()
        try:
            found = self._files.find(self._path(key), detail=True)
        except FileNotFoundError:
            return {}
        first = len(self._path(""))
        return {str(path)[first:].lstrip("/"): int(facts["size"]) for path, facts in found.items()}

    def sweep(self, key: str, *, in_use_too: bool = False) -> None:
        """An object store has no scratch folders."""


Store = Union[Folder, Remote]


def open_store(address: str | os.PathLike[str]) -> Store:
    """Opens a folder by its path, anything else by its address. Raises OutputFailed."""
    text = os.fspath(address)
    if text.startswith(("file://", "local://")):
        return Folder(text.partition("://")[2])
    return Remote(text) if "://" in text or "::" in text else Folder(text)
