"""Volumes in files, of which only the requested part is read."""
from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import Unsupported
from .progress import Progress
from .volume import Volume, keys_of, orientation_in

if TYPE_CHECKING:
    import numpy as np
    import xarray

_PIECE = 16 << 20  # bytes per Dask chunk


def _parts(key: Any, edges: tuple[int, ...]) -> list[tuple[int, int, Any]] | None:
    """Returns for each dimension the range to read, [begin, end), and the index within it. None: the key does not
    consist of slices.
    """
    every = key if isinstance(key, tuple) else (key,)
    if any(one is Ellipsis for one in every):
        at = next(i for i, one in enumerate(every) if one is Ellipsis)
        every = every[:at] + (slice(None),) * (len(edges) - len(every) + 1) + every[at + 1:]
    if len(every) > len(edges):
        raise IndexError(f"too many indices: {len(every)} for {len(edges)} dimensions")
    every += (slice(None),) * (len(edges) - len(every))
    parts: list[tuple[int, int, Any]] = []
    for one, edge in zip(every, edges):
        if isinstance(one, slice):
            chosen = range(edge)[one]
            low, high = (min(chosen), max(chosen) + 1) if len(chosen) else (0, 0)
            first = chosen.start - low
            stop: int | None = first + len(chosen) * chosen.step
            if stop is not None and stop < 0:
                stop = None
            parts.append((low, high, slice(first, stop, chosen.step)))
        elif hasattr(one, "__index__") and not isinstance(one, bool) and not getattr(one, "shape", ()):
            index = one.__index__()
            if not -edge <= index < edge:
                raise IndexError(f"index {index} is out of bounds for an edge of {edge}")
            index %= edge
            parts.append((index, index + 1, 0))
        else:
            return None
    return parts


