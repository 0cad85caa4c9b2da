"""Scans: how spectra were recorded, and how to process them."""
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
    """Settings of the section [calibration] as attributes, which name files; and the arrays that are in effect, by name:

    calibration["background"] = spectrum. background, dark, k_positions, wavelengths_nm, dispersion_rad and mask hold a
    value for each sample, k_polynomial any number, noise_floor one for each depth bin, fast_axis one for each line of a
    B-scan, k_jitter pairs [rows, 2].
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
    """How spectra were recorded, and how to process them: a scan's file, or settings alone.

    The sections of its settings are attributes: scan.recipe.window = "hann". help(scan.recipe) tells what each means, its
    unit and range. A value that cannot be is refused with BadSetting, and the old one stays.
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
        self._opened: tuple[str, list[str]] | None = None  # the file, and what was assigned
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
        """Of the spectra of a volume, as read() gives them: (b, a, samples); b is followed by the repeats of a B-scan and
        a by those of an A-scan where there is more than one. Packed samples count as bytes."""
        shape, size = self._core.shape(), self._sample_type().itemsize
        lines = (shape.b_scans, shape.b_repeats, shape.a_scans, shape.a_repeats)
        return *(n for i, n in enumerate(lines) if i % 2 == 0 or n > 1), shape.line_bytes // size

    @property
    def volumes(self) -> int:
        """Volumes in its file."""
        return self._core.shape().volumes

    def _sample_type(self) -> np.dtype[Any]:
        import numpy as np

        names = {"u16": "u2", "u32": "u4", "i16": "i2", "f32": "f4"}
        order = ">" if self.scan.byte_order == "big" else "<"
        return np.dtype(order + names.get(self.scan.sample_format, "u1"))

    def read(self, volume: int = 0, first: int = 0, count: int | None = None) -> np.ndarray[Any, Any]:
        """Raw spectra of the B-scan positions [first, first + count) of a volume, of the shape that `shape` says; count None: to
        the last. Raises BadArgument, BadSetting where the file has no such volume, BadFile."""
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
        """A volume of the scan's file, bit for bit what `echolux reconstruct` writes.

        b_scans: only these positions [begin, end)
        device: "auto" (the CPU where no GPU can be used), "cpu", "cuda", or one of several GPUs: "cuda:1"
        progress: progress(task, done, total) is called some ten times a second; what it raises stops the work. None: a bar
            where there is a terminal or notebook; False: nothing is shown

        Its flow, where flow.method asks for it, is the attribute `flow` of the result. Ctrl-C stops at once.
        Raises BadSetting, BadFile, OutOfMemory, DeviceFailed.
        """
        require_text(device=device)

        def call(*part: Any) -> Any:
            return self._core.reconstruct(device, *part)

        return self._made_by(call, volume, b_scans, progress)

    def _made_by(self, call: Callable[..., Any], volume: int, b_scans: tuple[int, int] | None, progress: Progress) -> Volume:
        """By call(volume, begin, end, progress)."""
        begin, end = (0, 0) if b_scans is None else _positions(b_scans, self.shape[0])
        require_whole(volume=volume)
        with raising(self._stages), watching(progress) as told:
            structure, flow = call(volume, begin, end, told)
        made = Volume(structure)
        if flow is not None:
            made.flow = Volume(flow)
        return made

    def set_stages(self, spectra: Stage | None = None, bins: Stage | None = None, voxels: Stage | None = None) -> None:
        """Functions in the pipeline of whatever is made of this scan from now on; none: those that were set are removed.

        A stage gets an array of some whole B-scans, as many as are worked on at a time, and changes it in place (or returns
        what is assigned to it). Where its second parameter has no default, or is named place, it also gets a Place, which
        says which B-scans they are. Arrays are lent: a stage that keeps one has to copy it.

        spectra(array): float32 [b, a, samples], counts before anything is subtracted
        bins(array): complex64 [b, a, depth], before repeats are joined and flow is found
        voxels(array): [b, a, depth] of the type that recipe.voxel says
        Repeats have edges as Scan.shape says. Stages work on the CPU, one block at a time, on the thread that calls
        or, live, on one of the session; what they raise is raised by the call that they worked for.
        """
        stages = Stages(spectra, bins, voxels)
        _core.set_stages(self._core, stages or None)
        self._stages = stages or None

    def toml(self, *, with_defaults: bool = False) -> str:
        """Its settings as the text of a scan's file: those that differ from their defaults, or all of them
        (with_defaults)."""
        return self._core.settings().toml(with_defaults)

    def __reduce__(self) -> Any:  # copies, also between processes
        settings = self._core.settings()
        texts = {setting.key: settings.text(setting.key) for setting in settings.all()}
        stages = self._stages and (self._stages.spectra, self._stages.bins, self._stages.voxels)
        return _again, (self._opened, texts, dict(self.calibration), stages)

    def __repr__(self) -> str:
        return f"<Scan {'x'.join(map(str, self.shape))} {self.scan.sample_format}, {self.volumes} volume(s)>"


