"""Regenerates the seeds of the fuzz targets: tiny files that each reader accepts, so that mutations get past the first
checks. The seeds are committed, so fuzzing needs none of these packages: /usr/bin/python3 tests/fuzz/make_seeds.py

Not generated here: seeds named found_*, which fuzzing found, and dicom/jpeg*, a small picture compressed by GDCM.
"""
import gzip
import json
import struct
import sys
import tempfile
import zlib
from pathlib import Path

import h5py
import nibabel
import numpy as np
import tifffile

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "unit"))
import write_foreign_files as foreign  # noqa: E402

VOLUME = np.arange(2 * 3 * 4, dtype="<u2").reshape(2, 3, 4)  # slices, rows, columns


def seed(target, name, content):
    folder = HERE / "seeds" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def packed_folder(files):
    """Packs files as folder_with() of fuzz_target.h expects them."""
    return b"".join(f"{name} {len(content)}\n".encode() + content for name, content in files.items())


def images(scratch):
    for kind in "u1", "i2", "f4", "c8":
        image = nibabel.Nifti1Image(np.ones((4, 3, 2, 2), kind), np.diag([0.01, 0.003, 0.02, 1]))
        image.header.set_xyzt_units("mm", "sec")
        seed("nifti", kind, image.to_bytes())
        seed("nifti_gz", kind, gzip.compress(image.to_bytes(), mtime=0))
    sizes = "dimension: 3\nsizes: 4 3 2\n"
    seed("nrrd", "raw", f"NRRD0004\ntype: uint16\n{sizes}endian: little\nencoding: raw\nspacings: 1 2 3\n"
         "key:=value\n\n".encode() + VOLUME.tobytes())
    seed("nrrd", "gzip", f"NRRD0005\ntype: float\n{sizes}endian: big\nencoding: gzip\n"
         "space directions: (1,0,0) (0,1,0) (0,0,1)\n\n".encode() + gzip.compress(VOLUME.astype(">f4").tobytes(), mtime=0))
    seed("nrrd", "series", "NRRD0005\ntype: uint8\ndimension: 4\nsizes: 2 4 3 2\nkinds: list domain domain domain\n"
         "encoding: raw\n\n".encode() + bytes(48))
    meta = "ObjectType = Image\nNDims = 3\nDimSize = 4 3 2\nElementSpacing = 1 2 3\nElementType = MET_USHORT\n"
    seed("meta", "raw", meta.encode() + b"ElementDataFile = LOCAL\n" + VOLUME.tobytes())
    body = zlib.compress(VOLUME.tobytes())
    seed("meta", "packed", meta.encode() + f"CompressedData = True\nCompressedDataSize = {len(body)}\n"
         "ElementDataFile = LOCAL\n".encode() + body)
    for name, array in ("u16", VOLUME), ("fortran", np.asfortranarray(VOLUME.astype(">f8"))), ("c8", VOLUME.astype("c8")):
        np.save(scratch / "x.npy", array)
        seed("npy", name, (scratch / "x.npy").read_bytes())
    for name, options in (("plain", {}), ("deflate", {"compression": "zlib", "predictor": True}),
                          ("tiled", {"tile": (16, 16)}), ("big", {"bigtiff": True}), ("ome", {"ome": True, "metadata": {"axes": "ZYX"}})):
        tifffile.imwrite(scratch / "x.tif", VOLUME, photometric="minisblack", **options)
        seed("tiff", name, (scratch / "x.tif").read_bytes())
    for name, options in ("plain", {}), ("chunks", {"chunks": (1, 3, 4), "compression": "gzip", "fletcher32": True}):
        with h5py.File(scratch / "x.h5", "w", libver="earliest") as file:
            file.create_dataset("volume", data=VOLUME, **options).attrs["element_size_um"] = [3.0, 2.0, 1.0]
        seed("hdf5", name, (scratch / "x.h5").read_bytes())
    seed("png", "gray16", foreign.png(VOLUME[0] + 300))
    seed("png", "gray8", foreign.png(VOLUME[0]))
    seed("our_png", "gray8", foreign.png(VOLUME[0]))


