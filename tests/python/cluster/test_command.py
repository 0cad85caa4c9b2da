"""The command: its messages, its exit codes and its Slurm scripts."""
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

import echolux as ox
from archive import PARTS, PATIENCE_S, ClusterCase, batch, write_archive
from echolux.cluster import slurm
from echolux.cluster.command import VERBS
from test_parts import reconstruct

PROGRAM = os.environ.get("ECHOLUX_PROGRAM")


class Command(ClusterCase):
    def run_batch(self, *words, program=False, **options):
        command = [PROGRAM, "batch"] if program else [sys.executable, *batch()]
        return subprocess.run([*command, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE_S,
                              **options)

    def test_codes_and_words(self):
        scans = write_archive(self.folder / "data", 2)
        for words, code, said in ((["data/*/scan.toml", "-o", "out", "--workers", "0"], 0, "2 of 2 scans finished, 2 parts made"),
                                  (["gone.toml", "-o", "out"], 1, "gone.toml  the whole scan  does not exist"), (["gone*.toml", "-o", "out"], 1, "matches no file"),
                                  (["data/*/scan.toml"], 2, "--output"), ([scans, "-o", "out", "--thread", "2"], 2, "did you mean --threads?"),
                                  (["flow", scans, "-o", "data/eye0/scan.toml"], 1, "is not a folder"), ([scans, "-o", "not/there"], 1, "there is no folder"),
                                  ([scans, "-o", "out", "--set", "x"], 1, "section.key=value"),
                                  ([scans, "-o", "out", "--share", "2"], 1, "0/4"), ([scans, "-o", "out", "--share", "4/4"], 1, "no share 4 of 4"),
                                  ([scans, "-o", "out", "--dask", "tcp://127.0.0.1:9", "--slurm", "2"], 2, "not allowed with"),
                                  ([scans, "-o", "o2", "--set", "recipe.windw=hann", "--workers", "0"], 1, "windw")):
            with self.subTest(words):
                done = self.run_batch(*words, *(["--workers", "0"] if "gone.toml" in words else []))
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(said, done.stdout + done.stderr)
                self.assertNotIn("Traceback", done.stderr)

    def test_invalid_command_line_is_reported_in_one_line(self):
        done = self.run_batch("convert", "v.nrrd", "-o", "out", "--ending", ".nii", "--no-such-option")
        self.assertEqual((done.returncode, done.stderr), (2, "echolux: unexpected: --no-such-option (see echolux batch convert --help)\n"))
        error = json.loads(self.run_batch("x.toml", "--json").stderr)["error"]
        self.assertEqual((list(error), error["code"]), (["code", "what", "where", "remedy"], "usage"))

    def test_help_contains_no_parser_terms(self):
        for verb in VERBS:
            self.assertNotRegex(self.run_batch(verb, "--help").stdout, r"[{}]")

    def test_json(self):
        write_archive(self.folder / "data", 2)
        os.truncate(self.folder / "data/eye1/scan.raw", 7)
        done = self.run_batch("data/*/scan.toml", "-o", "out", "--workers", "0", "--json")
        told = json.loads(done.stdout)
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual((told["files"], told["finished"], len(told["failures"])), (["eye0/scan.ome.zarr"], 1, 1))
        self.assertEqual(list(json.loads(self.run_batch("no*", "-o", "out", "--json").stderr)["error"]),
                         ["code", "what", "where", "remedy"])

    def test_program_starts_batch(self):
        if not PROGRAM:
            self.skipTest("this build has no program")
        scans = write_archive(self.folder / "data", 2)
        here = {**os.environ, "ECHOLUX_PYTHON": sys.executable}
        done = self.run_batch("data/*/scan.toml", "-o", "out", "--workers", "0", "--part-b-scans", "64", "--set",
                              "recipe.window=blackman", "--quiet", program=True, env=here)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        reconstruct(scans, self.folder / "reference", recipe={"window": "blackman"})
        self.assert_same_results(self.folder / "out", self.folder / "reference")
        for missing in {"ECHOLUX_PYTHON": "/no/python3"}, {"PATH": "/nowhere"}:
            done = self.run_batch("x", "-o", "out", program=True, env=missing)
            self.assertEqual(done.returncode, 1)
            self.assertIn("pip install 'echolux[cluster]'", done.stderr)

    def test_slow_ctrl_c_keeps_finished_parts(self):
        scans = write_archive(self.folder / "data", 20)
        counted = self.folder / "steps"
        counted.mkdir()
        (counted / "hold").write_text("5")
        words = batch(scans, "-o", self.folder / "out", "--part-b-scans", "64", "--workers", "1", "--threads", "1")
        job = self.start(*words, stderr=subprocess.PIPE, text=True, start_new_session=True,
                         # A job started with `&` ignores SIGINT.
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
                         env={**os.environ, "ECHOLUX_STEPS": str(counted),
                              "DASK_DISTRIBUTED__WORKER__PRELOAD": str([str(Path(__file__).parent / "steps.py")])})
        self.wait_for("part", lambda: len(list(self.folder.glob("out/.echolux/*/*/0-*.json"))) > 2)
        os.killpg(job.pid, signal.SIGINT)
        (counted / "go").touch()
        said = job.communicate(timeout=PATIENCE_S)[1]
        self.assertEqual(job.returncode, 130, said)
        self.assertIn("finished parts are kept", said.splitlines()[-1])
        self.assertNotIn("Traceback", said)
        there = len(list(self.folder.glob("out/.echolux/*/*/0-*.json")))
        report = reconstruct(scans, self.folder / "out")
        self.assertEqual((report.there, report.made), (there, 20 * PARTS - there))
        reconstruct(scans, self.folder / "reference")
        self.assert_same_results(self.folder / "out", self.folder / "reference")


class Verbs(ClusterCase):
    def run_verb(self, *words):
        return subprocess.run([sys.executable, *batch(*map(str, words))], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE_S)

    def test_slow_each_verb_works(self):
        ox.Volume.from_array(np.ones((4, 5, 6), np.uint8), spacing_um=(1, 1, 1)).save(self.folder / "v.nrrd")
        write_archive(self.folder / "data", 1, samples=256)
        for words, made in ((["convert", "v.nrrd", "--ending", ".nii"], "v.nii"), (["figures", "v.nrrd", "--plane", "side"], "v.png"),
                            (["calibrate", "data/*/scan.toml", "--what", "noise_floor"], "noise_floor.csv"),
                            (["movie", "v.nrrd", "--frames", 2, "--view", "width=16", "--view", "height=16"], "m.gif")):
            with self.subTest(words):
                out = self.folder / words[0]
                done = self.run_verb(*words, "-o", out / "m.gif" if words[0] == "movie" else out, "--workers", 0)
                if words[0] == "movie" and "Vulkan" in done.stderr:
                    continue  # there is no Vulkan device
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue((out / made).exists())

    def test_map_calls_function_of_file(self):
        ox.Volume.from_array(np.ones((4, 5, 6), np.uint8), spacing_um=(1, 1, 1)).save(self.folder / "v.nrrd")
        (self.folder / "mine.py").write_text("def total(volume):\n    return int(volume[:].sum())\n")
        done = self.run_verb("map", "mine.py:total", "v.nrrd", "-o", "out", "--workers", "0")
        self.assertEqual((done.returncode, done.stdout.split("\t")), (0, [str(self.folder / "v.nrrd"), "120\n"]), done.stderr)
        told = json.loads(self.run_verb("map", "mine.py:total", "v.nrrd", "--workers", "0", "--json").stdout)
        self.assertEqual(list(told["results"].values()), [120])
        for function in "mine.py:other", "mine.py", "no_such_module:f", "gone.py:f":
            self.assertIn("write file.py:name", self.run_verb("map", function, "v.nrrd", "--workers", "0").stderr)

    def test_flow_is_written_beside_structure(self):
        write_archive(self.folder / "data", 1)
        done = self.run_verb("flow", "data/*/scan.toml", "-o", "out", "--workers", "0", "--method", "decorrelation", "--set", "scan.b_scans=65",
                             "--set", "scan.b_repeats=2", "--set", "recipe.average=magnitude")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(one.name for one in (self.folder / "out").glob("*.zarr")), ["scan-flow.ome.zarr", "scan.ome.zarr"])

    def test_slow_program_offers_same_verbs(self):
        if not PROGRAM:
            self.skipTest("this build has no program")
        here = {**os.environ, "ECHOLUX_PYTHON": sys.executable}

        def program(*words):
            return subprocess.run([PROGRAM, "batch", *words], cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE_S, env=here)

        listed = [re.findall(r"^  ([a-z]+) +([A-Z].*)$", text, re.M) for text in (program("--help").stdout, self.run_verb("--help").stdout)]
        self.assertEqual(listed[0], listed[1])
        self.assertEqual([name for name, _ in listed[0]], list(VERBS))
        self.assertIn("usage: echolux batch map", program("map", "--help").stdout)
        scans = write_archive(self.folder / "data", 1)
        for verb in "reconstruct", "flow":
            done = program(verb, scans, "-o", verb, "--recipe", "doppler", "--set", "flow.threshold_db=0", "--workers", "0", "--quiet")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            self.assertTrue((self.folder / verb / "scan-flow.ome.zarr").exists())
        done = program("convert", "gone.nrrd", "-o", "out", "--ending", ".nii", "--workers", "0", "--retries", "0", "--json")
        self.assertEqual((done.returncode, json.loads(done.stdout)["failures"][0]["scan"]), (1, str(self.folder / "gone.nrrd")))

    def test_codes_and_words(self):
        for words, code, said in ((["convert", "gone.nrrd", "-o", "out", "--ending", ".nii", "--workers", "0"], 1, "gone.nrrd"),
                                  (["convert", "gone*.nrrd", "-o", "out", "--ending", ".nii"], 1, "matches no file"),
                                  (["convert", "v.nrrd", "-o", "out"], 2, "--ending"),
                                  (["movie", "gone.nrrd", "-o", "turn.png", "--frames", "2"], 1, "name a movie")):
            with self.subTest(words):
                done = self.run_verb(*words)
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(said, done.stdout + done.stderr)
                self.assertNotIn("Traceback", done.stderr)


