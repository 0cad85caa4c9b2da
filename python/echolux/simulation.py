"""Simulated scans with known ground truth."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import require_text, require_whole
from .progress import Progress, watching
from .reconstructor import Reconstructor
from .scan import Scan
from .settings import assignments

if TYPE_CHECKING:
    import numpy as np

    from .volume import Volume


class Truth(Mapping[str, Any]):
    """Ground truth of a simulated scan: arrays by name, and facts.

    boundaries_um: float32 [boundary, b, a], depths from zero delay
    tubes: float32 [tube, b, a, 3], x from the A-scan (um), depth (um) and slope of each axis
    labels: uint8 [b, a, bin]: 0 nothing, 1 ... layers from the top, 100 + tube: lumen, 200 + tube: wall
    en_face: uint8 [b, a], 1 above a lumen
    velocity_mm_s: float32 [b, a, depth], axial, away from zero delay, averaged over time, on the voxels of the volume
    facts: pitch_um, tube_radius_um, tube_peak_mm_s, heart_rate_hz ... by name
    """

    names = ("boundaries_um", "tubes", "labels", "en_face", "velocity_mm_s")

    def __init__(self, core: _core.Simulation) -> None:
        self._core = core
        self._known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        import numpy as np

        if name not in self.names:
            raise KeyError(f"{name}: one of {', '.join(self.names)}")
        if name not in self._known:
            shape, dtype = self._core.describe_truth(name)
            array = np.empty(shape, dtype)
            if array.size:
                self._core.truth(name, array.reshape(-1).view(np.uint8))
            self._known[name] = array
        known: np.ndarray[Any, Any] = self._known[name]
        return known

    def __getattr__(self, name: str) -> np.ndarray[Any, Any]:
        if name not in self.names:
            raise AttributeError(f"the truth has no {name}")
        return self[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.names})

    def __iter__(self) -> Any:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def facts(self) -> dict[str, Any]:
        """Numbers and lists of numbers by name."""
        facts: dict[str, Any] = {}
        for line in self._core.facts().splitlines():
            key, separator, value = line.partition(" = ")
            if separator:
                facts[key] = _parsed(value)
        return facts


def _parsed(value: str) -> Any:
    if value.startswith("["):
        return [float(one) for one in value.strip("[]").split(",") if one.strip()]
    if value.startswith('"'):
        return value.strip('"')
    number = float(value)
    return int(number) if number.is_integer() and "." not in value else number


class Simulation:
    """A scene in front of a simulated instrument, created by simulate().

    scene: its name; scan: describes the spectra; truth: ground truth of the scene
    """

    def __init__(self, scene: str, settings: Mapping[str, object]) -> None:
        require_text(scene=scene)
        self.scene = scene
        self._core = _core.Simulation(scene, assignments({"simulation": settings}))
        self.truth = Truth(self._core)
        self.scan = Scan(self._core.scan())
        """Describes the spectra, with background, dark spectrum and wavelengths; its settings can be changed."""

    def spectra(self, volume: int = 0, first: int = 0, count: int | None = None, *,
                progress: Progress = None) -> np.ndarray[Any, Any]:
        """Returns raw uint16 spectra of B-scan positions [first, first + count) of a volume, shaped like scan.shape.

        progress: as in Scan.reconstruct()
        """
        import numpy as np

        shape = self.scan.shape
        require_whole(volume=volume, first=first, count=0 if count is None else count)
        wanted = shape[0] - first if count is None else count
        with watching(progress) as told:
            spectra = np.asarray(self._core.record(volume, first, wanted, told))
        return spectra.reshape(wanted, *shape[1:])

    def reconstruct(self, volume: int = 0, *, device: str = "auto", progress: Progress = None) -> Volume:
        """Reconstructs the volume with the recipe of `scan`; device, progress: as in Scan.reconstruct()."""
        spectra = self.spectra(volume, progress=progress)
        return Reconstructor(self.scan, device=device).volume(spectra, number=volume)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False, progress: Progress = None) -> None:
        """Writes the files of `echolux simulate`: the TOML file at path, and beside it spectra, calibration files and
        truth/.

        overwrite: replace existing files of other origin; progress: as in Scan.reconstruct(). Raises OutputFailed.
        """
        with watching(progress) as told:
            self._core.write(os.fsdecode(path), overwrite, told)

    def __repr__(self) -> str:
        return f"<Simulation of {self.scene}, {'x'.join(map(str, self.scan.shape))}>"


def simulate(scene: str = "vessel", **settings: object) -> Simulation:
    """Creates a scene in front of the simulated instrument: "vessel", "retina", "eye-macula" and others of
    docs/simulator.md, or a user-defined one.

        sim = ox.simulate("vessel", samples=1024, a_scans=64, b_scans=32)
        spectra, labels = sim.spectra(), sim.truth.labels

    settings: of the section [simulation] (docs/simulator.md). Raises BadSetting.
    """
    return Simulation(scene, settings)
