"""Display of volumes: in a notebook, as a plot, in a window or in a widget."""
from __future__ import annotations

import base64
import html
import os
import shutil
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import BadArgument, DeviceFailed, Unsupported

if TYPE_CHECKING:
    import numpy as np

    from .volume import Volume

_SIZE = (400, 300)  # of the picture in a notebook


def png(pixels: np.ndarray[Any, Any], effort: int = 6) -> bytes:
    """Encodes uint8 [height, width, 4] or [height, width] as a PNG file."""
    import numpy as np

    pixels = np.ascontiguousarray(pixels, np.uint8)
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + pixels[0].size), np.uint8)  # each row starts with its filter type: none
    rows[:, 1:] = pixels.reshape(height, -1)

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    colour = 6 if pixels.ndim == 3 else 0
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows.tobytes(), effort)) + chunk(b"IEND", b""))


def _middle(volume: Volume) -> np.ndarray[Any, Any]:
    """Draws the middle B-scan in grey, depth downwards."""
    import numpy as np

    values = volume[volume.shape[0] // 2]
    if values.ndim == 3:  # phasors
        values = values[..., 0]
    values = np.abs(values) if np.iscomplexobj(values) else values.astype(np.float32)
    low, high = np.nanpercentile(values, (1, 99.8))
    gray = np.clip((values - low) / max(high - low, 1e-12), 0, 1) * 255
    pixels: np.ndarray[Any, Any] = np.nan_to_num(gray).T.astype(np.uint8)
    return pixels


def picture(volume: Volume) -> bytes:
    """Returns a PNG file with a 3-D picture; without a renderer, the middle B-scan."""
    try:
        return png(volume.render(width=_SIZE[0], height=_SIZE[1]))
    except (Unsupported, DeviceFailed, BadArgument, ValueError):
        return png(_middle(volume))


def table(volume: Volume) -> str:
    """Returns HTML with the picture and the volume's metadata."""
    rows = [("size", " x ".join(map(str, volume.shape)) + " (B-scans, A-scans, depth)"),
            ("voxels", f"{volume.dtype}, {volume.nbytes / 2**20:.4g} MiB")]
    if any(volume.spacing_um):
        rows.append(("spacing", " x ".join(f"{step:.4g}" if step > 0 else "?" for step in volume.spacing_um) + " um"))
    if volume.quantity or volume.unit:
        rows.append(("values", ", ".join(text for text in (volume.quantity, volume.unit) if text)))
    if volume.time_s:
        rows.append(("time", f"{volume.time_s:.4g} s"))
    rows += [("warning", text) for text in volume.warnings]
    body = "".join(f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
                   f"<td style='text-align:left'>{html.escape(text)}</td></tr>" for name, text in rows)
    source = base64.b64encode(picture(volume)).decode("ascii")
    return (f"<div><img alt='volume' style='max-width:{_SIZE[0]}px' src='data:image/png;base64,{source}'/>"
            f"<table>{body}</table></div>")


_PLANES = {"b-scan": 0, "side": 1, "en-face": 2}
_NAMES = ("B-scans", "A-scans", "depth")


def plot(volume: Volume, plane: str = "b-scan", index: int | None = None, *, ax: Any = None, colour_bar: bool = True,
         **imshow: Any) -> Any:
    """Implements Volume.plot()."""
    from matplotlib import pyplot

    if plane not in _PLANES:
        raise BadArgument(f'there is no plane "{plane}"', "plane", "b-scan, side or en-face")
    across = _PLANES[plane]
    at = volume.shape[across] // 2 if index is None else range(volume.shape[across])[index]
    picture = volume.values()[(slice(None),) * across + (at,)]
    if picture.ndim == 3 or picture.dtype.kind == "c":
        raise BadArgument("holds pairs or complex numbers", "volume", "plot velocities(), or amplitudes")
    columns, rows = (0, 1) if across == 2 else (1 - across, 2)  # dimensions of the volume
    steps = [step if step > 0 else 1.0 for step in volume.spacing_um]
    origins = [0.0, 0.0, volume.first_depth_um]

    def edges(dimension: int) -> tuple[float, float]:
        begin = origins[dimension] - steps[dimension] / 2
        return begin, begin + steps[dimension] * volume.shape[dimension]

    if across == 2:  # A-scans to the right, B-scans downwards
        columns, rows = 1, 0
    else:
        picture = picture.T
    (left, right), (top, bottom) = edges(columns), edges(rows)
    if ax is None:
        ax = pyplot.subplots()[1]
    options = {"cmap": "gray", "aspect": "equal" if all(volume.spacing_um) else "auto", **imshow}
    shown = ax.imshow(picture, extent=(left, right, bottom, top), **options)

    def label(dimension: int) -> str:
        return f"{_NAMES[dimension]} (um)" if volume.spacing_um[dimension] > 0 else _NAMES[dimension]

    ax.set(xlabel=label(columns), ylabel=label(rows))
    if colour_bar:
        ax.figure.colorbar(shown, ax=ax, label=volume.unit)
    return ax


# Shell script that runs a program and removes the folder $0 when it ends, even after Python has ended. Signals of
# Python's terminal do not reach it; a terminating signal is forwarded to the program.
_RUN_AND_REMOVE = """
trap 'kill "$child" 2>/dev/null' TERM
"$@" & child=$!
wait "$child"; wait "$child" 2>/dev/null
rm -rf -- "$0"
"""


class Window:
    """The window of `echolux view`: a separate process, which stays open when Python ends."""

    def __init__(self, program: str, volume: Volume, settings: dict[str, str]) -> None:
        folder = tempfile.mkdtemp(prefix="echolux-")
        file = Path(folder) / "volume.nrrd"
        try:
            volume.save(file)
            sets = [f"{key}={value}" for key, value in settings.items()]
            command = [program, "view", str(file), *(["--set", *sets] if sets else [])]
            self._process = subprocess.Popen(["/bin/sh", "-c", _RUN_AND_REMOVE, folder, *command], stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL, start_new_session=True)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    @property
    def is_open(self) -> bool:
        """True until the window is closed."""
        return self._process.poll() is None

    def wait(self) -> None:
        """Waits until the window is closed."""
        self._process.wait()

    def close(self) -> None:
        """Closes the window."""
        self._process.terminate()
        self._process.wait()


def _has_screen() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def view(volume: Any, settings: dict[str, object], window: bool | None = None) -> Any:
    """Implements Volume.view()."""
    from .pictures import view_of
    from .settings import spelled

    program = shutil.which("echolux")
    if window is None:
        window = program is not None and _has_screen()
    if not window:
        from .widget import widget

        return widget(volume, settings)
    if program is None:
        raise Unsupported("the program echolux is not on the PATH", "window", "install it, or leave window out")
    from . import _core
    from .pictures import key_of

    view_of(settings)  # raises for invalid settings before a window opens
    known = {setting.key.partition(".")[2] for setting in _core.View().settings().all()}
    return Window(program, volume, {key_of(name, known): spelled(value) for name, value in settings.items()})
