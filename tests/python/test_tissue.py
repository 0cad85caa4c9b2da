"""Analysis of tissue in memory: operations, and functions that order axes like arrays. What the operations find is tested
in tests/unit, and their files in tests/operations."""
import gc
import os
import pickle
import unittest
from pathlib import Path

import numpy as np

import echolux as ox
from scans import layered, tube_velocities
from support import FolderCase

SPACING = (5.0, 5.0, 1.4)
SHAPE = (8, 40, 64)
TWO = {"names": "top bottom", "polarity": [1, -1]}


def volume_of(codes, quantity="db", unit="dB", **more):
    return ox.Volume.from_array(codes, spacing_um=SPACING, quantity=quantity, unit=unit, **more)


def velocities(factor=1.0, **more):
    noise = np.random.default_rng(1).normal(0, 0.01, (12, 32, 64))
    return volume_of((factor * tube_velocities(32, 12, 64) + noise).astype(np.float32), quantity="velocity", unit="mm/s", **more)


class TissueCase(FolderCase):
    def saved(self, volume, name):
        """Saves the volume and loads it again, as the program reads it."""
        volume.save(self.folder / name, progress=False)
        return ox.load(self.folder / name).read()

    def assert_refused(self, kind, says, call):
        with self.assertRaises(kind) as refused:
            call()
        self.assertIsInstance(refused.exception, ox.Error)
        self.assertIn(says, str(refused.exception))


def filtered(volume, **how):
    return ox.operations.filter(volume, method="median", progress=False, **how).output


class Filter(TissueCase):
    def test_keeps_metadata(self):
        raw = volume_of(layered(), time_s=2.5, number=3)
        made = filtered(raw)
        self.assertEqual((made.shape, made.spacing_um, made.unit, made.voxel), (raw.shape, SPACING, "dB", "f32"))
        self.assertEqual((made.time_s, made.number), (2.5, 3))
        self.assertIn('method = "median"\n', made.provenance["filter"])
        self.assertEqual(pickle.loads(pickle.dumps(made)).provenance, made.provenance)
        copy = ox.Volume.from_array(made[:], provenance={**made.provenance, "path": 'C:\\new "one"'})
        self.assertEqual(copy.provenance, {**made.provenance, "path": 'C:\\new "one"'})
        self.assertFalse(np.asarray(made).flags.writeable)
        self.assertTrue(np.shares_memory(np.asarray(made), made[:]))

    def test_accepts_arrays_with_stored_as(self):
        np.testing.assert_array_equal(filtered(layered(), stored_as="db"), filtered(volume_of(layered())))
        self.assert_refused(ox.BadSetting, "filter.stored_as", lambda: filtered(layered()))
        self.assert_refused(ox.BadArgument, "dimensions", lambda: filtered(np.zeros((4, 4), np.float32)))
        self.assert_refused(ox.Error, "", lambda: filtered(np.zeros((0, 4, 4), np.float32), stored_as="db"))

    def test_accepts_lazy_files(self):
        raw = self.saved(volume_of(layered()), "raw.nrrd")
        np.testing.assert_array_equal(filtered(ox.load(self.folder / "raw.nrrd")), filtered(raw))
        self.saved(volume_of(layered(2)), "raw_2.nrrd")
        self.assertEqual(ox.operations.filter(ox.load(str(self.folder / "raw*.nrrd")), progress=False).looks, 2)

    def test_releases_input_with_result_in_memory(self):
        """A small picture of a large volume does not keep the volume."""
        before = resident_bytes()
        big = volume_of(np.ones((64, 256, 512), np.float32))
        with_volume = resident_bytes()
        made = ox.operations.figure(big, b_scan=0, output=True, progress=False)
        del big
        gc.collect()
        self.assertGreater(len(made.output), 100)
        self.assertLess(resident_bytes() - before, (with_volume - before) / 2)


