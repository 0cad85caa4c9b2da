"""The commands of the README and of the tutorials run as printed. Pages match the program, and help texts are complete."""
import os
import re
import shlex
import unittest
from pathlib import Path

import numpy as np

import commands
from png_files import png_stream
from scans import write_scan
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


COMMANDS = ["demo", "info", "simulate", "calibrate", "reconstruct", "convert", "filter", "attenuation", "flow", "register", "render", "reproduce", "figure",
            "segment", "live", "record", "serve", "bench", "validate"]
OF_CALIBRATE = ["background", "noise", "k", "dispersion", "rolloff"]


class Counts(ProgramCase):
    def test_single_items_are_in_singular(self):
        scan = write_scan(self.folder, np.ones((1, 1, 256), "<u2"), recipe={"background": "none"})
        finished = self.succeed("reconstruct", scan, "-o", "v.nrrd")
        self.assertIn("1 A-scan in", finished.out)
        for text in (finished.out, finished.err):
            self.assertNotRegex(text, r"\b1 (A-scans|B-scans|volumes|lines)\b(?!/)")


class Helps(ProgramCase):
    def helps(self):
        yield "", self.succeed("--help").out
        for command in COMMANDS:
            yield command, self.succeed(command, "--help").out
        for command in OF_CALIBRATE:
            yield f"calibrate {command}", self.succeed("calibrate", command, "--help").out

    def test_help_contains_no_parser_terms(self):
        for command, text in self.helps():
            with self.subTest(command=command):
                self.assertNotRegex(text, r"\{|\}", "braces of the parser")
                self.assertNotRegex(text, r"SUBCOMMAND|Subcommand", "the parser's word for a command")
                self.assertNotRegex(text, r"e\+\d\d\]|\[-?1e", "a stand-in as a default")
                self.assertNotRegex(text, r'\["|\[\[\d|\[\[\]\]', "defaults as they stand in a file")
                self.assertNotRegex(text, r"\bthe next two\b|\bgoes first\b|\bgo first\b")

    def test_defaults_are_readable(self):
        text = self.succeed("render", "--help").out
        self.assertRegex(text, r"--low value +.*\[auto\]")
        self.assertRegex(text, r"--lighting, --no-lighting\s+.*\[on\]")
        self.assertRegex(text, r"--mode [\w|-]+\s+.*\[composite\]")
        self.assertRegex(text, r"--bits 8\|16 ")
        self.assertRegex(self.succeed("--help").out, r"Usage: echolux \[OPTIONS\] COMMAND\n")
        self.assertNotIn("echolux demo", self.succeed("calibrate", "k", "--help").out)

    def test_every_option_has_help(self):
        for command, text in self.helps():
            for option, help_text in re.findall(r"^  (-[^\n]*?)\s{2,}(\S.*)$", text, re.M):
                with self.subTest(command=command, option=option):
                    self.assertNotRegex(help_text, r"^(of|that|which|whose|where|from|between|for|without|with) ", help_text)

    def test_slow_examples_are_valid_command_lines(self):
        """Without these files, an example ends with an error that names a file."""
        endless = ("demo", "live", "record", "view", "serve", "ctl", "bench", "validate", "simulate", "pattern")
        for command in [*commands.all_commands(), "ctl"]:
            text = self.succeed(*command.split(), "--help").out
            lines = text.split("Examples:\n")[-1].splitlines() if "Examples:\n" in text else []
            self.assertTrue(1 <= len(lines) <= 3, f"{command}: {len(lines)} examples")
            for line in lines:
                with self.subTest(line=line):
                    program, *words = shlex.split(line)
                    self.assertEqual(program, "echolux")
                    self.assertEqual(words[: len(command.split())], command.split())
                    self.succeed(*words, "--help")
                    if words[0] not in endless and "--settings" not in words:
                        finished = self.run_program(*words)
                        self.assertEqual(finished.code, 1, finished)
                        self.assertNotIn("command line", finished.err)

    def test_types_name_endings_of_outputs(self):
        self.assertIn("--output FILE.stl|.ply|.glb (required)", self.succeed("mesh", "--help").out)
        self.assertIn("--output FILE.csv|.npy (required)", self.succeed("pattern", "--help").out)

    def test_choices_are_not_mistaken_for_options(self):
        text = self.succeed("render", "--help").out
        self.assertRegex(text, r"--show volume\|slice\|en-face +volume: 3-D rendering")
        self.assertRegex(text, r"--channel-2-mode view\|mip +view: rendered in")


class Documents(ProgramCase):
    def test_settings_page_lists_settings_of_program(self):
        page = (ROOT / "docs/settings.md").read_text()
        written = page.split("<!-- settings:begin -->")[1].split("<!-- settings:end -->")[0]
        output = self.succeed("info", "--settings").out
        self.assertIn("recipe.window", output)
        self.assertEqual(written.strip(), output.strip(), "./dev gallery writes the table")

    def test_pictures_are_whole(self):
        for picture in (ROOT / "docs/pictures").rglob("*.png"):
            png_stream(picture)

    def test_gallery_shows_every_picture_of_its_folder(self):
        shown = re.findall(r"\]\(pictures/gallery/([^)]+)\)", (ROOT / "docs/gallery.md").read_text())
        self.assertEqual(sorted(shown), sorted(os.listdir(ROOT / "docs/pictures/gallery")))
