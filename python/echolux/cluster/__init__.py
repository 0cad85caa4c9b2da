"""Archives on a cluster: scans reconstructed by many workers into one OME-Zarr each, every part exactly once, whoever is
killed meanwhile. Needs more packages: pip install 'echolux[cluster]'."""
from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..errors import BadArgument
from ..settings import assignments
from . import scans as _scans
from .mapping import Incomplete
from .report import Failure, Report
from .scans import Scans

__all__ = ["Failure", "Incomplete", "Report", "map", "reconstruct"]

_DEVICES = {None: "auto", "cpu": "cpu", "cuda": "cuda"}


def reconstruct(scans: Scans, out: str | os.PathLike[str], client: Any = None, *,
                recipe: Mapping[str, object] | None = None, require: str | None = None, workers: int | None = None,
                threads: int | None = None, part_seconds: float = 10.0, part_memory: int = 1 << 30,
                part_b_scans: int | None = None, retries: int = 2, overwrite: bool = False, verify: bool = False,
                share: tuple[int, int] | None = None, progress: bool = True,
                **settings: Mapping[str, object]) -> Report:
    """Reconstructs scans into OUT/NAME.ome.zarr (OME-Zarr 0.5 in shards), bit for bit what one process makes.

    scans: a path, a pattern, a table (.csv or .parquet: columns scan, name, and settings such as recipe.window), or several
    out: a folder, or an address of fsspec that zarr can write to (s3://bucket/archive)
    client: of Dask distributed; None: workers are started on this machine, for this job
    recipe, and other sections (calibration, flow ...): settings that override the scans' files
    require: "cuda": workers without a GPU fail; "cpu": no GPU is used
    workers: processes on this machine: one for each GPU, or one; 0: this process alone, without Dask
    threads: of each worker, on cores of its own; None: all
    part_seconds, part_memory: how long a part may take, and bytes of its memory beside the spectra that are read; or
        part_b_scans: how many B-scans it has, whole shards
    retries: of a part that failed, after 1, 4, 16 ... s
    overwrite: results of other settings are replaced
    verify: check sums of all that is there are compared first
    share: (i, n): only every n-th part, from the i-th; jobs of all shares together make the whole

    A job that is started again does only what is missing. What fails is in the result's `failures`, and stops nothing else.
    KeyboardInterrupt leaves what is done. Raises BadArgument, MissingFile, and Error where another job writes to `out`.
    """
    from . import job, lock, store
    from .progress import Progress

    if require not in _DEVICES:
        raise BadArgument(f'cannot be "{require}"', "require", 'give "cuda", "cpu" or None')
    index, of = share or (0, 1)
    if not 0 <= index < of:
        raise BadArgument(f"there is no share {index} of {of}", "share", "shares are counted from 0")
    listed = _scans.listed(scans)
    given = assignments({**settings, **({"recipe": recipe} if recipe else {})})
    place = store.opened(out)
    told = Progress(len(listed), progress)
    common = {"out": place.address, "device": _DEVICES[require], "threads": threads}
    planning = {"settings": tuple(given), "overwrite": overwrite, "verify": verify, "share": index, "of": of,
                "wanted": {"seconds": part_seconds, "memory": part_memory, "part_b_scans": part_b_scans}}
    with lock.Lock(place, "all" if share is None else f"{index}-of-{of}", told.tell), _executor(client, workers) as executor:
        return job.Job(executor, listed, common, planning, retries, told).run()


def map(function: Callable[[Any], Any], volumes: Scans, client: Any = None, *, workers: int | None = None,
        threads: int | None = None, progress: bool = True) -> list[Any]:
    """[function(echolux.load(path)) for each volume], on workers. What it returns comes back to this process: numbers and small
    arrays; what is large it had better write.

    volumes: a path, a pattern, or several, of files and folders
    client, workers, threads: as of reconstruct()

    Raises Incomplete after all others are done, where some failed: its `results` and `failures` tell.
    """
    from . import mapping
    from .progress import Progress

    paths = mapping.paths_of(volumes)
    with _executor(client, workers) as executor:
        return mapping.run(function, paths, executor, {"threads": threads}, Progress(len(paths), progress))


@contextlib.contextmanager
def _executor(client: Any, workers: int | None) -> Iterator[Any]:
    from . import executors

    if client is not None:
        yield executors.OverDask(client)
    elif workers == 0:
        yield executors.Here()
    else:
        with executors.local_client(workers) as mine:
            yield executors.OverDask(mine)
