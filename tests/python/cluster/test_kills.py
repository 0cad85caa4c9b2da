"""Fifty kills at random times, of a job in one process; slow_kills.py has more, of scheduler, workers and client."""
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

from archive import ClusterCase, write_archive


class AtRandom(ClusterCase):
    def test_the_same_bytes_and_at_most_one_part_again_for_each_kill(self):
        scans = write_archive(self.folder / "data", 2, a_scans=64, samples=1024)
        seed = os.environ.get("ECHOLUX_SEED", str(int(time.time())))
        done = subprocess.run([sys.executable, Path(__file__).parent / "killed_jobs.py", scans, self.folder,
                               os.environ.get("ECHOLUX_KILLS", "50"), seed], capture_output=True, text=True,
                              env={**os.environ, "ECHOLUX_COUNT": str(self.folder / "begun")})
        print(f"ECHOLUX_SEED={seed}: {done.stdout.strip()}", file=sys.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
