#!/usr/bin/env python3
"""Makes docs/gallery.md and its pictures: `./dev gallery` calls it if ECHOLUX_DATA names the folder with the volumes and
the recording (docs/gallery.md describes them).

    docs/gallery.py PROGRAM DATA [NAME...]     NAME: only these pictures; the page is always written

The command below each picture makes it."""
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import zlib
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

Every picture is made by the command below it (with `--size {size}` where it names no size), by `./dev gallery`. [Rendering](rendering.md) explains
the settings.

| volume | what it is |
|---|---|
| `bonsai.nii.gz`, `engine.nii.gz` | CT, 256 x 256 x 256 and 256 x 256 x 128 voxels of 8 bit, from neurolabusc/VolumeRenderingData (MIT) |
| `oct.nrrd` | OCT of a scattering sample, 100 x 100 A-scans, from the recording of MartinPdeS/OCT_calibration (MIT), depth rows 50 to 200 by `echolux reconstruct`; its voxels' size is unknown |
| `fundus.nrrd` | a simulated retina with six vessels on it, the scene [fundus.toml](fundus.toml) (of your own: in `~/.config/echolux/scenes`): `echolux simulate fundus --a-scans 240 --b-scans 240 --spacing-a 5.5 --spacing-b 5.5 -o fundus/scan.toml --velocity fundus/velocity.nrrd` |
| `oct-smooth.nrrd`, `fundus-smooth.nrrd` | the same with less speckle, by `echolux filter`; the latter with `--search-depth 7 --search-a-scans 7 --search-b-scans 5 --patch 3` |
| `retina.nrrd`, `vessel.nrrd` | a simulated retina and tissue with two vessels, made by `echolux simulate SCENE -o SCENE/scan.toml --velocity SCENE/velocity.nrrd` and `echolux reconstruct` |
| `retina-labels.nrrd` | the layers and vessels that were simulated: `retina/truth/labels.u8` under the header of `retina.nrrd`; their names and colours are in [retina-labels.toml](retina-labels.toml) |
| `sky.png` | a picture as the sky: three lamps with soft edges before a dim room, drawn by [gallery.py](gallery.py) |
"""

OCT = "oct.nrrd --fit"
RETINA = "retina.nrrd --azimuth 30 --elevation 30 --fit"
VESSEL = "vessel.nrrd --azimuth 35 --elevation 30 --fit"
FLOW = "--preset oct-gray --opacity 0.012 --flow-range 0.5 --flow-threshold 0.02 --colour-bar --text-size 0.032"
ENGINE = "engine.nii.gz --azimuth 40 --elevation 35 --fit"
BONSAI = "bonsai.nii.gz --azimuth 110 --elevation 55 --roll -106.6 --fit --low 28"
WOOD = f"{BONSAI} --preset bone --high 200 --no-box --zoom 1.1"
SURFACE = "--mode isosurface --isovalue 80 --no-box --samples 8"

STUDIO = ("--preset tissue --no-box --mode traced --bounces 4 --lamp free"
          " --set view.background=[0.30,0.32,0.36] --set view.background_lower_colour=[0.10,0.11,0.13]"
          " --set view.ground_shadow=0.75 --paths 96 --size 720x450")

FUNDUS = "--a-scans 240 --b-scans 240 --spacing-a 5.5 --spacing-b 5.5"
FUNDUS_FILTER = "--search-depth 7 --search-a-scans 7 --search-b-scans 5 --patch 3"

FIGURE = "--b-scan 64 --en-face 10:40 --from-surface --layout bscan+enface --dpi 150"

# Section: (name of the picture, what it shows, input and options).
SECTIONS = {
    "Covers": [
        ("cover-retina", "a simulated retina in traced light: blood that flows down orange, up blue",
         f"fundus-smooth.nrrd --flow fundus/velocity.nrrd {STUDIO} --azimuth 30 --elevation 30 --fit --zoom 1.12"
         " --clip-high 0.75,1,1 --low 7 --high 36 --opacity 1.5 --flow-range 0.05 --flow-threshold 0.006"
         " --set view.lamp_azimuth_deg=-50 --set view.lamp_elevation_deg=32 --set view.lamp_size_deg=6"
         " --set view.lamp_brightness=3 --set view.sky=0.4 --set view.exposure_ev=0.9"),
        ("cover-oct", "a recorded sample in traced light: the rough surface at a low lamp, 63 rows deep",
         f"oct-smooth.nrrd {STUDIO} --azimuth 35 --elevation 34 --fit --zoom 1.5 --set view.target_um=[-40,0,0]"
         " --clip-high 0.42,1,1 --low 13 --high 38 --opacity 1.5 --set view.lamp_azimuth_deg=-65"
         " --set view.lamp_elevation_deg=24 --set view.lamp_size_deg=4 --set view.lamp_brightness=4 --set view.sky=0.4"
         " --set view.exposure_ev=1.2"),
    ],
    "Modes": [
        ("composite", "composite", f"{WOOD} --samples 4"),
        ("mip", "mip: the maximum", f"{BONSAI} --mode mip"),
        ("minip", "minip: the minimum over a slab: hollow parts stay dark",
         "engine.nii.gz --show slice --plane en-face --slab 40 --mode minip"),
        ("average", "average: an x-ray", "engine.nii.gz --mode average --azimuth 40 --elevation 35 --fit --high 60"),
        ("attenuated-mip", "attenuated-mip: the maximum, attenuated with depth", f"{BONSAI} --mode attenuated-mip"),
        ("depth-mip", "depth-mip: maximum, coloured by its depth", f"{BONSAI} --mode depth-mip --no-box --zoom 1.1 --samples 4"),
        ("isosurface", "isosurface", f"{ENGINE} {SURFACE} --zoom 1.5"),
        ("mida", "mida: between composite and mip", f"{BONSAI} --high 150 --mode mida --no-box --zoom 1.1 --samples 4"),
        ("points", "points: a ball for each voxel that is seen", "engine.nii.gz --mode points --azimuth 40 --elevation 35 --low 40 --high 120 --zoom 9 --no-box --lamp free --samples 16"),
    ],
    "Light": [
        ("flat", "without light", f"{WOOD} --no-lighting --samples 4"),
        ("lamp", "a free lamp and its shadows", f"{WOOD} --lamp free --shadows 0.8 --samples 4"),
        ("ambient-occlusion", "ambient occlusion", f"{ENGINE} {SURFACE} --zoom 1.5 --ambient-occlusion 0.9"),
        ("ambient-occlusion-and-shadows", "ambient occlusion and shadows; 16 rays per pixel",
         f"{ENGINE} --mode isosurface --isovalue 80 --lamp free --shadows 0.8 --ambient-occlusion 0.8 --zoom 1.6 "
         "--samples 16"),
        ("traced", "traced light, 96 paths per pixel",
         f"{WOOD} --mode traced --bounces 8 --lamp free --set view.sky=0.6 --set view.exposure_ev=0.5 --paths 96"),
        ("traced-sky", "traced light of a picture as the sky, and no lamp",
         f"{WOOD} --mode traced --bounces 8 --set view.sky_picture=sky.png --set view.sky=8 --set view.lamp_brightness=0"
         " --paths 96"),
        ("traced-isosurface", "an isosurface in traced light, on the ground",
         f"{ENGINE} --zoom 1.35 --mode traced --bounces 4 --set view.isosurface=true --isovalue 80 --opacity 0 --no-box"
         " --lamp free --set view.lamp_azimuth_deg=-40 --set view.lamp_elevation_deg=50 --set view.lamp_size_deg=5"
         " --set view.sky=0.45 --set view.roughness=0.35 --set view.ground_shadow=0.8 --background 0.62,0.65,0.70"
         " --paths 96"),
    ],
    "Studio": [
        ("caps", "cut faces as sections, in gray", f"{RETINA} --preset tissue --low 9 --clip-low 0,0,0.45 --set view.caps=gray"),
        ("outline", "outlines on white, for print",
         f"{ENGINE} --mode isosurface --isovalue 80 --set view.outline=1 --background 1,1,1 --no-box --samples 8"),
        ("ground", "a shadow on the ground, a background from top to bottom",
         f"{VESSEL} --lamp free --no-box --set view.ground_shadow=0.8 --background 0.9,0.92,0.95"
         " --set view.background_lower_colour=[0.6,0.63,0.68] --samples 8"),
        ("frame", "a frame with a title, bars that keep apart",
         f'{RETINA} --zoom 0.66 --no-box --preset retina --set view.picture_frame=0.03 --set "view.title=Retina, simulated"'
         " --colour-bar --scale-bar --axes --text-size 0.035"),
        ("anaglyph", "for red and cyan glasses",
         f"{ENGINE} --mode isosurface --isovalue 80 --set view.stereo=anaglyph --no-box --zoom 1.3 --samples 8"),
    ],
    "Cuts": [
        ("clip-box", "half of it: a clip box", f"{RETINA} --clip-high 1,1,0.5"),
        ("clip-plane", "an oblique plane", f"{RETINA} --preset retina --clip-planes=-1,1,-1,0"),
        ("clip-plane-engine", "a plane along the cylinders",
         f"{ENGINE} --mode isosurface --isovalue 80 --clip-planes 0,1,0,0 --zoom 1.4 --samples 16"),
        ("peeled", "all above 120 um below the surface peeled off",
         f"{RETINA} --preset retina --top-from surface --top 120"),
        ("layer", "what lies from 100 to 260 um below the surface",
         f"{VESSEL} --opacity 0.3 --top-from surface --top 100 --bottom-from surface --bottom 260"),
        ("flattened", "flattened along the surface", f"{RETINA} --preset retina --flatten surface"),
    ],
    "Slices and sections": [
        ("slices", "three slices, and nothing of the volume",
         f"{VESSEL} --opacity 0 --slices 0,0,1,0,0,1,0,0,1,0,0,60 --top-from surface --samples 16"),
        ("b-scan", "a B-scan", "retina.nrrd --show slice --scale-bar --text-size 0.05"),
        ("slab", "the mean of a slab of 60 um", "retina.nrrd --show slice --slab 60 --scale-bar --text-size 0.05"),
        ("oblique-slab", "an oblique slab", "retina.nrrd --show slice --plane oblique --plane-normal 0,1,1 --slab 40 --no-box "
         "--scale-bar --text-size 0.05"),
        ("en-face", "en face: the mean from 120 to 220 um below the surface",
         "vessel.nrrd --show en-face --mode average --top-from surface --top 120 --bottom-from surface --bottom 220 "
         "--low 12 --high 30 --scale-bar --text-size 0.05"),
    ],
    "Flow": [
        ("flow-retina", "axial flow in the vessels of the retina",
         f"retina.nrrd --flow retina/velocity.nrrd --azimuth 30 --elevation 45 --fit --top-from surface --top 20 {FLOW}"),
        ("flow-vessel", "two vessels below the peeled surface",
         f"vessel.nrrd --flow vessel/velocity.nrrd --azimuth 35 --elevation 40 --fit --top-from surface --top 110 {FLOW}"),
        ("flow-arrows", "which way it flows: arrows along the larger vessel by `echolux flow vessel/velocity.nrrd --through 74,64,266 --arrows arrows.toml`",
         f"vessel.nrrd --flow vessel/velocity.nrrd --azimuth 35 --elevation 40 --fit --top-from surface --top 110 {FLOW} --view arrows.toml"),
        ("flow-b-scan", "on a B-scan",
         "vessel.nrrd --flow vessel/velocity.nrrd --show slice --zoom 0.62 --flow-range 0.6 --colour-bar --text-size 0.032"),
    ],
    "Annotations": [
        ("annotated", "axes, depth ruler, colour bar, scale bar, text",
         f'{RETINA} --zoom 0.66 --axes --depth-ruler --colour-bar --scale-bar --text "Retina, simulated" '
         "--text-at 0,0 --text-size 0.04"),
        ("measured", "a distance and an angle",
         "vessel.nrrd --show slice --distances 358,518,508,358,674,508 --angles 190,200,508,480,200,508,358,440,508 "
         "--scale-bar --text-size 0.05"),
        ("paper", "for print: white background",
         f"{RETINA} --background 1,1,1 --zoom 0.66 --axes --depth-ruler --scale-bar --text-size 0.04"),
    ],
    "OCT": [
        ("retina", "a retina, preset tissue", RETINA),
        ("retina-layers", "layers told apart: preset retina", f"{RETINA} --preset retina"),
        ("retina-gray", "preset oct-gray", f"{RETINA} --preset oct-gray"),
        ("retina-en-face", "from above: the mean over depth, and the flow in six vessels",
         "fundus-smooth.nrrd --flow fundus/velocity.nrrd --show en-face --mode average --flow-range 0.05"
         " --flow-threshold 0.006 --scale-bar --text-size 0.05"),
        ("oct", "a real recording", f"{OCT} --azimuth 35 --elevation 30"),
        ("oct-mip", "its strongest echoes", f"{OCT} --mode mip --azimuth 35 --elevation 30"),
    ],
    "Colours and transfer functions": [
        ("magma", "colour map magma", f"{BONSAI} --colour-map magma --mode mip"),
        ("viridis", "colour map viridis", f"{RETINA} --colour-map viridis"),
        ("cividis", "colour map cividis",
         f"{ENGINE} --colour-map cividis --low 60 --high 220 --zoom 1.5 --no-box --ambient-occlusion 0.7 --samples 4"),
        ("boundaries", "over value and gradient: preset boundaries", f"{ENGINE} --preset boundaries --no-box --zoom 1.3 --samples 8"),
        ("depth-bands", "over value and depth below the surface: preset depth-below-surface",
         f"{RETINA} --preset depth-below-surface --top-from surface --top -50"),
        ("channels", "two volumes in one picture: tissue in gray, blood that flows away from zero delay as a channel",
         "vessel.nrrd --azimuth 35 --elevation 40 --fit --preset oct-gray --opacity 0.012 --top-from surface --top 110"
         " --channel vessel/velocity.nrrd:gray --set view.channel_2_low=-0.02 --set view.channel_2_high=0.25"
         " --set view.channel_2_opacity=8 --set view.channel_2_colour_map=inferno"),
        ("labels", "labels with smooth boundaries and names, in traced light: the layers of the simulated retina, cut open",
         f"{RETINA} --channel retina-labels.nrrd:retina-labels.toml --set view.channel_1_shown=false --mode traced --bounces 4"
         " --zoom 0.85 --clip-high 1,1,0.5 --no-box --lamp free --set view.sky=0.8 --colour-bar --text-size 0.03 --paths 96"
         " --size 400x300"),
        ("bone", "preset bone, for values not in HU", f"{BONSAI} --preset bone --high 200 --samples 4"),
    ],
    "Camera": [
        ("front", "look front, orthographic",
         f"engine.nii.gz --look front --projection orthographic --fit --zoom 1.3 {SURFACE} --ambient-occlusion 0.7"),
        ("top", "look top", f"engine.nii.gz --look top --fit --zoom 1.5 {SURFACE} --ambient-occlusion 0.7"),
        ("inside", "the eye inside the volume", f"engine.nii.gz --distance 0.45 --fov 60 --azimuth 40 --elevation 15 {SURFACE} --ambient-occlusion 0.7"),
        ("panorama", "a panorama, all around the eye below the bonsai's crown",
         "bonsai.nii.gz --set view.projection=panorama --distance 0 --set view.target_um=[-20000,0,0] --near 15 --azimuth 110"
         " --roll -106.6 --low 40 --high 140 --no-box --lamp free --ambient-occlusion 0.6 --samples 8 --size 720x360"),
    ],
}


def run(program, words, folder):
    """Bare names are files in `folder`, where the program runs."""
    done = subprocess.run([program, *words, "--overwrite"], cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "XDG_CONFIG_HOME": str(folder / "config")})
    if done.returncode != 0:
        sys.exit(f"echolux {shlex.join(words)}: {done.stderr.strip()}")


def simulated(scene, options=""):
    """The commands that make SCENE.nrrd and SCENE/velocity.nrrd."""
    return (["simulate", scene, *options.split(), "-o", f"{scene}/scan.toml", "--velocity", f"{scene}/velocity.nrrd"],
            ["reconstruct", f"{scene}/scan.toml", "-o", f"{scene}.nrrd"])


def labels_of(volume, truth, target):
    """Writes the ground truth, one byte per voxel, as labels of the voxels of `volume`. The truth is stored as
    [B-scan][A-scan][depth] and is deeper."""
    header = volume.read_bytes().split(b"\n\n", 1)[0].decode()
    kept = [line for line in header.splitlines() if re.match("NRRD|dimension|sizes|space|spacings|kinds|axis|centerings", line)]
    a_scans, rows, b_scans = (int(size) for size in re.search("^sizes: (.*)$", header, re.M)[1].split())
    voxels = (truth / "labels.u8").read_bytes()
    deep = len(voxels) // (a_scans * b_scans)
    of_b_scan = a_scans * deep
    slices = (voxels[i * of_b_scan:(i + 1) * of_b_scan] for i in range(b_scans))
    data = b"".join(labels[row::deep] for labels in slices for row in range(rows))
    target.write_bytes("\n".join([*kept, "type: uint8", "encoding: raw"]).encode() + b"\n\n" + data)


def sky(target, columns=512, rows=256):
    """Writes a sky in all directions, from the zenith down. Its centre is behind the B-scans."""
    lamps = [  # degrees to the right and up, half of width and height, brightness of red, green, blue
        (-55, 35, 24, 18, (1.0, 0.96, 0.88)),
        (75, 15, 10, 38, (0.42, 0.52, 0.66)),
        (170, 30, 30, 10, (0.70, 0.48, 0.30)),
    ]

    def light(right, up):
        room = [0.05 + 0.06 * max(up, 0) / 90, 0.05 + 0.07 * max(up, 0) / 90, 0.05 + 0.09 * max(up, 0) / 90]
        for at, height, width, tall, colour in lamps:
            aside = abs((right - at + 180) % 360 - 180)
            edge = min(width - aside, tall - abs(up - height)) / 3  # over three degrees
            share = min(max(edge, 0), 1)
            room = [dim + share * (bright - dim) for dim, bright in zip(room, colour)]
        return room

    def code(level):
        return round(255 * (12.92 * level if level <= 0.0031308 else 1.055 * level ** (1 / 2.4) - 0.055))

    data = bytearray()
    for row in range(rows):
        data.append(0)
        for column in range(columns):
            data += bytes(map(code, light((column + 0.5) / columns * 360 - 180, 90 - (row + 0.5) / rows * 180)))

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    target.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0))
                       + chunk(b"IDAT", zlib.compress(bytes(data))) + chunk(b"IEND", b""))


def prepare(program, data, folder):
    """The volumes, under the names that the commands give them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("bonsai.nii.gz", "engine.nii.gz"):
        link = folder / name
        if not link.exists():
            link.symlink_to(data / "volumes" / name)
    scenes = folder / "config" / "echolux" / "scenes"  # separate from the user's presets
    scenes.mkdir(parents=True, exist_ok=True)
    shutil.copy(DOCS / "fundus.toml", scenes)
    (folder / "oct.toml").write_text(SCAN.format(folder=data / "sd-oct-volume"))
    for words in (["reconstruct", "oct.toml", "-o", "oct.nrrd"],
                  *simulated("retina"), *simulated("vessel"), *simulated("fundus", FUNDUS),
                  ["filter", "oct.nrrd", "-o", "oct-smooth.nrrd"],
                  ["filter", "fundus.nrrd", *FUNDUS_FILTER.split(), "-o", "fundus-smooth.nrrd"],
                  ["flow", "vessel/velocity.nrrd", "--through", "74,64,266", "--arrows", "arrows.toml"]):
        if not (folder / words[-1]).exists():
            run(program, words, folder)
    labels_of(folder / "retina.nrrd", folder / "retina" / "truth", folder / "retina-labels.nrrd")
    shutil.copy(DOCS / "retina-labels.toml", folder)
    sky(folder / "sky.png")


