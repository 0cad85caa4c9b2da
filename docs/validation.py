#!/usr/bin/env python3
"""Makes docs/validation.md: `./dev gallery` calls it.

    docs/validation.py PROGRAM [DATA]     DATA: the folder with sd-oct-volume/, for mirrors of a real instrument, and
                                          with real/, for recordings with known boundaries

The mirrors are spectra of MartinPdeS/OCT_calibration (MIT), one on either side of zero delay; here they become scans, as
anybody's recordings are."""
import subprocess
import sys
import tempfile
from array import array
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "validation.md"

SCAN = """[scan]
file = "spectrum.raw"
sample_format = "f32"
samples = {samples}
a_scans = 1
b_scans = 1
[calibration]
background = "background.csv"
dark = "{data}/dark_not.csv"
k_map = "{data}/k_linear_positions.csv"
dispersion = "{data}/dispersion_phase_rad.csv"
dispersion_holds = "{holds}"
"""

# Their dispersion has opposite signs: the file holds the correction of the second.
MIRRORS = {"mirror1": "theta", "mirror2": "correction"}


def column(path):
    return [float(line.split(",")[-1]) for line in path.read_text().splitlines()[1:] if line.strip()]


def write_mirror(folder, data, name, holds):
    """A scan of one line. Its background is all light without the fringe: of either arm alone, the dark level once."""
    folder.mkdir()
    spectrum = column(data / f"{name}.csv")
    arms = zip(column(data / "dark_ref.csv"), column(data / f"dark_sample{name[-1]}.csv"), column(data / "dark_not.csv"))
    background = [reference + sample - dark for reference, sample, dark in arms]
    (folder / "spectrum.raw").write_bytes(array("f", spectrum).tobytes())
    (folder / "background.csv").write_text("\n".join(map(repr, background)) + "\n")
    (folder / "scan.toml").write_text(SCAN.format(samples=len(spectrum), data=data, holds=holds))
    return folder / "scan.toml"


def main():
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        real = []
        if len(sys.argv) > 2:
            folder_of_data = Path(sys.argv[2]).resolve()
            data = folder_of_data / "sd-oct-volume"
            scans = [write_mirror(Path(folder) / name, data, name, holds) for name, holds in MIRRORS.items()]
            real = ["--recordings", folder_of_data, "--mirrors", *scans]
        finished = subprocess.run([program, "validate", "-o", PAGE, *real], check=False)
    return finished.returncode


if __name__ == "__main__":
    sys.exit(main())
