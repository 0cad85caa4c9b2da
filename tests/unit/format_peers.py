"""Reads and writes series in every format with other libraries: NumPy, nibabel, tifffile, h5py, zarr, ome-zarr, pynrrd.

usage: format_peers.py check FOLDER     reads files written by volume_formats_test.cpp
       format_peers.py make FOLDER      writes files for it to read

Voxel (t, slice, row, column) is a formula, so mirrored or swapped axes are detected. Exit status 0: all correct, 77: a
package is missing.
"""
import re
import sys
import warnings
import zlib
from pathlib import Path

try:
    import h5py
    import nibabel
    import nrrd
    import numpy as np
    import tifffile
    import zarr
    from ome_zarr.format import format_from_version
    from ome_zarr.io import parse_url
    from ome_zarr.reader import Reader
except ImportError as error:
    print(error)
    sys.exit(77)

TIMES, SLICES, ROWS, COLUMNS = 3, 5, 11, 7
TYPES = {"u8": np.uint8, "u16": np.uint16, "i16": np.int16, "f32": np.float32, "complex64": np.complex64}
SPACING_UM = (25, 3, 12)  # slices, rows, columns
FIRST_ROW_UM = 120
STEP_S = 0.25


def series(kind, shape=(TIMES, SLICES, ROWS, COLUMNS)):
    t, z, y, x = np.meshgrid(*[np.arange(n) for n in shape], indexing="ij")
    number = (x + 3 * y + 17 * z + 101 * t + 7).astype(np.int64)
    if kind == "u8":
        return (number % 251).astype(np.uint8)
    if kind == "u16":
        return (number * 211 % 65521).astype(np.uint16)
    if kind == "i16":
        return (number * 211 % 65521 - 32760).astype(np.int16)
    real = (number * 0.375 - 11).astype(np.float32)
    return (real - 0.5j * real).astype(np.complex64) if kind == "complex64" else real


def fail(name, what, got, wanted):
    sys.exit(f"{name}: {what} is {got}, expected {wanted}")


def same(name, what, got, wanted, relative=1e-6):
    if np.shape(got) != np.shape(wanted) or not np.allclose(got, wanted, rtol=relative, atol=1e-9):
        fail(name, what, got, wanted)


def same_voxels(name, got, wanted):
    got = np.asarray(got)
    if got.shape != wanted.shape or got.dtype.newbyteorder("=") != wanted.dtype or not (got == wanted).all():
        fail(name, "voxels", (got.dtype, got.shape, got.ravel()[:8]), (wanted.dtype, wanted.shape, wanted.ravel()[:8]))


# ---- reading Echolux files ------------------------------------------------------------------------------------------

def check_nrrd(path, wanted):
    voxels, header = nrrd.read(str(path), index_order="C")
    if wanted.dtype == np.complex64:
        voxels = voxels[..., 0] + 1j * voxels[..., 1]
    same_voxels(path.name, voxels.astype(wanted.dtype), wanted)
    complex_axis = 1 if wanted.dtype == np.complex64 else 0
    directions = header["space directions"][complex_axis:complex_axis + 3]
    same(path.name, "directions", np.array(directions), np.diag(SPACING_UM[::-1]) / 1000)
    same(path.name, "origin", header["space origin"], [0, FIRST_ROW_UM / 1000, 0])
    if header["space units"] != ["mm", "mm", "mm"] or header["kinds"][-1] != "time":
        fail(path.name, "units and kinds", (header["space units"], header["kinds"]), "mm and time")
    same(path.name, "step", header["spacings"][-1], STEP_S)
    if header["units"][-1] != "s":
        fail(path.name, "unit of time", header["units"], "s")


def check_nifti(path, wanted):
    image = nibabel.load(path)
    same_voxels(path.name, np.asarray(image.dataobj.get_unscaled()).T, wanted)
    same(path.name, "spacing", image.header.get_zooms(), [*np.array(SPACING_UM[::-1]) / 1000, STEP_S])
    if image.header.get_xyzt_units() != ("mm", "sec"):
        fail(path.name, "units", image.header.get_xyzt_units(), "mm and sec")


def check_tiff(path, wanted):
    with tifffile.TiffFile(path) as file:
        if not file.is_ome:
            fail(path.name, "kind", file.flags, "ome")
        same_voxels(path.name, file.series[0].asarray(), wanted)
        if file.series[0].axes != "TZYX":
            fail(path.name, "axes", file.series[0].axes, "TZYX")
        pixels = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
    spacing = [pixels[f"PhysicalSize{axis}"] for axis in "ZYX"]
    same(path.name, "spacing", spacing, SPACING_UM)
    same(path.name, "step", pixels["TimeIncrement"], STEP_S)
    same(path.name, "times", [plane["DeltaT"] for plane in pixels["Plane"]], np.arange(TIMES) * STEP_S)


