"""Malicious files, one function each: false sizes, references to other places, deep nesting. They are created on each
run with third-party libraries and by hand. None may crash the program, exceed its time limits or make it read other
files."""
import json
import os
import random
import struct
import zipfile
import zlib

import h5py
import numpy as np

from png_files import png_file

SECRET = b"the secret of another folder, long enough to be some voxels of a volume\n" * 400


# ---- HDF5

def hdf5(fill):
    def make(folder):
        with h5py.File(folder / "x.h5", "w") as file:
            fill(file)
        return folder / "x.h5"
    return make


def voxels(**how):
    return lambda file: file.create_dataset("volume", data=np.arange(4096, dtype="u2").reshape(16, 16, 16), **how)


def outside(folder):
    (folder.parent / "outside").mkdir(exist_ok=True)
    with h5py.File(folder.parent / "outside" / "other.h5", "w") as other:
        other.create_dataset("volume", data=np.frombuffer(SECRET, "u1")[:8000].reshape(20, 20, 20))
    (folder.parent / "outside" / "secret.raw").write_bytes(SECRET)
    return folder.parent / "outside"


def external_link(folder):
    other = outside(folder) / "other.h5"
    return hdf5(lambda file: file.__setitem__("volume", h5py.ExternalLink(str(other), "/volume")))(folder)


def external_link_beside(folder):
    outside(folder)
    return hdf5(lambda file: file.__setitem__("volume", h5py.ExternalLink("../outside/other.h5", "/volume")))(folder)


def external_storage(folder):
    secret = str(outside(folder) / "secret.raw")
    return hdf5(lambda file: file.create_dataset("volume", (20, 20, 20), "u1", external=[(secret, 0, 8000)]))(folder)


def virtual_dataset(folder):
    other = str(outside(folder) / "other.h5")
    layout = h5py.VirtualLayout((20, 20, 20), "u1")
    layout[:] = h5py.VirtualSource(other, "volume", (20, 20, 20))
    return hdf5(lambda file: file.create_virtual_dataset("volume", layout))(folder)


def link_to_itself(file):
    file["volume"] = h5py.SoftLink("/volume")


def claims_more(file):
    file.create_dataset("volume", (1 << 20, 1 << 15, 1 << 15), "u2", chunks=(1, 64, 64), compression="gzip")


def other_filter(file):
    voxels(chunks=(4, 4, 4), compression="lzf")(file)


def deep_groups(file):
    group = file
    for _ in range(500):
        group = group.create_group("a")


def many_attributes(file):
    data = file.create_dataset("volume", (4, 4, 4), "u1")
    for i in range(3000):
        data.attrs[f"a{i}"] = np.bytes_(b"x" * 100)


def of_no_numbers(file):
    file.create_dataset("volume", (4, 4, 4), h5py.string_dtype())


