"""Shared by the cases of the module: small scans, and a folder for each case."""
import tempfile
import unittest
from pathlib import Path

import numpy as np

import scans


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
    defaults = {"resample": None, "levels": None}
    return scans.write_scan(folder, raw, {"spacing_a_um": 5.0, "spacing_b_um": 7.0}, recipe={**defaults, **recipe}, raw="scan.raw")


class FolderCase(unittest.TestCase):
    """A case with its own folder."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
