#!/usr/bin/env python3
"""Runs two builds of the program side by side and compares their outputs byte by byte, for changes that must not change
results.

usage: compare_outputs.py OLD_PROGRAM NEW_PROGRAM [FOLDER]     exit status 1 when an output differs or is missing

FOLDER (default: a temporary one, removed at the end) keeps both sets of outputs. The times of day in recordings are
excluded from the comparison.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SMALL = ["--a-scans", "48", "--b-scans", "24", "--samples", "512", "--seed", "3"]
SIZE = ["--size", "320x240"]

# The commands, run in this order in a separate folder; every file that exists afterwards is compared.
COMMANDS = [
    ["simulate", "vessel", "--out", "scan/scan.toml", *SMALL, "--velocity", "true-velocity.nrrd"],
    ["simulate", "layers", "--out", "full/scan.toml", *SMALL, "--a2", "60"],
    ["simulate", "capillary", "--out", "flow/scan.toml", *SMALL, "--a-repeats", "4"],
    ["simulate", "mirror", "--out", "mirror/scan.toml", *SMALL],
    ["reconstruct", "scan/scan.toml", "-o", "volume.nrrd"],
    ["reconstruct", "scan/scan.toml", "-o", "volume.nii.gz", "--set", "recipe.voxel=u8"],
    ["reconstruct", "scan/scan.toml", "-o", "volume.ome.tif", "--set", "recipe.voxel=u16"],
    ["reconstruct", "scan/scan.toml", "-o", "volume.mha", "--set", "recipe.quantity=amplitude"],
    ["reconstruct", "scan/scan.toml", "-o", "volume.ome.zarr"],
    ["reconstruct", "scan/scan.toml", "-o", "volume.npy", "--set", "recipe.quantity=intensity"],
    ["reconstruct", "scan/scan.toml", "-o", "b-scan.png", "--b-scan", "10"],
    ["reconstruct", "scan/scan.toml", "-o", "en-face.png", "--en-face", "60:120"],
    *[["reconstruct", "scan/scan.toml", "-o", f"resample-{name}.npy", "--set", f"recipe.resample={name}"]
      for name in ["none", "nearest", "linear", "catmull_rom", "spline", "nufft", "nudft"]],
    ["reconstruct", "scan/scan.toml", "-o", "running.npy", "--set", "recipe.background=running"],
    ["reconstruct", "scan/scan.toml", "-o", "median.npy", "--set", "recipe.background=median",
     "--set", "recipe.fixed_pattern=median"],
    ["reconstruct", "scan/scan.toml", "-o", "padded.npy", "--set", "recipe.upsample=2", "--set", "recipe.zero_padding=2"],
    ["reconstruct", "full/scan.toml", "-o", "defr.npy", "--recipe", "defr"],
    ["reconstruct", "scan/scan.toml", "-o", "compressive.npy", "--recipe", "compressive"],
    ["reconstruct", "flow/scan.toml", "-o", "flow.nrrd", "--flow", "velocity.nrrd", "--set", "flow.method=doppler",
     "--set", "recipe.average=power"],
    ["reconstruct", "flow/scan.toml", "-o", "angio-structure.nrrd", "--flow", "angio.nrrd",
     "--set", "flow.method=decorrelation", "--set", "recipe.average=power"],
    ["calibrate", "background", "scan/scan.toml", "-o", "background.csv"],
    ["calibrate", "noise", "scan/scan.toml", "-o", "noise.csv"],
    ["convert", "volume.nrrd", "converted.nii.gz"],
    ["convert", "volume.ome.zarr", "converted.npy"],
    *[["render", "volume.nrrd", "-o", f"mode-{mode}.png", *SIZE, "--mode", mode, "--azimuth", "30"]
      for mode in ["composite", "mip", "minip", "average", "attenuated-mip", "depth-mip", "isosurface", "mida", "points"]],
    ["render", "volume.nrrd", "-o", "lit.png", *SIZE, "--preset", "retina", "--lamp", "free", "--shadows", "0.7",
     "--ambient-occlusion", "0.6", "--samples", "4"],
    ["render", "volume.nrrd", "-o", "annotated.png", *SIZE, "--scale-bar", "--colour-bar"],
    ["render", "volume.nrrd", "-o", "slice.png", *SIZE, "--show", "slice"],
    ["render", "scan/scan.toml", "-o", "overlay.png", *SIZE, "--flow", "true-velocity.nrrd"],
    ["render", "volume.nrrd", "-o", "fine.tif", *SIZE, "--bits", "16", "--samples", "4"],
    ["figure", "volume.nrrd", "-o", "figure.svg", "--layout", "bscan/enface"],
    ["record", "--source", "sim:scan/scan.toml", "--volumes", "2", "-o", "recording/scan.toml"],
    ["info", "--settings"],
    ["info", "scan/scan.toml"],
]

TIME_OF_DAY = re.compile(rb'(started\s*=\s*"[^"]*")|(\d{4}-\d\d-\d\dT[0-9:.]+Z?)|(<dc:date>[^<]*)')


def outputs(program, folder, kept_as):
    """Runs all commands and returns their outputs, including printed results. Both programs use the same folder name,
    because results contain the names of their inputs."""
    (folder / "recording").mkdir(parents=True)  # recordings do not create their folder
    for number, command in enumerate(COMMANDS):
        done = subprocess.run([program, *command], cwd=folder, capture_output=True,
                              env={**os.environ, "TZ": "UTC", "XDG_CONFIG_HOME": str(folder / "none")})
        if done.returncode != 0:
            sys.exit(f"{program} {' '.join(command)}: status {done.returncode}: "
                     f"{done.stderr.decode(errors='replace').strip()[-300:]}")
        if command[0] == "info":
            (folder / f"printed-{number}.txt").write_bytes(done.stdout)
    found = {path.relative_to(folder): TIME_OF_DAY.sub(b"", path.read_bytes())
             for path in sorted(folder.rglob("*")) if path.is_file()}
    folder.rename(folder.parent / kept_as)
    return found


def index_without_times(name, content):
    """Removes the arrival times of blocks from the index of a recording, because they differ from run to run."""
    if name.name.endswith("index.csv") or name.name.endswith(".index.csv"):
        return b"\n".join(b",".join(line.split(b",")[:4]) for line in content.splitlines())
    return content


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(sys.argv[3] if len(sys.argv) > 3 else temporary) / "compared"
        old, new = (outputs(str(Path(program).resolve()), base / "work", name)
                    for program, name in zip(sys.argv[1:3], ("old", "new")))
    differing = [name for name in sorted(old.keys() | new.keys())
                 if index_without_times(name, old.get(name, b"missing")) != index_without_times(name, new.get(name, b"missing"))]
    for name in differing:
        print(f"differs: {name}")
    print(f"{len(COMMANDS)} commands, {len(old)} files of the old program, {len(new)} of the new, {len(differing)} differ")
    return 1 if differing or not old else 0


if __name__ == "__main__":
    sys.exit(main())
