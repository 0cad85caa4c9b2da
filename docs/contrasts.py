#!/usr/bin/env python3
"""Draws the pictures of docs/dynamics.md, docs/displacement.md and docs/polarisation.md with the program, from simulated fields.

usage: contrasts.py ECHOLUX [NAME ...]
"""
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "oracle"), str(ROOT / "tests" / "support")]
import contrast_reference as reference  # noqa: E402
from scans import write_series  # noqa: E402


def blurred(field, sigma):
    """A beam of this size in voxels, at constant mean power."""
    field = gaussian_filter(field.real, sigma) + 1j * gaussian_filter(field.imag, sigma)
    return field / np.sqrt((np.abs(field) ** 2).mean())


def spheroid(folder):
    """Cells whose organelles diffuse fast at the rim and slowly in the core, on static gel."""
    random = np.random.default_rng(1)
    x, z = np.meshgrid(np.arange(200) * 2.0 - 200, np.arange(130) * 2.0 - 150, indexing="ij")
    r = np.hypot(x, z) + 6 * np.sin(3 * np.arctan2(z, x))
    diffusion = np.select([r < 55, r < 100], [0.0004, 0.006], 0)
    diffusion[np.hypot(x + 20, z - 10) < 14] = 0.03
    field = reference.diffusing_field(random, 32, x.shape, 0.2, diffusion, 0.84, 1.38)
    power = np.select([r < 100], [1.0], 0.1) * np.exp(-np.maximum(z + 100, 0) / 250) * (z > -130)
    field = blurred(field, (0, 1.2, 0.8)) * np.sqrt(power) + 0.02 * reference.circular(random, field.shape)
    write_series(folder / "spheroid.nrrd", field[:, None], 0.2, (0.002, 0.002, 0.002))


def phantom(folder):
    """A layer compressed by 4e-4, with a round inclusion that is compressed a fifth as much, and noise that grows with depth."""
    random = np.random.default_rng(2)
    x, z = np.meshgrid(np.arange(160) * 5.0 - 400, np.arange(200) * 2.0, indexing="ij")
    strain = -4e-4 * np.where(np.hypot(x, z - 180) < 90, 0.2, 1)
    nm = np.cumsum(strain * 2.0 * 1000, axis=1)
    field = blurred(reference.circular(random, x.shape), 0.8) * np.exp(-z / 500)
    times = np.arange(5)[:, None, None] / 4
    moments = reference.moved(random, field, reference.phase_of_nm(nm * times, 0.84, 1.38), 25)
    write_series(folder / "phantom.nrrd", moments[:, None], 0.1, (0.005, 0.002, 0.005))


def pulse(folder):
    """A pulse that runs along the surface at 2 m/s and fades."""
    random = np.random.default_rng(3)
    t, x = np.meshgrid(np.arange(100) * 1e-4, np.arange(120) * 2e-5, indexing="ij")
    late = (t - 0.002 - x / 2.0) / 5e-4
    nm = 80 * np.exp(-x / 2e-3) * (1 - 2 * late**2) * np.exp(-(late**2))
    field = blurred(reference.circular(random, (120, 40)), 0.8)
    write_series(folder / "pulse.nrrd", reference.moved(random, field, reference.phase_of_nm(nm, 0.84, 1.38)[..., None], 25)[:, None], 1e-4,
                 (0.02, 0.002, 0.02))


def retarders(folder):
    """Three birefringent layers, the axis of the first turning from left to right, above a layer that scrambles."""
    random = np.random.default_rng(4)
    x, z = np.meshgrid(np.arange(200) / 199, np.arange(150), indexing="ij")
    top = 15 + 8 * np.sin(4 * x)
    layer = np.select([z < top, z < top + 45, z < top + 70, z < top + 100], [-1, 0, 1, 2], 3)
    retardation = np.radians(np.select([layer == 0, layer == 1, layer == 2], [1.2, 0.0, 0.8], 0))
    axis = np.radians(np.select([layer == 0, layer == 2], [20 + 140 * x, 90], 0))
    fields = reference.channels(reference.returned(retardation, axis)) * blurred(reference.circular(random, x.shape), 0.7)
    scrambled = np.stack([blurred(reference.circular(random, x.shape), 0.7) for _ in range(2)])
    fields = np.where(layer == 3, scrambled, fields) * np.select([layer < 0, layer == 1], [0, 0.5], 1) * np.exp(-z / 200)
    fields = fields + 0.01 * reference.circular(random, fields.shape)
    for name, field in zip(("one", "two"), fields):
        write_series(folder / f"{name}.nrrd", field[None, None], 0, (0.005, 0.002, 0.005))


NM = ["--wavelength", "840", "--refractive-index", "1.38"]
PICTURES = {
    "displacement": (phantom, ["displacement", "phantom.nrrd", *NM, "--min-quality", "0.5", "--picture"]),
    "displacement-wave": (pulse, ["displacement", "pulse.nrrd", *NM, "--plot"]),
    "polarisation": (retarders, ["polarisation", "one.nrrd", "two.nrrd", "--threshold-db", "-30", "--picture"]),
    "dynamics": (spheroid, ["dynamics", "spheroid.nrrd", "--threshold-db", "-20", "--window-depth", "5", "--window-a-scans", "5", "--picture"]),
}


def main(program, names):
    for name in names or PICTURES:
        write, command = PICTURES[name]
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder))
            picture = ROOT / "docs" / "pictures" / f"{name}.png"
            subprocess.run([program, *command, picture, "--overwrite", "--set", "figure.dpi=150"], cwd=folder, check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), sys.argv[2:])