class Slurm(ClusterCase):
    def script(self, *words):
        done = subprocess.run([sys.executable, *batch(*words)], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, "PATH": "/nowhere"})
        self.assertIn("sbatch", done.stderr)
        return (self.folder / "out/.echolux/slurm.sh").read_text()

    def test_script_is_requeued_array(self):
        text = self.script("a b*.toml", "-o", "out", "--slurm", "8", "--slurm-option=--gres=gpu:1",
                           "--slurm-option=--partition=long", "--require", "cuda")
        for line in ("#SBATCH --array=0-7", "#SBATCH --requeue", "#SBATCH --gres=gpu:1", "#SBATCH --partition=long"):
            self.assertIn(line + "\n", text)
        self.assertIn(f'{sys.executable} -m echolux.cluster reconstruct --workers 0 --share "$SLURM_ARRAY_TASK_ID/8" '
                      "'a b*.toml' -o out --require cuda\n", text)

    def test_folders_with_spaces_are_quoted(self):
        lines = slurm.script(["reconstruct", "a.toml"], "/a/with space/50%", 2).splitlines()
        self.assertIn("#SBATCH --output='/a/with space/50%%/.echolux/slurm-%A-%a.log'", lines)

    def test_only_killed_tasks_are_requeued(self):
        asked = self.folder / "asked"
        for name, text in ("scontrol", f"#!/bin/bash\necho $2 >> {asked}\n"), ("python", "#!/bin/bash\nexit $CODE\n"):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)
        text = slurm.script(["reconstruct", "a.toml"], "out", 2, python=str(self.folder / "python"))
        here = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "SLURM_ARRAY_TASK_ID": "0"}
        for code in 0, 1, 130, 134, 137, 143:
            done = subprocess.run(["bash", "-c", text], env={**here, "CODE": str(code), "SLURM_JOB_ID": str(code)})
            self.assertEqual(done.returncode, code)
        self.assertEqual(asked.read_text().split(), ["134", "137"])

    def test_tasks_together_finish_job(self):
        scans = write_archive(self.folder / "data", 2)
        self.script(scans, "-o", "out", "--slurm", "2", "--part-b-scans", "64", "--quiet")
        tasks = [subprocess.Popen(["bash", "out/.echolux/slurm.sh"], cwd=self.folder,
                                  env={**os.environ, "SLURM_ARRAY_TASK_ID": str(number)}) for number in range(2)]
        self.assertEqual([task.wait(60) for task in tasks], [0, 0])
        reconstruct(scans, self.folder / "reference")
        self.assert_same_results(self.folder / "out", self.folder / "reference")
