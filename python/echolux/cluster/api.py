"""Operations on many files. Common arguments:

client: of Dask distributed; None: start workers on this machine for this job
out: a folder, or an fsspec address (s3://bucket/archive). A restarted job does only what is missing.

All functions also accept the keyword arguments of JobOptions: workers, threads, retries, overwrite, verify, progress
(jobs.py). Failures are listed in the report's `failures` and do not stop the rest of the job. KeyboardInterrupt
keeps completed results. All functions raise BadArgument, MissingFile, and Error if another job is writing to `out`.
"""
from __future__ import annotations

import difflib
import inspect
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Union

from ..errors import BadArgument
from ..settings import assignments
from .inputs import ScanFile, Scans, function_token, list_scans, write_table
from .jobs import JobOptions, JobRunner, require_positive, run_job
from .movie_tasks import movie_task
from .report import Incomplete, Report
from .storage import open_store

Address = Union[str, "os.PathLike[str]"]

_DEVICES = {None: "auto", "cpu": "cpu", "cuda": "cuda"}
_SECTIONS = ("calibration", "flow", "scan", "recipe")


def reconstruct(scans: Scans, out: Address, client: Any = None, *, recipe: Mapping[str, object] | None = None,
                require: str | None = None, part_seconds: float = 10.0, part_memory: int = 1 << 30,
                part_b_scans: int | None = None, share: tuple[int, int] | None = None, **more: Any) -> Report:
    """Reconstructs scans into OUT/NAME.ome.zarr (OME-Zarr 0.5 in shards), with the same bits as a single process. With
    flow.method, the flow is written into OUT/NAME-flow.ome.zarr.

    scans: a path, a pattern, a table (.csv or .parquet: columns scan, name, and settings such as recipe.window), or
        several
    out: a folder, or an fsspec address that zarr can write to (s3://bucket/archive)
    client: of Dask distributed; None: start workers on this machine for this job
    recipe, and other sections (calibration={...}, flow={...}): settings that override the scans' files
    require: "cuda": use only workers with a GPU; "cpu": use no GPU
    part_seconds, part_memory: max duration of a part, and max number of bytes of its voxels; or
        part_b_scans: number of B-scans per part, in whole shards
    share: (i, n): only every n-th part, starting with the i-th; the jobs of all shares together complete the work
    more: workers, threads, retries, overwrite, verify, progress: help(echolux.cluster.JobOptions)

    A restarted job does only what is missing. Failures are listed in the report's `failures` and do not stop the rest.
    KeyboardInterrupt keeps completed parts. Raises BadArgument, MissingFile, and Error if another job is writing to
    `out`.
    """
    options, sections = _split(more)
    require_positive(part_seconds=part_seconds, part_memory=part_memory, part_b_scans=part_b_scans)
    index, of = share or (0, 1)
    if not 0 <= index < of:
        raise BadArgument(f"there is no share {index} of {of}", "share", "shares are counted from 0")
    for name, value in sections.items():
        if not isinstance(value, Mapping):
            raise BadArgument("is neither an argument nor a mapping of settings", name,
                              _near(name, reconstruct, *_SECTIONS) or f'write {name}={{"key": value}}')
    common = {"kind": "scan", "noun": "scan", "device": _device(require)}
    planning = {"settings": tuple(assignments({**sections, **({"recipe": recipe} if recipe else {})})), "share": (index, of),
                "part_size": {"seconds": part_seconds, "memory": part_memory, "b_scans": part_b_scans}}
    return run_job(list_scans(scans), common, planning, out, client, options,
                   share=None if share is None else f"{index}-of-{of}").report


def map(function: Callable[[Any], Any], volumes: Scans, client: Any = None, *, out: Address | None = None,
        **more: Any) -> list[Any]:
    """Returns [function(echolux.load(path)) for each volume], computed on workers. Results are sent back to this
    process, so return numbers and small arrays, and write large results to files in the function.

    volumes: a path, a pattern, or several, of files and folders
    out: keeps results, as arrays (NAME.result.npy) or in the markers (numbers, texts, lists, dictionaries); a restarted
        job of the same function reuses them
    more: as in reconstruct(); retries defaults to 0

    If some volumes fail, raises Incomplete after all others are done, with `results` and `failures`.
    """
    options = _only({"retries": 0, **more}, map)
    task = {"work": "apply", "function": function, "token": "" if out is None else function_token(function)}
    files = list_scans(volumes, must_differ=out is not None)
    done = _run_files(files, ".result", task, out, client, options)
    results = [done.results.get(number) for number in range(len(files))]
    if done.report.failures:
        order = [one.path for one in files]
        raise Incomplete(results, sorted(done.report.failures, key=lambda one: order.index(one.scan)))
    return results


def convert(volumes: Scans, out: Address, ending: str, client: Any = None, *, voxel: str | None = None,
            low: float | None = None, high: float | None = None, **more: Any) -> Report:
    """Converts volume files to another format: OUT/NAME + ending (".nrrd", ".nii.gz", ".ome.zarr" ...), as
    Volume.save() does.

    voxel, low, high: as in Volume.converted(); None: unchanged
    more: as in reconstruct()
    """
    options = _only(more, convert)
    task = {"work": "convert", "options": {"voxel": voxel, "low": low, "high": high}}
    return _run_files(list_scans(volumes), ending, task, out, client, options).report


