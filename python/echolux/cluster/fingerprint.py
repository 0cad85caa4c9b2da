"""Fingerprints of the input of a result: files by name, size and modification time. Results of changed inputs are not
reused.
"""
from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import _core
from ..errors import BadFile
from ..scan import Scan

Files = tuple[tuple[str, int, int], ...]  # name, bytes, modification time in ns

FORMAT = 4  # version of the output; markers of other versions are ignored
_TEXT = 3  # kind of a setting
_HEADERS = (".nhdr", ".mhd", ".hdr", ".img")  # headers whose voxels are in another file with the same stem


def open_scan(path: str, settings: tuple[str, ...] = ()) -> Scan:
    return Scan(_core.Scan.open(path, list(settings)))


def _facts(paths: Any) -> Files:
    stats = [(str(one), os.stat(one)) for one in sorted(paths)]
    return tuple((name, one.st_size, one.st_mtime_ns) for name, one in stats)


def scan_inputs(path: str, scan: Scan) -> Files:
    """The scan's file, its spectra, and its calibration files."""
    settings = scan._core.settings()
    keys = [one.key for one in settings.all() if one.kind == _TEXT and not one.choices
            and (one.key.startswith("calibration.") or one.key in ("scan.file", "recording.index"))]
    named = {Path(path).parent / settings.text(key) for key in keys if settings.text(key)}
    return _facts({Path(path), *(file for file in named if file.exists())})


def file_inputs(path: str) -> Files:
    """A scan, a volume with its voxels, or all files of a folder."""
    if os.path.isdir(path):
        return _facts(os.path.join(folder, name) for folder, _, files in os.walk(path) for name in files)
    if path.endswith(".toml"):
        return scan_inputs(path, open_scan(path))
    if path.lower().endswith(_HEADERS):
        return _facts(set(Path(path).parent.glob(Path(path).stem + ".*")))
    return _facts([path])


def calibration_hashes(scan: Scan) -> dict[str, str]:
    """Hashes of its calibration arrays."""
    return {name: hashlib.sha256(scan.calibration[name].tobytes()).hexdigest() for name in scan.calibration}


def protocol_key(scan: Scan, device: str) -> str:
    """Covers everything except the spectra. Scans with the same key can share a plan and take the same time."""
    settings = [line for line in scan.toml(with_defaults=True).splitlines() if not line.startswith("file =")]
    return json.dumps([device, settings, calibration_hashes(scan)])


def require_unchanged(files: Files) -> None:
    for name, size, changed in files:
        try:
            now = os.stat(name)
        except FileNotFoundError:
            raise BadFile("is no longer there", name) from None
        if (now.st_size, now.st_mtime_ns) != (size, changed):
            raise BadFile("has changed since the job began", name, "start the job again")


def hash_of(*facts: Any) -> str:
    """Hash of everything that determines the bytes of a result, and of the program version."""
    return hashlib.sha256(json.dumps([FORMAT, _core.version, *facts]).encode()).hexdigest()[:32]


def function_token(function: Callable[[Any], Any]) -> str:
    """Identifies a function by its code as far as possible, so that a changed function gets a new token."""
    import inspect

    from dask.base import tokenize

    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        source = ""
    return str(tokenize(function, source))