def figure(program, folder):
    """The one of docs/figures.md."""
    run(program, ["figure", "retina.nrrd", *shlex.split(FIGURE), "-o",
                  os.path.relpath(DOCS / "pictures" / "figure.png", folder)], folder)


def layers(program, data, folder):
    """Those of docs/layers.md: a simulated retina, recorded wood and silicone."""
    def picture(option, name):
        return [option, os.path.relpath(DOCS / "pictures" / f"layers-{name}.png", folder)]
    run(program, ["segment", "retina.nrrd", *picture("--picture", "b-scan"), *picture("--thickness", "thickness"),
                  "--set", "figure.dpi=130"], folder)
    for recording, name in (("wood", "recorded"), ("pdms", "silicone")):
        run(program, ["reconstruct", data / "ocp930-bscans" / f"{recording}.raw", "-o", f"{recording}.nrrd"], folder)
        run(program, ["segment", f"{recording}.nrrd", "--preset", "layers", "--names", "surface", "--polarity", "1",
                      "--tissue-below", *picture("--picture", name), "--set", "figure.dpi=130"], folder)


def speckle(program, folder):
    """That of docs/filters.md."""
    run(program, ["filter", "retina.nrrd", "-o", "filtered.nrrd"], folder)
    for volume, name in (("retina", "unfiltered"), ("filtered", "filtered")):
        run(program, ["figure", f"{volume}.nrrd", "--b-scan", "64", "--dpi", "130", "--width", "110", "--set", "figure.low=-5",
                      "--set", "figure.high=40", "-o", os.path.relpath(DOCS / "pictures" / f"{name}.png", folder)], folder)


