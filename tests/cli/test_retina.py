"""Tables of thickness and of en-face images: closed forms, and twins by SciPy."""
import csv
import json
import struct
import unittest

import numpy as np
from scipy import ndimage

from png_files import read_png
from scans import write_nrrd
from support import ProgramCase, read_volume

try:
    from skimage import filters, measure
except ImportError:
    filters = measure = None

SIDES = "right", "superior", "left", "inferior"
ORDER = ["centre", *(f"{ring} {side}" for ring in ("inner", "outer") for side in SIDES)]
RADII = {"centre": (0, 0.5), "inner": (0.5, 1.5), "outer": (1.5, 3)}


def named(side, eye):
    nasal, temporal = ("right", "left") if eye == "OD" else ("left", "right")
    return {nasal: "nasal", temporal: "temporal"}.get(side, side)


def sector_mean(name, bend, slopes):
    """Mean of 250 + bend r^2 + slopes . (x, y) over a sector around the pit, in um."""
    ring, _, side = name.partition(" ")
    r0, r1 = RADII[ring]
    mean = 250 + bend * (r0**2 + r1**2) / 2
    if side:
        angle = SIDES.index(side) * np.pi / 2
        reach = 2 / 3 * (r1**3 - r0**3) / (r1**2 - r0**2) * np.sin(np.pi / 4) / (np.pi / 4)
        mean += reach * (slopes[0] * np.cos(angle) + slopes[1] * np.sin(angle))
    return mean


