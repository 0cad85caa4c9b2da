"""Pictures of volumes."""
from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from . import _core
from .errors import BadArgument
from .settings import text_of

if TYPE_CHECKING:
    import numpy as np

    from .volume import Volume

_renderers: list[_core.Renderer] = []  # one for all pictures, because creating a device is slow
_UNITS = ("_deg", "_um", "_s", "_ms")


def _renderer() -> _core.Renderer:
    if not _renderers:
        if not _core.has("render"):
            from .errors import Unsupported

            raise Unsupported("this build has no renderer", "render", "build with ECHOLUX_RENDER=ON")
        _renderers.append(_core.Renderer())
    return _renderers[0]


def key_of(name: str, known: set[str]) -> str:
    """Finds the setting meant by a name: azimuth is azimuth_deg."""
    for key in (name, *(name + unit for unit in _UNITS)):
        if key in known:
            return "view." + key
    near = get_close_matches(name, known, 1)
    raise BadArgument("there is no such setting of a view", name, f"did you mean {near[0]}?" if near else "")


def view_of(settings: Mapping[str, object]) -> _core.View:
    """Returns a view with these settings."""
    view = _core.View()
    every = view.settings()
    kinds = {setting.key: setting.kind for setting in every.all()}
    known = {key.partition(".")[2] for key in kinds}
    for name, value in settings.items():
        key = key_of(name, known)
        every.set_text(key, text_of(value, kinds[key]))
    return view


def render(volume: Volume, settings: Mapping[str, object]) -> np.ndarray[Any, Any]:
    """Implements Volume.render()."""
    view = view_of(settings)
    return _renderer().render(volume, volume.flow, view)


def forget() -> None:
    """Call before the interpreter, and with it the graphics driver, ends."""
    _renderers.clear()
