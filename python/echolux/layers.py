"""Surfaces between layers of tissue, and derived volumes."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .errors import BadArgument, BadSetting, require_number, require_text
from .operation import Result, run, volume_of
from .progress import Progress
from .volume import Volume

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Unpack

    from . import _sections


class Surfaces:
    """Surfaces between layers, from top to bottom. They may touch but never cross. Immutable.

    names: of the surfaces; shape: (surfaces, b, a); unit: of depths, "um", or "rows" if the volume's spacing is unknown
    depths: float32 [surface, b, a] in `unit`: um from zero delay; NaN without a depth
    rows: float32 [surface, b, a]: depths in voxels of the volume, whose centres are whole numbers
    quality: float32 [surface, b, a]: log-likelihood ratio to the next best depth, in nats
    reasons: uint8 [surface, b, a]: why a depth was found or not, as an index into reason_names
    reason_names: meanings of the codes in `reasons`: "ok", "no_signal" ...
    ambiguous, weak, missing: shares of all positions where two depths fit about equally well, where there is little
        evidence for any depth, and where no depth was found; moved: positions moved down to the surface above
    warnings: one line each

    Keeps the segmented volume in memory.
    """

    def __init__(self, found: Result, volume: Volume) -> None:
        self._found, self._volume = found, volume
        self._depths: Volume = found.output
        self.names: tuple[str, ...] = tuple(found.surfaces)
        self.unit: str = self._depths.unit
        self.ambiguous: float = found.ambiguous
        self.weak: float = found.weak
        self.missing: float = found.missing
        self.moved: int = found.moved
        self.warnings: list[str] = found.warnings
        places = found.places
        self.depths: np.ndarray[Any, Any] = places.depth
        self.rows: np.ndarray[Any, Any] = places.row
        self.quality: np.ndarray[Any, Any] = places.quality
        self.reasons: np.ndarray[Any, Any] = places.reason
        self.reason_names = found.words("places.reason")
        self.shape: tuple[int, int, int] = places.depth.shape

    @staticmethod
    def open(path: str | os.PathLike[str], volume: Any) -> Surfaces:
        """Opens surfaces from path, a file written by save() or `echolux segment -o`, for a volume of the same size.
        Raises BadFile.
        """
        given = volume_of(volume, "volume")
        return Surfaces(run("segment", input=given, surfaces=os.fsdecode(path), progress=False), given)

    def _derived(self, volume: Any, output: str, **how: Any) -> Volume:
        """Returns a volume that an operation makes of another one and these surfaces."""
        given, ours = volume_of(volume, "volume"), self._volume
        if (given.shape, given.spacing_um[2], given.first_depth_um) != (ours.shape, ours.spacing_um[2], ours.first_depth_um):
            raise BadArgument("differs in size or depths from the one in which the surfaces lie", "volume",
                              "give a volume of the same reconstruction")
        how.update({"output": False, output: True})
        derived: Volume = getattr(run("segment", input=given, surfaces=self._depths, progress=False, **how), output)
        return derived

    def index(self, name: str) -> int:
        """Index of the surface with that name. Raises BadSetting."""
        if name not in self.names:
            raise BadSetting(f"there is no surface {name!r}", "surface", "one of " + ", ".join(self.names))
        return self.names.index(name)

    def csv(self) -> str:
        """Returns the table written by `echolux segment -o FILE.csv`: b_scan, a_scan, surface, depth, quality, reason.
        """
        table: str = self._found.output_csv
        return table

    def volume(self) -> Volume:
        """Returns the surfaces as written by `echolux segment -o`, to be saved: depths [surface, a, b]."""
        return self._depths

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes volume() to path as Volume.save() does; the extension selects the format. Raises OutputFailed, BadSetting."""
        self.volume().save(path, overwrite=overwrite, progress=False)

    def thickness(self, upper: str = "", lower: str = "") -> np.ndarray[Any, Any]:
        """Computes thickness maps float32 [layer, b, a] in `unit`: of each layer, or of everything between the surfaces
        upper and lower; NaN if one of them is missing. Raises BadSetting.
        """
        return _maps(self.thickness_volume(upper, lower))

    def thickness_volume(self, upper: str = "", lower: str = "") -> Volume:
        """Returns thickness() between upper and lower as written by `echolux segment --thickness`: [layer, a, b]."""
        require_text(upper=upper, lower=lower)
        return self._derived(self._volume, "thickness", between=_between(upper, lower))

    def en_face(self, volume: Any, upper: str = "", lower: str = "", *, value: str = "mean", below_upper_um: float = 0,
                below_lower_um: float = 0) -> np.ndarray[Any, Any]:
        """Projects the slab between two surfaces of a volume to a map [b, a] in the volume's unit; NaN for an empty
        slab.

        volume: the segmented volume, or another one of the same size, such as its flow
        upper, lower: names of the surfaces; empty: the first and the last
        value: "mean" (of intensities, converted to dB if the volume is in dB), "max" or "top3" (mean of the three
            largest)
        below_upper_um, below_lower_um: offsets of the slab below its surfaces; negative: above

        Raises BadSetting, and BadArgument for a volume of another size.
        """
        map_of_slab: np.ndarray[Any, Any] = _maps(self.en_face_volume(
            volume, upper, lower, value=value, below_upper_um=below_upper_um, below_lower_um=below_lower_um))[0]
        return map_of_slab

    def en_face_volume(self, volume: Any, upper: str = "", lower: str = "", *, value: str = "mean",
                       below_upper_um: float = 0, below_lower_um: float = 0) -> Volume:
        """Returns en_face() of a volume between upper and lower (value, below_upper_um, below_lower_um as there) as
        written by `echolux segment --en-face`: [1, a, b].
        """
        require_text(upper=upper, lower=lower, value=value)
        require_number(below_upper_um=below_upper_um, below_lower_um=below_lower_um)
        return self._derived(volume, "en_face", between=_between(upper, lower), projection=value,
                             below_upper_um=below_upper_um, below_lower_um=below_lower_um)

    def flattened(self, volume: Any, level: str = "", *, back: bool = False) -> Volume:
        """Flattens a surface by shifting its volume in depth, with cubic interpolation between rows (R. Keys, IEEE
        TASSP 29, 1153, 1981).

        volume: same size as the segmented volume; level: name of the surface; empty: the first
        back: undoes the shift

        A-scans without the surface become empty. Raises BadSetting, BadArgument.
        """
        require_text(level=level)
        return self._derived(volume, "unflatten" if back else "flatten", level=level)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<Surfaces {', '.join(self.names)} of {self.shape[1]}x{self.shape[2]} A-scans, depths in {self.unit}>"


