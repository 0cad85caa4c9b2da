"""Recordings and live sessions of the program: the files contain every block, whatever ends or disturbs a recording, and
volumes equal those reconstructed from the files."""
import csv
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tomllib
import uuid
from pathlib import Path

import numpy as np

from png_files import read_png
from scans import fringes
from support import PROGRAM, Finished, ProgramCase, read_volume, start

CHECK = Path(__file__).resolve().parents[1] / "check_recording.py"
SMALL = [
    *("--source", "sim", "--line-rate-hz", "2000", "--block-b-scans", "4"),
    *("--set", "simulation.a_scans=16", "--set", "simulation.b_scans=8", "--set", "simulation.samples=512"),
    *("--set", "recipe.noise_floor_db=20"),
]


class RecordCase(ProgramCase):
    def check_frames(self, toml):
        """Reads all frames with Python, and returns what the check reports."""
        checked = subprocess.run([sys.executable, "-B", CHECK, self.folder / toml], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        return checked.stdout


class Record(RecordCase):
    def setUp(self):
        super().setUp()
        (self.folder / "rec").mkdir()  # recordings do not create folders

    def test_file_contains_every_block(self):
        self.succeed("record", *SMALL, "--volumes", 5, "-o", "rec/scan.toml", "--report", "report.json")
        report = json.loads((self.folder / "report.json").read_text())
        self.assertEqual(report["recorder"]["blocks"], 10)
        self.assertEqual(report["recorder"]["missing_blocks"], 0)
        self.check_frames("rec/scan.toml")

    def test_stripes_contain_every_block(self):
        """2.6 MB in stripes of 1 MiB."""
        (self.folder / "disk2").mkdir()
        self.succeed("record", *SMALL, "--volumes", 20, "--stripe", "disk2", "-o", "rec/scan.toml")
        self.assertEqual((self.folder / "disk2/scan.stripe-2.raw").stat().st_size, 1 << 20)
        self.assertIn("160 frames in order", self.check_frames("rec/scan.toml"))
        self.assertIn("in stripes in 2 files", self.succeed("info", "rec/scan.toml").out)

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

    def test_rejects_unwritable_kept_volumes_at_start(self):
        kept = (*SMALL, "--volumes", 1, "--size", "48x40", "--backend", "cpu", "--set", "source.keep_gb=0.01")
        self.refuse("live", *kept, "--set", "recipe.voxel=f16", "--kept", "last.nrrd", names=("last.nrrd", "f16", "voxel=f32"), lines=None)
        self.refuse("live", *kept, "--kept", "last.txt", names=("last.txt",), lines=None)


class LostBlocks(ProgramCase):
    """Volumes of 8 B-scans in two blocks; the second block of volume 1 is lost."""

    def setUp(self):
        super().setUp()
        self.succeed("record", *SMALL, "--volumes", 3, "-o", "scan.toml")
        index = self.folder / "scan.index.csv"
        lines = index.read_text().splitlines(keepends=True)
        row = next(csv.DictReader([lines[0], lines[4]]))
        with open(self.folder / "scan.raw", "r+b") as raw:
            raw.seek(int(row["byte_offset"]))
            raw.write(bytes(int(row["bytes"])))
        index.write_text("".join(lines[:4] + lines[5:]))
        toml = self.folder / "scan.toml"
        text = toml.read_text()
        self.assertIn("complete = true", text)
        toml.write_text(text.replace("complete = true", "complete = false\nlost_blocks = 1\nlost_b_scans = 4"))

    def test_missing_b_scans_have_no_value(self):
        told = json.loads(self.succeed("reconstruct", "scan.toml", "-o", "v.nrrd", "--volume", 1, "--json").out)
        lost = [line for line in told["warnings"] if "have no data" in line]
        self.assertEqual(len(lost), 1, told)
        self.assertIn("1 block missing", lost[0])
        self.assertIn("4 of 24 B-scans of 1 of 3 volumes", lost[0])
        voxels = read_volume(self.folder / "v.nrrd")
        self.assertEqual(len(voxels), 8)
        self.assertTrue(np.isnan(voxels[4:]).all())
        self.assertTrue(np.isfinite(voxels[:4]).all())


class TwoRecordings(RecordCase):
    def record(self, *more, volumes=100):
        return start("record", *SMALL, "--volumes", volumes, "-o", "scan.toml", *more, folder=self.folder)

    def expect_whole(self):
        toml = self.folder / "scan.toml"
        self.assertTrue(tomllib.loads(toml.read_text())["recording"]["complete"])
        for name in tomllib.loads(toml.read_text()).get("calibration", {}).values():
            if isinstance(name, str) and name.endswith(".f64"):
                self.assertTrue((self.folder / name).is_file(), f"{name} is gone")
        self.check_frames(toml)
        self.succeed("info", "scan.toml")

    def expect_refused(self, finished):
        self.assertEqual(finished.code, 1, finished)
        self.assertIn("scan.toml: is being recorded", finished.error_lines[-1])
        self.assertIn("stop that recording first", finished.error_lines[-1])

    def test_concurrent_start_keeps_one(self):
        for more in ((), ("--overwrite",)):
            for _ in range(3):
                with self.subTest(more=more):
                    pair = [self.record(*more, volumes=40) for _ in range(2)]
                    ended = sorted((Finished(one) for one in pair), key=lambda one: one.code)
                    self.assertEqual(ended[0].code, 0, ended[0])
                    self.expect_refused(ended[1])
                    self.expect_whole()
                    for path in self.folder.iterdir():
                        if path.is_file():
                            path.unlink()
                    for path in (self.folder / "scan.truth").iterdir():
                        path.unlink()
                    (self.folder / "scan.truth").rmdir()

    def test_running_recording_is_not_replaced(self):
        first = self.record(volumes=0)
        self.wait_for(first, "a recording", lambda: (self.folder / "scan.toml").is_file())
        for line in (
            ["record", *SMALL, "--volumes", 1, "-o", "scan.toml"],
            ["record", *SMALL, "--volumes", 1, "-o", "scan.toml", "--overwrite"],
            ["simulate", "layers", "--samples", 256, "--a-scans", 8, "--b-scans", 4, "-o", "scan.toml", "--overwrite"],
        ):
            with self.subTest(line=line[-1]):
                self.expect_refused(self.run_program(*line))
        first.send_signal(signal.SIGINT)
        self.assertEqual(Finished(first).code, 0)
        self.expect_whole()

    def test_killed_recording_is_replaced(self):
        first = self.record(volumes=0)
        self.wait_for(first, "spectra", lambda: (self.folder / "scan.raw").is_file()
                      and (self.folder / "scan.raw").stat().st_size > 0)
        first.kill()
        Finished(first)
        self.assertEqual(Finished(self.record("--overwrite", volumes=2)).code, 0)
        self.expect_whole()


ROOT = Path(__file__).resolve().parents[2]
SAMPLE = Path(PROGRAM).resolve().parent / "plugins/sample_push"
specification = importlib.util.spec_from_file_location("push", ROOT / "python/echolux/push.py")
push = importlib.util.module_from_spec(specification)
specification.loader.exec_module(push)


class Push(ProgramCase):
    def recorded(self):
        raw = tomllib.loads((self.folder / "scan.toml").read_text())["scan"]["file"]
        return np.fromfile(self.folder / raw, "<u2")

    def from_python(self, target, source):
        """The recording is complete except for blocks pushed before the viewer connected. The producer pushes until
        the recording ends."""
        spectra = fringes()
        with push.Producer(target, samples=256, a_scans=12, b_scans=4, line_rate_hz=1000, block_b_scans=2) as producer:
            recorder = start("record", "--source", source, "--volumes", 3, "-o", "scan.toml", folder=self.folder)
            self.assertTrue(producer.wait_for_viewer(10))
            while recorder.poll() is None:
                for first in (0, 2):
                    producer.push(spectra[first:first + 2])
                    try:
                        recorder.wait(0.02)
                    except subprocess.TimeoutExpired:
                        pass
        finished = Finished(recorder)
        self.assertEqual(finished.code, 0, finished)
        volumes = self.recorded().reshape(-1, *spectra.shape)
        self.assertGreaterEqual(len(volumes), 3)
        for volume in volumes:
            np.testing.assert_array_equal(volume, spectra)

    def test_python_through_shared_memory(self):
        name = f"test-{uuid.uuid4().hex[:12]}"
        self.from_python(f"shm:{name}", f"shm:{name}")
        self.assertFalse(os.path.exists(f"/dev/shm/echolux-push-{name}"))

    def test_python_over_network(self):
        port = 20000 + os.getpid() % 20000
        self.from_python(f"tcp://127.0.0.1:{port}", f"tcp://:{port}")

    def test_sample_in_c(self):
        name = f"test-{uuid.uuid4().hex[:12]}"
        self.addCleanup(Path(f"/dev/shm/echolux-push-{name}").unlink)  # a killed producer leaves it behind
        producer = subprocess.Popen([SAMPLE, name])
        self.addCleanup(producer.wait)
        self.addCleanup(producer.kill)
        self.succeed("record", "--source", f"shm:{name}", "--volumes", 2, "-o", "scan.toml")
        lines = self.recorded().reshape(-1, 512)
        self.assertGreater(lines.max(), 20000)
        self.assertIsNone(producer.poll(), "it does not notice that the viewer is gone")