def zarr_folders():
    def json_bytes(value):
        return json.dumps(value).encode()

    axes = [{"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"]
    scale = {"coordinateTransformations": [{"type": "scale", "scale": [3, 2, 1]}]}
    multiscales = [{"version": "0.4", "axes": axes, "datasets": [{"path": "0", **scale}]}]
    array = {"zarr_format": 2, "shape": [2, 3, 4], "chunks": [1, 3, 4], "dtype": "<u2", "compressor": None,
             "fill_value": 0, "order": "C", "filters": None, "dimension_separator": "/"}
    head = {".zattrs": json_bytes({"multiscales": multiscales}), ".zgroup": b'{"zarr_format":2}'}
    chunks = {f"0/{i}/0/0": VOLUME[i].tobytes() for i in range(2)}
    seed("zarr", "v2", packed_folder({**head, "0/.zarray": json_bytes(array), **chunks}))
    array["compressor"] = {"id": "zlib", "level": 1}
    chunks = {f"0/{i}/0/0": zlib.compress(VOLUME[i].tobytes()) for i in range(2)}
    seed("zarr", "zlib", packed_folder({**head, "0/.zarray": json_bytes(array), **chunks}))
    group = {"zarr_format": 3, "node_type": "group", "attributes": {"ome": {"version": "0.5", "multiscales": multiscales}}}
    third = {"zarr_format": 3, "node_type": "array", "shape": [2, 3, 4], "data_type": "uint16", "fill_value": 0,
             "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1, 3, 4]}},
             "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
             "codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
                        {"name": "gzip", "configuration": {"level": 1}}]}
    chunks = {f"0/c/{i}/0/0": gzip.compress(VOLUME[i].tobytes(), mtime=0) for i in range(2)}
    seed("zarr", "v3", packed_folder({"zarr.json": json_bytes(group), "0/zarr.json": json_bytes(third), **chunks}))
    packed = [gzip.compress(VOLUME[i].tobytes(), mtime=0) for i in range(2)]
    index = struct.pack("<4Q", 0, len(packed[0]), len(packed[0]), len(packed[1]))
    third["chunk_grid"]["configuration"]["chunk_shape"] = [2, 3, 4]
    third["codecs"] = [{"name": "sharding_indexed", "configuration": {
        "chunk_shape": [1, 3, 4], "codecs": third["codecs"], "index_codecs": ["bytes"], "index_location": "end"}}]
    files = {"zarr.json": json_bytes(group), "0/zarr.json": json_bytes(third), "0/c/0/0/0": b"".join(packed) + index}
    seed("zarr", "shards", packed_folder(files))


def foreign_files(scratch):
    for make in foreign.dicom_files, foreign.thorlabs_files, foreign.heidelberg_files, foreign.matlab_files:
        make(scratch)
    for name in "frames.dcm", "packed.dcm", "bits.dcm", "dicom/c", "dicom/a", "dicom/b":
        seed("dicom", name.replace("/", "_"), (scratch / name).read_bytes())
    for name in "both.oct", "spectra.oct":
        seed("thorlabs", name, (scratch / name).read_bytes())
        seed("thorlabs_spectra", name, (scratch / name).read_bytes())
    seed("heidelberg", "eye.vol", (scratch / "eye.vol").read_bytes())
    for name in "five.mat", "seven.mat", "complex.mat", "times.mat", "hdf5.mat":
        if (scratch / name).stat().st_size < 20000:
            seed("matlab", name, (scratch / name).read_bytes())


