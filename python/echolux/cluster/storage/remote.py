"""Results at an fsspec address (s3://bucket/archive). Object stores have no rename and do not need it: an upload
becomes an object only when it is complete.
"""
from __future__ import annotations

import contextlib
import importlib
import io
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...errors import OutputFailed
from . import leftovers
from .folder import Folder
from .pending_file import PendingFile, pieces


class _Upload(PendingFile):
    """Held in memory until it is complete."""

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
    """An fsspec address. Object stores write whole objects. Of two concurrent put_new(), S3 accepts one; on other
    stores, reading again shows which one won.
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

    def create(self, key: str) -> PendingFile:
        return _Upload(self, key)

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Path]:
        leftovers.remove(Path(tempfile.gettempdir()).glob(leftovers.PREFIX + "*"))
        with tempfile.TemporaryDirectory(prefix=leftovers.prefix()) as folder:
            yield Path(folder)

    def adopt(self, key: str, path: Path) -> PendingFile:
        file = self.create(key)
        for piece in pieces(path):
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

    def sizes(self, key: str) -> dict[str, int]:
        """Sizes of all files below a folder, by key, from one listing. Object stores return it in pages of a thousand.
        """
        self._files.invalidate_cache()
        try:
            found = self._files.find(self._path(key), detail=True)
        except FileNotFoundError:
            return {}
        first = len(self._path(""))
        return {str(path)[first:].lstrip("/"): int(facts["size"]) for path, facts in found.items()}

    def sweep(self, key: str, *, in_use_too: bool = False) -> None:
        """An object store has no unfinished files."""


def _protocols(files: Any) -> tuple[str, ...]:
    protocol = files.protocol
    return (protocol,) if isinstance(protocol, str) else tuple(protocol)
