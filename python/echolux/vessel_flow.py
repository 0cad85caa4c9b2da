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
    """Flow through a section of a vessel over time: numbers of the whole, and arrays with an element for each value.

    flow_ul_s, error_ul_s: mean over time and its uncertainty, of noise and angle
    en_face_ul_s: through planes of constant depth, which needs no angle; NaN where none holds the whole lumen
    place: (b, a, depth) of the section in voxels; direction: of the vessel along (b, a, depth), of length 1
    angle_deg: to the beam; angle_error: what it leaves uncertain, relative, of every value alike
    snr_db: of the lumen; NaN where no structure was given
    heart_rate_hz, heart_rate_error_hz, pulsatility: NaN where there is no heart rate, heart_problem says why
    volume, b_scan, time_s: of each value; b_scan is -1 of a whole section, time_s NaN where it is unknown
    values_ul_s, errors_ul_s: flow, and its error of noise alone; NaN where there is none
    mean_mm_s, area_mm2, wrapped: velocity along the vessel, area of the lumen, its share beyond the greatest velocity
    reasons: uint8, why there is a value or none, as an index into reason_names
    warnings: one line each
    """

    reason_names: tuple[str, ...] = tuple(_core.flow_reasons())
    """What the codes of `reasons` mean: "ok", "no_signal" ..."""

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
        """The table that `echolux flow -o` writes."""
        return self._core.table()

    def __len__(self) -> int:
        return len(self.values_ul_s)

    def __repr__(self) -> str:
        heart = f", {self.heart_rate_hz:.3g} Hz" if not self.heart_problem else ""
        return f"<VesselFlow {self.flow_ul_s:.4g} +- {self.error_ul_s:.2g} ul/s, {len(self)} value(s){heart}>"


def flow(velocities: Any, structure: Any = None, *, through: Sequence[float] | None = None,
         towards: Sequence[float] | None = None, each: str = "volume", step_s: float = 0, progress: Progress = None,
         **settings: Unpack[_sections.CrossSectionSettings]) -> VesselFlow:
    """The flow through a section of a vessel in ul/s, over time where there are several volumes, with the heart rate; as
    `echolux flow` measures it.

        found = ox.flow([one.flow for one in volumes], step_s=0.1, through=(12, 30, 140))

    velocities: Doppler flow, phasors or mm/s, of one size and spacing, in order of time: a Volume, a list, a Series
    structure: of the same reconstructions, in dB, intensity or amplitude: weighs blood where the beam blurs the vessel's wall,
        and refuses a lumen that is too dark; None: without
    through: (b, a, depth) of a point of the vessel in voxels; None: where it flows fastest
    towards: another point of its axis, which gives its course; None: that is fitted
    each: "volume", or "b-scan": each B-scan along the vessel at its own time
    step_s: from one volume to the next; 0: as their time_s says
    progress: as of Scan.reconstruct()
    settings: of the section [cross_section]: significance, reach_um, course_um, thickness_um, margin_um, min_tilt_deg,
        angle_error_deg, min_snr_db, heart_min_hz, heart_max_hz; docs/flow.md says what each does

    The heart rate is the sine with one overtone that fits best (N. R. Lomb, Astrophysics and Space Science 39, 1976). Raises
    BadSetting where nothing can be said of the flow, with the reason: noise, a single B-scan, a vessel at right angles to the
    beam, a lumen that reaches the edge; BadArgument.
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
    """(A-scan, B-scan, row) of (b, a, depth)."""
    if given is None:
        return None
    try:
        b, a, depth = (float(one) for one in given)
    except (TypeError, ValueError):
        raise BadArgument(f"is not a point: {given!r}", name, "give (b, a, depth) in voxels") from None
    return a, b, depth