def scans(scratch):
    foreign.octproz_files(scratch)
    seed("octproz", "meta", (scratch / "20240102_030405_eye_meta.txt").read_bytes())
    scan = '[scan]\nfile = "x.raw"\nsamples = 16\na_scans = 4\nb_scans = 8\n'
    seed("scan_toml", "small", scan.replace("b_scans = 8", "b_scans = 32"))
    seed("scan_toml", "more", scan + 'sample_format = "i16"\nvolumes = 2\na_repeats = 2\noffset_bytes = 0\n[calibration]\n'
         'k_polynomial = [0, 15]\n[recipe]\nwindow = "hann"\nvoxel = "u8"\n[flow]\nmethod = "doppler"\n')
    seed("scan_toml", "recording", scan + '[recording]\nstarted_utc = "2024-01-02T03:04:05Z"\n')
    seed("session_toml", "lists", '[session]\nversion = 1\nat = [1.0, 2.0, 3.0]\n[view]\nyaw = 3\n')
    raw = bytearray(512 + 40 + 3 * 8 * 2 + 2 * 8 * 4)
    raw[:8] = b"SD01RAW2"
    struct.pack_into("<I", raw, 0x14, 8)
    struct.pack_into("<I", raw, 0x24, 2)
    struct.pack_into("<H", raw, 0x54, 1)
    struct.pack_into("<8f", raw, len(raw) - 32, *range(8))
    seed("sd01raw2", "small", bytes(raw))
    seed("csv", "lines", "# a comment\nsample,counts\n0,1.5\n1,2e3\n2,-7\n")
    seed("csv", "plain", "1\n2\n3\n")
    seed("f32", "four", struct.pack("<4f", 1, 2, 3, 4))
    spectra = (100 + 50 * np.sin(np.arange(256) / 3))[None] * (1 + 0.1 * np.arange(48))[:, None]
    seed("raw_guess", "u16", spectra.astype("<u2").tobytes())
    seed("raw_guess", "f32", spectra[:24].astype("<f4").tobytes())


def pictures(scratch):
    picture = foreign.png(VOLUME[0])
    begin = 8 + 25  # signature and IHDR
    chunks = b""
    for name, body in ((b"tEXt", b"echolux\x000.1"), (b"iTXt", b"session\0\0\0\0\0# A session of Echolux\n"),
                       (b"zTXt", b"pixels\0\0" + zlib.compress(b"0123456789abcdef"))):
        chunks += struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
    seed("png_texts", "three", picture[:begin] + chunks + picture[begin:])
    seed("png", "long_text", picture[:begin] + struct.pack(">I", 1_135_530_807) + b"tEXtcut" + picture[begin:])
    tifffile.imwrite(scratch / "x.tif", VOLUME[0], photometric="minisblack", software="Echolux 0.1", metadata=None,
                     description="# A session of Echolux\n", extratags=[(32781, 2, 17, "0123456789abcdef", True)])
    seed("tiff_texts", "three", (scratch / "x.tif").read_bytes())


def texts():
    heading = ("sequence,volume,first_b_scan,b_scans,byte_offset,bytes,time_s,arrived_utc,lost_before,missing,crc32,"
               "durable_bytes\n")
    seed("recording_index", "two", heading + "0,0,0,4,0,512,0.5,2024-01-02T03:04:05Z,0,0,deadbeef,0\n"
         "1,0,4,4,512,512,0.6,2024-01-02T03:04:06Z,0,0,00000001,512\n")
    seed("transfer_toml", "two", '[transfer]\nversion = 1\nunit = "dB"\ncolours = [0, 0, 0, 0, 40, 1, 1, 1]\n'
         'extinctions = [0, 0, 40, 200]\n')
    seed("transfer_json", "two", json.dumps([{"Name": "a", "RGBPoints": [0, 0, 0, 0, 40, 1, 1, 1],
                                              "Points": [0, 0, 0.5, 0, 40, 1, 0.5, 0]}]))


