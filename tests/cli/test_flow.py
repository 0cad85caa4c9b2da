"""Flow through a vessel from the command line: values over time, the heart rate, and input that contains neither."""
import csv
import json
import tomllib
import unittest

import numpy as np

from commands import tube_velocities
from support import ProgramCase, read_png
from test_segment import write_nrrd

RADIUS_UM, PEAK = 25, 10
TRUE_UL_S = np.pi * RADIUS_UM**2 * PEAK / 2 * 1e-6


def rows_of(path):
    return list(csv.DictReader(line for line in path.read_text().splitlines() if not line.startswith("#")))


class Flow(ProgramCase):
    def put(self, name, factor=1.0, slope=0.2, b_scans=12, unit="mm/s", noise=0.01, seed=1, **spacing):
        velocities = factor * tube_velocities(32, b_scans, 64, RADIUS_UM, PEAK, slope)
        velocities += np.random.default_rng(seed).normal(0, noise, velocities.shape)
        write_nrrd(self.folder / name, velocities, unit=unit, quantity="velocity", **spacing)

    def beats(self, volumes, hz=1.2, step_s=0.1):
        for v in range(volumes):
            self.put(f"v_{v:03}.nrrd", 1 + 0.5 * np.sin(2 * np.pi * hz * step_s * v), seed=v)

    def test_single_volume_has_flow_without_heart_rate(self):
        self.put("v.nrrd")
        told = self.succeed("flow", "v.nrrd", "--through", "16,6,32", "-o", "q.csv", "--plot", "q.svg")
        row = rows_of(self.folder / "q.csv")[0]
        self.assertAlmostEqual(float(row["flow_ul_s"]) / TRUE_UL_S, 1, delta=0.04)
        self.assertEqual(row["reason"], "ok")
        self.assertIn("no heart rate: a single volume", told.out)
        self.assertIn("Echolux", (self.folder / "q.svg").read_text()[-100:])
        found = json.loads(self.succeed("flow", "v.nrrd", "--json").out)
        self.assertAlmostEqual(found["angle_deg"], 90 - np.degrees(np.arctan(0.2)), delta=0.6)
        self.assertIsNone(found["heart_rate_hz"])

    def test_series_has_heart_rate(self):
        self.beats(40)
        found = json.loads(self.succeed("flow", "v_*.nrrd", "--step", "0.1", "-o", "q.csv", "--json").out)
        self.assertAlmostEqual(found["heart_rate_hz"] / 1.2, 1, delta=0.02)
        self.assertAlmostEqual(found["pulsatility"], 1, delta=0.05)
        rows = rows_of(self.folder / "q.csv")
        times = np.array([float(row["time_s"]) for row in rows])
        self.assertEqual(len(rows), 40)
        begins = 0.1 * np.arange(40)
        np.testing.assert_allclose(times - begins, 0.05, atol=0.01)
        expected = TRUE_UL_S * (1 + 0.5 * np.sin(2 * np.pi * 1.2 * begins))
        np.testing.assert_allclose([float(row["flow_ul_s"]) for row in rows], expected, rtol=0.05)
        self.succeed("flow", "v_*.nrrd", "--step", "0.1", "--each", "b-scan", "-o", "b.csv")
        self.assertEqual(len(rows_of(self.folder / "b.csv")), 40 * 12)

    def test_streaks_follow_vessel_and_pulse(self):
        self.beats(10)
        self.succeed("flow", "v_*.nrrd", "--step", "0.1", "--streaks", "s.toml")
        view = tomllib.loads((self.folder / "s.toml").read_text())["view"]
        course = np.array(view["flow_streaks"]).reshape(-1, 5)
        slope = np.polyfit(course[:, 3], course[:, 1], 1)[0]  # depth over B-scans, as in the velocities
        self.assertAlmostEqual(abs(slope), 0.2, delta=0.02)
        mean = PEAK / 2 * np.hypot(1, 0.2)
        np.testing.assert_allclose(course[:, 4], mean, rtol=0.2)  # the segmented lumen excludes its rim
        times, pulse = np.array(view["streak_pulse"]).reshape(-1, 2).T
        expected = 1 + 0.5 * np.sin(2 * np.pi * 1.2 * 0.1 * np.arange(10))
        np.testing.assert_allclose(pulse, expected / expected.mean(), rtol=0.05)
        np.testing.assert_allclose(np.diff(times), 0.1, atol=0.01)

    def test_uneven_intervals_leave_times_of_b_scans_unknown(self):
        self.beats(4)
        self.succeed("convert", "v_*.nrrd", "all.nrrd")
        written = (self.folder / "all.nrrd").read_bytes()
        first, rest = written.split(b"\n", 1)
        (self.folder / "all.nrrd").write_bytes(first + b"\necholux_times_s:=0 0.1 0.35 0.45\n" + rest)
        self.succeed("flow", "all.nrrd", "-o", "q.csv")
        times = [float(row["time_s"]) for row in rows_of(self.folder / "q.csv")]
        np.testing.assert_allclose(times, [0, 0.1, 0.35, 0.45], atol=1e-6)
        self.refuse("flow", "all.nrrd", "--each", "b-scan", "-o", "b.csv", lines=None, names=["--each", "uneven"])
        self.succeed("flow", "all.nrrd", "--each", "b-scan", "--step", "0.1", "-o", "b.csv")
        (self.folder / "all.nrrd").write_bytes(first + b"\necholux_times_s:=0.1 0.2 0.3 0\n" + rest)
        self.refuse("flow", "all.nrrd", "-o", "q.csv", lines=None, names=["all.nrrd", "after 0.3 s comes 0 s", "--step"])

    def test_reports_reason_without_flow(self):
        self.put("v.nrrd")
        self.put("flat.nrrd", slope=0.02, noise=0.0005)
        self.put("single.nrrd", b_scans=1)
        self.put("two.nrrd", b_scans=2)
        self.put("structure.nrrd", unit="dB")
        self.put("noise.nrrd", factor=0)
        write_nrrd(self.folder / "nothing.nrrd", np.zeros((12, 32, 64)), unit="mm/s", quantity="velocity")
        for arguments, names in [
            (["flat.nrrd"], ["degrees to the beam", "90"]),
            (["single.nrrd"], ["single B-scan", "angle"]),
            (["two.nrrd"], ["two B-scans", "noise"]),
            (["structure.nrrd"], ["velocities in mm/s", "echolux reconstruct"]),
            (["nothing.nrrd"], ["no flow above the noise"]),
            (["noise.nrrd", "--through", "16,6,32"], []),
            (["v.nrrd", "--through", "2,6,5"], ["--through", "no flow above the noise"]),
            (["v.nrrd", "--through", "200,6,5"], ["--through", "outside"]),
            (["v.nrrd", "--through", "2,6"], ["--through", "A,B,ROW"]),
            (["v.nrrd", "--structure", "single.nrrd"], ["single.nrrd", "another size"]),
            (["v.nrrd", "single.nrrd"], ["single B-scan"]),
            (["gone.nrrd"], ["gone.nrrd"]),
        ]:
            with self.subTest(arguments=arguments):
                self.refuse("flow", *arguments, "-o", "q.csv", lines=None, names=names)
                self.assertFalse((self.folder / "q.csv").exists())

    def test_short_series_has_no_heart_rate(self):
        self.beats(8)
        short = json.loads(self.succeed("flow", "v_*.nrrd", "--step", "0.1", "--json").out)
        self.assertIsNone(short["heart_rate_hz"])
        self.assertIn("cannot contain two beats", short["no_heart_rate"])
        unknown = json.loads(self.succeed("flow", "v_*.nrrd", "--json").out)
        self.assertIn("do not say when", unknown["no_heart_rate"])

    def test_settings_are_listed_and_applied(self):
        self.assertIn("`cross_section.margin_um`", self.succeed("info", "--settings").out)
        self.put("v.nrrd")
        self.succeed("flow", "v.nrrd", "--set", "cross_section.margin_um=0")
        self.refuse("flow", "v.nrrd", "--heart-min-hz", "3", lines=None, names=["heart_max_hz"])

    def test_slow_movie_through_time_shows_flow_of_each_volume(self):
        for v, factor in enumerate((1, 0, 1)):
            self.put(f"v_{v}.nrrd", factor, noise=0)
            write_nrrd(self.folder / f"s_{v}.nrrd", np.zeros((12, 32, 64)))
        self.succeed("convert", "v_*.nrrd", "velocity.nrrd")
        self.succeed("convert", "s_*.nrrd", "structure.nrrd")
        movie = ["render", "structure.nrrd", "--movie", "f_%02d.png", "--path", "time", "--frames", "3", "--size", "32x32", "--flow-range", "2"]
        self.succeed(*movie, "--flow", "velocity.nrrd")
        frames = [(self.folder / f"f_{i:02}.png") for i in range(3)]
        colours = [read_png(frame)[..., :3].astype(int) for frame in frames]
        self.assertGreater(np.ptp(colours[0], axis=2).max(), 100)  # orange
        self.assertLess(np.ptp(colours[1], axis=2).max(), 40)
        np.testing.assert_array_equal(colours[0], colours[2])
        self.refuse(*movie, "--flow", "v_0.nrrd", "--overwrite", lines=None, names=["--flow", "1 time point"])


if __name__ == "__main__":
    unittest.main()
