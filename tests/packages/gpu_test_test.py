"""gpu-test splits the test program over processes. Fake programs replace it and the tools of the GPU."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "gpu" / "gpu-test"

# Behaves like GoogleTest with shards and filters. Notes when each process begins and ends.
FAKE_TESTS = '''#!/usr/bin/env python3
import fnmatch, os, sys, time
wanted = sys.argv[1].split("=", 1)[1]
wanted, _, unwanted = wanted.partition("-")
is_in = lambda name, patterns: any(fnmatch.fnmatch(name, one) for one in patterns.split(":") if one)
names = [name for name in os.environ["FAKE_CASES"].split()
         if (not wanted or is_in(name, wanted)) and not is_in(name, unwanted)]
shard, shards = int(os.environ.get("GTEST_SHARD_INDEX", 0)), int(os.environ.get("GTEST_TOTAL_SHARDS", 1))
with open(os.environ["FAKE_JOURNAL"], "a") as journal:
    print("begin", shard, shards, file=journal, flush=True)
    time.sleep(0.2)
    count = {"OK": 0, "SKIPPED": 0, "FAILED": 0}
    for name in names[shard::shards]:
        result = "FAILED" if "Failing" in name else "SKIPPED" if "Skipped" in name else "OK"
        count[result] += 1
        print("[ RUN      ] " + name)
        print("[%9s ] %s (1 ms)" % (result, name))
    print("[  PASSED  ] %d tests." % count["OK"])
    for result in "SKIPPED", "FAILED":
        if count[result]:
            print("[  %-8s] %d %s, listed below:" % (result, count[result], "test" if count[result] == 1 else "tests"))
    print("end", shard, shards, file=journal)
sys.exit(3 if count["FAILED"] else 0)
'''

CASES = ("Vectors/Conformance.A Vectors/Conformance.B Vectors/Conformance.C Ways/Codes.A Variants/GpuFlow.A "
         "Plain.SkippedHere Sharing.StartingAndStoppingLeaksNoMemory GpuRobustness.SubmitAllocatesNoMemory")


class GpuTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copy(SCRIPT, self.folder)
        for name in "bin", "tools", "share/vectors", "share/vulkan_copies":
            (self.folder / name).mkdir(parents=True)
        for name in ("share/vectors/one.npy", "share/vulkan_copies/libecholux_vulkan_copies.so",
                     "share/vulkan_copies/VkLayer_echolux_copies.json"):
            (self.folder / name).touch()
        self.program("bin/gpu_tests", FAKE_TESTS)
        self.program("bin/echolux", "#!/bin/sh\n")
        self.program("tools/nvidia-smi", "#!/bin/sh\necho 'GPU 0: Fake (UUID: 0)'\n")

    def program(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def run_script(self, *options, cases=CASES):
        environment = {**os.environ, "PATH": "%s:%s" % (self.folder / "tools", os.environ["PATH"]),
                       "FAKE_CASES": cases, "FAKE_JOURNAL": str(self.folder / "journal"), "ECHOLUX_WITHOUT_VULKAN": "1"}
        done = subprocess.run([self.folder / "gpu-test", *options], env=environment, capture_output=True, text=True,
                              timeout=60)
        return done.returncode, done.stdout + done.stderr

    def journal(self):
        return [line.split() for line in (self.folder / "journal").read_text().splitlines()]

    def test_runs_each_case_once(self):
        status, output = self.run_script("--quick", "--shards", "3")
        self.assertEqual(status, 0, output)
        log = (self.folder / "results/tests.log").read_text()
        self.assertCountEqual(re.findall(r"\[ RUN      \] (\S+)", log), CASES.split())
        self.assertIn("7 passed, 1 skipped, 0 failed", output)
        self.assertEqual([path.name for path in (self.folder / "results").glob("tests.*")], ["tests.log"])

    def test_shards_run_together_and_free_memory_alone(self):
        self.run_script("--quick", "--shards", "3")
        *together, alone, end = self.journal()
        self.assertEqual((alone, end), (["begin", "0", "1"], ["end", "0", "1"]))
        self.assertCountEqual([line[1] for line in together if line[0] == "begin"], ["0", "1", "2"])
        self.assertEqual([line[0] for line in together[:2]], ["begin", "begin"])

    def test_uses_four_shards_by_default(self):
        self.run_script("--quick")
        self.assertEqual(sum(line == ["begin", "3", "4"] for line in self.journal()), 1)

    def test_fails_if_one_shard_fails(self):
        for case in "Plain.Failing", "Failing.LeaksNoMemory":
            status, output = self.run_script("--quick", cases=CASES + " " + case)
            self.assertEqual(status, 1, output)
            self.assertIn("FAILED with status 3", output)
            self.assertIn("1 failed", output)

    def test_fails_if_every_case_is_skipped(self):
        status, output = self.run_script("--quick", cases="Plain.SkippedA Plain.SkippedB")
        self.assertEqual(status, 1, output)
        self.assertIn("every case was skipped", output)

    def test_refuses_unknown_options(self):
        for options in ("--shards", "0"), ("--shards", "many"), ("--shards",), ("--fast",):
            status, output = self.run_script(*options)
            self.assertEqual((status, "the options are" in output), (2, True), output)


if __name__ == "__main__":
    unittest.main()