def igtl_message(kind, body, version=1):
    crc = 0
    for byte in body:
        crc ^= byte << 56
        for _ in range(8):
            crc = (crc << 1 ^ (0x42F0E1EBA9EA3693 if crc >> 63 else 0)) & (1 << 64) - 1
    return struct.pack(">H12s20sQQQ", version, kind, b"seed", 0, len(body), crc) + body


def lines_of_others():
    string, command = struct.pack(">HH", 3, 11) + b"view.zoom=2", struct.pack(">I128sHI", 5, b"get", 3, 9) + b"view.zoom"
    metadata = struct.pack(">HHHI", 1, 3, 3, 5) + b"keyvalue"
    extended = struct.pack(">HHII", 12, 10, 8, 1)
    seed("igtl_messages", "two", igtl_message(b"STRING", string) + igtl_message(b"COMMAND", extended + command + metadata, 2))
    seed("igtl_messages", "others", igtl_message(b"IMAGE", bytes(100)) + igtl_message(b"GET_STATUS", b""))
    seed("igtl_request", "lines", b"sview.mode=mip\nview.zoom=2\n")
    seed("igtl_request", "command", b'cset\0{"values": {"view.zoom": 2}}')
    stream = struct.pack("<I6iI9qdqq64s", 192, 1, 0, 0, 0, 1, 0, 0, 256, 0, 0, 4, 8, 1, 1, 0, 0, 1000.0, 2, 4, b"seed")
    greeting = struct.pack("<8sII", b"ECHOPUSH", 1, 192) + stream
    blocks = [struct.pack("<4sIQqqqQdIIQ", b"BLCK", 64, i, i // 4, i % 4 * 2, 2, 0, 0.1 * i, 0, 0, 4096) for i in range(6)]
    seed("pushed", "six", greeting + b"".join(blocks) + struct.pack("<4sI64s", b"ENDS", 0, b""))


def web():
    head = "Host: localhost:8970\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    seed("web_request", "enter", "GET /?token=steering-token HTTP/1.1\r\nHost: 127.0.0.1:8970\r\n\r\n")
    seed("web_request", "page", "GET /main.js HTTP/1.1\r\nHost: [::1]:8970\r\nCookie: a=1; echolux-8970=watching-token\r\n\r\n")
    seed("web_request", "socket", f"GET /ws HTTP/1.1\r\n{head}Authorization: Bearer steering-token\r\nOrigin: http://localhost:8970\r\n\r\n")
    seed("web_request", "upload", "PUT /upload/an%20eye.nrrd?token=steering-token HTTP/1.1\r\nHost: scope.example.org\r\nContent-Length: 4\r\n\r\nNRRD")
    seed("web_request", "login", "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\npassword=open+sesame")
    seed("web_request", "form", "a=1&password=open%20sesame")
    seed("web_request", "line", '{"token": "steering-token"}')
    for name, message in {
            "hello": {"type": "hello", "codecs": ["h264", "vp8", "av1", "jpeg"], "page": "0a1b"},
            "size": {"type": "size", "width": 1280, "height": 800, "scale": 1.5},
            "input": {"type": "input", "number": 7, "events": [["m", 1.5, 2], ["b", 0, 1], ["w", 0, -1], ["k", "Ctrl", 1, 0], ["t", 228], ["f", 0]]},
            "shown": {"type": "shown", "picture": 5}, "steer": {"type": "steer", "what": "ask"}, "clipboard": {"type": "clipboard", "text": "a"},
            "dropped": {"type": "dropped", "names": ["eye.nrrd"]}, "action": {"type": "action", "id": "edit.undo"},
            "quality": {"type": "quality", "level": None}}.items():
        seed("page_message", name, json.dumps(message))


with tempfile.TemporaryDirectory() as folder:
    images(Path(folder))
    zarr_folders()
    foreign_files(Path(folder))
    scans(Path(folder))
    pictures(Path(folder))
    texts()
    lines_of_others()
    web()