class Thickness(ProgramCase):
    A_SCANS, B_SCANS, SIDE_MM = 256, 97, 7.2

    def write_field(self, name, thickness):
        """Surfaces of a tilted retina of this thickness (x, y in mm from the centre) in um."""
        x, y = np.meshgrid((np.arange(self.A_SCANS) / (self.A_SCANS - 1) - 0.5) * self.SIDE_MM,
                           (np.arange(self.B_SCANS) / (self.B_SCANS - 1) - 0.5) * self.SIDE_MM, indexing="ij")
        top = 400 + 20 * x
        steps = self.SIDE_MM / (self.A_SCANS - 1), self.SIDE_MM / (self.B_SCANS - 1)
        write_nrrd(self.folder / name, np.array([top, top + thickness(x, y)]), (*steps, 1), unit="um", quantity="depth")

    def measure(self, *arguments):
        found = json.loads(self.succeed("retina", *arguments, "--json").out)
        return found, {row["sector"]: row for row in found["sectors"]}

    def test_sectors_equal_closed_forms_for_both_eyes(self):
        pit = 0.21, -0.13
        bend, slopes = 18, (5, -3)
        self.write_field("s.nrrd", lambda x, y: 250 + bend * ((x - pit[0]) ** 2 + (y - pit[1]) ** 2) + slopes[0] * (x - pit[0])
                         + slopes[1] * (y - pit[1]))
        for eye in ("OD", "OS"):
            _, rows = self.measure("s.nrrd", "--eye", eye, "--centre", "0.21,-0.13", "-o", f"{eye}.csv")
            self.assertEqual(len(rows), 9)
            for name in ORDER:
                ring, _, side = name.partition(" ")
                row = rows[f"{ring} {named(side, eye)}".strip()]
                self.assertAlmostEqual(row["mean_um"], sector_mean(name, bend, slopes), delta=0.05, msg=name)
                r0, r1 = RADII[ring]
                self.assertAlmostEqual(row["area_mm2"], np.pi * (r1**2 - r0**2) / (4 if side else 1), places=9)
                self.assertAlmostEqual(row["known"], 1, places=6)
        with open(self.folder / "OD.csv", encoding="utf-8") as file:
            self.assertEqual([row["sector"] for row in csv.DictReader(file)][1:3], ["inner nasal", "inner superior"])

    def test_centre_is_minimum_of_thickness(self):
        self.write_field("s.nrrd", lambda x, y: 330 - 100 * np.exp(-((x - 0.37) ** 2 + (y + 0.52) ** 2) / 0.5))
        found, rows = self.measure("s.nrrd", "--eye", "OS")
        np.testing.assert_allclose(found["centre_mm"], (0.37, -0.52), atol=0.015)
        self.assertAlmostEqual(found["centre_um"], 230, delta=0.5)
        mean = 330 - 100 * (1 - np.exp(-0.25 / 0.5)) / 0.5  # over the disc of 0.5 mm
        self.assertAlmostEqual(rows["centre"]["mean_um"], mean, delta=0.3)

    def test_flat_retina_has_volume_of_cylinder_and_needs_centre(self):
        self.write_field("s.nrrd", lambda x, y: 300 + 0 * x)
        found, _ = self.measure("s.nrrd", "--eye", "OD", "--centre", "0,0")
        self.assertAlmostEqual(found["total_mm3"], 0.3 * np.pi * 9, delta=1e-5)
        self.write_field("slope.nrrd", lambda x, y: 300 + 10 * x)
        self.refuse("retina", "slope.nrrd", "--eye", "OD", names=["no foveal pit", "--centre"])
        self.refuse("retina", "s.nrrd", "--centre", "0,0", names=["which eye", "--eye"])
        self.refuse("retina", "s.nrrd", "--eye", "OD", "--centre", "0,3.7", names=["--centre", "outside the field of 7.2 x 7.2 mm"])

    def test_orientation_of_scan_moves_sectors(self):
        self.write_field("s.nrrd", lambda x, y: 300 + 10 * x + 7 * y)
        rows = [self.measure("s.nrrd", "--eye", "OD", "--centre", "0,0", *more)[1] for more in ([], ["--top", "first"], ["--mirrored"])]
        means = [{name.split()[1]: row["mean_um"] for name, row in one.items() if name.startswith("outer")} for one in rows]
        self.assertAlmostEqual(means[0]["superior"], means[1]["inferior"], places=3)
        self.assertGreater(means[0]["superior"], means[0]["inferior"])
        self.assertAlmostEqual(means[0]["nasal"], means[2]["temporal"], places=3)
        self.assertGreater(means[0]["nasal"], means[0]["temporal"])

    def write_heidelberg(self, name, turned_deg=0, b_scans=25, pattern=3, eye=b"OD", from_top=False):
        """Lines of a field of 6.6 mm that is thicker to the right and to the top; B-scans turned about its centre."""
        a_scans, rows, side, row_um = 64, 2, 6.6, 4
        along, across = np.arange(a_scans) / (a_scans - 1) - 0.5, (np.arange(b_scans) / max(b_scans - 1, 1) - 0.5) * (b_scans > 1)
        turn = np.exp(1j * np.radians(turned_deg))
        header_bytes = 256 + 2 * a_scans * 4
        header = bytearray(2048)
        struct.pack_into("<12siiiddd", header, 0, b"HSF-OCT-103\0", a_scans, b_scans, rows, side / (a_scans - 1),
                         side / max(b_scans - 1, 1), row_um / 1000)
        header[84:86] = eye
        struct.pack_into("<ii", header, 96, pattern, header_bytes)
        scans = b""
        for y in (-across if from_top else across):
            places = (along + 1j * y) * side * turn  # y upwards
            ends = places[0].real + 5, 5 - places[0].imag, places[-1].real + 5, 5 - places[-1].imag  # y downwards
            scan = bytearray(header_bytes)
            struct.pack_into("<12si4dii", scan, 0, b"HSF-BS-103\0\0", header_bytes, *ends, 2, 256)
            um = 300 + 10 * places.real + 7 * places.imag
            scan[256:] = np.array([0 * um + 20, 20 + um / row_um], "<f4").tobytes()
            scans += bytes(scan) + bytes(a_scans * rows * 4)
        (self.folder / name).write_bytes(bytes(header) + scans)
        return f"{name}:surfaces"

    def test_directions_of_heidelberg_files_are_used(self):
        for options in ({}, {"from_top": True}, {"eye": b"OS"}, {"turned_deg": 7}):
            with self.subTest(**options):
                found, rows = self.measure(self.write_heidelberg("s.vol", **options), "--centre", "0,0")
                at_right, at_left = ("temporal", "nasal") if "eye" in options else ("nasal", "temporal")
                self.assertGreater(rows[f"outer {at_right}"]["mean_um"], rows[f"outer {at_left}"]["mean_um"] + 20)
                self.assertGreater(rows["outer superior"]["mean_um"], rows["outer inferior"]["mean_um"] + 15)
                self.assertEqual("turned_deg" in options, any("tilted by 7 degrees" in line for line in found["warnings"]))
        opposite = self.write_heidelberg("opposite.vol", turned_deg=180)
        self.refuse("retina", opposite, "--centre", "0,0", names=["opposite direction", "--mirrored"])
        rows = self.measure(opposite, "--centre", "0,0", "--mirrored")[1]
        self.assertGreater(rows["outer nasal"]["mean_um"], rows["outer temporal"]["mean_um"] + 20)
        self.assertGreater(rows["outer superior"]["mean_um"], rows["outer inferior"]["mean_um"] + 15)
        self.refuse("retina", self.write_heidelberg("up.vol", turned_deg=90), "--centre", "0,0", names=["horizontal"])

    def test_only_circles_of_heidelberg_files_are_circles(self):
        self.refuse("retina", self.write_heidelberg("line.vol", b_scans=1, pattern=1), names=["single line", "--scan"])
        self.refuse("retina", self.write_heidelberg("star.vol", pattern=5), "--centre", "0,0", names=["radial"])
        self.assertEqual(len(self.measure(self.write_heidelberg("circle.vol", b_scans=1, pattern=2))[0]["sectors"]), 23)

    def test_partly_known_sectors_are_reported(self):
        self.write_field("s.nrrd", lambda x, y: np.where(x > 2, np.nan, np.where(y > 0, np.nan, 300)))
        found, rows = self.measure("s.nrrd", "--eye", "OD", "--centre", "0,0")
        self.assertIsNone(rows["outer superior"]["mean_um"])
        self.assertIsNone(found["total_mm3"])
        self.assertAlmostEqual(rows["outer inferior"]["mean_um"], 300, places=3)
        self.assertIn("known only in parts", found["warnings"][0])

    def test_circle_has_sectors_and_clock_hours(self):
        degrees = np.arange(768) * 360 / 768
        um = 100 + 40 * np.cos(np.radians(2 * degrees - 150)) + 8 * np.sin(np.radians(degrees))
        write_nrrd(self.folder / "c.nrrd", np.array([0 * um, um])[..., None], (0.014, 0.014, 1), unit="um", quantity="depth")
        found, _ = self.measure("c.nrrd", "--eye", "OS", "--profile", "profile.csv", "--plot", "p.svg")
        rows = {(row["kind"], row["sector"]): row["mean_um"] for row in found["sectors"]}

        def mean(low, high):
            return um[(degrees - low) % 360 < high - low].mean()

        expected = {("global", "G"): um.mean(), ("sector", "T"): mean(-45, 45), ("sector", "TS"): mean(45, 90), ("sector", "NS"): mean(90, 135),
                    ("sector", "N"): mean(135, 225), ("sector", "NI"): mean(225, 270), ("sector", "TI"): mean(270, 315),
                    ("quadrant", "superior"): mean(45, 135), ("quadrant", "inferior"): mean(225, 315),
                    ("clock hour", "12"): mean(75, 105), ("clock hour", "3"): mean(-15, 15), ("clock hour", "9"): mean(165, 195),
                    ("clock hour", "1"): mean(45, 75)}
        for key, value in expected.items():
            self.assertAlmostEqual(rows[key], value, places=3, msg=str(key))
        rows = {(row["kind"], row["sector"]): row["mean_um"] for row in self.measure("c.nrrd", "--eye", "OD")[0]["sectors"]}
        self.assertAlmostEqual(rows["clock hour", "9"], mean(-15, 15), places=3)
        self.assertAlmostEqual(rows["clock hour", "11"], mean(45, 75), places=3)
        profile = np.genfromtxt(self.folder / "profile.csv", delimiter=",", names=True)
        np.testing.assert_allclose(profile["thickness_um"], um, atol=1e-3)
        turned = {(row["kind"], row["sector"]): row["mean_um"]
                  for row in self.measure("c.nrrd", "--eye", "OS", "--start", "superior", "--reversed")[0]["sectors"]}
        self.assertAlmostEqual(turned["sector", "N"], um[(90 - degrees - 135) % 360 < 90].mean(), places=3)


