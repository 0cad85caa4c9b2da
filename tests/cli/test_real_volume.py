"""A real spectral-domain volume with its calibration, compared with known facts and a reconstruction by NumPy and
SciPy. The recording is not part of the sources: ECHOLUX_DATA names the folder that contains sd-oct-volume/."""
import os
import unittest
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

from support import ProgramCase, read_png, read_volume, toml_text

FOLDER = Path(os.environ.get("ECHOLUX_DATA", "")) / "sd-oct-volume"
RAW = FOLDER / "spectra_u16_100x100x1024.raw"
WINDOW = np.hanning(1024)
SCALE_DB = 20 * np.log10(WINDOW.sum())  # the reference levels do not include the scale 1 / sum of the window


def numbers(name):
    return np.loadtxt(FOLDER / name)


def numpy_levels_db():
    """Returns [b][a][z] with the program's scale."""
    spectra = np.fromfile(RAW, "<u2").reshape(100, 100, 1024).astype(np.float64)
    positions = np.clip(numbers("k_linear_positions.csv"), 0, 1023)
    correction = WINDOW * np.exp(1j * numbers("dispersion_phase_rad.csv"))
    levels = np.empty((100, 100, 512))
    for b, frame in enumerate(spectra):
        uniform = CubicSpline(np.arange(1024), frame - frame.mean(axis=0), axis=1)(positions)
        depth = np.fft.fft(uniform * correction, axis=1)[:, :512]
        levels[b] = 20 * np.log10(np.abs(depth)) - SCALE_DB
    return levels


def surface(levels):
    return 20 + levels[..., 20:301].argmax(axis=-1)


@unittest.skipUnless(RAW.exists(), "ECHOLUX_DATA does not name a folder with sd-oct-volume")
class RealVolume(ProgramCase):
    def setUp(self):
        super().setUp()
        (self.folder / "scan.toml").write_text(toml_text({
            "scan": {"file": RAW.resolve(), "sample_format": "u16", "samples": 1024, "a_scans": 100, "b_scans": 100},
            "calibration": {"k_map": FOLDER.resolve() / "k_linear_positions.csv",
                            "dispersion": FOLDER.resolve() / "dispersion_phase_rad.csv",
                            "dispersion_holds": "correction"},
            "recipe": {"background": "frame_mean", "resample": "spline", "window": "hann", "levels": "fixed"},
        }))

    def levels(self):
        self.succeed("reconstruct", "scan.toml", "-o", "v.nrrd")
        return read_volume(self.folder / "v.nrrd")

    def test_reference_facts(self):
        levels = self.levels() + SCALE_DB
        self.assertEqual(levels.shape, (100, 100, 512))
        self.assertEqual(np.median(surface(levels)), 61)
        self.assertAlmostEqual(np.median(levels[..., 400:512]), 32.65, delta=0.01)
        self.assertAlmostEqual(levels[..., 20:].max(), 96.3, delta=0.05)

    def test_surface_agrees_with_numpy(self):
        distance = np.abs(surface(self.levels()) - surface(numpy_levels_db()))
        self.assertGreaterEqual((distance <= 1).mean(), 0.95)

    def test_levels_agree_with_numpy(self):
        expected, levels = numpy_levels_db(), self.levels()
        amplitude, exact = 10 ** (levels / 20), 10 ** (expected / 20)
        self.assertLessEqual(np.linalg.norm(amplitude - exact) / np.linalg.norm(exact), 1e-6)
        floor = np.median(expected[..., 400:])
        np.testing.assert_allclose(levels[expected > floor], expected[expected > floor], atol=1e-3, rtol=0)

    def test_pictures(self):
        self.succeed("render", "scan.toml", "-o", "volume.png", "--size", "160x120")
        self.succeed("reconstruct", "scan.toml", "-o", "b-scan.png", "--b-scan", 50)
        self.succeed("reconstruct", "scan.toml", "-o", "en-face.png", "--en-face", "40:120")
        for name in ["volume.png", "b-scan.png", "en-face.png"]:
            self.assertGreater(read_png(self.folder / name)[..., :3].std(), 5, name)


if __name__ == "__main__":
    unittest.main()
