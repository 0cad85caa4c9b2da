"""A part of a job: a pure function of scan, settings and range of B-scans to whole shards. Reading, reconstruction, packing
and writing of a part overlap: while a slab is packed, the next one is reconstructed, and the one before goes to the disk."""
from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ..storage import markers
from ..ome_zarr.shard_writer import Packer
from .plan import Part, Plan
from .slabs import Source
from ..storage.store import Store
from ..threads import ahead


class _Clock:
    """Seconds that were spent on what."""

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
    """Items, and how long they took to be made."""
    clock = _Clock()
    for item in items:
        clock.add("reconstruct")
        seconds.update(clock.seconds)
        yield item
        clock.start()


def make(plan: Plan, part: Part, source: Source, files: markers.Files) -> dict[str, Any]:
    """Writes the part's shards, and gives facts about how they were made; nothing is committed. A running background sees
    the B-scans before it."""
    begin, end = (n * plan.slices_per_b_scan for n in (part.begin, part.end))
    clock = _Clock()
    made: dict[str, float] = {}
    with ThreadPoolExecutor(1, "echolux-write") as writer:
        packers = [Packer(one.layout, part.time, begin, end, files.creator(one.name), writer) for one in plan.outputs]
        written: list[Future[None]] = []
        for slab in ahead(_timed(source.slabs(part.time, part.begin, part.end, plan.unit()), made)):
            clock.start()
            packed = [one for packer, voxels in zip(packers, slab) for one in packer.add(voxels)]
            clock.add("pack")
            _wait(written)  # at most two slabs wait for the disk
            written = [*packed, writer.submit(files.sync)]
        _wait([*written, *(one for packer in packers for one in packer.close())])
    facts = {"device": source.device(), "a_scans": plan.a_scans(part), "seconds": {**made, **clock.seconds}}
    if part.begin == 0:
        facts["time_s"] = source.time_s(part.time)
    return facts


def _wait(futures: list[Future[None]]) -> None:
    for one in futures:
        one.result()


def work(store: Store, plan: Plan, part: Part, source: Source, *, verify: bool = False) -> dict[str, Any]:
    """Makes a part unless it is there, and gives its marker. Raises Stale where another plan has come meanwhile."""
    there = markers.read(store, plan.name, part.key, plan.identity, verify=verify)
    if there is not None:
        return {**there, "was_there": True}
    clock = _Clock()
    began = time.perf_counter()
    with markers.files(store) as files:
        facts = make(plan, part, source, files)
        clock.start()
        files.commit(plan.name, part.key, plan.identity, facts)
        clock.add("write")
    return {**facts, "seconds": {**facts["seconds"], **clock.seconds, "whole": time.perf_counter() - began}}
