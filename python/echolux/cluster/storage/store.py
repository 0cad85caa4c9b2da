"""Storage of results: a folder or any fsspec address. Neither can make several files appear at once. The marker that is
written last (markers.py) determines which files belong together and are complete.
"""
from __future__ import annotations

import os
from typing import Union

from .folder import Folder
from .remote import Remote

Store = Union[Folder, Remote]


def open_store(address: str | os.PathLike[str]) -> Store:
    """Opens a folder by its path, anything else by its address. Raises OutputFailed."""
    text = os.fspath(address)
    return Remote(text) if "://" in text or "::" in text else Folder(text)
