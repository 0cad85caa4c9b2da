"""Bad input: one clear line naming file, key and expectation, a nonzero exit code, nothing written and nothing lost."""
import threading
import time
import unittest

import numpy as np

from support import Finished, ProgramCase, extend, read_volume, start, write_scan


def write_numbers(path, values):
    path.write_text("".join(f"{value}\n" for value in values))
    return path.name


class BadScanFile(ProgramCase):
    def refuse_scan(self, scan, names, **how):
        self.refuse("reconstruct", scan, "-o", "v.nrrd", names=names, **how)
        self.refuse("info", scan, names=names, **how)

    def test_missing_scan(self):
        self.refuse_scan("nowhere.toml", ["nowhere.toml"])

    def test_missing_spectra(self):
        scan = write_scan(self.folder)
        (self.folder / "spectra.raw").unlink()
        self.refuse_scan(scan, ["spectra.raw"])

    def test_truncated_spectra_report_a_scan(self):
        scan = write_scan(self.folder)
        raw = (self.folder / "spectra.raw").read_bytes()
        line = 256 * 2
        # 29 complete A-scans: 2 B-scans of 12, and 5 more.
        (self.folder / "spectra.raw").write_bytes(raw[: 29 * line + 100])
        finished = self.refuse("reconstruct", scan, "-o", "v.nrrd", names=["spectra.raw", "a-scan"])
        self.assertRegex(finished.err, r"\b(29|30|5|6)\b")

    def test_empty_spectra(self):
        scan = write_scan(self.folder)
        (self.folder / "spectra.raw").write_bytes(b"")
        self.refuse_scan(scan, ["spectra.raw"])

    def test_folder_instead_of_spectra(self):
        scan = write_scan(self.folder)
        (self.folder / "spectra.raw").unlink()
        (self.folder / "spectra.raw").mkdir()
        self.refuse_scan(scan, ["spectra.raw"])

    def test_growing_spectra(self):
        scan = write_scan(self.folder, np.zeros((1, 64, 256), "<u2"), scan={"b_scans": 8000}, recipe={"depth_end": 8})
        extend(self.folder / "spectra.raw", 8000 * 64 * 256 * 2)
        over = threading.Event()

        def grow():
            with open(self.folder / "spectra.raw", "ab") as raw:
                while not over.wait(0.002):
                    raw.write(bytes(512))
                    raw.flush()

        growth = threading.Thread(target=grow)
        growth.start()
        finished = Finished(start("reconstruct", scan, "-o", "v.nrrd", folder=self.folder))
        over.set()
        growth.join()
        self.assertGreater(finished.code, 0, finished)
        self.assertIn("spectra.raw", finished.error_lines[-1])
        self.assertEqual(self.files(), ["scan.toml", "spectra.raw"])

    def test_malformed_toml_reports_line(self):
        scan = write_scan(self.folder)
        scan.write_text("[scan]\nfile = \"spectra.raw\"\nsamples == 3\n")
        self.refuse_scan(scan, ["scan.toml", "3"])

    def test_binary_data_as_toml(self):
        (self.folder / "scan.toml").write_bytes(bytes(range(256)) * 16)
        self.refuse_scan("scan.toml", ["scan.toml"])

    def test_rejects_tables_and_notes(self):
        """The error of a TOML parser would not help here."""
        for name, text in (("a-scan.csv", "depth_um,value\n0,5\n"), ("mean.csv", "# Echolux spectrum: counts\n1\n2\n" * 900),
                           ("notes.txt", "ask Anna\n")):
            (self.folder / name).write_text(text)
            finished = self.refuse("info", name, names=[name, "without any [section]"])
            self.assertNotIn("Error while parsing", finished.err)

    def test_folder_suggests_its_scan(self):
        (self.folder / "recording").mkdir()
        self.refuse("info", "recording", names=["recording", "contains no volume files"])
        write_scan(self.folder / "recording")
        for line in (["info", "recording"], ["reconstruct", "recording", "-o", "v.nrrd"]):
            self.refuse(*line, names=['did you mean "recording/scan.toml"?'])

    def test_misspelt_key_gets_near_one(self):
        scan = write_scan(self.folder, recipe={"windw": "hann"})
        self.refuse_scan(scan, ["scan.toml", "windw", "window"])

    def test_unknown_section(self):
        scan = write_scan(self.folder)
        scan.write_text(scan.read_text() + "[recipes]\nwindow = \"hann\"\n")
        self.refuse_scan(scan, ["scan.toml", "recipes"])

    def test_wrong_type(self):
        self.refuse_scan(write_scan(self.folder, scan={"samples": "many"}), ["scan.toml", "samples"])

    def test_unknown_choice_lists_choices(self):
        scan = write_scan(self.folder, recipe={"window": "hanning"})
        self.refuse_scan(scan, ["scan.toml", "window", "hanning", "hann"])

    def test_zero_and_missing_dimensions(self):
        for key in ["samples", "a_scans", "b_scans"]:
            for value in [0, None]:
                with self.subTest(key=key, value=value):
                    self.refuse_scan(write_scan(self.folder, scan={key: value}), [key])

    def test_negative_dimension(self):
        self.refuse_scan(write_scan(self.folder, scan={"a_scans": -12}), ["a_scans"])

    def test_absurd_dimensions_are_refused_at_once(self):
        begin = time.monotonic()
        self.refuse_scan(write_scan(self.folder, scan={"a_scans": 16000000, "b_scans": 16000000}), ["spectra.raw"])
        self.refuse_scan(write_scan(self.folder, scan={"samples": 10**18}), ["samples"])
        self.assertLess(time.monotonic() - begin, 60)

    def test_missing_channel(self):
        self.refuse_scan(write_scan(self.folder, scan={"channels": 1, "channel": 1}), ["channel"])


