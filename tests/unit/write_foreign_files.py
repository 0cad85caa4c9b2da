"""Writes files in the formats of other programs with independent libraries: pydicom, SciPy, h5py, tifffile, zipfile and
struct. foreign_files_test.cpp expects this content: voxel (B-scan b, A-scan a, depth z) is 1000 b + 20 a + z.

Exit status 77: a writer is missing.
"""
import io
import struct
import sys
import zipfile
import zlib
from pathlib import Path

try:
    import h5py
    import numpy as np
    import pydicom
    import scipy.io
    import tifffile
    from pydicom.dataset import Dataset, FileDataset, FileMetaDataset
    from pydicom.sequence import Sequence
    from pydicom.uid import ExplicitVRBigEndian, ExplicitVRLittleEndian, ImplicitVRLittleEndian, RLELossless
except ImportError as error:
    print(error)
    sys.exit(77)

B, A, Z = 3, 5, 7
b, a, z = np.meshgrid(np.arange(B), np.arange(A), np.arange(Z), indexing="ij")
VOLUME = 1000 * b + 20 * a + z  # [B-scan][A-scan][depth]
PICTURES = VOLUME.transpose(0, 2, 1)  # [slice][row][column]


def dicom(pixels, syntax, series="1.2.3.4", number=1):
    meta = FileMetaDataset()
    meta.TransferSyntaxUID = syntax
    meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.77.1.5.4"
    meta.MediaStorageSOPInstanceUID = pydicom.uid.generate_uid()
    ds = FileDataset(None, {}, file_meta=meta, preamble=b"\0" * 128)
    ds.is_little_endian = syntax != ExplicitVRBigEndian
    ds.is_implicit_VR = syntax == ImplicitVRLittleEndian
    ds.SOPClassUID, ds.SOPInstanceUID = meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID
    ds.Modality, ds.SeriesInstanceUID, ds.SeriesNumber, ds.InstanceNumber = "OPT", series, number, 1
    ds.SeriesDescription, ds.Manufacturer = f"series {number}", "Nobody"
    ds.Rows, ds.Columns = pixels.shape[-2:]
    ds.SamplesPerPixel, ds.PhotometricInterpretation = 1, "MONOCHROME2"
    ds.BitsAllocated = ds.BitsStored = 16
    ds.HighBit, ds.PixelRepresentation = 15, 0
    # An icon, whose size and voxels must not be mistaken for the picture's.
    icon = Dataset()
    icon.Rows, icon.Columns, icon.BitsAllocated, icon.PixelData = 2, 2, 8, b"\1\2\3\4"
    icon["PixelData"].VR = "OB"
    ds.IconImageSequence = Sequence([icon])
    ds.PixelData = pixels.astype("<u2" if ds.is_little_endian else ">u2").tobytes()
    ds["PixelData"].VR = "OW"
    return ds


def place(ds, i, time=1):
    ds.PixelSpacing, ds.SliceThickness = [0.003, 0.012], 0.5
    ds.ImageOrientationPatient = [0, 1, 0, 0, 0, 1]  # slices are along x
    ds.ImagePositionPatient = [10 + 0.025 * i, 0, 0]
    ds.AcquisitionNumber = time
    ds.InstanceNumber = 50 - i


