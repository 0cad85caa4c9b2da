"""Nothing is overwritten without consent: one rule for every output of every command. Writing over an input, a file of
the user, or another output of the same command is refused before work begins."""
import hashlib
import os

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

    def test_unwritable_folder_is_reported_before_source_starts(self):
        folder = self.folder / "locked"
        folder.mkdir()
        folder.chmod(0o555)
        if os.access(folder, os.W_OK):
            self.skipTest("root may write everywhere")
        finished = self.refuse(*self.RECORD, "-o", "locked/scan.toml", names=["locked/scan.toml: cannot be written"])
        self.assertNotIn("simulate", finished.err)

    def test_simulation_never_replaces_recording(self):
        self.succeed(*self.RECORD, "-o", "scan.toml")
        before = (self.folder / "scan.raw").read_bytes()
        self.refuse("simulate", "layers", "-o", "scan.toml", *commands.SIMULATED, names=["scan.toml: already exists"])
        self.assertEqual((self.folder / "scan.raw").read_bytes(), before)

    def test_processed_volumes_need_empty_folder(self):
        line = [*self.RECORD, "-o", "scan.toml", "--backend", "cpu", "--processed"]
        (self.folder / "old").mkdir()
        (self.folder / "old" / "volume_000007.nrrd").write_bytes(FOREIGN)
        self.refuse(*line, "old", names=["old: already contains volumes"])
        self.succeed(*line, "new")

