#!/usr/bin/env python3
"""Writes the test vectors of positions and of volumes bent by an instrument.

usage: generate_geometry_vectors.py FOLDER

One folder per case of positions: settings.toml, grid.f64 (depth, first depth, spacings), samples.f64 and positions.f64 [n, 3].
One folder per sphere: also volume.f32 [b_scan][a_scan][row], and truth.f64 (x, y, z, radius in mm). Mirrors, dots and pairs of
directions are volumes alike, with the truths that the calibrations must find.
"""
import pathlib
import sys

import numpy as np

import geometry_reference as reference

GRID = {"depth": 200, "first": 150.0, "spacing": [5.0, 40.0, 45.0]}
SCAN = {"a_scans": 90, "b_scans": 80, "line_rate_hz": 100000.0}
LENS = {"scale_x": 1.04, "scale_y": 0.97, "radial_per_mm2": 0.01, "radial_per_mm4": -4e-4, "bend_x": [0.008, 0.002], "bend_y": [-0.01]}
PATH = {"path_um": [12.0, -8.0, 5.0, 14.0, 3.0, 11.0, 1.5, -0.7, 0.4, 1.1, 0.6, -0.3, 0.8, 0.2, 0.9]}
FAN = {"pivot_x_mm": 24.0, "pivot_y_mm": 19.0}
FLYBACK = {"b_scans": 14, "flyback_lines": 25, "flyback_frames": 1}
DELAY = {"delay_x_us": 84.0}

# Name: settings of [geometry], settings of [scan].
CASES = {
    "box": ({}, {}),
    "path": (PATH, {}),
    "path_in_tissue": (PATH, {"refractive_index": 1.38}),
    "path_index": ({**PATH, "refractive_index": 1.33}, {"refractive_index": 1.38}),
    "lens": (LENS, {}),
    "fan": (FAN, {}),
    "fan_x": ({"pivot_x_mm": 15.0}, {}),
    "fan_y": ({"pivot_y_mm": 15.0}, {}),
    "converging": ({"pivot_x_mm": -24.0, "pivot_y_mm": -30.0}, {}),
    "all": ({**PATH, **LENS, **FAN}, {}),
    "along_y": ({**PATH, **LENS, **FAN}, {"protocol": "raster_y"}),
    "delay": (DELAY, FLYBACK),
    "delay_both_ways": (DELAY, {**FLYBACK, "bidirectional": True}),
    "resonance": ({"resonance_x_hz": 1500.0, "damping_x": 0.6}, {**FLYBACK, "bidirectional": True}),
    "resonance_y": ({"resonance_y_hz": 900.0, "delay_y_us": 60.0}, FLYBACK),
    "sine": ({"resonance_x_hz": 2500.0, "delay_x_us": 30.0}, {**FLYBACK, "bidirectional": True, "fast_axis": "sinusoidal", "sinusoidal_part": 0.8}),
    "radial": ({"pattern": "radial", **LENS}, {}),
    "circle": ({"pattern": "circle", **PATH}, {}),
    "spiral": ({"pattern": "spiral", **FAN}, {}),
    "catheter": ({"polar": True, "rotation_deg": 25.0, "zero_radius_um": 420.0, "pullback_um": 200.0}, {}),
    "catheter_backwards": ({"polar": True, "rotation_deg": -70.0, "zero_radius_um": 420.0, "turns_backwards": True}, {}),
}

# Spheres behind instruments: the volume is sharp enough for cubics, and wide enough for a fit.
SPHERES = {
    "sphere_lens": (LENS, {}),
    "sphere_fan": (FAN, {}),
    "sphere_all": ({**PATH, **LENS, **FAN}, {}),
    "sphere_radial": ({"pattern": "radial"}, {}),
    "sphere_spiral": ({"pattern": "spiral"}, {"a_scans": 140, "b_scans": 30}),
}


def toml(value):
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)


def write_case(folder, geometry, scan, grid=GRID):
    folder.mkdir(parents=True, exist_ok=True)
    sections = {"geometry": geometry, "scan": scan}
    (folder / "settings.toml").write_text("".join(f"[{name}]\n" + "".join(f"{key} = {toml(value)}\n" for key, value in section.items())
                                                  for name, section in sections.items()))
    np.array([grid["depth"], grid["first"], *grid["spacing"]]).tofile(folder / "grid.f64")


def write_positions(folder, geometry, more):
    scan = {**SCAN, **more}
    rng = np.random.default_rng(7)
    n = 400
    # Lines of the first turnaround and of the settling at the start of a volume are not used.
    row, a = rng.uniform(0, GRID["depth"] - 1, n), rng.uniform(16, SCAN["a_scans"] - 17, n)
    b = rng.integers(10, scan["b_scans"] - 1, n).astype(float)
    write_case(folder, geometry, scan)
    np.stack([row, a, b], -1).tofile(folder / "samples.f64")
    reference.positions(geometry, scan, GRID, row, a, b).tofile(folder / "positions.f64")


def volume_positions(geometry, scan, grid):
    b, a, row = np.meshgrid(np.arange(scan["b_scans"]), np.arange(scan["a_scans"]), np.arange(grid["depth"]), indexing="ij")
    return reference.positions(geometry, scan, grid, *(one.ravel().astype(float) for one in (row, a, b))).reshape(*row.shape, 3)


def write_sphere(folder, geometry, more):
    truth = np.array([0.1, -0.15, 3.2, 2.6])  # its top is 0.6 mm below zero delay
    grid = {"depth": 150, "first": 400.0, "spacing": [8.0, 40.0, 40.0]}
    scan = {"a_scans": 64, "b_scans": 60, **more}
    place = volume_positions(geometry, scan, grid)
    distance = np.linalg.norm(place - truth[:3], axis=-1) - truth[3]
    write_case(folder, geometry, scan, grid)
    (0.001 + np.exp(-(distance / 0.04)**2)).astype("f4").tofile(folder / "volume.f32")
    truth.tofile(folder / "truth.f64")


