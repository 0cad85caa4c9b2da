"""What can be done with many files. All jobs have in common

client: of Dask distributed; None: workers are started on this machine, for this job
workers: processes on this machine: one for each GPU, or one; 0: this process alone, without Dask
threads: of each worker, on cores of its own; None: all
out: a folder, or an address of fsspec (s3://bucket/archive). A job that is started again does only what is missing
retries: of what failed, after 1, 4, 16 ... s
overwrite: results of other settings are replaced
verify: check sums of all that is there are compared first

What fails is in the result's `failures`, and stops nobody else. KeyboardInterrupt leaves what is done. All raise
BadArgument, MissingFile, and Error where another job writes to `out`.
"""
from __future__ import annotations

import contextlib
import difflib
import inspect
import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import BadArgument
from ..settings import assignments
from .scheduling.report import Incomplete, Report
from .scan_list import ScanFile, Scans, listed

if TYPE_CHECKING:
    from .scheduling.job_runner import Job

DEVICES = {None: "auto", "cpu": "cpu", "cuda": "cuda"}

def reconstruct(scans: Scans, out: str | os.PathLike[str], client: Any = None, *,
                recipe: Mapping[str, object] | None = None, require: str | None = None, workers: int | None = None,
                threads: int | None = None, part_seconds: float = 10.0, part_memory: int = 1 << 30,
                part_b_scans: int | None = None, retries: int = 2, overwrite: bool = False, verify: bool = False,
                share: tuple[int, int] | None = None, progress: bool = True,
                **settings: Mapping[str, object]) -> Report:
    """Reconstructs scans into OUT/NAME.ome.zarr (OME-Zarr 0.5 in shards), bit for bit what one process makes, and flow,
    where flow.method asks for it, into OUT/NAME-flow.ome.zarr.

    scans: a path, a pattern, a table (.csv or .parquet: columns scan, name, and settings such as recipe.window), or several
    out: a folder, or an address of fsspec that zarr can write to (s3://bucket/archive)
    client: of Dask distributed; None: workers are started on this machine, for this job
    recipe, and other sections (calibration, flow ...): settings that override the scans' files
    require: "cuda": workers without a GPU fail; "cpu": no GPU is used
    workers: processes on this machine: one for each GPU, or one; 0: this process alone, without Dask
    threads: of each worker, on cores of its own; None: all
    part_seconds, part_memory: how long a part may take, and how many bytes of voxels it may have; or
        part_b_scans: how many B-scans it has, whole shards
    retries: of a part that failed, after 1, 4, 16 ... s
    overwrite: results of other settings are replaced
    verify: check sums of all that is there are compared first
    share: (i, n): only every n-th part, from the i-th; jobs of all shares together make the whole

    A job that is started again does only what is missing. What fails is in the result's `failures`, and stops nothing else.
    KeyboardInterrupt leaves what is done. Raises BadArgument, MissingFile, and Error where another job writes to `out`.
    """
    if require not in DEVICES:
        raise BadArgument(f'cannot be "{require}"', "require", 'give "cuda", "cpu" or None')
    _require_positive(part_seconds=part_seconds, part_memory=part_memory, part_b_scans=part_b_scans)
    index, of = share or (0, 1)
    if not 0 <= index < of:
        raise BadArgument(f"there is no share {index} of {of}", "share", "shares are counted from 0")
    for name, value in settings.items():
        near = difflib.get_close_matches(name, [*inspect.signature(reconstruct).parameters, "calibration", "flow", "scan"], 1)
        if not isinstance(value, Mapping):
            raise BadArgument("is neither an argument nor a mapping of settings", name,
                              f"did you mean {near[0]}?" if near else f'write {name}={{"key": value}}')
    given = assignments({**settings, **({"recipe": recipe} if recipe else {})})
    task = {"kind": "scan", "device": DEVICES[require], "threads": threads, "verify": verify}
    planning = {"settings": tuple(given), "overwrite": overwrite, "share": index, "of": of,
                "wanted": {"seconds": part_seconds, "memory": part_memory, "part_b_scans": part_b_scans}}
    return _run(listed(scans), task, planning, out=out, client=client, workers=workers, retries=retries, progress=progress,
                share=None if share is None else f"{index}-of-{of}").report


