"""Two programs record to one name: one records, the other prints an error, and the first loses nothing."""
import signal
import subprocess
import sys
import tomllib

from support import Finished, ProgramCase, start
from test_live import CHECK, SMALL


class TwoRecordings(ProgramCase):
    def record(self, *more, volumes=100):
        return start("record", *SMALL, "--volumes", volumes, "-o", "scan.toml", *more, folder=self.folder)

    def expect_whole(self):
        toml = self.folder / "scan.toml"
        self.assertTrue(tomllib.loads(toml.read_text())["recording"]["complete"])
        for name in tomllib.loads(toml.read_text()).get("calibration", {}).values():
            if isinstance(name, str) and name.endswith(".f64"):
                self.assertTrue((self.folder / name).is_file(), f"{name} is gone")
        checked = subprocess.run([sys.executable, "-B", CHECK, toml], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
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
