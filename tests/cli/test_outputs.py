"""Nothing is overwritten without consent: one rule for every output of every command. Writing over an input, a file of
the user, or another output of the same command is refused before work begins."""
import hashlib
import os
from pathlib import Path

import commands
from support import ProgramCase

FOREIGN = b"somebody's own, and years old\n" * 40


class AllOutputs(commands.PreparedCase):
    def contents(self):
        return {name: hashlib.sha256((self.folder / name).read_bytes()).hexdigest() for name in self.files()}

    def each_output(self):
        for case in commands.CASES:
            for option, name, tells in case.outputs:
                yield case, option, name, tells

    def refused(self, line, *words):
        before = self.contents()
        finished = self.run_program(*line)
        self.assertEqual(finished.code, 1, f"{line}\n{finished}")
        for word in words:
            self.assertIn(word, finished.error_lines[-1], f"{line}\n{finished}")
        self.assertEqual(self.contents(), before, str(line))

    def test_every_command_is_in_table(self):
        self.assertEqual({case.command for case in commands.CASES}, set(commands.all_commands()))

    def test_inputs_are_never_overwritten(self):
        for case, option, _, _ in self.each_output():
            for name in case.inputs:
                with self.subTest(command=case.command, option=option, input=name):
                    line = case.line({option: name}, only=option)
                    self.refused([*line, "--overwrite"], name)

    def test_slow_names_require_matching_extension(self):
        """A table named like a picture would be opened as a picture."""
        for case, option, name, _ in self.each_output():
            if case.command == "demo":
                continue  # a folder
            with self.subTest(command=case.command, option=option):
                may_be_a_table = case.command == "segment" and option == "-o"
                wrong = "x.csv" if Path(name).suffix != ".csv" and not may_be_a_table else "x.png"
                self.refused(case.line({option: wrong}, only=option), wrong)

    def test_other_names_of_inputs_are_protected(self):
        (self.folder / "link.nrrd").symlink_to("v.nrrd")
        (self.folder / "hard.mha").hardlink_to(self.folder / "v.nrrd")
        for name in ("link.nrrd", "hard.mha", "sim/../v.nrrd", "./v.nrrd"):
            with self.subTest(name=name):
                (self.folder / "sim").mkdir(exist_ok=True)
                self.refused(["convert", "v.nrrd", "-o", name, "--overwrite"], "would overwrite an input")

    def test_foreign_files_are_kept(self):
        for case, option, name, _ in self.each_output():
            with self.subTest(command=case.command, option=option, name=name):
                path = self.folder / name.replace("%02d", "00")
                if case.command == "demo":
                    path = path / "volume.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(FOREIGN)
                self.refused(case.line(only=option), "already exists", "--overwrite")
                path.unlink()

    def test_slow_overwrite_replaces_foreign_files(self):
        for case in commands.CASES:
            if case.is_long:
                continue
            with self.subTest(line=case.line()):
                for _, name, _ in case.outputs:
                    path = self.folder / name.replace("%02d", "00")
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(FOREIGN)
                self.succeed(*case.line(), "--overwrite")
                for _, name, _ in case.outputs:
                    self.assertNotEqual((self.folder / name.replace("%02d", "00")).read_bytes(), FOREIGN, name)

    def test_slow_own_results_are_replaced_if_identifiable(self):
        for case in commands.CASES:
            if case.is_long:
                continue
            with self.subTest(line=case.line()):
                self.succeed(*case.line())
                silent = [name for _, name, tells in case.outputs if not tells]
                if silent:
                    self.refused(case.line(), "already exists")
                else:
                    self.succeed(*case.line())

    def test_results_of_other_kind_are_kept(self):
        self.succeed("calibrate", "background", "scan.toml", "-o", "mean.csv")
        self.refused(["calibrate", "noise", "scan.toml", "-o", "mean.csv"], "mean.csv: already exists")
        self.refused(["figure", "v.nrrd", "--psf", "-o", "mean.csv"], "mean.csv: already exists")

    def test_two_results_cannot_share_file(self):
        for case in commands.CASES:
            for option, _, _ in case.outputs[1:]:
                first, name, _ = case.outputs[0]
                with self.subTest(command=case.command, options=(first, option)):
                    self.refused([*case.line({option: name}), "--overwrite"], name)

    def test_slow_only_last_folder_is_created(self):
        self.succeed("convert", "v.nrrd", "-o", "new/c.nrrd")
        for case, option, name, _ in self.each_output():
            with self.subTest(command=case.command, option=option):
                self.refused(case.line({option: f"not/there/{Path(name).name}"}, only=option), "there is no folder")

    def test_slow_self_describing_formats_are_replaced(self):
        for name in ("c.nrrd", "c.nii", "c.nii.gz", "c.tif", "c.ome.tif", "c.h5", "c.mha", "c.ome.zarr"):
            with self.subTest(name=name):
                self.succeed("convert", "v.nrrd", "-o", name)
                self.succeed("convert", "v.nrrd", "-o", name)
        for name in ("m.mp4", "m.mkv", "m.webm", "m.mov"):
            with self.subTest(name=name):
                line = ["render", "v.nrrd", "--size", "32x32", "--frames", 2, "--movie", name]
                self.succeed(*line)
                self.succeed(*line)

    def test_foreign_zarr_folder_is_kept(self):
        """A zarr written by another program is not our result."""
        self.succeed("convert", "v.nrrd", "-o", "c.ome.zarr")
        attributes = self.folder / "c.ome.zarr" / ".zattrs"
        attributes.write_text(attributes.read_text().replace("echolux", "others"))
        self.refused(["convert", "v.nrrd", "-o", "c.ome.zarr"], "already exists")


