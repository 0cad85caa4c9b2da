"""Shared by the cases of the module: small scans written with NumPy, and a folder for each case."""
import tempfile
import unittest
from pathlib import Path

import numpy as np


def spectra(b_scans=4, a_scans=16, samples=256, seed=1):
    """Two reflectors, linear in k, as 12-bit counts. The deeper one sinks along the A-scans."""
    rng = np.random.default_rng(seed)
    x = np.arange(samples) / samples
    lamp = 1500 * np.exp(-((x - 0.5) / 0.25) ** 2)
    depth = 20 + 30 * np.arange(a_scans)[:, None] / a_scans
    fringes = 0.3 * np.cos(2 * np.pi * 12 * x) + 0.2 * np.cos(2 * np.pi * depth * x)
    counts = lamp * (1 + fringes) + rng.normal(0, 2, (b_scans, a_scans, samples))
    return np.clip(np.round(counts + 50), 0, 4095).astype(np.uint16)


def write_scan(folder, raw, **recipe):
    """Writes scan.toml and scan.raw of spectra [b, a, samples]."""
    folder = Path(folder)
    raw.tofile(folder / "scan.raw")
    lines = ["[scan]", 'file = "scan.raw"', 'sample_format = "u16"', f"samples = {raw.shape[2]}",
             f"a_scans = {raw.shape[1]}", f"b_scans = {raw.shape[0]}", "spacing_a_um = 5.0", "spacing_b_um = 7.0", "[recipe]"]
    lines += [f"{key} = {value!r}".replace("'", '"') for key, value in recipe.items()]
    (folder / "scan.toml").write_text("\n".join(lines) + "\n")
    return folder / "scan.toml"


class FolderCase(unittest.TestCase):
    """A case with its own folder."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
