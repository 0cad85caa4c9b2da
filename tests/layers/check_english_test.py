#!/usr/bin/env python3
"""Tests of the check of wording: it finds each phrase in comments, pages and names, counts shares, and recognises new lines."""
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import check_english
import english

CLUMSY = [
    "What moves is drawn again", "Empty; what is left is drawn", "Slots, where there is none", "Wakes up for who waits", "Nobody reads it",
    "Of the whole window", "The same for rows", "Nothing: there is none yet", "The state is told", "Says whether it runs",
    "The table lies in memory", "The session goes on", "Lets go of blocks", "Mended by a restart", "A plan comes to be used",
    "It is looked for", "A scan is made of blocks", "Scans that are no volumes", "The least of all rows", "Waits for so many volumes",
    "Two bytes a voxel", "Has a thread of its own", "Formats, and colours besides", "It has changed meanwhile", "There is no longer any",
    "Waits in vain", "This is as good as new", "Neither text nor number", "The parts thereof",
    "This is no volume", "Draws it anew", "Ten pictures a second", "They can be had", "It is not there any more",
]
PLAIN = [
    "Returns the number of rows.", "What is drawn? See below.", "Waits for at least two rows.", "A fit of least squares.",
    "There are no more rows.", "Returns a line for each fact.", "Who is asked depends on the owner.", "So many that it fails.",
    "Code: `auto what = is_told(nobody);`", 'The phrase "goes on" is refused.',
]
RIDDLES = ["WhatCannotWorkIsRefused", "NobodyWaits", "WhereThereIsNoFile", "OfOneVolumeIsThatOfAll", "NothingIsLeft", "RefusesAFile",
           "test_what_is_lost_is_counted", "test_reads_the_file"]


def checkout(root):
    """Makes `root` a checkout with one commit, and returns its hash."""
    for arguments in (["init", "-q"], ["add", "-A"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"]):
        subprocess.run(["git", "-C", root, *arguments], check=True)
    return subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()


class Wording(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()

    def write(self, path, content):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")

    def lines_found(self, path, content):
        return [finding.line for finding in check_english.findings_in(Path(path), content)[2]]

    def test_finds_each_phrase(self):
        for text in CLUMSY:
            with self.subTest(text=text):
                self.assertTrue(english.IN_TEXTS.hits(text))

    def test_has_example_of_each_phrase(self):
        advice = {advice for text in CLUMSY for _, _, advice in english.IN_TEXTS.hits(text)}
        self.assertEqual(set(english.CLUMSY.values()) - advice, set())

    def test_accepts_plain_texts_and_quotations(self):
        for text in PLAIN:
            with self.subTest(text=text):
                self.assertEqual(english.IN_TEXTS.hits(text), [])

    def test_reads_comments_of_each_language(self):
        for path, content in {
            "engine/a.cpp": 'auto a = "It goes on";  // It goes on.\n/* One.\n * It goes\n * on. */\n',
            "compute/a.cu": "\n// One\n// line lies in\n// another.\n",
            "cmake/a.cmake": "set(a 1)  # It goes on.\n# One\n# goes on.\n",
            "tests/CMakeLists.txt": "# It goes on.\n",
            "dev": "#!/bin/bash\nsay '# not'\n# It goes on.\n",
            "python/a.py": '"""It goes on."""\na = "It goes on."\nb = """It goes on."""  # It goes on.\n',
            "docs/a.md": "# It goes on\n\nOne. It\ngoes on here.\n\n| cell | it goes on in a cell |\n\n```\nIt goes on here.\n```\n",
        }.items():
            expected = {"engine/a.cpp": [1, 3], "compute/a.cu": [3], "cmake/a.cmake": [1, 3], "tests/CMakeLists.txt": [1], "dev": [3],
                        "python/a.py": [1, 3], "docs/a.md": [1, 4, 6]}[path]
            with self.subTest(path=path):
                self.assertEqual(self.lines_found(path, content), expected)

    def test_finds_riddles_in_names(self):
        for name in RIDDLES:
            content = f"    def {name}(self):\n" if name.startswith("test_") else f"\nTEST_F(Reader, {name}) {{}}\n"
            with self.subTest(name=name):
                self.assertTrue(self.lines_found("tests/a.py" if name.startswith("test_") else "tests/a.cpp", content))

    def test_accepts_names_of_behaviour(self):
        content = "TEST(Reader, RejectsTruncatedFile) {}\nTEST(Reader, KeepsAScans) {}\nTEST_P(Reader, TakesU16AndF32) {}\n"
        self.assertEqual(check_english.findings_in(Path("tests/a.cpp"), content), (3, 0, []))

    def test_limits_share_of_each_folder(self):
        self.write("engine/a.cpp", "int a;  // One row.\n" * 99 + "int b;  // It goes on.\n")
        lines, passes = check_english.report(self.root)
        self.assertTrue(passes)
        self.assertEqual(lines, ['engine/a.cpp:100: "goes on": say \'continue\'', "engine: 1 of 100 texts have findings"])
        self.write("render/a.cpp", "// It goes on.\n")
        lines, passes = check_english.report(self.root)
        self.assertFalse(passes)
        self.assertIn("render: 1 of 1 texts have findings: too many", lines)

    def test_refuses_new_findings(self):
        self.write("engine/a.cpp", "int a;  // One row.\n" * 199 + "int b;  // It goes on.\n")
        with mock.patch.object(check_english.check_commits, "OLD_HISTORY", checkout(self.root)):
            self.assertTrue(check_english.report(self.root)[1])
            self.write("engine/a.cpp", (self.root / "engine/a.cpp").read_text() + "int c;  // It lies in a row.\n")
            lines, passes = check_english.report(self.root)
        self.assertFalse(passes)
        self.assertEqual([line for line in lines if line.endswith("(new)")], ['engine/a.cpp:201: "lies in": say \'is in\' (new)'])

    def test_exempts_files_that_quote(self):
        self.write("tests/layers/english.py", "# It goes on.\n")
        self.write("tests/a.py", "# One row.\n")
        self.assertEqual(check_english.report(self.root), (["tests: 0 of 1 texts have findings"], True))


if __name__ == "__main__":
    unittest.main()