class Fundus(ProgramCase):
    def test_picture_is_written_pixel_by_pixel(self):
        pixels = np.random.default_rng(4).integers(0, 256, (30, 40), "u1")
        header = bytearray(2048)
        struct.pack_into("<12siiiddd", header, 0, b"HSF-OCT-103\0", 5, 2, 7, 0.012, 0.025, 0.003)
        struct.pack_into("<iidd", header, 48, 40, 30, 0.02, 0.02)
        (self.folder / "scan.vol").write_bytes(bytes(header) + pixels.tobytes() + bytes(2 * 5 * 7 * 4))
        self.succeed("convert", "scan.vol:fundus", "fundus.png")
        np.testing.assert_array_equal(read_png(self.folder / "fundus.png")[..., 0], pixels)
        self.refuse("convert", "scan.vol", "volume.png", names=["a png holds u8 or u16"])
        self.refuse("convert", "scan.vol", "volume.png", "--type", "u8", "--range", "0:1", names=["one slice, not 2"])


class Angiogram(ProgramCase):
    PIXEL_MM = 0.01

    def write(self, name, image, pixel_mm=(PIXEL_MM, PIXEL_MM)):
        """image[row][column]"""
        write_nrrd(self.folder / name, np.asarray(image, float).T[None], (*pixel_mm, 1), unit="", quantity="decorrelation")

    def measure(self, *arguments):
        return json.loads(self.succeed("angiogram", *arguments, "--json").out)

    def test_disc_and_ellipse_have_area_perimeter_and_circularity(self):
        rows, columns = np.indices((300, 320))
        for pixel, axes in (((0.01, 0.01), (0.32, 0.32)), ((0.008, 0.01), (0.5, 0.3))):
            r = np.hypot((columns - 160) * pixel[0] / axes[0], (rows - 150) * pixel[1] / axes[1])
            self.write("z.nrrd", r > 1, pixel)
            zone = self.measure("z.nrrd")["zone"]
            a, b = axes
            around = np.pi * (3 * (a + b) - np.sqrt((3 * a + b) * (a + 3 * b)))  # S. Ramanujan
            self.assertAlmostEqual(zone["area_mm2"] / (np.pi * a * b), 1, delta=0.005)
            self.assertAlmostEqual(zone["perimeter_mm"] / around, 1, delta=0.01)
            self.assertAlmostEqual(zone["circularity"] / (4 * np.pi * np.pi * a * b / around**2), 1, delta=0.02)
            np.testing.assert_allclose(zone["centre_mm"], (160 * pixel[0], 150 * pixel[1]), atol=0.005)

    def mesh(self):
        """Capillaries 30 um apart around a zone, with some noise."""
        rows, columns = np.indices((280, 300))
        angle = np.arctan2(rows - 150, columns - 140)
        zone = np.hypot(rows - 150, columns - 140) < 28 + 6 * np.cos(3 * angle)
        image = np.where(((rows % 4 == 0) | (columns % 5 == 0)) & ~zone, 0.8, 0.1)
        return image + np.random.default_rng(2).normal(0, 0.03, image.shape)

    def test_zone_between_capillaries_equals_scipy(self):
        image = self.mesh()
        self.write("mesh.nrrd", image)
        found = self.measure("mesh.nrrd", "--gap", "0.06", "--mask", "mask.nrrd", "-o", "values.csv", "--plot", "p.png")
        vessels = image.astype("f4") > found["threshold"]
        self.assertAlmostEqual(found["vessel_density_percent"], 100 * vessels.mean(), places=4)
        free = ndimage.distance_transform_edt(~vessels, sampling=self.PIXEL_MM)
        parts, _ = ndimage.label(free > 0.03 + 1e-9)
        near = np.hypot(*(np.indices(image.shape) - np.array([139.5, 149.5])[:, None, None])) * self.PIXEL_MM <= 0.5
        seed = np.argmax(np.where(near, free, 0))
        away = ndimage.distance_transform_edt(parts != parts.flat[seed], sampling=self.PIXEL_MM)
        zone = ndimage.binary_fill_holes((away <= 0.03 + 1e-9 + self.PIXEL_MM / 2) & ~vessels)
        self.assertGreater(zone.sum(), 2000)
        mask = read_volume(self.folder / "mask.nrrd")[0].T
        np.testing.assert_array_equal(mask == 2, zone)
        self.assertAlmostEqual(found["zone"]["area_mm2"], zone.sum() * self.PIXEL_MM**2, places=6)
        self.assertAlmostEqual(found["density_outside_percent"], 100 * vessels[~zone].mean(), places=4)
        if measure is not None:
            self.assertAlmostEqual(found["zone"]["perimeter_mm"] / (measure.perimeter_crofton(zone, 4) * self.PIXEL_MM), 1, delta=0.03)

    def test_missing_vessels_and_pixels_are_reported(self):
        mesh = np.array(self.mesh(), float)
        self.write("mesh.nrrd", mesh)
        found = self.measure("mesh.nrrd", "--method", "level", "--level", "9")
        self.assertEqual(found["vessel_density_percent"], 0)
        self.assertIn("no pixel is a vessel", found["warnings"][0])
        middle = mesh.shape[0] // 2, mesh.shape[1] // 2
        mesh[middle[0] - 2:middle[0] + 3, middle[1] - 2:middle[1] + 3] = np.nan
        self.write("hole.nrrd", mesh)
        found = self.measure("hole.nrrd")
        self.assertTrue(any("was not measured" in line for line in found["warnings"]), found["warnings"])

    def test_threshold_is_otsus(self):
        image = self.mesh().astype("f4")
        self.write("mesh.nrrd", image)
        counts, edges = np.histogram(image, 256)
        middle = np.arange(256)
        variance = [counts[:k].sum() * counts[k:].sum() * (np.average(middle[:k], weights=counts[:k])
                                                            - np.average(middle[k:], weights=counts[k:])) ** 2 for k in range(1, 256)]
        expected = (edges[:-1] + edges[1:])[np.argmax(variance)] / 2
        self.assertAlmostEqual(self.measure("mesh.nrrd")["threshold"], expected, places=5)
        if filters is not None:
            self.assertAlmostEqual(filters.threshold_otsu(image), expected, places=5)

    def test_local_threshold_equals_scipy(self):
        image = self.mesh() + np.linspace(0, 3, 300)
        self.write("mesh.nrrd", image)
        found = self.measure("mesh.nrrd", "--method", "local", "--window", "0.1")
        image = image.astype("f4").astype("f8")
        share = ndimage.uniform_filter(np.ones_like(image), 11, mode="constant")
        expected = 100 * (image > ndimage.uniform_filter(image, 11, mode="constant") / share).mean()
        self.assertAlmostEqual(found["vessel_density_percent"], expected, delta=0.01)
        self.assertIsNone(found["threshold"])

    def test_window_may_exceed_image(self):
        self.write("mesh.nrrd", self.mesh())
        found = [self.measure("mesh.nrrd", "--method", "local", "--window", 9, *pixel)["vessel_density_percent"]
                 for pixel in ([], ["--pixel", "1e-20"])]
        self.assertEqual(found[0], found[1])

    def test_dimensions_of_known_sets(self):
        i, j = np.indices((512, 512))
        carpet = np.ones((1, 1), bool)
        for _ in range(6):
            carpet = np.block([[carpet, carpet, carpet], [carpet, 0 * carpet, carpet], [carpet, carpet, carpet]])
        line = np.zeros((512, 512))
        line[100] = 1
        for name, image, factor, dimension in (("triangle", (i & j) == 0, 2, np.log2(3)), ("line", line, 2, 1), ("square", i + j >= 0, 2, 2),
                                               ("carpet", carpet, 3, np.log(8) / np.log(3))):
            with self.subTest(name):
                self.write("f.nrrd", image)
                found = self.measure("f.nrrd", "--method", "level", "--level", "0.5", "--box-factor", factor)
                self.assertAlmostEqual(found["fractal_dimension"], dimension, delta=1e-6)
                self.assertAlmostEqual(found["fractal_r_squared"], 1, delta=1e-6)


if __name__ == "__main__":
    unittest.main()
