"""The exit codes of docs/scripts.md for every command: 0 all was done, 1 it was not, 2 the command line was not
understood, 130 interrupted."""
import os
import signal
import subprocess
import time

import numpy as np

import commands
from png_files import png_chunks, png_file
from scans import tube_velocities, write_nrrd, write_scan
from support import PROGRAM, Finished, extend, processor_seconds, start

# Long-running command lines, with their outputs.
ENDLESS = {
    "simulate": ["simulate", "vessel", "-o", "sim/scan.toml", "--samples", 512, "--a-scans", 100, "--b-scans", 20000],
    "reconstruct": ["reconstruct", "long.toml", "-o", "r.nrrd"],
    "convert": ["convert", "long.nhdr", "-o", "c.nii.gz"],
    "register": ["register", *["speckle.npy"] * 40, "-o", "mean.nrrd"],
    "render": ["render", "v.nrrd", "-o", "p.png", "--size", "4096x4096", "--samples", 4096],
    "render --movie": ["render", "v.nrrd", "--movie", "m.webm", "--frames", 2000, "--size", "400x400"],
    "render --mode traced": ["render", "v.nrrd", "-o", "t.png", "--size", "2048x2048", "--mode", "traced", "--samples", 4096],
    "reproduce": ["reproduce", "slow.png", "-o", "again.png"],
    "figure": ["figure", "long.toml", "-o", "f.png", "--layout", "enface"],
    "segment": ["segment", "long.toml", "-o", "s.nrrd"],
    "attenuation": ["attenuation", "long.toml", "-o", "mu.nrrd"],
    "flow": ["flow", *["rush.nrrd"] * 60, "-o", "q.csv"],
    "dynamics": ["dynamics", *["speckle.npy"] * 40, "--step", 1, "--liv", "liv.nrrd"],
    "displacement": ["displacement", *["phasors.npy"] * 12, "--step", 1, "--wavelength", 840, "--displacement", "nm.nrrd"],
    "polarisation": ["polarisation", "phasors.npy", "phasors.npy", "--axis", "axis.nrrd"],
    "filter": ["filter", "long.toml", "-o", "smooth.nrrd"],
    "measure": ["measure", *["rush.nrrd"] * 60, "--regions", "regions.toml"],
    "page": ["page", "v.nrrd", "-o", "p.html", "--frames", 360, "--frame-size", 2048],
    "mesh": ["mesh", "long.toml", "-o", "mesh.stl", "--level", 5],
    "dewarp": ["dewarp", "long.toml", "-o", "d.nrrd", "--pivot-x", 20],
    "stitch": ["stitch", "many_tiles.csv", "-o", "m.nrrd"],
    "catheter": ["catheter", "long.toml", "-o", "c.nrrd"],
    "calibrate field": ["calibrate", "field", "long.toml", "-o", "field.toml"],
    "calibrate grid": ["calibrate", "grid", "long.toml", "--pitch", 1, "-o", "grid.toml"],
    "calibrate galvo": ["calibrate", "galvo", "long.toml", "-o", "galvo.toml"],
    "calibrate background": ["calibrate", "background", "long.toml", "-o", "mean.csv"],
    "calibrate noise": ["calibrate", "noise", "long.toml", "-o", "noise.csv"],
    "calibrate k": ["calibrate", "k", "long.toml", "long.toml", "--background", "long.toml", "--sides", "same", "-o",
                    "k.csv"],
    "calibrate dispersion": ["calibrate", "dispersion", "slow.toml", "--lines", 4096, "-o", "d.csv"],
    "calibrate rolloff": ["calibrate", "rolloff", "long.toml", "-o", "roll.csv"],
    "live": ["live", *commands.SOURCE, "--seconds", 600, "--size", "24x24", "--backend", "cpu"],
    "record": ["record", *commands.SOURCE, "--volumes", 10000, "-o", "rec.toml"],
    "view": ["view", "v.nrrd", "--size", "320x240", "--after", 60, "--picture", "window.png"],
    "serve": ["serve", "v.nrrd", "--size", "320x240", "--port", 0, "--fresh"],
    "bench": ["bench", "--backend", "cpu", "--json", "bench.json"],
    "validate": ["validate", "-o", "page.md"],
    "demo": ["demo"],
}
MAX_WAIT_S = 2  # from an interruption to the end of the program
NEVER_LONG = {"angiogram", "info", "pattern", "retina", "topography"}
KEEPS_WHAT_IT_HAS = {"bench", "record", "render --movie"}  # what an interrupted one has written is a complete file


def replace_in_session(png, replacements):
    """Replaces lines in the session that a picture carries."""
    chunks = png_chunks(png.read_bytes())
    at = next(i for i, (_, data) in enumerate(chunks) if data.startswith(b"session\0"))
    kind, data = chunks[at]
    for before, after in replacements:
        assert data.count(f"\n{before}\n".encode()) == 1, before
        data = data.replace(f"\n{before}\n".encode(), f"\n{after}\n".encode())
    chunks[at] = kind, data
    png.write_bytes(png_file(chunks))