class BadCalibration(ProgramCase):
    def refuse_calibration(self, key, values, names, recipe=None):
        file = write_numbers(self.folder / f"{key}.csv", values)
        scan = write_scan(self.folder, calibration={key: file}, recipe=recipe)
        self.refuse("reconstruct", scan, "-o", "v.nrrd", names=names)

    def test_missing_file(self):
        scan = write_scan(self.folder, calibration={"k_map": "nowhere.csv"})
        self.refuse("reconstruct", scan, "-o", "v.nrrd", names=["nowhere.csv"])

    def test_k_map_with_nan(self):
        positions = np.arange(256.0)
        positions[100] = np.nan
        self.refuse_calibration("k_map", positions, ["k_map"], {"resample": "linear"})

    def test_non_monotonic_k_map(self):
        positions = np.arange(256.0)
        positions[[100, 101]] = positions[[101, 100]]
        self.refuse_calibration("k_map", positions, ["k_map.csv", "calibration.k_map", "101"], {"resample": "linear"})

    def test_k_map_of_wrong_length(self):
        self.refuse_calibration("k_map", np.arange(200.0), ["k_map", "200", "256"], {"resample": "linear"})

    def test_dispersion_of_wrong_length(self):
        self.refuse_calibration("dispersion", np.zeros(255), ["dispersion", "255", "256"])

    def test_background_of_wrong_length(self):
        self.refuse_calibration("background", np.ones(257), ["background", "257", "256"], {"background": "stored"})

    def test_non_monotonic_wavelengths(self):
        wavelengths = np.linspace(800, 900, 256)
        wavelengths[5] = wavelengths[7]
        self.refuse_calibration("wavelengths", wavelengths, ["wavelengths"], {"resample": "linear"})

    def test_words_instead_of_numbers(self):
        self.refuse_calibration("dispersion", ["zero"] * 256, ["dispersion"])

    def test_missing_stored_background(self):
        scan = write_scan(self.folder, recipe={"background": "stored"})
        self.refuse("reconstruct", scan, "-o", "v.nrrd", names=["background"])

    def test_physical_dispersion_without_scale(self):
        scan = write_scan(self.folder, recipe={"gdd_fs2": 500})
        self.refuse("reconstruct", scan, "-o", "v.nrrd", names=["gdd_fs2"])


