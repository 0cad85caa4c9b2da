"""Wording of the program: every refusal names the problem in terms of the command line, states what was expected and
how to continue. Every help text is readable by itself."""
import re

from scans import write_scan
from support import ProgramCase

COMMANDS = ["demo", "info", "simulate", "calibrate", "reconstruct", "convert", "filter", "attenuation", "flow", "register", "render", "reproduce", "figure",
            "segment", "live", "record", "serve", "bench", "validate"]
OF_CALIBRATE = ["background", "noise", "k", "dispersion", "rolloff"]


class Counts(ProgramCase):
    def test_single_items_are_in_singular(self):
        import numpy as np
        scan = write_scan(self.folder, np.ones((1, 1, 256), "<u2"), recipe={"background": "none"})
        told = self.succeed("reconstruct", scan, "-o", "v.nrrd")
        self.assertIn("1 A-scan in", told.out)
        for text in (told.out, told.err):
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
