"""gpu-test on a simulated machine: what it accepts and rejects. The GPU, the tests and the bench are scripts."""
import os
import subprocess
from pathlib import Path

from support import ProgramCase

SCRIPT = Path(__file__).resolve().parents[1] / "gpu" / "gpu-test"
PASSED = ["Vectors/Conformance.AgreesWithCpu/plain_fused", "Ways/Codes.AllVectorsAgree/0", "Sharing.IsChosen", "CopiesOnGpu.Display",
          "Variants/GpuFlow.AgreesWithCpu/doppler_fused"]
TARGET = "| exact NUDFT | 44.0 M A-scans/s | >= 45.0 M A-scans/s | {} |"


class GpuScript(ProgramCase):
    def setUp(self):
        super().setUp()
        self.write("share/vectors/plain")
        self.write("share/vulkan_copies/libecholux_vulkan_copies.so")
        self.write("share/vulkan_copies/VkLayer_echolux_copies.json")
        self.write("libmade_up_nvidia.so")
        self.write("driver.json", '{"ICD": {"library_path": "%s"}}' % (self.folder / "libmade_up_nvidia.so"))
        self.program("tools/nvidia-smi", "GPU 0: Made up (UUID: GPU-0)")
        self.target("met")
        self.suite(PASSED)
        (self.folder / "gpu-test").write_bytes(SCRIPT.read_bytes())

    def write(self, name, text=""):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def program(self, name, output, status=0):
        self.write(name, f"#!/bin/sh\ncat <<'END'\n{output}\nEND\nexit {status}\n").chmod(0o755)

    def target(self, verdict):
        self.program("bin/echolux", TARGET.format(verdict))

    def suite(self, passed, skipped=(), reason="a reason", status=0):
        lines = [f"[       OK ] {name} (3 ms)" for name in passed]
        for name in skipped:
            lines += ["/somewhere/a_test.cpp:1: Skipped", reason, "", f"[  SKIPPED ] {name} (0 ms)"]
        lines += [f"[  PASSED  ] {len(passed)} tests.", *[f"[  SKIPPED ] {name}" for name in skipped]]
        self.program("bin/gpu_tests", "\n".join(lines), status)

    def run_script(self, **environment):
        tools = f"{self.folder / 'tools'}:{os.environ['PATH']}"
        return subprocess.run(
            ["bash", "gpu-test", "--quick"],
            cwd=self.folder,
            env={**os.environ, "PATH": tools, "VK_DRIVER_FILES": str(self.folder / "driver.json"), **environment},
            capture_output=True,
            text=True,
            timeout=60,
        )

    def passes(self, text, **environment):
        finished = self.run_script(**environment)
        self.assertEqual(finished.returncode, 0, finished.stdout + finished.stderr)
        self.assertIn(text, finished.stdout)

    def fails(self, text, **environment):
        finished = self.run_script(**environment)
        self.assertEqual(finished.returncode, 1, finished.stdout + finished.stderr)
        self.assertIn(text, finished.stdout)

    def test_passes_if_complete(self):
        self.passes("all met")

    def test_missed_targets_are_reported(self):
        self.target("MISSED")
        self.passes("exact NUDFT: 44.0 M A-scans/s, wanted >= 45.0 M A-scans/s")

    def test_requires_vectors_and_layer(self):
        (self.folder / "share/vulkan_copies/libecholux_vulkan_copies.so").unlink()
        self.fails("libecholux_vulkan_copies.so")
        self.write("share/vulkan_copies/libecholux_vulkan_copies.so")
        (self.folder / "share/vectors/plain").unlink()
        self.fails("no vectors")

    def test_required_cases_must_not_be_skipped(self):
        self.suite(PASSED, ["Sharing.IsChosen2"])
        self.fails("sharing      FAILED")
        self.suite(PASSED, ["CopiesOnGpu.Vulkan"])
        self.fails("proofs       FAILED")
        self.suite(PASSED, ["Vectors/Conformance.AgreesWithCpu/other_fused"])
        self.fails("conformance  FAILED")
        self.suite(PASSED, ["Variants/GpuFlow.AgreesWithCpu/omag_fused"])
        self.fails("flow         FAILED")

    def test_required_cases_must_exist(self):
        self.suite(PASSED[1:2] + PASSED[3:])
        self.fails("sharing      FAILED: required, but 0 cases passed")
        self.suite(PASSED[1:])
        self.fails("conformance  FAILED")
        self.suite(PASSED[:1] + PASSED[2:])
        self.fails("codes        FAILED")

    def test_expected_skips_pass(self):
        self.suite(PASSED, ["Vectors/Conformance.AgreesWithCpu/nudft_fused"], "nudft_test.cpp has its limits")
        self.passes("all met")
        self.suite(PASSED, ["GpuLarge.SlowVolumeBeyond32Bits"], "too little GPU memory")
        self.passes("too little GPU memory")

    def test_without_vulkan_sharing_may_be_skipped(self):
        self.suite(PASSED[:2] + PASSED[4:], PASSED[2:4])
        self.passes("no Vulkan driver", ECHOLUX_WITHOUT_VULKAN="1")
        (self.folder / "libmade_up_nvidia.so").unlink()
        self.passes("no Vulkan driver")
        self.write("libmade_up_nvidia.so")
        self.fails("sharing      FAILED")

    def test_failures_and_missing_gpus_have_status(self):
        self.suite(PASSED, status=1)
        self.fails("tests        FAILED with status 1")
        self.program("tools/nvidia-smi", "no devices")
        self.assertEqual(self.run_script().returncode, 77)
