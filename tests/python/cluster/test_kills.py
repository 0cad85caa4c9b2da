"""Fifty kills at random steps of a job in one process. slow_kills.py has more, including scheduler, workers and
client."""
import os
import subprocess
import sys
import time
from pathlib import Path

from archive import ClusterCase, write_archive


class KilledCase(ClusterCase):
    def run_kills(self, kind, scans, kills):
        pattern = write_archive(self.folder / "data", scans)
        (self.folder / "steps").mkdir()
        seed = os.environ.get("ECHOLUX_SEED", str(int(time.time())))
        print(f"ECHOLUX_SEED={seed}", file=sys.stderr, flush=True)
        done = subprocess.run([sys.executable, Path(__file__).parent / "killed_jobs.py", kind, pattern, self.folder,
                               os.environ.get("ECHOLUX_KILLS", str(kills)), seed], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "ECHOLUX_STEPS": str(self.folder / "steps")})
        print(done.stdout.strip(), file=sys.stderr)
        log = self.folder / "log"
        self.assertEqual(done.returncode, 0, log.read_text()[-4000:] if log.exists() else "")


class Alone(KilledCase):
    def test_slow_remakes_at_most_one_part_per_kill(self):
        self.run_kills("alone", 2, 50)