def damaged(seed, packed):
    """Overwrites some bytes of the file's structure."""
    def make(folder):
        path = hdf5(voxels(chunks=(4, 8, 8), **({"compression": "gzip"} if packed else {})))(folder)
        content, chance = bytearray(path.read_bytes()), random.Random(seed)
        for _ in range(12):
            content[chance.randrange(len(content) // 3)] = chance.randrange(256)
        path.write_bytes(content)
        return path
    return make


def cut_short(folder):
    path = hdf5(voxels(chunks=(4, 8, 8)))(folder)
    path.write_bytes(path.read_bytes()[:5000])
    return path


def begins_like_hdf5(folder):
    (folder / "x.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + os.urandom(4000))
    return folder / "x.h5"


def matlab73(folder):
    (folder / "x.mat").write_bytes(b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n" + bytes(range(256)) * 20)
    return folder / "x.mat"


HDF5 = {
    "links into other folders": external_link,
    "links beyond its folder": external_link_beside,
    "stores its voxels in other files": external_storage,
    "is a view of other files": virtual_dataset,
    "links to itself": hdf5(link_to_itself),
    "claims more than it holds": hdf5(claims_more),
    "asks for another filter": hdf5(other_filter),
    "is nested": hdf5(deep_groups),
    "holds no numbers": hdf5(of_no_numbers),
    "is cut short": cut_short,
    "only begins like one": begins_like_hdf5,
    "is no MATLAB file": matlab73,
}
HDF5_OR_READ = {
    "has thousands of attributes": hdf5(many_attributes),
    **{f"is damaged {seed}": damaged(seed, seed % 2 == 0) for seed in range(6)},
}


# ---- DICOM, TIFF: damaged data for codecs

def element(group, number, kind, value):
    value += b"\0" * (len(value) % 2)
    if kind == b"OB":
        return struct.pack("<HH2sHI", group, number, kind, 0, 0xFFFFFFFF) + value
    return struct.pack("<HH2sH", group, number, kind, len(value)) + value


def dicom(syntax, packed, rows=64, columns=64):
    def make(folder):
        number = lambda n: struct.pack("<H", n)
        item = lambda content: struct.pack("<HHI", 0xFFFE, 0xE000, len(content)) + content
        packed_even = packed + b"\0" * (len(packed) % 2)
        meta = element(2, 0x10, b"UI", syntax.encode())
        body = (element(0x28, 2, b"US", number(1)) + element(0x28, 4, b"CS", b"MONOCHROME2") + element(0x28, 0x10, b"US", number(rows)) +
                element(0x28, 0x11, b"US", number(columns)) + element(0x28, 0x100, b"US", number(16)) + element(0x28, 0x101, b"US", number(16)) +
                element(0x28, 0x102, b"US", number(15)) + element(0x28, 0x103, b"US", number(0)) +
                element(0x7FE0, 0x10, b"OB", item(b"") + item(packed_even) + struct.pack("<HHI", 0xFFFE, 0xE0DD, 0)))
        start = element(2, 0, b"UL", struct.pack("<I", len(meta)))
        (folder / "x.dcm").write_bytes(bytes(128) + b"DICM" + start + meta + body)
        return folder / "x.dcm"
    return make


NOISE = random.Random(7).randbytes(3000)
JPEG = "1.2.840.10008.1.2.4."
J2K_SIZES = struct.pack(">HHHIIIIIIIIHBBB", 0xFF51, 41, 0, 64, 64, 0, 0, 64, 64, 0, 0, 1, 15, 1, 1)
JPEG_FRAME = b"\xff\xd8" + struct.pack(">HHBHHB3B", 0xFFC3, 11, 16, 64, 64, 1, 1, 0x11, 0)
DICOM = {
    "JPEG 2000 of noise": dicom(JPEG + "90", NOISE),
    "JPEG 2000 that begins well": dicom(JPEG + "90", b"\xff\x4f" + J2K_SIZES + NOISE),
    "JPEG 2000 in boxes of noise": dicom(JPEG + "91", b"\0\0\0\x0cjP  \r\n\x87\n" + NOISE),
    "JPEG of noise": dicom(JPEG + "51", b"\xff\xd8" + NOISE),
    "lossless JPEG that begins well": dicom(JPEG + "70", JPEG_FRAME + NOISE),
    "JPEG-LS of noise": dicom(JPEG + "80", b"\xff\xd8\xff\xf7" + NOISE),
    "JPEG-LS that is empty": dicom(JPEG + "81", b""),
    "run lengths of noise": dicom("1.2.840.10008.1.2.5", NOISE),
}


def tiff(compression, packed, description=b"", columns=64, rows=64):
    def make(folder):
        text = description + b"\0"
        tags = [(256, 4, 1, columns), (257, 4, 1, rows), (258, 3, 1, 8), (259, 3, 1, compression), (262, 3, 1, 1),
                (270, 2, len(text), 8 + len(packed)), (273, 4, 1, 8), (277, 3, 1, 1), (278, 4, 1, rows), (279, 4, 1, len(packed))]
        if not description:
            tags = [tag for tag in tags if tag[0] != 270]
        place = (8 + len(packed) + len(text) + 1) & ~1
        content = struct.pack("<2sHI", b"II", 42, place) + packed + text
        content = content.ljust(place, b"\0") + struct.pack("<H", len(tags))
        content += b"".join(struct.pack("<HHII", *tag) for tag in tags) + struct.pack("<I", 0)
        (folder / "x.tif").write_bytes(content)
        return folder / "x.tif"
    return make


TIFF = {
    "JPEG": tiff(7, b"\xff\xd8" + NOISE),
    "old JPEG": tiff(6, NOISE),
    "LERC": tiff(34887, b"Lerc2 " + NOISE),
    "LZMA": tiff(34925, b"\xfd7zXZ\0" + NOISE),
    "WebP": tiff(50001, b"RIFF\x20\x20\0\0WEBPVP8 " + NOISE),
    "JBIG": tiff(34661, NOISE),
    "PixarLog": tiff(32909, NOISE),
    "LZW": tiff(5, NOISE),
    "deflate": tiff(8, b"\x78\x9c" + NOISE),
    "zstd": tiff(50000, b"\x28\xb5\x2f\xfd" + NOISE),
}


# ---- deep nesting

DEEP = 200_000


def text_file(name, text):
    def make(folder):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path if name.count("/") == 0 else path.parent
    return make


def png_with_text(key, text):
    def make(folder):
        header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
        (folder / "x.png").write_bytes(png_file([(b"IHDR", header), (b"tEXt", key + b"\0" + text),
                                                 (b"IDAT", zlib.compress(b"\0\0")), (b"IEND", b"")]))
        return folder / "x.png"
    return make


def archive(header):
    def make(folder):
        with zipfile.ZipFile(folder / "x.oct", "w", zipfile.ZIP_DEFLATED) as whole:
            whole.writestr("Header.xml", header)
        return folder / "x.oct"
    return make


def nested_array(opening, closing=""):
    return opening * DEEP + closing * DEEP


NESTED_TOML = {"arrays": "[scan]\na = " + nested_array("[", "]"), "tables": "[scan]\na = " + nested_array("{a=", "}"),
               "dotted keys": "[scan]\n" + "a." * DEEP + "a = 1\n", "headings": "[" + "a." * DEEP + "a]\nb = 1\n"}
DEPTH = {
    "zarr.json": text_file("x.zarr/zarr.json", '{"a":' * DEEP + "1" + "}" * DEEP),
    "zarr.json with lists": text_file("x.zarr/zarr.json", '{"attributes":{"ome":{"multiscales":' + nested_array("[", "]") + "}}}"),
    ".zattrs": text_file("x.zarr/.zattrs", '{"multiscales":' + nested_array("[", "]") + "}"),
    ".zattrs without an end": text_file("x.zarr/.zattrs", '{"multiscales":' + "[" * DEEP),
    "colour map of ParaView": text_file("x.json", '[{"RGBPoints":' + nested_array("[", "]") + "}]"),
    "OME-XML": tiff(1, bytes(4096), b"<OME>" + b"<a>" * DEEP + b"</a>" * DEEP + b"</OME>", 64, 64),
    "OME-XML without an end": tiff(1, bytes(4096), b"<OME>" + b"<a>" * DEEP, 64, 64),
    "Header.xml": archive("<Ocity>" + "<a>" * DEEP + "</a>" * DEEP + "</Ocity>"),
    **{f"TOML with {what}": text_file("x.toml", text) for what, text in NESTED_TOML.items()},
    **{f"picture with {what}": png_with_text(b"session", text.encode()) for what, text in NESTED_TOML.items()},
}


# ---- references to other files

def header(kind, names):
    def make(folder):
        outside(folder)
        name = names(folder) if callable(names) else names
        if kind == "nhdr":
            text = f"NRRD0004\ntype: uint8\ndimension: 3\nsizes: 20 20 20\nencoding: raw\ndata file: {name}\n\n"
        else:
            text = f"ObjectType = Image\nNDims = 3\nDimSize = 20 20 20\nElementType = MET_UCHAR\nElementDataFile = {name}\n"
        (folder / f"x.{kind}").write_text(text)
        return folder / f"x.{kind}"
    return make


def link(folder):
    (folder / "voxels.raw").symlink_to(folder.parent / "outside" / "secret.raw")
    return "voxels.raw"


def link_of_folder(folder):
    (folder / "below").symlink_to(folder.parent / "outside")
    return "below/secret.raw"


def fifo(folder):
    os.mkfifo(folder / "voxels.raw")
    return "voxels.raw"


def folder_of_that_name(folder):
    (folder / "voxels.raw").mkdir()
    return "voxels.raw"


NAMES = {
    "a file above": "../outside/secret.raw",
    "a file above, by a detour": "below/../../outside/secret.raw",
    "a file by its whole name": lambda folder: str(folder.parent / "outside" / "secret.raw"),
    "a link that leads out": link,
    "a folder that leads out": link_of_folder,
    "a FIFO": fifo,
    "a device": "/dev/zero",
    "a folder": folder_of_that_name,
    "memory": "/proc/self/maps",
    "nothing": "voxels.raw",
}
NAMED = {f"{kind} names {what}": header(kind, names) for kind in ("nhdr", "mhd") for what, names in NAMES.items()}


def zarr(level="0", where=None):
    """One chunk of 20^3 bytes. `where` redirects a reference out of the store."""
    def make(folder):
        store, other = folder / "x.zarr", outside(folder)
        (store / "0").mkdir(parents=True)
        multiscales = [{"version": "0.4", "axes": [{"name": axis, "type": "space"} for axis in "zyx"], "datasets": [{"path": level}]}]
        (store / ".zattrs").write_text(json.dumps({"multiscales": multiscales}))
        (store / ".zgroup").write_text('{"zarr_format": 2}')
        array = {"zarr_format": 2, "shape": [20, 20, 20], "chunks": [20, 20, 20], "dtype": "|u1", "compressor": None, "fill_value": 0,
                 "order": "C", "filters": None}
        for place in (store / "0", other):
            (place / ".zarray").write_text(json.dumps(array))
            (place / "0.0.0").write_bytes(SECRET[:8000])
        if where is not None:
            where(store, other)
        return store
    return make


def moved(name):
    def move(store, other):
        target = store / name
        kept = other / target.name
        if target.is_dir():
            kept = other
            for inner in target.iterdir():
                inner.unlink()
            target.rmdir()
        else:
            target.replace(kept)
        target.symlink_to(kept)
    return move


def fifo_chunk(store, _):
    (store / "0/0.0.0").unlink()
    os.mkfifo(store / "0/0.0.0")


NAMED |= {
    "zarr names a level above": zarr("../../outside"),
    "zarr has a level that leads out": zarr(where=moved("0")),
    "zarr has a chunk that leads out": zarr(where=moved("0/0.0.0")),
    "zarr has a description that leads out": zarr(where=moved("0/.zarray")),
    "zarr has attributes that lead out": zarr(where=moved(".zattrs")),
}

ENDINGS = [".nrrd", ".nhdr", ".mha", ".mhd", ".nii", ".nii.gz", ".npy", ".h5", ".mat", ".tif", ".dcm", ".oct", ".vol", ".toml", ".raw",
           ".png", ".json", ".unp", ".bin"]


def harmless(folder):
    """Allowed references: voxels below the header, a link within the folder, a regular store."""
    (folder / "below").mkdir()
    (folder / "below/voxels.raw").write_bytes(SECRET[:8000])
    (folder / "link.raw").symlink_to(folder / "below/voxels.raw")
    return [header("nhdr", "below/voxels.raw")(folder), header("mhd", "link.raw")(folder), zarr()(folder)]
