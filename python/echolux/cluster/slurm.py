"""A job as a Slurm array: each task is a share in a separate process, without Dask. A task that is killed or whose node
fails is requeued and continues where it stopped.
"""
from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import BadArgument, Unsupported


def script(arguments: Sequence[str], out: str, tasks: int, options: Sequence[str] = (), python: str = sys.executable) -> str:
    """Returns the text of a batch script. arguments: of `python -m echolux.cluster`, starting with a verb, without
    those for Slurm; options: for sbatch, "--partition=gpu".
    """
    log = os.path.join(out.replace("%", "%%"), ".echolux", "slurm-%A-%a.log") if "://" not in out else "slurm-%A-%a.log"
    lines = ["#!/bin/bash", "#SBATCH --job-name=echolux", f"#SBATCH --array=0-{tasks - 1}", "#SBATCH --ntasks=1",
             "#SBATCH --requeue", "#SBATCH --open-mode=append", f"#SBATCH --output={shlex.quote(log)}"]
    lines += [f"#SBATCH {option}" for option in options]
    verb, *rest = arguments
    start = shlex.join([python, "-m", "echolux.cluster", verb, "--workers", "0"])
    lines += ["", "# Shares that end early leave nothing undone: any number of tasks, and starts, make the whole.",
              f'{start} --share "$SLURM_ARRAY_TASK_ID/{tasks}" {shlex.join(rest)}', "code=$?",
             "# Slurm itself queues a task again whose node failed; one that was killed asks for it, five times at most. One that",
             "# was stopped (130: interrupted; 143: scancel, or its time was over) stays so.",
             'if [ $code -gt 128 ] && [ $code -ne 130 ] && [ $code -ne 143 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 5 ]; then scontrol requeue "$SLURM_JOB_ID"; fi',
             "exit $code", ""]
    return "\n".join(lines)


def submit(arguments: Sequence[str], out: str, tasks: int, options: Sequence[str] = ()) -> str:
    """Writes the script below the output and submits it. arguments: may include those for Slurm. Returns its path with
    the output of sbatch. Raises Unsupported without sbatch; the script remains then.
    """
    if tasks < 1:
        raise BadArgument(f"cannot be {tasks}", "--slurm", "give the number of tasks")
    rest = iter(arguments)
    kept = [one for one in rest if not (one.startswith(("--slurm=", "--slurm-option="))
                                        or one in ("--slurm", "--slurm-option") and next(rest))]
    folder = Path(".") if "://" in out else Path(out) / ".echolux"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "slurm.sh"
    path.write_text(script(kept, out, tasks, options))
    if shutil.which("sbatch") is None:
        raise Unsupported("sbatch is not on this machine", str(path), "submit the script where it is: sbatch " + str(path))
    done = subprocess.run(["sbatch", str(path)], capture_output=True, text=True)
    if done.returncode != 0:
        raise Unsupported("was refused by sbatch: " + done.stderr.strip(), str(path), "add options with --slurm-option")
    return f"{path}: {done.stdout.strip()}"
