"""Flow through a vessel: places and times of volumes in memory for ox.operations.flow."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .errors import BadArgument, require_number
from .operation import run, volumes_of
from .volume import Volume

if TYPE_CHECKING:
    from .operations import _FlowResult


def flow(velocities: Any, structure: Any = None, *, through: Sequence[float] | None = None,
         towards: Sequence[float] | None = None, step_s: float = 0, **more: Any) -> _FlowResult:
    """Runs ox.operations.flow on volumes in memory.

        found = ox.flow([one.flow for one in volumes], step_s=0.1, through=(12, 30, 140))

    velocities, structure: as there: a Volume, a list, a Series
    through, towards: (b, a, depth) of a point in the vessel and of another one on its axis, in voxels
    step_s: interval between volumes; 0: from their time_s
    more: further arguments of the operation
    """
    require_number(step_s=step_s)
    moving = volumes_of(velocities, "velocities")
    found: Any = run("flow", velocity=moving, structure=None if structure is None else volumes_of(structure, "structure"),
                     through=_place(through, "through"), towards=_place(towards, "towards"), step_s=float(step_s),
                     times_s=None if step_s else _times(moving), **more)
    return found


def _times(volumes: Sequence[Volume]) -> list[float] | None:
    """Start times of the volumes; None if they do not increase."""
    times = [volume.time_s for volume in volumes]
    return times if len(times) > 1 and all(a < b for a, b in zip(times, times[1:])) else None


def _place(given: Sequence[float] | None, name: str) -> str | None:
    """Converts (b, a, depth) to "A,B,ROW"."""
    if given is None:
        return None
    try:
        b, a, depth = (float(one) for one in given)
    except (TypeError, ValueError):
        raise BadArgument(f"is not a point: {given!r}", name, "give (b, a, depth) in voxels") from None
    return f"{a!r},{b!r},{depth!r}"
