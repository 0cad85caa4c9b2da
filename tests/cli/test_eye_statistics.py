"""Scene eye-macula beside recordings of real eyes: histogram of dB in the retina, speckle over depth, and the mean axial
profile. The simulated B-scan is averaged and cut as a device does it. Bounds are the range of the real files, widened by
its own width."""
import os
import unittest
from pathlib import Path

import numpy as np

from support import ProgramCase, read_volume

RECORDINGS = Path(os.environ.get("ECHOLUX_DATA", "")) / "real" / "spectralis"
PARTS = np.linspace(-0.1, 1.2, 14)  # depth from the inner limiting membrane (0) to Bruch's membrane (1)
LOOKS = 16
TOO_GRAINY = {"speckle of the outer half"}  # a known difference: measured 0.47, real 0.23 to 0.40
A_SCANS = 48
ROWS = 3  # averaged to the pixel of the recordings, 3.9 um


def in_db(power):
    return 10 * np.log10(np.maximum(power, 1e-12))


def speckle(image, upper, lower, begin, end):
    """Median over patches of 8 x 8 pixels of the standard deviation of ln(intensity), the mean of each row removed."""
    found = []
    for a in range(0, image.shape[1] - 8, 8):
        for z in range(0, image.shape[0] - 8, 8):
            part = (z + 4 - upper[a + 4]) / (lower[a + 4] - upper[a + 4])
            patch = image[z:z + 8, a:a + 8]
            if begin < part < end and (patch > 0).all():
                log = np.log(patch)
                found.append((log - log.mean(axis=1, keepdims=True)).std())
    return np.median(found)


def statistics(image, upper, lower, row_um):
    """Statistics of an image [row][a_scan] of intensities between two boundaries in rows; 0: cut by the device."""
    image = np.where(np.isfinite(image), image, 0)
    row, scans = np.arange(image.shape[0])[:, None], np.arange(image.shape[1])
    retina = image[(row > upper + 8 / row_um) & (row < lower - 8 / row_um)]
    found = dict(zip(("5 %", "25 %", "50 %", "75 %", "95 %"),
                     np.percentile(in_db(retina / np.percentile(retina, 99)), (5, 25, 50, 75, 95))))
    inner, outer = speckle(image, upper, lower, 0.1, 0.5), speckle(image, upper, lower, 0.5, 0.9)
    found |= {"speckle": inner, "speckle of the outer half": outer}
    rows = np.clip(np.round(upper + PARTS[:, None] * (lower - upper)), 0, image.shape[0] - 1).astype(int)
    profile = in_db(image[rows, scans].mean(axis=1))
    return found | {f"profile at {part:.1f}": level - profile.max() for part, level in zip(PARTS, profile)}


def statistics_of_recording(path):
    data = np.load(path)
    lines = dict(zip(map(str, data["line_names"]), data["lines"]))
    known = np.isfinite(lines["ILM"]) & np.isfinite(lines["BM"])
    return statistics(data["image"].astype(float)[:, known], lines["ILM"][known], lines["BM"][known],
                      float(data["scale_z_mm"]) * 1000)


def outliers(found, real):
    """Returns the statistics outside the bounds, with the bounds."""
    wrong = {}
    for name, value in found.items():
        values = [one[name] for one in real]
        spread = max(values) - min(values)
        low, high = min(values) - spread, max(values) + spread
        if not low <= value <= high:
            wrong[name] = f"{value:.2f}, real {low:.2f} to {high:.2f}"
    return wrong


@unittest.skipUnless(os.environ.get("ECHOLUX_DATA") and RECORDINGS.exists(),
                     "ECHOLUX_DATA does not name the folder with real/spectralis")
class EyeStatistics(ProgramCase):
    def picture(self, scene):
        """Returns the picture of a device [row][a_scan], the true boundaries in rows, and um per row."""
        self.succeed("simulate", scene, "-o", "eye/scan.toml", "--a-scans", A_SCANS, "--b-scans", 1, "--b-repeats", LOOKS,
                     "--renewal", "0.0005", "--brightness", "0.1", "--picture", "eye.nrrd", "--code", "linear")
        truth = (self.folder / "eye/truth/truth.toml").read_text()
        pitch = float(next(line.split("=")[1] for line in truth.splitlines() if line.startswith("pitch_um")))
        boundaries = np.fromfile(self.folder / "eye/truth/boundaries_um.f32", "<f4").reshape(-1, A_SCANS) / pitch
        image = read_volume(self.folder / "eye.nrrd").squeeze().T.astype(float)
        image = image[:len(image) // ROWS * ROWS].reshape(-1, ROWS, A_SCANS).mean(axis=1)
        return image, (boundaries - (ROWS - 1) / 2) / ROWS, pitch * ROWS

    def test_slow_macula_is_within_spread_of_real_ones(self):
        real = [statistics_of_recording(path) for path in sorted(RECORDINGS.glob("*.npz"))]
        image, boundaries, pitch = self.picture("eye-macula")
        wrong = outliers(statistics(image, boundaries[1], boundaries[9], pitch), real)
        self.assertLessEqual(set(wrong), TOO_GRAINY, wrong)
        wrong = outliers(statistics(np.sqrt(image), boundaries[1], boundaries[9], pitch), real)
        self.assertGreater(len(wrong), 5, "amplitudes instead of intensities would not be noticed")


if __name__ == "__main__":
    unittest.main()
