"""Where results go: a folder, or any address of fsspec. Neither can make several files appear at once; which of them belong
together, and are complete, is known from the marker that is written last (markers.py)."""
from __future__ import annotations

import os
from typing import Union

from .folder import Folder
from .remote import Remote

Store = Union[Folder, Remote]


def open_store(address: str | os.PathLike[str]) -> Store:
    """A folder by its path, all else by its address. Raises OutputFailed."""
    text = os.fspath(address)
    return Remote(text) if "://" in text or "::" in text else Folder(text)