def dicom_files(folder):
    series = folder / "dicom"
    series.mkdir()
    for i in range(B):  # names and instance numbers are not in the order of positions
        ds = dicom(PICTURES[i], [ExplicitVRLittleEndian, ImplicitVRLittleEndian, ExplicitVRBigEndian][i])
        place(ds, i)
        ds.RescaleSlope, ds.RescaleIntercept = 2, -100
        ds.save_as(series / "cab"[i])
    (series / "readme.txt").write_text("not DICOM")

    two = folder / "two_series"
    two.mkdir()
    for number, count in (1, 2), (2, 3):
        for i in range(count):
            ds = dicom(PICTURES[i] + 5 * number, ExplicitVRLittleEndian, f"1.2.3.{number}", number)
            place(ds, i)
            ds.save_as(two / f"{number}_{i}.dcm")

    times = folder / "times"
    times.mkdir()
    for time in range(2):
        for i in range(B):
            ds = dicom(PICTURES[i] + 7 * time, ExplicitVRLittleEndian)
            place(ds, i, time + 1)
            ds.save_as(times / f"{time}{i}.dcm")

    own = folder / "own_scales"
    own.mkdir()
    for i in range(B):
        ds = dicom(PICTURES[i], ExplicitVRLittleEndian)
        place(ds, i)
        ds.RescaleIntercept, ds.RescaleSlope = -1, 0.5 * (i + 1)
        ds.save_as(own / f"{i}.dcm")

    frames = dicom(PICTURES, ExplicitVRLittleEndian)
    frames.NumberOfFrames = B
    shared, measures = Dataset(), Dataset()
    measures.PixelSpacing, measures.SliceThickness = [0.003, 0.012], 0.5
    shared.PixelMeasuresSequence = Sequence([measures])
    frames.SharedFunctionalGroupsSequence = Sequence([shared])
    groups = []
    for i in range(B):
        group, position = Dataset(), Dataset()
        position.ImagePositionPatient = [0, 0, -0.025 * i]  # the last frame has the lowest position
        group.PlanePositionSequence = Sequence([position])
        groups.append(group)
    frames.PerFrameFunctionalGroupsSequence = Sequence(groups)
    frames.save_as(folder / "frames.dcm")

    bits = dicom(PICTURES[0] << 3 | 0x8005, ExplicitVRLittleEndian)  # 12 bits in the middle of 16, with other bits around them
    bits.BitsStored, bits.HighBit = 12, 14
    bits.save_as(folder / "bits.dcm")

    packed = dicom(PICTURES, ExplicitVRLittleEndian)
    packed.NumberOfFrames = B
    packed.compress(RLELossless, arr=PICTURES.astype("<u2"), encoding_plugin="pydicom")
    packed.save_as(folder / "packed.dcm")


SAMPLES, REFERENCES, LINES, FLYBACK = 16, 2, A, 1


def thorlabs_header(names):
    files = "\n".join(names)
    return f"""<?xml version="1.0" encoding="utf-8"?>
<Ocity version="1.0">
  <MetaInfo><Study>a study &lt;1&gt;</Study><AcquisitionMode>Mode3D</AcquisitionMode></MetaInfo>
  <Instrument><Model>Nobody-1</Model><BytesPerPixel>2</BytesPerPixel><RawDataIsSigned>False</RawDataIsSigned>
    <BinaryToElectronCountScaling>50</BinaryToElectronCountScaling><CentralWavelength>930</CentralWavelength></Instrument>
  <Image Type="RawSpectraAndProcessedIntensity">
    <SizePixel Unit="px"><SizeZ>8</SizeZ><SizeX>{A}</SizeX><SizeY>{B}</SizeY></SizePixel>
    <SizeReal Unit="mm"><SizeZ>1.6</SizeZ><SizeX>0.06</SizeX><SizeY>0.075</SizeY></SizeReal></Image>
  <Acquisition><RefractiveIndex>1.33</RefractiveIndex></Acquisition>
  <DataFiles>{files}</DataFiles>
</Ocity>"""


def spectrum(i, line):
    """Returns the counts of line `line` of B-scan i (reference lines first, flyback last)."""
    samples = np.arange(SAMPLES)
    return (1000 + 10 * samples if line < REFERENCES else 1000 + 100 * i + 10 * line + samples).astype("<u2")


