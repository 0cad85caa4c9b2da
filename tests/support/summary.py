#!/usr/bin/env python3
"""Sums up a run of ctest from its log: summary.py LastTest.log [--budget SECONDS].

Prints the ten cases that took most processor time and, for `./dev test`, the last line "CASES passed, failed, skipped".
With --budget, each case above that many seconds that tests/support/expensive_cases.txt does not name is printed. It counts as
failed above twice that, because a case takes up to twice its time if its core is shared."""
import argparse
import re
from pathlib import Path

BLOCK = re.compile(r"^\d+/\d+ Testing: (.+)$", re.M)


def blocks(log):
    """(test, its part of the log) for each test that ctest started."""
    starts = list(BLOCK.finditer(log))
    for start, end in zip(starts, [*starts[1:], None]):
        yield start[1], log[start.end():end.start() if end else len(log)]


def counts(text):
    """(passed, failed, skipped) cases of one test. A test that prints no cases counts as one."""
    passed_test = re.search(r"^Test Passed\.$", text, re.M) is not None
    skipped_test = re.search(r"^Test (?:Pass|Fail)?.*Skipped", text, re.M) is not None
    googles = [len(re.findall(rf"^\[ +{word} +\] \S+ \(", text, re.M)) for word in ("OK", "FAILED", "SKIPPED")]
    pythons = [len(re.findall(rf"\.\.\. (?:.*\n)??{word}", text)) for word in ("ok", "(?:FAIL|ERROR)", "skipped")]
    passed, failed, skipped = (sum(pair) for pair in zip(googles, pythons))
    if not passed + failed + skipped:
        return (0, 0, 1) if skipped_test else (1, 0, 0) if passed_test else (0, 1, 0)
    if not passed_test and not skipped_test and not failed:
        failed = 1  # the process ended by itself, or too late
    return passed, failed, skipped


def failures(text):
    """The lines with place and reason of each failed case of one test."""
    return re.findall(r"^\S+: Failure(?:\n(?!\[|\n).+){1,4}|^(?:FAIL|ERROR): .+|^[\w.]*(?:Error|Exception): .+"
                      r"|^\[ +FAILED +\] \S+ \(.+|^.*(?:ERROR: |SUMMARY: )\w+Sanitizer.*", text, re.M)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("log", type=Path)
    options.add_argument("--budget", type=float, default=0)
    options = options.parse_args()
    named = {line.split(":")[0] for line in (Path(__file__).parent / "expensive_cases.txt").read_text().splitlines()
             if ":" in line and not line.startswith("#")}
    total, expensive = [0, 0, 0], []
    for test, text in blocks(options.log.read_text(errors="replace")):
        found = counts(text)
        total = [a + b for a, b in zip(total, found)]
        if found[1]:
            print(f"failed     {test}", *(line.replace("\n", "\n           ") for line in failures(text)), sep="\n           ")
        expensive += [(float(seconds), f"{test.split('.')[0]}.{case}")
                      for seconds, case in re.findall(r"^\[ CPU +\] ([\d.]+) s (\S+)", text, re.M)]
    expensive.sort(reverse=True)
    print("slowest   " + "\n          ".join(f"{seconds:6.1f} s {case}" for seconds, case in expensive[:10]))
    print(f"processor time of all cases: {sum(seconds for seconds, _ in expensive):.0f} s")
    if options.budget:
        for seconds, case in expensive:
            if seconds > options.budget and case not in named:
                print(f"over budget: {case} took {seconds:.1f} s of processor time, {options.budget:g} s are allowed: "
                      "make it cheaper, make it a slow case, or name it with a reason in tests/support/expensive_cases.txt")
                total[1] += seconds > 2 * options.budget
    print("{} passed, {} failed, {} skipped".format(*total))


if __name__ == "__main__":
    main()
