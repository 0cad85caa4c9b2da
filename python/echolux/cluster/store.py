"""Where results go: a folder, or any address of fsspec (s3://bucket/archive). An object appears whole or not at all, and
what has been put outlives a loss of power."""
from __future__ import annotations

import importlib
import os
import shutil
import socket
import uuid
from pathlib import Path
from typing import Any, Union

_UNFINISHED = ".unfinished-"


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


class Folder:
    """A folder of a file system."""

    def __init__(self, address: str | os.PathLike[str]) -> None:
        self.root = Path(address).absolute()
        self.address = str(self.root)

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

    def put(self, key: str, data: bytes) -> None:
        path = self.root / key
        temporary = self._written(path, data)
        try:
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync(path.parent)

    def put_new(self, key: str, data: bytes) -> bool:
        """Unless there is one, which stays."""
        path = self.root / key
        temporary = self._written(path, data)
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        finally:
            temporary.unlink(missing_ok=True)
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
        for path in (self.root / key).rglob(_UNFINISHED + "*"):
            path.unlink(missing_ok=True)

    @staticmethod
    def _written(path: Path, data: bytes) -> Path:
        _make(path.parent)
        temporary = path.with_name(f"{_UNFINISHED}{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}")
        try:
            with open(temporary, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        return temporary


class Remote:
    """An address of fsspec. Object stores put whole objects; two that put_new() at once are told apart by reading again."""

    def __init__(self, address: str) -> None:
        fsspec: Any = importlib.import_module("fsspec")
        self.address = address
        self._files, root = fsspec.core.url_to_fs(address)
        self._root = str(root).rstrip("/")

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}".rstrip("/")

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

    def put(self, key: str, data: bytes) -> None:
        path = self._path(key)
        if "file" in _protocols(self._files):
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._files.pipe_file(path, data)

    def put_new(self, key: str, data: bytes) -> bool:
        if self.get(key) is not None:
            return False
        self.put(key, data)
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
