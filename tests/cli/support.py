"""Shared by the end-to-end cases: calling the program, writing scans with NumPy, reading volumes and pictures. Files
are read with third-party code, or for the two simplest formats with a few lines that are independent of the program."""
import gzip
import os
import re
import resource
import signal
import subprocess
import tempfile
import unittest
import zlib
from pathlib import Path

import nibabel
import numpy as np
import tifffile

from waiting import wait_until

PROGRAM = os.environ.get("ECHOLUX_PROGRAM", "echolux")
LAYERS = Path("/usr/share/vulkan/explicit_layer.d")
VALIDATES = "ECHOLUX_VALIDATE_ALL" in os.environ or os.environ.get("ECHOLUX_TEST_VALIDATION") != "0"
VALIDATION = {"ECHOLUX_VALIDATION": "1"} if VALIDATES and any(LAYERS.glob("*khronos_validation*")) else {}
NO_VULKAN = {"VK_DRIVER_FILES": "/nonexistent.json", "VK_ICD_FILENAMES": "/nonexistent.json"}


def start(*arguments, folder=".", environment=None, most_file_bytes=None):
    """Starts the program. Writes beyond `most_file_bytes` fail, as on a full disk."""

    def in_the_child():
        # Children of nohup and background jobs of a shell ignore these signals.
        for ends in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(ends, signal.SIG_DFL)
        if most_file_bytes is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # makes the write fail instead of raising a signal
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_file_bytes, most_file_bytes))

    return subprocess.Popen(
        [PROGRAM, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **VALIDATION, **(environment or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=in_the_child,
        restore_signals=False,
    )


def has_signal(process, kind, which):
    """Whether a set of signals of the process contains it: "SigCgt", caught, or "ShdPnd", not received yet."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    found = re.search(rf"{kind}:\s*([0-9a-f]+)", status)
    return bool(int(found[1], 16) >> (which - 1) & 1)


def processor_seconds(process):
    user, system = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class Finished:
    """Exit code and output of the program. Any message of the Vulkan validation layer fails the test."""

    def __init__(self, process, timeout_s=240):
        self.out, self.err = process.communicate(timeout=timeout_s)
        self.code = process.returncode
        self.error_lines = [line for line in self.err.splitlines() if line.strip()]
        if re.search(r"^Validation [A-Z]|VUID-|SYNC-HAZARD", self.err, re.M):
            raise AssertionError(f"the Vulkan validation layer complains\n{self}")

    def __str__(self):
        return f"exit code {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


class ProgramCase(unittest.TestCase):
    """A case with its own folder, in which the program runs."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def run_program(self, *arguments, **how):
        return Finished(start(*arguments, folder=self.folder, **how))

    def succeed(self, *arguments, **how):
        finished = self.run_program(*arguments, **how)
        self.assertEqual(finished.code, 0, finished)
        return finished

    def refuse(self, *arguments, names=(), lines=1, **how):
        """Expects the call to fail with one line on standard error that contains each of `names`, and to leave no new
        file. With lines=None, progress messages may come first and only the last line is checked."""
        before = self.files()
        finished = self.run_program(*arguments, **how)
        self.assertNotEqual(finished.code, 0, finished)
        self.assertGreater(finished.code, 0, f"ended by a signal\n{finished}")
        self.assertTrue(finished.error_lines, finished)
        if lines is not None:
            self.assertEqual(len(finished.error_lines), lines, finished)
        for name in names:
            self.assertIn(str(name).lower(), finished.error_lines[-1].lower(), finished)
        self.assertEqual(self.files(), before, finished)
        return finished

    def wait_for(self, process, what, is_so):
        """Waits until `is_so()` while the process runs."""

        def comes():
            return is_so() or self.assertIsNone(process.poll(), f"ended before {what}")

        try:
            wait_until(comes, what)
        except TimeoutError:
            process.kill()
            raise

    def wait_until_interrupts_are_caught(self, process):
        """Waits for the handler: before it is installed, an interrupt kills the program. Starting takes seconds on a busy machine."""

        self.wait_for(process, "interrupts are caught", lambda: has_signal(process, "SigCgt", signal.SIGINT))

    def wait_until_it_works(self, process, cpu_s=0.1):
        """Waits until it has used `cpu_s` seconds of processor time after its start."""
        self.wait_until_interrupts_are_caught(process)
        begin = processor_seconds(process)
        self.wait_for(process, f"{cpu_s} s of work", lambda: processor_seconds(process) - begin >= cpu_s)

    def send_signals(self, process, *signals):
        """Sends each when the one before has been received: the system merges simultaneous signals."""
        for one in signals:
            process.send_signal(one)
            wait_until(lambda: process.poll() is not None or not has_signal(process, "ShdPnd", one), "the signal is received")

    def files(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())


# ---- scans ----------------------------------------------------------------------------------------------------------


def extend(path, size_bytes):
    """Adds a hole to the end of a file, so that it takes long to reconstruct but needs no disk space."""
    with open(path, "r+b") as raw:
        raw.truncate(size_bytes)


# ---- volumes and pictures -------------------------------------------------------------------------------------------


NUMPY_TYPES = {"uchar": "u1", "unsigned char": "u1", "uint8": "u1", "ushort": "<u2", "unsigned short": "<u2",
               "uint16": "<u2", "short": "<i2", "int16": "<i2", "float": "<f4",
               "MET_UCHAR": "u1", "MET_USHORT": "<u2", "MET_SHORT": "<i2", "MET_FLOAT": "<f4"}


def read_nrrd(path):
    header, voxels = Path(path).read_bytes().split(b"\n\n", 1)
    fields = dict(re.findall(r"^([^:#\n]+): (.*)$", header.decode(), re.M))
    if fields["encoding"] in ("gzip", "gz"):
        voxels = gzip.decompress(voxels)
    sizes = [int(n) for n in fields["sizes"].split()]
    return np.frombuffer(voxels, NUMPY_TYPES[fields["type"]]).reshape(sizes[::-1])


def read_meta_image(path):
    header, voxels = Path(path).read_bytes().split(b"ElementDataFile = LOCAL\n", 1)
    fields = dict(re.findall(r"^(\w+) = (.*)$", header.decode(), re.M))
    if fields.get("CompressedData") == "True":
        voxels = zlib.decompress(voxels)
    sizes = [int(n) for n in fields["DimSize"].split()]
    return np.frombuffer(voxels, NUMPY_TYPES[fields["ElementType"]]).reshape(sizes[::-1])


def read_volume(path):
    """Returns the voxels of a file as [b][a][z]. In files, columns are A-scans, rows are depth and slices are
    B-scans."""
    name = str(path)
    if name.endswith((".nii", ".nii.gz")):
        slices_rows_columns = np.asarray(nibabel.load(name).dataobj).T
    elif name.endswith(".tif"):
        slices_rows_columns = tifffile.imread(name)
    elif name.endswith(".nrrd"):
        slices_rows_columns = read_nrrd(path)
    else:
        slices_rows_columns = read_meta_image(path)
    return np.swapaxes(slices_rows_columns, -1, -2)
