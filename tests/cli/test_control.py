"""Programs that steer a window without a screen: `view --control`, `echolux ctl`, and the Python example."""
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np

from png_files import read_png
from scans import write_scan
from support import ProgramCase, start

EXAMPLE = Path(__file__).parents[2] / "examples/control/steer.py"


class Control(ProgramCase):
    def setUp(self):
        super().setUp()
        if self.run_program("ctl", "--help").code != 0:
            self.skipTest("built without the network")
        scan = write_scan(self.folder)
        self.succeed("reconstruct", scan, "-o", "volume.nrrd")
        self.window = start("view", "--off-screen", "--fresh", "--control", 0, "--control-token", "token", folder=self.folder)
        self.addCleanup(self.end)
        line = self.window.stdout.readline()
        self.port = line.split(":")[1].split(",")[0] if line.startswith("control at") else self.fail(f"{line}")
        self.token = (self.folder / "token").read_text().splitlines()[0]
        self.environment = {"ECHOLUX_CONTROL": self.port, "ECHOLUX_TOKEN": self.token}

    def end(self):
        if self.window.poll() is None:
            self.window.kill()
        self.window.communicate()

    def ctl(self, *arguments):
        return self.succeed("ctl", *arguments, environment=self.environment)

    def test_window_is_steered_from_command_line(self):
        self.assertIn('view.mode = "mip"', self.ctl("set", "view.mode=mip", "view.zoom=2").out)
        self.assertIn("view.zoom = 2.0", self.ctl("get", "view.zoom").out)
        refused = self.refuse("ctl", "set", "view.zoom=-2", environment=self.environment, names=["view.zoom", "got -2"])
        self.assertEqual(refused.code, 1)
        self.refuse("ctl", "state", "--at", self.port, "--token", "guess", names=["the token is wrong"])
        for words, names in [(["state", "--at", self.port], ["--token"]), (["state"], ["--at"]), (["stat"], ["did you mean 'state'"]),
                             (["set", "view.zoom"], ["KEY=VALUE"]), (["snapshot", "--offf", "view"], ["--of"])]:
            self.assertEqual(self.refuse("ctl", *words, names=names, lines=None).code, 2, words)
        self.refuse("ctl", "open", "--file", "/etc/passwd", environment=self.environment, names=["/etc/passwd", "outside"])

        state = json.loads(self.ctl("open", "--file", "volume.nrrd", "--json").out)
        self.assertTrue(state["is_open"])
        b_scans, a_scans, depth = state["grid"]["shape"]
        about = json.loads(self.ctl("volume", "-o", "voxels.raw", "--json").out)
        self.assertEqual((self.folder / "voxels.raw").stat().st_size, about["bytes"])
        self.assertEqual(about["bytes"], b_scans * a_scans * depth * 4)
        b_scan = json.loads(self.ctl("b-scan", "2", "-o", "b.raw", "--json").out)
        voxels = np.fromfile(self.folder / "voxels.raw", "<f4").reshape(b_scans, a_scans, depth)
        np.testing.assert_array_equal(np.fromfile(self.folder / "b.raw", "<f4").reshape(b_scan["shape"]), voxels[2])
        self.ctl("snapshot", "--width", "64", "--height", "48", "-o", "p.png")
        self.assertEqual(read_png(self.folder / "p.png").shape[:2], (48, 64))
        (self.folder / "mine.raw").write_text("mine")
        self.refuse("ctl", "b_scan", "2", "-o", "mine.raw", environment=self.environment, names=["mine.raw", "--overwrite"])
        self.assertEqual((self.folder / "mine.raw").read_text(), "mine")
        self.ctl("b_scan", "2", "-o", "mine.raw", "--overwrite")
        self.assertEqual((self.folder / "mine.raw").read_bytes(), (self.folder / "b.raw").read_bytes())
        self.ctl("shutdown")
        self.assertEqual(self.window.wait(60), 0)
        self.refuse("ctl", "state", environment=self.environment, names=["cannot connect"])

    def test_slow_rejects_inexact_numbers_and_silent_servers(self):
        self.ctl("open", "--file", "volume.nrrd")
        refused = self.refuse("ctl", "b_scan", "99999999999999999999", environment=self.environment, names=["--b-scan", "integer"], lines=None)
        self.assertEqual(refused.code, 2)
        with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts connections but sends nothing
            self.refuse("ctl", "state", "--at", silent.getsockname()[1], "--token", "x", names=["does not answer", "--control"])

    def test_slow_example_in_python_runs(self):
        done = subprocess.run([sys.executable, EXAMPLE, self.port, "volume.nrrd"], cwd=self.folder, text=True, capture_output=True,
                              env={**os.environ, "ECHOLUX_TOKEN": self.token}, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("refused: view.zoom: expected", done.stdout)
        self.assertIn("told of ['settings'", done.stdout)
        self.assertEqual(read_png(self.folder / "picture.png").shape[:2], (240, 320))

    def test_example_in_matlab_runs(self):
        """Runs it with MATLAB, or with GNU Octave, which accepts the same code."""
        matlab, octave = shutil.which("matlab"), shutil.which("octave-cli")
        folder, call = EXAMPLE.parent, f'steer({self.port}, "{self.token}", "volume.nrrd")'
        if matlab is not None:
            command = [matlab, "-batch", f'addpath("{folder}"); {call}']
        elif octave is not None:
            command = [octave, "--quiet", "--eval", f'pkg load instrument-control; addpath("{folder}"); {call}']
            if subprocess.run([octave, "--eval", "pkg load instrument-control"], capture_output=True, check=False).returncode != 0:
                self.skipTest("Octave is here, its package instrument-control is not")
        else:
            self.skipTest("neither MATLAB nor GNU Octave is installed")
        done = subprocess.run(command, cwd=self.folder, text=True, capture_output=True, timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("refused: view.zoom: expected", done.stdout)
        self.assertIn("opened volume.nrrd", done.stdout)
        self.assertIn("B-scan 0:", done.stdout)
        self.assertEqual(read_png(self.folder / "picture.png").shape[:2], (240, 320))

    def test_lines_are_written_by_curl(self):
        curl = shutil.which("curl")
        if curl is None:
            self.skipTest("curl is not installed")
        lines = json.dumps({"token": self.token}) + '\n{"jsonrpc": "2.0", "id": 1, "method": "state"}\n'
        done = subprocess.run([curl, "-sN", "--max-time", "3", f"telnet://127.0.0.1:{self.port}"], input=lines, text=True,
                              capture_output=True, timeout=60, check=False)  # curl does not end by itself
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(answers[0]["welcome"], "echolux")
        self.assertEqual(answers[1]["result"]["program"], "echolux")


