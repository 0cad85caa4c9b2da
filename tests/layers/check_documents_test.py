#!/usr/bin/env python3
"""Tests of the document check: each fault is added on purpose to a small temporary tree."""
import tempfile
import unittest
from pathlib import Path

import check_documents

GOOD = {
    "README.md": "# Program\n\n![It](docs/pictures/it.png) [guide](docs/index.md), [start](#program), [web](https://x.org)\n",
    "docs/index.md": "# Guide\n\n[Program](../README.md), [Live](live.md#the-live-system), `[no](link.md)`\n",
    "docs/live.md": "# Live\n\n## The live system\n\nSee `engine/live/{ring,queue}.h`, `ui/cli/`, `engine/*/ring.h`.\n",
    "docs/pictures/it.png": "",
    "engine/live/ring.h": "",
    "engine/live/queue.h": "",
    "ui/cli/main.cpp": "",
}


class EachFault(unittest.TestCase):
    def found(self, path="", text=""):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve()
            for name, content in {**GOOD, **({path: text} if path else {})}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content)
            return list(check_documents.findings(root))

    def expect(self, path, text, *findings):
        self.assertEqual(self.found(path, text), list(findings))

    def test_good_documents_have_no_findings(self):
        self.assertEqual(self.found(), [])

    def test_link_to_no_file(self):
        self.expect("docs/live.md", "# Live\n## The live system\n[a](gone.md)\n", "docs/live.md: gone.md: there is no such file")

    def test_finds_missing_picture(self):
        self.expect("docs/live.md", '# Live\n## The live system\n<img src="no.png">\n', "docs/live.md: no.png: there is no such file")

    def test_link_to_no_heading(self):
        self.expect("docs/live.md", "# Live\n", "docs/index.md: live.md#the-live-system: there is no such heading")

    def test_ignores_headings_in_code_blocks(self):
        self.expect("docs/live.md", "# Live\n```\n## The live system\n```\n",
                    "docs/index.md: live.md#the-live-system: there is no such heading")

    def test_finds_unlisted_page(self):
        self.expect("docs/new.md", "# New\n", "docs/new.md: docs/index.md does not list it")

    def test_finds_unused_picture(self):
        self.expect("docs/pictures/old.gif", "", "docs/pictures/old.gif: no page shows it")

    def test_finds_missing_source(self):
        self.expect("docs/live.md", "# Live\n## The live system\n`engine/live/{ring,gone}.h`\n",
                    "docs/live.md: names engine/live/gone.h, which does not exist")

    def test_ignores_old_names_in_history(self):
        self.assertEqual(self.found("CHANGELOG.md", "`engine/gone.h`\n"), ["CHANGELOG.md: docs/index.md does not list it"])


if __name__ == "__main__":
    unittest.main()
