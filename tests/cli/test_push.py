"""Acquisition programs push spectra and the program records them: the file must contain the pushed data."""
import importlib.util
import os
import subprocess
import tomllib
import uuid
from pathlib import Path

import numpy as np

from scans import fringes
from support import PROGRAM, Finished, ProgramCase, start

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