# ---- Calibrations


def write_mirror(folder, noise, tilt, ball_mm=0):
    """Spectra of a mirror whose depth follows PATH, or of a ball, transformed with a Hann window: a volume of intensities."""
    scan, samples = {"a_scans": 64, "b_scans": 60}, 512
    grid = {"depth": samples // 2, "first": 0.0, "spacing": [4.0, 60.0, 60.0]}
    b, a = np.meshgrid(np.arange(60.0), np.arange(64.0), indexing="ij")
    u, v = (a - 31.5) * 0.06, (b - 29.5) * 0.06
    curved = [0, 0, 0, *PATH["path_um"][3:]]
    bins = (400 + reference.polynomial(curved, u, v) + tilt * (20 * u - 15 * v)) / 4.0
    if ball_mm:
        bins = (400 + 1000 * (ball_mm - np.sqrt(ball_mm**2 - u**2 - v**2))) / 4.0
    rng = np.random.default_rng(3)
    k = np.arange(samples)
    spectra = np.cos(2 * np.pi * bins[..., None] * k / samples + rng.uniform(0, 6, bins.shape)[..., None])
    spectra += noise * rng.standard_normal(spectra.shape)
    power = np.abs(np.fft.rfft(spectra * np.hanning(samples), axis=-1)[..., :samples // 2])**2
    write_case(folder, {"path_um": curved}, scan, grid)
    power.astype("f4").tofile(folder / "volume.f32")


def write_dots(folder, geometry, noise, angle_deg=3.0, missing=5):
    """Dots 0.25 mm apart on a flat target that is turned and off centre."""
    scan = {"a_scans": 220, "b_scans": 200}
    grid = {"depth": 12, "first": 0.0, "spacing": [5.0, 18.0, 20.0]}
    place = volume_positions(geometry, scan, {**grid, "depth": 1})[:, :, 0, :2]
    angle = np.deg2rad(angle_deg)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    n = np.arange(-12, 13)
    dots = 0.25 * np.stack(np.meshgrid(n, n), -1).reshape(-1, 2) @ turn.T + [0.05, -0.08]
    rng = np.random.default_rng(5)
    dots = dots[rng.permutation(len(dots))[missing:]]
    image = np.zeros(place.shape[:2])
    for dot in dots:
        b, a = np.unravel_index(np.argmin(np.sum((place - dot)**2, -1)), image.shape)
        near = np.s_[max(b - 14, 0):b + 15, max(a - 16, 0):a + 17]
        image[near] += np.exp(-np.sum((place[near] - dot)**2, -1) / 2 / 0.045**2)
    depth = np.exp(-((np.arange(12) - 5) / 1.5)**2)
    volume = (0.02 + image)[..., None] * depth + 0.01
    if noise:  # speckle of several looks, and noise of the detector
        volume = volume * rng.gamma(1 / noise**2, noise**2, volume.shape) + 0.01 * rng.exponential(size=volume.shape)
    write_case(folder, geometry, scan, grid)
    volume.astype("f4").tofile(folder / "volume.f32")


def write_pair(folder, delay_us, more, noise):
    """Speckle that changes slowly across B-scans, passed in two directions by a beam that is late."""
    scan = {"a_scans": 256, "b_scans": 16, "line_rate_hz": 100000.0, "bidirectional": True, "flyback_lines": 30, **more}
    grid = {"depth": 24, "first": 0.0, "spacing": [5.0, 6.0, 2.0]}
    geometry = {"delay_x_us": delay_us}
    rng = np.random.default_rng(11)
    a = np.arange(256.0)
    field = np.empty((16, 256, 24), complex)
    waves = 40
    k, phase = rng.normal(0, 0.6, (24, waves)), rng.uniform(0, 2 * np.pi, (24, waves))
    drift = rng.normal(0, 0.06, (24, waves))
    for b in range(16):
        u, _ = reference.scanned(geometry, scan, grid, a, np.full(256, float(b)))
        at = u / 0.006
        field[b] = np.exp(1j * (np.einsum("a,zw->azw", at, k) + phase + b * drift)).sum(-1)
    power = np.abs(field)**2 / waves
    power = np.abs(np.sqrt(power) + noise * (rng.standard_normal(power.shape) + 1j * rng.standard_normal(power.shape)) / 2**0.5)**2
    write_case(folder, geometry, scan, grid)
    power.astype("f4").tofile(folder / "volume.f32")


def main(folder):
    for name, (geometry, scan) in CASES.items():
        write_positions(folder / name, geometry, scan)
    for name, (geometry, scan) in SPHERES.items():
        write_sphere(folder / name, geometry, scan)
    for name, (noise, tilt) in {"mirror": (0.02, 0), "mirror_tilted": (0.3, 1), "mirror_noisy": (1.0, 0)}.items():
        write_mirror(folder / name, noise, tilt)
    write_mirror(folder / "ball", 0.02, 0, 7.8)
    write_dots(folder / "dots", LENS, 0)
    write_dots(folder / "dots_noisy", LENS, 0.5)
    for name, delay_us, scan, noise in (("pair", 37.0, {}, 0.1), ("pair_early", -12.3, {}, 0.3),
                                        ("pair_sine", 25.0, {"fast_axis": "sinusoidal", "sinusoidal_part": 0.8}, 0.1)):
        write_pair(folder / name, delay_us, scan, noise)
    (folder / "cases.txt").write_text("\n".join(CASES) + "\n")
    (folder / "spheres.txt").write_text("\n".join(SPHERES) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
