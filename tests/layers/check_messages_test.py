#!/usr/bin/env python3
"""Tests of the message check: it finds each fault and reports nothing for correct messages."""
import tempfile
import unittest
from pathlib import Path

import check_messages


class Check(unittest.TestCase):
    def found(self, source, path="engine/io/one.cpp"):
        with tempfile.TemporaryDirectory() as root:
            file = Path(root) / path
            file.parent.mkdir(parents=True)
            file.write_text(source, encoding="utf-8")
            return list(check_messages.findings(Path(root)))

    def test_what_is_well(self):
        self.assertEqual(self.found('refuse("is not a volume", "part.volume", "choose `backend` cpu");\n'), [])
        self.assertEqual(self.found('fmt::format("{} of {}", plural(n, "B-scans"), name);\n'), [])
        self.assertEqual(self.found('fmt::format("{:.0f} k A-scans/s, {} x {} x {} voxels", r, a, b, c);\n'), [])

    def test_comments_and_includes_are_not_messages(self):
        self.assertEqual(self.found('#include "a --b"\n// "--gpus"\n/* "is no name" */ int a = \'"\';\n'), [])

    def test_options_and_commands_below_ui(self):
        for text in ["leave out --gpus", "`echolux info --presets` lists them", "--flow", "make it with echolux render"]:
            with self.subTest(text=text):
                self.assertRegex(self.found(f'refuse("{text}");\n')[0], "output.cpp")
                self.assertEqual(self.found(f'refuse("{text}");\n', "ui/cli/one.cpp"), [])

    def test_counts(self):
        for text in ["has {} B-scans", "{} blocks are missing", "the file holds {} more volumes", "1 lines"]:
            with self.subTest(text=text):
                self.assertRegex(self.found(f'fmt::format("{text}", n);\n')[0], "plural")

    def test_puzzling_phrases(self):
        for text in ["is no name of a volume", "--set goes first", "40 tenths of a second", "is there already",
                     "says itself what it holds", "open it anew", "one a line", "70000 lines a second"]:
            with self.subTest(text=text):
                self.assertTrue(self.found(f'tell("{text}");\n', "ui/cli/one.cpp"))

    def test_a_text_over_several_lines_is_one(self):
        lines = self.found('\nrefuse("is no\\n"\n       "name",\n  "goes "\n   "first");\n')
        self.assertEqual([line.split(": ")[0] for line in lines], ["engine/io/one.cpp:4"])


if __name__ == "__main__":
    unittest.main()
