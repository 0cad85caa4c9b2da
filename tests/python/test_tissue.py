"""Tissue analysis in Python: the same files as from the commands, byte for byte, and no made-up results for data
without information."""
import os
import pickle
import subprocess
import threading
import unittest

import numpy as np

import echolux as ox
from support import FolderCase

PROGRAM = os.environ.get("ECHOLUX_PROGRAM", "echolux")
SPACING = (5.0, 5.0, 1.4)
SHAPE = (8, 40, 64)
TWO = {"names": "top bottom", "polarity": [1, -1]}
TWO_ARGUMENTS = ("--preset", "layers", "--set", "layers.names=top bottom", "--set", "layers.polarity=[1, -1]")


def layered(seed=1, shape=SHAPE):
    """Speckle of a bright layer, rows 20 to 39, between dark ones. Returns mean powers and dB."""
    mean = np.full(shape, 0.01)
    mean[..., 20:40] = 1
    return (10 * np.log10(mean * np.random.default_rng(seed).exponential(1, shape) + 1e-9)).astype(np.float32)


def volume_of(codes, quantity="db", unit="dB", **more):
    return ox.Volume.from_array(codes, spacing_um=SPACING, quantity=quantity, unit=unit, **more)


def tube(factor=1.0, slope=0.2, seed=1, b_scans=12):
    """Axial velocities of laminar flow, 10 mm/s in a tube of 25 um across the B-scans, with a little noise."""
    b, a, z = np.meshgrid(np.arange(b_scans), np.arange(32), np.arange(64), indexing="ij")
    y = 5 * (b - b_scans // 2)
    r = np.hypot(5 * (a - 16), 1.4 * (z - 32) - slope * y) / 25
    noise = np.random.default_rng(seed).normal(0, 0.01, b.shape)
    return (factor * np.where(r < 1, 10 * (1 - r * r) * slope, 0) + noise + 1e-6).astype(np.float32)


def velocities(*given, **more):
    return volume_of(tube(*given), quantity="velocity", unit="mm/s", **more)


class TissueCase(FolderCase):
    def run_program(self, *arguments):
        done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def saved(self, volume, name):
        """Saves the volume and loads it again, as the program reads it."""
        volume.save(self.folder / name, progress=False)
        return ox.load(self.folder / name).read()

    def assert_same_files(self, ours, theirs):
        self.assertEqual((self.folder / ours).read_bytes(), (self.folder / theirs).read_bytes())

    def assert_refused(self, kind, says, call):
        with self.assertRaises(kind) as refused:
            call()
        self.assertIsInstance(refused.exception, ox.Error)
        self.assertIn(says, str(refused.exception))
        return refused.exception


class Filter(TissueCase):
    def test_equals_output_of_command(self):
        raw = self.saved(volume_of(layered()), "raw.nrrd")
        for method in ("nlm", "median", "bilateral"):
            ox.filter(raw, method=method, search_b_scans=3, device="cpu", progress=False).save(self.folder / "ours.nrrd")
            self.run_program("filter", "raw.nrrd", "-o", "theirs.nrrd", "--method", method, "--search-b-scans", "3",
                             "--backend", "cpu", "--overwrite")
            self.assert_same_files("ours.nrrd", "theirs.nrrd")

    def test_keeps_metadata(self):
        raw = volume_of(layered(), time_s=2.5, number=3)
        made = ox.filter(raw, method="median", progress=False)
        self.assertEqual((made.shape, made.spacing_um, made.unit, made.voxel), (raw.shape, SPACING, "dB", "f32"))
        self.assertEqual((made.time_s, made.number), (2.5, 3))
        self.assertIn('method = "median"\n', made.provenance["filter"])
        self.assertEqual(pickle.loads(pickle.dumps(made)).provenance, made.provenance)
        copy = ox.Volume.from_array(made[:], provenance={**made.provenance, "path": 'C:\\new "one"'})
        self.assertEqual(copy.provenance, {**made.provenance, "path": 'C:\\new "one"'})
        self.assertLess(made[:, :, 24:36].std(), raw[:, :, 24:36].std() / 3)
        self.assertFalse(np.asarray(made).flags.writeable)
        self.assertTrue(np.shares_memory(np.asarray(made), made[:]))

    def test_accepts_arrays_with_stored_as(self):
        made = ox.filter(layered(), method="median", stored_as="db", progress=False)
        np.testing.assert_array_equal(made, ox.filter(volume_of(layered()), method="median", progress=False))
        self.assert_refused(ox.BadSetting, "filter.stored_as", lambda: ox.filter(layered()))

    def test_accepts_lazy_files(self):
        raw = self.saved(volume_of(layered()), "raw.nrrd")
        made = ox.filter(ox.load(self.folder / "raw.nrrd"), method="median", progress=False)
        np.testing.assert_array_equal(made, ox.filter(raw, method="median", progress=False))
        self.assertEqual(made.spacing_um, raw.spacing_um)
        self.saved(volume_of(layered(2)), "raw_2.nrrd")
        self.assertEqual(ox.average(ox.load(str(self.folder / "raw*.nrrd"))).looks, 2)

    def test_rejects_unsuitable_volumes(self):
        raw = volume_of(layered())
        self.assert_refused(ox.BadSetting, "velocit", lambda: ox.filter(velocities()))
        self.assert_refused(ox.BadSetting, "filter.patch", lambda: ox.filter(raw, patch=4))
        self.assert_refused(ox.BadSetting, "filter.method", lambda: ox.filter(raw, method="mean"))
        self.assert_refused(ox.BadSetting, "filter.strenght", lambda: ox.filter(raw, strenght=1))
        self.assert_refused(ox.BadArgument, "volume", lambda: ox.filter("raw.nrrd"))
        self.assert_refused(ox.BadArgument, "dimensions", lambda: ox.filter(np.zeros((4, 4), np.float32)))
        self.assert_refused(ox.Error, "", lambda: ox.filter(np.zeros((0, 4, 4), np.float32), stored_as="db"))

    def test_reports_progress_and_can_be_stopped(self):
        class Stop(Exception):
            pass

        told = []

        def stop(task, done, total):
            told.append(task)
            raise Stop

        noise = np.random.default_rng(3).exponential(1, (24, 128, 256)).astype(np.float32)
        big = ox.Volume.from_array(noise, quantity="intensity")
        with self.assertRaises(Stop):
            ox.filter(big, device="cpu", progress=stop)
        self.assertEqual(len(told), 1)
        self.assertTrue(any("filter" in task for task in told), told)

    def test_threads_give_same_result(self):
        raw = volume_of(layered())
        made = [None] * 3
        threads = [threading.Thread(target=lambda i=i: made.__setitem__(i, ox.filter(raw, method="median", progress=False)))
                   for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        np.testing.assert_array_equal(made[0], made[1])
        np.testing.assert_array_equal(made[0], made[2])


class Average(TissueCase):
    def test_equals_output_of_command(self):
        looks = [self.saved(volume_of(layered(seed)), f"look{seed}.nrrd") for seed in (1, 2, 3)]
        made = ox.average(looks)
        made.volume.save(self.folder / "ours.nrrd")
        self.run_program("filter", "look1.nrrd", "look2.nrrd", "look3.nrrd", "-o", "theirs.nrrd")
        self.assert_same_files("ours.nrrd", "theirs.nrrd")
        self.assertEqual(made.looks, 3)
        self.assertAlmostEqual(made.independent, 3, delta=0.2)
        expected = 10 * np.log10(np.mean([10 ** (look[:].astype(float) / 10) for look in looks], axis=0))
        np.testing.assert_allclose(made.volume, expected, atol=1e-3)

    def test_requires_several_looks(self):
        self.assert_refused(ox.BadSetting, "several", lambda: ox.average([volume_of(layered())]))
        self.assert_refused(ox.BadArgument, "volumes", lambda: ox.average([]))
        other = volume_of(layered(shape=(4, 40, 64)))
        self.assert_refused(ox.BadSetting, "", lambda: ox.average([volume_of(layered()), other]))


class Segment(TissueCase):
    def setUp(self):
        super().setUp()
        self.raw = self.saved(volume_of(layered()), "raw.nrrd")
        self.surfaces = ox.segment(self.raw, "layers", device="cpu", progress=False, **TWO)

    def test_equals_output_of_command(self):
        self.surfaces.save(self.folder / "ours.nrrd")
        (self.folder / "ours.csv").write_text(self.surfaces.csv())
        self.surfaces.thickness_volume().save(self.folder / "ours_t.nrrd")
        self.surfaces.en_face_volume(self.raw, "top", "bottom", value="max", below_upper_um=3).save(self.folder / "ours_e.nrrd")
        self.surfaces.flattened(self.raw, "bottom").save(self.folder / "ours_f.nrrd")
        common = ("--backend", "cpu", "--overwrite", *TWO_ARGUMENTS)
        self.run_program("segment", "raw.nrrd", "-o", "theirs.nrrd", "--thickness", "theirs_t.nrrd", "--en-face",
                         "theirs_e.nrrd", "--between", "top:bottom", "--below-upper", "3", "--projection", "max",
                         "--flatten", "theirs_f.nrrd", "--level", "bottom", *common)
        self.run_program("segment", "raw.nrrd", "-o", "theirs.csv", *common)
        for kind in (".nrrd", ".csv", "_t.nrrd", "_e.nrrd", "_f.nrrd"):
            self.assert_same_files(f"ours{kind}", f"theirs{kind}")

    def test_finds_layers(self):
        found = self.surfaces
        self.assertEqual((found.names, found.shape, found.unit), (("top", "bottom"), (2, *SHAPE[:2]), "um"))
        self.assertLess(abs(found.rows[0] - 19.5).mean(), 0.5)
        self.assertLess(abs(found.rows[1] - 39.5).mean(), 0.5)
        np.testing.assert_allclose(found.depths, 1.4 * found.rows, rtol=1e-5)
        self.assertEqual({found.reason_names[code] for code in np.unique(found.reasons)}, {"ok"})
        self.assertEqual(found.quality.shape, found.shape)
        np.testing.assert_allclose(found.thickness(), (found.depths[1] - found.depths[0])[None], rtol=1e-4)
        self.assertEqual(found.en_face(self.raw).shape, SHAPE[:2])
        rows = slice(int(np.ceil(found.rows[0, 2, 5])), int(np.floor(found.rows[1, 2, 5])) + 1)
        self.assertAlmostEqual(found.en_face(self.raw, value="max")[2, 5], self.raw[2, 5, rows].max(), places=4)
        with self.assertRaises(ValueError):
            found.depths[0, 0, 0] = 1
        again = ox.Surfaces.open(self.write(found), self.raw)
        np.testing.assert_allclose(again.depths, found.depths, rtol=1e-5)

    def write(self, found):
        found.save(self.folder / "again.nrrd")
        return self.folder / "again.nrrd"

    def test_uses_rows_without_spacing(self):
        bare = ox.Volume.from_array(layered(), quantity="db", unit="dB")
        found = ox.segment(bare, "layers", progress=False, **TWO)
        self.assertEqual(found.unit, "rows")
        np.testing.assert_array_equal(found.depths, found.rows)

    def test_finds_layers_of_single_b_scan(self):
        single = volume_of(layered(shape=(1, 40, 64)))
        found = ox.segment(single, "layers", progress=False, **TWO)
        self.assertEqual(found.shape, (2, 1, 40))
        self.assertLess(abs(np.nanmean(found.rows[0]) - 19.5), 1)

    def test_finds_no_surface_in_noise(self):
        noise = 10 * np.log10(np.random.default_rng(5).exponential(1, SHAPE)).astype(np.float32)
        for nothing in (noise, np.zeros(SHAPE, np.float32), np.full(SHAPE, np.nan, np.float32)):
            self.assert_refused(ox.BadSetting, "no surface was found",
                                lambda nothing=nothing: ox.segment(volume_of(nothing), "layers", progress=False, **TWO))
        flow = volume_of(np.zeros(SHAPE, np.float32), quantity="decorrelation", unit="")
        for wrong in (flow, velocities()):
            self.assert_refused(ox.BadSetting, "", lambda wrong=wrong: ox.segment(wrong, "layers", progress=False, **TWO))
        self.assert_refused(ox.BadSetting, "layers", lambda: ox.segment(self.raw, "retinas"))
        self.assert_refused(ox.BadSetting, "layers.polarity", lambda: ox.segment(self.raw, "layers", count=3, polarity=[1, 1]))

    def test_rejects_invalid_surfaces(self):
        self.assert_refused(ox.BadSetting, "top", lambda: self.surfaces.thickness("topp", "bottom"))
        self.assert_refused(ox.BadSetting, "does not lie below", lambda: self.surfaces.thickness("bottom", "top"))
        self.assert_refused(ox.BadSetting, "projection", lambda: self.surfaces.en_face(self.raw, value="min"))
        other = volume_of(layered(shape=(4, 40, 64)))
        self.assert_refused(ox.BadArgument, "differs in size", lambda: self.surfaces.flattened(other))
        self.assertRaises(FileNotFoundError, lambda: ox.Surfaces.open(self.folder / "none.nrrd", self.raw))


class Register(TissueCase):
    def setUp(self):
        super().setUp()
        wide = layered(7, (8, 40, 64))
        self.first = self.saved(volume_of(wide), "first.nrrd")
        self.second = self.saved(volume_of(np.roll(wide, 3, 2)), "second.nrrd")

    def test_equals_output_of_command(self):
        made = ox.register([self.first, self.second], strip=1, device="cpu", progress=False)
        made.mean.save(self.folder / "ours.nrrd")
        (self.folder / "ours.csv").write_text(made.csv())
        self.run_program("register", "first.nrrd", "second.nrrd", "-o", "theirs.nrrd", "--table", "theirs.csv", "--strip", "1")
        self.assert_same_files("ours.nrrd", "theirs.nrrd")
        self.assert_same_files("ours.csv", "theirs.csv")

    def test_finds_shift_between_volumes(self):
        made = ox.register([self.first, self.second], progress=False)
        self.assertEqual((made.z.shape, len(made)), ((2, 8), 2))
        self.assertTrue((made.z[0] == 0).all() and made.is_placed[0].all())
        self.assertTrue(made.is_placed[1].mean() > 0.7)
        self.assertLess(np.nanmax(abs(made.z[1] + 3)), 0.2)
        np.testing.assert_array_equal(np.isnan(made.z), ~made.is_placed)
        np.testing.assert_allclose(made.shifts_um[0], 1.4 * made.z)
        moved = ox.register(self.second, self.first, progress=False).volume()
        placed = made.is_placed[1]
        error = moved[placed][:, 8:-8, 20:36] - self.first[placed][:, 8:-8, 20:36]
        self.assertLess(np.nanmedian(abs(error)), 0.5)
        self.assertEqual(moved.spacing_um, SPACING)
        self.assertRaises(ox.BadArgument, made.volume, 2)
        np.testing.assert_array_equal(made.volume(0)[made.is_placed[0]].shape, self.first.shape)
        third = ox.register(np.stack([self.first[:], self.second[:]]), progress=False)
        self.assertEqual(third.z.shape, (2, 8))

    def test_finds_no_shift_in_noise(self):
        noise = volume_of(np.random.default_rng(8).normal(0, 1, SHAPE).astype(np.float32))
        single = volume_of(layered(shape=(1, 40, 64)))
        for wrong in ([self.first, noise], [self.first, volume_of(np.full(SHAPE, np.nan, np.float32))], [single],
                      [self.first, velocities()], [self.first, single]):
            self.assert_refused(ox.BadSetting, "", lambda wrong=wrong: ox.register(wrong, progress=False))
        self.assert_refused(ox.BadSetting, "reference_volume", lambda: ox.register([self.first, self.second], 5))
        self.assert_refused(ox.BadSetting, "registration.strip", lambda: ox.register(self.first, strip=2000))
        self.assert_refused(ox.BadArgument, "volumes", lambda: ox.register([]))
        self.assert_refused(ox.BadArgument, "", lambda: ox.register(7))


class Attenuate(TissueCase):
    def decay(self):
        z = np.arange(160)
        mean = np.exp(-2 * 4 * 1.4e-3 * z) * (z > 8) + 1e-3
        speckle = np.random.default_rng(2).exponential(1, (6, 48, 160))
        return volume_of((10 * np.log10(mean * speckle)).astype(np.float32))

    def test_equals_output_of_command(self):
        raw = self.saved(self.decay(), "raw.nrrd")
        made = ox.attenuation(raw, tail_rows=40, progress=False)
        made.volume.save(self.folder / "ours.nrrd")
        self.run_program("attenuation", "raw.nrrd", "-o", "theirs.nrrd", "--tail", "40")
        self.assert_same_files("ours.nrrd", "theirs.nrrd")
        self.assertEqual(made.volume.unit, "1/mm")
        self.assertAlmostEqual(np.nanmedian(made.volume[:, :, 20:80]), 4, delta=0.8)
        self.assertTrue(0 < made.known <= 1)
        self.assertTrue(any("roll-off" in warning for warning in made.volume.warnings), made.volume.warnings)

    def test_rejects_noise(self):
        noise = volume_of(10 * np.log10(np.random.default_rng(5).exponential(1, SHAPE)).astype(np.float32))
        self.assert_refused(ox.BadSetting, "noise", lambda: ox.attenuation(noise))
        bare = ox.Volume.from_array(layered(), quantity="db", unit="dB")
        self.assert_refused(ox.BadSetting, "spacing", lambda: ox.attenuation(bare))
        self.assert_refused(ox.BadSetting, "attenuation.tail_rows", lambda: ox.attenuation(self.decay(), tail_rows=-3))


class Flow(TissueCase):
    TRUE_UL_S = np.pi * 25**2 * 10 / 2 * 1e-6

    def test_equals_output_of_command(self):
        series = [self.saved(velocities(1 + 0.5 * np.sin(2 * np.pi * 1.2 * 0.1 * v), 0.2, v), f"v_{v:03}.nrrd")
                  for v in range(24)]
        found = ox.flow(series, step_s=0.1, through=(6, 16, 32), margin_um=8, progress=False)
        (self.folder / "ours.csv").write_text(found.csv())
        self.run_program("flow", *(f"v_{v:03}.nrrd" for v in range(24)), "--step", "0.1", "--through", "16,6,32",
                         "--margin", "8", "-o", "theirs.csv")
        self.assert_same_files("ours.csv", "theirs.csv")
        self.assertEqual(len(found), 24)
        self.assertAlmostEqual(found.heart_rate_hz / 1.2, 1, delta=0.03)
        self.assertEqual(found.heart_problem, "")

    def test_measures_one_volume(self):
        found = ox.flow(velocities(), progress=False)
        self.assertAlmostEqual(found.flow_ul_s / self.TRUE_UL_S, 1, delta=0.05)
        self.assertAlmostEqual(found.values_ul_s[0], found.flow_ul_s)
        self.assertAlmostEqual(found.angle_deg, 90 - np.degrees(np.arctan(0.2)), delta=1)
        self.assertAlmostEqual(abs(found.direction[0]), np.cos(np.arctan(0.2)), delta=0.01)
        self.assertAlmostEqual(np.linalg.norm(found.direction), 1, places=5)
        self.assertTrue(np.isnan(found.heart_rate_hz))
        self.assertIn("single volume", found.heart_problem)
        self.assertEqual(found.reason_names[found.reasons[0]], "ok")
        each = ox.flow(velocities(), each="b-scan", progress=False)
        self.assertEqual(len(each), 12)
        self.assertGreaterEqual(each.b_scan.min(), 0)

    def test_uses_times_of_volumes(self):
        timed = [velocities(time_s=0.25 * v) for v in range(3)]
        self.assertAlmostEqual(np.diff(ox.flow(timed, progress=False).time_s).mean(), 0.25, places=3)
        untimed = [velocities() for v in range(3)]
        self.assertTrue(np.isnan(ox.flow(untimed, progress=False).time_s).all())

    def test_finds_no_flow_in_noise(self):
        still = volume_of(np.zeros((12, 32, 64), np.float32), quantity="velocity", unit="mm/s")
        self.assert_refused(ox.BadSetting, "no flow above the noise", lambda: ox.flow(still))
        self.assert_refused(ox.BadSetting, "single B-scan", lambda: ox.flow(velocities(1, 0.2, 1, 1)))
        self.assert_refused(ox.BadSetting, "velocities", lambda: ox.flow(volume_of(layered())))
        self.assert_refused(ox.BadSetting, "size", lambda: ox.flow(velocities(), volume_of(layered())))
        self.assert_refused(ox.BadSetting, "each", lambda: ox.flow(velocities(), each="line"))
        self.assert_refused(ox.BadArgument, "through", lambda: ox.flow(velocities(), through=(1, 2)))
        self.assert_refused(ox.BadSetting, "towards", lambda: ox.flow(velocities(), towards=(1, 2, 3)))
        self.assert_refused(ox.Error, "", lambda: ox.flow([]))


class Names(unittest.TestCase):
    def test_keeps_builtin_filter(self):
        names = {}
        exec("from echolux import *", names)
        self.assertNotIn("filter", names)
        self.assertIn("segment", names)
        self.assertIn("filter", dir(ox))

    def test_settings_match_program(self):
        from echolux.operation import descriptions

        for function, operation, section in ((ox.filter, "filter", "filter"), (ox.segment, "segment", "layers"),
                                             (ox.register, "register", "registration"), (ox.flow, "flow", "cross_section"),
                                             (ox.attenuation, "attenuation", "attenuation")):
            names = {one["name"] for one in descriptions()[operation]["arguments"] if one["section"] == section}
            self.assertGreater(len(names), 5)
            for name in names:
                self.assertIn(name, function.__doc__)


if __name__ == "__main__":
    unittest.main()
