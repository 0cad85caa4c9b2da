"""Streams on which work on GPU arrays is ordered. The array libraries are test doubles that record the calls, because
DLPack's protocol can be checked without a GPU."""
import contextlib
import sys
import types
import unittest

import echolux as ox
from echolux.arrays import empty, order_of

CUDA = "cuda (NVIDIA H200, fused)"
NONE, ON_STREAM = 0, 1  # ECHOLUX_SYNC_...


class Device(contextlib.nullcontext):
    id = index = 0
    type = "cuda"


class Array:
    """An array on a GPU that records the streams passed to __dlpack__()."""

    shape, device, place, requires_grad = (2, 3, 4), Device(), (2, 0), False

    def __init__(self):
        self.lent = []

    def __dlpack__(self, *, stream):
        self.lent.append(stream)
        return "capsule"

    def __dlpack_device__(self):
        return self.place


class Stream:
    def __init__(self, **how):
        self.__dict__.update(how)


class WithProtocol:
    def __cuda_stream__(self):
        return 0, 0x5000


def library(name, **cuda):
    """A module `name` with cuda, and its array type."""
    module = types.ModuleType(name)
    module.entered = []
    module.made = []

    @contextlib.contextmanager
    def enter(stream):
        module.entered.append(stream)
        yield

    module.cuda = types.SimpleNamespace(**cuda)
    if name == "torch":
        module.cuda.ExternalStream = lambda handle, device: handle
        module.cuda.stream = enter
        to_dlpack = lambda array: array.__dlpack__(stream=-1)  # noqa: E731
        module.utils = types.SimpleNamespace(dlpack=types.SimpleNamespace(to_dlpack=to_dlpack))
    else:
        module.cuda.ExternalStream = lambda handle, device: enter(handle)  # before CuPy 14
        module.cuda.Stream = types.SimpleNamespace()
    module.empty = lambda *shape, **how: module.made.append((shape, how)) or Array()
    module.float32 = "torch.float32"
    return module, type("Tensor", (Array,), {"__module__": name})


class Order(unittest.TestCase):
    def use(self, module):
        self.addCleanup(sys.modules.pop, module.__name__, None)
        sys.modules[module.__name__] = module

    def ordered(self, array, stream=None):
        """Returns the sync mode, the stream's handle, whether it waits, and the stream number passed to
        __dlpack__()."""
        order = order_of(array, stream, CUDA)
        with order.current():
            self.assertEqual(order.lent(array, "spectra"), "capsule")
        return order.sync, order.stream, order.waits, array.lent[-1]

    def test_uses_current_stream_of_library(self):
        # DLPack writes CUDA's default stream as 1 because 0 is ambiguous.
        for current, number in ((0, 1), (0x7000, 0x7000)):
            module, kind = library("torch", current_stream=lambda device: Stream(cuda_stream=current))
            self.use(module)
            self.assertEqual(self.ordered(kind()), (ON_STREAM, number, False, -1))  # nothing to wait for
            self.assertEqual(module.entered, [])
            module, kind = library("cupy", get_current_stream=lambda: Stream(ptr=current))
            self.use(module)
            self.assertEqual(self.ordered(kind()), (ON_STREAM, number, False, -1))

    def test_waits_for_unknown_library(self):
        self.assertEqual(self.ordered(Array()), (ON_STREAM, 1, True, 1))

    def test_uses_stream_of_caller(self):
        for stream, number in ((1, 1), (2, 2), (0x9000, 0x9000), (WithProtocol(), 0x5000), (Stream(ptr=0), 1),
                               (Stream(cuda_stream=0x6000), 0x6000)):
            self.assertEqual(self.ordered(Array(), stream), (ON_STREAM, number, False, number))
        self.assertEqual(self.ordered(Array(), -1), (NONE, 0, True, -1))

    def test_results_use_same_stream(self):
        for name in ("torch", "cupy"):
            module, kind = library(name)
            self.use(module)
            for stream, handle in ((1, 0), (2, 2), (0x9000, 0x9000)):
                self.ordered(kind(), stream)
                self.assertEqual(module.entered[-1], handle)
            empty(kind(), (2, 3), "float32")
            (shape, *_), how = module.made[-1]
            self.assertEqual(shape, (2, 3))
            if name == "torch":
                self.assertEqual(how, {"dtype": "torch.float32", "device": Array.device})

    def test_uses_stream_protocol_of_cupy(self):
        module, kind = library("cupy")
        self.use(module)
        entered = []
        module.cuda.Stream.from_external = lambda stream: entered.append(stream.__cuda_stream__()) or contextlib.nullcontext()
        for stream, handle in ((1, 0), (2, 2), (0x9000, 0x9000)):
            self.ordered(kind(), stream)
            self.assertEqual(entered[-1], (0, handle))
        self.assertEqual(module.entered, [])

    def test_rejects_invalid_streams(self):
        for stream in (0, -2, "stream", 1.5, True):
            with self.assertRaisesRegex(ox.BadArgument, "is not a CUDA stream"):
                order_of(Array(), stream, CUDA)

    def test_rejects_memory_of_other_device(self):
        other = Array()
        other.place = (2, 1)
        with self.assertRaisesRegex(ox.BadArgument, "out: does not lie on the GPU"):
            order_of(Array(), 1, CUDA).lent(other, "out")
