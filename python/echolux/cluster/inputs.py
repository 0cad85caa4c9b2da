"""Inputs of jobs: lists of scans and volumes (paths, patterns, or a table with a scan and its settings per row), and their
fingerprints. Results of changed inputs are not reused.
"""
from __future__ import annotations

import csv
import glob
import hashlib
import importlib
import io
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

from .. import _core
from ..errors import BadArgument, BadFile, MissingFile
from ..scan import Scan
from ..settings import spelled

Scans = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]
Files = tuple[tuple[str, int, int], ...]  # name, bytes, modification time in ns

_PATTERN = set("*?[")
_ENDINGS = (".ome.zarr", ".ome.tif", ".ome.tiff", ".nii.gz")  # double extensions
_HEADERS = (".nhdr", ".mhd", ".hdr", ".img")  # headers whose voxels are in another file with the same stem
_FORMAT = 4  # version of the output; markers of other versions are ignored
_TEXT = 3  # kind of a setting


# ---- lists

@dataclass(frozen=True)
class ScanFile:
    """A scan to be reconstructed, or a volume."""

    path: str  # absolute
    name: str  # name of its result below the output, without extension
    settings: tuple[str, ...] = field(default=())  # "recipe.window=hann", from its row


def _rows(table: Path) -> list[dict[str, Any]]:
    if table.suffix.lower() == ".csv":
        with open(table, newline="", encoding="utf-8-sig") as file:
            return [dict(row) for row in csv.DictReader(file)]
    try:
        pandas: Any = importlib.import_module("pandas")
    except ImportError:
        raise BadArgument("needs pandas and pyarrow to be read", str(table), "pip install pandas pyarrow, or give CSV") from None
    rows: list[dict[str, Any]] = pandas.read_parquet(table).to_dict("records")
    return rows


def _of_table(table: Path) -> list[ScanFile]:
    """Names are empty if not given. Empty cells leave a setting unchanged."""
    if not table.exists():
        raise MissingFile("there is no such file", str(table))
    found = []
    for number, row in enumerate(_rows(table), 1):
        where = f"{table}, row {number}"
        if not row.get("scan"):
            raise BadArgument('has no scan: the column "scan" names the file', where)
        settings = []
        for key, value in row.items():
            is_empty = value is None or value == "" or value != value
            if key in ("scan", "name") or is_empty:
                continue
            if not key or "." not in key:
                raise BadArgument(f'has a column "{key}"', where, "name columns scan, name, or as settings: recipe.window")
            settings.append(f"{key}={spelled(value)}")
        found.append(ScanFile(str(table.parent / str(row["scan"])), str(row.get("name") or ""), tuple(settings)))
    return found


def _of_path(path: str) -> list[ScanFile]:
    if Path(path).suffix.lower() in (".csv", ".parquet"):
        return _of_table(Path(path))
    if not _PATTERN & set(path) or os.path.exists(path):
        return [ScanFile(path, "")]
    matches = sorted(glob.glob(path, recursive=True))
    if not matches:
        raise MissingFile("matches no file", path)
    return [ScanFile(match, "") for match in matches]


def _stem(path: str) -> str:
    ending = next((one for one in _ENDINGS if path.lower().endswith(one)), os.path.splitext(path)[1])
    return path[:len(path) - len(ending)]


def list_scans(scans: Scans, *, must_differ: bool = True) -> list[ScanFile]:
    """Returns all scans in order. Names that are not given are paths relative to the common folder, without extension.
    Raises BadArgument if two results would have the same name (and must differ), MissingFile for a pattern without a
    match. Whether each scan can be read is checked later.
    """
    given = [scans] if isinstance(scans, (str, os.PathLike)) else list(scans)
    rows = [row for one in given for row in _of_path(os.fspath(one))]
    if not rows:
        raise BadArgument("names no scan", "scans")
    paths = [os.path.abspath(row.path) for row in rows]
    above = os.path.commonpath([os.path.dirname(path) for path in paths])
    names = [row.name or os.path.relpath(_stem(path), above) for row, path in zip(rows, paths)]
    seen: dict[str, str] = {}
    for path, name in zip(paths, names):
        if name.startswith(("/", ".")) or ".." in name.split("/"):
            raise BadArgument(f'cannot name a result "{name}"', path, "give a name below the output")
        if name in seen and must_differ:
            raise BadArgument(f'and {seen[name]} would both be written as "{name}"', path,
                              "name them in a table: columns scan and name")
        seen[name] = path
    return [ScanFile(path, name, row.settings) for path, name, row in zip(paths, names, rows)]


def write_table(rows: list[tuple[ScanFile, dict[str, float]]]) -> bytes:
    """Writes settings of scans as a table: CSV with the columns scan, name, and one per setting."""
    keys = sorted({key for _, settings in rows for key in settings})
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["scan", "name", *keys])
    for file, settings in rows:
        table.writerow([file.path, file.name, *(repr(settings[key]) if key in settings else "" for key in keys)])
    return text.getvalue().encode()


# ---- fingerprints: files by name, size and modification time

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
    return hashlib.sha256(json.dumps([_FORMAT, _core.version, *facts]).encode()).hexdigest()[:32]


def _calibration_hashes(scan: Scan) -> dict[str, str]:
    return {name: hashlib.sha256(scan.calibration[name].tobytes()).hexdigest() for name in scan.calibration}


def scan_fingerprint(scan: Scan, inputs: Files) -> str:
    return hash_of("scan", scan.toml(with_defaults=True), _calibration_hashes(scan),
                   [(os.path.basename(name), size, changed) for name, size, changed in inputs])


def protocol_key(scan: Scan, device: str) -> str:
    """Covers everything except the spectra. Scans with the same key can share a plan and take the same time."""
    settings = [line for line in scan.toml(with_defaults=True).splitlines() if not line.startswith("file =")]
    return json.dumps([device, settings, _calibration_hashes(scan)])


def function_token(function: Callable[[Any], Any]) -> str:
    """Identifies a function by its code as far as possible, so that a changed function gets a new token."""
    import inspect

    from dask.base import tokenize

    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        source = ""
    return str(tokenize(function, source))
