"""Lists of scans: paths, patterns, or a table (CSV or Parquet) with a scan and its settings per row."""
from __future__ import annotations

import csv
import glob
import importlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

from ..errors import BadArgument, MissingFile
from ..settings import spelled

Scans = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]

_PATTERN = set("*?[")


@dataclass(frozen=True)
class ScanFile:
    """A scan to be reconstructed."""

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


def _of_table(table: Path) -> list[tuple[str, str, tuple[str, ...]]]:
    """Returns (path, name or "", settings) per row. Empty cells leave a setting unchanged."""
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
        found.append((str(table.parent / str(row["scan"])), str(row.get("name") or ""), tuple(settings)))
    return found


def _of_path(path: str) -> list[tuple[str, str, tuple[str, ...]]]:
    if Path(path).suffix.lower() in (".csv", ".parquet"):
        return _of_table(Path(path))
    if not _PATTERN & set(path) or os.path.exists(path):
        return [(path, "", ())]
    matches = sorted(glob.glob(path, recursive=True))
    if not matches:
        raise MissingFile("matches no file", path)
    return [(match, "", ()) for match in matches]


_ENDINGS = (".ome.zarr", ".ome.tif", ".ome.tiff", ".nii.gz")  # double extensions


def _stem(path: str) -> str:
    for ending in _ENDINGS:
        if path.lower().endswith(ending):
            return path[:-len(ending)]
    return os.path.splitext(path)[0]


def _named(paths: list[str]) -> list[str]:
    """Returns the paths relative to their common folder, without extensions."""
    stems = [_stem(path) for path in paths]
    folder = os.path.commonpath([os.path.dirname(path) for path in paths])
    return [os.path.relpath(stem, folder) for stem in stems]


def list_scans(scans: Scans, *, must_differ: bool = True) -> list[ScanFile]:
    """Returns all scans in order. Raises BadArgument if two results would have the same name (and must differ),
    MissingFile for a pattern without a match. Whether each scan can be read is checked later.
    """
    given = [scans] if isinstance(scans, (str, os.PathLike)) else list(scans)
    rows = [row for one in given for row in _of_path(os.fspath(one))]
    if not rows:
        raise BadArgument("names no scan", "scans")
    paths = [os.path.abspath(path) for path, _, _ in rows]
    names = [name or automatic for (_, name, _), automatic in zip(rows, _named(paths))]
    seen: dict[str, str] = {}
    for path, name in zip(paths, names):
        if name.startswith(("/", ".")) or ".." in name.split("/"):
            raise BadArgument(f'cannot name a result "{name}"', path, "give a name below the output")
        if name in seen and must_differ:
            raise BadArgument(f'and {seen[name]} would both be written as "{name}"', path,
                              "name them in a table: columns scan and name")
        seen[name] = path
    return [ScanFile(path, name, settings) for path, name, (_, _, settings) in zip(paths, names, rows)]
