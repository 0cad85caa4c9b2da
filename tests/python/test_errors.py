"""Errors: each kind has the type that Python users expect, and carries what, where and remedy."""
import errno
import os
import pickle
import unittest

import numpy as np

import echolux as ox
from echolux.errors import made
from support import FolderCase, spectra, write_scan


class Kinds(unittest.TestCase):
    def test_derive_from_python_exceptions(self):
        kinds = {1: (ox.BadArgument, ValueError, TypeError), 2: (ox.BadSetting, ValueError), 3: (ox.BadFile, OSError),
                 4: (ox.OutputFailed, OSError), 5: (ox.OutOfMemory, MemoryError), 6: (ox.DeviceFailed, RuntimeError),
                 7: (ox.Cancelled, RuntimeError), 8: (ox.Unsupported, NotImplementedError), 11: (ox.Error, RuntimeError)}
        for status, classes in kinds.items():
            error = made(status, "is wrong", "", "do it")
            for kind in (*classes, ox.Error):
                self.assertIsInstance(error, kind)
            self.assertEqual(str(error), "is wrong (do it)")

    def test_have_cause_location_and_remedy(self):
        error = made(2, "is wrong", "recipe.window", "do it")
        self.assertEqual((error.code, error.what, error.where, error.remedy),
                         ("bad_setting", "is wrong", "recipe.window", "do it"))
        self.assertEqual(str(error), "recipe.window: is wrong (do it)")
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((type(again), again.where, again.remedy), (type(error), error.where, error.remedy))


class Files(FolderCase):
    def test_missing_file_is_file_not_found_error(self):
        for opened in (lambda: ox.open(self.folder / "missing.toml"), lambda: ox.load(self.folder / "missing.nrrd")):
            with self.assertRaises(FileNotFoundError) as error:
                opened()
            self.assertEqual(error.exception.code, "bad_file")
            self.assertIn("missing", error.exception.where)
            self.assertEqual(error.exception.filename, error.exception.where)
            self.assertTrue(str(error.exception).startswith(error.exception.where + ": "), str(error.exception))

    def test_file_not_found_requires_missing_file(self):
        path = self.folder / "bad.toml"
        path.write_text("[scan]\nsamples = = 3\n")
        with self.assertRaises(ox.BadFile) as malformed:
            ox.open(path)
        self.assertNotIsInstance(malformed.exception, FileNotFoundError)
        self.assertIsNone(malformed.exception.filename)  # `where` also contains the line number
        with self.assertRaises(ox.BadFile) as no_peak:
            sim = ox.simulate("vessel", samples=256, a_scans=8, b_scans=1)
            ox.calibrate.mirror(sim.scan, np.random.default_rng(1).integers(0, 9, sim.scan.shape).astype(np.uint16))
        self.assertNotIsInstance(no_peak.exception, FileNotFoundError)
        named = write_scan(self.folder, spectra())
        with self.assertRaises(ox.MissingFile) as missing:
            ox.open(named, calibration={"background": "none.npy"})
        self.assertTrue(missing.exception.filename.endswith("none.npy"), missing.exception.filename)
        with self.assertRaises(ox.MissingFile):
            ox.load(self.folder / "none_*.nrrd")
        for error in (missing.exception, pickle.loads(pickle.dumps(missing.exception))):
            self.assertEqual((error.errno, error.filename), (errno.ENOENT, missing.exception.filename))

    def test_accept_file_names_of_any_bytes(self):
        name = os.fsencode(self.folder) + b"/caf\xe9.nrrd"
        with self.assertRaises(ox.MissingFile) as missing:
            ox.load(os.fsdecode(name))
        self.assertEqual(os.fsencode(missing.exception.filename), name)
        str(missing.exception).encode("utf-8")
        ox.Volume.from_array(np.ones((2, 3, 4), np.uint8)).save(name)
        self.assertEqual(ox.load(name)[1, 2, 3], 1)
        np.testing.assert_array_equal(ox.load(os.fsdecode(name))[:], 1)
        with self.assertRaises(ox.MissingFile):
            ox.open(b"none.toml")

    def test_rejects_missing_volumes(self):
        scan = ox.open(write_scan(self.folder, spectra()))
        with self.assertRaisesRegex(ox.BadSetting, "no volume 1"):
            scan.reconstruct(1)
        with self.assertRaises(ox.BadSetting):
            scan.reconstruct(b_scans=(3, 9))
        for empty in ((0, 0), (3, 0), (-4, -1), (2, 2)):
            with self.assertRaisesRegex(ox.BadSetting, "b_scans: B-scans"):
                scan.reconstruct(b_scans=empty)
        for wrong in (slice(0, 2), 2, "ab", (0, 1, 2), (0.0, 1.0)):
            with self.assertRaisesRegex(ox.BadArgument, "not a pair of positions"):
                scan.reconstruct(b_scans=wrong)


class Words(FolderCase):
    """Messages avoid command-line options and details of the binding."""

    def test_misspelt_arguments_raise_type_error(self):
        path = write_scan(self.folder, spectra())
        scan, codes = ox.open(path), np.ones((2, 3, 4), np.uint8)
        calls = (lambda: ox.open(path, recip={"window": "hann"}), lambda: ox.simulate(sampels=3),
                 lambda: ox.open(path, recipe={"windw": "hann"}), lambda: scan.reconstruct("0"), lambda: ox.Volume(codes),
                 lambda: ox.Volume.from_array(codes).converted("u8", float("nan"), 5), lambda: ox.Reconstructor(str(path)),
                 lambda: ox.Scan(str(path)), lambda: scan.reconstruct(b_scans=(-4, -1)))
        for call in calls:
            with self.assertRaises(ox.Error) as refused:
                call()
            for words in ("command line", "incompatible", "_core", "LOW:HIGH", "`", "part.blocks"):
                self.assertNotIn(words, str(refused.exception))
        make, sim = ox.Reconstructor(scan), ox.simulate("vessel", samples=256, a_scans=8, b_scans=1)
        one, raw = ox.Volume.from_array(codes), scan.read()
        wrong = (lambda: scan.read("0"), lambda: scan.read(0, 1.5), lambda: scan.reconstruct(device=3),
                 lambda: ox.Reconstructor(scan, device=None), lambda: make(raw, volume="0"),
                 lambda: make(raw, first_b_scan=1.5), lambda: make.volume(raw, number="3"),
                 lambda: ox.Reconstructor(samples="a", a_scans=2), lambda: sim.spectra(first="0"),
                 lambda: ox.Reconstructor(samples=8, a_scans=2, sample_format=16), lambda: ox.simulate(3),
                 lambda: one.converted(8), lambda: one.converted("u8", "0", 1),
                 lambda: ox.Volume.from_array(codes, unit=3), lambda: ox.Volume.from_array(codes, scale="2"),
                 lambda: ox.Volume.from_array(codes, offset=None), lambda: ox.calibrate.dispersion(scan, raw, device=3),
                 lambda: ox.calibrate.dispersion(scan, raw, range_rad="80"),
                 lambda: ox.calibrate.mirror(scan, raw, depths=("0", 9)))
        for call in wrong:
            with self.assertRaisesRegex(ox.BadArgument, "is not a (whole number|number|text): "):
                call()
        with self.assertRaisesRegex(ox.BadArgument, "from_array"):
            ox.Volume(codes)
        for kind in (ox.Scan, ox.Reconstructor):
            with self.assertRaisesRegex(ox.BadArgument, r"echolux.open\(path\)"):
                kind(str(path))
