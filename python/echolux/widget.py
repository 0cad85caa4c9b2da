"""Notebook widget for volumes: rotated by dragging, zoomed by the wheel. Pictures are rendered here and sent as PNG.
The page requests the next one once it has shown the last.
"""
from __future__ import annotations

from pathlib import Path
from typing import Any

from . import _core
from .errors import Unsupported
from .pictures import view_of
from .settings import spelled
from .show import png

_SIZE = (640, 480)


def _presets(view: _core.View) -> list[str]:
    return next(list(one.choices) for one in view.settings().all() if one.key == "view.preset")


def widget(shown: Any, settings: dict[str, object]) -> Any:
    """Returns a widget for a volume, or for the volumes of a series."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise Unsupported("a widget needs anywidget", "view", "pip install anywidget") from None
    volumes = _volumes_of(shown)
    view = view_of({"width": _SIZE[0], "height": _SIZE[1], "azimuth": 35, "elevation": 25, **settings})
    number, text = view.settings().number, view.settings().text

    class Viewer(anywidget.AnyWidget):
        """azimuth, elevation (degrees), zoom, preset and time_point can also be set from Python."""

        _esm = Path(__file__).with_name("widget.js")
        picture = traitlets.Bytes().tag(sync=True)
        azimuth = traitlets.Float(number("view.azimuth_deg")).tag(sync=True)
        elevation = traitlets.Float(number("view.elevation_deg")).tag(sync=True)
        zoom = traitlets.Float(number("view.zoom")).tag(sync=True)
        preset = traitlets.Unicode(text("view.preset")).tag(sync=True)
        presets = traitlets.List(_presets(view)).tag(sync=True)
        time_point = traitlets.Int(0).tag(sync=True)
        time_points = traitlets.Int(len(volumes)).tag(sync=True)
        times_s = traitlets.List([volume.time_s for volume in volumes]).tag(sync=True)
        is_dragged = traitlets.Bool(False).tag(sync=True)  # while dragging, pictures of half the size suffice
        width = traitlets.Int(int(number("view.width"))).tag(sync=True)
        height = traitlets.Int(int(number("view.height"))).tag(sync=True)

        def __init__(self) -> None:
            super().__init__()
            self.observe(self._draw, ["azimuth", "elevation", "zoom", "preset", "time_point", "is_dragged"])
            self._draw()

        def _draw(self, _: Any = None) -> None:
            size = 2 if self.is_dragged else 1
            every = view.settings()
            for key, value in (("width", self.width // size), ("height", self.height // size),
                               ("azimuth_deg", self.azimuth), ("elevation_deg", self.elevation), ("zoom", self.zoom),
                               ("preset", self.preset)):
                every.set_text(f"view.{key}", spelled(value))
            self.picture = png(_rendered(volumes[self.time_point], view), 1)

    return Viewer()


def _volumes_of(shown: Any) -> list[Any]:
    return list(shown) if getattr(shown, "ndim", 3) == 4 and hasattr(shown, "times_s") else [shown]


def _rendered(volume: Any, view: _core.View) -> Any:
    from .pictures import _renderer

    whole = volume.read() if hasattr(volume, "read") else volume
    return _renderer().render(whole, whole.flow, view)
