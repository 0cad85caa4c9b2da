"""Regions of interest: voxels by masks and statistics by NumPy."""
import csv
import json
import unittest

import numpy as np

from scans import write_nrrd
from support import ProgramCase, read_volume

SHAPE = 10, 24, 40  # B-scans, A-scans, rows
STEP = 0.005, 0.0014  # of A-scans and B-scans, of rows, in mm
B, A, Z = np.indices(SHAPE)
POLYGON = [(3.3, 4.2), (20.7, 6.1), (12.4, 11.8), (18.2, 33.4), (5.5, 30.3)]  # A-scan, row; concave

REGIONS = """
[[region]]
name = "box"
unit = "voxels"
from = [2, 1, 10]
to = [12, 6, 31]

[[region]]
name = "ball"
shape = "ellipsoid"
centre = [0.06, 0.025, 0.03]
radii = [0.04, 0.0151, 0.02]

[[region]]
name = "outline"
shape = "polygon"
unit = "voxels"
along = "b-scans"
points = [3.3, 4.2, 20.7, 6.1, 12.4, 11.8, 18.2, 33.4, 5.5, 30.3]
range = [2, 8]

[[region]]
name = "layer"
shape = "slab"
upper = "1"
lower = "2"
below_upper = 0.0028
"""


def polygon_mask():
    """By winding numbers, summed from the angles between corners."""
    angle = np.zeros(SHAPE[1:])
    a, z = np.indices(SHAPE[1:])
    for (u0, v0), (u1, v1) in zip(POLYGON, POLYGON[1:] + POLYGON[:1]):
        p, q = (u0 - a) + 1j * (v0 - z), (u1 - a) + 1j * (v1 - z)
        angle += np.angle(q / p)
    return np.abs(angle) > np.pi


def masks(surfaces_um):
    rows = surfaces_um / 1.4
    upper, lower = rows[0].T[..., None] + 2, rows[1].T[..., None]
    ball = ((A * STEP[0] - 0.06) / 0.04) ** 2 + ((B * STEP[0] - 0.025) / 0.0151) ** 2 + ((Z * STEP[1] - 0.03) / 0.02) ** 2
    return {
        "box": (A >= 2) & (A < 12) & (B >= 1) & (B < 6) & (Z >= 10) & (Z < 31),
        "ball": ball <= 1,
        "outline": polygon_mask()[None] & (B >= 2) & (B < 8),
        "layer": (Z >= upper) & (Z < lower),
    }


