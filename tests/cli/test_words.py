"""Wording of the program: every refusal names the problem in terms of the command line, states what was expected and
how to continue. Every help text is readable by itself."""
import re
import unittest

from support import ProgramCase, write_scan

COMMANDS = ["demo", "info", "simulate", "calibrate", "reconstruct", "convert", "filter", "attenuation", "flow", "register", "render", "reproduce", "figure",
            "segment", "live", "record", "serve", "bench", "validate"]
OF_CALIBRATE = ["background", "noise", "k", "dispersion", "rolloff"]


class Refusals(ProgramCase):
    def setUp(self):
        super().setUp()
        self.scan = write_scan(self.folder)

    def told(self, *arguments):
        return self.refuse(*arguments, lines=None).error_lines[-1]

    def reconstruct(self, *options):
        return self.told("reconstruct", self.scan, "-o", "v.nrrd", *options)

    def test_misspelt_options_suggest_nearest_and_help(self):
        self.assertRegex(self.reconstruct("--windw", "hann"), r"did you mean '--window'\? \(see echolux reconstruct --help\)")
        self.assertRegex(self.told("calibrate", "k", "--outptu", "x"), r"'--output'\? \(see echolux calibrate k --help\)")
        self.assertRegex(self.told("calibrate", "kk"), r"did you mean 'k'\? \(see echolux calibrate --help\)")
        self.assertRegex(self.told("reconstrct"), r"did you mean 'reconstruct'\? \(see echolux --help\)")
        self.assertRegex(self.told("calibrate", "k", "a", "b"), r"is required \(see echolux calibrate k --help\)")

    def test_misspelt_choices_suggest_nearest(self):
        for arguments, near in [
            (["reconstruct", self.scan, "-o", "v.nrrd", "--backend", "cdua"], "cuda"),
            (["reconstruct", self.scan, "-o", "v.nrrd", "--window", "hanning"], "hann"),
            (["reconstruct", self.scan, "-o", "v.nrrd", "--recipe", "nuft"], "nufft"),
            (["reconstruct", self.scan, "-o", "v.nrrd", "--set", "scan.sample_format=uint16"], "u16"),
            (["reconstruct", self.scan, "-o", "v.nrrd", "--set", "scan.sample_format=float32"], "f32"),
            (["convert", "v.nrrd", "w.nrrd", "--type", "uint8"], "u8"),
            (["convert", "v.nrrd", "w.nrrd", "--compression", "gzipp"], "gzip"),
            (["calibrate", "k", "a", "b", "--background", "c", "-o", "k.csv", "--sides", "oposite"], "opposite"),
        ]:
            with self.subTest(near=near):
                told = self.told(*arguments)
                self.assertRegex(told, rf"did you mean \"?{near}\"?\?")
                self.assertNotIn("{", told)

    def test_choices_are_listed_in_sentence(self):
        told = self.told("calibrate", "k", "a", "b", "--background", "c", "-o", "k.csv", "--sides", "both")
        self.assertIn("--sides: expected one of same, opposite, got both", told)

    def test_limits_are_readable(self):
        for arguments, expected in [
            (["live", "--source", "sim", "--headless", "--seconds", "-1"], "--seconds: expected a number of 0 or more, got -1"),
            (["live", "--source", "sim", "--headless", "--pictures-per-s", "2000"], "expected a number from 0.01 to 1000, got 2000"),
            (["render", "v.nrrd", "--movie", "m.mp4", "--frames", "9999999999"], "expected a whole number from 1 to 1000000"),
        ]:
            told = self.told(*arguments)
            self.assertIn(expected, told)
            self.assertNotRegex(told, r"\d{12}|0\.0{4}")

    def test_incomplete_commands_refer_to_help(self):
        self.assertIn("no command is given (see echolux --help)", self.told())
        self.assertIn("no command is given (see echolux calibrate --help)", self.told("calibrate"))
        self.assertIn("--output needs a value: FILE", self.told("reconstruct", self.scan, "-o"))
        self.assertIn("exclude each other", self.told("info", self.scan, "--settings"))
        self.assertIn("unexpected: more", self.reconstruct("more"))

    def test_unknown_keys_are_reported_first(self):
        self.succeed("reconstruct", self.scan, "-o", "a.nrrd")
        for opened in ["a.nrrd", self.scan]:
            for assignment, near in [("veiw.mode=mip", "view.mode"), ("view.mod=mip", "view.mode"), ("recipe.windw=hann", "recipe.window")]:
                with self.subTest(opened=str(opened), assignment=assignment):
                    told = self.told("render", opened, "-o", "p.png", "--set", assignment)
                    self.assertIn(assignment.split("=")[0], told)
                    self.assertIn(f'did you mean "{near}"?', told)
        self.assertIn("has no effect on a volume file", self.told("render", "a.nrrd", "-o", "p.png", "--set", "recipe.window=hann"))

    def test_reports_missing_section(self):
        told = self.reconstruct("--set", "view.mode=mip")
        self.assertIn("there is no section [view] here (the sections are scan, calibration, recipe", told)

    def test_missing_file_of_calibration(self):
        told = self.reconstruct("--set", "calibration.k_map=nowhere.csv")
        for word in ["scan.toml, calibration.k_map: ", "nowhere.csv does not exist", "relative to the folder of the scan's TOML"]:
            self.assertIn(word, told)

    def test_rejects_binary_k_map(self):
        (self.folder / "k.csv").write_bytes(bytes(range(256)) * 40)
        told = self.reconstruct("--set", "calibration.k_map=k.csv")
        self.assertIn("k.csv, calibration.k_map: is a binary file, expected text with one number per line", told)
        (self.folder / "k.csv").write_bytes(b"1\n2\n\xb5m\xff\n")
        told = self.reconstruct("--set", "calibration.k_map=k.csv")
        self.assertIn('k.csv line 3, calibration.k_map: expected a finite number, got "?m?"', told)
        self.assertTrue(told.isascii() and told.isprintable(), repr(told))

    def test_missing_size_and_one_of_zero(self):
        for samples in [None, 0]:
            scan = write_scan(self.folder, scan={"samples": samples})
            self.assertIn("scan.samples: is missing or 0 (set it to at least 1)", self.told("info", scan))

    def test_wrong_number_of_samples(self):
        self.assertIn("which fits scan.samples = 256 instead of 512", self.reconstruct("--set", "scan.samples=512"))
        self.assertIn("which fits scan.samples = 256 instead of 200", self.reconstruct("--set", "scan.samples=200"))
        (self.folder / "spectra.raw").write_bytes(b"12345")
        self.assertIn("check scan.samples", self.reconstruct())

    def test_rejects_other_files_as_scan(self):
        (self.folder / "s.xml").write_text('\ufeff<?xml version="1.0"?>\n<Scan/>\n', encoding="utf-8")
        (self.folder / "s.json").write_text(' {"a": 1}\n')
        for name, kind in [("s.xml", "XML"), ("s.json", "JSON")]:
            told = self.told("reconstruct", name, "-o", "v.nrrd")
            self.assertIn(f"{name}: is {kind}, not a scan's TOML file", told)
            self.assertIn("echolux info --guess", told)

    def test_keys_become_options_and_commands(self):
        self.assertIn("--range: applies to pictures only", self.reconstruct("--range", "0:40"))
        self.assertIn("`echolux convert` with --type u8 and --range LOW:HIGH", self.reconstruct("--range", "0:40"))
        self.assertIn("add --b-scan N or --en-face Z0:Z1", self.told("reconstruct", self.scan, "-o", "v.png"))
        self.assertIn("`echolux reconstruct` makes volumes", self.told("convert", self.scan, "w.nrrd"))
        self.assertIn("--path: \"turntabel\" is not a movie path", self.told("render", self.scan, "--movie", "m%02d.png", "--path", "turntabel"))


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


if __name__ == "__main__":
    unittest.main()
