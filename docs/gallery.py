#!/usr/bin/env python3
"""Makes docs/gallery.md and its pictures: `./dev gallery` calls it where ECHOLUX_DATA names the folder with the volumes and
the recording (docs/gallery.md says what they are).

    docs/gallery.py PROGRAM DATA [NAME...]     NAME: only these pictures; the page is always written

Each picture is what the command below it makes."""
import os
import shlex
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PICTURES = DOCS / "pictures" / "gallery"
SIZE = "360x300"

SCAN = """[scan]
file = "{folder}/spectra_u16_100x100x1024.raw"
sample_format = "u16"
samples = 1024
a_scans = 100
b_scans = 100
[calibration]
k_map = "{folder}/k_linear_positions.csv"
dispersion = "{folder}/dispersion_phase_rad.csv"
dispersion_holds = "correction"
[recipe]
background = "frame_mean"
resample = "spline"
window = "hann"
depth_begin = 50
depth_end = 200
"""

HEAD = """# Gallery

Every picture is made by the command below it (and `--size {size}`), by `./dev gallery`. [Rendering](rendering.md) explains
the settings.

| volume | what it is |
|---|---|
| `bonsai.nii.gz`, `engine.nii.gz` | CT, 256 x 256 x 256 and 256 x 256 x 128 voxels of 8 bit, from neurolabusc/VolumeRenderingData (MIT) |
| `oct.nrrd` | OCT of a scattering sample, 100 x 100 A-scans, from the recording of MartinPdeS/OCT_calibration (MIT), depth rows 50 to 200 by `echolux reconstruct`; its voxels' size is unknown |
| `retina.nrrd` | a simulated retina, made by `echolux simulate retina` and `echolux reconstruct` |
"""

OCT = "oct.nrrd --fit"
RETINA = "retina.nrrd --azimuth 30 --elevation 30 --fit"
BONSAI = "bonsai.nii.gz --azimuth 110 --elevation 55 --roll -106.6 --fit --low 28"

# Section: (name of the picture, what it shows, input and options).
SECTIONS = {
    "Modes": [
        ("composite", "composite", BONSAI),
        ("mip", "mip: the largest value", f"{BONSAI} --mode mip"),
        ("minip", "minip: the least value", "oct.nrrd --mode minip --look front --fit"),
        ("average", "average: an x-ray", "engine.nii.gz --mode average --azimuth 40 --elevation 35 --fit --high 60"),
        ("attenuated-mip", "attenuated-mip: the largest as far as light gets", f"{BONSAI} --mode attenuated-mip"),
        ("depth-mip", "depth-mip: the largest, coloured by its depth", f"{RETINA} --mode depth-mip"),
        ("isosurface", "isosurface", "engine.nii.gz --mode isosurface --isovalue 80 --azimuth 40 --elevation 35 --fit"),
        ("mida", "mida: between composite and mip", f"{BONSAI} --mode mida"),
        ("points", "points: a ball for each voxel that is seen", f"{RETINA} --mode points --zoom 4"),
    ],
    "Light": [
        ("flat", "without light", f"{BONSAI} --no-lighting"),
        ("lamp", "a free lamp and its shadows", f"{BONSAI} --lamp free --shadows 0.8"),
        ("ambient-occlusion", "ambient occlusion",
         "engine.nii.gz --mode isosurface --isovalue 80 --azimuth 40 --elevation 35 --fit --ambient-occlusion 0.9"),
    ],
    "OCT": [
        ("retina", "a retina, preset tissue", RETINA),
        ("retina-layers", "layers told apart: preset retina", f"{RETINA} --preset retina"),
        ("retina-gray", "preset oct-gray", f"{RETINA} --preset oct-gray"),
        ("retina-en-face", "from above, coloured by depth",
         "retina.nrrd --look top --fit --mode depth-mip --projection orthographic"),
        ("oct", "a real recording", f"{OCT} --azimuth 35 --elevation 30"),
        ("oct-mip", "its strongest echoes", f"{OCT} --mode mip --azimuth 35 --elevation 30"),
    ],
    "Colours and transfer functions": [
        ("magma", "colour map magma", f"{BONSAI} --colour-map magma --mode mip"),
        ("viridis", "colour map viridis", f"{RETINA} --colour-map viridis"),
        ("cividis", "colour map cividis", "engine.nii.gz --colour-map cividis --azimuth 40 --elevation 35 --fit"),
        ("bone", "preset bone, for values that are no HU", f"{BONSAI} --preset bone --high 200"),
    ],
    "Camera": [
        ("front", "look front, orthographic", "engine.nii.gz --look front --projection orthographic --fit"),
        ("top", "look top", "engine.nii.gz --look top --fit"),
        ("inside", "the eye inside the volume", "engine.nii.gz --distance 0.45 --fov 60 --azimuth 40 --elevation 15"),
    ],
}


def run(program, words, folder):
    """Bare names are files in `folder`, where the program runs."""
    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"echolux {shlex.join(words)}: {done.stderr.strip()}")


def prepare(program, data, folder):
    """The volumes, under the names that the commands give them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("bonsai.nii.gz", "engine.nii.gz"):
        link = folder / name
        if not link.exists():
            link.symlink_to(data / "volumes" / name)
    (folder / "oct.toml").write_text(SCAN.format(folder=data / "sd-oct-volume"))
    for words in (["reconstruct", "oct.toml", "-o", "oct.nrrd"],
                  ["simulate", "retina", "--out", "retina/scan.toml"],
                  ["reconstruct", "retina/scan.toml", "-o", "retina.nrrd"]):
        if not (folder / words[-1]).exists():
            run(program, words, folder)


def page():
    lines = [HEAD.format(size=SIZE)]
    for section, pictures in SECTIONS.items():
        lines.append(f"## {section}\n")
        for name, caption, words in pictures:
            lines.append(f"![{caption}](pictures/gallery/{name}.png)\n\n{caption}: `echolux render {words} -o {name}.png`\n")
    return "\n".join(lines).rstrip() + "\n"


def main():
    program, data = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    wanted = sys.argv[3:]
    folder = DOCS.parent / "out" / "gallery"
    prepare(program, data, folder)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, _, words in (picture for pictures in SECTIONS.values() for picture in pictures):
        if wanted and name not in wanted:
            continue
        target = os.path.relpath(PICTURES / f"{name}.png", folder)
        run(program, ["render", *words.split(), "--size", SIZE, "-o", target], folder)
    (DOCS / "gallery.md").write_text(page())


if __name__ == "__main__":
    main()
