"""Volumes: voxels, and what they mean."""
from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import BadArgument, require_number, require_text

if TYPE_CHECKING:
    import numpy as np
    import xarray

_SPACE = ("b", "a", "depth")


class Volume(_core.Volume):
    """Voxels [b, a, depth] in host memory, and what they mean. A volume never changes.

    It is an array wherever one is expected: numpy.asarray(volume) and torch.from_dlpack(volume) see the codes that it
    stores, without a copy; value = code * scale + offset, in `unit`. volume.values() are the values.
    """

    flow: Volume | None = None
    """What moves: the flow that was reconstructed together with this structure; None where flow.method was none."""

    _about: dict[str, Any] = {}  # what its maker told beside the grid

    def __init__(self, other: _core.Volume) -> None:
        if not isinstance(other, _core.Volume):
            raise BadArgument(f"is not a volume but of type {type(other).__name__}", "Volume",
                              "make one of an array: Volume.from_array(array)")
        super().__init__(other)

    @staticmethod
    def _told(core: _core.Volume, about: dict[str, Any]) -> Volume:
        made = Volume(core)
        made._about = about
        return made

    @staticmethod
    def from_array(codes: Any, *, spacing_um: Sequence[float] = (0, 0, 0), unit: str = "", quantity: str = "",
                   scale: float = 1, offset: float = 0, first_depth_um: float = 0) -> Volume:
        """A volume with a copy of an array [b, a, depth] of type uint8, uint16, int16, float16, float32 or complex64.

        float64 becomes float32, bool uint8.
        """
        import numpy as np

        array = np.ascontiguousarray(codes)
        array = array.astype({"float64": "float32", "bool": "uint8"}.get(array.dtype.name, array.dtype.newbyteorder("=")),
                             copy=False)
        voxel = {"uint8": "u8", "uint16": "u16", "int16": "i16", "float16": "f16", "float32": "f32",
                 "complex64": "complex64"}.get(array.dtype.name)
        if voxel is None or array.ndim != 3:
            raise BadArgument(f"is an array of {array.dtype} with {array.ndim} dimensions", "codes",
                              "give [b, a, depth] of uint8, uint16, int16, float16, float32 or complex64")
        require_text(unit=unit, quantity=quantity)
        require_number(scale=scale, offset=offset, first_depth_um=first_depth_um)
        grid = _core.Grid.of(array.shape[0], array.shape[1], array.shape[2], voxel)
        grid.spacing_um = tuple(float(one) for one in spacing_um)
        grid.unit, grid.quantity = unit, quantity
        grid.scale, grid.offset, grid.first_depth_um = scale, offset, first_depth_um
        return Volume(_core.Volume.create(grid, array))

    # ---- what it means

    @property
    def shape(self) -> tuple[int, ...]:
        """(b, a, depth); (b, a, depth, 2) where a voxel is a pair, as in flow that is stored as phasors."""
        return self._grid.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the codes."""
        import numpy as np

        return np.dtype(self._grid.dtype)

    @property
    def ndim(self) -> int:
        """Number of dimensions of the codes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of the codes."""
        return math.prod(self.shape)

    @property
    def T(self) -> np.ndarray[Any, Any]:  # noqa: N802: as NumPy has it
        """The codes with their dimensions in reverse order, without a copy."""
        return self._numpy().T

    def astype(self, dtype: Any) -> np.ndarray[Any, Any]:
        """The codes as a NumPy array of another type."""
        return self._numpy().astype(dtype)

    @property
    def nbytes(self) -> int:
        """Bytes of all codes."""
        return self._grid.nbytes

    @property
    def spacing_um(self) -> tuple[float, float, float]:
        """Distance of voxels in um along (b, a, depth), 0 where it is unknown."""
        return self._grid.spacing_um

    @property
    def first_depth_um(self) -> float:
        """Depth of the first row of voxels in um, from zero delay."""
        return self._grid.first_depth_um

    @property
    def unit(self) -> str:
        """Of the values; empty where it is unknown."""
        return self._grid.unit

    @property
    def quantity(self) -> str:
        """What the values are: "db", "intensity", "doppler" ...; empty where it is unknown."""
        return self._grid.quantity

    @property
    def scale(self) -> float:
        """value = code * scale + offset."""
        return self._grid.scale

    @property
    def offset(self) -> float:
        """value = code * scale + offset."""
        return self._grid.offset

    @property
    def v_max_mm_s(self) -> float:
        """Of phasors: the axial velocity in mm/s at a phase of pi, 0 where it is unknown."""
        return self._grid.v_max_mm_s

    @property
    def time_s(self) -> float:
        """Seconds since the start of the scan, the source or the series."""
        return float(self._about.get("time_s", self._time_s))

    @property
    def number(self) -> int:
        """Which volume of its scan, source or series this is, from 0."""
        return int(self._about.get("number", self._number))

    @property
    def provenance(self) -> dict[str, str]:
        """How it was made, by key: settings, version, device, hashes of calibration files."""
        if "provenance" in self._about:
            return dict(self._about["provenance"])
        lines = (line.partition(" = ") for line in self._provenance().splitlines())
        return {key: value for key, _, value in lines}

    @property
    def warnings(self) -> list[str]:
        """What may be wrong with its quality, one line each."""
        return list(self._about.get("warnings", self._warnings().splitlines()))

    # ---- as arrays

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """The codes, read-only; copied where dtype is another type or copy is True."""
        import numpy as np

        codes = self._numpy()
        if dtype is not None and np.dtype(dtype) != codes.dtype:
            if copy is False:
                raise ValueError(f"{codes.dtype} as {np.dtype(dtype)} needs a copy")
            return codes.astype(dtype)
        return codes.copy() if copy else codes

    def __getitem__(self, key: Any) -> Any:
        """volume[10:20, :, 100:200]: codes as a NumPy array, without a copy."""
        return self._numpy()[key]

    def __len__(self) -> int:
        return self.shape[0]

    def values(self) -> np.ndarray[Any, Any]:
        """The values in `unit` as float32 (complex64 where they are complex) [b, a, depth]; phasors are not scaled."""
        import numpy as np

        codes = self._numpy()
        if codes.dtype == np.complex64 or codes.ndim == 4:
            return codes
        values = codes.astype(np.float32)
        values *= np.float32(self.scale)
        values += np.float32(self.offset)
        return values

    def to_xarray(self) -> xarray.DataArray:
        """values() with coordinates in um and units as attributes. Needs xarray (pip install echolux[xarray])."""
        import numpy as np
        import xarray

        values = self.values()
        coordinates: dict[str, Any] = {}
        for name, count, step, first in zip(_SPACE, self.shape, self.spacing_um, (0.0, 0.0, self.first_depth_um)):
            if step > 0:
                coordinates[name] = (name, first + step * np.arange(count), {"units": "um"})
        coordinates["time"] = ((), self.time_s, {"units": "s"})
        return xarray.DataArray(values, coordinates, [*_SPACE, "component"][:values.ndim], self.quantity or None,
                                {"units": self.unit, "long_name": self.quantity, "provenance": str(self.provenance)})

    # ---- other volumes

    def converted(self, voxel: str, low: float | None = None, high: float | None = None) -> Volume:
        """The same values in voxels of another type: "u8", "u16", "i16", "f16", "f32" or "complex64".

        Integers span the values low to high; without them, those that there are.
        """
        require_text(voxel=voxel)
        require_number(low=low or 0, high=high or 0)
        if voxel in ("u8", "u16", "i16") and (low is None or high is None):
            import numpy as np

            values = self.values()
            low = float(np.nanmin(values)) if low is None else low
            high = float(np.nanmax(values)) if high is None else high
        return Volume._told(self._converted(voxel, low or 0.0, high or 0.0), self._about)

    def velocities(self) -> Volume:
        """Of a flow volume: axial velocities in mm/s as float32; phases in rad where v_max_mm_s is unknown."""
        return Volume._told(self._velocities(), self._about)

    # ---- out

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it; the ending decides the format (.nrrd, .nii.gz, .tiff, .h5, .ome.zarr ...).

        The file appears when it is complete. Raises OutputFailed where it cannot be written.
        """
        self._write(os.fsdecode(path))

    def render(self, **view: object) -> np.ndarray[Any, Any]:
        """A picture, uint8 [height, width, 4]: red, green, blue, alpha; rows from the top.

        volume.render(mode="mip", azimuth=30, width=800, height=600). Keys are the settings of the section [view], which
        docs/settings.md lists; units may be left out of their names (azimuth for azimuth_deg). A volume's flow is
        shown over it unless flow_shown="hidden". Needs a build with the renderer and a Vulkan device; software will do.
        """
        from .pictures import render

        return render(self, view)

    def plot(self, plane: str = "b-scan", index: int | None = None, *, ax: Any = None, colour_bar: bool = True,
             **imshow: Any) -> Any:
        """A section as matplotlib axes, in um where spacing is known, with depth downwards.

        plane: "b-scan", "side" (along the B-scans) or "en-face"; index: which; None: the middle one
        ax: axes to draw into; colour_bar: with the unit; imshow: passed on, as vmin=0, vmax=40, cmap="gray"
        Returns the axes. Needs matplotlib.
        """
        from .show import plot

        return plot(self, plane, index, ax=ax, colour_bar=colour_bar, **imshow)

    def view(self, *, window: bool | None = None, **view: object) -> Any:
        """Shows it, to be turned: in the window of `echolux view` where there is a screen and that program, otherwise as a
        widget of a notebook (pip install echolux[notebook]).

        window: True or False instead of that rule; view: settings as of render(). The window is a process of its own: the
        result has is_open, wait() and close().
        """
        from .show import view as show

        return show(self, view, window)

    def _repr_html_(self) -> str:
        from .show import table

        return table(self)

    def __repr__(self) -> str:
        about = [f"{'x'.join(map(str, self.shape))} {self._grid.voxel}"]
        if any(self.spacing_um):
            about.append("spacing " + " x ".join(f"{step:g}" for step in self.spacing_um) + " um")
        about += [text for text in (self.quantity, f"in {self.unit}" if self.unit else "") if text]
        if self.flow is not None:
            about.append(f"with flow ({self.flow.quantity})")
        return f"<Volume {', '.join(about)}>"

    def __reduce__(self) -> Any:  # copies, also between processes
        grid = {name: getattr(self._grid, name) for name in _MEANING}
        about = {name: getattr(self, name) for name in ("number", "time_s", "provenance", "warnings")}
        return _again, (self[:], self._grid.voxel, grid, about, self.flow)


_MEANING = ("spacing_um", "unit", "quantity", "scale", "offset", "first_depth_um", "v_max_mm_s")


def _again(codes: Any, voxel: str, meaning: dict[str, Any], about: dict[str, Any], flow: Volume | None) -> Volume:
    grid = _core.Grid.of(*codes.shape[:3], voxel)
    for name, value in meaning.items():
        setattr(grid, name, value)
    made = Volume._told(_core.Volume.create(grid, codes), about)
    if flow is not None:
        made.flow = flow
    return made
