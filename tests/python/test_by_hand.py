"""Compares the module with a reconstruction written in NumPy in double precision: resampling to uniform k, dispersion,
window, transform, decibels. The formulas are those of docs/algorithms.md; the limits are those of the backends."""
import unittest

import numpy as np

import echolux as ox
from support import FolderCase, write_scan

SAMPLES, A_SCANS, B_SCANS = 1024, 32, 4
MAX_FIELD = 1e-6  # relative L2 error of the complex field
MAX_DB = 1e-3  # above the noise floor


def resampled(lines, positions):
    """Third-order Lagrange interpolation: four samples around each position."""
    positions = np.clip(positions, 0, lines.shape[-1] - 1)
    first = np.clip(np.floor(positions).astype(int), 1, lines.shape[-1] - 3) - 1
    out = np.zeros(lines.shape)
    for m in range(4):
        others = [n for n in range(4) if n != m]
        weight = np.prod([(positions - first - n) / (m - n) for n in others], axis=0)
        out += weight * lines[..., first + m]
    return out


def field(raw, positions, a2, a3):
    """Complex depth profiles [b, a, samples / 2]."""
    edge = np.linspace(-1, 1, raw.shape[-1])
    window = np.hanning(raw.shape[-1])
    lines = raw - raw.mean(1, keepdims=True)  # the part common to all A-scans of a B-scan
    spectra = resampled(lines, positions) * window * np.exp(-1j * (a2 * edge**2 + a3 * edge**3))
    return np.fft.fft(spectra)[..., : raw.shape[-1] // 2] / window.sum()


def sampled(rng, positions, a2, a3):
    """Three reflectors under a lamp, as seen by a spectrometer with that k map and dispersion."""
    k = np.interp(np.arange(SAMPLES), positions, np.arange(SAMPLES)) / (SAMPLES - 1)
    edge = 2 * k - 1
    lamp = 20000 * np.exp(-((k - 0.5) / 0.3) ** 2)
    counts = np.tile(lamp, (B_SCANS, A_SCANS, 1))
    for depth, strength in ((60, 0.2), (150, 0.1), (301.5, 0.05)):
        depths = depth + rng.uniform(0, 8, (B_SCANS, A_SCANS, 1))
        counts += lamp * strength * np.cos(2 * np.pi * depths * k + a2 * edge**2 + a3 * edge**3)
    return np.clip(np.round(counts + rng.normal(0, 20, counts.shape)), 0, 65535).astype(np.uint16)


class ByHand(FolderCase):
    def setUp(self):
        super().setUp()
        k = np.linspace(0, 1, SAMPLES)
        self.positions = (SAMPLES - 1) * (k + 0.06 * k * (1 - k))
        self.a2, self.a3 = 21.0, -4.0
        self.raw = sampled(np.random.default_rng(17), self.positions, self.a2, self.a3)

    def scan(self, **recipe):
        scan = ox.open(write_scan(self.folder, self.raw, a2_rad=self.a2, a3_rad=self.a3, **recipe))
        scan.calibration["k_positions"] = self.positions
        return scan

    def test_complex_field_matches_numpy(self):
        expected = field(self.raw, self.positions, self.a2, self.a3)
        made = self.scan(quantity="complex").reconstruct().values()
        self.assertLess(np.linalg.norm(made - expected) / np.linalg.norm(expected), MAX_FIELD)

    def test_decibels_match_numpy(self):
        expected = 20 * np.log10(abs(field(self.raw, self.positions, self.a2, self.a3)))
        made = self.scan(levels="fixed").reconstruct().values()
        bright = expected > np.median(expected)
        self.assertGreater(expected.max() - np.median(expected), 40)  # the reflectors are sharp
        self.assertLess(abs(made - expected)[bright].max(), MAX_DB)


if __name__ == "__main__":
    unittest.main()