def calibration(program, data, folder):
    """Those of docs/calibration.md: recorded mirrors, simulated ones over the range, a simulated retina."""
    def plot(name):
        return ["--plot", os.path.relpath(DOCS / "pictures" / f"calibrate-{name}.png", folder)]
    recorded = data / "sd-oct-volume"
    run(program, ["calibrate", "k", recorded / "mirror1.csv", recorded / "mirror2.csv", "--background",
                  recorded / "dark_ref.csv", "--dark", recorded / "dark_not.csv", "--sides", "opposite", "-o",
                  "k-map.csv", "--dispersion", "dispersion.csv", *plot("k")], folder)
    mirrors = [f"m{um}/scan.toml" for um in (130, 330, 570, 820, 1070, 1310, 1520)]
    for scan in mirrors:
        run(program, ["simulate", "mirror", "--no-confocal", "--mirror", scan[1:].split("/")[0],
                      "--mirror-amplitude", "0.2", "--samples", "2048", "--a-scans", "64", "--b-scans", "1", "-o", scan], folder)
    run(program, ["calibrate", "rolloff", *mirrors, "--attenuation-db", "40", "--set", "recipe.resample=nufft", "-o",
                  "rolloff.csv", *plot("rolloff")], folder)
    run(program, ["simulate", "retina", "--a2", "30", "--a-scans", "200", "--b-scans", "1", "-o",
                  "blurred/scan.toml"], folder)
    run(program, ["calibrate", "dispersion", "blurred/scan.toml", "--set", "recipe.a2_rad=0", *plot("dispersion")], folder)


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
        size = [] if "--size" in words else ["--size", SIZE]
        run(program, ["render", *shlex.split(words), *size, "-o", target], folder)
    if not wanted or "figure" in wanted:
        figure(program, folder)
    if not wanted or "layers" in wanted:
        layers(program, data, folder)
    if not wanted or "filters" in wanted:
        speckle(program, folder)
    if not wanted or "calibrate" in wanted:
        calibration(program, data, folder)
    (DOCS / "gallery.md").write_text(page())


if __name__ == "__main__":
    main()
