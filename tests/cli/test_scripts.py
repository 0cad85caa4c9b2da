"""Features for scripts: --json and --quiet of every command, errors as JSON, `-` for standard input and output."""
import io
import json
import os
import subprocess
import unittest
import unittest.mock
from pathlib import Path

import numpy as np

import commands
from png_files import read_png
from scans import fringes, write_scan
from support import PROGRAM, read_nrrd


class AllCommands(commands.PreparedCase):
    def piped(self, *line, given=None):
        return subprocess.run([PROGRAM, *map(str, line)], cwd=self.folder, input=given, capture_output=True)

    # ---- --json

    def test_json_is_one_object_with_file_names(self):
        for case in commands.CASES:
            if case.is_long or case.command == "bench":
                continue
            with self.subTest(line=case.line()):
                finished = self.succeed(*case.line(), "--json")
                told = json.loads(finished.out)
                self.assertEqual(finished.err, "")
                if case.command not in ("live", "record"):
                    names = {name for _, name, _ in case.outputs}
                    self.assertEqual({str(name) for name in told["files"]}, names)
                    self.assertIsInstance(told["warnings"], list)

    def test_json_includes_warnings(self):
        """Warnings used to be missing from the JSON object."""
        line = ["reconstruct", "scan.toml", "-o", "r.nrrd", "--set", "flow.method=doppler", "--overwrite"]
        printed = [one for one in self.succeed(*line).error_lines if one.startswith("echolux: warning: ")]
        self.assertTrue(printed)
        told = json.loads(self.succeed(*line, "--json").out)["warnings"]
        self.assertEqual(["echolux: warning: " + one for one in told], printed)

    def test_info_lists_as_json(self):
        for words in (["scan.toml"], ["v.nrrd"], ["picture.png"], ["--settings"], ["--recipes"], ["--presets"],
                      ["--sources"], ["spectra.raw", "--guess"]):
            with self.subTest(words=words):
                self.assertTrue(json.loads(self.succeed("info", *words, "--json").out))

    def test_json_numbers_have_number_type(self):
        self.succeed("reconstruct", "scan.toml", "-o", "r.nrrd", "--set", "recipe.a2_rad=12.5")
        facts = json.loads(self.succeed("info", "r.nrrd", "--json").out)["facts"]
        self.assertEqual(facts["recipe.a2_rad"]["value"], 12.5)
        self.assertEqual(facts["scan.samples"]["value"], 256)
        self.assertIsInstance(facts["echolux"]["value"], str)
        self.assertIsInstance(facts["calibration.background_fnv1a64"]["value"], str)
        probe = self.succeed("render", "v.nrrd", "--size", "24x24", "--probe", "12,12", "--json")
        self.assertEqual(json.loads(probe.out)["probes"][0]["pixel"], [12, 12])
        of_mirrors = next(case for case in commands.CASES if case.command == "calibrate k")
        mirrors = json.loads(self.succeed(*of_mirrors.line(), "--json").out)["mirrors"]
        self.assertEqual(len(mirrors), 2)
        self.assertIsInstance(mirrors[0]["bin"], float)

    def test_slow_errors_are_json_with_four_fields(self):
        for case in commands.CASES:
            if case.command in ("bench", "serve"):  # bench has only its own JSON report, serve has no outputs
                continue
            for line, code, kind in (
                (case.line({case.outputs[0][0]: "no/such/" + Path(case.outputs[0][1]).name}), 1, "output"),
                ([*case.line(), "--no-such-option"], 2, "usage"),
            ):
                with self.subTest(line=line):
                    finished = self.run_program(*line, "--json")
                    self.assertEqual((finished.code, finished.out), (code, ""), finished)
                    error = json.loads(finished.err)["error"]
                    self.assertEqual(list(error), ["code", "what", "where", "remedy"])
                    self.assertEqual(error["code"], kind)
                    self.assertTrue(error["what"] and error["remedy"], error)

    # ---- --quiet

    def test_slow_quiet_prints_only_results_and_errors(self):
        for case in commands.CASES:
            if case.is_long:
                continue
            with self.subTest(line=case.line()):
                finished = self.succeed(*case.line(), "--quiet")
                self.assertEqual(finished.err, "")
                if case.command not in ("calibrate noise", "calibrate k", "calibrate dispersion", "calibrate rolloff",
                                        "bench", "validate"):
                    self.assertEqual(finished.out, "")
        finished = self.run_program("convert", "gone.nrrd", "c.nrrd", "--quiet")
        self.assertEqual((finished.code, len(finished.error_lines)), (1, 1))
        self.assertIn("samples", self.succeed("info", "scan.toml", "--quiet").out)

    # ---- warnings

    def test_background_is_reported_once_unless_chosen(self):
        """A fixed line as strong as the varying signal."""
        spectra = fringes()
        j = np.arange(spectra.shape[-1])
        spectra = np.clip(spectra + 9000 * np.cos(2 * np.pi * 60 * j / 256), 0, 65535).astype("<u2")
        write_scan(self.folder, spectra, name="line.toml")
        finished = self.succeed("reconstruct", "line.toml", "-o", "r.nrrd")
        warnings = [line for line in finished.error_lines if "warning" in line]
        self.assertEqual(len(warnings), 1, finished)
        self.assertLess(len(warnings[0]), 230)
        for chosen in ("frame_mean", "none"):
            finished = self.succeed("reconstruct", "line.toml", "-o", "r.nrrd", "--background", chosen)
            self.assertNotIn("warning", finished.err)

    # ---- standard streams

    def test_volumes_pictures_and_tables_on_standard_output(self):
        self.succeed("convert", "v.nrrd", "c.npy")
        expected = np.load(self.folder / "c.npy")
        for line in (["convert", "v.nrrd", "-"], ["reconstruct", "scan.toml", "-o", "-"]):
            with self.subTest(line=line):
                done = self.piped(*line)
                self.assertEqual(done.returncode, 0, done.stderr)
                np.testing.assert_array_equal(np.load(io.BytesIO(done.stdout)), expected)
        picture = self.piped("render", "v.nrrd", "--size", "24x24", "-o", "-").stdout
        (self.folder / "piped.png").write_bytes(picture)
        self.assertEqual(read_png(self.folder / "piped.png").shape, (24, 24, 4))
        for line in (["calibrate", "background", "scan.toml"], ["figure", "v.nrrd", "--a-scan", "1,1"]):
            self.succeed(*line, "-o", "file.csv", "--overwrite")
            self.assertEqual(self.piped(*line, "-o", "-").stdout, (self.folder / "file.csv").read_bytes())

    def test_volumes_and_spectra_from_standard_input(self):
        self.succeed("convert", "v.nrrd", "c.npy")
        for given in ("c.npy", "v.nrrd"):
            with self.subTest(given=given):
                done = self.piped("convert", "-", "again.nrrd", "--overwrite", given=(self.folder / given).read_bytes())
                self.assertEqual(done.returncode, 0, done.stderr)
                np.testing.assert_array_equal(read_nrrd(self.folder / "again.nrrd"), read_nrrd(self.folder / "v.nrrd"))
        raw = (self.folder / "spectra.raw").read_bytes()
        (self.folder / "spectra.raw").unlink()
        done = self.piped("reconstruct", "scan.toml", "--set", "scan.file=-", "-o", "r.nrrd", given=raw)
        self.assertEqual(done.returncode, 0, done.stderr)
        np.testing.assert_array_equal(read_nrrd(self.folder / "r.nrrd"), read_nrrd(self.folder / "v.nrrd"))

    def test_mean_spectrum_from_standard_input(self):
        line = ["calibrate", "k", "m1.csv", "m2.csv", "--sides", "same", "-o", "k.csv", "--overwrite", "--background"]
        self.succeed(*line, "mb.csv")
        expected = (self.folder / "k.csv").read_bytes()
        self.assertEqual(self.piped(*line, "-", given=(self.folder / "mb.csv").read_bytes()).returncode, 0)
        self.assertEqual((self.folder / "k.csv").read_bytes(), expected)

    def test_streams_have_readable_names(self):
        """Messages must not show the temporary files behind them."""
        for line in (["reconstruct", "scan.toml", "-o", "-"], ["convert", "v.nrrd", "-"],
                     ["render", "v.nrrd", "--size", "24x24", "-o", "-"], ["figure", "v.nrrd", "--a-scan", "1,1", "-o", "-"],
                     ["calibrate", "background", "scan.toml", "-o", "-"]):
            with self.subTest(line=line):
                told = self.piped(*line).stderr.decode()
                self.assertIn("standard output", told)
                self.assertNotIn("stdout", told)
        for given, problem in ((b"", "standard input: is empty"), (b"no volume", "standard input: is not")):
            for more in ([], ["--json"]):
                told = self.piped("convert", "-", "c.nrrd", *more, given=given).stderr.decode()
                self.assertNotIn("stdin", told)
                error = json.loads(told)["error"] if more else None
                self.assertIn(problem, f"{error['where']}: {error['what']}" if error else told)

    def test_stream_carries_only_one_result(self):
        for line in (["calibrate", "k", "-", "-", "--background", "mb.csv", "--sides", "same", "-o", "k.csv"],
                     ["convert", "v.nrrd", "-", "--json"],
                     ["calibrate", "background", "scan.toml", "-o", "-", "--json"],
                     ["calibrate", "k", "m1.csv", "m2.csv", "--background", "mb.csv", "--sides", "same", "-o", "-",
                      "--dispersion", "-"]):
            with self.subTest(line=line):
                done = self.piped(*line, given=b"1\n2\n")
                self.assertEqual((done.returncode, done.stdout), (1, b""), done.stderr)
                self.assertIn(b"standard", done.stderr)

    def test_temporary_folder_is_empty_afterwards(self):
        scratch = self.folder / "scratch"
        scratch.mkdir()
        with unittest.mock.patch.dict(os.environ, TMPDIR=str(scratch)):
            self.piped("convert", "v.nrrd", "-")
            self.piped("convert", "-", "-", given=b"no volume")
        self.assertEqual(list(scratch.iterdir()), [])
