"""Volumes sent to other programs by OpenIGTLink, and settings changed by them: a window without a screen and a live
session, compared bit by bit with pyigtl (igtl_peer.py)."""
import json
import re
import socket
import subprocess
import time
from pathlib import Path

import numpy as np

from scans import write_scan
from support import ProgramCase, read_volume, start

HERE = Path(__file__).parent
PYTHON = HERE.parents[1] / "build/python/bin/python"
SMALL = [
    *("--source", "sim", "--line-rate-hz", "1000", "--block-b-scans", "4"),
    *("--set", "simulation.a_scans=16", "--set", "simulation.b_scans=8", "--set", "simulation.samples=512"),
    *("--set", "recipe.noise_floor_db=20"),
]


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def as_sent(path):
    """Returns (slice, row, column): B-scans, depth, A-scans."""
    return np.swapaxes(read_volume(path), -1, -2)


class OpenIgtLink(ProgramCase):
    def setUp(self):
        super().setUp()
        if "--igtl" not in self.run_program("live", "--help").out:
            self.skipTest("built without the network")
        if not PYTHON.exists() or subprocess.run([PYTHON, "-c", "import pyigtl"], capture_output=True).returncode:
            self.skipTest("build/python with pyigtl is not there: ./dev test makes it")

    def started(self, *arguments):
        program = start(*arguments, folder=self.folder)

        def end():
            if program.poll() is None:
                program.kill()
            program.communicate()

        self.addCleanup(end)
        return program

    def peer(self, how, port, *requests, seconds=60):
        return subprocess.Popen([PYTHON, "-B", HERE / "igtl_peer.py", how, str(port), str(seconds), self.folder, *requests],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def heard(self, peer):
        out, err = peer.communicate(timeout=120)
        self.assertEqual(peer.returncode, 0, out + err)
        heard = json.loads(out.splitlines()[-1])
        for name in "Echolux", "Echolux_BScan":
            heard[name] = np.load(self.folder / f"{name}.npy")
        return heard

    def check_volume(self, heard, expected, spacing_mm, origin_mm, b_scan):
        np.testing.assert_array_equal(heard["Echolux"], expected)
        np.testing.assert_array_equal(heard["Echolux_BScan"], expected[b_scan:b_scan + 1])
        volume, one = heard["got"]["Echolux"], heard["got"]["Echolux_BScan"]
        self.assertEqual(volume["coordinates"], "ras")
        self.assertAlmostEqual(volume["time"], time.time(), delta=120)
        pose = np.diag([-spacing_mm[0], -spacing_mm[1], spacing_mm[2], 1.0])
        pose[:3, 3] = origin_mm
        np.testing.assert_allclose(volume["matrix"], pose, atol=1e-6)
        pose[2, 3] += b_scan * spacing_mm[2]
        np.testing.assert_allclose(one["matrix"], pose, atol=1e-6)
        turned = np.diag([-1.0, -1.0, 1.0, 1.0])
        turned[:3, 3] = origin_mm
        np.testing.assert_allclose(heard["got"]["Echolux_pose"]["matrix"], turned, atol=1e-6)

    def test_window_sends_volume_and_accepts_steering(self):
        write_scan(self.folder, scan={"spacing_um": None}, recipe={"voxel": "u16"})
        self.succeed("reconstruct", "scan.toml", "-o", "volume.nrrd")
        window = self.started("view", "--off-screen", "--fresh", "--igtl", 0, "--igtl-steer", "volume.nrrd")
        port = re.match(r"OpenIGTLink at 127\.0\.0\.1:(\d+)$", window.stdout.readline())[1]
        heard = self.heard(self.peer(
            "connect", port, "string:view.mode=mip\nview.zoom=2", "string:view.mode", "command:41:get:view.zoom",
            'command:42:set:{"values": {"view.zoom": 3}}', "command:43:set:view.zoom=-3", "command:44:state:",
            'string:{"jsonrpc": "2.0", "id": "x", "method": "get", "params": {"keys": ["view.zoom"]}}',
            "command:45:open:{\"file\": \"volume.nrrd\"}", "command:46:shutdown:", "string:view.mode=mip\nview.zoom"))
        texts = [json.loads(answer["text"]) for answer in heard["answers"]]
        self.assertEqual(texts[0]["result"]["values"], {"view.mode": "mip", "view.zoom": 2})
        self.assertEqual(texts[1]["result"]["values"], {"view.mode": "mip"})
        self.assertEqual([heard["answers"][2][key] for key in ("type", "number", "name")], ["RTS_COMMAND", 41, "get"])
        self.assertEqual(texts[2], {"jsonrpc": "2.0", "id": 41, "result": {"values": {"view.zoom": 2}}})
        self.assertEqual(texts[3]["result"]["values"], {"view.zoom": 3})
        self.assertIn("got -3", texts[4]["error"]["message"])
        self.assertEqual(texts[5]["result"]["grid"]["type"], "u16")
        self.assertEqual((texts[6]["id"], texts[6]["result"]["values"]), ("x", {"view.zoom": 3}))
        for refused in texts[7:]:
            self.assertIn("error", refused)
        note = json.loads(heard["got"]["Echolux_note"]["text"])
        self.assertEqual(note["unit"], texts[5]["result"]["grid"]["unit"])
        _, row_um, _ = [1e3 * side for side in self.spacing_of("volume.nrrd")]
        volume = as_sent(self.folder / "volume.nrrd")
        self.check_volume(heard, volume, [1, row_um / 1e3, 1], [0, 0, 0], b_scan=len(volume) // 2)

    def spacing_of(self, name):
        header = (self.folder / name).read_bytes().split(b"\n\n")[0].decode()
        directions = re.search(r"space directions: \((\S+?),.*?\) \(.*?,(\S+?),.*?\) \(.*,(\S+?)\)", header)
        return [float(side) for side in directions.groups()]

    def test_slow_live_volumes_match_recording(self):
        port = free_port()
        live = self.started("live", *SMALL, "--seconds", 12, "--record", "scan.toml", "--backend", "cpu", "--igtl", port,
                            "--igtl-steer", "--report", "report.json")
        for line in live.stderr:
            if "OpenIGTLink at" in line:
                break
        heard = self.heard(self.peer("connect", port, seconds=8))
        self.assertIn("Echolux", heard["got"])
        peer = self.peer("connect", port, "string:view.zoom=2\nrecipe.window=blackman", "command:7:statistics:", "string:scan.samples=3",
                         "command:8:open:", "string:recipe.windw=hann", seconds=8)
        texts = [json.loads(answer["text"]) for answer in self.heard(peer)["answers"]]
        self.assertEqual(texts[0]["result"]["values"], {"recipe.window": "blackman", "view.zoom": 2})
        self.assertGreater(texts[1]["result"]["arrived"]["blocks"], 0)
        self.assertIn("cannot be changed", texts[2]["error"]["message"])
        self.assertIn("needs the window", texts[3]["error"]["message"])
        self.assertIn("recipe.window", texts[4]["error"]["message"])
        live.communicate(timeout=120)  # ignores the exit code: a busy machine may lose blocks
        report = json.loads((self.folder / "report.json").read_text())
        self.assertGreater(report["igtl"]["volumes"], 0)
        self.assertEqual(report["igtl"]["requests"], 5)
        self.assertGreater(report["reconstructed"]["changes"], 0)

        number = json.loads(heard["got"]["Echolux_note"]["text"])["volume"]
        self.succeed("reconstruct", "scan.toml", "-o", "again.nrrd", "--volume", number, "--backend", "cpu")
        again = as_sent(self.folder / "again.nrrd")
        spacing = self.spacing_of("again.nrrd")
        origin = re.search(rb"space origin: \((.*?),(.*?),(.*?)\)", (self.folder / "again.nrrd").read_bytes()).groups()
        self.check_volume(heard, again, spacing, [-float(origin[0]), -float(origin[1]), float(origin[2])], b_scan=4)


