#!/usr/bin/env python3
"""Mutates code and measures the share of mutants that the tests find.

usage: mutate.py TREE PROGRAMS SOURCES... [--filter CASES] [--share PERCENT] [--seed N] [--jobs N]

TREE is a writable copy of the sources, configured in its build/dev. PROGRAMS are the test targets, e.g.
session_tests,faults_tests. SOURCES are relative to the root of the tree. Prints one line for each mutant that no test
found, and the share of found ones. Needs libclang for Python (Debian: python3-clang-16).
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import mutants as parts


def build(tree, programs):
    run = subprocess.run(["ninja", "-C", "build/dev", *programs], cwd=tree, capture_output=True, text=True)
    if run.returncode:
        raise SystemExit(run.stdout[-3000:])


def write_mutants(tree, sources):
    flags = ["-std=c++20", f"-I{tree}", '-DECHOLUX_VERSION="0"']
    (tree / "mutant.h").write_text(parts.HEADER, encoding="utf-8")
    found = []
    for name in sources:
        path = tree / name
        source = path.read_bytes()
        mutants = parts.Finder(path, ["-x", "c++", *flags]).found
        asked = len(mutants)
        for number, mutant in enumerate(mutants, len(found)):
            mutant.number, mutant.path = number, name
        mutants = parts.compiling(source, path, mutants, flags)
        path.write_bytes(parts.written(source, mutants))
        found += [None] * asked
        for mutant in mutants:
            found[mutant.number] = mutant
        print(f"{name}: {len(mutants)} mutants, {asked - len(mutants)} that do not compile", flush=True)
    return {m.number: m for m in found if m}


def cases_of(program, wanted):
    listing = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter={wanted}"], check=True, capture_output=True,
                             text=True).stdout
    suite = ""
    for line in listing.splitlines():
        name = line.split("#")[0].strip()
        if line.startswith("  "):
            yield program, suite + name
        elif name.endswith("."):
            suite = name


class Tests:
    """Cases are pairs of a program and a test name. Cases with random faults get the same faults each time."""

    def __init__(self):
        self.seconds, self.reached = {}, {}

    def run(self, case, longest, **variables):
        with tempfile.TemporaryDirectory() as folder:
            try:
                surroundings = {**os.environ, "ECHOLUX_FAULT_SEED": "1", "TMPDIR": folder, **variables}
                return subprocess.run([case[0], f"--gtest_filter={case[1]}"], capture_output=True, timeout=longest,
                                      env=surroundings, cwd=folder).returncode
            except subprocess.TimeoutExpired:
                return -1

    def look(self, case):
        with tempfile.NamedTemporaryFile("r") as reached:
            start = time.monotonic()
            if self.run(case, 300, ECHOLUX_MUTANTS_REACHED=reached.name):
                print(f"{case[1]} fails without a mutant, and is left out", flush=True)
                return
            self.seconds[case] = time.monotonic() - start
            self.reached[case] = {int(line) for line in Path(reached.name).read_text().split()}

    def finds(self, number):
        """Returns the case that finds the mutant, or None. The quickest cases run first.

        A failure counts only if the case fails again with the mutant and passes without it, because failures on a
        loaded machine prove nothing.
        """
        for case in sorted((c for c in self.reached if number in self.reached[c]), key=self.seconds.get):
            longest, mutant = 20 + 10 * self.seconds[case], {"ECHOLUX_MUTANT": str(number)}
            if self.run(case, longest, **mutant) and not self.run(case, longest) and self.run(case, longest, **mutant):
                return case
        return None


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("tree", type=Path)
    options.add_argument("programs")
    options.add_argument("sources", nargs="+")
    options.add_argument("--filter", default="*-*Slow*", help="cases, as for --gtest_filter")
    options.add_argument("--share", type=float, default=100, help="of the mutants that are tried, in percent")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=2)
    asked = options.parse_args()

    all_mutants = write_mutants(asked.tree.resolve(), asked.sources)
    programs = asked.programs.split(",")
    build(asked.tree, programs)
    built = [p.resolve() for p in (asked.tree / "build/dev/tests").rglob("*_tests") if p.name in programs and p.is_file()]
    tests = Tests()
    with ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(tests.look, [case for program in built for case in cases_of(str(program), asked.filter)]))
        numbers = [n for n in all_mutants if random.Random(asked.seed * 100003 + n).random() * 100 < asked.share]
        found = {}
        for number, case in zip(numbers, pool.map(tests.finds, numbers)):
            found[number] = case
            if case:
                continue
            m = all_mutants[number]
            why = "" if any(number in r for r in tests.reached.values()) else " (no case comes here)"
            print(f"not found: {m.path}:{m.line}: {m.what}{why}", flush=True)
    share = Counter(all_mutants[n].path for n in numbers)
    for path, count in share.items():
        hit = sum(found[n] is not None for n in numbers if all_mutants[n].path == path)
        print(f"{path}: {hit} of {count} found")
    hit = sum(case is not None for case in found.values())
    print(f"{hit} of {len(numbers)} mutants found, {100 * hit / max(1, len(numbers)):.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