def check_hdf5(path, wanted):
    with h5py.File(path) as file:
        volume = file["volume"]
        same_voxels(path.name, volume[()], wanted)
        same(path.name, "spacing", volume.attrs["element_size_um"], SPACING_UM)
        same(path.name, "origin", volume.attrs["origin_um"], [0, FIRST_ROW_UM, 0])
        same(path.name, "times", file["times_s"][()], np.arange(TIMES) * STEP_S)
        if volume.attrs["axes"] != "tzyx" and volume.attrs["axes"] != b"tzyx":
            fail(path.name, "axes", volume.attrs["axes"], "tzyx")
        if not volume.fletcher32 or (volume.compression != "gzip") == ("none" not in path.name):
            fail(path.name, "filters", (volume.fletcher32, volume.compression), "check sums, gzip")


def check_npy(path, wanted):
    same_voxels(path.name, np.load(path), wanted)


def check_meta(path, wanted):
    header, raw = path.read_bytes().split(b"ElementDataFile = LOCAL\n", 1)
    fields = dict(re.findall(r"^(\S+) = (.*)$", header.decode(), re.M))
    sizes = [int(size) for size in fields["DimSize"].split()]
    names = {"MET_UCHAR": "u1", "MET_USHORT": "u2", "MET_SHORT": "i2", "MET_FLOAT": "f4"}
    voxels = np.frombuffer(raw, "<" + names[fields["ElementType"]])
    if wanted.dtype == np.complex64:
        voxels = (voxels[0::2] + 1j * voxels[1::2]).astype(np.complex64)
    same_voxels(path.name, voxels.reshape(sizes[::-1]), wanted)
    same(path.name, "spacing", [float(x) for x in fields["ElementSpacing"].split()],
         [*np.array(SPACING_UM[::-1]) / 1000, STEP_S])
    same(path.name, "matrix", [float(x) for x in fields["TransformMatrix"].split()], np.eye(4).ravel())
    same(path.name, "origin", [float(x) for x in fields["Offset"].split()], [0, FIRST_ROW_UM / 1000, 0, 0])


def halved(volume):
    """Returns the means of 2 x 2 x 2 voxels, fewer at the edges; halves are rounded up."""
    sums = volume.astype(np.float64)
    counts = np.ones(volume.shape)
    for axis in (1, 2, 3):
        width = [(0, 0)] * 4
        width[axis] = (0, sums.shape[axis] % 2)
        sums, counts = (np.add.reduceat(np.pad(a, width), np.arange(0, a.shape[axis] + a.shape[axis] % 2, 2), axis)
                        for a in (sums, counts))
    mean = sums / counts
    return (np.floor(mean + 0.5) if np.issubdtype(volume.dtype, np.integer) else mean).astype(volume.dtype)


def check_zarr(path, wanted):
    version = "0.5" if "05" in path.name else "0.4"
    nodes = list(Reader(parse_url(path, fmt=format_from_version(version)))())
    multiscales = nodes[0].metadata
    if multiscales["axes"][0].get("type") != "time" or [a["name"] for a in multiscales["axes"]] != list("tzyx"):
        fail(path.name, "axes", multiscales["axes"], "tzyx")
    if [a.get("unit") for a in multiscales["axes"]] != ["second"] + ["micrometer"] * 3:
        fail(path.name, "units", multiscales["axes"], "second, micrometer")
    group = zarr.open_group(path, mode="r")
    if group.metadata.zarr_format != (3 if version == "0.5" else 2):
        fail(path.name, "Zarr format", group.metadata.zarr_format, version)
    level, factor = wanted, np.ones(3)
    transforms = multiscales["coordinateTransformations"]
    levels = sorted(group.array_keys(), key=int)
    if len(levels) != len(transforms) or len(levels) != (1 if max(wanted.shape[1:]) <= 64 else 2):
        fail(path.name, "levels", levels, "1, or 2 for the large one")
    for name, steps in zip(levels, transforms):
        same_voxels(f"{path.name}/{name}", group[name][:], level)
        same(path.name, "scale", steps[0]["scale"], [STEP_S, *np.array(SPACING_UM) * factor])
        same(path.name, "translation", steps[1]["translation"],
             [0, *(np.array([0, FIRST_ROW_UM, 0]) + (factor - 1) / 2 * np.array(SPACING_UM))])
        level, factor = halved(level), factor * np.where(np.array(level.shape[1:]) > 1, 2, 1)
    same_voxels(path.name + " by ome-zarr", nodes[0].data[0].compute(), wanted)


