"""GPU arrays of several libraries: the same voxels as from host memory, without a copy, ordered on the caller's stream,
and without waiting. Skipped without a GPU."""
import gc
import os
import resource
import time
import unittest

import numpy as np

import echolux as ox
from libraries import CuPy, Jax, Torch, on_gpu
from support import spectra

A_SCANS, SAMPLES = 64, 1024
RECIPE = {"levels": "fixed", "low": 0, "high": 80, "voxel": "u8", "background": "none"}
CASES = int(os.environ.get("ECHOLUX_PRODUCERS", "500"))
CALLS = int(os.environ.get("ECHOLUX_CALLS", "5000"))
LONG = 100_000_000  # clock cycles: about 50 ms


def reconstructor(b_scans, device="cuda", **recipe):
    return ox.Reconstructor(samples=SAMPLES, a_scans=A_SCANS, b_scans=b_scans, recipe={**RECIPE, **recipe}, device=device)


class Contents:
    """Two versions of the spectra, and the voxels of each."""

    def __init__(self, library, b_scans=2):
        self.raw = [spectra(b_scans, A_SCANS, SAMPLES, seed) for seed in (1, 2)]
        self.make = reconstructor(b_scans)
        self.expected = [self.make(raw) for raw in self.raw]
        assert (self.expected[0] != self.expected[1]).any()
        self.there = [library.put(raw) for raw in self.raw]
        self.voxels = [library.put(one) for one in self.expected]


class OnGpu:
    """The cases of each library."""

    library_class = None

    @classmethod
    def setUpClass(cls):
        cls.library, why = on_gpu(cls.library_class)
        if cls.library is None:
            raise unittest.SkipTest(why)
        try:
            reconstructor(1)
        except ox.Error as error:
            raise unittest.SkipTest(str(error)) from error

    def setUp(self):
        self.contents = Contents(self.library)

    def same(self, found, which):
        np.testing.assert_array_equal(self.library.get(found), self.contents.expected[which])

    def test_voxels_match_host_memory(self):
        found = self.contents.make(self.contents.there[0])
        self.assertIs(type(found), type(self.contents.there[0]))
        self.same(found, 0)

    def test_voxels_match_cpu(self):
        found = self.library.get(self.contents.make(self.contents.there[0])).astype(int)
        on_cpu = reconstructor(2, "cpu")(self.contents.raw[0]).astype(int)
        self.assertLessEqual(abs(found - on_cpu).max(), 1)
        self.assertLess((found != on_cpu).mean(), 0.01)

    def test_single_b_scan_has_two_dimensions(self):
        found = self.contents.make(self.contents.there[0][1])
        self.assertEqual(tuple(found.shape), self.contents.expected[0].shape[1:])
        np.testing.assert_array_equal(self.library.get(found), self.contents.expected[0][1])

    def test_rejects_mixed_host_and_gpu_memory(self):
        with self.assertRaisesRegex(ox.BadArgument, "does not lie on the GPU"):
            self.contents.make(self.contents.there[0], out=np.empty_like(self.contents.expected[0]))
        with self.assertRaisesRegex(ox.BadArgument, "works on: cpu"):
            reconstructor(2, "cpu")(self.contents.there[0])


