#!/usr/bin/env python3
"""Tests of the check of commits: it finds each fault of a subject, as a hook and in the history, and `./dev` installs it."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import check_commits

HERE = Path(__file__).resolve().parent
GOOD = [
    "cuda: compute the NUFFT band once", "tests: give slow devices the pace their checks need", "docs, cmake: reword comments",
    "ui/cli: embed the icon", "engine: bypass the cache", "Merge branch 'names'", 'Revert "cuda: compute the band once"',
    "fixup! cuda: compute the NUFFT band once",
]
BAD = {
    "cuda: compute the NUFFT band once; fix the tables": "semicolon",
    "cuda: compute the NUFFT band once, and then once more for every other grid": "74 characters",
    "cuda: compute the NUFFT band once.": "full stop",
    "Compute the NUFFT band once": "area",
    "cuda: computed the NUFFT band once": "imperative",
    "cuda: computes the NUFFT band once": "imperative",
    "cuda: computing the NUFFT band once": "imperative",
    "cuda: the NUFFT band is computed once": "imperative",
    "cuda: compute the NUFFT band anew": "again",
}


class Subjects(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()

    def git(self, *arguments, check=True):
        settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b",
                    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
        done = subprocess.run(["git", "-C", self.root, *arguments], check=check, capture_output=True, text=True,
                              env={**os.environ, **settings})
        return done.returncode, (done.stdout + done.stderr).strip()

    def commit(self, subject):
        return self.git("commit", "--allow-empty", "-m", subject, check=False)[0]

    def run_dev(self):
        shutil.copy(HERE.parents[1] / "dev", self.root)
        subprocess.run([self.root / "dev", "help"], check=True, capture_output=True)

    def test_accepts_good_subjects(self):
        for subject in GOOD:
            with self.subTest(subject=subject):
                self.assertEqual(list(check_commits.faults(subject)), [])

    def test_finds_each_fault(self):
        for subject, fault in BAD.items():
            with self.subTest(subject=subject):
                self.assertRegex(" ".join(check_commits.faults(subject)), fault)

    def test_hook_refuses_bad_subject(self):
        self.git("init", "-q")
        self.git("config", "core.hooksPath", str(HERE / "hooks"))
        self.assertEqual(self.commit("cuda: compute the band once\n\nThe body; it may have semicolons."), 0)
        self.assertNotEqual(self.commit("The band is found once; so are tables"), 0)

    def test_checks_only_new_history(self):
        self.git("init", "-q")
        self.commit("Old; and bad")
        old = self.git("rev-parse", "HEAD")[1]
        with mock.patch.object(check_commits, "OLD_HISTORY", old):
            self.assertEqual(check_commits.check_history(self.root), 0)
            self.commit("New; and bad")
            self.assertEqual(check_commits.check_history(self.root), 1)
        with mock.patch.object(check_commits, "OLD_HISTORY", "0" * 40):
            self.assertEqual(check_commits.check_history(self.root), 77)

    def test_dev_installs_hook_once(self):
        self.run_dev()  # no checkout: no effect
        self.git("init", "-q")
        self.run_dev()
        self.assertEqual(self.git("config", "core.hooksPath")[1], "tests/layers/hooks")
        self.git("config", "core.hooksPath", "mine")
        self.run_dev()
        self.assertEqual(self.git("config", "core.hooksPath")[1], "mine")

    def test_dev_keeps_existing_hooks(self):
        self.git("init", "-q")
        (self.root / ".git/hooks").mkdir(exist_ok=True)
        (self.root / ".git/hooks/pre-commit").write_text("#!/bin/sh\n")
        self.run_dev()
        self.assertEqual(self.git("config", "core.hooksPath", check=False)[1], "")


if __name__ == "__main__":
    unittest.main()
