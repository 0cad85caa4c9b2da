"""Several hosts on one machine: workers in separate network namespaces whose link is cut and restored."""
import os
import subprocess
from pathlib import Path

from archive import PARTS, PATIENCE_S, DaskCase, batch, write_archive
from test_parts import reconstruct

SCANS = 8


def ip(*words):
    return subprocess.run(["ip", *map(str, words)], capture_output=True, text=True,
                          env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin"})


class Hosts(DaskCase):
    def setUp(self):
        super().setUp()
        self.port = 30000 + os.getpid() % 20000
        self.hosts = [f"echolux{os.getpid() % 10000}-{number}" for number in (1, 2)]
        for number, host in enumerate(self.hosts, 1):
            if ip("netns", "add", host).returncode != 0:
                self.skipTest("network namespaces cannot be made here")
            self.addCleanup(ip, "netns", "del", host)
            ours, theirs = self.link(number), f"{self.link(number)}p"
            ip("link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", host)
            self.addCleanup(ip, "link", "del", ours)
            ip("addr", "add", f"10.77.{number}.1/24", "dev", ours)
            ip("link", "set", ours, "up")
            ip("-n", host, "addr", "add", f"10.77.{number}.2/24", "dev", theirs)
            ip("-n", host, "link", "set", theirs, "up")
            ip("-n", host, "link", "set", "lo", "up")

    def link(self, number):
        return f"ech{os.getpid() % 10000}n{number}"

    def start_worker_on(self, number, counted):
        self.address = f"tcp://10.77.{number}.1:{self.port}"
        words = [word if word != "127.0.0.1" else f"10.77.{number}.2" for word in self.worker_command(counted)]
        command = ["/usr/sbin/ip", "netns", "exec", self.hosts[number - 1], *words]
        process = subprocess.Popen(command, env=self.worker_environment(counted), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, process)
        return process

    def start_job(self, count):
        """Starts a job of `count` scans with a worker on each host."""
        scans = write_archive(self.folder / "data", count)
        self.out, self.counted = self.folder / "out", self.folder / "steps"
        reconstruct(scans, self.folder / "reference")
        environment = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "3s"}
        self.start("-m", "distributed.cli.dask_scheduler", "--host", "0.0.0.0", "--port", self.port, "--no-dashboard", env=environment)
        for number in 1, 2:
            self.start_worker_on(number, self.counted)
        return self.start(*batch(scans, "-o", self.out, "--dask", f"tcp://10.77.1.1:{self.port}", "--part-b-scans", "64"),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def finish(self, job):
        """Returns the number of parts that were begun."""
        said = job.communicate(timeout=4 * PATIENCE_S)[0]
        self.assertEqual(job.returncode, 0, said)
        self.assert_same_results(self.out, self.folder / "reference")
        return (self.counted / "begun").read_text().count("\n")

    def test_two_hundred_scans(self):
        self.assertEqual(self.finish(self.start_job(200)), 200 * PARTS)

    def test_cut_network(self):
        job = self.start_job(SCANS)
        there = lambda: len(list(Path(self.out).glob(".echolux/*/*/0-*.json")))  # noqa: E731
        self.wait_for("part", lambda: there() > 3)
        ip("link", "set", self.link(2), "down")
        self.wait_for("part", lambda: there() > 10)
        ip("link", "set", self.link(2), "up")
        # Dask reassigns up to two tasks of a lost worker.
        self.assertLessEqual(self.finish(job), SCANS * PARTS + 2)
