"""A part of a job: a pure function from scan, settings and a range of B-scans to whole shards. Its steps overlap: while
one slab is packed, the next is reconstructed and the previous one is written.
"""
from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ..ome_zarr.shard_writer import ShardWriter
from ..storage import markers
from ..storage.store import Store
from ..threads import prefetch
from .plan import Part, Plan
from .slabs import OpenScan


class _Stopwatch:
    """Seconds spent on each step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def start(self) -> None:
        self._last = time.perf_counter()

    def add(self, what: str) -> None:
        now = time.perf_counter()
        self.seconds[what] = self.seconds.get(what, 0.0) + now - self._last
        self._last = now


def _timed(items: Iterator[Any], seconds: dict[str, float]) -> Iterator[Any]:
    """Yields the items and measures the time to produce them."""
    watch = _Stopwatch()
    for item in items:
        watch.add("reconstruct")
        seconds.update(watch.seconds)
        yield item
        watch.start()


def make(plan: Plan, part: Part, scan: OpenScan, files: markers.PartFiles) -> dict[str, Any]:
    """Writes the part's shards without committing them, and returns facts about the work. A running background is
    updated from the preceding B-scans.
    """
    begin, end = (n * plan.slices_per_b_scan for n in (part.begin, part.end))
    watch = _Stopwatch()
    reconstruction_s: dict[str, float] = {}
    with ThreadPoolExecutor(1, "echolux-write") as writer:
        shards = [ShardWriter(one.layout, part.time, begin, end, files.creator(one.name), writer) for one in plan.outputs]
        written: list[Future[None]] = []
        for slab in prefetch(_timed(scan.slabs(part.time, part.begin, part.end, plan.unit()), reconstruction_s)):
            watch.start()
            packed = [one for shard, voxels in zip(shards, slab) for one in shard.add(voxels)]
            watch.add("pack")
            _wait(written)  # at most two slabs wait for the disk
            written = [*packed, writer.submit(files.sync)]
        _wait([*written, *(one for shard in shards for one in shard.close())])
    facts = {"device": scan.device(), "a_scans": plan.a_scans(part), "seconds": {**reconstruction_s, **watch.seconds}}
    if part.begin == 0:
        facts["time_s"] = scan.time_s(part.time)
    return facts


def _wait(futures: list[Future[None]]) -> None:
    for one in futures:
        one.result()


def run(store: Store, plan: Plan, part: Part, scan: OpenScan, *, verify: bool = False) -> dict[str, Any]:
    """Makes a part unless it exists, and returns its marker. Raises Stale if another plan has replaced this one."""
    marker = markers.read(store, plan.name, part.key, plan.identity, verify=verify)
    if marker is not None:
        return {**marker, "was_there": True}
    watch = _Stopwatch()
    began = time.perf_counter()
    with markers.part_files(store) as files:
        facts = make(plan, part, scan, files)
        watch.start()
        files.commit(plan.name, part.key, plan.identity, facts)
        watch.add("write")
    return {**facts, "seconds": {**facts["seconds"], **watch.seconds, "whole": time.perf_counter() - began}}
