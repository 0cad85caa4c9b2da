"""The push library and its samples, through Echolux itself: every block is as it was pushed, also from Windows."""
import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest
from pathlib import Path

import numpy as np

from support import Finished, ProgramCase, start

ROOT = Path(__file__).resolve().parents[2]
VIEWER = os.environ["ECHOLUX_PUSH_VIEWER"]
LIBRARY = Path(os.environ["ECHOLUX_PUSH_LIBRARY"])
SAMPLES = ROOT / "plugins/push_library/samples"
SMALL = "samples=64 a_scans=16 b_scans=8 block_b_scans=2 slots=64 line_rate_hz=6400"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def pattern(producer, sequence, words):
    """tests/session/push/pushed_pattern.h, in NumPy."""
    stamp = np.uint64(producer << 40 | sequence)
    with np.errstate(over="ignore"):
        return stamp ^ np.arange(words, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)


class Viewer:
    """tests/session/push/viewer.cpp, which checks every byte and notes one line per block."""

    def __init__(self, case):
        self.port = free_port()
        self.notes = Path(tempfile.mkdtemp()) / "notes"
        case.addCleanup(shutil.rmtree, self.notes.parent)
        self.process = subprocess.Popen([VIEWER, f"tcp://127.0.0.1:{self.port}", self.notes])
        case.addCleanup(self.process.wait)
        case.addCleanup(self.process.kill)

    def blocks(self):
        """(producer, sequence, lost before it) of each block. A wrong block fails."""
        lines = self.notes.read_text().splitlines(keepends=True) if self.notes.exists() else []
        whole = [line for line in lines if line.endswith("\n")]
        assert not any("wrong" in line for line in whole), "a block differs from what was pushed"
        return [tuple(map(int, line.split())) for line in whole]

    def await_blocks(self, count, producer=1, seconds=20):
        until = time.monotonic() + seconds
        while sum(block[0] == producer for block in self.blocks()) < count:
            assert time.monotonic() < until, f"{len(self.blocks())} blocks came"
            time.sleep(0.02)


class FlatInterface(ProgramCase):
    def setUp(self):
        super().setUp()
        self.library = ctypes.CDLL(os.fspath(LIBRARY))
        self.library.echolux_sender_block_bytes.restype = ctypes.c_int64
        self.library.echolux_sender_push.argtypes = [ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64]
        self.problem = ctypes.create_string_buffer(200)

    def open(self, address, settings):
        return self.library.echolux_sender_open(address.encode(), settings.encode(), self.problem, 200)

    def push(self, sender, array):
        return self.library.echolux_sender_push(sender, array.ctypes.data, array.nbytes)

    def test_sends_every_block_in_its_place(self):
        viewer = Viewer(self)
        sender = self.open(f"127.0.0.1:{viewer.port}", SMALL)
        self.assertGreater(sender, 0, self.problem.value)
        self.assertEqual(self.library.echolux_sender_block_bytes(sender), 4096)
        self.assertEqual(self.library.echolux_sender_wait(sender, 10000), 1)
        for i in range(40):
            self.assertEqual(self.push(sender, pattern(1, i, 512)), 0)
            time.sleep(0.005)
        viewer.await_blocks(30)
        self.library.echolux_sender_end(sender)
        self.assertEqual(self.library.echolux_sender_close(sender, 5000), 0)
        blocks = viewer.blocks()
        self.assertEqual(blocks[-1][1] - blocks[0][1] + 1, len(blocks) + sum(block[2] for block in blocks))

    def test_refuses_with_one_line(self):
        def refused(address, settings):
            self.assertEqual(self.open(address, settings), -1)
            return self.problem.value.decode()

        for address in ("nowhere", "nowhere:", "nowhere:abc", "nowhere:99999", "tcp://nowhere:5210/x"):
            self.assertIn("expected HOST:PORT", refused(address, SMALL))
        self.assertIn('no key "sample"', refused("host:1", "sample=2"))
        self.assertIn('a_scans cannot be "x"', refused("host:1", "samples=8 a_scans=x"))
        self.assertIn('sample_format cannot be "u9"', refused("host:1", "sample_format=u9"))
        self.assertIn("expected key=value", refused("host:1", "samples 8"))
        self.assertIn("stream.b_scans: expected 1", refused("host:1", "samples=8, a_scans=4"))

    def test_wrong_calls_do_no_harm(self):
        sender = self.open("127.0.0.1:1", SMALL + " name=test shift=4 bits=12")
        self.assertGreater(sender, 0)
        self.assertEqual(self.push(sender, np.zeros(100, np.uint8)), -1)
        self.library.echolux_sender_problem(sender, self.problem, 200)
        self.assertIn(b"1 to 2 x 2048 bytes, got 100", self.problem.value)
        self.assertEqual(self.library.echolux_sender_close(sender, 0), 0)
        for wrong in (sender, 0, -1, 65, 2**31 - 1):
            self.assertEqual(self.push(wrong, np.zeros(4096, np.uint8)), -1)
            self.assertEqual(self.library.echolux_sender_close(wrong, 0), -1)
        self.library.echolux_sender_problem(sender, self.problem, 200)
        self.assertIn(b"no sender of this number", self.problem.value)


