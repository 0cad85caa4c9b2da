"""Reads the volumes of volume_file_test.cpp with nibabel, tifffile and a few lines of NumPy. Columns must be
A-scans, rows must be depth downwards, and slices must be B-scans; the letter F reveals any mirroring or rotation.

Exit status 0: all correct, 77: nibabel or tifffile is missing.
"""
import re
import sys
from pathlib import Path

try:
    import nibabel
    import numpy as np
    import tifffile
except ImportError as error:
    print(error)
    sys.exit(77)

LETTER = ["........",
          "..#####.",
          "..#.....",
          "..####..",
          "..#.....",
          "..#.....",
          "........"]
SLICES = 3
TYPES = {"u8": np.uint8, "u16": np.uint16, "i16": np.int16, "f32": np.float32, "complex64": np.complex64}
SPACING_MM = (0.012, 0.003, 0.025)  # columns, rows, slices
FIRST_ROW_MM = 0.120


def expected(kind):
    """Returns [slice][row][column], as seen on paper."""
    ink = np.array([[c == "#" for c in row] for row in LETTER])
    volume = np.stack([np.where(ink, 50 + 40 * b, b) for b in range(SLICES)]).astype(TYPES[kind])
    if kind in ("i16", "f32", "complex64"):
        volume = -volume
    if kind == "complex64":
        volume = volume * (1 + 0.5j)
    return volume.astype(TYPES[kind])


def check(name, what, got, wanted, relative=1e-6):
    if not np.allclose(got, wanted, rtol=relative, atol=1e-9):
        sys.exit(f"{name}: {what} is {got}, expected {wanted}")


def check_voxels(name, kind, volume):
    wanted = expected(kind)
    if volume.shape != wanted.shape or volume.dtype.newbyteorder("=") != wanted.dtype or not (volume == wanted).all():
        print(np.array2string(volume[0], max_line_width=200))
        sys.exit(f"{name}: {volume.dtype} voxels of shape {volume.shape} are not the F")


def read_nifti(path, kind):
    image = nibabel.load(path)
    raw = np.asarray(image.dataobj.get_unscaled())
    check_voxels(path.name, kind, raw.transpose(2, 1, 0))
    header = image.header
    check(path.name, "spacing", header.get_zooms(), SPACING_MM)
    if header.get_xyzt_units()[0] != "mm":
        sys.exit(f"{path.name}: unit is {header.get_xyzt_units()}")
    dx, dy, dz = SPACING_MM
    affine = [[-dx, 0, 0, 0], [0, -dy, 0, -FIRST_ROW_MM], [0, 0, dz, 0], [0, 0, 0, 1]]
    check(path.name, "affine", image.affine, affine)
    check(path.name, "qform", image.get_qform(), affine)
    if kind == "u8":
        check(path.name, "scale", (image.dataobj.slope, image.dataobj.inter), (0.25, -5))
        check(path.name, "first value", image.get_fdata()[2, 1, 0], 50 * 0.25 - 5)
    comment = header.extensions[0].get_content()
    if b"echolux_provenance_recipe = [recipe]\\nwindow" not in comment:
        sys.exit(f"{path.name}: provenance is {comment}")


def read_tiff(path, kind):
    with tifffile.TiffFile(path) as file:
        check_voxels(path.name, kind, np.stack([page.asarray() for page in file.pages]))
        tags = file.pages[0].tags
        resolution = [tags[key].value[0] / tags[key].value[1] for key in ("XResolution", "YResolution")]
        pixels_per_mm = np.array(resolution) / 25.4
        check(path.name, "pixels per mm", pixels_per_mm, 1 / np.array(SPACING_MM[:2]), 1e-5)  # fractions of 32-bit numbers


def read_nrrd(path, kind):
    header, raw = path.read_bytes().split(b"\n\n", 1)
    fields = dict(re.findall(r"^([^:#\n]+): (.*)$", header.decode(), re.M))
    sizes = [int(size) for size in fields["sizes"].split()]
    names = {"unsigned char": "u1", "unsigned short": "u2", "short": "i2", "float": "f4"}
    voxels = np.frombuffer(raw, "<" + names[fields["type"]]).astype(np.complex64 if kind == "complex64" else None)
    if kind == "complex64":
        if sizes.pop(0) != 2 or not fields["kinds"].startswith("complex"):
            sys.exit(f"{path.name}: is not complex")
        voxels = voxels[0::2] + 1j * voxels[1::2]
    check_voxels(path.name, kind, voxels.astype(TYPES[kind], copy=False).reshape(sizes[::-1]))
    vectors = re.findall(r"\(([^)]*)\)", fields["space directions"])
    check(path.name, "directions", [[float(x) for x in v.split(",")] for v in vectors], np.diag(SPACING_MM))
    origin = [float(x) for x in fields["space origin"].strip("()").split(",")]
    check(path.name, "origin", origin, [0, FIRST_ROW_MM, 0])
    if fields["space"] != "left-posterior-superior":
        sys.exit(f"{path.name}: space is {fields['space']}")


def read_meta(path, kind):
    header, raw = path.read_bytes().split(b"ElementDataFile = LOCAL\n", 1)
    fields = dict(re.findall(r"^(\S+) = (.*)$", header.decode(), re.M))
    sizes = [int(size) for size in fields["DimSize"].split()]
    names = {"MET_UCHAR": "u1", "MET_USHORT": "u2", "MET_SHORT": "i2", "MET_FLOAT": "f4"}
    voxels = np.frombuffer(raw, "<" + names[fields["ElementType"].replace("_ARRAY", "")])
    if kind == "complex64":
        voxels = (voxels[0::2] + 1j * voxels[1::2]).astype(np.complex64)
    check_voxels(path.name, kind, voxels.reshape(sizes[::-1]))
    check(path.name, "spacing", [float(x) for x in fields["ElementSpacing"].split()], SPACING_MM)
    check(path.name, "origin", [float(x) for x in fields["Offset"].split()], [0, FIRST_ROW_MM, 0])
    check(path.name, "matrix", [float(x) for x in fields["TransformMatrix"].split()], np.eye(3).ravel())


READERS = {".nii": read_nifti, ".gz": read_nifti, ".tif": read_tiff, ".nrrd": read_nrrd, ".mha": read_meta}
paths = sorted(Path(sys.argv[1]).iterdir())
for path in paths:
    READERS[path.suffix](path, path.name.split(".")[0])
if len(paths) != 24:
    sys.exit(f"expected 24 files, found {len(paths)}")
