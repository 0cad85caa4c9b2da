"""Live sessions without a window: recordings and volumes of the simulator, checked by their metadata and against the
same scan reconstructed from its file."""
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from png_files import read_png
from support import ProgramCase, read_volume

CHECK = Path(__file__).resolve().parents[1] / "check_recording.py"
SMALL = [
    *("--source", "sim", "--line-rate-hz", "2000", "--block-b-scans", "4"),
    *("--set", "simulation.a_scans=16", "--set", "simulation.b_scans=8", "--set", "simulation.samples=512"),
    *("--set", "recipe.noise_floor_db=20"),
]


class Record(ProgramCase):
    def setUp(self):
        super().setUp()
        (self.folder / "rec").mkdir()  # recordings do not create folders

    def test_file_contains_every_block(self):
        self.succeed("record", *SMALL, "--volumes", 5, "-o", "rec/scan.toml", "--report", "report.json")
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["recorder"]["blocks"], 10)
        self.assertEqual(report["recorder"]["missing_blocks"], 0)
        checked = subprocess.run(
            [sys.executable, "-B", CHECK, self.folder / "rec/scan.toml"], capture_output=True, text=True
        )
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_stripes_contain_every_block(self):
        """2.6 MB in stripes of 1 MiB."""
        (self.folder / "disk2").mkdir()
        self.succeed("record", *SMALL, "--volumes", 20, "--stripe", "disk2", "-o", "rec/scan.toml")
        self.assertEqual((self.folder / "disk2/scan.stripe-2.raw").stat().st_size, 1 << 20)
        checked = subprocess.run(
            [sys.executable, "-B", CHECK, self.folder / "rec/scan.toml"], capture_output=True, text=True
        )
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertIn("160 frames in order", checked.stdout)
        self.assertIn("in stripes in 2 files", self.succeed("info", "rec/scan.toml").out)
        (self.folder / "disk2/scan.stripe-2.raw").unlink()
        self.refuse("info", "rec/scan.toml", names=("scan.stripe-2.raw", "part 2 of 2"), lines=None)

    def test_processed_volumes_equal_reconstruction_of_file(self):
        """This holds even if few of them were shown in time."""
        self.succeed(
            *("record", *SMALL, "--volumes", 12, "-o", "rec/scan.toml", "--processed", "volumes"),
            *("--backend", "cpu", "--report", "report.json"),
        )
        processed = json.loads((self.folder / "report.json").read_text())["processed"]
        files = sorted((self.folder / "volumes").glob("*.nrrd"))
        self.assertEqual(len(files), processed["volumes"])
        self.assertGreater(len(files), 0)
        for file in files:
            number = int(file.stem.removeprefix("volume_"))
            self.succeed("reconstruct", "rec/scan.toml", "-o", "again.nrrd", "--volume", number, "--backend", "cpu")
            np.testing.assert_array_equal(read_volume(file), read_volume(self.folder / "again.nrrd"), str(file))

    def test_end_is_reported_once(self):
        """Five seconds is also the interval of progress lines without a terminal, so both would coincide."""
        finished = self.succeed("record", *SMALL, "--seconds", 5, "-o", "rec.toml")
        self.assertEqual(finished.err.count("record: done"), 1, finished)

    def test_missing_blocks_leave_no_files(self):
        """The first block would arrive after 26 s."""
        slow = [word.replace("2000", "5") for word in SMALL]
        finished = self.run_program("record", *slow, "--seconds", 0.3, "-o", "rec/scan.toml")
        self.assertEqual(finished.code, 1, finished)
        self.assertIn("no block was recorded: no file was kept", finished.err)
        self.assertEqual(self.files(), [])


class Live(ProgramCase):
    def test_writes_its_last_picture_and_report(self):
        self.succeed(
            *("live", *SMALL, "--volumes", 5, "--size", "48x40", "--backend", "cpu"),
            *("-o", "last.png", "--report", "report.json"),
        )
        report = json.loads((self.folder / "report.json").read_text())
        queue = report["queue"]
        self.assertEqual(report["arrived"]["volumes"], 5)
        self.assertEqual(
            queue["pushed_blocks"],
            sum(queue[f"{what}_blocks"] for what in ("taken", "waiting", "overtaken", "incomplete", "given_up")),
        )
        self.assertGreater(report["pictures"]["volumes"], 0)
        self.assertEqual(report["bytes_read_back"], 48 * 40 * 4)

    def test_default_size_is_small_on_software_vulkan(self):
        finished = self.succeed("live", *SMALL, "--volumes", 2, "--backend", "cpu", "-o", "last.png", "--report", "report.json")
        report = json.loads((self.folder / "report.json").read_text())
        if "llvmpipe" not in report["way"]:
            self.skipTest("renders on a GPU")
        self.assertEqual(read_png(self.folder / "last.png").shape[:2], (400, 400))
        self.assertEqual(sum("software Vulkan" in event["line"] for event in report["events"]), 1, finished)

    def test_reports_failed_stabilisation(self):
        """Eight B-scans of a few A-scans are too few."""
        finished = self.succeed(
            *("live", *SMALL, "--volumes", 4, "--size", "48x40", "--backend", "cpu", "--report", "report.json"),
            *("--set", "registration.shown=true", "--set", "simulation.a_scans=7"),
        )
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["tissue"]["stabilised"], 0)
        self.assertEqual(sum("A-scans: too few" in event["line"] for event in report["events"]), 1, finished)

    def test_rejects_unwritable_kept_volumes_at_start(self):
        kept = (*SMALL, "--volumes", 1, "--size", "48x40", "--backend", "cpu", "--set", "source.keep_gb=0.01")
        self.refuse("live", *kept, "--set", "recipe.voxel=f16", "--kept", "last.nrrd", names=("last.nrrd", "f16", "voxel=f32"), lines=None)
        self.refuse("live", *kept, "--kept", "last.txt", names=("last.txt",), lines=None)
