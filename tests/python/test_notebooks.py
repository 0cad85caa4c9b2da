"""The notebooks of the documentation run, and contain their outputs."""
import importlib.util
import json
import subprocess
import sys
import unittest
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
NEEDED = ("nbclient", "ipykernel", "matplotlib")


class Notebooks(unittest.TestCase):
    def test_stored_notebooks_have_pictures_without_errors(self):
        books = sorted((DOCS / "notebooks").glob("*.ipynb"))
        self.assertEqual([book.stem for book in books], ["batch", "calibrate", "doppler", "first_volume"])
        for book in books:
            cells = json.loads(book.read_text(encoding="utf-8"))["cells"]
            outputs = [output for cell in cells for output in cell.get("outputs", [])]
            self.assertTrue(any("image/png" in output.get("data", {}) for output in outputs), book.stem)
            self.assertFalse([one for one in outputs if one["output_type"] == "error"], book.stem)

    @unittest.skipIf(any(importlib.util.find_spec(name) is None for name in NEEDED), f"{', '.join(NEEDED)} are not all there")
    def test_slow_run(self):
        ran = subprocess.run([sys.executable, DOCS / "notebooks.py", "--check"], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
