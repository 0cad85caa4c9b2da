"""Calibration of arrays: backgrounds, noise, k map, dispersion, roll-off.

Functions that take a scan use its calibration and recipe; spectra are arrays [b, a, samples] as Scan.shape says, of any
number of B-scans.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core
from .arrays import host_copy, in_native_order, known_array
from .errors import require_number, require_text, require_whole
from .progress import Progress, watching
from .scan import Scan

if TYPE_CHECKING:
    import numpy as np


def _numbers(values: Any) -> np.ndarray[Any, Any]:
    import numpy as np

    return np.ascontiguousarray(values, np.float64).reshape(-1)


def _block(scan: Scan, spectra: Any) -> Any:
    return host_copy(in_native_order(known_array(spectra), scan.scan.byte_order))


def mean_spectrum(scan: Scan, spectra: Any) -> np.ndarray[Any, Any]:
    """Mean of all lines in counts [samples]: a background, a dark spectrum, a mirror.

    scan: how spectra are stored; spectra: [b, a, samples]. Raises BadArgument.
    """
    return _numbers(_core.mean_spectrum(scan._core, _block(scan, spectra)))


def noise_floor_db(scan: Scan, spectra: Any) -> float:
    """What recipe.noise_floor_db = 0 asks for, in dB: the level of the quietest depths.

    scan: by whose calibration and recipe; spectra: [b, a, samples]. Raises BadArgument, BadSetting.
    """
    return _core.measure_noise_floor(scan._core, _block(scan, spectra))


def noise_profile(scan: Scan, spectra: Any) -> np.ndarray[Any, Any]:
    """Mean amplitude of each depth bin [bins] in counts, for scan.calibration["noise_floor"].

    scan: by whose calibration and recipe; spectra: [b, a, samples] without a sample. Raises BadArgument, BadSetting.
    """
    return _numbers(_core.noise_profile(scan._core, _block(scan, spectra)))


@dataclass(frozen=True)
class Mirrors:
    """What two mirrors tell of an instrument.

    k_positions, dispersion_rad: [samples], for scan.calibration
    a2_rad, a3_rad: the same dispersion as coefficients
    depth_pitch_um: of one bin in air; 0: no displacement was given
    bin: depth of each mirror; fwhm_before, fwhm: of each in bins, without and with map and dispersion
    """

    k_positions: np.ndarray[Any, Any]
    dispersion_rad: np.ndarray[Any, Any]
    a2_rad: float
    a3_rad: float
    depth_pitch_um: float
    bin: tuple[float, float]
    fwhm_before: tuple[float, float]
    fwhm: tuple[float, float]

    def apply(self, scan: Scan) -> None:
        """Sets map, dispersion and, where it is known, the depth pitch of a scan."""
        scan.calibration["k_positions"] = self.k_positions
        scan.calibration["dispersion_rad"] = self.dispersion_rad
        if self.depth_pitch_um > 0:
            scan.calibration.depth_pitch_um = self.depth_pitch_um


def mirrors(near: Any, far: Any, background: Any, dark: Any = None, *, opposite_sides: bool = False, k_falls: bool = False,
            displacement_um: float = 0, centre_wavelength_nm: float = 0) -> Mirrors:
    """The k map and the dispersion of an instrument, from mean spectra of one mirror at two depths.

    near: on the side of zero delay where samples will be; far: elsewhere; all in counts [samples]
    background: without the mirror; dark: without light
    opposite_sides: of zero delay; k_falls: k descends along the samples
    displacement_um: between the two, in air; centre_wavelength_nm; 0: unknown
    Raises BadSetting where a mirror shows no fringe, or no monotone map comes out.
    """
    found: dict[str, Any] = _core.mirrors(_numbers(near).tolist(), _numbers(far).tolist(), _numbers(background).tolist(),
                                          [] if dark is None else _numbers(dark).tolist(), opposite_sides, k_falls,
                                          displacement_um, centre_wavelength_nm)
    found.update({name: _numbers(found[name]) for name in ("k_positions", "dispersion_rad")})
    return Mirrors(**found)


@dataclass(frozen=True)
class Dispersion:
    """Coefficients that make depth profiles sharpest.

    a2_rad, a3_rad: for recipe.a2_rad and recipe.a3_rad
    entropy_before, entropy: of the depth profiles, without and with them
    is_sharp: False: there is no reflector that they sharpen, do not use them
    """

    a2_rad: float
    a3_rad: float
    entropy_before: float
    entropy: float
    is_sharp: bool


def dispersion(scan: Scan, spectra: Any, *, range_rad: float = 80, lines: int = 64, depths: tuple[int, int] = (0, 0),
               device: str = "auto", progress: Progress = None) -> Dispersion:
    """The dispersion that makes depth profiles sharpest.

    scan: by whose calibration and recipe; spectra: [b, a, samples] of a sample or a mirror
    range_rad: of both coefficients, on either side of zero; lines: most that are looked at
    depths: bins [begin, end) in which something reflects; (0, 0): past zero delay
    device, progress: as of Scan.reconstruct()

    Raises BadArgument, BadSetting.
    """
    require_text(device=device)
    require_number(range_rad=range_rad)
    require_whole(lines=lines)
    for depth in depths:
        require_whole(depths=depth)
    with watching(progress) as told:
        return Dispersion(**_core.dispersion(scan._core, _block(scan, spectra), range_rad, lines, depths[0], depths[1],
                                             device, told))


@dataclass(frozen=True)
class MirrorReading:
    """A mirror at one depth; bins are those without zero padding.

    bin: its depth; bin_um: one bin in air, 0 where it is unknown; level_db: of |A| in counts
    snr_db: the peak's power over the noise of one A-scan; fwhm_bins: of |A|
    lines: whose power was averaged; bins: of the one-sided range; is_opposite: it stands beyond zero delay
    """

    bin: float
    bin_um: float
    level_db: float
    snr_db: float
    fwhm_bins: float
    lines: int
    bins: int
    is_opposite: bool


def mirror(scan: Scan, spectra: Any, background: Any = None, *, depths: tuple[int, int] = (0, 0)) -> MirrorReading:
    """The mirror in spectra of it [b, a, samples], looked for in the bins depths = [begin, end); (0, 0): past the first
    twentieth. By the calibration and recipe of scan.

    background: without the mirror [samples]; None: that of the scan's calibration, or none.
    Raises BadFile where no peak stands 13 dB above the noise.
    """
    for depth in depths:
        require_whole(depths=depth)
    without = [] if background is None else _numbers(background).tolist()
    return MirrorReading(**_core.mirror(scan._core, _block(scan, spectra), without, *depths))


@dataclass(frozen=True)
class RollOff:
    """The fall-off of a spectrometer.

    at_zero_db: level extrapolated to zero delay; six_db_bin: where 6 dB are lost, None where not within the range
    resolution: spectral resolution in units of the sample spacing; rms_db: how far the levels lie from the fit
    """

    at_zero_db: float
    six_db_bin: float | None
    resolution: float
    rms_db: float


def roll_off(depth_bins: Any, levels_db: Any, bins: int) -> RollOff:
    """The fall-off through the levels of a mirror at several depths, at least two.

    depth_bins, levels_db: of each, as MirrorReading.bin and MirrorReading.level_db
    bins: of the one-sided range (MirrorReading.bins)

    Raises BadSetting where no fall-off fits.
    """
    return RollOff(**_core.roll_off(_numbers(depth_bins).tolist(), _numbers(levels_db).tolist(), bins))
