#!/usr/bin/env python3
"""Checks the medians of an echolux_bench run (--benchmark_out, JSON) against the targets.

Prints one line per target; exit status 1 if one is missed.

usage: judge.py BENCH.json
"""
import json
import sys
from pathlib import Path


def medians(path):
    runs = json.loads(Path(path).read_text())["benchmarks"]
    return {run["run_name"].removesuffix("/real_time"): run for run in runs if run.get("aggregate_name") == "median"}


def targets(run):
    """Yields name, value, unit, relation and bound per target. A benchmark that did not run misses its target."""
    one, two, cast = (run.get(name, {}) for name in [
        "reconstruct/standard/threads:1", "reconstruct/standard/threads:2", "ray_cast/composite_unlit"])
    yield "standard chain, 1 thread", 100 * one.get("of_bare_fft", 0), "% of FFTW's bare transform (aim 35 %)", ">=", 25
    yield ("standard chain, 2 threads", two.get("a_scans_per_s", 0) / one.get("a_scans_per_s", 1e30),
           "x the rate of 1 thread", ">=", 1.6)
    yield ("ray casting 128^3 at 256 x 256, unlit", cast.get("real_time", float("inf")),
           f"ms on {cast.get('label', 'no device')}", "<", 25)
    for side in "producer", "viewer":
        rate = run.get(f"push/{side}/iterations:40/manual_time", {}).get("of_memory_copy", 0)
        yield f"through shared memory, the {side}", 100 * rate, "% of the rate of a memory copy", ">=", 90


missed = 0
for name, figure, unit, relation, bound in targets(medians(sys.argv[1])):
    met = figure >= bound if relation == ">=" else figure < bound
    missed += not met
    print(f"{'met' if met else 'MISSED':<7} {name}: {figure:.3g} {unit}; target {relation} {bound:g}")
sys.exit(1 if missed else 0)
