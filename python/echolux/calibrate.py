"""Calibration from arrays: backgrounds, noise, k map, dispersion, roll-off.

Functions that receive a scan use its calibration and recipe. Spectra are arrays [b, a, samples] as described in
Scan.shape, with any number of B-scans.
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
    """Returns the mean of all lines in counts [samples]: a background, a dark spectrum or a mirror spectrum.

    scan: format of the spectra; spectra: [b, a, samples]. Raises BadArgument.
    """
    return _numbers(_core.mean_spectrum(scan._core, _block(scan, spectra)))


def noise_floor_db(scan: Scan, spectra: Any) -> float:
    """Measures the noise floor in dB that recipe.noise_floor_db = 0 requires: the level of the quietest depths.

    scan: its calibration and recipe are used; spectra: [b, a, samples]. Raises BadArgument, BadSetting.
    """
    return _core.measure_noise_floor(scan._core, _block(scan, spectra))


def noise_profile(scan: Scan, spectra: Any) -> np.ndarray[Any, Any]:
    """Returns the mean amplitude of each depth bin [bins] in counts, for scan.calibration["noise_floor"].

    scan: its calibration and recipe are used; spectra: [b, a, samples], recorded without a sample. Raises BadArgument,
        BadSetting.
    """
    return _numbers(_core.noise_profile(scan._core, _block(scan, spectra)))


@dataclass(frozen=True)
class Mirrors:
    """Calibration of an instrument from two mirrors.

    k_positions, dispersion_rad: [samples], for scan.calibration
    a2_rad, a3_rad: the dispersion as coefficients
    depth_pitch_um: size of a bin in air; 0 without a displacement
    bin: depth of each mirror; fwhm_before, fwhm: widths in bins, without and with k map and dispersion
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
        """Sets the k map, the dispersion and, if known, the depth pitch of a scan."""
        scan.calibration["k_positions"] = self.k_positions
        scan.calibration["dispersion_rad"] = self.dispersion_rad
        if self.depth_pitch_um > 0:
            scan.calibration.depth_pitch_um = self.depth_pitch_um


def mirrors(near: Any, far: Any, background: Any, dark: Any = None, *, opposite_sides: bool = False, k_falls: bool = False,
            displacement_um: float = 0, centre_wavelength_nm: float = 0) -> Mirrors:
    """Calibrates k map and dispersion of an instrument from mean spectra of a mirror at two depths.

    near: on the side of zero delay where samples will be; far: at another depth; both in counts [samples]
    background: without the mirror; dark: without light
    opposite_sides: the mirrors are on opposite sides of zero delay; k_falls: k decreases along the samples
    displacement_um: distance of the two, in air; centre_wavelength_nm: of the light source; 0 if unknown

    Raises BadSetting if a mirror has no fringe or the k map is not monotone.
    """
    found: dict[str, Any] = _core.mirrors(_numbers(near).tolist(), _numbers(far).tolist(), _numbers(background).tolist(),
                                          [] if dark is None else _numbers(dark).tolist(), opposite_sides, k_falls,
                                          displacement_um, centre_wavelength_nm)
    found.update({name: _numbers(found[name]) for name in ("k_positions", "dispersion_rad")})
    return Mirrors(**found)


@dataclass(frozen=True)
class Dispersion:
    """Dispersion coefficients that make depth profiles sharpest.

    a2_rad, a3_rad: for recipe.a2_rad and recipe.a3_rad
    entropy_before, entropy: of the depth profiles, without and with them
    is_sharp: False if no reflector gets sharper; do not use the coefficients then
    """

    a2_rad: float
    a3_rad: float
    entropy_before: float
    entropy: float
    is_sharp: bool


def dispersion(scan: Scan, spectra: Any, *, range_rad: float = 80, lines: int = 64, depths: tuple[int, int] = (0, 0),
               device: str = "auto", progress: Progress = None) -> Dispersion:
    """Searches the dispersion that makes depth profiles sharpest.

    scan: its calibration and recipe are used; spectra: [b, a, samples] of a sample or a mirror
    range_rad: limit of both coefficients; lines: max number of A-scans evaluated
    depths: bins [begin, end) with reflections; (0, 0): beyond zero delay
    device, progress: as in Scan.reconstruct()

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
    """A mirror at one depth. Bins are counted without zero padding.

    bin: its depth; bin_um: size of a bin in air, 0 if unknown; level_db: of |A| in counts
    snr_db: peak power over the noise power of one A-scan; fwhm_bins: width of |A|
    lines: number of lines averaged in power; bins: number of bins in the one-sided range
    is_opposite: the mirror is beyond zero delay
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
    """Measures the mirror in spectra [b, a, samples], with the calibration and recipe of scan. It is searched in the
    bins depths = [begin, end); (0, 0): beyond the first 5 % of the range.

    background: without the mirror [samples]; None: that of the scan's calibration, if any.
    Raises BadFile if no peak is 13 dB above the noise.
    """
    for depth in depths:
        require_whole(depths=depth)
    without = [] if background is None else _numbers(background).tolist()
    return MirrorReading(**_core.mirror(scan._core, _block(scan, spectra), without, *depths))


@dataclass(frozen=True)
class RollOff:
    """Sensitivity roll-off of a spectrometer.

    at_zero_db: level extrapolated to zero delay; six_db_bin: depth at which 6 dB are lost, None if beyond the range
    resolution: spectral resolution in units of the sample spacing; rms_db: deviation of the levels from the fit
    """

    at_zero_db: float
    six_db_bin: float | None
    resolution: float
    rms_db: float


def roll_off(depth_bins: Any, levels_db: Any, bins: int) -> RollOff:
    """Fits the roll-off to mirror levels at two or more depths.

    depth_bins, levels_db: see MirrorReading.bin and MirrorReading.level_db
    bins: number of bins in the one-sided range (MirrorReading.bins)

    Raises BadSetting if no roll-off fits.
    """
    return RollOff(**_core.roll_off(_numbers(depth_bins).tolist(), _numbers(levels_db).tolist(), bins))
