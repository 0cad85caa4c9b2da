"""Flow through a vessel, in ul/s over time, and the heart rate."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import BadArgument, BadSetting, require_number
from .progress import Progress, watching
from .tissue import tissue_of, volumes_of

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Unpack

    from . import _sections


class VesselFlow:
    """Flow through a vessel section over time: overall numbers, and arrays with one element per value over time.

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
    warnings: one line each
    """

    reason_names: tuple[str, ...] = tuple(_core.flow_reasons())
    """Meanings of the codes in `reasons`: "ok", "no_signal" ..."""

    def __init__(self, core: _core.VesselFlow) -> None:
        import numpy as np

        self._core = core
        facts: dict[str, Any] = core.facts()
        self.flow_ul_s: float = facts["flow_ul_s"]
        self.error_ul_s: float = facts["error_ul_s"]
        self.en_face_ul_s: float = facts["en_face_ul_s"]
        self.place: tuple[float, float, float] = facts["place"]
        self.direction: tuple[float, float, float] = facts["direction"]
        self.angle_deg: float = facts["angle_deg"]
        self.angle_error: float = facts["angle_error"]
        self.snr_db: float = facts["snr_db"]
        self.heart_rate_hz: float = facts["heart_rate_hz"]
        self.heart_rate_error_hz: float = facts["heart_rate_error_hz"]
        self.pulsatility: float = facts["pulsatility"]
        self.heart_problem: str = core.heart_problem()
        self.warnings: list[str] = core.warnings().splitlines()
        kinds = {"volume": "i8", "b_scan": "i8", "time_s": "f8", "flow_ul_s": "f8", "error_ul_s": "f8", "mean_mm_s": "f8",
                 "area_mm2": "f8", "wrapped": "f8", "reasons": "u1"}
        arrays = {name: np.empty(facts["values"], kind) for name, kind in kinds.items()}
        core.read(arrays)
        self.volume, self.b_scan, self.time_s = arrays["volume"], arrays["b_scan"], arrays["time_s"]
        self.values_ul_s, self.errors_ul_s = arrays["flow_ul_s"], arrays["error_ul_s"]
        self.mean_mm_s, self.area_mm2, self.wrapped = arrays["mean_mm_s"], arrays["area_mm2"], arrays["wrapped"]
        self.reasons = arrays["reasons"]

    def csv(self) -> str:
        """Returns the table written by `echolux flow -o`."""
        return self._core.table()

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
    if each not in ("volume", "b-scan"):
        raise BadSetting(f"there is no {each!r}", "each", 'give "volume" or "b-scan"')
    require_number(step_s=step_s)
    moving = volumes_of(velocities, "velocities")
    still = [] if structure is None else volumes_of(structure, "structure")
    with watching(progress) as told:
        return VesselFlow(_core.measured_flow(moving, still, _place(through, "through"), _place(towards, "towards"),
                                              each == "b-scan", float(step_s), tissue_of("cross_section", settings), told))


def _place(given: Sequence[float] | None, name: str) -> tuple[float, float, float] | None:
    """Converts (b, a, depth) to (A-scan, B-scan, row)."""
    if given is None:
        return None
    try:
        b, a, depth = (float(one) for one in given)
    except (TypeError, ValueError):
        raise BadArgument(f"is not a point: {given!r}", name, "give (b, a, depth) in voxels") from None
    return a, b, depth
