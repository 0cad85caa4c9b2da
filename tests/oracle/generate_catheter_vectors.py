#!/usr/bin/env python3
"""Writes frames of a catheter that rotates unevenly, and the true angle of every A-scan.

usage: generate_catheter_vectors.py FOLDER

The vessel is a complex field of fully developed speckle behind an eccentric oval lumen, blurred by a beam of one width in mm, so that its
grains cover fewer A-scans further out. A-scans are its intensity at true angles and positions along the pullback, between nodes by cubic
splines, with noise. power.f32 [frame][a_scan][row]; angle.f64: true angle of each A-scan in A-scans of uniform rotation; lumen.f64 [frame]
[a_scan]: radius in um at uniform angles; marks.csv: A-scans in which two marks at fixed angles are seen.
"""
import pathlib
import sys

import numpy as np
from scipy import ndimage

FRAMES, A_SCANS, ROWS = 140, 200, 180
ROW_UM, ZERO_UM, SHEATH_UM = 14.0, 300.0, 600.0
BEAM_UM = 75.0
OVER = 2  # nodes of the field per A-scan


def lumen_um(turn, frame):
    angle = 2 * np.pi * turn
    return 1500 + 220 * np.cos(2 * angle + 0.05 * frame) + 140 * np.cos(angle - 1)


def vessel_field(rng, radius):
    shape = FRAMES + 10, OVER * A_SCANS, ROWS
    white = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    wave = 2 * np.pi * np.fft.fftfreq(shape[1]) * shape[1] / (2 * np.pi)  # cycles per turn
    sigma = BEAM_UM / radius  # rad
    spectrum = np.fft.fft(white, axis=1) * np.exp(-(wave[:, None] * sigma[None, :])**2 / 2)
    field = np.fft.ifft(spectrum, axis=1)
    for axis, width in ((0, 1.0), (2, 0.6)):
        field = ndimage.gaussian_filter1d(field.real, width, axis) + 1j * ndimage.gaussian_filter1d(field.imag, width, axis)
    return field / np.sqrt(np.mean(np.abs(field)**2, axis=(0, 1)))


def true_angles(rng):
    t = np.arange(FRAMES * A_SCANS)
    turn, frame = t / A_SCANS, t // A_SCANS
    walk = ndimage.gaussian_filter1d(rng.standard_normal(t.size), 60)
    off = 4.5 * np.sin(2 * np.pi * turn + 0.04 * turn + 0.4) + 2.2 * np.sin(4 * np.pi * turn - 0.07 * turn) + 1.2 * walk / walk.std()
    return t + off


def sampled(field, turns, along):
    """The field at angles and frames, for all rows."""
    wide = np.concatenate([field[:, -8:], field, field[:, :8]], 1)
    coordinates = np.array([along + 5, (turns % 1) * OVER * A_SCANS + 8])
    made = np.empty((turns.size, ROWS), complex)
    for row in range(ROWS):
        made[:, row] = ndimage.map_coordinates(wide[:, :, row].real, coordinates, order=3) \
            + 1j * ndimage.map_coordinates(wide[:, :, row].imag, coordinates, order=3)
    return made


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(12)
    radius = ZERO_UM + ROW_UM * np.arange(ROWS)
    angle = true_angles(rng)
    turns, along = angle / A_SCANS, np.arange(angle.size) / A_SCANS
    wall = lumen_um(turns, along)[:, None]
    behind = radius[None, :] - wall
    tissue = np.where(behind > 0, np.exp(-np.maximum(behind, 0) / 700), 0.002)
    wave = sampled(vessel_field(rng, radius), turns, along) * np.sqrt(tissue)
    wave += 3 * np.exp(-((radius - SHEATH_UM) / 18)**2)[None, :]
    noise = rng.standard_normal(wave.shape) + 1j * rng.standard_normal(wave.shape)
    power = np.abs(wave + 0.04 * noise)**2
    power.astype("<f4").tofile(folder / "power.f32")
    angle.tofile(folder / "angle.f64")
    frame, a_scan = np.meshgrid(np.arange(FRAMES), np.arange(A_SCANS), indexing="ij")
    lumen_um(a_scan / A_SCANS, frame + a_scan / A_SCANS).tofile(folder / "lumen.f64")
    lines = ["# frame, a_scan, mark"]
    for mark, at in enumerate((60.0, 145.0)):
        for f in range(FRAMES):
            seen = np.interp(f * A_SCANS + at, angle, np.arange(angle.size))
            lines.append(f"{int(seen // A_SCANS)},{seen % A_SCANS:.3f},{mark}")
    (folder / "marks.csv").write_text("\n".join(lines) + "\n")
    np.array([FRAMES, A_SCANS, ROWS, ROW_UM, ZERO_UM, SHEATH_UM]).tofile(folder / "grid.f64")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
