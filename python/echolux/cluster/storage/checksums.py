"""CRC-32C (Castagnoli; RFC 3720), which Zarr's shards end with and markers name."""
from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from ...errors import Unsupported


@functools.cache
def _extend() -> Callable[[int, bytes], int]:
    try:
        extend: Callable[[int, bytes], int] = importlib.import_module("google_crc32c").extend
    except ModuleNotFoundError:
        raise Unsupported("is missing", "the Python package google-crc32c", "pip install 'echolux[cluster]'") from None
    return extend


def crc32c(data: Any, crc: int = 0) -> int:
    """Of data; crc: of what came before it."""
    return _extend()(crc, bytes(data) if isinstance(data, memoryview) else data)


def to_hex(crc: int) -> str:
    """As eight hex digits."""
    return f"{crc:08x}"
