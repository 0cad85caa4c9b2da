"""Kills at random times, of workers, scheduler and client, until ECHOLUX_KILLS (1000) are done: the same bytes at the end of
every job, and at most one part is begun again for each worker that was killed. ECHOLUX_SEED repeats a run."""
import os
import random
import subprocess
import sys
import time
import unittest

from archive import PARTS, DaskCase, batch, result_bytes, write_archive
from test_parts import reconstruct

SCANS = 4
WINDOWS = "hann", "blackman"  # of jobs in turn, so that each begins anew


class AtRandom(DaskCase):
    def setUp(self):
        super().setUp()
        self.scans = write_archive(self.folder / "data", SCANS, a_scans=64, samples=1024)
        self.begun = self.folder / "begun"
        self.wanted = {}
        for window in WINDOWS:
            reconstruct(self.scans, self.folder / window, recipe={"window": window})
            self.wanted[window] = result_bytes(self.folder / window)

    def parts_begun(self):
        return self.begun.read_text().count("\n") if self.begun.exists() else 0

    def start_job(self, window):
        return self.start(*batch(self.scans, "-o", self.folder / "out", "--dask", self.address, "--part-b-scans", "64", "--quiet",
                                 "--overwrite", "--set", f"recipe.window={window}"))

    def kill_one(self, dice, job):
        """And starts the next one in its place."""
        what = dice.choice(["worker", "worker", "scheduler", "client"])
        self.lost += 1 if what == "worker" else 2
        if what == "client":
            self.end(job)
        elif what == "worker":
            number = dice.randrange(2)
            self.end(self.workers[number])
            self.workers[number] = self.start_worker(self.begun)
        else:
            for one in self.scheduler, *self.workers:
                self.end(one)
            self.start_all()

    def start_all(self):
        self.scheduler = self.restart_scheduler()
        self.workers = [self.start_worker(self.begun) for _ in range(2)]

    def test_kills(self):
        kills, seed = int(os.environ.get("ECHOLUX_KILLS", 1000)), int(os.environ.get("ECHOLUX_SEED", time.time()))
        print(f"ECHOLUX_SEED={seed}", file=sys.stderr)
        dice, done, jobs = random.Random(seed), 0, 0
        self.start_scheduler().kill()
        self.start_all()
        while done < kills:
            window, before, here, tries, self.lost = WINDOWS[jobs % 2], self.parts_begun(), 0, 0, 0
            while True:
                job, until = self.start_job(window), time.monotonic() + dice.uniform(0.5, 5)
                while job.poll() is None and (time.monotonic() < until or here >= 10 or done >= kills):
                    time.sleep(0.02)
                if job.poll() == 0:
                    break
                if job.poll() is None:
                    self.kill_one(dice, job)
                    done, here = done + 1, here + 1
                try:  # a client goes on while its workers change, and ends when its scheduler does
                    job.wait(timeout=40)
                except subprocess.TimeoutExpired:
                    self.end(job)
                tries += 1
                self.assertLess(tries, 50, "a job that never ends")
            jobs += 1
            self.assertEqual(result_bytes(self.folder / "out"), self.wanted[window])
            # One for each worker that is killed: a scheduler takes two with it, and a killed client leaves to two what they hold.
            again = self.parts_begun() - before - SCANS * PARTS
            self.assertLessEqual(again, self.lost)
            print(f"{done} kills in {jobs} jobs; {here} in the last one, {again} parts begun again", file=sys.stderr, flush=True)


if __name__ == "__main__":
    unittest.main()
