"""Surfaces between layers of tissue, and derived volumes."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import BadSetting, require_number, require_text
from .progress import Progress, watching
from .tissue import tissue_of, volume_of
from .volume import Volume

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import Unpack

    from . import _sections

_SLABS = {"mean": 0, "max": 1, "top3": 2}


class Surfaces:
    """Surfaces between layers, from top to bottom. They may touch but never cross. Immutable.

    names: of the surfaces; shape: (surfaces, b, a); unit: of depths, "um", or "rows" if the volume's spacing is unknown
    ambiguous, weak, missing: shares of all positions where two depths fit about equally well, where there is little
        evidence for any depth, and where no depth was found; moved: positions moved down to the surface above
    warnings: one line each
    """

    reason_names: tuple[str, ...] = tuple(_core.surface_reasons())
    """Meanings of the codes in `reasons`: "ok", "no_signal" ..."""

    def __init__(self, core: _core.Surfaces) -> None:
        self._core = core
        facts: dict[str, Any] = core.facts()
        self.names = tuple(core.names())
        self.shape: tuple[int, int, int] = facts["shape"]
        self.unit: str = facts["unit"]
        self.ambiguous: float = facts["ambiguous"]
        self.weak: float = facts["weak"]
        self.missing: float = facts["missing"]
        self.moved: int = facts["moved"]
        self.warnings: list[str] = core.warnings().splitlines()
        self._arrays: dict[str, Any] | None = None

    @staticmethod
    def open(path: str | os.PathLike[str], volume: Any) -> Surfaces:
        """Opens surfaces from path, a file written by save() or `echolux segment -o`, for a volume of the same size.
        Raises BadFile.
        """
        return Surfaces(_core.Surfaces.open(path, volume_of(volume, "volume")))

    def _array(self, name: str) -> Any:
        import numpy as np

        if self._arrays is None:
            arrays = {one: np.empty(self.shape, "u1" if one == "reasons" else "f4")
                      for one in ("depths", "rows", "quality", "reasons")}
            self._core.read(arrays)
            for array in arrays.values():
                array.flags.writeable = False
            self._arrays = arrays
        return self._arrays[name]

    @property
    def depths(self) -> np.ndarray[Any, Any]:
        """float32 [surface, b, a] in `unit`: um from zero delay; NaN without a depth."""
        depths: np.ndarray[Any, Any] = self._array("depths")
        return depths

    @property
    def rows(self) -> np.ndarray[Any, Any]:
        """float32 [surface, b, a]: depths in voxels of the volume, whose centres are whole numbers."""
        rows: np.ndarray[Any, Any] = self._array("rows")
        return rows

    @property
    def quality(self) -> np.ndarray[Any, Any]:
        """float32 [surface, b, a]: log-likelihood ratio to the next best depth, in nats."""
        quality: np.ndarray[Any, Any] = self._array("quality")
        return quality

    @property
    def reasons(self) -> np.ndarray[Any, Any]:
        """uint8 [surface, b, a]: why a depth was found or not, as an index into reason_names."""
        reasons: np.ndarray[Any, Any] = self._array("reasons")
        return reasons

    def index(self, name: str) -> int:
        """Index of the surface with that name. Raises BadSetting."""
        if name not in self.names:
            raise BadSetting(f"there is no surface {name!r}", "surface", "one of " + ", ".join(self.names))
        return self.names.index(name)

    def csv(self) -> str:
        """Returns the table written by `echolux segment -o FILE.csv`: b_scan, a_scan, surface, depth, quality, reason.
        """
        return self._core.table()

    def volume(self) -> Volume:
        """Returns the surfaces as written by `echolux segment -o`, to be saved: depths [surface, a, b]."""
        return Volume(self._core.volume())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes volume() to path; the extension selects the format. Raises OutputFailed, BadSetting."""
        self.volume().save(path, progress=False)

    def thickness(self, upper: str = "", lower: str = "") -> np.ndarray[Any, Any]:
        """Computes thickness maps float32 [layer, b, a] in `unit`: of each layer, or of everything between the surfaces
        upper and lower; NaN if one of them is missing. Raises BadSetting.
        """
        return _maps(self.thickness_volume(upper, lower))

    def thickness_volume(self, upper: str = "", lower: str = "") -> Volume:
        """Returns thickness() between upper and lower as written by `echolux segment --thickness`: [layer, a, b]."""
        require_text(upper=upper, lower=lower)
        return Volume(self._core.thickness(upper, lower))

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
        if value not in _SLABS:
            raise BadSetting(f"there is no {value!r}", "value", "one of " + ", ".join(_SLABS))
        return Volume(self._core.en_face(volume_of(volume, "volume"), upper, lower, float(below_upper_um),
                                         float(below_lower_um), _SLABS[value]))

    def flattened(self, volume: Any, level: str = "", *, back: bool = False) -> Volume:
        """Flattens a surface by shifting its volume in depth, with cubic interpolation between rows (R. Keys, IEEE
        TASSP 29, 1153, 1981).

        volume: same size as the segmented volume; level: name of the surface; empty: the first
        back: undoes the shift

        A-scans without the surface become empty. Raises BadSetting, BadArgument.
        """
        require_text(level=level)
        return Volume(self._core.flattened(volume_of(volume, "volume"), level, back))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<Surfaces {', '.join(self.names)} of {self.shape[1]}x{self.shape[2]} A-scans, depths in {self.unit}>"


def _maps(volume: Volume) -> np.ndarray[Any, Any]:
    """Returns [map, b, a] for [map, a, b] without a copy."""
    maps: np.ndarray[Any, Any] = volume[:].swapaxes(1, 2)
    return maps


def segment(volume: Any, layers: str = "retina", *, device: str = "auto", progress: Progress = None,
            **settings: Unpack[_sections.LayersSettings]) -> Surfaces:
    """Finds the surfaces between layers of a B-scan or volume, like `echolux segment`.

        surfaces = ox.segment(volume, "layers", count=4)
        surfaces.depths[0], surfaces.thickness()[0], surfaces.en_face(volume, "1", "2")

    volume: a structure Volume in dB, intensity or amplitude; an array [b, a, depth] is treated as intensities
    layers: layer model: "retina", "retina-macula", "retina-disc", "surface", "lumen", "layers" (any layered
        sample), or a file whose name ends in .toml
    device, progress: as in Scan.reconstruct()
    settings: of the section [layers]: names, count, polarity, min_um, max_um, smoothness, tissue_below, vessel_um,
        row_um, method, reach_um, brightness, usual_um, usual_sd_um, contrast, foot; see docs/layers.md

    Uses no learned weights, but likelihoods of speckle and semi-global sweeps (papers in docs/layers.md). Raises
    BadSetting if nothing can be distinguished from noise, for flow volumes, and for more boundaries than rows;
    BadArgument, OutOfMemory, DeviceFailed.
    """
    require_text(layers=layers, device=device)
    given = volume_of(volume, "volume")
    with watching(progress) as told:
        return Surfaces(_core.segmented(given, tissue_of("layers", settings, layers), device, told))
