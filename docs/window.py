#!/usr/bin/env python3
"""Makes the pictures of docs/window.md: `./dev gallery` calls it.

    docs/window.py PROGRAM [NAME...]     NAME: only these pictures

Each is the whole window, off screen, after the keys that a person would press."""
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

PICTURES = Path(__file__).resolve().parent / "pictures" / "window"
SIZE = "1280x800"

# Name: file to open, settings, keys and clicks. {folder} holds a simulated scan with its volume, and a retina.
WINDOWS = {
    "start": "",
    "live": "--source sim:vessel --after 8",
    "palette": "{folder}/volume.nrrd --press Ctrl+K --press d --press i",
    "transfer": "{folder}/volume.nrrd --set view.preset=tissue --set window.open_panels=transfer,source",
    "time": "{folder}/scan.toml --after 4 --press Right --press Right",
    "flow": "--source sim:capillary --after 12 --set window.open_panels=flow,source",
    "recording": "--source sim:retina --set window.record_folder={folder} --after 6 --press Ctrl+R"
    " --set window.open_panels=source,statistics",
    "alignment": "--source sim:mirror --set window.layout=alignment --after 5",
    "filters": "{folder}/eye.nrrd --set filter.method=median --set filter.shown=true --set window.open_panels=filters --after 10",
    "layers": "{folder}/eye.nrrd --set window.open_panels=surfaces --set layers.names='ILM NFL IPL INL OPL ISOS OS RPE-top RPE-bottom'"
    " --set layers.polarity=1,-1,-1,1,-1,1,-1,1,-1 --set layers.min_um=0,4,15,10,6,20,6,6,6 --set layers.tissue_below=true"
    " --press Ctrl+K --press l --press a --press y --press e --press r --press s --press Enter --after 10",
}


def simulate(program, folder):
    scan = folder / "scan.toml"
    subprocess.run([program, "simulate", "vessel", "-o", scan, "--volumes", "6", "--a-scans", "160",
                    "--b-scans", "96"], check=True, stderr=subprocess.DEVNULL)
    subprocess.run([program, "reconstruct", scan, "-o", folder / "volume.nrrd", "--volume", "0"], check=True,
                   stderr=subprocess.DEVNULL)
    scan = folder / "eye" / "scan.toml"
    subprocess.run([program, "simulate", "retina", "-o", scan, "--a-scans", "128", "--b-scans", "96"], check=True,
                   stderr=subprocess.DEVNULL)
    subprocess.run([program, "reconstruct", scan, "-o", folder / "eye.nrrd"], check=True, stderr=subprocess.DEVNULL)


def main():
    program, names = Path(sys.argv[1]).resolve(), sys.argv[2:]
    PICTURES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        simulate(program, Path(folder))
        for name, options in WINDOWS.items():
            if names and name not in names:
                continue
            words = shlex.split(options.format(folder=folder))
            picture = ["--picture", PICTURES / f"{name}.png", "--overwrite"]
            subprocess.run([program, "view", *words, "--size", SIZE, *picture], check=True)


if __name__ == "__main__":
    main()
