"""Writes the settings of many scans as a table for reconstruct()."""
from __future__ import annotations

import csv
import io

from .scan_list import ScanFile


def write_table(rows: list[tuple[ScanFile, dict[str, float]]]) -> bytes:
    """Writes CSV with the columns scan, name, and one per setting."""
    keys = sorted({key for _, settings in rows for key in settings})
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["scan", "name", *keys])
    for file, settings in rows:
        table.writerow([file.path, file.name, *(repr(settings[key]) if key in settings else "" for key in keys)])
    return text.getvalue().encode()