class BadRequest(ProgramCase):
    def setUp(self):
        super().setUp()
        self.scan = write_scan(self.folder)

    def refuse_reconstruct(self, *options, names):
        self.refuse("reconstruct", self.scan, "-o", "v.nrrd", *options, names=names)

    def test_depth_crop_outside_range(self):
        for begin, end in [(0, 4000), (500, 0), (60, 50), (60, 60)]:
            with self.subTest(begin=begin, end=end):
                self.refuse_reconstruct("--set", f"recipe.depth_begin={begin}", "--set", f"recipe.depth_end={end}",
                                        names=["recipe.depth_"])

    def test_assignments(self):
        for assignment, names in [
            ("recipe.windw=hann", ["recipe.windw", "recipe.window"]),
            ("recipe.window=triangle", ["recipe.window", "triangle"]),
            ("recipe.zero_padding=3", ["recipe.zero_padding"]),
            ("recipe.tukey_alpha=2", ["recipe.tukey_alpha"]),
            ("recipe.tukey_alpha=nan", ["recipe.tukey_alpha"]),
            ("recipe.upsample=two", ["recipe.upsample", "two"]),
            ("recipe.window", ["recipe.window"]),
        ]:
            with self.subTest(assignment=assignment):
                self.refuse_reconstruct("--set", assignment, names=names)

    def test_blocks_outside_scan(self):
        for blocks in ["0:5", "3:3", "4:2", "-1:2", "x:y", "2"]:
            with self.subTest(blocks=blocks):
                self.refuse_reconstruct(f"--blocks={blocks}", names=["blocks"])

    def test_volume_outside_scan(self):
        self.refuse_reconstruct("--volume", 1, names=["volume"])

    def test_reports_single_volume_of_several(self):
        """Reconstructing only one of several volumes used to go unnoticed."""
        fringes = np.zeros((4, 3, 4, 256), "<u2") + np.arange(256, dtype="<u2")
        write_scan(self.folder, fringes.reshape(12, 4, 256), name="many.toml", scan={"b_scans": 3, "volumes": 4})
        told = self.succeed("reconstruct", "many.toml", "-o", "one.nrrd").out
        self.assertIn("volume 0 of 4; --volume all", told)
        for words in (["--volume", "0"], ["--volume", "all"]):
            self.assertNotIn("of 4", self.succeed("reconstruct", "many.toml", "-o", "one.nrrd", *words).out)

    def test_b_scan_outside_scan(self):
        self.refuse("reconstruct", self.scan, "-o", "b.png", "--b-scan", 4, names=["b-scan"])

    def test_en_face_outside_depth(self):
        self.refuse("reconstruct", self.scan, "-o", "e.png", "--en-face", "100:300", names=["en-face"])

    def test_unknown_output_format(self):
        self.refuse("reconstruct", self.scan, "-o", "v.xyz", names=["v.xyz"])

    def test_output_below_file(self):
        self.refuse("reconstruct", self.scan, "-o", "/dev/null/v.nrrd", names=["/dev/null"])

    def test_more_gpus_than_present(self):
        reconstruct = ["reconstruct", self.scan, "-o", "v.nrrd", "--gpus"]
        self.refuse(*reconstruct, 99, names=["--gpus", "99 GPUs"])
        self.refuse(*reconstruct, 2, "--backend", "cpu", names=["--gpus", "cpu"])
        self.refuse(*reconstruct, -1, names=["--gpus"])
        self.refuse(*reconstruct, "0,99", names=["--gpus", "no GPU"])
        self.refuse("live", "--source", "sim", "--seconds", 1, "--gpus", 99, names=["--gpus", "99 GPUs"])

    def test_unknown_command_and_option(self):
        self.refuse("reconstrct", self.scan, names=["reconstrct"])
        self.refuse("reconstruct", self.scan, "-o", "v.nrrd", "--quanttiy", "db", names=["--quanttiy"])

    def test_options_without_effect(self):
        self.refuse_reconstruct("--range", "0:40", names=["--range", "pictures", "convert"])
        self.succeed("reconstruct", self.scan, "-o", "v.nrrd")
        self.refuse("convert", "v.nrrd", "w.nii", "--ome-version", "0.5", names=["NIfTI", "--ome-version"])
        self.succeed("convert", "v.nrrd", "w.ome.zarr", "--ome-version", "0.5")

    def test_invalid_figures(self):
        self.succeed("reconstruct", self.scan, "-o", "v.nrrd")
        figure = ["figure", "v.nrrd", "-o"]
        self.refuse(*figure, "f.png", "--low", 5, "--high", 1, names=["figure.low", "figure.high", "5 to 1"])
        for rows in ["0:5000", "-5000:3", "128:200"]:
            self.refuse(*figure, "f.png", f"--en-face={rows}", "--from-surface", names=["--en-face", "128 rows"], lines=None)
        self.refuse(*figure, "t.csv", "--a-scan", 6, names=["--a-scan", "A-scan and B-scan"])

    def test_files_of_another_kind(self):
        (self.folder / "noise.bin").write_bytes(bytes(range(256)) * 100)
        (self.folder / "empty").mkdir()
        self.refuse("info", "noise.bin", names=["noise.bin", "neither", "--guess"])
        self.refuse("reconstruct", "noise.bin", "-o", "v.nrrd", names=["noise.bin", "neither", "--guess"])
        self.refuse("reconstruct", "empty", "-o", "v.nrrd", names=["empty", "is a folder"])
        self.refuse("info", "empty", names=["empty", "contains no volume files"])
        self.succeed("reconstruct", self.scan, "-o", "series/v0.nrrd")
        self.succeed("convert", "series/v0.nrrd", "series/v1.nrrd")
        self.assertRegex(self.succeed("info", "series").out, r"time points +2")
        self.refuse("reconstruct", "series/v0.nrrd", "-o", "w.nrrd", names=["is a volume", "convert"])
        self.succeed("reconstruct", self.scan, "-o", "b.png", "--b-scan", 1)
        self.assertRegex(self.succeed("info", "b.png").out, r"pixels +[0-9a-f]{16}")

    def test_missing_argument(self):
        self.refuse("reconstruct", self.scan)
        self.refuse("simulate", "vessel")

    def test_unknown_scene(self):
        self.refuse("simulate", "vesel", "--out", "s.toml", names=["vesel"])

    def test_cuda_without_gpu(self):
        told = self.run_program("reconstruct", self.scan, "-o", "v.nrrd", "--backend", "cuda")
        if told.code == 0:
            self.assertEqual(read_volume(self.folder / "v.nrrd").shape, (4, 12, 128))
            self.skipTest("this machine has a CUDA backend")
        self.assertEqual(len(told.error_lines), 1, told)
        self.assertIn("cuda", told.err.lower())

    def test_existing_result_survives_refused_request(self):
        self.succeed("reconstruct", self.scan, "-o", "v.nrrd")
        before = (self.folder / "v.nrrd").read_bytes()
        self.refuse_reconstruct("--set", "recipe.depth_end=4000", names=["depth_end"])
        self.assertEqual((self.folder / "v.nrrd").read_bytes(), before)
        self.assertTrue(np.isfinite(read_volume(self.folder / "v.nrrd")).all())


