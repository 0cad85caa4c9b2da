"""The code blocks of docs/python.md run unchanged, one after the other."""
import contextlib
import importlib.util
import io
import os
import re
from pathlib import Path

import echolux as ox
from support import FolderCase

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


class Tutorial(FolderCase):
    def test_runs(self):
        blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
        self.assertGreater(len(blocks), 8)
        before, shown, names, skipped = os.getcwd(), io.StringIO(), {}, []
        os.chdir(self.folder)
        try:
            for number, block in enumerate(blocks):
                if ("matplotlib" in block or ".plot(" in block) and importlib.util.find_spec("matplotlib") is None:
                    skipped.append("matplotlib is not installed")
                    continue
                try:
                    with contextlib.redirect_stdout(shown):
                        exec(compile(block, f"{PAGE.name}, block {number + 1}", "exec"), names)
                except (ox.Unsupported, ox.DeviceFailed) as error:
                    self.assertRegex(block, r"\.render\(|ox\.movie\(")  # pictures need a Vulkan driver
                    skipped.append(str(error))
        finally:
            os.chdir(before)
        text = shown.getvalue()
        self.assertIn("(32, 128, 1024)", text)
        self.assertIn("<Volume 32x128x512 f32, spacing 40 x 10 x 3.5 um, db, in dB above noise floor>", text)
        depth = int(re.search(r"the surface is (\d+) um deep", text).group(1))
        self.assertAlmostEqual(depth, 3.5 * 90, delta=5)
        self.assertIn("mm/s\n", text)  # velocities
        self.assertIn("True dB", text)  # a single B-scan equals that of the volume
        if not skipped:
            self.assertGreater((self.folder / "b-scan.png").stat().st_size, 5000)
        print(*skipped)
