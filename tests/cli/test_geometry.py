"""The geometry of simulated instruments: calibrations find it in spectra, and dewarping removes it."""
import json
import re
import unittest

import numpy as np

from scans import write_nrrd
from support import ProgramCase

SMALL = ["--samples", 512, "--a-scans", 64, "--b-scans", 48, "--spacing-a", 20, "--spacing-b", 20]
PATH = "[0,0,0,60,12,45,8,0,0,-6]"  # um in air, x and y in mm


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


class Geometry(ProgramCase):
    def run_json(self, *words):
        return json.loads(self.succeed(*words, "--json").out)

    def test_slow_mirror_gives_path_of_instrument(self):
        self.run_json("simulate", "mirror", "-o", "mirror/scan.toml", *SMALL, "--mirror", 400, "--mirror-amplitude", 0.2, "--path", PATH)
        found = self.run_json("calibrate", "field", "mirror/scan.toml", "-o", "field.toml")
        x, y = np.meshgrid((np.arange(64) - 31.5) * 0.02, (np.arange(48) - 23.5) * 0.02)
        powers = [x**(n - j) * y**j for n in range(5) for j in range(n + 1)]
        truth = [0, 0, 0, 60, 12, 45, 8, 0, 0, -6]
        off = sum((a - b) * p for a, b, p in zip(found["path_um"], truth + [0] * 5, powers))
        slopes = np.linalg.lstsq(np.stack([p.ravel() for p in powers[:3]], 1), off.ravel(), rcond=None)[0]
        off = off - sum(c * p for c, p in zip(slopes, powers))  # a tilt of the mirror is left out
        self.run_json("reconstruct", "mirror/scan.toml", "-o", "mirror.nrrd")
        header = (self.folder / "mirror.nrrd").read_bytes().split(b"\n\n", 1)[0].decode()
        found_spacing = re.search(r"^spacings: \S+ (\S+)|^space directions: \S+ \(([^)]*)\)", header, re.M)
        self.assertTrue(found_spacing, header)
        vector = found_spacing[1] or found_spacing[2]
        row_um = 1000 * np.linalg.norm([float(number) for number in vector.split(",")])
        self.assertLess(rms(off) / row_um, 0.1)
        self.assertLess(found["rms_rows"], 0.1)

    def test_slow_both_directions_give_delay(self):
        self.run_json("simulate", "layers", "-o", "both/scan.toml", "--samples", 512, "--a-scans", 200, "--b-scans", 12, "--spacing-a", 4,
                      "--spacing-b", 1, "--flyback-lines", 40, "--bidirectional", "--line-rate-hz", 100000, "--delay-x", 37)
        found = self.run_json("calibrate", "galvo", "both/scan.toml")
        self.assertLess(abs(found["delay_us"] - 37) * 1e-6 * 100000, 0.05)

    def test_volumes_carry_geometry(self):
        """A volume is dewarped without the scan that it comes from, to the same voxels."""
        self.run_json("simulate", "layers", "-o", "scan.toml", "--samples", 256, "--a-scans", 24, "--b-scans", 16, "--spacing-a", 20,
                      "--spacing-b", 20, "--path", PATH, "--radial-per-mm2", 0.02)
        self.run_json("reconstruct", "scan.toml", "-o", "v.nrrd")
        self.run_json("dewarp", "v.nrrd", "-o", "alone.nrrd")
        self.run_json("dewarp", "v.nrrd", "-o", "named.nrrd", "--scan", "scan.toml")
        alone, named = ((self.folder / f"{name}.nrrd").read_bytes().split(b"\n\n", 1)[1] for name in ("alone", "named"))
        self.assertEqual(alone, named)
        (self.folder / "scan.toml").unlink()
        self.run_json("dewarp", "v.nrrd", "-o", "again.nrrd")

    def test_variances_in_db2_are_interpolated_as_they_are(self):
        """Values in dB^2 are interpolated as they are."""
        voxels = np.random.default_rng(2).uniform(0, 31, (6, 8, 16))
        dewarped = []
        for name, unit in (("variances", "dB^2"), ("plain", "1")):
            write_nrrd(self.folder / f"{name}.nrrd", voxels, unit=unit, quantity="liv")
            self.run_json("dewarp", f"{name}.nrrd", "-o", f"straight_{name}.nrrd", "--pivot-x", 2)
            dewarped.append((self.folder / f"straight_{name}.nrrd").read_bytes().split(b"\n\n", 1)[1])
        self.assertEqual(*dewarped)

    def test_optic_axes_are_those_of_nearest_samples(self):
        """The mean of 179 and 1 degrees would be across both."""
        write_nrrd(self.folder / "axis.nrrd", np.random.default_rng(2).choice([1.0, 179.0], (6, 8, 16)), unit="deg", quantity="axis")
        self.run_json("dewarp", "axis.nrrd", "-o", "straight.nrrd", "--pivot-x", 2)
        found = np.frombuffer((self.folder / "straight.nrrd").read_bytes().split(b"\n\n", 1)[1], "<f4")
        self.assertEqual(set(found[np.isfinite(found)]), {1, 179})

    def test_simulator_refuses_fans(self):
        finished = self.run_program("simulate", "layers", "-o", "fan/scan.toml", *SMALL, "--set", "geometry.pivot_x_mm=20")
        self.assertEqual(finished.code, 1)
        self.assertIn("parallel beams", finished.err)


if __name__ == "__main__":
    unittest.main()
