"""However the program is ended (Ctrl-C, the system, a closed terminal, a full disk), it exits cleanly and soon: recordings
are complete and no unfinished files remain."""
import contextlib
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np

import commands
from scans import fringes, write_scan
from support import PROGRAM, Finished, ProgramCase, extend, start

CHECK = Path(__file__).resolve().parent.parent / "check_recording.py"
ALL = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def soon_s():
    """Two seconds, and more if other work shares the CPUs."""
    return 2 * max(1.0, os.getloadavg()[0] / os.cpu_count())


class Endings(ProgramCase):
    def clear(self):
        for entry in self.folder.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    def recording(self):
        return next((toml for toml in self.folder.rglob("*.toml") if toml.with_suffix(".raw").is_file()), None)

    def is_recorded(self):
        """Whether the file contains some data."""
        toml = self.recording()
        return toml is not None and toml.with_suffix(".raw").stat().st_size > 100_000

    def expect_whole(self):
        toml = self.recording()
        self.assertTrue(tomllib.loads(toml.read_text())["recording"]["complete"])
        checked = subprocess.run([sys.executable, CHECK, toml], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertTrue(toml.with_suffix(".truth").is_dir(), self.files())
        self.assertFalse([name for name in self.files() if "unfinished" in name])

    def expect_soon(self, process, begin):
        allowed = soon_s()
        try:
            process.wait(timeout=60)
        finally:
            process.kill()
        self.assertLess(time.monotonic() - begin, allowed)

    def end(self, line, by):
        self.clear()
        process = start(*line, folder=self.folder)
        self.wait_for(process, "a recording", self.is_recorded)
        begin = time.monotonic()
        process.send_signal(by)
        self.expect_soon(process, begin)
        finished = Finished(process)
        self.expect_whole()
        return finished

    def test_record_ends_properly(self):
        for by in ALL:
            with self.subTest(by=by.name):
                self.assertEqual(self.end(["record", *commands.SOURCE, "-o", "rec.toml"], by).code, 0)

    def test_live_ends_properly(self):
        line = ["live", *commands.SOURCE, "--record", "rec.toml", "--size", "32x32", "--backend", "cpu"]
        for by in ALL:
            with self.subTest(by=by.name):
                self.assertEqual(self.end(line, by).code, 0)

    def test_slow_recording_window_ends_properly(self):
        line = ["view", *commands.SOURCE, "--fresh", "--off-screen", "--size", "640x400", "--after", 600, "--press",
                "Ctrl+R", "--backend", "cpu", "--set", f"window.record_folder={self.folder}"]
        for by in ALL:
            with self.subTest(by=by.name):
                self.assertEqual(self.end(line, by).code, 130)

    def test_closed_terminal_ends_properly(self):
        """Printing fails from then on, which must not matter."""
        for command in ("record", "live"):
            with self.subTest(command=command):
                ours, terminal = pty.openpty()
                output = ["-o"] if command == "record" else ["--size", "32x32", "--backend", "cpu", "--record"]
                process = subprocess.Popen([PROGRAM, command, *commands.SOURCE, *output, "rec.toml"], cwd=self.folder,
                                           stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
                                           preexec_fn=lambda: __import__("fcntl").ioctl(0, 0x540E, 0))  # TIOCSCTTY
                os.close(terminal)
                self.wait_for(process, "a recording", self.is_recorded)
                begin = time.monotonic()
                os.close(ours)
                self.expect_soon(process, begin)
                self.assertGreaterEqual(process.returncode, 0, "it crashed")
                self.expect_whole()
                self.clear()

    def test_ends_before_first_block(self):
        """The noise floor is measured in the first block, which takes a while at 5 lines per second."""
        slow = [word.replace("2000", "5").replace("noise_floor_db=20", "noise_floor_db=0") for word in commands.SOURCE]
        process = start("live", *slow, "--size", "32x32", "--backend", "cpu", "-o", "last.png", folder=self.folder)
        os.set_blocking(process.stderr.fileno(), False)
        said = bytearray()

        def waits():
            with contextlib.suppress(BlockingIOError):
                said.extend(os.read(process.stderr.fileno(), 4096))
            return b"wait for the first block" in said

        self.wait_for(process, "the wait for the first block", waits)
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)
        self.expect_soon(process, begin)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.files(), [])

    def test_interrupted_job_reports_progress(self):
        """It reports its progress and the recorded blocks and exits with 130, even if the source lost blocks."""
        process = start("record", *commands.SOURCE, "--volumes", 4000, "-o", "rec.toml", "--report", "report.json",
                        folder=self.folder)
        self.wait_for(process, "a recording", self.is_recorded)
        process.send_signal(signal.SIGINT)
        finished = Finished(process)
        self.assertEqual(finished.code, 130, finished)
        report = json.loads((self.folder / "report.json").read_text())
        volumes, blocks = report["arrived"]["volumes"], report["recorder"]["blocks"]
        self.assertTrue(report["cut_short"])
        self.assertEqual(report["asked"]["volumes"], 4000)
        self.assertLess(volumes, 4000)
        self.assertIn(f"interrupted after {volumes} of 4000 volumes; {blocks} blocks are recorded",
                      finished.error_lines[-1])
        self.assertIn(f"interrupted after {volumes} of 4000 volumes", finished.out)
        self.assertNotIn("record: done in", finished.err)
        self.expect_whole()

    def test_slow_interrupted_conversion_ends_soon(self):
        """Each volume of a folder is compressed at once, which takes longer than two seconds."""
        noise = np.random.default_rng(1)
        (self.folder / "volumes").mkdir()
        for number in range(2):
            np.save(self.folder / f"volumes/v{number}.npy", noise.random((160, 500, 500), dtype=np.float32))
        process = start("convert", "volumes", "all.nii.gz", folder=self.folder)
        self.wait_for(process, "the output", lambda: [name for name in self.files() if "all" in name])
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        self.expect_soon(process, begin)
        self.assertEqual(process.returncode, 130)
        self.assertFalse([name for name in self.files() if "all" in name], "an unfinished file is left")

    def test_slow_interrupted_demo_leaves_nothing(self):
        process = start("demo", folder=self.folder)
        self.wait_for(process, "its scan", lambda: (self.folder / "out/demo/scan/scan.toml").exists())
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        self.assertEqual(Finished(process).code, 130)
        self.assertEqual(self.files(), [])

    def test_killed_recorder_leaves_readable_recording(self):
        process = start("record", *commands.SOURCE, "-o", "rec.toml", folder=self.folder)
        self.wait_for(process, "a recording", self.is_recorded)
        self.assertIn("still running", self.succeed("info", "rec.toml").out.splitlines()[0])
        process.kill()
        Finished(process)
        self.assertIn("recording was not finished: 0 blocks missing", self.succeed("info", "rec.toml").out.splitlines()[0])
        told = json.loads(self.succeed("info", "rec.toml", "--json").out)
        self.assertEqual(told["facts"]["warning"]["value"], "recording was not finished: 0 blocks missing")

    def test_by_ctrl_c_three_times(self):
        """Exits immediately, and still leaves no unfinished files."""
        long = ["simulate", "vessel", "-o", "scan/scan.toml", "--samples", 2048, "--a-scans", 1000, "--b-scans", 1000]
        process = start(*long, folder=self.folder)
        self.wait_for(process, "unfinished files", lambda: any("unfinished" in name for name in self.files()))
        begin = time.monotonic()
        self.send_signals(process, *[signal.SIGINT] * 3)
        self.expect_soon(process, begin)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.files(), [])


