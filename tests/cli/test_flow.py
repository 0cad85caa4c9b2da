"""Flow from the command line: times of the volumes, and movies that show it."""
import csv
import tomllib

import numpy as np

from png_files import read_png
from scans import tube_velocities, write_nrrd
from support import ProgramCase


def rows_of(path):
    return list(csv.DictReader(line for line in path.read_text().splitlines() if not line.startswith("#")))


class Flow(ProgramCase):
    def put(self, name, factor=1.0):
        write_nrrd(self.folder / name, factor * tube_velocities(32, 12, 64), unit="mm/s", quantity="velocity")

    def test_uneven_intervals_leave_times_of_b_scans_unknown(self):
        for v in range(4):
            self.put(f"v_{v}.nrrd", 1 + 0.1 * v)
        self.succeed("convert", "v_*.nrrd", "all.nrrd")
        written = (self.folder / "all.nrrd").read_bytes()
        first, rest = written.split(b"\n", 1)
        (self.folder / "all.nrrd").write_bytes(first + b"\necholux_times_s:=0 0.1 0.35 0.45\n" + rest)
        self.succeed("flow", "all.nrrd", "-o", "q.csv")
        rows = rows_of(self.folder / "q.csv")
        np.testing.assert_allclose([float(row["time_s"]) for row in rows], [0, 0.1, 0.35, 0.45], atol=1e-6)
        true_ul_s = np.pi * 25**2 * 10 / 2 * 1e-6 * np.array([1, 1.1, 1.2, 1.3])
        np.testing.assert_allclose([float(row["flow_ul_s"]) for row in rows], true_ul_s, rtol=0.05)
        self.refuse("flow", "all.nrrd", "--each", "b-scan", "-o", "b.csv", lines=None, names=["--each", "uneven"])
        self.succeed("flow", "all.nrrd", "--each", "b-scan", "--step", "0.1", "-o", "b.csv")
        (self.folder / "all.nrrd").write_bytes(first + b"\necholux_times_s:=0.1 0.2 0.3 0\n" + rest)
        self.refuse("flow", "all.nrrd", "-o", "q.csv", lines=None, names=["all.nrrd", "after 0.3 s comes 0 s", "--step"])

    def test_streaks_follow_vessel_and_pulse(self):
        for v in range(10):
            self.put(f"v_{v}.nrrd", 1 + 0.5 * np.sin(2 * np.pi * 1.2 * 0.1 * v))
        self.succeed("flow", "v_*.nrrd", "--step", "0.1", "--streaks", "s.toml")
        view = tomllib.loads((self.folder / "s.toml").read_text())["view"]
        course = np.array(view["flow_streaks"]).reshape(-1, 5)
        slope = np.polyfit(course[:, 3], course[:, 1], 1)[0]  # depth over B-scans, as in the velocities
        self.assertAlmostEqual(abs(slope), 0.2, delta=0.02)
        mean = 10 / 2 * np.hypot(1, 0.2)
        np.testing.assert_allclose(course[:, 4], mean, rtol=0.2)  # the segmented lumen excludes its rim
        times, pulse = np.array(view["streak_pulse"]).reshape(-1, 2).T
        expected = 1 + 0.5 * np.sin(2 * np.pi * 1.2 * 0.1 * np.arange(10))
        np.testing.assert_allclose(pulse, expected / expected.mean(), rtol=0.05)
        np.testing.assert_allclose(np.diff(times), 0.1, atol=0.01)

    def test_slow_movie_through_time_shows_flow_of_each_volume(self):
        for v, factor in enumerate((1, 0, 1)):
            self.put(f"v_{v}.nrrd", factor)
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
