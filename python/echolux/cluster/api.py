"""What can be done with many files. All functions take

client: of Dask distributed; None: workers are started on this machine, for this job
out: a folder, or an address of fsspec (s3://bucket/archive). A job that is started again does only what is missing
and the keyword arguments of JobOptions: workers, threads, retries, overwrite, verify, progress (options.py).

What fails is in the report's `failures`, and stops nothing else. KeyboardInterrupt leaves what is done. All raise
BadArgument, MissingFile, and Error where another job writes to `out`.
"""
from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Union

from ..errors import BadArgument
from ..settings import assignments
from .options import JobOptions, near, only, require_positive, split
from .scan_list import ScanFile, Scans, list_scans
from .scheduling.report import Incomplete, Report

if TYPE_CHECKING:
    from .scheduling.job_runner import JobRunner

Address = Union[str, "os.PathLike[str]"]

_DEVICES = {None: "auto", "cpu": "cpu", "cuda": "cuda"}
_SECTIONS = ("calibration", "flow", "scan", "recipe")


def reconstruct(scans: Scans, out: Address, client: Any = None, *, recipe: Mapping[str, object] | None = None,
                require: str | None = None, part_seconds: float = 10.0, part_memory: int = 1 << 30,
                part_b_scans: int | None = None, share: tuple[int, int] | None = None, **more: Any) -> Report:
    """Reconstructs scans into OUT/NAME.ome.zarr (OME-Zarr 0.5 in shards), bit for bit what one process makes, and flow,
    where flow.method asks for it, into OUT/NAME-flow.ome.zarr.

    scans: a path, a pattern, a table (.csv or .parquet: columns scan, name, and settings such as recipe.window), or several
    out: a folder, or an address of fsspec that zarr can write to (s3://bucket/archive)
    client: of Dask distributed; None: workers are started on this machine, for this job
    recipe, and other sections (calibration={...}, flow={...}): settings that override the scans' files
    require: "cuda": only workers with a GPU take part; "cpu": no GPU is used
    part_seconds, part_memory: how long a part may take, and how many bytes of voxels it may have; or
        part_b_scans: how many B-scans it has, whole shards
    share: (i, n): only every n-th part, from the i-th; jobs of all shares together make the whole
    more: workers, threads, retries, overwrite, verify, progress: help(echolux.cluster.JobOptions)

    A job that is started again does only what is missing. What fails is in the report's `failures`, and stops nothing else.
    KeyboardInterrupt leaves what is done. Raises BadArgument, MissingFile, and Error where another job writes to `out`.
    """
    options, sections = split(more)
    require_positive(part_seconds=part_seconds, part_memory=part_memory, part_b_scans=part_b_scans)
    index, of = share or (0, 1)
    if not 0 <= index < of:
        raise BadArgument(f"there is no share {index} of {of}", "share", "shares are counted from 0")
    for name, value in sections.items():
        if not isinstance(value, Mapping):
            raise BadArgument("is neither an argument nor a mapping of settings", name,
                              near(name, [*inspect.signature(reconstruct).parameters, *_SECTIONS])
                              or f'write {name}={{"key": value}}')
    common = {"kind": "scan", "noun": "scan", "device": _device(require)}
    planning = {"settings": tuple(assignments({**sections, **({"recipe": recipe} if recipe else {})})), "share": (index, of),
                "part_size": {"seconds": part_seconds, "memory": part_memory, "b_scans": part_b_scans}}
    return _run(list_scans(scans), common, planning, out, client, options,
                share=None if share is None else f"{index}-of-{of}").report


def map(function: Callable[[Any], Any], volumes: Scans, client: Any = None, *, out: Address | None = None,
        **more: Any) -> list[Any]:
    """[function(echolux.load(path)) for each volume], on workers. Results come back to this process: let the function return
    numbers and small arrays, and write large results to files of its own.

    volumes: a path, a pattern, or several, of files and folders
    out: results are kept there, as arrays (NAME.result.npy) or in the markers (numbers, texts, lists, dictionaries); a job of the
        same function that is started again takes them from there
    more: as of reconstruct(); retries is 0 unless given

    Raises Incomplete after all others are done, where some failed: its `results` and `failures` tell.
    """
    from .fingerprint import function_token

    options = only(more, ("out",), retries=0)
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
    """Volume files in another format: OUT/NAME + ending (".nrrd", ".nii.gz", ".ome.zarr" ...), as Volume.save() writes it.

    voxel, low, high: as of Volume.converted(); None: as they are
    more: as of reconstruct()
    """
    options = only(more, ("voxel", "low", "high"))
    task = {"work": "convert", "options": {"voxel": voxel, "low": low, "high": high}}
    return _run_files(list_scans(volumes), ending, task, out, client, options).report