class LazyVolume(_core.Grid):
    """A volume in a file: metadata is known, voxels are read on access.

        volume = ox.load("big.ome.zarr")
        part = volume[10:20, :, 100:200]          # reads little more than that; a NumPy array of codes

    Slices read chunks of chunked formats (OME-Zarr, HDF5) and whole B-scans of others. numpy.asarray(volume) reads
    everything, and read() converts it to a Volume. Other methods of Volume (values, save, render, to_xarray ...) also
    read everything.
    """

    flow = None
    """Always None: flow is stored in a separate file."""

    def __init__(self, core: _core.Series, path: str, time_point: int = 0, level: int = 0) -> None:
        super().__init__(core.grid(time_point, level))
        self._core, self._path, self._time_point, self._level = core, path, time_point, level
        self._read: Volume | None = None

    @property
    def time_s(self) -> float:
        """Seconds since the start of the series."""
        return self._core.time_s(self._time_point)

    @property
    def number(self) -> int:
        """Index of the time point in its series."""
        return self._time_point

    @property
    def provenance(self) -> dict[str, str]:
        """Provenance by key."""
        return keys_of(self._core.provenance(self._time_point))

    @property
    def orientation(self) -> str:
        """See Volume.orientation."""
        return orientation_in(self.provenance)

    @property
    def levels(self) -> tuple[LazyVolume, ...]:
        """Resolution levels from full to coarsest, if the file has them (OME-Zarr)."""
        count = self._core.levels(self._time_point)
        return tuple(LazyVolume(self._core, self._path, self._time_point, level) for level in range(count))

    def __getitem__(self, key: Any) -> Any:
        import numpy as np

        parts = _parts(key, self.shape)
        if parts is None:
            return np.asarray(self)[key]
        (b0, b1, _), (a0, a1, _), (z0, z1, _) = parts
        codes = np.empty((b1 - b0, a1 - a0, z1 - z0), self.dtype)
        if codes.size:
            self._core.read(self._time_point, self._level, b0, b1, a0, a1, z0, z1, codes.reshape(-1).view(np.uint8))
        return codes[tuple(part[2] for part in parts)]

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("voxels in a file cannot be accessed without a copy")
        codes: np.ndarray[Any, Any] = self[:, :, :]
        return codes if dtype is None else codes.astype(dtype, copy=False)

    def read(self) -> Volume:
        """Reads everything into memory, once."""
        if self._read is None:
            if self._level == 0:
                self._read = Volume(self._core.volume(self._time_point))
            else:
                self._read = Volume.from_array(self[:, :, :], spacing_um=self.spacing_um, unit=self.unit,
                                               quantity=self.quantity, scale=self.scale, offset=self.offset,
                                               first_depth_um=self.first_depth_um)
        return self._read

    def to_dask(self, chunks: Any = None) -> Any:
        """Codes as a Dask array (pip install dask), by default in chunks of whole B-scans."""
        from importlib import import_module

        array: Any = import_module("dask.array")
        b, a, depth = self.shape
        each = max(1, _PIECE // max(1, a * depth * self.dtype.itemsize))
        return array.from_array(self, chunks or (min(b, each), a, depth))

    # ---- methods that read everything

    def values(self) -> np.ndarray[Any, Any]:
        """See Volume.values()."""
        return self.read().values()

    def to_xarray(self) -> xarray.DataArray:
        """See Volume.to_xarray()."""
        return self.read().to_xarray()

    def converted(self, voxel: str, low: float | None = None, high: float | None = None) -> Volume:
        """See Volume.converted()."""
        return self.read().converted(voxel, low, high)

    def velocities(self) -> Volume:
        """See Volume.velocities()."""
        return self.read().velocities()

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False, progress: Progress = None) -> None:
        """See Volume.save()."""
        self.read().save(path, overwrite=overwrite, progress=progress)

    def render(self, **view: object) -> np.ndarray[Any, Any]:
        """See Volume.render()."""
        return self.read().render(**view)

    def plot(self, plane: str = "b-scan", index: int | None = None, *, ax: Any = None, colour_bar: bool = True,
             **imshow: Any) -> Any:
        """See Volume.plot()."""
        return self.read().plot(plane, index, ax=ax, colour_bar=colour_bar, **imshow)

    def view(self, *, window: bool | None = None, **view: object) -> Any:
        """See Volume.view()."""
        return self.read().view(window=window, **view)

    def __reduce__(self) -> Any:  # pickled to pass it between processes
        return _reopened, (self._path, self._time_point, self._level)

    def _repr_html_(self) -> str:
        from .show import table

        shown: Any = _Shown(self)
        return table(shown)

    def __repr__(self) -> str:
        about = f"{'x'.join(map(str, self.shape))} {self.voxel}"
        return f"<LazyVolume {about}, {self.nbytes / 2**20:.4g} MiB in a file>"


class _Shown:
    """Notebook representation of a lazy volume: its metadata, with a picture that requires little reading."""

    warnings = ()

    def __init__(self, whole: LazyVolume) -> None:
        self._whole = whole

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)

    def __getitem__(self, key: Any) -> Any:
        return self._whole[key]

    def render(self, **view: object) -> np.ndarray[Any, Any]:
        coarsest = self._whole.levels[-1]
        if coarsest.nbytes > _PIECE:
            raise Unsupported("is too large to be read for a picture")  # then the middle B-scan is shown
        return coarsest.render(**view)