class Segment(TissueCase):
    def setUp(self):
        super().setUp()
        self.raw = self.saved(volume_of(layered()), "raw.nrrd")
        self.surfaces = ox.segment(self.raw, "layers", device="cpu", progress=False, **TWO)

    def operation(self, output, **how):
        made = ox.operations.segment(self.raw, preset="layers", device="cpu", progress=False, **TWO, **{output: True}, **how)
        return getattr(made, output)

    def test_takes_quantity_of_plain_array(self):
        codes = np.asarray(self.raw)
        stated = ox.segment(codes, "layers", stored_as="db", device="cpu", progress=False, **TWO)
        np.testing.assert_array_equal(stated.rows, self.surfaces.rows)
        with self.assertRaisesRegex(ox.BadSetting, "stored_as: expected one of auto, db"):
            ox.segment(codes, "layers", stored_as="decibel", device="cpu", progress=False, **TWO)

    def test_maps_equal_operation(self):
        found = self.surfaces
        en_face = found.en_face_volume(self.raw, "top", "bottom", value="max", below_upper_um=3, below_lower_um=-2)
        expected = self.operation("en_face", between="top:bottom", projection="max", below_upper_um=3, below_lower_um=-2)
        np.testing.assert_allclose(en_face, expected, rtol=1e-6)
        np.testing.assert_allclose(found.thickness_volume("top", "bottom"), self.operation("thickness", between="top:bottom"), rtol=1e-5)
        flat = found.flattened(self.raw, "bottom")
        np.testing.assert_allclose(flat, self.operation("flatten", level="bottom"), atol=1e-4)
        self.assertEqual(found.flattened(flat, "bottom", back=True).shape, self.raw.shape)

    def test_finds_layers(self):
        found = self.surfaces
        self.assertEqual((found.names, found.shape, found.unit), (("top", "bottom"), (2, *SHAPE[:2]), "um"))
        self.assertLess(abs(found.rows[0] - 19.5).mean(), 0.5)
        self.assertLess(abs(found.rows[1] - 39.5).mean(), 0.5)
        np.testing.assert_allclose(found.depths, 1.4 * found.rows, rtol=1e-5)
        self.assertEqual({found.reason_names[code] for code in np.unique(found.reasons)}, {"ok"})
        self.assertEqual(found.quality.shape, found.shape)
        self.assertEqual(len(found.csv().splitlines()), 1 + found.depths.size)
        np.testing.assert_allclose(found.thickness(), (found.depths[1] - found.depths[0])[None], rtol=1e-4)
        rows = slice(int(np.ceil(found.rows[0, 2, 5])), int(np.floor(found.rows[1, 2, 5])) + 1)
        self.assertAlmostEqual(found.en_face(self.raw, value="max")[2, 5], self.raw[2, 5, rows].max(), places=4)
        with self.assertRaises(ValueError):
            found.depths[0, 0, 0] = 1
        found.save(self.folder / "again.nrrd")
        again = ox.Surfaces.open(self.folder / "again.nrrd", self.raw)
        np.testing.assert_allclose(again.depths, found.depths, rtol=1e-5)

    def test_rejects_invalid_surfaces(self):
        self.assert_refused(ox.BadSetting, "top", lambda: self.surfaces.thickness("topp", "bottom"))
        other = volume_of(layered(shape=(4, 40, 64)))
        self.assert_refused(ox.BadArgument, "differs in size", lambda: self.surfaces.flattened(other))
        self.assertRaises(FileNotFoundError, lambda: ox.Surfaces.open(self.folder / "none.nrrd", self.raw))


