"""A real scheduler and workers as processes: the same bytes as from one process, even if processes are killed or
hang."""
import os
import signal
import subprocess
import unittest

from archive import PARTS, PATIENCE_S, DaskCase, batch, write_archive
from echolux.cluster.jobs import DaskExecutor
from test_parts import reconstruct

SCANS = 4


class LosesOnce:
    """Acts as both client and future. The worker is lost after it has finished, but before its result is collected."""
    status, key, done = "lost", "echolux-1", None

    def nthreads(self):
        return {"tcp://127.0.0.1:1": 1}

    def submit(self, *_, **__):
        return self

    def add_done_callback(self, done):
        self.done = done

    def exception(self):
        return None

    def result(self):
        return {"made": 1}

    def release(self):
        pass


class Outcomes(unittest.TestCase):
    def test_lost_results_are_awaited_again(self):
        client = LosesOnce()
        executor = DaskExecutor(client)
        executor.submit({"retries": 1})
        taken, client.done = client.done, None
        taken(client)
        self.assertIsNone(executor.next(0.01))
        self.assertIsNotNone(client.done, "nobody would hear of it")
        client.status = "finished"
        client.done(client)
        self.assertEqual(executor.next(0.01), ({"retries": 1}, {"made": 1}))


class OnDask(DaskCase):
    def setUp(self):
        super().setUp()
        self.scans = write_archive(self.folder / "data", SCANS)
        self.out, self.reference, self.steps = (self.folder / name for name in ("out", "reference", "steps"))
        reconstruct(self.scans, self.reference)

    def start_job(self, *more):
        return self.start(*batch(self.scans, "-o", self.out, "--dask", self.address, "--part-b-scans", "64", *more),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def finish(self, job):
        said = job.communicate(timeout=PATIENCE_S)[0]
        self.assertEqual(job.returncode, 0, said)
        self.assert_same_results(self.out, self.reference)
        return said

    def parts_there(self):
        return len(list(self.out.glob(".echolux/*/*/0-*.json")))

    def parts_begun(self):
        begun = self.steps / "begun"
        return begun.read_text().count("\n") if begun.exists() else 0

    def test_two_workers_write_same_bytes_as_one_process(self):
        self.start_scheduler()
        for _ in range(2):
            self.start_worker(self.steps)
        said = self.finish(self.start_job())
        self.assertIn(f"{SCANS} of {SCANS} scans finished, {SCANS * PARTS} parts made", said)
        self.assertEqual(self.parts_begun(), SCANS * PARTS)

    def test_slow_worker_is_killed_and_another_freezes(self):
        self.start_scheduler()
        killed, frozen = self.start_worker(self.steps), self.start_worker(self.steps)
        job = self.start_job()
        self.wait_for("part", lambda: self.parts_there() > 1)
        killed.kill()
        self.start_worker(self.steps)
        self.wait_for("part", lambda: self.parts_there() > 3)
        frozen.send_signal(signal.SIGSTOP)
        self.finish(job)
        frozen.send_signal(signal.SIGCONT)
        self.assertLessEqual(self.parts_begun(), SCANS * PARTS + 2)

    def test_slow_scheduler_and_all_workers_are_killed(self):
        scheduler = self.start_scheduler()
        workers = [self.start_worker(self.steps) for _ in range(2)]
        job = self.start_job()
        self.wait_for("part", lambda: self.parts_there() > 2)
        scheduler.kill()
        said = job.communicate(timeout=PATIENCE_S)[0]
        self.assertEqual(job.returncode, 1, said)
        self.assertIn("the connection to the scheduler broke", said)
        for worker in workers:
            worker.kill()
        there = self.parts_there()
        self.restart_scheduler()
        self.start_worker(self.steps)
        self.assertIn(f"{there} were there", self.finish(self.start_job()))

    def test_slow_client_is_killed(self):
        self.start_scheduler()
        for _ in range(2):
            self.start_worker(self.steps)
        job = self.start_job()
        self.wait_for("part", lambda: self.parts_there() > 2)
        job.kill()
        job.wait()
        said = self.finish(self.start_job())
        self.assertIn("took over from process", said)
        self.assertLessEqual(self.parts_begun(), SCANS * PARTS + 2)

    def test_slow_excludes_part_that_kills_workers(self):
        self.start_scheduler()
        command = self.worker_command(self.steps)
        keeper = self.start("-c", f"import subprocess\nwhile True: subprocess.run({command!r}, capture_output=True)",
                            start_new_session=True,  # restarts workers like a batch system
                            env=self.worker_environment(self.steps))
        (self.steps / "fatal").write_text("eye1/scan.ome.zarr 0 64")
        self.addCleanup(os.killpg, keeper.pid, signal.SIGKILL)
        said = self.start_job("--quiet").communicate(timeout=PATIENCE_S)[0]
        self.assertRegex(said, rf"{SCANS - 1} of {SCANS} scans finished, .* 1 failed")
        self.assertEqual(self.parts_there(), SCANS * PARTS - 1)
        self.assertRegex(said, r"eye1/scan.toml  B-scans 64:128 of volume 0  ended every worker that tried it")