class NobodyReads(ProgramCase):
    """The pipe is closed while the program still prints, as by `| head`."""

    def test_interrupted_reconstruction_leaves_no_files(self):
        scan = write_scan(self.folder, np.zeros((1, 512, 1024), "<u2"), scan={"b_scans": 16000},
                          recipe={"depth_end": 16, "voxel": "u8"})
        extend(self.folder / "spectra.raw", 16000 * 512 * 1024 * 2)
        before = self.files()
        process = start("reconstruct", scan, "-o", "v.nrrd", folder=self.folder)
        process.stderr.close()
        process.stderr = None
        process.stdout.close()
        process.stdout = None
        self.assertEqual(process.wait(timeout=60), 141)
        self.assertEqual(self.files(), before)


class FullDisk(ProgramCase):
    """A limit on the file size simulates a full disk: writing fails halfway."""

    def test_reconstruct_to_picture(self):
        scan = write_scan(self.folder, fringes(b_scans=2, a_scans=400))
        self.refuse("reconstruct", scan, "-o", "b.png", "--b-scan", 1, names=["b.png"], lines=None,
                    most_file_bytes=4000)

    def test_simulate(self):
        self.refuse("simulate", "layers", "--out", "scan/scan.toml", "--samples", 512, "--a-scans", 32, "--b-scans", 32,
                    lines=None, most_file_bytes=100000)

    def test_existing_result_survives(self):
        scan = write_scan(self.folder, fringes(b_scans=16, a_scans=64))
        self.succeed("reconstruct", scan, "-o", "v.nrrd")
        before = (self.folder / "v.nrrd").read_bytes()
        self.refuse("reconstruct", scan, "-o", "v.nrrd", lines=None, most_file_bytes=20000)
        self.assertEqual((self.folder / "v.nrrd").read_bytes(), before)