def figures(volumes: Scans, out: Address, client: Any = None, *, plane: str = "b-scan", index: int | None = None,
            ending: str = ".png", dpi: float = 150, options: Mapping[str, Any] | None = None, **more: Any) -> Report:
    """A figure of each volume: OUT/NAME + ending (".png", ".pdf", ".svg").

    plane, index: as of Volume.plot(); "volume": a picture in space (PNG), as of Volume.render()
    options: what else plot() (vmin=0, vmax=40, cmap="gray") or render() (mode="mip", azimuth=30) take
    more: as of reconstruct(). Needs matplotlib, but for plane="volume".
    """
    if plane == "volume" and ending != ".png":
        raise BadArgument(f'cannot be "{ending}"', "ending", "pictures in space are PNG files")
    common = only(more, ("plane", "index", "ending", "dpi", "options"))
    task = {"work": "draw", "options": {"plane": plane, "index": index, "dpi": dpi, **(options or {})}}
    return _run_files(list_scans(volumes), ending, task, out, client, common).report


def calibrate(scans: Scans, out: Address, what: str = "dispersion", client: Any = None, *,
              b_scans: tuple[int, int] = (0, 8), options: Mapping[str, Any] | None = None, require: str | None = None,
              recipe: Mapping[str, object] | None = None, **more: Any) -> Report:
    """A calibration of each scan, found in its own spectra: OUT/WHAT.csv, a table that reconstruct() takes for its scans.

    what: "dispersion" (recipe.a2_rad, recipe.a3_rad) or "noise_floor" (recipe.noise_floor_db)
    b_scans: positions [begin, end) of the first volume that are looked at
    options: what else echolux.calibrate.dispersion() takes: range_rad, lines, depths
    recipe: settings that override the scans' files
    more: as of reconstruct()

    Scans that show no calibration are among the failures, and not in the table.
    """
    from .scan_table import write_table
    from .storage.store import open_store
    from .tasks.file_work import CALIBRATIONS

    if what not in CALIBRATIONS:
        raise BadArgument(f'cannot be "{what}"', "what", " or ".join(CALIBRATIONS))
    common = only(more, ("what", "b_scans", "options", "require", "recipe"))
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
    """A movie whose pictures are shared among the workers, and then encoded once; picture for picture that of echolux.movie().

    path: of the movie (.mp4, .webm, .gif ...), also an address of fsspec; shown: a volume's file, a series, a scan
    motion, frames, seconds, fps: as of echolux.movie(); motions other than "turntable" and "time" need frames or seconds
    part_frames: pictures that a worker draws at a time
    more: as of reconstruct(), and settings of the pictures as of echolux.movie(): mode="mip"
    """
    from .tasks.movie_length import movie_task

    options, view = split(more)
    require_positive(part_frames=part_frames)
    out, name = os.path.split(os.fspath(path))
    task = {"kind": "movie", "noun": "movie", "step": part_frames,
            **movie_task(os.path.abspath(shown), name, motion, frames, seconds, str(fps), view)}
    file = ScanFile(os.path.abspath(shown), name)
    return _run([file], task, {"settings": ()}, out or ".", client, options).report


def _device(require: str | None) -> str:
    if require not in _DEVICES:
        raise BadArgument(f'cannot be "{require}"', "require", 'give "cuda", "cpu" or None')
    return _DEVICES[require]


def _options_token(options: Mapping[str, Any]) -> str:
    """Arrays with all their values: repr() leaves out the middle of long ones."""
    return json.dumps(options, sort_keys=True, default=lambda value: value.tolist() if hasattr(value, "tolist") else repr(value))


def _run_files(files: list[ScanFile], ending: str, task: dict[str, Any], out: Address | None, client: Any, options: JobOptions,
               settings: tuple[str, ...] = ()) -> JobRunner:
    named = [ScanFile(one.path, one.name + ending, one.settings) for one in files]
    common = {"kind": "file", "noun": "volume", "options": {}, "token": "", "device": "auto", **task}
    common["token"] = common["token"] or _options_token(common["options"])
    return _run(named, common, {"settings": settings}, out, client, options)


def _run(files: list[ScanFile], common: dict[str, Any], planning: dict[str, Any], out: Address | None, client: Any,
         options: JobOptions, share: str | None = None) -> JobRunner:
    """The job, when it has ended."""
    from .scheduling.job_runner import run_job

    return run_job(files, common, planning, out, client, options, share)
