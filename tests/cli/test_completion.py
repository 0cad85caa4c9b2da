"""Completion in shells: commands, options and choices, as the shell itself computes them."""
import shutil
import subprocess
import unittest

from support import ProgramCase


class Completion(ProgramCase):
    def script(self, shell):
        path = self.folder / f"echolux.{shell}"
        path.write_text(self.succeed("info", "--completion", shell).out)
        return path

    def in_bash(self, *words):
        listed = " ".join(f"'{word}'" for word in ("echolux", *words))
        line = (f"source {self.script('bash')}; COMP_WORDS=({listed}); COMP_CWORD={len(words)}; _echolux; "
                'printf "%s\\n" "${COMPREPLY[@]}"')
        return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True).stdout.split()

    def test_bash_completes_commands_options_and_choices(self):
        self.assertEqual(self.in_bash("rec"), ["reconstruct", "record"])
        self.assertEqual(self.in_bash("calibrate", "ro"), ["rolloff"])
        self.assertIn("--sides", self.in_bash("calibrate", "k", "m1.toml", "--si"))
        self.assertEqual(self.in_bash("calibrate", "k", "m1.toml", "--sides", ""), ["same", "opposite"])
        self.assertIn("hann", self.in_bash("reconstruct", "scan.toml", "--window", "h"))
        self.assertEqual(self.in_bash("reconstruct", "scan.toml", "-o", ""), [], "the shell offers files")

    def test_scripts_are_accepted_by_their_shells(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.script(shell)
            if shutil.which(shell):
                with self.subTest(shell=shell):
                    subprocess.run([shell, "-n", script], check=True)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_completes_commands_and_choices(self):
        def found(*words):
            line = (f"autoload -Uz compinit; compinit -D -u; source {self.script('zsh')}; "
                    f"complete_as_bash() {{ emulate -L sh; COMP_WORDS=({' '.join(words)} ''); COMP_CWORD={len(words)}; "
                    '_echolux; print -l -- "${COMPREPLY[@]}"; }; complete_as_bash')
            return subprocess.run(["zsh", "-f", "-c", line], capture_output=True, text=True, check=True).stdout.split()

        self.assertIn("record", found("echolux"))
        self.assertIn("rolloff", found("echolux", "calibrate"))
        self.assertEqual(found("echolux", "calibrate", "k", "m1.toml", "--sides"), ["same", "opposite"])

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_completes_options(self):
        line = f"source {self.script('fish')}; complete -C 'echolux calibrate k --si'"
        self.assertIn("--sides", subprocess.run(["fish", "-c", line], capture_output=True, text=True, check=True).stdout)

    def test_other_shells_are_refused(self):
        self.refuse("info", "--completion", "csh", names=["csh", "bash, zsh or fish"])