class BadVolume(ProgramCase):
    def test_missing_volume(self):
        self.refuse("render", "nowhere.nrrd", "-o", "p.png", names=["nowhere.nrrd"])

    def test_rubbish_in_each_format(self):
        for name in ["v.nrrd", "v.nii", "v.nii.gz", "v.tif", "v.mha"]:
            with self.subTest(name=name):
                (self.folder / name).write_bytes(b"rubbish " * 100)
                self.refuse("render", name, "-o", "p.png", names=[name])

    def test_truncated_volume_in_each_format(self):
        scan = write_scan(self.folder)
        for name in ["v.nrrd", "v.nii", "v.tif", "v.mha"]:
            with self.subTest(name=name):
                self.succeed("reconstruct", scan, "-o", name)
                whole = (self.folder / name).read_bytes()
                (self.folder / name).write_bytes(whole[: len(whole) // 2])
                self.refuse("render", name, "-o", "p.png", names=[name])

    def test_absurd_picture_sizes(self):
        self.succeed("reconstruct", write_scan(self.folder), "-o", "v.nrrd")
        for size in ["0x10", "-5x5", "10", "axb", "1000000x1000000"]:
            with self.subTest(size=size):
                self.refuse("render", "v.nrrd", "-o", "p.png", f"--size={size}", names=["size"])

    def test_unknown_mode_and_preset(self):
        self.succeed("reconstruct", write_scan(self.folder), "-o", "v.nrrd")
        self.refuse("render", "v.nrrd", "-o", "p.png", "--mode", "holographic", names=["holographic"])
        self.refuse("render", "v.nrrd", "-o", "p.png", "--preset", "nowhere", names=["nowhere"])

    def test_surface_above_all_values(self):
        self.succeed("reconstruct", write_scan(self.folder), "-o", "v.nrrd")
        render = ["render", "v.nrrd", "-o", "p.png", "--size", "16x16", "--mode", "isosurface", "--isovalue"]
        self.assertIn("no surface is visible", self.succeed(*render, 4000).err)
        self.assertNotIn("no surface", self.succeed(*render, 10).err)

    def test_movie_without_pictures(self):
        self.refuse("render", "v.nrrd", "--movie", "m.mp4", "--frames", 0, names=["--frames", "1"])

    def test_repeated_option(self):
        self.refuse("render", "v.nrrd", "-o", "p.png", "-o", "q.png", names=["--output", "more than once"])


if __name__ == "__main__":
    unittest.main()
