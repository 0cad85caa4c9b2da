"""Registration: removes motion from volumes by finding the position of each B-scan."""
from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .errors import BadArgument
from .operation import Result, run, volume_of, volumes_of
from .progress import Progress
from .volume import Volume

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Unpack

    from . import _sections


class Registration:
    """Positions found for the B-scans of volumes, as read-only arrays [volume, b].

    Sample (a, depth) of B-scan b maps to (a + x, depth + z) of B-scan b + y of the reference; NaN without a position.

    z, x, y: float64, shifts in depth rows, A-scans and B-scans; quality: float64, normalised cross-correlation
    reasons: uint8, why a position was found or not, as an index into reason_names
    reason_names: meanings of the codes in `reasons`: "ok", "no_signal" ...
    saccades: bool, fast eye movement in this B-scan; warnings: one line each
    """

    def __init__(self, made: Result, given: dict[str, Any]) -> None:
        self._made, self._given = made, given
        shifts = made.shifts
        self.z, self.x, self.y, self.quality = shifts.z, shifts.x, shifts.y, shifts.quality
        self.reasons, self.reason_names = shifts.reason, made.words("shifts.reason")
        self.saccades = shifts.saccade.view(bool)
        self.warnings: list[str] = made.warnings

    @property
    def is_placed(self) -> np.ndarray[Any, Any]:
        """bool [volume, b]: the B-scan has a position."""
        placed: np.ndarray[Any, Any] = self.reasons == 0
        return placed

    @property
    def shifts_um(self) -> np.ndarray[Any, Any]:
        """float64 [3, volume, b]: z, x and y in um. Raises BadArgument if the spacing is unknown."""
        import numpy as np

        b, a, depth = self._given["input"][0].spacing_um
        if min(b, a, depth) <= 0:
            raise BadArgument("is unknown along one axis or more", "spacing_um", "use z, x and y, which are in voxels")
        return np.stack([self.z * depth, self.x * a, self.y * b])

    @property
    def mean(self) -> Volume:
        """The mean power of all volumes on the voxels of the reference, float32, as written by `echolux register -o`;
        NaN without data.
        """
        mean: Volume = self._made.output
        return mean

    def volume(self, number: int = 0, *, progress: Progress = None) -> Volume:
        """Returns one of the volumes (number) with its B-scans at their positions, float32; NaN without data. The
        volumes are registered once more; progress as in Scan.reconstruct(). Raises BadArgument.
        """
        if not 0 <= number < len(self):
            raise BadArgument("there is no such volume", "number", f"from 0 to {len(self) - 1}")
        moved: Volume = run("register", **self._given, registered=operator.index(number), progress=progress).output
        return moved

    def csv(self) -> str:
        """Returns the table written by `echolux register --table`."""
        table: str = self._made.table_csv
        return table

    def __len__(self) -> int:
        return len(self.z)

    def __repr__(self) -> str:
        return f"<Registration of {len(self)} volume(s), {int(self.is_placed.sum())} of {self.z.size} B-scans have a place>"


def register(volumes: Any, reference: Any = 0, *, device: str = "auto", progress: Progress = None,
             **settings: Unpack[_sections.RegistrationSettings]) -> Registration:
    """Registers volumes to one of them or to another one, B-scan by B-scan, like `echolux register`.

        found = ox.register([first, second, third])
        found.mean.save("mean.nrrd")
        moved = ox.register(second, first).volume()

    volumes: structure of one size in dB, intensity or amplitude: a Volume, a list of Volumes, a Series, an array
        [volume, b, a, depth]
    reference: a Volume, or the index of one of the volumes. The B-scans of a single volume without a reference are
        aligned to their neighbours. A level, a slope and a bow in depth (`tissue_order`), and motion slower than a
        sixteenth of the volume, remain. If its first `crosses` B-scans run across the others (scan.protocol
        raster_cross), the others are aligned to them, which also removes slow motion. The crosses have zero shift and
        are not part of mean, volume() and csv().
    device, progress: as in Scan.reconstruct()
    settings: of the section [registration]: axial_range, lateral_range, row_range, strip, min_quality, saccade_speed,
        tissue_order, crosses; see docs/tissue.md

    Strips of B-scans after C. R. Vogel et al., Optics Express 14(2), 2006, and S. B. Stevenson and A. Roorda, Proc.
    SPIE 5688, 2005. Motion of the reference itself is not corrected. Raises BadSetting if nothing matches (noise,
    another location, a single B-scan), for another size, and for velocities; BadArgument, OutOfMemory.
    """
    given: dict[str, Any] = {"input": volumes_of(volumes, "volumes"), "device": device,
                             "settings": {"registration": settings}}
    if hasattr(reference, "__index__") and not hasattr(reference, "shape"):
        given["reference_volume"] = operator.index(reference)
    else:
        given["reference"] = volume_of(reference, "reference")
    return Registration(run("register", **given, table=True, progress=progress), given)