def figures(volumes: Scans, out: Address, client: Any = None, *, plane: str = "b-scan", index: int | None = None,
            ending: str = ".png", dpi: float = 150, options: Mapping[str, Any] | None = None, **more: Any) -> Report:
    """Draws a figure of each volume: OUT/NAME + ending (".png", ".pdf", ".svg").

    plane, index: as in Volume.plot(); "volume": a 3-D picture (PNG), as from Volume.render()
    options: further arguments of plot() (vmin=0, vmax=40, cmap="gray") or render() (mode="mip", azimuth=30)
    more: as in reconstruct(). Needs matplotlib, except for plane="volume".
    """
    if plane == "volume" and ending != ".png":
        raise BadArgument(f'cannot be "{ending}"', "ending", "pictures in space are PNG files")
    common = _only(more, figures)
    task = {"work": "draw", "options": {"plane": plane, "index": index, "dpi": dpi, **(options or {})}}
    return _run_files(list_scans(volumes), ending, task, out, client, common).report


def calibrate(scans: Scans, out: Address, what: str = "dispersion", client: Any = None, *,
              b_scans: tuple[int, int] = (0, 8), options: Mapping[str, Any] | None = None, require: str | None = None,
              recipe: Mapping[str, object] | None = None, **more: Any) -> Report:
    """Calibrates each scan from its own spectra and writes OUT/WHAT.csv, a table that reconstruct() accepts for its
    scans.

    what: "dispersion" (recipe.a2_rad, recipe.a3_rad) or "noise_floor" (recipe.noise_floor_db)
    b_scans: positions [begin, end) of the first volume that are used
    options: further arguments of echolux.calibrate.dispersion(): range_rad, lines, depths
    recipe: settings that override the scans' files
    more: as in reconstruct()

    Scans that cannot be calibrated are listed in the failures and are not in the table.
    """
    if what not in ("dispersion", "noise_floor"):
        raise BadArgument(f'cannot be "{what}"', "what", "dispersion or noise_floor")
    common = _only(more, calibrate)
    files = list_scans(scans)
    task = {"work": "calibrate", "noun": "scan", "device": _device(require),
            "options": {"what": what, "b_scans": tuple(b_scans), **(options or {})}}
    done = _run_files(files, f".{what}", task, out, client, common, tuple(assignments({"recipe": recipe or {}})))
    found = [(files[number], settings) for number, settings in sorted(done.results.items())]
    open_store(out).put(f"{what}.csv", write_table(found))
    done.report.files[:] = [f"{what}.csv"]
    return done.report


def movie(path: Address, shown: Address, client: Any = None, *, motion: str | None = None, frames: int = 0, seconds: float = 0,
          fps: str | float = "", part_frames: int = 30, **more: Any) -> Report:
    """Makes a movie whose pictures are distributed over the workers and then encoded once. Its pictures equal those of
    echolux.movie().

    path: output file (.mp4, .webm, .gif ...), also an fsspec address; shown: a volume file, a series, a scan
    motion, frames, seconds, fps: as in echolux.movie(); motions other than "turntable" and "time" need frames or
        seconds
    part_frames: number of pictures that a worker draws at a time
    more: as in reconstruct(), and settings of the pictures as in echolux.movie(): mode="mip"
    """
    options, view = _split(more)
    require_positive(part_frames=part_frames)
    out, name = os.path.split(os.fspath(path))
    task = {"kind": "movie", "noun": "movie", "step": part_frames,
            **movie_task(os.path.abspath(shown), name, motion, frames, seconds, str(fps), view)}
    file = ScanFile(os.path.abspath(shown), name)
    return run_job([file], task, {"settings": ()}, out or ".", client, options).report


# ---- arguments

def _names() -> list[str]:
    return [one.name for one in fields(JobOptions)]


def _split(given: Mapping[str, Any]) -> tuple[JobOptions, dict[str, Any]]:
    """Splits the arguments into those of all jobs and the rest. Raises BadArgument."""
    names = _names()
    mine = {name: value for name, value in given.items() if name in names}
    return JobOptions(**mine), {name: value for name, value in given.items() if name not in names}


def _near(name: str, function: Callable[..., Any], *others: str) -> str:
    """Returns a hint at the argument that may have been meant; empty if none is similar."""
    found = difflib.get_close_matches(name, [*_names(), *inspect.signature(function).parameters, *others], 1)
    return f"did you mean {found[0]}?" if found else ""


def _only(given: Mapping[str, Any], function: Callable[..., Any]) -> JobOptions:
    """Accepts only arguments of JobOptions. function: has further arguments, for the hint."""
    options, rest = _split(given)
    for name in rest:
        raise BadArgument("is not an argument", name, _near(name, function))
    return options


def _device(require: str | None) -> str:
    if require not in _DEVICES:
        raise BadArgument(f'cannot be "{require}"', "require", 'give "cuda", "cpu" or None')
    return _DEVICES[require]


def _options_token(options: Mapping[str, Any]) -> str:
    """Spells arrays with all their values, because repr() shortens long ones."""
    return json.dumps(options, sort_keys=True, default=lambda value: value.tolist() if hasattr(value, "tolist") else repr(value))


def _run_files(files: list[ScanFile], ending: str, task: dict[str, Any], out: Address | None, client: Any, options: JobOptions,
               settings: tuple[str, ...] = ()) -> JobRunner:
    named = [ScanFile(one.path, one.name + ending, one.settings) for one in files]
    common = {"kind": "file", "noun": "volume", "options": {}, "token": "", "device": "auto", **task}
    common["token"] = common["token"] or _options_token(common["options"])
    return run_job(named, common, {"settings": settings}, out, client, options)
