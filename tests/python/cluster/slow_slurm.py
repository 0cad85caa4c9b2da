"""A real Slurm installation started by the test (controller, two daemons, munge), and an array job whose tasks are
killed and requeued."""
import os
import secrets
import shutil
import socket
import subprocess
import sys
import unittest
from pathlib import Path

from archive import PARTS, ClusterCase, batch, free_port, write_archive
from test_parts import reconstruct

CONFIGURATION = """
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={ports[0]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/daemon-%n.pid
SlurmctldLogFile={folder}/controller.log
SlurmdLogFile={folder}/daemon-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1
KillWait=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES State=UP
"""
NEEDED = [name for name in ("slurmctld", "slurmd", "munged", "sbatch")
          if shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin") is None]


@unittest.skipIf(NEEDED, "Slurm is not installed: apt-get install slurm-wlm munge")
@unittest.skipIf(os.getuid() != 0, "Slurm's daemons need root")
class RealSlurm(ClusterCase):
    def setUp(self):
        super().setUp()
        self.slurm = self.folder / "slurm"
        (self.slurm / "state").mkdir(parents=True)
        self.environment = {**os.environ, "SLURM_CONF": str(self.slurm / "slurm.conf"),
                            "PATH": os.environ["PATH"] + ":/usr/sbin"}
        host = socket.gethostname().partition(".")[0]
        ports = [free_port() for _ in range(3)]
        (self.slurm / "slurm.conf").write_text(CONFIGURATION.format(folder=self.slurm, host=host, ports=ports))
        key = self.slurm / "key"
        key.write_bytes(secrets.token_bytes(32))
        key.chmod(0o600)
        self.daemon("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.slurm}/munge.socket",
                    f"--pid-file={self.slurm}/munge.pid", f"--log-file={self.slurm}/munge.log", f"--seed-file={self.slurm}/seed")
        self.wait_for("munge", (self.slurm / "munge.socket").exists)
        self.daemon("slurmctld", "-D", "-c")
        for node in "n1", "n2":
            self.daemon("slurmd", "-D", "-N", node)
        self.wait_for("idle nodes", lambda: self.asked("sinfo", "-h", "-o", "%T %D").strip() == "idle 2")
        self.scans = write_archive(self.folder / "data", 40)
        self.out, self.reference = self.folder / "out", self.folder / "reference"
        reconstruct(self.scans, self.reference)

    def daemon(self, *command):
        process = subprocess.Popen(list(command), env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.end, process)

    def asked(self, *command):
        return subprocess.run(list(command), env=self.environment, capture_output=True, text=True).stdout

    def submit(self, *more):
        words = [sys.executable, *batch(self.scans, "-o", self.out, "--part-b-scans", "64", "--slurm", "4", *more)]
        done = subprocess.run(words, env=self.environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()[-1]

    def parts_there(self):
        return len(list(self.out.glob(".echolux/*/*/0-*.json")))

    def wait_for_the_end(self):
        self.wait_for("end of all tasks", lambda: not self.asked("squeue", "-h", "-t", "all", "-o", "%T").replace(
            "COMPLETED", "").strip(), 300)

    def test_array_finishes_whole_job(self):
        self.submit()
        self.wait_for_the_end()
        self.assert_same_results(self.out, self.reference)
        taken = subprocess.run(["sbatch", "--test-only", self.out / ".echolux/slurm.sh"], env=self.environment, capture_output=True)
        self.assertEqual(taken.returncode, 0)

    def test_requeues_killed_tasks(self):
        job = self.submit()
        self.wait_for("part", lambda: self.parts_there() > 5)
        self.asked("scontrol", "requeue", f"{job}_1")
        there = self.parts_there()
        self.wait_for("part", lambda: self.parts_there() > there + 2)
        workers = self.asked("pgrep", "-f", f"echolux.cluster reconstruct --workers 0 --share .* -o {self.out}").split()
        for one in workers:  # only those with this test's folder
            os.kill(int(one), 9)
        self.assertTrue(workers)
        self.wait_for("death", lambda: not any(Path(f"/proc/{one}").exists() for one in workers))
        self.wait_for_the_end()
        self.assert_same_results(self.out, self.reference)
        self.assertEqual(self.parts_there(), 40 * PARTS)