class Batch:
    """Many scans of one protocol, or many parts of them, one after the other.

        batch = ox.Batch()
        for path in paths:
            batch.reconstruct(ox.open(path)).save(path.with_suffix(".nrrd"))

    What takes its time before the first B-scan stays from one call to the next: the plan with its tables, the memory of the
    device, and what is measured of a scan. It plans anew where a scan differs from the one before in geometry, sample
    format, calibration, recipe or stages; a noise floor that is measured counts as part of the recipe.

    device: "auto" (the CPU where no GPU can be used), "cpu", "cuda", or one of several GPUs: "cuda:1"

    One object works for one thread at a time; others wait. Raises DeviceFailed where there is no such device.
    """

    def __init__(self, device: str = "auto") -> None:
        require_text(device=device)
        self._device = device
        self._core = _core.Batch(device)

    def reconstruct(self, scan: Scan, volume: int = 0, *, b_scans: tuple[int, int] | None = None,
                    progress: Progress = None) -> Volume:
        """A volume of the scan's file, or the positions [begin, end) of it: bits, errors and arguments (volume, b_scans,
        progress) are those of Scan.reconstruct(). After an error it can be used again."""
        if not isinstance(scan, Scan):
            raise BadArgument(f"is not a Scan but of type {type(scan).__name__}", "scan", "open one: echolux.open(path)")

        def call(*part: Any) -> Any:
            return self._core.reconstruct(scan._core, *part)

        return scan._made_by(call, volume, b_scans, progress)

    @property
    def plans(self) -> int:
        """How many plans it has made: one for each recipe that it met, where they did not take turns."""
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
    """The scan that was opened or described so, with these settings and calibrations."""
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
    """A scan without a file: its spectra are arrays."""
    require_whole(samples=samples, a_scans=a_scans, b_scans=b_scans)
    require_text(sample_format=sample_format)
    others, arrays = _without_arrays(settings)
    scan = Scan(_core.Scan.create(samples, a_scans, b_scans, sample_format, assignments(others)))
    scan.calibration.update(arrays)
    return scan


def _without_arrays(settings: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, Mapping[str, Any]], dict[str, Any]]:
    """Settings, and the calibrations among them that are arrays: a text names a file."""
    others = dict(settings)
    given = others.get("calibration", {})
    arrays = {name: values for name, values in given.items()
              if name in _ARRAYS and name != "k_polynomial" and not isinstance(values, str)}
    if arrays:
        others["calibration"] = {name: value for name, value in given.items() if name not in arrays}
    return others, arrays


def open(path: str | os.PathLike[str], **settings: Mapping[str, object]) -> Scan:
    """Opens a scan's TOML file, a recording, or a raw file that describes itself: the file at path.

    settings override the file, a mapping for each section: ox.open("scan.toml", recipe={"window": "hann"}); those of
    [calibration] may be arrays: calibration={"background": spectrum}. Raises MissingFile, BadFile, BadSetting.
    """
    others, arrays = _without_arrays(settings)
    assigned = assignments(others)
    scan = Scan(_core.Scan.open(os.fsdecode(path), assigned))
    scan._opened = os.path.abspath(os.fsdecode(path)), assigned
    scan.calibration.update(arrays)
    return scan
