"""Loaded by workers of Dask: with ECHOLUX_FAKE_GPU they take themselves for one with a GPU, and compute on the CPU."""
import os

from echolux.cluster import reconstruction, worker


def _on_cpu(step):
    def run(store, task):
        return step(store, {**task, "device": "cpu"})

    run.is_fake = True
    return run


if os.environ.get("ECHOLUX_FAKE_GPU") and not hasattr(reconstruction.made, "is_fake"):  # Dask loads it twice
    worker.has_gpu = lambda: True
    reconstruction.planned, reconstruction.made = _on_cpu(reconstruction.planned), _on_cpu(reconstruction.made)