CHECKS = {".nrrd": check_nrrd, ".nii": check_nifti, ".gz": check_nifti, ".tif": check_tiff, ".h5": check_hdf5,
          ".npy": check_npy, ".mha": check_meta, ".zarr": check_zarr}


def check(folder):
    paths = sorted(folder.iterdir())
    for path in paths:
        kind = path.name.split(".")[0].split("-")[0]
        shape = (2, 66, 67, 70) if "large" in path.name else (TIMES, SLICES, ROWS, COLUMNS)
        CHECKS[path.suffix](path, series(kind, shape))
    print(len(paths), "files are right")


# ---- writing files for Echolux --------------------------------------------------------------------------------------

def make_npy(folder, voxels):
    np.save(folder / "u16-c.npy", voxels)
    np.save(folder / "u16-fortran.npy", np.asfortranarray(voxels))
    np.save(folder / "u16-big.npy", voxels.astype(">u2"))
    with open(folder / "u16-version2.npy", "wb") as file:
        np.lib.format.write_array(file, voxels, version=(2, 0))
    np.save(folder / "f32-half.npy", series("f32").astype(np.float16))
    np.save(folder / "f32-double.npy", series("f32").astype(np.float64))


def make_nrrd(folder, voxels):
    header = {"kinds": ["domain", "domain", "domain", "time"], "encoding": "gzip"}
    nrrd.write(str(folder / "u16-gzip.nrrd"), voxels, header, index_order="C")
    nrrd.write(str(folder / "u16-apart.nhdr"), voxels, {"encoding": "raw"}, index_order="C")
    # Time is the first axis, as in sequences of medical images.
    first = np.moveaxis(voxels, 0, -1)
    nrrd.write(str(folder / "u16-list.nrrd"), np.ascontiguousarray(first),
               {"kinds": ["list", "domain", "domain", "domain"], "encoding": "raw"}, index_order="C")
    (folder / "u16-big.nrrd").write_bytes(
        b"NRRD0005\n# by hand\ntype: uint16\ndimension: 4\nsizes: 7 11 5 3\nendian: big\nencoding: raw\nline skip: 1\n"
        b"byte skip: 3\n\none line\nabc" + voxels.astype(">u2").tobytes())


def make_meta(folder, voxels):
    packed = zlib.compress(voxels.tobytes())
    lines = "ObjectType = Image\nNDims = 4\nDimSize = 7 11 5 3\nElementType = MET_USHORT\n"
    (folder / "u16-packed.mha").write_bytes(
        (lines + f"CompressedData = True\nCompressedDataSize = {len(packed)}\nElementDataFile = LOCAL\n").encode() + packed)
    (folder / "u16-apart.mhd").write_text(lines + "ElementByteOrderMSB = True\nHeaderSize = -1\n"
                                          "ElementDataFile = u16-apart.bin\n")
    (folder / "u16-apart.bin").write_bytes(b"whatever" + voxels.astype(">u2").tobytes())


def make_nifti(folder, voxels):
    image = nibabel.Nifti1Image(voxels.T, np.diag([0.012, 0.003, 0.025, 1]))
    image.header.set_xyzt_units("mm", "msec")
    image.header["pixdim"][4] = STEP_S * 1000
    nibabel.save(image, folder / "u16-spaced.nii.gz")
    big = nibabel.Nifti1Image(voxels.T, np.eye(4), image.header.as_byteswapped(">"))
    big.to_filename(folder / "u16-big.nii")


def make_tiff(folder, voxels):
    size = {"PhysicalSizeX": 12, "PhysicalSizeY": 3, "PhysicalSizeZ": 25, "PhysicalSizeXUnit": "µm",
            "PhysicalSizeYUnit": "µm", "PhysicalSizeZUnit": "µm", "TimeIncrement": STEP_S, "axes": "TZYX"}
    tifffile.imwrite(folder / "u16-spaced.ome.tif", voxels, ome=True, metadata=size)
    tifffile.imwrite(folder / "u16-tiles.ome.tif", voxels, ome=True, metadata=size, tile=(16, 16), compression="zlib",
                     predictor=True, bigtiff=True, byteorder=">")
    tifffile.imwrite(folder / "u16-timefirst.ome.tif", np.swapaxes(voxels, 0, 1), ome=True, metadata={"axes": "ZTYX"})
    tifffile.imwrite(folder / "u16-spaced-imagej.tif", voxels, imagej=True, resolution=(1 / 12, 1 / 3),
                     metadata={"spacing": 25, "unit": "um", "finterval": STEP_S, "axes": "TZYX"})
    tifffile.imwrite(folder / "u16-shaped.tif", voxels, photometric="minisblack", rowsperstrip=4)