class OnStreams(OnGpu):
    """Cases for libraries with accessible streams."""

    def test_late_content_is_never_read_early(self):
        library, contents = self.library, self.contents
        with library.use(library.stream()):
            array, wrong = library.put(contents.raw[0]), library.put(np.zeros(1, np.int64))
            for i in range(CASES):
                which = i % 2
                library.delay(20_000)
                library.fill(array, contents.there[which])
                wrong += library.differ(contents.make(array), contents.voxels[which])
                library.fill(array, contents.there[1 - which])  # after the voxels are computed
            self.assertEqual(library.get(wrong)[0], 0)

    def test_accepts_every_form_of_stream(self):
        library, contents = self.library, self.contents
        own = library.stream()

        class WithProtocol:
            def __cuda_stream__(self):
                return 0, getattr(own, "ptr", None) or own.cuda_stream

        for stream in (None, 1, 2, own, WithProtocol(), WithProtocol().__cuda_stream__()[1], -1):
            with self.subTest(stream=stream):
                if stream == 2 and not library.has_per_thread_stream:
                    with self.assertRaises(BufferError):
                        contents.make(contents.there[1], stream=stream)
                    continue
                found = contents.make(contents.there[1], stream=stream)
                library.wait()
                self.same(found, 1)

    def test_call_does_not_wait(self):
        library, contents = self.library, self.contents
        stream = library.stream()
        with library.use(stream):
            array = library.put(contents.raw[0])
            out = contents.make(array)
            library.wait()
            library.delay(LONG)
            library.fill(array, contents.there[1])
            for _ in range(20):
                contents.make(array, out=out)
            self.assertFalse(library.is_done(stream), "the stream is idle: the call waited, or it took as long")
            library.wait()
        self.same(out, 1)

    def test_leaks_no_memory(self):
        library, contents = self.library, self.contents
        with library.use(library.stream()):
            array = library.put(contents.raw[0])

            def calls(count):
                for _ in range(count):
                    contents.make(array)
                library.wait()
                gc.collect()
                return library.held_bytes(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

            before = calls(1000)
            after = calls(CALLS)
        self.assertEqual(after[0], before[0])
        self.assertLess(after[1] - before[1], 4096, "KiB of host memory")


class ArraysOfCuPy(OnStreams, unittest.TestCase):
    library_class = CuPy

    def test_graph_captures_call(self):
        cupy, contents = self.library.cupy, self.contents
        stream = self.library.stream()
        with stream:
            array, out = cupy.asarray(contents.raw[0]), cupy.asarray(contents.expected[0])
            contents.make(array, out=out)
            stream.synchronize()
            stream.begin_capture()
            contents.make(array, out=out)
            graph = stream.end_capture()
            for which in (1, 0, 1):
                array[...] = contents.there[which]
                graph.launch(stream)
                self.same(out, which)
        contents.make(contents.there[0])  # still works without a graph


class ArraysOfTorch(OnStreams, unittest.TestCase):
    library_class = Torch

    def test_graph_captures_call(self):
        torch, contents = self.library.torch, self.contents
        array, out = self.library.put(contents.raw[0]), self.library.put(contents.expected[0])
        with torch.cuda.stream(torch.cuda.Stream()):
            contents.make(array, out=out)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            contents.make(array, out=out)
        for which in (1, 0, 1):
            array.copy_(contents.there[which])
            graph.replay()
            self.same(out, which)
        self.same(contents.make(contents.there[0]), 0)

    def seen(self, calls, array, out):
        """Names of the events that CUPTI records during some calls and one wait."""
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as recorded:
            for _ in range(calls):
                self.contents.make(array, out=out)
            self.library.wait()
        return [event.name for event in recorded.events()]

    def test_avoids_copies_and_waits(self):
        array = self.library.put(self.contents.raw[0])
        out = self.contents.make(array)
        self.library.wait()
        idle, busy = self.seen(0, array, out), self.seen(20, array, out)
        self.assertGreaterEqual(sum("echolux" in name for name in busy), 20, busy)
        self.assertIn("cudaDeviceSynchronize", idle, "one that is planted is seen")
        for what in ("ynchronize", "emcpy", "emset"):
            self.assertEqual(sum(what in name for name in busy), sum(what in name for name in idle), what)


class ArraysOfJax(OnGpu, unittest.TestCase):
    library_class = Jax

    def test_late_array_is_never_read_early(self):
        library, contents = self.library, self.contents
        wrong = 0
        for i in range(CASES):
            which = i % 2
            found = contents.make(library.late(contents.there[which]))
            wrong += int((found != contents.voxels[which]).sum())
        self.assertEqual(wrong, 0)


if __name__ == "__main__":
    unittest.main()
