#!/usr/bin/env python3
"""Writes tiles of a sample as an instrument on a stage records them, and the true positions.

usage: generate_stitching_vectors.py FOLDER

The sample is a complex field of fully developed speckle in tilted layers with vessels. A tile is its intensity at a true position between
voxels: the field is interpolated by cubic B-splines, and noise is added before the intensity is taken. The stage has errors per tile, a scale
and a rotation, and its plane is tilted against the sample. Illumination over the field, roll-off over depth and a gain per tile change the
brightness. tiles.csv lists the stage; truth.f64 has the first voxel of each tile (depth, A-scan, B-scan); swapped.csv lists wrong tiles.
"""
import pathlib
import sys

import numpy as np
from scipy import ndimage

ROWS = COLUMNS = 10
DEPTH, SIDE, STEP = 44, 32, 24  # voxels of a tile, and between tiles
SPACING = (0.004, 0.010, 0.012)  # mm along depth, A-scans, B-scans
MARGIN = 14


def speckle(rng, shape):
    """A complex Gaussian field with grains of about three voxels."""
    field = rng.standard_normal(shape).astype(np.float32) + 1j * rng.standard_normal(shape).astype(np.float32)
    field = ndimage.gaussian_filter(field.real, 1.1) + 1j * ndimage.gaussian_filter(field.imag, 1.1)
    return field / np.sqrt(np.mean(np.abs(field) ** 2))


def reflectivity(z, x, y):
    surface = 12 + 0.02 * x - 0.015 * y + 2 * np.sin(x / 37 + y / 51)
    below = z - surface
    layers = np.select([below < 0, below < 7, below < 13, below < 22], [0.003, 1.0, 0.25, 0.6], 0.12)
    vessel = np.zeros_like(layers)
    for k in range(14):
        across = x * np.cos(0.7 * k) + y * np.sin(0.7 * k) - 25 * (k - 4)
        vessel = np.maximum(vessel, np.hypot(across, below - 9 - k % 5) < 3)
    return layers * np.exp(-np.maximum(below, 0) / 30) * (1 - 0.8 * vessel)


def spline_taps(part):
    """Weights of four cubic B-splines at a fraction of a voxel."""
    t = part
    return np.array([(1 - t) ** 3, 3 * t ** 3 - 6 * t ** 2 + 4, -3 * t ** 3 + 3 * t ** 2 + 3 * t + 1, t ** 3]) / 6


def interpolated(coefficients, first, shape):
    """The field at first + 0, 1, 2 ... along each axis."""
    base = np.floor(first).astype(int)
    part = first - base
    crop = coefficients[tuple(slice(b - 1, b + n + 2) for b, n in zip(base, shape))]
    for axis, n in enumerate(shape):
        taps = spline_taps(part[axis])
        crop = sum(taps[k] * np.take(crop, range(k, k + n), axis=axis) for k in range(4))
    return crop


def write_nrrd(path, intensity):
    """[b][a][depth] to the axes of files: columns are A-scans, rows are depth."""
    decibels = 10 * np.log10(intensity)
    axes = " ".join(f"({','.join(str(SPACING[s] if i == axis else 0) for i in range(3))})" for axis, s in enumerate((1, 0, 2)))
    header = f"NRRD0004\ntype: float\ndimension: 3\nsizes: {SIDE} {DEPTH} {SIDE}\nendian: little\nencoding: raw\nspace dimension: 3\n" \
             f"space units: \"mm\" \"mm\" \"mm\"\nspace directions: {axes}\necholux_quantity:=db\necholux_unit:=dB\n\n"
    path.write_bytes(header.encode() + decibels.transpose(0, 2, 1).astype("<f4").tobytes())


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(46)
    width = STEP * (COLUMNS - 1) + SIDE + 2 * MARGIN
    field = speckle(rng, (DEPTH + 2 * MARGIN, width, width))
    coefficients = ndimage.spline_filter(field.real, 3) + 1j * ndimage.spline_filter(field.imag, 3)
    truth, lines, swapped = [], ["file,x_mm,y_mm"], ["file,x_mm,y_mm"]
    u = np.linspace(-1, 1, SIDE)
    w = np.linspace(-1, 1, DEPTH)
    vignette = -2.5 * u[:, None] ** 2 - 2.0 * u[None, :] ** 2 + 0.5 * u[:, None]
    illumination = vignette[None, :, :] - 2 * w[:, None, None] - 1.5 * w[:, None, None] ** 2
    names = [f"tile_{i:03d}.nrrd" for i in range(ROWS * COLUMNS)]
    middle = STEP * (COLUMNS - 1) / 2
    for i, name in enumerate(names):
        stage = np.array([i % COLUMNS, i // COLUMNS], float) * STEP
        off = stage - middle
        turned = stage + 0.01 * off + 0.006 * np.array([-off[1], off[0]]) + rng.uniform(-1.5, 1.5, 2)
        z = 0.02 * turned[0] - 0.012 * turned[1] + rng.uniform(-2, 2)
        first = np.array([z, *turned])
        z_at, x_at, y_at = np.meshgrid(*(first[k] + np.arange(n) for k, n in enumerate((DEPTH, SIDE, SIDE))), indexing="ij")
        wave = interpolated(coefficients, first + MARGIN, (DEPTH, SIDE, SIDE)) * np.sqrt(reflectivity(z_at, x_at, y_at))
        wave = wave * 10 ** ((illumination + rng.uniform(-1, 1)) / 20)
        noise = rng.standard_normal(wave.shape) + 1j * rng.standard_normal(wave.shape)
        write_nrrd(folder / name, np.abs(wave + 0.07 * noise).transpose(2, 1, 0) ** 2)
        truth.append(first)
        centre = (stage + (SIDE - 1) / 2) * np.array(SPACING[1:])
        lines.append(f"{name},{centre[0]:.6f},{centre[1]:.6f}")
        swapped.append(f"{names[(37 * i + 11) % len(names)]},{centre[0]:.6f},{centre[1]:.6f}")
    np.array(truth).tofile(folder / "truth.f64")
    (folder / "swapped.csv").write_text("\n".join(swapped) + "\n")
    (folder / "tiles.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
