#!/usr/bin/env python3
"""Runs one case (test_file.Suite.test_case) or a whole class for ctest. Exit codes: 0 passed, 1 failed, 77 skipped with
the reason on a SKIP line."""
import sys
import unittest

suite = unittest.defaultTestLoader.loadTestsFromName(sys.argv[1])
result = unittest.TextTestRunner(verbosity=2).run(suite)
for _, reason in result.skipped:
    print(f"SKIP: {reason}")
if not result.wasSuccessful() or not result.testsRun:
    sys.exit(1)
sys.exit(77 if result.skipped else 0)
