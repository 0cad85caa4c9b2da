#!/usr/bin/env python3
"""Tests of the key check: a misspelt key is added on purpose to a small temporary tree."""
import tempfile
import unittest
from pathlib import Path

import check_keys

GOOD = {
    "docs/settings.md": "| setting | default |\n|---|---|\n| `recipe.window` | `hann` |\n| `view.mode` | `mip` |\n",
    "docs/operations.md": "# Operations\n\n## `view`\n\n| option |\n|---|\n| `size` | int |\n",
    "engine/good.cpp": 'set("recipe.window"); open("view.toml"); get("view.size");  // not "view.gone"\n',
    "ui/good.cpp": 'add(work.actions(), "view.reset", "Reset"); run("view.reset"); provenance["view.backend"] = "view.backend";\n',
}


class EachFault(unittest.TestCase):
    def found(self, path="", text=""):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, content in {**GOOD, **({path: text} if path else {})}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content)
            return list(check_keys.findings(root))

    def test_known_keys_have_no_findings(self):
        self.assertEqual(self.found(), [])

    def test_finds_misspelt_key(self):
        self.assertEqual(self.found("compute/bad.cpp", '\nrequire(ok, "recipe.windows");\n'),
                         ["compute/bad.cpp:2: recipe.windows: there is no such setting"])

    def test_finds_key_of_other_section(self):
        self.assertEqual(self.found("ui/bad.cpp", 'constexpr std::array keys{"recipe.mode"};\n'),
                         ["ui/bad.cpp:1: recipe.mode: there is no such setting"])


if __name__ == "__main__":
    unittest.main()
