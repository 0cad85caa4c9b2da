"""What is complete is known from the output alone: beside the results lies a small marker for each finished part,
which is put last. It names what made them (a hash of settings, input and program version) and their check sums."""
from __future__ import annotations

import functools
import importlib.util
import json
from collections.abc import Callable
from typing import Any

from ..errors import Unsupported
from .store import Store

FOLDER = ".echolux"  # beside the results, so that they hold nothing that readers of Zarr do not know


@functools.cache
def _function() -> Callable[[bytes], int]:
    """zarr-python brings one of the two."""
    for module, name in ("google_crc32c", "value"), ("crc32c", "crc32c"):
        if importlib.util.find_spec(module) is not None:
            found: Callable[[bytes], int] = getattr(importlib.import_module(module), name)
            return found
    raise Unsupported("is missing", "the Python package google-crc32c", "pip install 'echolux[cluster]'")


def crc32c(data: bytes) -> str:
    """CRC-32C (Castagnoli; RFC 3720) as eight hex digits."""
    return f"{_function()(data):08x}"


def _key(name: str, time: int, begin: int) -> str:
    return f"{FOLDER}/{name}/{time}-{begin}.json"


def put(store: Store, name: str, job: str, time: int, begin: int, shards: dict[str, bytes], facts: dict[str, Any]) -> None:
    """`shards`, and when all of them are safe their marker."""
    listed = {}
    for key, data in shards.items():
        store.put(f"{name}/{key}", data)
        listed[key] = {"bytes": len(data), "crc32c": crc32c(data)}
    marker = {"job": job, "shards": listed, **facts}
    store.put(_key(name, time, begin), json.dumps(marker, indent=1).encode() + b"\n")


def read(store: Store, name: str, job: str, time: int, begin: int, *, verify: bool = False) -> dict[str, Any] | None:
    """The marker of a part that this job finished; None: it is to be made. Sizes are always compared; verify: also the
    check sums, which reads all shards."""
    text = store.get(_key(name, time, begin))
    if text is None:
        return None
    try:
        marker: dict[str, Any] = json.loads(text)
        if marker["job"] != job:
            return None
        for key, facts in marker["shards"].items():
            if store.size(f"{name}/{key}") != facts["bytes"]:
                return None
            if verify and crc32c(store.get(f"{name}/{key}") or b"") != facts["crc32c"]:
                return None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return marker
