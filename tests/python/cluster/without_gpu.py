"""Loaded by Dask workers: with ECHOLUX_FAKE_GPU they pretend to have a GPU, and compute on the CPU."""
import os

from echolux.cluster import scan_tasks, worker


def _on_cpu(step):
    def run(store, task):
        return step(store, {**task, "device": "cpu"})

    run.is_fake = True
    return run


if os.environ.get("ECHOLUX_FAKE_GPU") and not hasattr(scan_tasks.run_part, "is_fake"):  # Dask loads this module twice
    worker.has_gpu = lambda: True
    scan_tasks.plan, scan_tasks.run_part = _on_cpu(scan_tasks.plan), _on_cpu(scan_tasks.run_part)
