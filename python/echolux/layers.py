"""Surfaces between the layers of tissue, and what follows from them."""
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
    """Surfaces between layers, from above; they touch, but never cross. They never change.

    names: of the surfaces; shape: (surfaces, b, a); unit: of depths, "um", or "rows" where the volume's spacing is unknown
    ambiguous, weak, missing: shares of all places at which two depths fit about as well, hardly anything speaks for any
        depth, there is no depth; moved: places that were moved down to the surface above them
    warnings: one line each
    """

    reason_names: tuple[str, ...] = tuple(_core.surface_reasons())
    """What the codes of `reasons` mean: "ok", "no_signal" ..."""

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
        """Those of the file at path, which save() or `echolux segment -o` wrote, for a volume of the same size. Raises BadFile."""
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
        """float32 [surface, b, a] in `unit`: um from zero delay; NaN where there is none."""
        depths: np.ndarray[Any, Any] = self._array("depths")
        return depths

    @property
    def rows(self) -> np.ndarray[Any, Any]:
        """float32 [surface, b, a]: the same in voxels of the volume, whose centres are whole numbers."""
        rows: np.ndarray[Any, Any] = self._array("rows")
        return rows

    @property
    def quality(self) -> np.ndarray[Any, Any]:
        """float32 [surface, b, a]: by how much, in nats, the next best depth is less likely."""
        quality: np.ndarray[Any, Any] = self._array("quality")
        return quality

    @property
    def reasons(self) -> np.ndarray[Any, Any]:
        """uint8 [surface, b, a]: why there is a depth or none, as an index into reason_names."""
        reasons: np.ndarray[Any, Any] = self._array("reasons")
        return reasons

    def index(self, name: str) -> int:
        """Of the surface of that name. Raises BadSetting."""
        if name not in self.names:
            raise BadSetting(f"there is no surface {name!r}", "surface", "one of " + ", ".join(self.names))
        return self.names.index(name)

    def csv(self) -> str:
        """The table that `echolux segment -o FILE.csv` writes: b_scan, a_scan, surface, depth, quality, reason."""
        return self._core.table()

    def volume(self) -> Volume:
        """As `echolux segment -o` writes them, to be saved: [surface, a, b] of depths."""
        return Volume(self._core.volume())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes volume() to path, in the format of its ending. Raises OutputFailed, BadSetting."""
        self.volume().save(path, progress=False)

    def thickness(self, upper: str = "", lower: str = "") -> np.ndarray[Any, Any]:
        """Maps float32 [layer, b, a] in `unit`: of each layer, or of all between the surfaces upper and lower; NaN where one of
        them is missing. Raises BadSetting."""
        return _maps(self.thickness_volume(upper, lower))

    def thickness_volume(self, upper: str = "", lower: str = "") -> Volume:
        """thickness() between upper and lower as `echolux segment --thickness` writes it: [layer, a, b]."""
        require_text(upper=upper, lower=lower)
        return Volume(self._core.thickness(upper, lower))

    def en_face(self, volume: Any, upper: str = "", lower: str = "", *, value: str = "mean", below_upper_um: float = 0,
                below_lower_um: float = 0) -> np.ndarray[Any, Any]:
        """A map [b, a] of what lies between two surfaces in a volume, seen from above, in the volume's unit; NaN where there is
        nothing between.

        volume: that in which the surfaces lie, or another of the same size, as its flow
        upper, lower: surfaces by name; empty: the first and the last
        value: "mean" (of intensities, in dB afterwards where the volume is in dB), "max" or "top3" (mean of the three greatest)
        below_upper_um, below_lower_um: how far below them the slab begins and ends; less than 0: above

        Raises BadSetting, BadArgument for a volume of another size.
        """
        map_of_slab: np.ndarray[Any, Any] = _maps(self.en_face_volume(
            volume, upper, lower, value=value, below_upper_um=below_upper_um, below_lower_um=below_lower_um))[0]
        return map_of_slab

    def en_face_volume(self, volume: Any, upper: str = "", lower: str = "", *, value: str = "mean",
                       below_upper_um: float = 0, below_lower_um: float = 0) -> Volume:
        """en_face() of a volume between upper and lower (value, below_upper_um, below_lower_um as there) as
        `echolux segment --en-face` writes it: [1, a, b]."""
        require_text(upper=upper, lower=lower, value=value)
        require_number(below_upper_um=below_upper_um, below_lower_um=below_lower_um)
        if value not in _SLABS:
            raise BadSetting(f"there is no {value!r}", "value", "one of " + ", ".join(_SLABS))
        return Volume(self._core.en_face(volume_of(volume, "volume"), upper, lower, float(below_upper_um),
                                         float(below_lower_um), _SLABS[value]))

    def flattened(self, volume: Any, level: str = "", *, back: bool = False) -> Volume:
        """A volume moved in depth until one surface lies flat; cubic between rows (R. Keys, IEEE TASSP 29, 1153, 1981).

        volume: of the size in which the surfaces were found; level: the surface, by name; empty: the first
        back: away from there again

        A-scans without the surface are empty afterwards. Raises BadSetting, BadArgument.
        """
        require_text(level=level)
        return Volume(self._core.flattened(volume_of(volume, "volume"), level, back))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"<Surfaces {', '.join(self.names)} of {self.shape[1]}x{self.shape[2]} A-scans, depths in {self.unit}>"


def _maps(volume: Volume) -> np.ndarray[Any, Any]:
    """[map, b, a] of [map, a, b], without a copy."""
    maps: np.ndarray[Any, Any] = volume[:].swapaxes(1, 2)
    return maps


def segment(volume: Any, layers: str = "retina", *, device: str = "auto", progress: Progress = None,
            **settings: Unpack[_sections.LayersSettings]) -> Surfaces:
    """The surfaces between the layers of a B-scan or volume, as `echolux segment` finds them.

        surfaces = ox.segment(volume, "layers", count=4)
        surfaces.depths[0], surfaces.thickness()[0], surfaces.en_face(volume, "1", "2")

    volume: a Volume of structure in dB, intensity or amplitude; an array [b, a, depth] is taken as intensities
    layers: what is looked for: "retina", "layers" (any layered sample), or a file whose name ends in .toml
    device, progress: as of Scan.reconstruct()
    settings: of the section [layers]: names, count, polarity, min_um, max_um, smoothness, tissue_below, vessel_um,
        row_um; docs/layers.md says what each does

    No learned weights: likelihoods of speckle and semi-global sweeps (docs/layers.md names the papers). Raises BadSetting
    where nothing stands out from the noise, for a volume of flow and for more boundaries than rows; BadArgument, OutOfMemory,
    DeviceFailed.
    """
    require_text(layers=layers, device=device)
    given = volume_of(volume, "volume")
    with watching(progress) as told:
        return Surfaces(_core.segmented(given, tissue_of("layers", settings, layers), device, told))
