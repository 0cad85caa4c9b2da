"""Options common to all jobs over many files."""
from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ..errors import BadArgument


@dataclass(frozen=True)
class JobOptions:
    """Keyword arguments of every job.

    workers: processes on this machine: by default one per GPU, or one; 0: only this process, without Dask
    threads: per worker, on separate cores; None: all
    retries: number of retries of a failed task, after 1, 4, 16 ... s
    overwrite: replace results of other settings
    verify: compare the checksums of existing results first
    progress: print the progress of the job on stderr
    """

    workers: int | None = None
    threads: int | None = None
    retries: int = 2
    overwrite: bool = False
    verify: bool = False
    progress: bool = True

    def __post_init__(self) -> None:
        require_positive(threads=self.threads)
        require_not_negative(workers=self.workers, retries=self.retries)


NAMES = tuple(one.name for one in fields(JobOptions))


def split(given: Mapping[str, Any], **defaults: Any) -> tuple[JobOptions, dict[str, Any]]:
    """Splits the arguments into those of all jobs and the rest. Raises BadArgument."""
    mine = {name: given[name] for name in NAMES if name in given}
    return JobOptions(**{**defaults, **mine}), {name: value for name, value in given.items() if name not in NAMES}


def near(name: str, others: Iterable[str] = ()) -> str:
    """Returns a hint at the argument that may have been meant; empty if none is similar."""
    found = difflib.get_close_matches(name, [*NAMES, *others], 1)
    return f"did you mean {found[0]}?" if found else ""


def only(given: Mapping[str, Any], others: Iterable[str] = (), **defaults: Any) -> JobOptions:
    """Accepts only arguments of JobOptions. others: further arguments of the function, for the hint."""
    options, rest = split(given, **defaults)
    for name in rest:
        raise BadArgument("is not an argument", name, near(name, others))
    return options


def require_positive(**values: float | None) -> None:
    for name, value in values.items():
        if value is not None and not value > 0:
            raise BadArgument(f"cannot be {value}", name, "give more than 0")


def require_not_negative(**values: int | None) -> None:
    for name, value in values.items():
        if value is not None and value < 0:
            raise BadArgument(f"cannot be {value}", name, "give 0 or more")
