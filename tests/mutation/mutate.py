#!/usr/bin/env python3
"""Mutates code and measures the share of mutants that the tests find.

usage: mutate.py TREE PROGRAMS SOURCES... [--filter CASES] [--share PERCENT] [--per-file N] [--seed N] [--jobs N]
                 [--cases] [--every-case]

TREE is a writable copy of the sources, configured in its build/dev. PROGRAMS are the test targets, e.g.
session_tests,faults_tests. SOURCES are relative to the root of the tree. Prints one line for each mutant that no test
found, and the share of found ones. --cases also prints which case finds each mutant; with --every-case, all cases that
do. The sample of a file depends on the seed and on this file only. Needs libclang for Python (Debian: python3-clang-16).
"""
import argparse
import json
import math
import os
import random
import re
import shlex
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


def includes_of(path):
    """Returns the sources in a group that is compiled as one, or the source itself."""
    if "/Unity/" not in path:
        return [path]
    return re.findall(r'#include "([^"]+)"', Path(path).read_text(encoding="utf-8"))


def flags_by_source(tree):
    """Returns definitions and folders of headers for each source, by its name in the tree."""
    flags = {}
    for entry in json.loads((tree / "build/dev/compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        folders = [words[i + 1] for i, word in enumerate(words[:-1]) if word == "-isystem"]
        words = [word for word in words if word.startswith(("-D", "-I"))] + [f"-I{folder}" for folder in folders]
        for source in includes_of(entry["file"]):
            flags[os.path.relpath(source, tree)] = words
    return flags


def sample(name, mutants, asked):
    count = min(len(mutants), max(asked.per_file, math.ceil(len(mutants) * asked.share / 100)))
    chosen = random.Random(f"{asked.seed} {name}").sample(range(len(mutants)), count)
    return [mutants[n] for n in sorted(chosen)]


def write_mutants(tree, asked):
    """Writes the sampled mutants into the sources; returns them by number."""
    of_sources = flags_by_source(tree)
    (tree / "mutant.h").write_text(parts.HEADER, encoding="utf-8")
    found = {}
    for name in asked.sources:
        path = tree / name
        source = path.read_bytes()
        flags = ["-std=c++20", f"-I{tree}", *of_sources.get(name, [])]  # none for headers
        possible = parts.Finder(path, ["-x", "c++", *flags]).found
        chosen = sample(name, possible, asked)
        for number, mutant in enumerate(chosen, len(found)):
            mutant.number, mutant.path = number, name
        mutants = parts.compiling(source, path, chosen, flags)
        path.write_bytes(parts.written(source, mutants))
        found |= {mutant.number: mutant if mutant in mutants else None for mutant in chosen}
        print(f"{name}: {len(mutants)} of {len(possible)} mutants, {len(chosen) - len(mutants)} that do not compile", flush=True)
    return {number: mutant for number, mutant in found.items() if mutant}


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

    def __init__(self, every_case):
        self.seconds, self.reached, self.every_case = {}, {}, every_case

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
        """Returns the cases that find the mutant: the first one, or all. The quickest cases run first.

        A failure counts only if the case fails again with the mutant and passes without it, because failures on a
        loaded machine prove nothing.
        """
        killers = []
        for case in sorted((c for c in self.reached if number in self.reached[c]), key=self.seconds.get):
            longest, mutant = 20 + 10 * self.seconds[case], {"ECHOLUX_MUTANT": str(number)}
            if self.run(case, longest, **mutant) and not self.run(case, longest) and self.run(case, longest, **mutant):
                killers.append(case)
                if not self.every_case:
                    break
        return killers


def print_cases(tests, numbers, found, all_mutants):
    """Prints the mutants with their cases, then per program and per case the numbers of reached and found mutants."""
    for number in numbers:
        m = all_mutants[number]
        for program, case in found[number]:
            print(f"found: {m.path}:{m.line}: {m.what}: {Path(program).name} {case}")
    tried = set(numbers)
    for program in sorted({program for program, _ in tests.reached}):
        cases = [case for case in tests.reached if case[0] == program]
        reached = set().union(*(tests.reached[case] for case in cases)) & tried
        killed = Counter(case for number in numbers for case in found[number] if case[0] == program)
        hit = sum(any(case[0] == program for case in found[number]) for number in numbers)
        print(f"{Path(program).name}: {len(cases)} cases reach {len(reached)} mutants, {len(killed)} cases find {hit}")
        for case, count in sorted(killed.items()):
            print(f"  {case[1]}: reaches {len(tests.reached[case] & tried)}, finds {count}")


def parsed():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("tree", type=Path)
    options.add_argument("programs")
    options.add_argument("sources", nargs="+")
    options.add_argument("--filter", default="*-*Slow*", help="cases, as for --gtest_filter")
    options.add_argument("--share", type=float, default=100, help="of the mutants that are tried, in percent")
    options.add_argument("--per-file", type=int, default=0, help="min number of mutants per file")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--cases", action="store_true", help="print which case finds each mutant")
    options.add_argument("--every-case", action="store_true", help="print all cases that find a mutant, not only the first")
    return options.parse_args()


def main():
    asked = parsed()
    all_mutants = write_mutants(asked.tree.resolve(), asked)
    programs = asked.programs.split(",")
    build(asked.tree, programs)
    built = [p.resolve() for p in (asked.tree / "build/dev/tests").rglob("*_tests") if p.name in programs and p.is_file()]
    tests = Tests(asked.every_case)
    numbers, found = list(all_mutants), {}
    with ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(tests.look, [case for program in built for case in cases_of(str(program), asked.filter)]))
        for number, cases in zip(numbers, pool.map(tests.finds, numbers)):
            found[number] = cases
            if cases:
                continue
            m = all_mutants[number]
            why = "" if any(number in r for r in tests.reached.values()) else " (no case comes here)"
            print(f"not found: {m.path}:{m.line}: {m.what}{why}", flush=True)
    if asked.cases or asked.every_case:
        print_cases(tests, numbers, found, all_mutants)
    for path, count in Counter(all_mutants[n].path for n in numbers).items():
        hit = sum(bool(found[n]) for n in numbers if all_mutants[n].path == path)
        print(f"{path}: {hit} of {count} found")
    hit = sum(bool(cases) for cases in found.values())
    print(f"{hit} of {len(numbers)} mutants found, {100 * hit / max(1, len(numbers)):.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
