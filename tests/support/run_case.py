#!/usr/bin/env python3
"""Runs test cases of unittest for ctest: run_case.py NAME [fast|slow], NAME a module, module.Suite or
module.Suite.test_case. Cases whose names begin with test_slow are slow, all others fast; without the word both run.

Ends with 0 if all passed, 1 if one failed, 77 if all were skipped. Prints a SKIP line with the reason of each skip, and
the processor time of each case with its child processes, in the form that tests/support/summary.py reads."""
import resource
import sys
import unittest


def processor_seconds():
    return sum(usage.ru_utime + usage.ru_stime
               for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


class TimedResult(unittest.TextTestResult):
    def startTest(self, test):
        super().startTest(test)
        self.start = processor_seconds()

    def stopTest(self, test):
        name = ".".join(test.id().split(".")[-2:])
        print(f"[ CPU      ] {processor_seconds() - self.start:.3f} s {name}", flush=True)
        super().stopTest(test)


def of_tier(suite, tier):
    """The cases of a suite that are slow, or those that are not."""
    cases = unittest.TestSuite()
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            cases.addTest(of_tier(test, tier))
        elif test.id().split(".")[-1].startswith("test_slow") == (tier == "slow"):
            cases.addTest(test)
    return cases


def main():
    suite = unittest.defaultTestLoader.loadTestsFromName(sys.argv[1])
    if len(sys.argv) > 2:
        suite = of_tier(suite, sys.argv[2])
    result = unittest.TextTestRunner(verbosity=2, resultclass=TimedResult).run(suite)
    for _, reason in result.skipped:
        print(f"SKIP: {reason}")
    if not result.wasSuccessful() or not result.testsRun + len(result.skipped):
        return 1
    return 77 if len(result.skipped) >= result.testsRun else 0


if __name__ == "__main__":  # processes that multiprocessing starts import this file again
    sys.exit(main())
