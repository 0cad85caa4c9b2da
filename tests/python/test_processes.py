"""Interruptions, processes and memory in long sessions with the module."""
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import echolux as ox
from support import FolderCase, spectra, write_scan
from waiting import wait_until

RAW = spectra(b_scans=2)


def made(raw=RAW):
    make = ox.Reconstructor(samples=256, a_scans=16, b_scans=2, recipe={"levels": "fixed"})
    return make(raw)


def in_child(queue):
    try:
        queue.put(("made", made()))
    except ox.Error as error:
        queue.put((error.code, error.remedy))


class Processes(unittest.TestCase):
    def answer(self, method):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        child = context.Process(target=in_child, args=(queue,))
        child.start()
        answer = queue.get(timeout=60)
        child.join(60)
        self.assertEqual(child.exitcode, 0)
        return answer

    def test_spawned_processes_work(self):
        expected = made()
        kind, voxels = self.answer("spawn")
        self.assertEqual(kind, "made")
        np.testing.assert_array_equal(voxels, expected)

    def test_late_forks_explain_failure(self):
        made()
        kind, remedy = self.answer("fork")
        self.assertEqual(kind, "unsupported")
        self.assertIn("spawn", remedy)

    def test_early_forks_work(self):
        script = ("import os, sys, numpy as np, echolux as ox\n"
                  "child = os.fork()\n"
                  "make = ox.Reconstructor(samples=64, a_scans=4, recipe={'levels': 'fixed'})\n"
                  "make(np.ones((1, 4, 64), np.uint16))\n"
                  "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if child else 0)\n")
        subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


class Ends(unittest.TestCase):
    """Exits of processes whose threads are still in the library, or may return from it."""

    START = ("import os, sys, threading, time, numpy as np, echolux as ox\n"
             "ones = np.ones((4, 16, 256), np.uint16)\n"
             "fixed = {'levels': 'fixed', 'background': 'none'}\n"
             "small = {'samples': 256, 'a_scans': 16, 'b_scans': 4}\n"
             "def endless():\n"
             "    while True: yield ones\n"
             "def daemon(work): threading.Thread(target=work, daemon=True).start()\n"
             "begun = threading.Semaphore(0)\n"
             "def wait_for(times):\n"
             "    for _ in range(times): assert begun.acquire(timeout=20)\n")

    def ends_well(self, *lines, tries=1, output=""):
        script = self.START + "\n".join(lines)
        for _ in range(tries):
            run = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c", script], capture_output=True,
                                 text=True, timeout=30)
            self.assertEqual((run.returncode, run.stdout, run.stderr), (0, output, ""))

    EXITS = {
        "running sources": [["session = ox.live(endless(), lossless=False, recipe=fixed)", "session.next(3)"],
                            ["session = ox.live(endless(), lossless=True, recipe=fixed)", "session.next(3)"]],
        "a waiting source": [["def waits():", "    yield ones", "    threading.Event().wait()", "session = ox.live(waits(), recipe=fixed)",
                              "session.next(3)"]],
        "the source of a dropped session": [["session = ox.live(endless(), lossless=True, recipe=fixed)", "session.next(3)", "del session"]],
        "threads that read volumes": [["def take():", "    for volume in ox.live('sim:vessel', simulation=small): begun.release()",
                                       "daemon(take)", "wait_for(5)"]],
        "threads that reconstruct": [["make = ox.Reconstructor(samples=256, a_scans=16, b_scans=4, recipe=fixed)", "def work():",
                                      "    while True: make(ones); begun.release()", "for _ in range(4): daemon(work)", "wait_for(40)"]],
        "threads in long calls": [["slow = ox.simulate('mirror', samples=1024, a_scans=256, b_scans=64)",
                                   "for _ in range(2): daemon(lambda: slow.spectra(progress=lambda *now: begun.release()))", "wait_for(2)"]],
        "stages of sessions": [["def stage(array): array += 1; sum(range(10000))", session] for session in (
            "with ox.live('sim:vessel', simulation=small, stages={'spectra': stage}) as session: session.next(3)",
            "session = ox.live(endless(), recipe=fixed, stages={'voxels': stage}); session.next(3)")],
        "stages of threads": [["make = ox.Reconstructor(samples=256, a_scans=16, b_scans=4, recipe=fixed)",
                               "def stage(array): array += 1; sum(range(10000))", "make._scan.set_stages(stage)",
                               "make = ox.Reconstructor(make._scan)", "def work():", "    while True: make(ones); begun.release()",
                               "for _ in range(2): daemon(work)", "wait_for(20)"]],
    }

    def test_exits_with_work_of_main_thread(self):
        self.ends_well("import atexit", "done = []", "def last():",
                       "    done.append(ox.simulate('vessel', **small).spectra().shape)",
                       "    os.write(1, str(done).encode())",
                       "atexit.unregister(ox._end); atexit.register(last); atexit.register(ox._end)",
                       "s = ox.live('sim:vessel', simulation=small)", "s.next(3)", output="[(4, 16, 256)]")

    def test_children_exit_with_sessions_of_parent(self):
        for end in ("sys.exit()", "del session, make, scan; sys.exit()", "session.__dict__.clear(); sys.exit()"):
            self.ends_well("session = ox.live('sim:vessel', simulation=small, stages={'spectra': lambda a: None})",
                           "session.next(3)", "make = ox.Reconstructor(samples=256, a_scans=16, recipe=fixed)",
                           "make(ones[:1])", "scan = make._scan", "scan.set_stages(lambda a: None)", "child = os.fork()",
                           "if child == 0:", f"    {end}", "timer = threading.Timer(10, os.kill, (child, 9)); timer.start()",
                           "ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])",
                           "timer.cancel()", "if ended: sys.exit(f'the child ended with {ended}')")


