"""Scans: layout of recorded spectra, and how to process them."""
from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import BadArgument, BadSetting, require_text, require_whole
from .progress import Progress, watching
from .settings import Section, assignments, sections
from .stages import Stage, Stages, raising
from .volume import Volume

if TYPE_CHECKING:
    import numpy as np

    from . import _sections

_ARRAYS = ("background", "dark", "k_positions", "wavelengths_nm", "k_polynomial", "dispersion_rad", "mask", "noise_floor",
           "fast_axis", "k_jitter")

_OF_FILES = {"k_map": "k_positions", "wavelengths": "wavelengths_nm", "dispersion": "dispersion_rad"}  # their arrays


class Calibration(Section, MutableMapping[str, Any]):
    """Settings of section [calibration] as attributes, which name files, and the effective arrays by name.

    calibration["background"] = spectrum. background, dark, k_positions, wavelengths_nm, dispersion_rad and mask have
    one value per sample, k_polynomial any number, noise_floor one per depth bin, fast_axis one per line of a B-scan,
    k_jitter pairs [rows, 2].
    """

    _scan: _core.Scan

    def _remedy(self, name: str) -> str:
        array = _OF_FILES.get(name, name)
        return f'an array is set as scan.calibration["{array}"] = array' if array in _ARRAYS else ""

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        import numpy as np

        if name not in _ARRAYS:
            raise KeyError(f"{name}: one of {', '.join(_ARRAYS)}")
        values = np.array(self._scan.calibration(name))
        if not values.size:
            raise KeyError(f"{name} is not set")
        return values.reshape(-1, 2) if name == "k_jitter" else values

    def __setitem__(self, name: str, values: Any) -> None:
        import numpy as np

        if name not in _ARRAYS:
            raise KeyError(f"{name}: one of {', '.join(_ARRAYS)}")
        self._scan.set_calibration(name, np.asarray(values, np.float64).ravel().tolist())

    def __delitem__(self, name: str) -> None:
        self[name]
        self._scan.set_calibration(name, [])

    def __iter__(self) -> Iterator[str]:
        return (name for name in _ARRAYS if self._scan.calibration(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


class Scan:
    """Layout of recorded spectra, and how to process them: from a scan file, or from settings alone.

    Sections of settings are attributes: scan.recipe.window = "hann". help(scan.recipe) describes each setting with unit
    and range. An invalid value raises BadSetting and is not applied.
    """

    if TYPE_CHECKING:
        scan: _sections.Scan
        calibration: _sections.Calibration
        recipe: _sections.Recipe
        flow: _sections.Flow
        nufft: _sections.Nufft
        defr: _sections.Defr
        compressive: _sections.Compressive

    def __init__(self, core: _core.Scan) -> None:
        if not isinstance(core, _core.Scan):
            raise BadArgument(f"is not a scan but of type {type(core).__name__}", "Scan", "open one: echolux.open(path)")
        self._core = core
        self._opened: tuple[str, list[str]] | None = None  # the file, and the assigned settings
        self._stages: Stages | None = None
        settings = core.settings()
        for name, kind in sections(settings, {"calibration": Calibration}).items():
            section = kind(settings)
            if isinstance(section, Calibration):
                object.__setattr__(section, "_scan", core)
            self.__dict__[name] = section

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            raise AttributeError(f"{name} cannot be set: settings are attributes of their section, as scan.recipe.window")

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the spectra of a volume from read(): (b, a, samples). Repeats, if there are any, add a dimension
        after b or a. Packed samples are counted in bytes.
        """
        shape, size = self._core.shape(), self._sample_type().itemsize
        lines = (shape.b_scans, shape.b_repeats, shape.a_scans, shape.a_repeats)
        return *(n for i, n in enumerate(lines) if i % 2 == 0 or n > 1), shape.line_bytes // size

    @property
    def volumes(self) -> int:
        """Number of volumes in its file."""
        return self._core.shape().volumes

    def _sample_type(self) -> np.dtype[Any]:
        import numpy as np

        names = {"u16": "u2", "u32": "u4", "i16": "i2", "f32": "f4"}
        order = ">" if self.scan.byte_order == "big" else "<"
        return np.dtype(order + names.get(self.scan.sample_format, "u1"))

    def read(self, volume: int = 0, first: int = 0, count: int | None = None) -> np.ndarray[Any, Any]:
        """Reads the raw spectra of B-scan positions [first, first + count) of a volume, shaped like `shape`; count
        None: to the end. Raises BadArgument, BadFile, and BadSetting if the file has no such volume.
        """
        import numpy as np

        shape = self.shape
        require_whole(volume=volume, first=first, count=0 if count is None else count)
        if count is None:
            count = shape[0] - first
        if not 0 <= first < first + count <= shape[0]:
            raise BadArgument(f"B-scans {first} to {first + count} are not in the scan", "first, count",
                              f"it has {shape[0]}")
        spectra = np.empty((count, *shape[1:]), self._sample_type())
        self._core.read(volume, first, count, spectra.reshape(-1).view(np.uint8))
        return spectra

    def reconstruct(self, volume: int = 0, *, b_scans: tuple[int, int] | None = None, device: str = "auto",
                    progress: Progress = None) -> Volume:
        """Reconstructs one volume of the scan's file, with the same bits as `echolux reconstruct`.

        volume: its number in the file; b_scans: only these positions [begin, end)
        device: "auto" (a GPU if usable, otherwise the CPU), "cpu", "cuda", or one of several GPUs: "cuda:1"
        progress: progress(task, done, total) is called about ten times per second; an exception in it stops the work.
            None: a bar on a terminal or in a notebook; False: no progress

        With flow.method, the attribute `flow` of the result is its flow. Ctrl-C stops at once. Raises BadSetting,
        BadFile, OutOfMemory, DeviceFailed.
        """
        require_text(device=device)

        def call(*part: Any) -> Any:
            return self._core.reconstruct(device, *part)

        return self._made_by(call, volume, b_scans, progress)

    def _made_by(self, call: Callable[..., Any], volume: int, b_scans: tuple[int, int] | None, progress: Progress) -> Volume:
        """Reconstructs with call(volume, begin, end, progress)."""
        begin, end = (0, 0) if b_scans is None else _positions(b_scans, self.shape[0])
        require_whole(volume=volume)
        with raising(self._stages), watching(progress) as told:
            structure, flow = call(volume, begin, end, told)
        made = Volume(structure)
        if flow is not None:
            made.flow = Volume(flow)
        return made

    def set_stages(self, spectra: Stage | None = None, bins: Stage | None = None, voxels: Stage | None = None) -> None:
        """Sets callbacks in the pipeline of everything created from this scan afterwards. Without arguments, removes
        them.

        A stage receives an array of whole B-scans, as many as are processed at a time, and changes it in place (or
        returns an array to be copied into it). If its second parameter has no default or is named place, it also
        receives a Place with the position of the B-scans. The array is only valid during the call: copy it to keep it.

        spectra(array): float32 [b, a, samples], counts before any subtraction
        bins(array): complex64 [b, a, depth], before repeats are combined and flow is computed
        voxels(array): [b, a, depth] of the type recipe.voxel

        Repeats add dimensions as in Scan.shape. Stages run on the CPU, one block at a time, on the calling thread or,
        in a live session, on one of its threads. An exception in a stage is raised by the call it worked for.
        """
        stages = Stages(spectra, bins, voxels)
        _core.set_stages(self._core, stages or None)
        self._stages = stages or None

    def toml(self, *, with_defaults: bool = False) -> str:
        """Returns its settings as the text of a scan file: those that differ from their defaults, or all of them
        (with_defaults).
        """
        return self._core.settings().toml(with_defaults)

    def __reduce__(self) -> Any:  # for copying and pickling
        settings = self._core.settings()
        texts = {setting.key: settings.text(setting.key) for setting in settings.all()}
        stages = self._stages and (self._stages.spectra, self._stages.bins, self._stages.voxels)
        return _again, (self._opened, texts, dict(self.calibration), stages)

    def __repr__(self) -> str:
        return f"<Scan {'x'.join(map(str, self.shape))} {self.scan.sample_format}, {self.volumes} volume(s)>"


class Batch:
    """Reconstructs many scans of one protocol, or many parts of them, one after another.

        batch = ox.Batch()
        for path in paths:
            batch.reconstruct(ox.open(path)).save(path.with_suffix(".nrrd"))

    Plan, tables, device memory and measurements of a scan are kept between calls. A new plan is made if a scan differs
    from the previous one in geometry, sample format, calibration, recipe, stages or measured noise floor.

    device: "auto" (a GPU if usable, otherwise the CPU), "cpu", "cuda", or one of several GPUs: "cuda:1"

    An object is used by one thread at a time; others wait. Raises DeviceFailed if the device does not exist.
    """

    def __init__(self, device: str = "auto") -> None:
        require_text(device=device)
        self._device = device
        self._core = _core.Batch(device)

    def reconstruct(self, scan: Scan, volume: int = 0, *, b_scans: tuple[int, int] | None = None,
                    progress: Progress = None) -> Volume:
        """Reconstructs one volume of the scan's file, or its positions [begin, end). Bits, errors and arguments (volume,
        b_scans, progress) are those of Scan.reconstruct(). The batch can be used again after an error.
        """
        if not isinstance(scan, Scan):
            raise BadArgument(f"is not a Scan but of type {type(scan).__name__}", "scan", "open one: echolux.open(path)")

        def call(*part: Any) -> Any:
            return self._core.reconstruct(scan._core, *part)

        return scan._made_by(call, volume, b_scans, progress)

    @property
    def plans(self) -> int:
        """Number of plans made: one per recipe, unless recipes alternate."""
        return self._core.plans

    def __repr__(self) -> str:
        return f"<Batch on {self._device}, {self.plans} plan(s) made>"


def _positions(given: Any, count: int) -> tuple[int, int]:
    try:
        begin, end = (operator.index(one) for one in given)
    except (TypeError, ValueError):
        raise BadArgument(f"is not a pair of positions: {given!r}", "b_scans", "give (begin, end)") from None
    if not 0 <= begin < end <= count:
        raise BadSetting(f"B-scans {begin} to {end} are not in the scan", "b_scans",
                         f"it has {count}: give (begin, end) with 0 <= begin < end <= {count}")
    return begin, end


def _again(opened: tuple[str, list[str]] | None, texts: dict[str, str], arrays: dict[str, Any], stages: Any) -> Scan:
    """Recreates the scan that was opened or described with these settings and calibrations."""
    if opened is None:
        others = _core.Scan.create(16, 1, 1, "u16", []).settings()
        changed = [f"{key}={text}" for key, text in texts.items() if text != others.text(key)]
        size = {name: int(texts[f"scan.{name}"]) for name in ("samples", "a_scans", "b_scans")}
        scan = Scan(_core.Scan.create(size["samples"], size["a_scans"], size["b_scans"], texts["scan.sample_format"],
                                      changed))
    else:
        scan = Scan(_core.Scan.open(*opened))
        scan._opened = opened
        settings = scan._core.settings()
        for key, text in texts.items():
            if settings.text(key) != text:
                settings.set_text(key, text)
    for name in _ARRAYS:
        values = arrays[name].ravel().tolist() if name in arrays else []
        if scan._core.calibration(name) != values:
            scan._core.set_calibration(name, values)
    if stages is not None:
        scan.set_stages(*stages)
    return scan


def scan_of(samples: int, a_scans: int, b_scans: int, sample_format: str,
            settings: Mapping[str, Mapping[str, Any]]) -> Scan:
    """Creates a new scan without a file: its spectra are arrays."""
    require_whole(samples=samples, a_scans=a_scans, b_scans=b_scans)
    require_text(sample_format=sample_format)
    others, arrays = _without_arrays(settings)
    scan = Scan(_core.Scan.create(samples, a_scans, b_scans, sample_format, assignments(others)))
    scan.calibration.update(arrays)
    return scan


def _without_arrays(settings: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, Mapping[str, Any]], dict[str, Any]]:
    """Separates settings from calibrations that are arrays; texts are file names."""
    others = dict(settings)
    given = others.get("calibration", {})
    arrays = {name: values for name, values in given.items()
              if name in _ARRAYS and name != "k_polynomial" and not isinstance(values, str)}
    if arrays:
        others["calibration"] = {name: value for name, value in given.items() if name not in arrays}
    return others, arrays


def open(path: str | os.PathLike[str], **settings: Mapping[str, object]) -> Scan:
    """Opens the scan at path: its TOML file, a recording, or a raw file in a self-describing format.

    settings override the file, with one mapping per section: ox.open("scan.toml", recipe={"window": "hann"}). Those of
    [calibration] may be arrays: calibration={"background": spectrum}. Raises MissingFile, BadFile, BadSetting.
    """
    others, arrays = _without_arrays(settings)
    assigned = assignments(others)
    scan = Scan(_core.Scan.open(os.fsdecode(path), assigned))
    scan._opened = os.path.abspath(os.fsdecode(path)), assigned
    scan.calibration.update(arrays)
    return scan