def map(function: Callable[[Any], Any], volumes: Scans, client: Any = None, *, out: str | os.PathLike[str] | None = None,
        workers: int | None = None, threads: int | None = None, retries: int = 0, overwrite: bool = False, verify: bool = False,
        progress: bool = True) -> list[Any]:
    """[function(echolux.load(path)) for each volume], on workers. What it returns comes back to this process: numbers and small
    arrays; what is large it had better write.

    volumes: a path, a pattern, or several, of files and folders
    out: results are kept there, as arrays (NAME.result.npy) or in the markers (numbers, texts, lists, dictionaries); a job of the
        same function that is started again takes them from there
    The rest as of reconstruct().

    Raises Incomplete after all others are done, where some failed: its `results` and `failures` tell.
    """
    from .fingerprint import token_of

    task = {"kind": "each", "work": "mapped", "function": function, "token": "" if out is None else token_of(function)}
    files = listed(volumes, must_differ=out is not None)
    done = _each(files, ".result", task, out=out, client=client, workers=workers, threads=threads, retries=retries,
                 overwrite=overwrite, verify=verify, progress=progress)
    results = [done.results.get(number) for number in range(len(files))]
    if done.report.failures:
        order = [one.path for one in files]
        raise Incomplete(results, sorted(done.report.failures, key=lambda one: order.index(one.scan)))
    return results


def convert(volumes: Scans, out: str | os.PathLike[str], ending: str, client: Any = None, *, voxel: str | None = None,
            low: float | None = None, high: float | None = None, **job: Any) -> Report:
    """Volume files in another format: OUT/NAME + ending (".nrrd", ".nii.gz", ".ome.zarr" ...), as Volume.save() writes it.

    voxel, low, high: as of Volume.converted(); None: as they are
    The rest as of map(): workers, threads, retries, overwrite, verify, progress.
    """
    task = {"kind": "each", "work": "converted", "options": {"voxel": voxel, "low": low, "high": high}}
    return _each(listed(volumes), ending, task, out=out, client=client, **job).report


def figures(volumes: Scans, out: str | os.PathLike[str], client: Any = None, *, plane: str = "b-scan", index: int | None = None,
            ending: str = ".png", dpi: float = 150, options: Mapping[str, Any] | None = None, **job: Any) -> Report:
    """A figure of each volume: OUT/NAME + ending (".png", ".pdf", ".svg").

    plane, index: as of Volume.plot(); "volume": a picture in space (PNG), as of Volume.render()
    options: what else plot() (vmin=0, vmax=40, cmap="gray") or render() (mode="mip", azimuth=30) take
    The rest as of map(). Needs matplotlib, but for plane="volume".
    """
    if plane == "volume" and ending != ".png":
        raise BadArgument(f'cannot be "{ending}"', "ending", "pictures in space are PNG files")
    task = {"kind": "each", "work": "figure",
            "options": {"plane": plane, "index": index, "dpi": dpi, **(options or {})}}
    return _each(listed(volumes), ending, task, out=out, client=client, **job).report


def calibrate(scans: Scans, out: str | os.PathLike[str], what: str = "dispersion", client: Any = None, *,
              b_scans: tuple[int, int] = (0, 8), options: Mapping[str, Any] | None = None, require: str | None = None,
              recipe: Mapping[str, object] | None = None, **job: Any) -> Report:
    """A calibration of each scan, found in its own spectra: OUT/WHAT.csv, a table that reconstruct() takes for its scans.

    what: "dispersion" (recipe.a2_rad, recipe.a3_rad) or "noise_floor" (recipe.noise_floor_db)
    b_scans: positions [begin, end) of the first volume that are looked at
    options: what else echolux.calibrate.dispersion() takes: range_rad, lines, depths
    recipe: settings that override the scans' files; the rest as of map()

    Scans that show no calibration are among the failures, and not in the table.
    """
    from . import scan_table
    from .storage import store
    from .tasks.file_work import CALIBRATIONS

    if what not in CALIBRATIONS:
        raise BadArgument(f'cannot be "{what}"', "what", " or ".join(CALIBRATIONS))
    files = listed(scans)
    task = {"kind": "each", "work": "calibrated", "device": DEVICES[require],
            "options": {"what": what, "b_scans": tuple(b_scans), **(options or {})}}
    given = tuple(assignments({"recipe": recipe or {}}))
    done = _each(files, f".{what}", task, out=out, client=client, settings=given, **job)
    found = [(files[number], settings) for number, settings in sorted(done.results.items())]
    store.opened(out).put(f"{what}.csv", scan_table.written(found))
    done.report.files[:] = [f"{what}.csv"]
    return done.report