def thorlabs_files(folder):
    lines = REFERENCES + LINES + FLYBACK
    raw = [f'<DataFile Type="Raw" SizeZ="{SAMPLES}" SizeX="{lines}" SizeY="1" BytesPerPixel="2" ApoRegionStart0="0" '
           f'ApoRegionEnd0="{REFERENCES}" ScanRegionStart0="{REFERENCES}" ScanRegionEnd0="{REFERENCES + LINES}">'
           f'data\\Spectral{i}.data</DataFile>' for i in range(B)]
    one = f'<DataFile Type="Real" SizeZ="{SAMPLES}" BytesPerPixel="4">data\\{{}}.data</DataFile>'
    real = [one.format("Chirp"), one.format("OffsetErrors")]
    picture = (f'<DataFile Type="Real" SizeZ="{Z}" SizeX="{A}" SizeY="{B}" RangeZ="0.021" RangeX="0.06" RangeY="0.075" '
               'BytesPerPixel="4">data\\Intensity.data</DataFile>')
    chirp = np.arange(SAMPLES) ** 2 / (SAMPLES - 1)
    with zipfile.ZipFile(folder / "both.oct", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Header.xml", thorlabs_header(raw + real + [picture]))
        for i in range(B):
            archive.writestr(f"data\\Spectral{i}.data", b"".join(spectrum(i, n).tobytes() for n in range(lines)))
        archive.writestr("data/Chirp.data", chirp.astype("<f4").tobytes())
        archive.writestr("data/OffsetErrors.data", (50 * np.arange(SAMPLES)).astype("<f4").tobytes())
        archive.writestr("data/Intensity.data", (VOLUME - 30.5).astype("<f4").tobytes())
    with zipfile.ZipFile(folder / "spectra.oct", "w") as archive:
        archive.writestr("Header.xml", thorlabs_header(raw))
        for i in range(B):
            archive.writestr(f"data/Spectral{i}.data", b"".join(spectrum(i, n).tobytes() for n in range(lines)))
    hostile_archives(folder, picture)


def hostile_archives(folder, picture):
    def write(name, header, entries):
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("Header.xml", header)
            for entry, content in entries:
                archive.writestr(entry, content)

    usual = thorlabs_header([picture])
    voxels = VOLUME.astype("<f4").tobytes()
    write("climbing.oct", usual, [("../../tmp/evil", b"x"), ("data/Intensity.data", voxels)])
    write("absolute.oct", usual, [("/tmp/evil", b"x"), ("data/Intensity.data", voxels)])
    write("short.oct", usual, [("data/Intensity.data", voxels[:-4])])
    write("endless.oct", usual.replace(f'SizeX="{A}"', 'SizeX="9000000"').replace(f'SizeZ="{Z}"', 'SizeZ="9000000"'),
          [("data/Intensity.data", voxels)])
    write("entities.oct", '<!DOCTYPE a [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]><Ocity>&b;</Ocity>', [])
    write("no_xml.oct", "not XML < at all", [])
    write("bomb.oct", usual, [("data/Intensity.data", b"\0" * len(voxels))])
    raw = bytearray((folder / "bomb.oct").read_bytes())
    place = raw.find(b"PK\1\2", raw.find(b"PK\1\2") + 1)
    raw[place + 24:place + 28] = struct.pack("<I", 0xFFFFFFF0)  # the directory claims 4 GiB
    (folder / "bomb.oct").write_bytes(raw)
    raw = bytearray((folder / "both.oct").read_bytes())
    place = raw.rfind(b"data/Intensity.data", 0, raw.find(b"PK\1\2")) + len("data/Intensity.data")
    raw[place + 5] ^= 0x10
    (folder / "damaged.oct").write_bytes(raw)


def heidelberg_files(folder):
    header = bytearray(2048)
    struct.pack_into("<12siiiddd", header, 0, b"HSF-OCT-103\0", A, B, Z, 0.012, 0.025, 0.003)
    struct.pack_into("<iidd", header, 48, 4, 3, 0.02, 0.03)  # fundus image
    header[84:86] = b"OD"
    struct.pack_into("<Q", header, 88, (1_700_000_000 + 11_644_473_600) * 10_000_000)
    struct.pack_into("<ii", header, 96, 3, 512)
    picture = PICTURES.astype("<f4")
    picture[1, 2, 3] = np.finfo("<f4").max
    scans = b""
    for i in range(B):
        scan = bytearray(512)
        struct.pack_into("<12si4dii", scan, 0, b"HSF-BS-103\0\0", 512, 0.5, i, 6.5, i, 3, 256)
        missing = np.finfo("<f4").max
        lines = np.full((3, A), missing, "<f4")  # ILM, BM, and RNFL without a position
        lines[0], lines[1] = 0.5 + np.arange(A) / 8 + i, 6.25 + i
        lines[1, 2] = missing
        scan[256:256 + lines.nbytes] = lines.tobytes()
        scans += scan + picture[i].tobytes()
    whole = bytes(header) + bytes(range(7, 19)) + scans
    (folder / "eye.vol").write_bytes(whole)
    (folder / "short.vol").write_bytes(whole[:-1])
    outside = bytearray(whole)
    struct.pack_into("<i", outside, 2048 + 12 + 52, 500)
    (folder / "outside.vol").write_bytes(outside)
    without = bytearray(whole)
    for i in range(B):
        struct.pack_into("<i", without, 2048 + 12 + i * (512 + picture[0].nbytes) + 48, 0)
    (folder / "no_lines.vol").write_bytes(without)
    struct.pack_into("<i", header, 12, 0x7FFFFFFF)
    (folder / "endless.vol").write_bytes(bytes(header) + whole[2048:])


def matlab_files(folder):
    stack = VOLUME.transpose(2, 1, 0)  # rows = depth, columns = A-scans, B-scans
    several = {"volume": stack.astype("u2"), "table": np.zeros((40, 40)), "text": "x" * 9,
               "small": stack[:, :, :2].astype("f4"), "cells": np.array([1, "a"], dtype=object)}
    scipy.io.savemat(folder / "five.mat", several)
    scipy.io.savemat(folder / "seven.mat", several, do_compression=True)
    scipy.io.savemat(folder / "complex.mat", {"c": (stack - 2j * stack).astype("c16")}, do_compression=True)
    times = np.stack([stack, stack + 7], axis=3)
    scipy.io.savemat(folder / "times.mat", {"t": times.astype("i2")}, do_compression=True)
    scipy.io.savemat(folder / "none.mat", {"text": "nothing"})
    with h5py.File(folder / "hdf5.mat", "w", userblock_size=512) as file:
        file.create_dataset("v", data=stack.T.astype("u2"), chunks=True, compression="gzip")
        file.create_dataset("w", data=(stack.T[:2] + 1).astype("f8"))
        pairs = np.zeros(stack.T[:1].shape, dtype=[("real", "f8"), ("imag", "f8")])
        pairs["real"], pairs["imag"] = stack.T[:1], -stack.T[:1]
        file.create_dataset("z", data=pairs)
    raw = bytearray((folder / "hdf5.mat").read_bytes())
    raw[:128] = b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM"
    (folder / "hdf5.mat").write_bytes(raw)
    packed = (folder / "seven.mat").read_bytes()
    (folder / "short.mat").write_bytes(packed[:-30])
    damaged = bytearray((folder / "times.mat").read_bytes())
    damaged[-3] ^= 0xFF  # the checksum
    (folder / "damaged.mat").write_bytes(damaged)
    endless = bytearray((folder / "five.mat").read_bytes())
    place = endless.find(struct.pack("<iii", Z, A, B))
    endless[place:place + 12] = struct.pack("<iii", 0x7FFFFFFF, 0x7FFFFFFF, 0x7FFFFFFF)
    (folder / "endless.mat").write_bytes(endless)


def png(picture):
    bits, kind = (16, ">u2") if picture.max() > 255 else (8, "u1")
    rows = b"".join(b"\0" + row.astype(kind).tobytes() for row in picture)
    out = io.BytesIO()
    out.write(b"\x89PNG\r\n\x1a\n")
    for name, body in ((b"IHDR", struct.pack(">IIBBBBB", picture.shape[1], picture.shape[0], bits, 0, 0, 0, 0)),
                       (b"IDAT", zlib.compress(rows)), (b"IEND", b"")):
        out.write(struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body)))
    return out.getvalue()