class Series(_core.Grid):
    """Volumes of one size, one per time point: a file or folder with several, a folder of volumes, or a pattern.

        series = ox.load_series("beats_*.nrrd")
        for volume in series: ...                 # LazyVolume
        curve = series[:, 12, 40, 100:120]        # codes [t, depth] as a NumPy array
    """

    def __init__(self, core: _core.Series, path: str) -> None:
        super().__init__(core.grid(0))
        self._core, self.path = core, path

    def __len__(self) -> int:
        return self._core.count()

    @property
    def shape(self) -> tuple[int, ...]:
        """(t, b, a, depth)."""
        return (len(self), *super().shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions of the codes."""
        return 1 + super().ndim

    @property
    def size(self) -> int:
        """Number of codes."""
        return len(self) * super().size

    @property
    def nbytes(self) -> int:
        """Bytes of all codes."""
        return len(self) * super().nbytes

    @property
    def times_s(self) -> np.ndarray[Any, Any]:
        """Seconds since the start, one per time point; all 0 if unknown."""
        import numpy as np

        return np.array([self._core.time_s(t) for t in range(len(self))])

    def __iter__(self) -> Iterator[LazyVolume]:
        return (LazyVolume(self._core, self.path, t) for t in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        import numpy as np

        parts = _parts(key, self.shape)
        if parts is None:
            return self._picked(key if isinstance(key, tuple) else (key,))
        begin, end, times = parts[0]
        if times == 0 and not isinstance(key, tuple):
            return LazyVolume(self._core, self.path, begin)
        rest = tuple(slice(low, high) for low, high, _ in parts[1:])
        inner = tuple(part[2] for part in parts[1:])
        chosen = [begin] if times == 0 else range(begin, end)[times]
        volumes = [LazyVolume(self._core, self.path, t)[rest][inner] for t in chosen]
        if times == 0:
            return volumes[0]
        if volumes:
            return np.stack(volumes)
        edges = [len(range(high - low)[index]) for low, high, index in parts[1:] if isinstance(index, slice)]
        return np.empty((0, *edges), self.dtype)

    def _picked(self, key: tuple[Any, ...]) -> Any:
        """Indexes with lists, masks and other NumPy keys, for the time points selected by the first key."""
        import numpy as np

        every = np.arange(len(self))
        first: Any = key[0]
        if isinstance(first, slice):
            times, first = every[first], slice(None)
        elif first is None or first is Ellipsis or np.ndim(first) > 1:
            times = every
        elif np.ndim(first) == 0:
            times, first = every[[first]], 0
        else:
            times = every[np.asarray(first) if len(first) else every[:0]]
            first = np.arange(len(times))
        codes = np.empty((len(times), *self.shape[1:]), self.dtype)
        for to, time in enumerate(times):
            codes[to] = LazyVolume(self._core, self.path, int(time))[:, :, :]
        return codes[(first, *key[1:])]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("voxels in files cannot be accessed without a copy")
        codes: np.ndarray[Any, Any] = self[:, :, :, :]
        return codes if dtype is None else codes.astype(dtype, copy=False)

    def to_dask(self, chunks: Any = None) -> Any:
        """Codes [t, b, a, depth] as a Dask array (pip install dask), by default in chunks of whole B-scans."""
        from importlib import import_module

        array: Any = import_module("dask.array")
        _, b, a, depth = self.shape
        each = max(1, _PIECE // max(1, a * depth * self.dtype.itemsize))
        return array.from_array(self, chunks or (1, min(b, each), a, depth))

    @property
    def step_s(self) -> float:
        """Seconds between time points; 0 if unknown."""
        return self._core.step_s()

    def __reduce__(self) -> Any:  # pickled to pass it between processes
        return load_series, (self.path,)

    def view(self, **view: object) -> Any:
        """Returns a notebook widget with a time slider (pip install echolux[notebook]); view: settings as in
        Volume.render().
        """
        from .widget import widget

        return widget(self, view)

    def __repr__(self) -> str:
        return f"<Series {'x'.join(map(str, self.shape))} {self.voxel}>"


def _reopened(path: str, time_point: int, level: int) -> LazyVolume:
    return LazyVolume(_core.Series.open(path), path, time_point, level)


def load(path: str | os.PathLike[str]) -> LazyVolume | Series:
    """Opens the file, folder, or pattern ("beats_*.nrrd") at path, in any format that `echolux convert` reads. Voxels are
    read on access. Returns a LazyVolume, or a Series if there are several time points.

    Raises MissingFile, and BadFile if the file is malformed.
    """
    series = load_series(path)
    return series if len(series) > 1 else series[0]


def load_series(path: str | os.PathLike[str]) -> Series:
    """Opens path like load(path), but always returns a Series."""
    name = os.fsdecode(path)
    return Series(_core.Series.open(name), name)
