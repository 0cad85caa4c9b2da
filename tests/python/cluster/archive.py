"""Shared by the cases of the cluster: an archive of small scans, the bytes of results, child processes."""
import hashlib
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import FolderCase, spectra, write_scan
from waiting import wait_until

MISSING = [name for name in ("zarr", "dask", "distributed", "fsspec") if importlib.util.find_spec(name) is None]
PATIENCE_S = 300  # for steps that take a second on an idle machine
PARTS = 3  # of a scan of 130 B-scans in parts of 64


def write_archive(folder, scans, b_scans=130, a_scans=6, samples=128, **recipe):
    """Writes eye0/scan.toml, eye1/scan.toml ..., all different."""
    for number in range(scans):
        place = Path(folder) / f"eye{number}"
        place.mkdir(parents=True)
        write_scan(place, spectra(b_scans, a_scans, samples, seed=number), **recipe)
    return str(Path(folder) / "*" / "scan.toml")


def result_bytes(folder):
    """Returns a hash of each result file. Markers and locks are left out because they contain times and paths."""
    folder = Path(folder)
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(folder.rglob("*")) if path.is_file() and ".echolux" not in path.parts}


@unittest.skipIf(MISSING, f"{', '.join(MISSING)} cannot be had from PyPI")
class ClusterCase(FolderCase):
    """Processes started by a case end with it. Its folder is in memory if possible, because files are synchronised
    hundreds of times."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def start(self, *arguments, **options):
        process = subprocess.Popen([sys.executable, *map(str, arguments)], stdout=options.pop("stdout", subprocess.DEVNULL),
                                   stderr=options.pop("stderr", subprocess.DEVNULL), **options)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.wait()
        for stream in process.stdout, process.stderr:
            if stream:
                stream.close()

    def wait_for(self, what, condition, seconds=PATIENCE_S):
        wait_until(condition, what, seconds)

    def assert_same_results(self, out, reference):
        self.assertEqual(result_bytes(out), result_bytes(reference))
        self.assertEqual([path for path in Path(out).rglob(".unfinished*")], [])


def batch(*arguments):
    return ("-m", "echolux.cluster", *arguments)


def free_port():
    import socket

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class DaskCase(ClusterCase):
    """Starts the scheduler and workers of Dask as separate processes, as on a cluster."""

    def start_scheduler(self):
        self.port = free_port()
        self.address = f"tcp://127.0.0.1:{self.port}"
        return self.restart_scheduler()

    def restart_scheduler(self):
        environment = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "3s"}
        return self.start("-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", self.port, "--no-dashboard",
                          env=environment)

    def worker_command(self, counted):
        preload = ["--preload", Path(__file__).parent / "steps.py"] if counted else []
        return [str(word) for word in (
            sys.executable, "-m", "distributed.cli.dask_worker", self.address, "--host", "127.0.0.1", "--nthreads", "1",
            "--no-nanny", "--no-dashboard", "--local-directory", self.folder, "--death-timeout", "60", *preload)]

    def worker_environment(self, counted):
        if counted:
            counted.mkdir(exist_ok=True)
        return {**os.environ, "ECHOLUX_STEPS": str(counted or ""), "PYTHONPATH": os.pathsep.join(sys.path)}

    def start_worker(self, counted=None):
        """counted: folder of the counters of steps.py."""
        return self.start(*self.worker_command(counted)[1:], env=self.worker_environment(counted))