def picture_folders(folder):
    deep = PICTURES + 300  # 16 bits each
    for name, kind in ("png16", deep), ("png8", PICTURES // 16):
        (folder / name).mkdir()
        for i, number in enumerate((2, 9, 10)):
            (folder / name / f"slice{number}.png").write_bytes(png(kind[i]))
    (folder / "tiff").mkdir()
    for i, number in enumerate((2, 9, 10)):
        tifffile.imwrite(folder / "tiff" / f"slice{number}.tif", PICTURES[i].astype("i2"))
    (folder / "uneven").mkdir()
    (folder / "uneven" / "1.png").write_bytes(png(deep[0]))
    (folder / "uneven" / "2.png").write_bytes(png(deep[0][:, :-1]))
    huge = bytearray(png(deep[0]))
    huge[16:24] = struct.pack(">II", 900_000, 900_000)
    huge[29:33] = struct.pack(">I", zlib.crc32(bytes(huge[12:29])))
    (folder / "huge").mkdir()
    (folder / "huge" / "1.png").write_bytes(huge)
    (folder / "series").mkdir()
    for i in range(2):
        tifffile.imwrite(folder / "series" / f"{i}.tif", PICTURES.astype("u2"), photometric="minisblack")


def octproz_files(folder):
    spectra = np.concatenate([spectrum(i, 2 + n) for i in range(4) for n in range(A)])
    (folder / "20240102_030405_eye_raw.raw").write_bytes((spectra << 4).tobytes())
    (folder / "20240102_030405_eye_meta.txt").write_text(f"""[General]
timestamp=20240102_030405

[Virtual%20OCT%20System]
bit_depth=12
width={SAMPLES}
height={A}
depth=1
buffers_per_volume=2

[processing]
bitshift=true
flip_bscans=true
resampling=true
resampling_c0=0.5
resampling_c1=14
resampling_c2=0.25
resampling_c3=0
dispersion_compensation=true
dispersion_compensation_d0=0
dispersion_compensation_d1=1
dispersion_compensation_d2=2
dispersion_compensation_d3=3
""")


if __name__ == "__main__":
    for make in dicom_files, thorlabs_files, heidelberg_files, matlab_files, picture_folders, octproz_files:
        make(Path(sys.argv[1]))