class ExitCodes(commands.PreparedCase):
    def test_table_covers_every_command(self):
        self.assertEqual({*(name.split(" --")[0] for name in ENDLESS), *NEVER_LONG}, set(commands.all_commands()))

    def test_slow_missing_input_or_output_exits_with_1(self):
        """A missing input, or an output path that cannot be written."""
        for case in commands.CASES:
            with self.subTest(command=case.command):
                words = [word.replace(".nrrd", "-gone.nrrd") if word == "v.nrrd" else word for word in case.line()]
                words = ["gone/" + word if word in case.inputs and word != "v.nrrd" else word for word in words]
                if words == case.line():
                    option, name, _ = case.outputs[0]
                    words = case.line({option: f"no/such/{name}"})
                finished = self.run_program(*words)
                self.assertEqual(finished.code, 1, f"{words}\n{finished}")
                self.assertTrue(finished.error_lines[-1].startswith("echolux: "), finished)

    def test_invalid_command_line_exits_with_2(self):
        for case in {case.command: case for case in commands.CASES}.values():
            for wrong in (["--no-such-option"], ["--set"]):
                with self.subTest(command=case.command, wrong=wrong):
                    finished = self.run_program(*case.line(), *wrong)
                    self.assertEqual(finished.code, 2, finished)
                    self.assertEqual(len(finished.error_lines), 1, finished)
                    self.assertIn(f"echolux {case.command} --help", finished.err)
        for words in (["rendr"], [], ["render", "v.nrrd", "-o", "p.png", "-o", "q.png"], ["calibrate", "kk"]):
            with self.subTest(words=words):
                self.assertEqual(self.run_program(*words).code, 2)

    def interrupted(self, command, line, signal_sent):
        before = self.files()
        process = start(*line, folder=self.folder)
        self.wait_until_it_works(process, 2 if " --" in command else 0.1)  # in the middle of a picture
        begun_s, worked_s = time.monotonic(), processor_seconds(process)
        process.send_signal(signal_sent)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        waited_s, worked_s = time.monotonic() - begun_s, processor_seconds(process) - worked_s
        finished = Finished(process, timeout_s=60)
        self.assertEqual(finished.code, 130, f"{line}\n{finished}")
        # On a loaded machine, the time for which it worked counts.
        self.assertLess(min(waited_s, max(worked_s, waited_s / 10)), MAX_WAIT_S,
                        f"{line}\n{waited_s:.1f} s, {worked_s:.1f} s of processor time")
        if "ECHOLUX_VERBOSE" in os.environ:
            print(f"{command}: {waited_s:.2f} s, {worked_s:.2f} s of processor time", flush=True)
        if command not in KEEPS_WHAT_IT_HAS:
            self.assertEqual(self.files(), before, command)

    def test_slow_interruption_exits_with_130(self):
        self.write_what_takes_long()
        for number, (command, line) in enumerate(ENDLESS.items()):
            with self.subTest(command=command):
                self.interrupted(command, line, [signal.SIGINT, signal.SIGTERM, signal.SIGHUP][number % 3])

    def write_what_takes_long(self):
        self.rename_scan(write_scan(self.folder, np.zeros((1, 512, 1024), "<u2"), scan={"b_scans": 16000},
                                    recipe={"depth_end": 16, "voxel": "u8"}), "long")
        extend(self.folder / "long.raw", 16000 * 512 * 1024 * 2)
        noise = np.random.default_rng(1).normal(2000, 100, (1, 4096, 8192)).astype("<u2")
        self.rename_scan(write_scan(self.folder, noise), "slow")
        (self.folder / "long.nhdr").write_text(
            "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 4096 4096 1000\nencoding: raw\ndata file: long.raw\n\n")
        write_nrrd(self.folder / "rush.nrrd", tube_velocities(96, 64, 512), unit="mm/s", quantity="velocity")
        np.save(self.folder / "speckle.npy", np.random.default_rng(2).integers(0, 255, (128, 256, 256), "u1"))
        np.save(self.folder / "phasors.npy", np.ones((128, 256, 256), np.complex64))
        self.succeed("render", "v.nrrd", "-o", "slow.png", "--size", "16x16", "--samples", 2)
        large = [("width = 16", "width = 4096"), ("height = 16", "height = 4096"), ("samples = 2", "samples = 4096")]
        replace_in_session(self.folder / "slow.png", large)

    def rename_scan(self, toml, name):
        (self.folder / f"{name}.toml").write_text(toml.read_text().replace("spectra.raw", f"{name}.raw"))
        (self.folder / "spectra.raw").rename(self.folder / f"{name}.raw")

    def test_closed_output_exits_with_141(self):
        """As with `| head`: silently, whether the output fits into the buffer of the stream or not."""
        for words in (["info", "--recipes"], ["info", "--settings"], ["info", "--settings", "--json"], ["info", "--operations", "--json"]):
            with self.subTest(words=words):
                reader, writer = os.pipe()
                os.close(reader)
                process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=writer, stderr=subprocess.PIPE, text=True)
                os.close(writer)
                _, errors = process.communicate(timeout=60)
                self.assertEqual((process.returncode, errors), (141, ""))

    def test_missing_data_exits_with_1(self):
        slow = [word.replace("2000", "5") for word in commands.SOURCE]
        for line in (["record", *slow, "--seconds", 0.3, "-o", "rec.toml"],
                     ["live", *slow, "--seconds", 0.3, "--size", "24x24", "--backend", "cpu"]):
            with self.subTest(line=line):
                finished = self.run_program(*line)
                self.assertEqual(finished.code, 1, finished)
                self.assertIn("check the trigger", finished.error_lines[-1])

    def test_full_disk_exits_with_1(self):
        finished = self.run_program("record", *commands.SOURCE, "--volumes", 50, "-o", "rec.toml", "--report", "r.json",
                                    most_file_bytes=100_000)
        self.assertEqual(finished.code, 1, finished)
        self.assertIn("rec.raw", finished.error_lines[-1])