def make_hdf5(folder, voxels):
    with h5py.File(folder / "u16-plain.h5", "w") as file:
        file["small"] = np.zeros((3, 4, 5))
        file["scan/image"] = voxels
        file["text"] = "a dataset of text"
    with h5py.File(folder / "u16-chunks.hdf5", "w") as file:
        file.create_dataset("volume", data=voxels.astype(">u2"), chunks=(2, 2, 4, 5), compression="gzip", shuffle=True)
        file["volume"].attrs["element_size_um"] = SPACING_UM
        file["larger"] = np.zeros((100, 100, 100), np.uint8)
    with h5py.File(folder / "complex64-plain.h5", "w") as file:
        file["volume"] = series("complex64")


def make_zarr(folder, voxels):
    from numcodecs import Blosc, GZip, Zlib, Zstd
    for name, compressor in {"lz4": Blosc("lz4", shuffle=2), "zlib": Zlib(), "gzip": GZip(), "zstd": Zstd(),
                             "none": None}.items():
        zarr.create_array(store=folder / f"u16-2{name}.zarr", data=voxels, chunks=(2, 2, 4, 5), zarr_format=2,
                          compressors=compressor, order="F" if name == "zlib" else "C")
    holes = zarr.create_array(store=folder / "u16-holes.zarr", shape=voxels.shape, dtype=">u2", chunks=(1, 5, 11, 7),
                              zarr_format=2, fill_value=1234)
    shards = zarr.create_array(store=folder / "u16-holes-shards.zarr", shape=voxels.shape, dtype="u2", fill_value=1234,
                               chunks=(1, 5, 11, 7), shards=(3, 5, 11, 7))
    for array in holes, shards:
        array[0], array[2] = voxels[0], voxels[2]
    from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, ZstdCodec
    for name, codecs in {"blosc": [BloscCodec()], "crc": [Crc32cCodec()], "gzip": [GzipCodec(), Crc32cCodec()],
                         "zstd": [ZstdCodec(checksum=True)], "none": []}.items():
        zarr.create_array(store=folder / f"u16-3{name}.zarr", data=voxels, chunks=(2, 2, 4, 5), zarr_format=3,
                          compressors=codecs)
    from zarr.codecs import BytesCodec, ShardingCodec
    for name, codecs in {"zstd": [ZstdCodec()], "blosc": [BloscCodec()], "gzip": [GzipCodec()], "none": []}.items():
        zarr.create_array(store=folder / f"u16-shards{name}.zarr", data=voxels, chunks=(1, 2, 4, 5), shards=(2, 4, 8, 10),
                          compressors=codecs)
    for name, index in {"start": [BytesCodec(), Crc32cCodec()], "bare": [BytesCodec()]}.items():
        shards = ShardingCodec(chunk_shape=(1, 5, 11, 7), codecs=[BytesCodec(), ZstdCodec()], index_codecs=index,
                               index_location="start" if name == "start" else "end")
        zarr.create_array(store=folder / f"u16-shards{name}.zarr", data=voxels, chunks=(3, 5, 11, 7), serializer=shards,
                          compressors=None)
    from ome_zarr.writer import write_image
    for version in ("0.4", "0.5"):
        path = folder / f"u16-spaced-{version}.ome.zarr"
        form = format_from_version(version)
        root = zarr.open_group(path, mode="w", zarr_format=form.zarr_format)
        units = {"t": "second", "z": "micrometer", "y": "micrometer", "x": "micrometer"}
        write_image(voxels, root, scale_factors=[2], axes="tzyx", fmt=form, axes_units=units,
                    scale=dict(zip("tzyx", (STEP_S, *SPACING_UM))))


def make(folder):
    voxels = series("u16")
    for write in (make_npy, make_nrrd, make_meta, make_nifti, make_tiff, make_hdf5, make_zarr):
        write(folder, voxels)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"check": check, "make": make}[sys.argv[1]](Path(sys.argv[2]))
