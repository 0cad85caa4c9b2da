"""Tasks of a file: it is converted, drawn, calibrated, or passed to a user's function. With an output, the result is one
part, done exactly once like any other. Without an output, it is only returned.
"""
from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Optional

import numpy as np

from ..errors import BadArgument, Error
from ..series import LazyVolume, Series, load
from . import results
from .inputs import file_inputs, hash_of, open_scan, scan_fingerprint, scan_inputs
from .results import FINISHED
from .storage import Store

Task = dict[str, Any]


# ---- work on a file; folder: of the output, or None if nothing is kept

def _file(task: Task, folder: Optional[Path]) -> Path:
    assert folder is not None
    return folder / os.path.basename(str(task["name"]))


def _volume(path: str) -> LazyVolume:
    loaded = load(path)
    if isinstance(loaded, Series):
        raise BadArgument(f"is a series of {len(loaded)} volumes", path, "give files of one volume each")
    return loaded


def _apply(task: Task, folder: Optional[Path]) -> Any:
    """Returns something that can be stored as JSON or as an array, if it is kept."""
    result = task["function"](load(task["path"]))
    if isinstance(result, np.generic) and folder is not None:
        result = result.item()
    if folder is None or type(result) is np.ndarray and not result.dtype.hasobject:  # masked arrays cannot be written
        return result
    try:
        return json.loads(json.dumps(result))
    except (TypeError, ValueError):
        raise BadArgument(f"returned a {type(result).__name__}, which cannot be kept", "function",
                          "return numbers, texts, lists, dictionaries or an array, or give no output") from None


def _convert(task: Task, folder: Optional[Path]) -> None:
    options = task["options"]
    volume = _volume(task["path"])
    converted = volume if options["voxel"] is None else volume.converted(options["voxel"], options["low"], options["high"])
    converted.save(_file(task, folder), overwrite=True)


def _draw(task: Task, folder: Optional[Path]) -> None:
    """Produces the same bytes every time."""
    options = dict(task["options"])
    plane, index, dpi = (options.pop(key) for key in ("plane", "index", "dpi"))
    path = _file(task, folder)
    volume = _volume(task["path"])
    if plane == "volume":
        from ..show import png

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


def _calibrate(task: Task, folder: Optional[Path]) -> dict[str, float]:
    """Returns settings by key."""
    from ..calibrate import dispersion, noise_floor_db

    options = dict(task["options"])
    what, (begin, end) = options.pop("what"), options.pop("b_scans")
    scan = open_scan(task["path"], tuple(task["settings"]))
    spectra = scan.read(0, begin, min(end, scan.shape[0]) - begin)
    if what == "noise_floor":
        return {"recipe.noise_floor_db": noise_floor_db(scan, spectra, **options)}
    found = dispersion(scan, spectra, progress=False, device=task["device"], **options)
    if not found.is_sharp:
        raise Error("shows no reflector that dispersion compensation sharpens", "", "choose B-scans or depths with a reflector")
    return {"recipe.a2_rad": found.a2_rad, "recipe.a3_rad": found.a3_rad}


_WORK: dict[str, Callable[[Task, Optional[Path]], Any]] = {
    "apply": _apply, "convert": _convert, "draw": _draw, "calibrate": _calibrate}


# ---- the task

def _inputs(task: Task) -> Any:
    if task["work"] != "calibrate":
        return file_inputs(task["path"])
    scan = open_scan(task["path"], tuple(task["settings"]))
    return scan_fingerprint(scan, scan_inputs(task["path"], scan))


def _outcome(task: Task, result: Any, made: int) -> dict[str, Any]:
    return {"name": task["name"], "id": "", "count": 1, "missing": [], "is_finished": True, "result": result, "made": made}


def plan(store: Optional[Store], task: Task) -> dict[str, Any]:
    """Does all the work: there are no parts to plan."""
    work, name = _WORK[task["work"]], str(task["name"])
    if store is None:
        return _outcome(task, work(task, None), 1)
    identity = hash_of(task["work"], task["token"], task["settings"], _inputs(task))
    marker = results.read(store, name, FINISHED, identity, verify=task["verify"])
    if marker is not None:
        return _outcome(task, _kept_result(store, marker), 0)
    results.require_replaceable(store, name, identity, overwrite=task["overwrite"])
    above = os.path.dirname(name)
    with results.part_files(store) as files:
        assert files.folder is not None
        folder = files.folder
        result = work(task, folder)
        facts: dict[str, Any] = {"result": result}
        if isinstance(result, np.ndarray):
            array = os.path.basename(name) + ".npy"
            np.save(folder / array, result, allow_pickle=False)
            facts = {"array": os.path.join(above, array)}
        targets = sorted(os.path.join(above, one.name) for one in folder.iterdir())
        before = store.get(results.plan_key(name))
        if results.parse_claim(before, name)[0] != identity:
            results.claim(store, name, before, results.claim_json(task["work"], identity, targets), overwrite=task["overwrite"], inputs=[task["path"]])
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                files.adopt(os.path.join(above, str(path.relative_to(folder))), path)
        files.commit(store, name, FINISHED, identity, facts)
    return _outcome(task, result, 1)


def _kept_result(store: Store, marker: dict[str, Any]) -> Any:
    if "array" not in marker:
        return marker.get("result")
    return np.load(io.BytesIO(store.get(marker["array"]) or b""), allow_pickle=False)
