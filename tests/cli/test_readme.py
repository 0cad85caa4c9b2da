"""The commands of the README and of the tutorials run as printed, in order, in an empty folder."""
import re
import shlex
import unittest
from pathlib import Path

from support import Finished, ProgramCase, start

ROOT = Path(__file__).resolve().parents[2]
MAX_README_LINES = 120
MAX_COMMANDS_PER_PATH = 6


def shell_blocks(page):
    """The commands of each block of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [[shlex.split(line, comments=True) for line in block.splitlines() if line.strip()] for block in blocks]


class Readme(unittest.TestCase):
    def test_readme_is_short(self):
        self.assertLessEqual(len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()), MAX_README_LINES)
        blocks = shell_blocks("README.md")
        self.assertGreater(len(blocks), 4)
        for block in blocks:
            self.assertLessEqual(len(block), MAX_COMMANDS_PER_PATH, block)


class SlowPages(ProgramCase):
    def run_page(self, page):
        commands = [command for block in shell_blocks(page) for command in block if command[0] == "echolux"]
        self.assertGreater(len(commands), 4)
        environment = {"HOME": str(self.folder), "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "ECHOLUX_VALIDATION": "0"}
        for _, *arguments in commands:
            finished = Finished(start(*arguments, folder=self.folder, environment=environment), timeout_s=600)
            self.assertEqual(finished.code, 0, f"{page}: echolux {shlex.join(arguments)}\n{finished}")

    def test_readme(self):
        self.run_page("README.md")

    def test_first_volume(self):
        self.run_page("docs/first-volume.md")

    def test_first_session(self):
        self.run_page("docs/first-session.md")