def _between(upper: str, lower: str) -> str:
    return f"{upper}:{lower}" if upper or lower else ""


def _maps(volume: Volume) -> np.ndarray[Any, Any]:
    """Returns [map, b, a] for [map, a, b] without a copy."""
    maps: np.ndarray[Any, Any] = volume[:].swapaxes(1, 2)
    return maps


def segment(volume: Any, layers: str = "retina", *, stored_as: str = "auto", device: str = "auto",
            progress: Progress = None, **settings: Unpack[_sections.LayersSettings]) -> Surfaces:
    """Finds the surfaces between layers of a B-scan or volume, like `echolux segment`.

        surfaces = ox.segment(volume, "layers", count=4)
        surfaces.depths[0], surfaces.thickness()[0], surfaces.en_face(volume, "1", "2")

    volume: a structure Volume in dB, intensity or amplitude; an array [b, a, depth] is treated as intensities
    layers: layer model: "retina", "retina-macula", "retina-disc", "surface", "skin", "anterior", "coating", "lumen",
        "layers" (any layered sample), or a file whose name ends in .toml
    stored_as: what the voxels hold, if the volume does not state it: "db", "intensity", "amplitude", "fourth-root", "log"
    device, progress: as in Scan.reconstruct()
    settings: of the section [layers]: names, count, polarity, min_um, max_um, smoothness, tissue_below, vessel_um,
        row_um, method, reach_um, brightness, usual_um, usual_sd_um, contrast, foot; see docs/layers.md

    Uses no learned weights, but likelihoods of speckle and semi-global sweeps (papers in docs/layers.md). Raises
    BadSetting if nothing can be distinguished from noise, for flow volumes, and for more boundaries than rows;
    BadArgument, OutOfMemory, DeviceFailed.
    """
    require_text(layers=layers, stored_as=stored_as)
    given = volume_of(volume, "volume")
    return Surfaces(run("segment", input=given, preset=layers, stored_as=stored_as, device=device, progress=progress,
                        settings={"layers": settings}), given)
