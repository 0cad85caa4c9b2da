"""CuPy, PyTorch and JAX as the cases need them: arrays on the GPU, streams, and delayed producers."""
import numpy as np


def on_gpu(make):
    """Returns a library, or None and the reason why it cannot be used here."""
    try:
        return make(), ""
    except Exception as problem:  # not installed, or no GPU
        return None, f"{make.__name__}: {type(problem).__name__}: {problem}".splitlines()[0]


class CuPy:
    has_per_thread_stream = True

    def __init__(self):
        import cupy

        self.cupy = cupy
        cupy.cuda.runtime.getDeviceCount()
        self._wait = cupy.RawKernel(
            'extern "C" __global__ void wait(long long clocks) {'
            " for (long long start = clock64(); clock64() - start < clocks;); }", "wait")

    def put(self, array):
        return self.cupy.asarray(array)

    def get(self, array):
        return self.cupy.asnumpy(array)

    def stream(self):
        return self.cupy.cuda.Stream(non_blocking=True)

    def use(self, stream):
        return stream

    def delay(self, clocks):
        """Keeps the current stream busy."""
        self._wait((1,), (1,), (np.int64(clocks),))

    def fill(self, array, content):
        array[...] = content

    def differ(self, first, second):
        """Returns the number of elements that differ, counted on the GPU."""
        return (first != second).sum()

    def is_done(self, stream):
        return stream.done

    def wait(self):
        self.cupy.cuda.Device().synchronize()

    def held_bytes(self):
        return self.cupy.get_default_memory_pool().total_bytes()


class Torch:
    has_per_thread_stream = False  # "per-thread default stream is not supported"

    def __init__(self):
        import torch

        self.torch = torch
        torch.zeros(1, device="cuda")

    def put(self, array):
        return self.torch.from_numpy(array).to("cuda")

    def get(self, array):
        return array.cpu().numpy()

    def stream(self):
        return self.torch.cuda.Stream()

    def use(self, stream):
        return self.torch.cuda.stream(stream)

    def delay(self, clocks):
        self.torch.cuda._sleep(clocks)

    def fill(self, array, content):
        array.copy_(content)

    def differ(self, first, second):
        return (first != second).sum()

    def is_done(self, stream):
        return stream.query()

    def wait(self):
        self.torch.cuda.synchronize()

    def held_bytes(self):
        return self.torch.cuda.memory_reserved()


class Jax:
    """Arrays are immutable and streams are hidden. A long computation delays the result."""

    def __init__(self):
        import jax

        self.jax = jax
        self.gpu = jax.devices("gpu")[0]
        matrix = jax.device_put(np.eye(512, dtype=np.float32), self.gpu)

        def late(content):
            powers = jax.lax.fori_loop(0, 20, lambda _, m: m @ matrix, matrix)  # still the identity matrix
            return content * powers[0, 0].astype(content.dtype)

        self.late = jax.jit(late)

    def put(self, array):
        return self.jax.device_put(array, self.gpu)

    def get(self, array):
        return np.asarray(array)