class Samples(ProgramCase):
    def recorded(self, command, environment=None):
        """Records two volumes of a sample, which is a mirror that moves, and ends it."""
        port = free_port()
        recorder = start("record", "--source", f"tcp://:{port}", "--volumes", 2, "-o", "scan.toml", folder=self.folder)
        sample = subprocess.Popen([*command(f"127.0.0.1:{port}"), "30"], env={**os.environ, **(environment or {})},
                                  stdout=subprocess.DEVNULL)
        self.addCleanup(sample.wait)
        self.addCleanup(sample.kill)
        finished = Finished(recorder)
        self.assertEqual(finished.code, 0, finished)
        raw = tomllib.loads((self.folder / "scan.toml").read_text())["scan"]["file"]
        lines = np.fromfile(self.folder / raw, "<u2").reshape(2, 16, 64, 512)
        self.assertTrue((lines == lines[:, :, :1]).all(), "the lines of a B-scan are alike")
        self.assertGreater(lines.max(), 20000)
        self.assertGreater(len(np.unique(lines[..., 300])), 16, "the mirror moves")

    def test_python_with_ctypes(self):
        self.recorded(lambda to: [sys.executable, SAMPLES / "sender_ctypes.py", LIBRARY, to])

    def test_c(self):
        program = self.folder / "sender"
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-pedantic", "-Werror", SAMPLES / "sender.c", LIBRARY, "-lm",
                        f"-Wl,-rpath,{LIBRARY.parent}", "-o", program], check=True)
        self.recorded(lambda to: [program, to])

    @unittest.skipUnless(shutil.which("mcs") and shutil.which("mono"), "C# needs the packages mono-mcs and mono-runtime")
    def test_c_sharp(self):
        program = self.folder / "Sender.exe"
        subprocess.run(["mcs", f"-out:{program}", SAMPLES / "Sender.cs"], check=True)
        self.recorded(lambda to: ["mono", program, to], {"LD_LIBRARY_PATH": os.fspath(LIBRARY.parent)})


class PurePython(ProgramCase):
    """python/echolux/push.py without NumPy and without the locks of Linux, as on Windows."""

    SCRIPT = """
import array, sys, time
sys.modules["numpy"] = sys.modules["fcntl"] = None
sys.path.insert(0, {folder!r})
import push
try:
    push.Producer("shm:x", samples=8, a_scans=1, b_scans=1)
except push.PushError as error:
    assert "needs Linux" in str(error), error
with push.Producer("tcp://127.0.0.1:{port}", samples=64, a_scans=16, b_scans=8, block_b_scans=2, slots=64) as out:
    assert out.wait_for_viewer(10)
    for i in range(40):
        stamp = 1 << 40 | i
        out.push(array.array("Q", (stamp ^ k * 0x9E3779B97F4A7C15 % 2**64 for k in range(512))))
        time.sleep(0.005)
    time.sleep(0.2)
"""

    def test_sends_every_block(self):
        viewer = Viewer(self)
        script = self.SCRIPT.format(folder=os.fspath(ROOT / "python/echolux"), port=viewer.port)
        subprocess.run([sys.executable, "-I", "-c", script], check=True, timeout=60)
        viewer.await_blocks(30)
        self.assertEqual(sum(block[2] for block in viewer.blocks()), 0)


