"""`echolux validate`: the page that it writes, its exit code, and mirrors measured in a laboratory."""
import importlib.util
import json
import os
import re
import signal
import unittest
from pathlib import Path

import numpy as np
from scipy.interpolate import CubicSpline

from scans import write_nrrd, write_scan
from support import Finished, ProgramCase, start

DATA = os.environ.get("ECHOLUX_DATA")
PAGE_MAKER = Path(__file__).resolve().parents[2] / "docs" / "validation.py"
N = 1024
U = np.linspace(-1, 1, N)
K = 2 * np.pi / (0.845 + 0.06 * U + 0.0025 * (U**2 - 1))  # rad/um of each sample, descending
KAPPA = 2 * (K - K[-1]) / (K[0] - K[-1]) - 1
SOURCE = 2400 * np.exp(-((KAPPA / 0.7) ** 2))
DARK, A2 = 300.0, 40.0


def checks(page):
    """Maps the first column of each check to its result. Columns: check, our value, expected, limit, passed or
    FAILED."""
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if re.match(r"\|.*(passed|FAILED)", line)]
    return {row[0]: row[-1].strip("* |") for row in rows}

RECORDINGS = Path(DATA or "") / "real"


def boundary_figures(rows, is_ok, known):
    """Shares within 3 and 5 rows, mean error, share marked ok, and false ok, counted apart from the program."""
    there = ~np.isnan(known)
    off = np.abs(rows - known)[there]
    sure = is_ok[there]
    found = off[~np.isnan(off)]
    return [np.mean(off <= 3), np.mean(off <= 5), found.mean(), sure.mean(), np.mean(off[sure] > 8) if sure.any() else 0]


