"""Work on single files: functions of a task and of the output folder, which is None if nothing is kept."""
from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

from ...errors import BadArgument, Error
from ...series import LazyVolume, Series, load
from ..fingerprint import file_inputs, open_scan, scan_inputs
from ..parts.plan import scan_fingerprint

Task = dict[str, Any]


def input_facts(task: Task) -> Any:
    """The input, apart from the options."""
    if task["work"] != "calibrate":
        return file_inputs(task["path"])
    scan = open_scan(task["path"], tuple(task["settings"]))
    return scan_fingerprint(scan, scan_inputs(task["path"], scan))


def _file(task: Task, folder: Optional[Path]) -> Path:
    assert folder is not None
    return folder / os.path.basename(str(task["name"]))


def _volume(path: str) -> LazyVolume:
    loaded = load(path)
    if isinstance(loaded, Series):
        raise BadArgument(f"is a series of {len(loaded)} volumes", path, "give files of one volume each")
    return loaded


def apply(task: Task, folder: Optional[Path]) -> Any:
    result = task["function"](load(task["path"]))
    return result if folder is None else _plain(result)


def _plain(result: Any) -> Any:
    """A result that can be stored as JSON or as an array."""
    import json

    import numpy as np

    if isinstance(result, np.generic):
        result = result.item()
    if type(result) is np.ndarray and not result.dtype.hasobject:  # masked arrays cannot be written
        return result
    try:
        return json.loads(json.dumps(result))
    except (TypeError, ValueError):
        raise BadArgument(f"returned a {type(result).__name__}, which cannot be kept", "function",
                          "return numbers, texts, lists, dictionaries or an array, or give no output") from None


def convert(task: Task, folder: Optional[Path]) -> None:
    options = task["options"]
    volume = _volume(task["path"])
    converted = volume if options["voxel"] is None else volume.converted(options["voxel"], options["low"], options["high"])
    converted.save(_file(task, folder))


def draw(task: Task, folder: Optional[Path]) -> None:
    """Produces the same bytes every time."""
    options = dict(task["options"])
    plane, index, dpi = (options.pop(key) for key in ("plane", "index", "dpi"))
    path = _file(task, folder)
    volume = _volume(task["path"])
    if plane == "volume":
        from ...show import png

        path.write_bytes(png(volume.render(**options)))
        return
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawn = Figure()
    FigureCanvasAgg(drawn)
    volume.plot(plane, index, ax=drawn.subplots(), **options)
    undated = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(path.suffix)
    with matplotlib.rc_context({"svg.hashsalt": "echolux"}):
        drawn.savefig(path, dpi=dpi, bbox_inches="tight", metadata=undated)


def _dispersion(scan: Any, spectra: Any, options: dict[str, Any]) -> dict[str, float]:
    from ...calibrate import dispersion

    found = dispersion(scan, spectra, progress=False, **options)
    if not found.is_sharp:
        raise Error("shows no reflector that a dispersion sharpens", "", "give B-scans with one, or depths")
    return {"recipe.a2_rad": found.a2_rad, "recipe.a3_rad": found.a3_rad}


def _noise_floor(scan: Any, spectra: Any, options: dict[str, Any]) -> dict[str, float]:
    from ...calibrate import noise_floor_db

    return {"recipe.noise_floor_db": noise_floor_db(scan, spectra, **options)}


CALIBRATIONS: dict[str, Callable[[Any, Any, dict[str, Any]], dict[str, float]]] = {
    "dispersion": _dispersion, "noise_floor": _noise_floor}


def calibrate(task: Task, folder: Optional[Path]) -> dict[str, float]:
    """Returns settings by key."""
    options = dict(task["options"])
    what, (begin, end) = options.pop("what"), options.pop("b_scans")
    scan = open_scan(task["path"], tuple(task["settings"]))
    if what == "dispersion":
        options["device"] = task["device"]
    return CALIBRATIONS[what](scan, scan.read(0, begin, min(end, scan.shape[0]) - begin), options)
