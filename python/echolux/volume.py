"""Volumes: voxels and their metadata."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import BadArgument, require_number, require_text, require_whole
from .progress import Progress, watching

if TYPE_CHECKING:
    import numpy as np
    import xarray

_SPACE = ("b", "a", "depth")


class Volume(_core.Volume):
    """Voxels [b, a, depth] in host memory with their metadata. Immutable. Volume(other) shares the voxels of the other
    volume.

    It can be used as an array: numpy.asarray(volume) and torch.from_dlpack(volume) return the stored codes without a
    copy; value = code * scale + offset, in `unit`. volume.values() returns values.
    """

    flow: Volume | None = None
    """The flow that was reconstructed together with this structure; None if flow.method was none."""

    def __init__(self, other: _core.Volume) -> None:
        if not isinstance(other, _core.Volume):
            raise BadArgument(f"is not a volume but of type {type(other).__name__}", "Volume",
                              "make one of an array: Volume.from_array(array)")
        super().__init__(other)

    @staticmethod
    def from_array(codes: Any, *, spacing_um: Sequence[float] = (0, 0, 0), unit: str = "", quantity: str = "",
                   scale: float = 1, offset: float = 0, first_depth_um: float = 0, time_s: float = 0, number: int = 0,
                   provenance: Mapping[str, str] | None = None) -> Volume:
        """Creates a new volume from a copy of an array of codes [b, a, depth] of type uint8, uint16, int16, float16,
        float32 or complex64; float64 is converted to float32, bool to uint8.

        spacing_um: distance of voxels along (b, a, depth), 0 if unknown; first_depth_um: depth of the first row
        unit, quantity, scale, offset: of the values, value = code * scale + offset
        time_s, number, provenance: time, number in a series, and origin: one line of text per key

        Raises BadArgument.
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
        require_number(scale=scale, offset=offset, first_depth_um=first_depth_um, time_s=time_s)
        require_whole(number=number)
        steps = tuple(float(one) for one in spacing_um)
        if len(steps) != 3:
            raise BadArgument(f"is not three numbers: {spacing_um!r}", "spacing_um", "give (b, a, depth)")
        grid = _core.Grid.of(array.shape[0], array.shape[1], array.shape[2], voxel, (steps[0], steps[1], steps[2]), unit,
                             quantity, scale, offset, first_depth_um)
        return Volume(_core.Volume.create(grid, array, float(time_s), int(number), lines_of(provenance or {})))

    # ---- metadata

    @property
    def T(self) -> np.ndarray[Any, Any]:  # noqa: N802: as NumPy has it
        """The codes with reversed dimensions, without a copy."""
        return self._numpy().T

    def astype(self, dtype: Any) -> np.ndarray[Any, Any]:
        """Returns the codes as a NumPy array of another type (dtype)."""
        return self._numpy().astype(dtype)

    @property
    def provenance(self) -> dict[str, str]:
        """How it was made, by key, as text: settings that differ from their defaults ("recipe.window"), the program
        version ("echolux"), the device ("backend"), hashes of calibration files ...
        """
        return keys_of(self._provenance())

    @property
    def orientation(self) -> str:
        """Orientation of the patient: one letter each for increasing depth, A-scans and B-scans, towards the left (L)
        or right (R), back (P) or front (A), head (S) or feet (I), such as "PLS". Empty if unknown: only files of other
        programs contain it, scans do not.
        """
        return orientation_in(self.provenance)

    @property
    def warnings(self) -> list[str]:
        """Quality warnings, one line each."""
        return self._warnings().splitlines()

    # ---- as arrays

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """The codes, read-only; copied if dtype is a different type or copy is True."""
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
        """Returns the values in `unit` as float32 (complex64 if complex) [b, a, depth]; phasors are not scaled."""
        import numpy as np

        codes = self._numpy()
        if codes.dtype == np.complex64 or codes.ndim == 4:
            return codes
        values = codes.astype(np.float32)
        values *= np.float32(self.scale)
        values += np.float32(self.offset)
        return values

    def to_xarray(self) -> xarray.DataArray:
        """Returns values() with coordinates in um and units as attributes. Needs xarray (pip install echolux[xarray]).
        """
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
        """Converts the values to another voxel type, named by voxel: "u8", "u16", "i16", "f16", "f32" or "complex64".

        Integers cover the values from low to high, by default the range of the volume. Raises BadArgument.
        """
        require_text(voxel=voxel)
        require_number(low=low or 0, high=high or 0)
        if voxel in ("u8", "u16", "i16") and (low is None or high is None):
            import numpy as np

            values = self.values()
            low = float(np.nanmin(values)) if low is None else low
            high = float(np.nanmax(values)) if high is None else high
        return Volume(self._converted(voxel, low or 0.0, high or 0.0))

    def velocities(self) -> Volume:
        """Converts flow to axial velocities in mm/s as float32, or to phases in rad if v_max_mm_s is unknown."""
        return Volume(self._velocities())

    # ---- output

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False, progress: Progress = None) -> None:
        """Writes the volume to path; the extension selects the format (.nrrd, .nii.gz, .tiff, .h5, .ome.zarr ...).

        overwrite: replace an existing file that is not a volume of Echolux (.npy files cannot be recognised)
        progress: as in Scan.reconstruct(); done and total are in bytes

        The file appears once it is complete. If Ctrl-C or progress stops the work, no file remains. Raises
        OutputFailed, and BadSetting if the format does not support the volume.
        """
        with watching(progress) as told:
            self._write(os.fsdecode(path), overwrite, told)

    def render(self, **view: object) -> np.ndarray[Any, Any]:
        """Renders a picture, uint8 [height, width, 4]: red, green, blue, alpha; rows from the top.

        volume.render(mode="mip", azimuth=30, width=800, height=600). Arguments (view) are the settings of section
        [view] listed in docs/settings.md; units may be omitted from their names (azimuth for azimuth_deg). A volume's
        flow is shown over it unless flow_shown="hidden". Requires a build with the renderer and a Vulkan device;
        software Vulkan is sufficient.
        """
        from .pictures import render

        return render(self, view)

    def plot(self, plane: str = "b-scan", index: int | None = None, *, ax: Any = None, colour_bar: bool = True,
             **imshow: Any) -> Any:
        """Plots a section as matplotlib axes, in um if the spacing is known, with depth downwards.

        plane: "b-scan", "side" (along the B-scans) or "en-face"; index: of the section; None: the middle one
        ax: axes to draw into; colour_bar: draws one with the unit; imshow: further arguments, such as vmin=0, vmax=40,
            cmap="gray"

        Returns the axes. Requires matplotlib.
        """
        from .show import plot

        return plot(self, plane, index, ax=ax, colour_bar=colour_bar, **imshow)

    def view(self, *, window: bool | None = None, **view: object) -> Any:
        """Shows an interactive view: in the window of `echolux view` if there is a display and the program, otherwise
        as a notebook widget (pip install echolux[notebook]).

        window: True or False overrides that rule; view: settings as in render(). The window is a separate process: the
            result has is_open, wait() and close().
        """
        from .show import view as show

        return show(self, view, window)

    def _repr_html_(self) -> str:
        from .show import table

        return table(self)

    def __repr__(self) -> str:
        about = [f"{'x'.join(map(str, self.shape))} {self.voxel}"]
        if any(self.spacing_um):
            about.append("spacing " + " x ".join(f"{step:g}" for step in self.spacing_um) + " um")
        about += [text for text in (self.quantity, f"in {self.unit}" if self.unit else "") if text]
        if self.flow is not None:
            about.append(f"with flow ({self.flow.quantity})")
        return f"<Volume {', '.join(about)}>"

    def __reduce__(self) -> Any:  # for copying and pickling
        steps: Any = self.spacing_um
        grid = (self.voxel, steps, self.unit, self.quantity, self.scale, self.offset, self.first_depth_um, self.v_max_mm_s)
        about = (self.time_s, self.number, self._provenance(), self._warnings())
        return _again, (self[:], grid, about, self.flow)


def _again(codes: Any, grid: Any, about: Any, flow: Volume | None) -> Volume:
    made = Volume(_core.Volume.create(_core.Grid.of(*codes.shape[:3], *grid), codes, *about))
    if flow is not None:
        made.flow = flow
    return made


# ---- provenance as lines of the library

def lines_of(provenance: Mapping[str, str]) -> str:
    for key, value in provenance.items():
        require_text(**{f"provenance[{key!r}]": value})
        if len((key + value.replace("\n", "")).splitlines()) > 1 or " = " in key or not key:
            raise BadArgument(f"is not a text under a key: {value!r}", f"provenance[{key!r}]")
    return "".join(f"{key} = {_on_one_line(value)}\n" for key, value in provenance.items())


def keys_of(lines: str) -> dict[str, str]:
    return {key: _off_one_line(value) for key, _, value in (line.partition(" = ") for line in lines.split("\n") if line)}


def _on_one_line(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def _off_one_line(line: str) -> str:
    return "\\".join(part.replace("\\n", "\n") for part in line.split("\\\\"))


def orientation_in(provenance: Mapping[str, str]) -> str:
    return provenance.get("orientation", "").strip('"')