class Validate(ProgramCase):
    def write_mirror(self, name, depth_um, a2=A2, fringe=0.3):
        """Writes a mirror scan of 8 lines. `a2` is the value in its recipe, A2 the true one."""
        noise = np.random.default_rng(7).normal(0, 2, (1, 8, N))
        fringe = fringe * np.cos(2 * K * depth_um + A2 * KAPPA**2)
        spectra = np.rint(DARK + SOURCE * (1 + fringe) + noise).astype("<u2")
        folder = self.folder / name
        files = {"background": DARK + SOURCE, "dark": np.full(N, DARK), "wavelengths": 2000 * np.pi / K}
        scan = write_scan(folder, spectra, calibration={key: f"{key}.csv" for key in files},
                          recipe={"resample": "spline", "a2_rad": a2})
        for key, values in files.items():
            np.savetxt(folder / f"{key}.csv", values)
        return scan

    def test_quick_checks_and_mirrors_pass(self):
        deep_um = 0.7 * np.pi / 2 * (N - 1) / (K[0] - K[-1])  # of the range
        mirrors = [self.write_mirror("near", 120), self.write_mirror("far", 400), self.write_mirror("deep", deep_um)]
        self.succeed("validate", "--quick", "--backend", "cpu", "-o", "page.md", "--mirrors", *mirrors)
        page = (self.folder / "page.md").read_text()
        found = checks(page)
        self.assertGreater(len(found), 100)
        self.assertEqual(set(found.values()), {"passed"})
        for topic in ["Roll-off", "Artefacts", "Axial", "NUFFT", "Full range", "Compressive", "Doppler", "Recorded mirrors",
                      "Full range of recorded mirrors"]:
            self.assertIn(f"## {topic}", page)
        self.assertRegex(page, r"version \d+\.\d+\.\d+, on cpu \(")
        table = page.split("<!-- axial:begin -->")[1].split("<!-- axial:end -->")[0]
        self.assertIn("| near: FWHM, side lobes | far: FWHM, side lobes | deep: FWHM, side lobes |", table)
        self.assertIn("deep, linear: level beside exact", found)
        self.assertNotIn("near, exact NUDFT: level beside exact", found)  # it would be compared with itself
        self.assertNotIn("near, NUFFT: side lobes", found)
        for method in ["linear", "Lagrange-3", "spline", "up-sampled by 2, linear", "NUFFT", "exact NUDFT"]:
            self.assertRegex(table, rf"\n\| {method} \|( [\d.]+ bins, -[\d.]+ dB \|){{5}}\n")

    def test_slow_wrong_dispersion_fails_rows_and_command(self):
        wrong = self.write_mirror("wrong", 400, a2=-A2)
        finished = self.run_program("validate", "--quick", "--backend", "cpu", "-o", "page.md", "--mirrors", wrong)
        self.assertEqual(finished.code, 1, finished)
        self.assertRegex(finished.error_lines[-1], r"page\.md: \d+ checks failed, the first: wrong, linear: FWHM")
        found = checks((self.folder / "page.md").read_text())
        failed = [what for what, verdict in found.items() if verdict == "FAILED"]
        self.assertTrue(failed)
        self.assertTrue(all(what.startswith("wrong") for what in failed), failed)

    def test_slow_level_follows_sample_positions(self):
        """Compares with NumPy's linear interpolation of the same fringe."""
        span = (K[0] - K[-1]) / (N - 1)
        grid = K[-1] + span * np.arange(N)
        sample = CubicSpline(K[::-1], np.arange(N)[::-1])(grid)
        window = np.hanning(N) * np.interp(grid, K[::-1], SOURCE[::-1])
        place = (K - K[-1]) / span
        shares = (0.55, 0.7)
        scans = [self.write_mirror(f"m{share}", share * np.pi / 2 / span) for share in shares]
        page = self.succeed("validate", "--quick", "--backend", "cpu", "--mirrors", *scans).out
        for share in shares:
            z = share * N / 2
            left = np.minimum(np.floor(sample).astype(int), N - 2)
            turn = np.exp(2j * np.pi * z / N * place)
            mixed = turn[left] + (sample - left) * (turn[left + 1] - turn[left])
            level = np.abs(np.sum(window * mixed * np.exp(-2j * np.pi * z / N * np.arange(N)))) / window.sum()
            expected = float(re.search(rf"m{share}, linear: level beside exact \| \S+ dB \| (\S+) \|", page)[1])
            self.assertAlmostEqual(expected, 20 * np.log10(level), delta=0.02)

    def test_a_scan_without_mirror_is_refused(self):
        scan = self.write_mirror("none", 120, fringe=0)
        self.refuse("validate", "--quick", "--backend", "cpu", "--mirrors", scan, names=["none", "no peak of a mirror"], lines=None)

    def test_interruption_leaves_no_file(self):
        process = start("validate", "--backend", "cpu", "-o", "page.md", folder=self.folder)
        self.assertIn("validating", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        self.assertEqual(Finished(process).code, 130)
        self.assertEqual(self.files(), [])


@unittest.skipUnless(DATA, "ECHOLUX_DATA is not set")
class ValidateRealMirrors(ProgramCase):
    def test_slow_both_sides_of_zero_delay(self):
        spec = importlib.util.spec_from_file_location("page_maker", PAGE_MAKER)
        page_maker = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(page_maker)
        scans = [page_maker.write_mirror(self.folder / name, Path(DATA).resolve() / "sd-oct-volume", name, holds)
                 for name, holds in page_maker.MIRRORS.items()]
        page = self.succeed("validate", "--quick", "--backend", "cpu", "--mirrors", *scans).out
        found = checks(page)
        self.assertEqual(set(found.values()), {"passed"})
        self.assertIn("mirror1 and mirror2 (γ 0.86), false image of mirror1 at -48, 20 iterations", found)
        self.assertIn("mirror1 and mirror2 (γ 0.86), false image of mirror2 at 125, 20 iterations", found)


@unittest.skipUnless(DATA and RECORDINGS.exists(), "ECHOLUX_DATA does not name the folder with real/")
class ValidateRecordings(ProgramCase):
    def figures_of_line_scans(self, surface, line):
        """Means over the line scans of one surface, from the table of `segment`."""
        figures = []
        for path in sorted((RECORDINGS / "spectralis").glob("*.npz")):
            data = np.load(path)
            depth, across = (float(data[f"scale_{axis}_mm"]) for axis in "zx")
            write_nrrd(self.folder / "eye.nrrd", data["image"].astype("f4").T[None], (across, depth, 0.01), unit="", quantity="")
            self.succeed("segment", "eye.nrrd", "-o", "eye.csv", "--overwrite", "--preset", "retina")
            table = [row.split(",") for row in (self.folder / "eye.csv").read_text().splitlines() if f",{surface}," in row]
            rows = np.array([float(row[3]) / 1000 / depth if row[3] else np.nan for row in table])
            known = data["lines"][list(data["line_names"]).index(line)]
            figures.append(boundary_figures(rows, np.array([row[5] == "ok" for row in table]), known))
        return np.mean(figures, axis=0)

    def test_slow_figures_are_those_of_segment(self):
        # An earlier page is replaced without --overwrite.
        (self.folder / "page.md").write_text("# Validation\n\nWritten by the validation of Echolux, version 0.0.1, on cpu: 1 checks")
        finished = self.succeed("validate", "--quick", "--backend", "cpu", "--recordings", DATA, "-o", "page.md", "--json")
        rows = {(row["kind"], row["boundary"]): row for row in json.loads(finished.out)["real"]}
        self.assertEqual({kind for kind, _ in rows}, {"cirrus", "skin", "spectralis"})
        for surface, line in (("ILM", "ILM"), ("RPE-bottom", "BM")):
            row = rows["spectralis", surface]
            found = [row[key] for key in ("within_3", "within_5", "mean_rows", "ok", "false_ok")]
            np.testing.assert_allclose(found, self.figures_of_line_scans(surface, line), atol=2e-3)
        page = (self.folder / "page.md").read_text()
        self.assertIn("## Real recordings", page)
        self.assertIn("| spectralis | RPE-bottom | 4 |", page)
        self.assertIn("Not validated on real data", page)

    def test_folder_without_recordings_is_refused(self):
        self.refuse("validate", "--quick", "--recordings", self.folder, names=["holds no folder `real`"])