def movie(path: str | os.PathLike[str], shown: str | os.PathLike[str], client: Any = None, *, motion: str | None = None,
          frames: int = 0, seconds: float = 0, fps: str | float = "", part_frames: int = 30, workers: int | None = None,
          threads: int | None = None, retries: int = 2, overwrite: bool = False, verify: bool = False, progress: bool = True,
          **view: object) -> Report:
    """A movie whose pictures are shared among the workers, and then encoded once; picture for picture that of echolux.movie().

    path: of the movie (.mp4, .webm, .gif ...), also an address of fsspec; shown: a volume's file, a series, a scan
    motion, frames, seconds, fps, view: as of echolux.movie(); motions other than "turntable" and "time" need frames or seconds
    part_frames: pictures that a worker draws at a time
    The rest as of reconstruct().
    """
    from .tasks import movie_length

    _require_positive(part_frames=part_frames)
    out, name = os.path.split(os.fspath(path))
    task = {"kind": "movie", "threads": threads, "verify": verify, "step": part_frames,
            **movie_length.wanted(os.path.abspath(shown), name, motion, frames, seconds, str(fps), view)}
    file = ScanFile(os.path.abspath(shown), name)
    return _run([file], task, {"settings": (), "overwrite": overwrite}, out=out or ".", client=client, workers=workers,
                retries=retries, progress=progress).report


def _require_positive(**values: float | None) -> None:
    for name, value in values.items():
        if value is not None and not value > 0:
            raise BadArgument(f"cannot be {value}", name, "give more than 0")


def _require_not_negative(**values: int | None) -> None:
    for name, value in values.items():
        if value is not None and value < 0:
            raise BadArgument(f"cannot be {value}", name, "give 0 or more")


def _token_of(options: Mapping[str, Any]) -> str:
    """Arrays with all their values: repr() leaves out the middle of long ones."""
    return json.dumps(options, sort_keys=True, default=lambda value: value.tolist() if hasattr(value, "tolist") else repr(value))


def _each(files: list[ScanFile], ending: str, task: dict[str, Any], *, out: str | os.PathLike[str] | None, client: Any,
          workers: int | None = None, threads: int | None = None, retries: int = 2, overwrite: bool = False, verify: bool = False,
          progress: bool = True, settings: tuple[str, ...] = ()) -> Job:
    named = [ScanFile(one.path, one.name + ending, one.settings) for one in files]
    task = {"options": {}, "token": "", "device": "auto", **task, "threads": threads, "verify": verify}
    task["token"] = task["token"] or _token_of(task["options"])
    return _run(named, task, {"settings": settings, "overwrite": overwrite}, out=out, client=client, workers=workers,
                retries=retries, progress=progress)


def _run(files: list[ScanFile], task: dict[str, Any], planning: dict[str, Any], *, out: str | os.PathLike[str] | None,
         client: Any, workers: int | None, retries: int, progress: bool, share: str | None = None) -> Job:
    """The job, when it has ended."""
    from .scheduling import lock, worker
    from .storage import ownership, store
    from .scheduling.job_runner import Job
    from .scheduling.progress import Progress

    _require_positive(threads=task["threads"])
    _require_not_negative(workers=workers, retries=retries)
    told = Progress(len(files), progress)
    with contextlib.ExitStack() as stack:
        place, held = None if out is None else store.opened(out), None
        if place is not None:
            held = stack.enter_context(lock.Lock(place, share or "all", told.tell))
            if task["kind"] != "scan":
                place.sweep(ownership.FOLDER)  # what killed workers left; one of a stopped job that is still at work fails, which nobody waits for
        executor = stack.enter_context(_executor(client, workers))
        job = Job(executor, files, {**task, "out": None if place is None else place.address}, planning, retries, told)
        if client is not None and workers is not None:
            job.report.notes.append("workers: has no effect on the workers of a client")
        if client is None and workers == 0 and task["threads"] is not None and not worker.is_ours():
            job.report.notes.append("threads: has no effect with workers=0, where this process keeps its cores")
        job.run(lambda: None if held is None else held.require_held())
    return job


@contextlib.contextmanager
def _executor(client: Any, workers: int | None) -> Iterator[Any]:
    from .scheduling import executors

    if client is not None:
        yield executors.OverDask(client)
    elif workers == 0:
        yield executors.Here()
    else:
        with executors.local_client(workers) as mine:
            yield executors.OverDask(mine)