class Measure(ProgramCase):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(5)
        self.volumes = [(10 * np.log10(random.exponential(1 + k, SHAPE))).astype("f4") for k in range(3)]
        for k, volume in enumerate(self.volumes):
            volume[random.random(SHAPE) < 0.03] = np.nan
            volume[random.random(SHAPE) < 0.01] = np.inf
            write_nrrd(self.folder / f"v{k}.nrrd", volume)
        a, b = np.indices((SHAPE[1], SHAPE[0]))
        surfaces = np.array([12 + 0.3 * a + 0.2 * b + 0.11, 38 + 0.2 * a + 0.13])
        write_nrrd(self.folder / "surfaces.nrrd", surfaces, (STEP[0], STEP[0], 1), unit="um", quantity="depth")
        (self.folder / "regions.toml").write_text(REGIONS)
        self.masks = masks(surfaces.astype("f4"))

    def measure(self, *arguments):
        return json.loads(self.succeed("measure", *arguments, "--json").out)

    def assert_equal_to_numpy(self, row, values, voxels):
        known = values[np.isfinite(values)]
        self.assertEqual((row["voxels"], row["unknown"]), (voxels, values.size - known.size))
        self.assertGreater(known.size, 100)
        expected = {"mean": known.mean(), "sd": known.std(), "min": known.min(), "median": np.median(known), "max": known.max(),
                    "p2.5": np.percentile(known, 2.5), "p80": np.percentile(known, 80),
                    "volume_mm3": voxels * STEP[0] ** 2 * STEP[1]}
        for key, value in expected.items():
            np.testing.assert_allclose(row[key], value, rtol=1e-6, err_msg=f"{row['region']} {key}")

    def test_shapes_over_time_equal_numpy(self):
        found = self.measure("v0.nrrd", "v1.nrrd", "v2.nrrd", "--regions", "regions.toml", "--surfaces", "surfaces.nrrd", "--percentiles",
                             "2.5,80", "--step", "0.5", "-o", "all.csv", "--plot", "p.svg")["values"]
        self.assertEqual([row["region"] for row in found], [*self.masks] * 3)
        for row in found:
            volume = self.volumes[row["volume"]].astype("f8")
            mask = self.masks[row["region"]]
            self.assert_equal_to_numpy(row, volume[mask], np.count_nonzero(mask))
            self.assertEqual(row["time_s"], 0.5 * row["volume"])
        with open(self.folder / "all.csv", encoding="utf-8") as file:
            for row, line in zip(found, csv.DictReader(file), strict=True):
                for key in ("mean", "sd", "median", "p2.5", "volume_mm3"):
                    np.testing.assert_allclose(float(line[key]), row[key], rtol=1e-8)

    def test_linear_domain_averages_intensity(self):
        row = self.measure("v1.nrrd", "--regions", "regions.toml", "--surfaces", "surfaces.nrrd", "--domain", "linear", "--percentiles",
                           "2.5,80")["values"][1]
        values = 10 ** (self.volumes[1].astype("f8")[self.masks["ball"]] / 10)
        self.assert_equal_to_numpy(row, values, np.count_nonzero(self.masks["ball"]))
        np.testing.assert_allclose(row["mean_db"], 10 * np.log10(values[np.isfinite(values)].mean()), rtol=1e-6)

    def test_histogram_equals_numpy(self):
        for limits in ([], ["--range", "-20:5"]):
            self.succeed("measure", "v0.nrrd", "--regions", "regions.toml", "--surfaces", "surfaces.nrrd", "--bins", 17, *limits, "--histogram",
                         "h.csv", "--overwrite")
            with open(self.folder / "h.csv", encoding="utf-8") as file:
                rows = [row for row in csv.DictReader(file) if row["region"] == "outline"]
            values = self.volumes[0].astype("f8")[self.masks["outline"]]
            counts, edges = np.histogram(values[np.isfinite(values)], 17, (-20, 5) if limits else None)
            self.assertEqual([int(row["count"]) for row in rows], counts.tolist())
            np.testing.assert_allclose([float(row["from"]) for row in rows], edges[:-1], rtol=1e-6, atol=1e-7)

    def test_labels_are_regions_and_masks_are_labels(self):
        painted = np.zeros(SHAPE)
        painted[self.masks["outline"]] = 7
        painted[self.masks["box"]] = 300
        write_nrrd(self.folder / "painted.nrrd", painted, unit="", quantity="")
        found = self.measure("v0.nrrd", "--labels", "painted.nrrd", "--percentiles", "2.5,80", "--mask", "mask.nrrd")["values"]
        self.assertEqual([row["region"] for row in found], ["label 7", "label 300"])
        for row, label in zip(found, (7, 300)):
            self.assert_equal_to_numpy(row, self.volumes[0].astype("f8")[painted == label], np.count_nonzero(painted == label))
        mask = read_volume(self.folder / "mask.nrrd")
        np.testing.assert_array_equal(mask, np.select([painted == 7, painted == 300], [1, 2]))

    def test_flux_of_vessel_along_beam(self):
        """Laminar flow of peak 8 mm/s along the depth in a vessel of 20 um: pi r^2 v / 2."""
        r = np.hypot(A - 12, B - 5) * STEP[0] / 0.02
        speeds = np.where(r < 1, 8 * (1 - r**2), 0)
        write_nrrd(self.folder / "speeds.nrrd", speeds, unit="mm/s", quantity="velocity")
        row = self.measure("speeds.nrrd", "--regions", "regions.toml", "--surfaces", "surfaces.nrrd")["values"]
        self.assertGreater(row[0]["unknown"], 0)  # 0 is unknown
        (self.folder / "vessel.toml").write_text('[[region]]\nname = "v"\nunit = "voxels"\nfrom = [5, 0, 7]\nto = [20, 10, 30]\n')
        row = self.measure("speeds.nrrd", "--regions", "vessel.toml")["values"][0]
        np.testing.assert_allclose(row["flux_ul_s"], speeds[..., 10].sum() * STEP[0] ** 2, rtol=1e-6)
        np.testing.assert_allclose(row["flux_ul_s"], np.pi * 0.02**2 * 8 / 2, rtol=0.03)
        np.testing.assert_allclose(row["mean"], speeds[..., 10][speeds[..., 10] > 0].mean(), rtol=1e-6)

    def test_parts_inside_are_measured_with_warning(self):
        (self.folder / "cut.toml").write_text('[[region]]\nname = "cut"\nunit = "voxels"\nfrom = [-5, 0, 0]\nto = [4, 5, 100]\n')
        found = self.measure("v0.nrrd", "--regions", "cut.toml")
        self.assertEqual(found["values"][0]["voxels"], 4 * 5 * 40)
        self.assertIn("reaches beyond the volume", found["warnings"][0])

    def test_voxels_without_value_are_counted(self):
        empty = self.volumes[0].copy()
        empty[self.masks["box"]] = np.nan
        write_nrrd(self.folder / "empty.nrrd", empty)
        found = self.measure("empty.nrrd", "--regions", "regions.toml", "--surfaces", "surfaces.nrrd")
        row = found["values"][0]
        self.assertEqual((row["unknown"], row["mean"]), (row["voxels"], None))
        self.assertIn("no voxel of volume 0 has a value", found["warnings"][0])


if __name__ == "__main__":
    unittest.main()
