"""Flow through a vessel, in ul/s over time, and the heart rate."""
from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import TYPE_CHECKING, Any

from .errors import BadArgument, require_number
from .operation import Result, run, volumes_of
from .progress import Progress
from .volume import Volume

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Unpack

    from . import _sections


class VesselFlow:
    """Flow through a vessel section over time: overall numbers, and read-only arrays with one element per value.

    flow_ul_s, error_ul_s: mean over time, and its uncertainty from noise and angle
    en_face_ul_s: through planes of constant depth, which needs no angle; NaN if no plane contains the whole lumen
    place: (b, a, depth) of the section in voxels; direction: unit vector of the vessel along (b, a, depth)
    angle_deg: to the beam; angle_error: its relative uncertainty, common to all values
    snr_db: of the lumen; NaN without structure
    heart_rate_hz, heart_rate_error_hz, pulsatility: NaN without a heart rate; heart_problem is the reason
    volume, b_scan, time_s: of each value; b_scan is -1 for a whole section, time_s NaN if unknown
    values_ul_s, errors_ul_s: flow, and its error from noise alone; NaN if unknown
    mean_mm_s, area_mm2, wrapped: velocity along the vessel, area of the lumen, share above the max measurable velocity
    reasons: uint8, why there is a value or not, as an index into reason_names
    reason_names: meanings of the codes in `reasons`: "ok", "no_signal" ...
    warnings: one line each
    """

    def __init__(self, found: Result) -> None:
        self._found = found
        self.flow_ul_s: float = found.flow_ul_s
        self.error_ul_s: float = found.error_ul_s
        self.en_face_ul_s: float = found.en_face_ul_s
        self.place = _of_axes(found.through)
        self.direction = _of_axes(found.direction)
        self.angle_deg: float = found.angle_deg
        self.angle_error: float = found.angle_error
        self.snr_db: float = found.snr_db
        self.heart_problem: str = found.no_heart_rate
        beats = not self.heart_problem
        self.heart_rate_hz: float = found.heart_rate_hz if beats else nan
        self.heart_rate_error_hz: float = found.heart_rate_error_hz if beats else nan
        self.pulsatility: float = found.pulsatility if beats else nan
        self.warnings: list[str] = found.warnings
        values = found.values
        self.volume, self.b_scan, self.time_s = values.volume, values.b_scan, values.time_s
        self.values_ul_s, self.errors_ul_s = values.flow_ul_s, values.error_ul_s
        self.mean_mm_s, self.area_mm2, self.wrapped = values.mean_mm_s, values.area_mm2, values.wrapped
        self.reasons, self.reason_names = values.reason, found.words("values.reason")

    def csv(self) -> str:
        """Returns the table written by `echolux flow -o`."""
        table: str = self._found.output_csv
        return table

    def __len__(self) -> int:
        return len(self.values_ul_s)

    def __repr__(self) -> str:
        heart = f", {self.heart_rate_hz:.3g} Hz" if not self.heart_problem else ""
        return f"<VesselFlow {self.flow_ul_s:.4g} +- {self.error_ul_s:.2g} ul/s, {len(self)} value(s){heart}>"


def flow(velocities: Any, structure: Any = None, *, through: Sequence[float] | None = None,
         towards: Sequence[float] | None = None, each: str = "volume", step_s: float = 0, progress: Progress = None,
         **settings: Unpack[_sections.CrossSectionSettings]) -> VesselFlow:
    """Measures the flow through a vessel section in ul/s, over time if there are several volumes, and the heart rate,
    like `echolux flow`.

        found = ox.flow([one.flow for one in volumes], step_s=0.1, through=(12, 30, 140))

    velocities: Doppler flow, phasors or mm/s, of one size and spacing, in order of time: a Volume, a list, a Series
    structure: of the same reconstructions, in dB, intensity or amplitude. It weights blood where the beam blurs the
        vessel wall, and rejects a lumen that is too dark; None: without
    through: (b, a, depth) of a point in the vessel in voxels; None: the fastest flow
    towards: another point on its axis, which determines its course; None: the course is fitted
    each: "volume", or "b-scan": one value per B-scan along the vessel at its own time
    step_s: interval between volumes; 0: from their time_s
    progress: as in Scan.reconstruct()
    settings: of the section [cross_section]: significance, reach_um, course_um, thickness_um, margin_um, min_tilt_deg,
        angle_error_deg, min_snr_db, heart_min_hz, heart_max_hz; see docs/flow.md

    The heart rate is that of the best-fitting sine with one overtone (N. R. Lomb, Astrophysics and Space Science 39,
    1976). Raises BadSetting with the reason if the flow cannot be determined: noise, a single B-scan, a vessel
    perpendicular to the beam, a lumen that reaches the edge; BadArgument.
    """
    require_number(step_s=step_s)
    moving = volumes_of(velocities, "velocities")
    found = run("flow", velocity=moving, structure=None if structure is None else volumes_of(structure, "structure"),
                through=_place(through, "through"), towards=_place(towards, "towards"), each=each, step_s=float(step_s),
                times_s=None if step_s else _times(moving), progress=progress, settings={"cross_section": settings})
    return VesselFlow(found)


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


def _of_axes(given: Sequence[float]) -> tuple[float, float, float]:
    """Converts numbers along A-scans, B-scans and depth to (b, a, depth)."""
    a, b, depth = given
    return b, a, depth
