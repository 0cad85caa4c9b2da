"""`echolux filter` on single B-scans of a recorded scattering sample, beside the mean of their neighbours: the default does
not lose to a Gaussian of any width."""
import os
import unittest
from pathlib import Path

import numpy as np
from scipy.ndimage import gaussian_filter

from scans import write_nrrd
from support import ProgramCase, read_volume

FOLDER = Path(os.environ.get("ECHOLUX_DATA", "")) / "sd-oct-volume"
SCAN = """[scan]
file = "{data}/spectra_u16_100x100x1024.raw"
sample_format = "u16"
samples = 1024
a_scans = 100
b_scans = 100
[calibration]
k_map = "{data}/k_linear_positions.csv"
dispersion = "{data}/dispersion_phase_rad.csv"
dispersion_holds = "correction"
"""
ROWS = slice(100, 250)  # of tissue: the surface differs from B-scan to B-scan, and no mean shows it
RANGE_DB = 40


def psnr(power, average):
    """PSNR in dB over the brightest 40 dB of the average, with the gain that fits best."""
    top = np.log10(np.percentile(average, 99.9)) * 10

    def shown(values):
        return np.clip(10 * np.log10(np.maximum(values, 1e-30)) - top + RANGE_DB, 0, RANGE_DB)

    truth = shown(average)
    squares = [np.mean((shown(power * 10 ** (gain / 10)) - truth) ** 2) for gain in np.arange(-3, 3.05, 0.1)]
    return 10 * np.log10(RANGE_DB**2 / min(squares))


@unittest.skipUnless(os.environ.get("ECHOLUX_DATA") and FOLDER.exists(), "ECHOLUX_DATA does not name the folder with sd-oct-volume")
class FilterRecordings(ProgramCase):
    def filtered(self, b_scan, *options):
        write_nrrd(self.folder / "one.nrrd", b_scan[None], unit="", quantity="intensity")
        self.succeed("filter", "one.nrrd", "-o", "filtered.nrrd", "--overwrite", *options)
        return read_volume(self.folder / "filtered.nrrd").squeeze()

    def test_slow_default_does_not_lose_to_gaussian(self):
        (self.folder / "scan.toml").write_text(SCAN.format(data=FOLDER.resolve()))
        self.succeed("reconstruct", "scan.toml", "-o", "all.nrrd", "--quantity", "intensity", "--set", "recipe.background=frame_mean")
        volume = read_volume(self.folder / "all.nrrd").astype(float)[:, :, ROWS]
        near = np.exp(-0.5 * (np.arange(-19, 20) / 8) ** 2)
        near[19] = 0
        for b in (20, 50, 80):
            average = np.tensordot(near / near.sum(), volume[b - 19:b + 20], 1)
            gaussian = max(psnr(gaussian_filter(volume[b], sigma), average) for sigma in np.arange(0.6, 6.1, 0.2))
            found, pure = (psnr(self.filtered(volume[b], *options), average) for options in ((), ("--no-blend",)))
            five = psnr(volume[b - 2:b + 3].mean(axis=0), average)
            print(f"B-scan {b}: unfiltered {psnr(volume[b], average):.1f} dB, best Gaussian {gaussian:.1f}, five B-scans {five:.1f}, "
                  f"without blend {pure:.1f}, default {found:.1f}")
            self.assertGreaterEqual(found, gaussian)
            self.assertGreater(found, pure)


if __name__ == "__main__":
    unittest.main()