def add_exit_case(what, scripts):
    def case(self):
        for script in scripts:
            self.ends_well(*script, tries=2)
    setattr(Ends, f"test_exits_with_{what.replace(' ', '_')}", case)


for what, scripts in Ends.EXITS.items():
    add_exit_case(what, scripts)


def interrupt_soon(after):
    threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


class Interruptions(FolderCase):
    MAX_S = 0.2

    def stops(self, work, after=0.1, tries=3):
        """Expects KeyboardInterrupt in time, on a busy machine at least once."""
        late = []
        for _ in range(tries):
            interrupt_soon(after)
            start = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                work()
                threading.Event().wait(after + 1)  # in case it arrives after the work has ended
                self.fail("the work ended before")
            late.append(time.monotonic() - start - after)
        self.assertLess(min(late), self.MAX_S)

    def slow_scan(self):
        raw = np.tile(spectra(b_scans=1, a_scans=256, samples=1024), (40, 1, 1))
        return ox.open(write_scan(self.folder, raw, method="defr", a2_rad=80.0), defr={"iterations": 30})

    def test_slow_interrupt_stops_reconstruction_of_scan(self):
        scan = self.slow_scan()
        self.stops(lambda: scan.reconstruct(progress=False))
        volume = scan.reconstruct(b_scans=(0, 1), progress=False)  # it still works
        self.assertEqual(volume.shape[0], 1)

    def test_interrupt_stops_reconstructor(self):
        raw = np.tile(spectra(b_scans=4, a_scans=256, samples=1024), (60, 1, 1))
        make = ox.Reconstructor(samples=1024, a_scans=256, b_scans=240, recipe={"levels": "fixed", "a2_rad": 5})
        out = np.empty((240, 256, 512), np.float32)

        def work():
            for _ in range(100):
                make(raw, out=out)

        self.stops(work)
        self.assertEqual(make(raw[:1]).shape, (1, 256, 512))

    def test_interrupt_stops_writing_file(self):
        big = ox.Volume.from_array(np.random.default_rng(1).normal(size=(128, 256, 512)).astype(np.float32))
        (self.folder / "out").mkdir()
        self.stops(lambda: big.save(self.folder / "out" / "big.nii.gz", progress=False))
        wait_until(lambda: not list((self.folder / "out").iterdir()), "the end of the current piece")

    def test_slow_interrupt_stops_truth_of_scene(self):
        scene = {"samples": 1024, "a_scans": 512, "b_scans": 64}
        sims = [ox.simulate("vessel", **scene) for _ in range(2)]
        begun = iter(sims)
        self.stops(lambda: next(begun).truth.labels, after=0.1, tries=len(sims))
        for sim in sims:
            self.assertEqual(sim.truth.labels.shape[0], 64)  # finish the work, so that it does not affect other cases

    def test_slow_interrupt_stops_rendering(self):
        volume = ox.Volume.from_array(np.random.default_rng(1).integers(0, 255, (64, 64, 64), np.uint8))
        view = {"mode": "composite", "width": 400, "height": 400, "samples": 16}
        try:
            start = time.monotonic()
            volume.render(**view)
            if time.monotonic() - start < 0.3:
                self.skipTest("pictures are too fast here to be interrupted")
        except (ox.Unsupported, ox.DeviceFailed) as error:
            self.skipTest(str(error))
        self.stops(lambda: volume.render(**view), after=0.1, tries=1)

    def test_interrupt_exits_cleanly(self):
        self.slow_scan()
        script = (f"import os, signal, threading, echolux as ox\n"
                  f"scan = ox.open({str(self.folder / 'scan.toml')!r}, defr={{'iterations': 30}})\n"
                  f"threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
                  f"scan.reconstruct()\n")
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stderr.splitlines()[-1]), (-signal.SIGINT, "KeyboardInterrupt"), run.stderr)

    def test_exceptions_of_progress_are_raised(self):
        scan = self.slow_scan()
        seen = []

        def progress(task, done, total):
            seen.append((task, done, total))
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            scan.reconstruct(progress=progress)
        self.assertTrue(all(isinstance(task, str) and 0 <= done <= total for task, done, total in seen))


