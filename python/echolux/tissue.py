"""What is done with volumes of tissue: less speckle, the mean of several looks, attenuation."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import BadArgument, BadSetting, require_text
from .progress import Progress, watching
from .series import LazyVolume
from .settings import assignments
from .volume import Volume

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import _sections


def tissue_of(section: str, settings: Mapping[str, object], layers: str = "") -> _core.Tissue:
    """The settings of one section; an unknown name is refused with the nearest one."""
    return _core.Tissue(assignments({section: settings}), layers)


def volume_of(given: Any, name: str) -> Volume:
    """A volume, or an array [b, a, depth] as one that knows neither spacing nor unit."""
    if isinstance(given, LazyVolume):
        given = given.read()
    if isinstance(given, Volume):
        return given
    if isinstance(given, _core.Volume):
        return Volume(given)
    if isinstance(given, (str, bytes)) or not (hasattr(given, "__array__") or hasattr(given, "__dlpack__")):
        raise BadArgument(f"is not a volume but of type {type(given).__name__}", name,
                          "give an echolux.Volume (echolux.load(path)), or an array [b, a, depth]")
    return Volume.from_array(given)


def volumes_of(given: Any, name: str) -> list[Volume]:
    """One volume or several: a list, a Series, an array [volume, b, a, depth]."""
    if isinstance(given, (_core.Volume, LazyVolume)) or getattr(given, "ndim", None) == 3:
        return [volume_of(given, name)]
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise BadArgument(f"is not a list of volumes but of type {type(given).__name__}", name)
    return [volume_of(one, f"{name}[{i}]") for i, one in enumerate(given)]


def filter(volume: Any, *, device: str = "auto", progress: Progress = None,
           **settings: Unpack[_sections.FilterSettings]) -> Volume:
    """A volume with less speckle, as `echolux filter` writes it.

        smooth = ox.filter(volume, method="nlm", search_b_scans=1)

    volume: a Volume or LazyVolume of dB, intensity or amplitude, or an array [b, a, depth] with stored_as="db", "intensity" or "amplitude"
    device, progress: as of Scan.reconstruct()
    settings: of the section [filter]: method ("nlm", "median" or "bilateral"), looks, search_depth, search_a_scans,
        search_b_scans, patch, strength, median_size, sigma, range_db, stored_as; docs/filters.md says what each does

    The result has the shape, spacing, unit and codes of the volume; voxels without a value stay so. Filters work on linear
    power. Non-local means after C. Cuartas-Velez et al., Biomed. Opt. Express 9, 3354, 2018, bilateral after C. Tomasi and
    R. Manduchi, ICCV 1998.

    Raises BadSetting for velocities, complex voxels, volumes that do not say what they hold, and values out of their range,
    BadArgument, OutOfMemory, DeviceFailed.
    """
    require_text(device=device)
    given = volume_of(volume, "volume")
    with watching(progress) as told:
        return Volume(_core.filtered(given, tissue_of("filter", settings), device, told))


@dataclass(frozen=True)
class Average:
    """The mean of several looks at the same tissue.

    volume: the mean, in the quantity and codes of the first
    looks: how many there were; independent: as how many independent ones they count, 1 to looks: scatterers at rest keep
        their speckle
    """

    volume: Volume
    looks: int
    independent: float


def average(volumes: Any, *, looks: float = 1, stored_as: str = "auto") -> Average:
    """The mean power of several looks at the same tissue, as `echolux filter A B C` writes it.

    volumes: two or more of one size: a list of Volumes, a Series, or an array [volume, b, a, depth]; register() moves them
        over one another
    looks: independent speckle patterns that were averaged in each before
    stored_as: "db", "intensity" or "amplitude" where they do not say what they hold

    Of each voxel those looks count that have a value there. Raises BadArgument, BadSetting for another size, and as filter().
    """
    all_of_them = volumes_of(volumes, "volumes")
    if len(all_of_them) < 2:
        raise BadSetting("a mean takes several looks", "volumes", "give two or more")
    volume, independent = _core.averaged(all_of_them, tissue_of("filter", {"looks": looks, "stored_as": stored_as}))
    return Average(Volume(volume), len(all_of_them), independent)


@dataclass(frozen=True)
class Attenuation:
    """Attenuation coefficients.

    volume: in 1/mm, float32 [b, a, depth], NaN where nothing is known; its warnings say what was not corrected
    known: share of the voxels that have a value
    no_tail: share of the A-scans with tissue that get no darker at their end, so that little is known of them
    noise_floor_db: that was used
    """

    volume: Volume
    known: float
    no_tail: float
    noise_floor_db: float


def attenuation(volume: Any, *, progress: Progress = None, **settings: Unpack[_sections.AttenuationSettings]) -> Attenuation:
    """The attenuation coefficient of each voxel, as `echolux attenuation` writes it.

    volume: a Volume of dB, intensity or amplitude whose depth spacing is known
    progress: as of Scan.reconstruct()
    settings: of the section [attenuation]: window_a_scans, window_b_scans, noise_floor_db, min_snr_db, tail_rows,
        roll_off_db_per_mm, focus_um, rayleigh_um; docs/angiography.md says what each does

    By the depth-resolved model of single scattering (K. A. Vermeer et al., Biomedical Optics Express 5(1), 2014). Raises
    BadSetting where nothing stands out from the noise, without a depth spacing and for voxels that are no brightness;
    BadArgument, OutOfMemory.
    """
    given = volume_of(volume, "volume")
    with watching(progress) as told:
        made, (known, no_tail, floor) = _core.attenuation(given, tissue_of("attenuation", settings), told)
    return Attenuation(Volume(made), known, no_tail, floor)
