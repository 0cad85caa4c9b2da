"""`echolux serve --folder … --control …`: programs steer the served window and can only reach files of the given
folders."""
import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np

from png_files import read_png
from scans import fringes, write_scan
from support import ProgramCase, start
from test_live import push
from waiting import wait_until


class ServeFolders(ProgramCase):
    def serve(self, *words, environment=None):
        """Returns its control connection as a stream of lines."""
        served = start("serve", "--port", 0, "--control", 0, "--size", "320x240", "--fresh", *words, folder=self.folder, environment=environment)
        self.addCleanup(lambda: (served.kill(), served.communicate()) if served.poll() is None else None)
        told = [served.stdout.readline() for _ in range(3)]
        self.assertTrue(told[2].startswith("control:"), told)
        self.address = told[0].split()[-1]
        line = socket.create_connection(("127.0.0.1", int(told[2].split(" port ")[1].split(",")[0])), 60)
        self.addCleanup(line.close)
        stream = line.makefile("rw")
        self.addCleanup(stream.close)
        self.ask(stream, {"token": told[0].split("token=")[1].strip()})
        return served, stream

    def ask(self, stream, message):
        stream.write(json.dumps(message) + "\n")
        stream.flush()
        return json.loads(stream.readline())

    def call(self, stream, method, **params):
        return self.ask(stream, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})

    def test_slow_a_scan_cannot_name_outside_files(self):
        """The same applies to its calibration, settings and sources. Inputs given on the command line stay allowed."""
        write_scan(self.folder / "lent/fine")
        np.arange(256.0).tofile(self.folder / "outside.f64")
        (self.folder / "lent/link.f64").symlink_to(self.folder / "outside.f64")
        write_scan(self.folder / "secret")
        outside, inside = self.folder / "secret/spectra.raw", {"file": "fine/spectra.raw"}
        for name, keys in {"absolute": {"scan": {"file": str(outside)}}, "above": {"scan": {"file": "../secret/spectra.raw"}},
                           "calibration": {"scan": inside, "calibration": {"background": "../outside.f64"}},
                           "link": {"scan": inside, "calibration": {"k_map": "link.f64"}}}.items():
            write_scan(self.folder / "lent/made", **keys)
            (self.folder / "lent/made/scan.toml").rename(self.folder / f"lent/{name}.toml")
        # The variable applies to local users only.
        served, stream = self.serve("--folder", "lent", environment={"ECHOLUX_DATA_FOLDERS": str(self.folder)})
        for name in ("absolute", "above", "calibration", "link"):
            for how in ({"file": f"{name}.toml"}, {"source": f"replay:{self.folder}/lent/{name}.toml"},
                        {"source": "sim", "scan": f"{name}.toml"}):
                answer = self.call(stream, "open", **how)
                self.assertIn("outside the folders", json.dumps(answer.get("error")), (name, how))
        (self.folder / "outside.csv").write_text("t_s,x_um,y_um,z_um\n0,0,0,0\n1,1,1,1\n")
        # The assignment is stored in a session.
        for assignment in (f"simulation.motion_file={self.folder}/outside.csv", "calibration.k_map=../outside.f64"):
            (self.folder / "lent/session.toml").write_text(f'[session]\nsource = "sim:vessel"\nassignments = "{assignment}"\n')
            answer = self.call(stream, "open", file="session.toml")
            self.assertIn("outside the folders", json.dumps(answer.get("error")), assignment)
        self.assertTrue(self.call(stream, "open", file="fine/scan.toml")["result"]["is_open"])
        for name in ("../../outside.f64", "../link.f64", str(self.folder / "outside.f64")):
            answer = self.call(stream, "set", values={"calibration.background": name})
            self.assertIn("outside the folders", json.dumps(answer.get("error")), name)
        for name in ("absolute", "above", "calibration", "link"):
            answer = self.call(stream, "operation.run", name="reconstruct", arguments={"scan": f"{name}.toml", "output": "made.nrrd"})
            self.assertIn("outside the folders", json.dumps(answer.get("error")), name)
        served.kill()
        served.communicate()

        served, stream = self.serve("--folder", "lent", "secret/scan.toml")
        self.assertTrue(self.until_open(stream))
        self.assertIn("error", self.call(stream, "open", file=str(self.folder / "outside.f64")))
        self.assertTrue(self.call(stream, "open", file=str(self.folder / "secret/scan.toml"))["result"]["is_open"])

    def until_open(self, stream):
        return wait_until(lambda: self.call(stream, "state")["result"]["is_open"], "an open file")

    def test_programs_open_local_rings_but_no_remote_ports(self):
        _, stream = self.serve()
        for source in ("tcp://0.0.0.0:0", "tcp://[::]:5210", "tcp://192.168.1.20:5210", "tcp://127.example.org:5210"):
            answer = self.call(stream, "open", source=source)
            self.assertIn("cannot be opened remotely", json.dumps(answer.get("error")), source)
        self.assertIn("plugins cannot", json.dumps(self.call(stream, "open", source="plugin:./lib.so")["error"]))
        self.assertIn("not a valid ring name", json.dumps(self.call(stream, "open", source="shm:../../etc/passwd")["error"]))
        name = f"echolux-test-{os.getpid()}"
        with push.Producer(f"shm:{name}", samples=256, a_scans=12, b_scans=4, sample_format="u16", line_rate_hz=1e4, block_b_scans=4) as out:
            ends = threading.Event()

            def produce():
                while not ends.wait(0.02):
                    out.push(fringes())

            pushing = threading.Thread(target=produce)
            pushing.start()
            self.addCleanup(lambda: (ends.set(), pushing.join()))
            answer = self.call(stream, "open", source=f"shm:{name}", values={"recipe.noise_floor_db": 20})
            ends.set()
            pushing.join()
            self.assertTrue(answer.get("result", {}).get("is_live"), answer)

    def test_example_over_web_socket_runs(self):
        if subprocess.run([sys.executable, "-c", "import websockets"], capture_output=True, check=False).returncode != 0:
            self.skipTest("python3-websockets is not installed")
        write_scan(self.folder)
        self.succeed("reconstruct", "scan.toml", "-o", "volume.nrrd")
        served, stream = self.serve("volume.nrrd")
        self.assertTrue(self.until_open(stream))
        example = Path(__file__).parents[2] / "examples/control/web_socket.py"
        done = subprocess.run([sys.executable, example, self.address], cwd=self.folder, text=True, capture_output=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("shown volume.nrrd", done.stdout)
        self.assertEqual(read_png(self.folder / "picture.png").shape[:2], (240, 320))