class Progress(FolderCase):
    def test_progress_reaches_total_on_calling_thread(self):
        scan = ox.open(write_scan(self.folder, np.tile(spectra(b_scans=8, a_scans=256, samples=1024), (8, 1, 1))))
        seen = []
        scan.reconstruct(progress=lambda *now: seen.append((*now, threading.get_ident())))
        task, done, total, thread = seen[-1]
        self.assertEqual((done, thread), (total, threading.get_ident()))

    def test_prints_no_progress_without_terminal(self):
        path = write_scan(self.folder, spectra())
        run = subprocess.run([sys.executable, "-c", f"import echolux as ox; ox.open({str(path)!r}).reconstruct()"],
                             capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    def test_prints_progress_line_on_terminal(self):
        from echolux import progress

        class Terminal(list):
            write, flush = list.append, lambda self: None

        line, real = Terminal(), sys.stderr
        try:
            sys.stderr = line
            shown = progress._Line("reconstructing", 4)
            shown.show("reconstructing", 1, 4)
            shown.close()
        finally:
            sys.stderr = real
        self.assertIn("reconstructing  25%", line[0])
        self.assertEqual(line[-1].strip(), "")


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Memory(FolderCase):
    def flat(self, work, calls, most):
        if os.environ.get("ECHOLUX_IS_SANITIZED"):
            self.skipTest("the address sanitizer keeps what was freed")
        for _ in range(calls // 10):
            work()
        gc.collect()
        before = resident_bytes()
        for _ in range(calls):
            work()
        gc.collect()
        self.assertLess(resident_bytes() - before, most)

    def test_memory_is_constant_over_calls(self):
        make = ox.Reconstructor(samples=64, a_scans=8, recipe={"levels": "fixed", "voxel": "u8"})
        raw = np.ones((8, 64), np.uint16)
        self.flat(lambda: make(raw), 20000, 1 << 20)

    def test_memory_is_constant_over_volumes(self):
        scan = ox.open(write_scan(self.folder, spectra(b_scans=8, a_scans=64)))

        def work():
            volume = scan.reconstruct(progress=False)
            np.from_dlpack(volume)
            np.asarray(volume)
            volume.__dlpack__()
            volume.__dlpack__(max_version=(1, 0), copy=True)
            volume.converted("u8", 0, 10)

        self.flat(work, 200, 4 << 20)  # one leaked volume per call would be 100 MB

    def test_memory_is_constant_over_errors(self):
        make = ox.Reconstructor(samples=64, a_scans=8, recipe={"levels": "fixed"})

        def work():
            for wrong in (np.ones((8, 63), np.uint16), np.ones((8, 64))):
                try:
                    make(wrong)
                except ox.BadArgument:
                    pass

        self.flat(work, 2000, 1 << 20)

    def test_import_is_light(self):
        script = ("import sys, time; start = time.perf_counter(); import echolux; end = time.perf_counter()\n"
                  "heavy = [name for name in ('numpy', 'xarray', 'tqdm', 'asyncio', 'difflib') if name in sys.modules]\n"
                  "print(f'{(end - start) * 1e3:.1f} ms', *heavy)")
        shown = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split()
        print("import echolux:", *shown[:2])
        self.assertEqual(shown[2:], [])