class Recordings(ProgramCase):
    RECORD = ["record", *commands.SOURCE, "--volumes", 2]

    def test_folder_must_exist(self):
        """Writing to an empty mount point would fill the root disk."""
        for name in ("rec/scan.toml", "not/there/scan.toml"):
            self.refuse(*self.RECORD, "-o", name, names=["there is no folder", "mount its disk"])

    def test_existing_files_are_refused_before_source_starts(self):
        (self.folder / "scan.raw").write_bytes(FOREIGN)
        finished = self.refuse(*self.RECORD, "-o", "scan.toml", names=["scan.raw", "already exists"])
        self.assertNotIn("simulate", finished.err)

    def test_unwritable_folder_is_reported_before_source_starts(self):
        folder = self.folder / "locked"
        folder.mkdir()
        folder.chmod(0o555)
        if os.access(folder, os.W_OK):
            self.skipTest("root may write everywhere")
        finished = self.refuse(*self.RECORD, "-o", "locked/scan.toml", names=["locked/scan.toml: cannot be written"])
        self.assertNotIn("simulate", finished.err)

    def test_progress_describes_recording(self):
        finished = self.succeed(*self.RECORD, "-o", "scan.toml")
        self.assertIn("record: 2 volumes", finished.err)
        self.assertNotIn("live:", finished.err)

    def test_each_recording_has_separate_truth(self):
        for name in ("a", "b"):
            self.succeed(*self.RECORD, "-o", f"{name}.toml")
            self.assertTrue((self.folder / f"{name}.truth" / "truth.toml").is_file())

    def test_simulation_never_replaces_recording(self):
        self.succeed(*self.RECORD, "-o", "scan.toml")
        before = (self.folder / "scan.raw").read_bytes()
        self.refuse("simulate", "layers", "-o", "scan.toml", *commands.SIMULATED, names=["scan.toml: already exists"])
        self.assertEqual((self.folder / "scan.raw").read_bytes(), before)

    def test_simulation_keeps_neighbouring_files(self):
        (self.folder / "scan.raw").write_bytes(FOREIGN)
        self.refuse("simulate", "layers", "-o", "scan.toml", *commands.SIMULATED, names=["scan.raw: already exists"])
        self.assertEqual((self.folder / "scan.raw").read_bytes(), FOREIGN)

    def test_processed_volumes_need_empty_folder(self):
        line = [*self.RECORD, "-o", "scan.toml", "--backend", "cpu", "--processed"]
        (self.folder / "old").mkdir()
        (self.folder / "old" / "volume_000007.nrrd").write_bytes(FOREIGN)
        self.refuse(*line, "old", names=["old: already contains volumes"])
        self.succeed(*line, "new")

    def test_neighbouring_calibration_is_kept(self):
        """A copy of the source's calibration uses the next free name."""
        self.succeed("simulate", "layers", "-o", "sim/scan.toml", *commands.SIMULATED)
        (self.folder / "copy.background.f64").write_bytes(FOREIGN)
        self.succeed("record", "--source", "replay:sim/scan.toml", "--volumes", 1, "-o", "copy.toml")
        self.assertEqual((self.folder / "copy.background.f64").read_bytes(), FOREIGN)
        self.assertIn('background = "copy.background-2.f64"', (self.folder / "copy.toml").read_text(encoding="utf-8"))
