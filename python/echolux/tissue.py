"""Tissue analyses on volumes: speckle reduction, the mean of several looks, attenuation."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .errors import BadSetting
from .operation import run, volume_of, volumes_of
from .progress import Progress
from .volume import Volume

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from . import _sections


def filter(volume: Any, *, device: str = "auto", progress: Progress = None,
           **settings: Unpack[_sections.FilterSettings]) -> Volume:
    """Reduces speckle of a volume, like `echolux filter`.

        smooth = ox.filter(volume, method="nlm", search_b_scans=1)

    volume: a Volume or LazyVolume in dB, intensity or amplitude, or an array [b, a, depth] with stored_as="db",
        "intensity" or "amplitude"
    device, progress: as in Scan.reconstruct()
    settings: of the section [filter]: method ("nlm", "median" or "bilateral"), looks, search_depth, search_a_scans,
        search_b_scans, patch, strength, median_size, sigma, range_db, stored_as; see docs/filters.md

    The result has the shape, spacing, unit and codes of the volume. Voxels without a value stay so. Filters work on
    linear power. Non-local means after C. Cuartas-Velez et al., Biomed. Opt. Express 9, 3354, 2018, bilateral after C.
    Tomasi and R. Manduchi, ICCV 1998.

    Raises BadSetting for velocities, complex voxels, volumes of unknown quantity, and values out of range; BadArgument,
    OutOfMemory, DeviceFailed.
    """
    made: Volume = run("filter", input=volume_of(volume, "volume"), device=device, progress=progress,
                       settings={"filter": settings}).output
    return made


@dataclass(frozen=True)
class Average:
    """The mean of several looks at the same tissue.

    volume: the mean, in the quantity and codes of the first look
    looks: number of looks; independent: equivalent number of independent looks, from 1 to looks, because scatterers at
        rest keep their speckle
    """

    volume: Volume
    looks: int
    independent: float


def average(volumes: Any, *, looks: float = 1, stored_as: str = "auto") -> Average:
    """Computes the mean power of several looks at the same tissue, like `echolux filter A B C`.

    volumes: two or more of one size: a list of Volumes, a Series, or an array [volume, b, a, depth]; align them with
        register() first
    looks: independent speckle patterns already averaged in each volume
    stored_as: "db", "intensity" or "amplitude" if the volumes do not state their quantity

    For each voxel, only looks with a value are averaged. Raises BadArgument, BadSetting for another size, and as
    filter().
    """
    all_of_them = volumes_of(volumes, "volumes")
    if len(all_of_them) < 2:
        raise BadSetting("a mean takes several looks", "volumes", "give two or more")
    made = run("filter", input=all_of_them, progress=False, settings={"filter": {"looks": looks, "stored_as": stored_as}})
    return Average(made.output, made.looks, made.effective_looks)


@dataclass(frozen=True)
class Attenuation:
    """Attenuation coefficients.

    volume: in 1/mm, float32 [b, a, depth], NaN if unknown; its warnings list missing corrections
    known: share of voxels with a value
    no_tail: share of A-scans with tissue that do not get darker at their end, so their values are uncertain
    noise_floor_db: the noise floor that was used
    """

    volume: Volume
    known: float
    no_tail: float
    noise_floor_db: float


def attenuation(volume: Any, *, progress: Progress = None, **settings: Unpack[_sections.AttenuationSettings]) -> Attenuation:
    """Computes the attenuation coefficient of each voxel, like `echolux attenuation`.

    volume: a Volume in dB, intensity or amplitude with known depth spacing
    progress: as in Scan.reconstruct()
    settings: of the section [attenuation]: window_a_scans, window_b_scans, noise_floor_db, min_snr_db, tail_rows,
        roll_off_db_per_mm, focus_um, rayleigh_um; see docs/angiography.md

    Uses the depth-resolved model of single scattering (K. A. Vermeer et al., Biomedical Optics Express 5(1), 2014).
    Raises BadSetting if nothing can be distinguished from noise, without a depth spacing, and for voxels that do not
    contain brightness; BadArgument, OutOfMemory.
    """
    made = run("attenuation", input=volume_of(volume, "volume"), progress=progress, settings={"attenuation": settings})
    return Attenuation(made.output, made.known, made.no_tail, made.noise_floor_db)
