"""CRC-32C (Castagnoli; RFC 3720), used at the end of Zarr shards and in markers."""
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
    """CRC of data; crc: that of the preceding data."""
    return _extend()(crc, bytes(data) if isinstance(data, memoryview) else data)


def to_hex(crc: int) -> str:
    """Eight hex digits."""
    return f"{crc:08x}"
