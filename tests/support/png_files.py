"""Reads and writes PNG files without a library (PNG specification, W3C)."""
import struct
import zlib
from pathlib import Path

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def png_chunks(content):
    """Returns kind and data of each chunk of a complete file."""
    assert content[:8] == SIGNATURE, "is no PNG"
    at, chunks = 8, []
    while at < len(content):
        length, kind = struct.unpack(">I4s", content[at : at + 8])
        chunks.append((kind, content[at + 8 : at + 8 + length]))
        at += 12 + length
    return chunks


def png_file(chunks):
    return SIGNATURE + b"".join(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks)


def png_rows(chunks):
    """Returns the filtered rows of a picture."""
    return zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))


def unfiltered(kind, row, above, step):
    """Undoes the prediction of one row (section 9)."""
    if kind == 0:
        return row
    if kind == 1:
        return np.cumsum(np.frombuffer(row, np.uint8).reshape(-1, step), axis=0, dtype=np.uint8).tobytes()
    if kind == 2:
        return (np.frombuffer(row, np.uint8) + np.frombuffer(above, np.uint8)).tobytes()
    out, corners = bytearray(step) + row, bytes(step) + above  # the pixel before the first is zero
    for i, (value, up, corner) in enumerate(zip(row, above, corners)):
        left = out[i]
        if kind == 3:
            predicted = (left + up) // 2
        else:
            to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
            predicted = left if to_left <= to_up and to_left <= to_corner else up if to_up <= to_corner else corner
        out[i + step] = (value + predicted) & 255
    return bytes(out[step:])


def png_stream(file):
    """Returns width, height, bits, channels and the filtered rows of a complete picture with 8 or 16 bits per channel.
    `file`: a path or the content."""
    chunks = png_chunks(file if isinstance(file, bytes) else Path(file).read_bytes())
    width, height, bits, colour = struct.unpack(">IIBB", chunks[0][1][:10])
    assert bits in (8, 16), f"{file}: {bits} bits"
    channels, stream = {0: 1, 2: 3, 4: 2, 6: 4}[colour], png_rows(chunks)
    assert len(stream) == height * (width * channels * bits // 8 + 1), f"{file} ends early"
    return width, height, bits, channels, stream


def read_png(file):
    """Returns a picture with 8 or 16 bits per channel, a path or the content of a file, as [row][column][channel]."""
    width, height, bits, channels, stream = png_stream(file)
    pixel = channels * bits // 8
    rows, above = [], bytes(width * pixel)
    for begin in range(0, len(stream), width * pixel + 1):
        above = unfiltered(stream[begin], stream[begin + 1 : begin + 1 + width * pixel], above, pixel)
        rows.append(bytes(above))
    return np.frombuffer(b"".join(rows), np.uint8 if bits == 8 else ">u2").reshape(height, width, channels)
