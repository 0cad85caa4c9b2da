"""Topography of simulated corneas: rays are traced here by the angles of incidence, in two dimensions per meridian, which
shares nothing with the correction."""
import csv
import json
import unittest

import numpy as np

from scans import write_nrrd
from support import ProgramCase

INDICES = 1.0, 1.376
FRONT = {"radius": 7.8, "q": -0.25}
BACK = {"radius": 6.5, "q": -0.4}
THICK_MM = 0.55


def sag(r, radius, q):
    return r**2 / (radius + np.sqrt(radius**2 - (1 + q) * r**2))


def sag_angle(r, radius, q):
    """Angle of the normal to the axis, from the derivative of the conic equation r^2 = 2 R z - (1 + q) z^2."""
    return np.arctan(r / (radius - (1 + q) * sag(r, radius, q)))


def optical_paths(r):
    """Paths in mm of parallel rays at distance r from the axis to both surfaces of a cornea, 1 mm behind zero delay."""
    first = sag(r, **FRONT)
    incidence = sag_angle(r, **FRONT)
    inclination = incidence - np.arcsin(np.sin(incidence) * INDICES[0] / INDICES[1])  # towards the axis
    low, high = np.zeros_like(r), np.full_like(r, 3.0)
    for _ in range(80):  # bisection for the length of the ray in the cornea
        length = (low + high) / 2
        z, h = first + length * np.cos(inclination), r - length * np.sin(inclination)
        is_below = z - THICK_MM > sag(h, **BACK)
        low, high = np.where(is_below, low, length), np.where(is_below, length, high)
    return 1 + INDICES[0] * first, 1 + INDICES[0] * first + INDICES[1] * length


class Topography(ProgramCase):
    STEP_MM = 0.06

    def write(self, name, depths_mm, noise_mm=0.0):
        """Surfaces [surface][a_scan][b_scan], as `segment` writes them."""
        voxels = 1000 * (depths_mm + np.random.default_rng(1).normal(0, noise_mm or 1e-12, depths_mm.shape))
        write_nrrd(self.folder / name, voxels, (self.STEP_MM, self.STEP_MM, 1), unit="um", quantity="depth")

    def field(self, points=101, centre=(0.12, -0.07)):
        across = (np.arange(points) - (points - 1) / 2) * self.STEP_MM
        x, y = np.meshgrid(across - centre[0], across - centre[1], indexing="ij")
        return x, y

    def measure(self, *arguments):
        return json.loads(self.succeed("topography", *arguments, "--json").out)

    def test_cornea_has_its_radii_asphericities_and_thickness(self):
        x, y = self.field()
        self.write("cornea.nrrd", np.array(optical_paths(np.hypot(x, y))), noise_mm=0.001)
        found = self.measure("cornea.nrrd", "--indices", "1,1.376", "-o", "all.csv")
        for i, (truth, asphericity_limit) in enumerate([(FRONT, 0.03), (BACK, 0.03)]):
            self.assertAlmostEqual(found["radius_mm"][i] / truth["radius"], 1, delta=0.005)
            self.assertAlmostEqual(found["asphericity"][i] / truth["q"], 1, delta=asphericity_limit)
        self.assertAlmostEqual(found["apex_thickness_um"][0] / (1000 * THICK_MM), 1, delta=0.002)
        with open(self.folder / "all.csv", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["surface"] == "2" and row["x_mm"]]
        r = np.hypot([float(row["x_mm"]) - 0.12 for row in rows], [float(row["y_mm"]) + 0.07 for row in rows])
        depth = np.array([float(row["z_mm"]) for row in rows])
        inside = r < 2.5
        self.assertLess(np.abs(depth - 1 - THICK_MM - sag(r, **BACK))[inside].mean(), 0.001)

    def test_warns_if_refraction_is_not_corrected(self):
        x, y = self.field()
        self.write("cornea.nrrd", np.array(optical_paths(np.hypot(x, y))))
        found = self.measure("cornea.nrrd", "--zone", "5.5")
        self.assertGreater(abs(found["radius_mm"][1] / BACK["radius"] - 1), 0.01)
        self.assertIn("refraction is not corrected", " ".join(found["warnings"]))

    def test_zernike_coefficients_match_shape(self):
        x, y = self.field(centre=(0, 0))
        rho, theta = np.hypot(x, y) / 3, np.arctan2(y, x)
        shape = 0.01 * np.sqrt(6) * rho**2 * np.cos(2 * theta)  # n = 2, m = 2
        shape += 0.004 * np.sqrt(8) * (3 * rho**3 - 2 * rho) * np.sin(theta)  # n = 3, m = -1
        shape += 0.002 * np.sqrt(7) * (20 * rho**6 - 30 * rho**4 + 12 * rho**2 - 1)  # n = 6, m = 0
        self.write("shape.nrrd", (1 + shape)[None])
        self.measure("shape.nrrd", "--zernike", "zernike.csv", "--zone", "6", "--centre", "0,0")
        with open(self.folder / "zernike.csv", encoding="utf-8") as file:
            found = {(int(row["n"]), int(row["m"])): float(row["um"]) for row in csv.DictReader(file)}
        expected = {(0, 0): 1000, (2, 2): 10, (3, -1): 4, (6, 0): 2}
        for order, um in found.items():
            self.assertAlmostEqual(um, expected.get(order, 0), delta=0.01, msg=str(order))

    def test_missing_places_and_outliers_change_little(self):
        x, y = self.field()
        depths = np.array(optical_paths(np.hypot(x, y)))
        depths[0, 20:30, 20:30] = np.nan
        depths[1, 60:64, 60:64] += 0.3
        self.write("cornea.nrrd", depths)
        found = self.measure("cornea.nrrd", "--indices", "1,1.376", "--zone", "5.5")
        np.testing.assert_allclose(found["radius_mm"], [FRONT["radius"], BACK["radius"]], rtol=0.005)


if __name__ == "__main__":
    unittest.main()
