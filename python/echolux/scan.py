"""Scans: how spectra were recorded, and how to process them."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from . import _core
from .settings import Section, assignments, sections
from .volume import Volume

Progress = Callable[[str, int, int], object]


class Scan:
    """A scan with its spectra's file, or one that is described by its settings alone. Sections of settings are attributes
    (scan, calibration, recipe, flow, nufft, defr, compressive)."""

    def __init__(self, core: _core.Scan) -> None:
        self._core = core
        self._sections: dict[str, Section] = {}

    def __getattr__(self, name: str) -> Any:
        settings = self._core.settings()
        made = sections(settings).get(name)
        if made is None:
            raise AttributeError(f"a scan has no {name}")
        return self._sections.setdefault(name, made(settings))

    def reconstruct(self, volume: int = 0, *, device: str = "auto", progress: Progress | None = None) -> Volume:
        """A volume of the scan's file, as `echolux reconstruct` makes it; its `flow` where flow.method asks for it."""
        structure, flow = self._core.reconstruct(device, volume, 0, 0, progress)
        made = Volume(structure)
        if flow is not None:
            made.flow = Volume(flow)
        return made


def open(path: str | os.PathLike[str], **settings: Mapping[str, object]) -> Scan:
    """Opens a scan's TOML file, a recording, or a raw file that describes itself. Sections of settings override the file:
    ox.open("scan.toml", recipe={"window": "hann"})."""
    return Scan(_core.Scan.open(os.fspath(path), assignments(settings)))
