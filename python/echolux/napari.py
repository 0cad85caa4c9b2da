"""Readers and sample data for napari, listed in napari.yaml. This module does not import napari.

Layers are [b, depth, a], preceded by time in a series, in um and s, with depth downwards.
"""
from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any, Union

from .errors import Error
from .scan import Scan
from .scan import open as open_scan
from .series import LazyVolume, Series, load_series
from .simulation import simulate
from .volume import Volume

Layer = tuple[Any, dict[str, Any], str]
Paths = Union[str, list[str]]
Read = Callable[[Paths], list[Layer]]

_SCANS = (".toml", ".oct", ".unp")


def reader(path: Paths) -> Read | None:
    """Returns the function that reads these files or folders; None if they are not supported."""
    for one in [path] if isinstance(path, str) else path:
        if _opened(one) is None:
            return None
    return read


def read(path: Paths) -> list[Layer]:
    """Returns the layers of a file, folder or pattern; for several paths, the layers of each."""
    layers: list[Layer] = []
    for one in [path] if isinstance(path, str) else path:
        opened, name = _opened(one), os.path.basename(os.path.normpath(one))
        if isinstance(opened, Scan):
            layers += _layers_of_scan(opened, name)
        elif opened is not None:
            layers.append(_layer_of_series(opened, name))
    return layers


def _opened(path: str) -> Scan | Series | None:
    if path.lower().endswith(_SCANS):
        try:
            return open_scan(path)
        except Error:
            pass  # an .oct may contain volumes
    try:
        return load_series(path)
    except Error:
        return None


def _meaning(volume: Any, name: str, step_s: float | None) -> dict[str, Any]:
    """Returns scale, units, axes and contrast of a layer for this volume; step_s: of a series, 0 if unknown."""
    b, a, depth = volume.spacing_um
    steps = [("b", b), ("depth", depth), ("a", a)]
    meaning: dict[str, Any] = {
        "name": name,
        "scale": [step or 1.0 for _, step in steps],
        "translate": [0.0, volume.first_depth_um, 0.0],
        "units": ["um" if step > 0 else "pixel" for _, step in steps],
        "axis_labels": [axis for axis, _ in steps],
        "contrast_limits": _contrast(volume),
        "metadata": {"unit": volume.unit, "quantity": volume.quantity, "code_scale": volume.scale,
                     "code_offset": volume.offset, "provenance": volume.provenance},
    }
    if step_s is not None:
        meaning["scale"].insert(0, step_s or 1.0)
        meaning["translate"].insert(0, 0.0)
        meaning["units"].insert(0, "s" if step_s > 0 else "pixel")
        meaning["axis_labels"].insert(0, "t")
    return meaning


def _contrast(volume: Any) -> list[float]:
    """Contrast limits from the middle B-scan, in codes."""
    import numpy as np

    codes = np.abs(np.asarray(volume[volume.shape[0] // 2]))
    low, high = (float(one) for one in np.nanpercentile(codes, (1, 99.9)))
    return [low, high if high > low else low + 1]


def _turned(codes: Any) -> Any:
    """Converts [..., b, a, depth] to [..., b, depth, a]."""
    return codes.swapaxes(-1, -2)


def _lazy(source: LazyVolume | Series) -> Any:
    """Returns a Dask array, or all voxels if Dask is not installed."""
    try:
        return source.to_dask()
    except ImportError:
        import numpy as np

        return np.asarray(source)


def _layer_of_series(series: Series, name: str) -> Layer:
    if len(series) > 1:
        step_s = float(series.times_s[1] - series.times_s[0])
        return _turned(_lazy(series)), _meaning(series[0], name, step_s), "image"
    volume: LazyVolume = series[0]
    meaning = _meaning(volume, name, None)
    levels = volume.levels
    if len(levels) > 1:
        meaning["multiscale"] = True
        return [_turned(_lazy(level)) for level in levels], meaning, "image"
    return _turned(_lazy(volume)), meaning, "image"


def _layers_of_scan(scan: Scan, name: str) -> list[Layer]:
    """Returns its volumes, each reconstructed on access (with Dask; otherwise only the first)."""
    first = scan.reconstruct(progress=False)
    volumes: list[Any] = [first]
    if scan.volumes > 1:
        volumes += _reconstructed_later(scan)
    layers = []
    flowing = first.flow is not None
    for is_flow in (False, True) if flowing else (False,):
        shown = _part(first, is_flow)
        codes = [_codes(volume, shown, is_flow) for volume in volumes]
        title = f"{name} flow" if is_flow else name
        if len(codes) == 1:
            layers.append((_turned(codes[0]), _meaning(shown, title, None), "image"))
            continue
        array: Any = import_module("dask.array")
        layers.append((_turned(array.stack(codes)), _meaning(shown, title, _step_s(scan)), "image"))
    return layers


def _part(volume: Volume, is_flow: bool) -> Volume:
    if not is_flow or volume.flow is None:
        return volume
    return volume.flow.velocities() if volume.flow.quantity == "doppler" else volume.flow


def _reconstructed_later(scan: Scan) -> list[Any]:
    try:
        dask: Any = import_module("dask")
    except ImportError:
        return []
    later = dask.delayed(lambda number: scan.reconstruct(number, progress=False), pure=True)
    return [later(number) for number in range(1, scan.volumes)]


def _codes(volume: Any, like: Volume, is_flow: bool) -> Any:
    import numpy as np

    if isinstance(volume, Volume):
        return np.asarray(like)
    dask: Any = import_module("dask")
    array: Any = import_module("dask.array")
    codes = dask.delayed(lambda made: np.asarray(_part(made, is_flow)))(volume)
    return array.from_delayed(codes, like.shape, like.dtype)


def _step_s(scan: Scan) -> float:
    """Time between volumes of a scan, including flyback."""
    s = scan.scan
    lines = (s.a_scans * s.a_repeats + s.flyback_lines) * (s.b_scans * s.b_repeats + s.flyback_frames)
    return lines / s.line_rate_hz if s.line_rate_hz > 0 else 0.0


def _sample(scene: str) -> list[Layer]:
    sim = simulate(scene, samples=512, a_scans=96, b_scans=64)
    volume = sim.reconstruct(progress=False)
    meaning = _meaning(volume, f"{scene} (simulated)", None)
    labels = {key: meaning[key] for key in ("scale", "translate", "units", "axis_labels")}
    return [(_turned(volume[:]), meaning, "image"),
            (_turned(sim.truth.labels[:, :, :volume.shape[2]]), {**labels, "name": f"{scene}: truth", "opacity": 0.3},
             "labels")]


def sample_vessel() -> list[Layer]:
    """Two vessels under skin, with ground-truth labels."""
    return _sample("vessel")


def sample_layers() -> list[Layer]:
    """Four layers, with ground-truth labels."""
    return _sample("layers")


__all__ = ["read", "reader", "sample_layers", "sample_vessel"]