class Register(TissueCase):
    def setUp(self):
        super().setUp()
        self.first, self.second = volume_of(layered(7)), volume_of(np.roll(layered(7), 3, 2))

    def test_finds_shift_between_volumes(self):
        made = ox.register([self.first, self.second], progress=False)
        self.assertEqual((made.z.shape, len(made)), ((2, 8), 2))
        self.assertTrue((made.z[0] == 0).all() and made.is_placed[0].all())
        self.assertTrue(made.is_placed[1].mean() > 0.7)
        self.assertLess(np.nanmax(abs(made.z[1] + 3)), 0.2)
        np.testing.assert_array_equal(np.isnan(made.z), ~made.is_placed)
        np.testing.assert_allclose(made.shifts_um[0], 1.4 * made.z)
        self.assertEqual(len([line for line in made.csv().splitlines() if line[0].isdigit()]), 16)
        moved = ox.register(self.second, self.first, progress=False).volume()
        placed = made.is_placed[1]
        error = moved[placed][:, 8:-8, 20:36] - self.first[placed][:, 8:-8, 20:36]
        self.assertLess(np.nanmedian(abs(error)), 0.5)
        self.assertEqual((moved.spacing_um, made.mean.shape), (SPACING, SHAPE))
        self.assertRaises(ox.BadArgument, made.volume, 2)
        third = ox.register(np.stack([self.first[:], self.second[:]]), 1, strip=1, progress=False)
        self.assertTrue((third.z[1] == 0).all())

    def test_rejects_invalid_arguments(self):
        self.assert_refused(ox.BadSetting, "reference_volume", lambda: ox.register([self.first, self.second], 5))
        self.assert_refused(ox.BadSetting, "registration.strip", lambda: ox.register(self.first, strip=2000))
        self.assert_refused(ox.BadArgument, "volumes", lambda: ox.register([]))
        self.assert_refused(ox.BadArgument, "", lambda: ox.register(7))


class Flow(TissueCase):
    def test_takes_places_in_order_of_axes(self):
        series = [velocities(1 + 0.5 * np.sin(2 * np.pi * 1.2 * 0.1 * v)) for v in range(24)]
        found = ox.flow(series, step_s=0.1, through=(6, 16, 32), margin_um=8, progress=False)
        expected = ox.operations.flow(series, step_s=0.1, through="16,6,32", margin_um=8, progress=False)
        np.testing.assert_array_equal(found.values.flow_ul_s, expected.values.flow_ul_s)
        self.assertEqual(len(found.values.flow_ul_s), 24)
        self.assertEqual(found.output_csv, expected.output_csv)

    def test_measures_one_volume(self):
        found = ox.flow(velocities(), progress=False)
        self.assertAlmostEqual(found.flow_ul_s / (np.pi * 25**2 * 10 / 2 * 1e-6), 1, delta=0.05)
        self.assertIn("single volume", found.no_heart_rate)
        self.assertEqual(len(ox.flow(velocities(), each="b-scan", progress=False).values.flow_ul_s), 12)

    def test_uses_times_of_volumes(self):
        timed = [velocities(time_s=0.25 * v) for v in range(3)]
        self.assertAlmostEqual(np.diff(ox.flow(timed, progress=False).values.time_s).mean(), 0.25, places=3)
        self.assertTrue(np.isnan(ox.flow([velocities()] * 3, progress=False).values.time_s).all())

    def test_rejects_invalid_arguments(self):
        self.assert_refused(ox.BadArgument, "through", lambda: ox.flow(velocities(), through=(1, 2)))
        self.assert_refused(ox.BadSetting, "towards", lambda: ox.flow(velocities(), towards=(1, 2, 3)))
        self.assert_refused(ox.BadSetting, "size", lambda: ox.flow(velocities(), volume_of(layered())))
        self.assert_refused(ox.Error, "", lambda: ox.flow([]))


class Names(unittest.TestCase):
    def test_settings_match_program(self):
        from echolux.operation import descriptions

        for function, operation, section in ((ox.segment, "segment", "layers"), (ox.register, "register", "registration")):
            names = {one["name"] for one in descriptions()[operation]["arguments"] if one["section"] == section}
            self.assertGreater(len(names), 5)
            for name in names:
                self.assertIn(name, function.__doc__)


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
