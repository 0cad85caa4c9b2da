"""Scans: opened, changed, read, reconstructed."""
import copy
import os
import pickle
import threading

import numpy as np

import echolux as ox
from support import FolderCase, spectra, write_scan

PROGRAM = os.environ.get("ECHOLUX_PROGRAM")


class Reconstructing(FolderCase):
    def test_returns_flow_on_request(self):
        path = write_scan(self.folder, spectra())
        self.assertIsNone(ox.open(path).reconstruct().flow)
        volume = ox.open(path, flow={"method": "doppler", "threshold_db": -100.0}).reconstruct()
        self.assertEqual(volume.flow.quantity, "doppler")
        self.assertEqual(volume.flow.shape, (*volume.shape, 2))
        self.assertEqual(volume.flow.velocities().shape, volume.shape)

    def test_works_in_threads(self):
        scan = ox.open(write_scan(self.folder, spectra()))
        expected, made = scan.reconstruct(), []
        threads = [threading.Thread(target=lambda: made.append(scan.reconstruct())) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([one[:].tobytes() for one in made], [expected[:].tobytes()] * 4)

    def test_returns_part(self):
        scan = ox.open(write_scan(self.folder, spectra(b_scans=6)))
        whole = scan.reconstruct()
        np.testing.assert_array_equal(scan.reconstruct(b_scans=(2, 5)), whole[2:5])

    def test_volume_has_metadata(self):
        volume = ox.open(write_scan(self.folder, spectra()), recipe={"levels": "fixed"}).reconstruct()
        self.assertEqual(volume.spacing_um[:2], (7.0, 5.0))
        self.assertEqual((volume.unit, volume.quantity, volume.dtype), ("dB", "db", np.float32))
        self.assertEqual(volume.provenance["recipe.levels"], '"fixed"')
        self.assertEqual(volume.number, 0)


class Reading(FolderCase):
    def test_reads_spectra_of_file(self):
        raw = spectra(b_scans=5)
        scan = ox.open(write_scan(self.folder, raw))
        self.assertEqual(scan.shape, raw.shape)
        self.assertEqual(scan.volumes, 1)
        np.testing.assert_array_equal(scan.read(), raw)
        np.testing.assert_array_equal(scan.read(0, 2, 2), raw[2:4])
        for first, count in ((0, 6), (-1, 1), (2, 0)):
            with self.assertRaises(ox.BadArgument):
                scan.read(0, first, count)

    def test_repeats_have_separate_axes(self):
        path = write_scan(self.folder, spectra(b_scans=6))
        scan = ox.open(path, scan={"b_scans": 2, "b_repeats": 3, "a_scans": 8, "a_repeats": 2})
        self.assertEqual(scan.shape, (2, 3, 8, 2, 256))
        np.testing.assert_array_equal(scan.read().reshape(6, 16, 256), spectra(b_scans=6))

    def test_reads_both_byte_orders(self):
        raw = spectra()
        path = write_scan(self.folder, raw.astype(">u2"))
        np.testing.assert_array_equal(ox.open(path, scan={"byte_order": "big"}).read(), raw)


class Settings(FolderCase):
    def setUp(self):
        super().setUp()
        self.scan = ox.open(write_scan(self.folder, spectra()))

    def test_settings_are_typed_attributes(self):
        recipe = self.scan.recipe
        for name, value in (("window", "tukey"), ("zero_padding", 2), ("tukey_alpha", 0.25), ("dispersion", False)):
            setattr(recipe, name, value)
            self.assertEqual(getattr(recipe, name), value)
            self.assertIs(type(getattr(recipe, name)), type(value))
        self.scan.calibration.k_polynomial = [0, 255.0]
        self.assertEqual(self.scan.calibration.k_polynomial, (0.0, 255.0))
        self.assertIn('window = "tukey"', self.scan.toml())

    def test_unknown_names_suggest_nearest(self):
        with self.assertRaisesRegex(AttributeError, "recipe.windw; did you mean window"):
            self.scan.recipe.windw
        with self.assertRaisesRegex(AttributeError, "did you mean window"):
            self.scan.recipe.windoww = "hann"
        with self.assertRaisesRegex(AttributeError, "section"):
            self.scan.window = "hann"
        with self.assertRaises(AttributeError):
            self.scan.recipes

    def test_invalid_values_are_rejected_and_old_ones_kept(self):
        for name, value in (("window", "hamm"), ("tukey_alpha", 7), ("tukey_alpha", float("nan"))):
            before = getattr(self.scan.recipe, name)
            with self.assertRaises(ox.BadSetting) as refused:
                setattr(self.scan.recipe, name, value)
            self.assertEqual(refused.exception.where, f"recipe.{name}")
            self.assertEqual(getattr(self.scan.recipe, name), before)
        with self.assertRaisesRegex(ox.BadSetting, "echolux.open"):
            self.scan.scan.a_scans = 3

    def test_accept_numpy_numbers(self):
        recipe = self.scan.recipe
        for name, value, expected in (("dispersion", np.True_, True), ("dispersion", np.bool_(False), False),
                                      ("dispersion", 1, True), ("tukey_alpha", np.array(0.25), 0.25),
                                      ("tukey_alpha", np.float32(0.5), 0.5), ("zero_padding", np.int64(2), 2),
                                      ("window", np.str_("tukey"), "tukey")):
            setattr(recipe, name, value)
            self.assertEqual(getattr(recipe, name), expected)
        opened = ox.open(self.folder / "scan.toml", recipe={"dispersion": np.False_, "tukey_alpha": np.array(0.25)})
        self.assertIs(ox.open(self.folder / "scan.toml", recipe={"dispersion": 0}).recipe.dispersion, False)
        self.assertEqual((opened.recipe.dispersion, opened.recipe.tukey_alpha), (False, 0.25))

    def test_text_settings_reject_arrays(self):
        for name, array in (("background", "background"), ("k_map", "k_positions")):
            with self.assertRaisesRegex(ox.BadSetting, rf'scan.calibration\["{array}"\] = array'):
                setattr(self.scan.calibration, name, np.zeros(256))
        with self.assertRaises(ox.BadSetting):
            self.scan.recipe.window = 3

    def test_settings_are_readable_during_reconstruction(self):
        ends, window, heard = threading.Event(), [], []

        def look(*_):
            if not ends.is_set():
                window.append((self.scan.recipe.window, self.scan.shape, list(self.scan.calibration)))
                ends.set()

        # Keeps working until the callback has run.
        self.scan.set_stages(spectra=lambda array: heard.append(ends.wait(5)))
        self.scan.reconstruct(progress=look)
        self.assertTrue(heard[0])
        self.assertEqual(window, [("hann", (4, 16, 256), [])])

    def test_settings_survive_copies(self):
        self.scan.recipe.window, self.scan.recipe.a2_rad = "tukey", 0.1
        self.scan.calibration["background"] = np.arange(256.0)
        sim = ox.simulate("vessel", samples=256, a_scans=16, b_scans=4)
        for scan in (self.scan, sim.scan):
            for other in (copy.copy(scan), copy.deepcopy(scan), pickle.loads(pickle.dumps(scan))):
                self.assertEqual((other.toml(), other.shape), (scan.toml(), scan.shape))
                self.assertEqual(list(other.calibration), list(scan.calibration))
                np.testing.assert_array_equal(other.calibration["background"], scan.calibration["background"])
                other.recipe.window = "rect"
                self.assertNotEqual(scan.recipe.window, "rect")
        again = copy.copy(self.scan)
        np.testing.assert_array_equal(again.reconstruct(), self.scan.reconstruct())

    def test_have_docstrings(self):
        self.assertIn("window on the uniform k grid", type(self.scan.recipe).window.__doc__.lower())
        self.assertIn("one of rect, hann", type(self.scan.recipe).window.__doc__)
        self.assertIn("in rad", type(self.scan.recipe).a2_rad.__doc__)
        self.assertIn("window", dir(self.scan.recipe))
        self.assertIn("window='hann'", repr(self.scan.recipe))


class Arrays(FolderCase):
    def test_calibration_is_mapping(self):
        path = write_scan(self.folder, spectra())
        given = ox.open(path, calibration={"background": np.arange(256), "k_polynomial": [0, 255]})
        self.assertEqual((list(given.calibration), given.calibration.k_polynomial),
                         (["background", "k_polynomial"], (0.0, 255.0)))
        calibration = ox.open(path).calibration
        self.assertEqual(list(calibration), [])
        calibration["k_positions"] = np.linspace(0, 255, 256)
        calibration["background"] = list(range(256))
        self.assertEqual(sorted(calibration), ["background", "k_positions"])
        np.testing.assert_array_equal(calibration["background"], np.arange(256.0))
        del calibration["background"]
        self.assertNotIn("background", calibration)
        for name in ("background", "k_map", ""):
            with self.assertRaises(KeyError):
                calibration[name]
        with self.assertRaises(ox.BadSetting):
            calibration["dark"] = [np.nan] * 256