def missing_for_windows():
    if not shutil.which("x86_64-w64-mingw32-gcc"):
        return "programs for Windows need the package gcc-mingw-w64-x86-64"
    is_here = shutil.which("wine") and Path("/usr/lib/wine/wineserver").exists()
    return "" if is_here else "programs for Windows need the packages wine and wine64"


class Windows(ProgramCase):
    """The library for Windows and a program that calls it, under Wine."""

    @classmethod
    def setUpClass(cls):
        if reason := missing_for_windows():
            raise unittest.SkipTest(reason)
        cls.made = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.made, ignore_errors=True)
        subprocess.run([ROOT / "cmake/package/push.sh", cls.made / "echolux-push"], check=True, stdout=subprocess.DEVNULL)
        libraries = cls.made / "echolux-push/windows"
        subprocess.run(["x86_64-w64-mingw32-gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}",
                        f"-I{ROOT}/tests/session/push", ROOT / "tests/push_library/producer.c",
                        libraries / "echolux_push.lib", "-lws2_32", "-o", cls.made / "producer.exe"], check=True)
        shutil.copy(libraries / "echolux_push.dll", cls.made)
        cls.environment = {**os.environ, "WINEPREFIX": os.fspath(cls.made / "wine"), "WINEDEBUG": "-all",
                           "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe="}
        server = "/usr/lib/wine/wineserver"  # it stays, because each start of one takes seconds
        (cls.made / "wine").mkdir()
        quiet = {"env": cls.environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}  # a pipe stays open
        subprocess.run([server, "-p"], check=True, **quiet)
        cls.addClassCleanup(subprocess.run, [server, "-k"], check=False, **quiet)
        subprocess.run(["wine", "wineboot", "-i"], check=True, **quiet)

    def producer(self, viewer, settings, lines, rate, seconds, number):
        process = subprocess.Popen(["wine", self.made / "producer.exe", f"127.0.0.1:{viewer.port}", settings, str(lines),
                                    str(rate), str(seconds), str(number)], env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def test_next_program_continues_after_kill(self):
        viewer = Viewer(self)
        first = self.producer(viewer, SMALL, 32, 6400, 60, 1)  # 200 blocks per second
        viewer.await_blocks(50, seconds=60)
        first.kill()
        first.wait()
        self.producer(viewer, SMALL, 32, 6400, 60, 2)
        viewer.await_blocks(50, 2, seconds=60)

    def test_slow_lines_at_210_khz(self):
        """60 s of 2048 samples of 16 bits: 860 MB/s where two processors can do that beside the check of every byte. In
        any case no block is wrong and each loss is counted. Then the rate that passes without a loss."""
        settings = "samples=2048 a_scans=512 b_scans=64 block_b_scans=4 slots=32 line_rate_hz=210000"
        report = {"210 kHz": self.run_of(settings, 210000, 60)}
        report["without a rate"] = without = self.run_of(settings, 0, 20)
        self.assertEqual(without["lost"], 0)
        loss_free = 0.8 * without["blocks"] * 2048 / without["seconds"]
        report["80 % of that"] = steady = self.run_of(settings, round(loss_free), 20)
        print(json.dumps(report, indent=1))
        self.assertLess(steady["lost"], 0.02 * steady["blocks"])

    def run_of(self, settings, rate, seconds):
        viewer = Viewer(self)
        process = self.producer(viewer, settings, 2048, rate, seconds, 1)
        out, _ = process.communicate(timeout=4 * seconds + 60)
        self.assertEqual(process.returncode, 0)
        pushed, sent, dropped = map(int, out.splitlines()[-1].split())
        blocks = viewer.blocks()
        lost = sum(block[2] for block in blocks)
        self.assertEqual(pushed, sent + dropped)
        # Blocks before the first whole volume, and those behind the last block that came, are not counted by the viewer.
        self.assertEqual(blocks[-1][1] - blocks[0][1] + 1, len(blocks) + lost)
        return {"pushed": pushed, "blocks": len(blocks), "lost": lost, "seconds": seconds,
                "MB_per_s": round(len(blocks) * 8.388608 / seconds), "kHz": round(len(blocks) * 2.048 / seconds, 1)}


if __name__ == "__main__":
    unittest.main()
