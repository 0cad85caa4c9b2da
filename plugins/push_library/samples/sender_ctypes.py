"""Sends simulated spectra through the library echolux_push, with nothing but Python (docs/windows.md).

usage: python sender_ctypes.py LIBRARY HOST:PORT [SECONDS]
LIBRARY is echolux_push.dll or libecholux_push.so. Without a library, use push.py: it needs no compiler either.
"""
import array
import ctypes
import math
import sys
import time

SAMPLES, A_SCANS, B_SCANS = 512, 64, 16


def opened(path: str) -> ctypes.CDLL:
    """Loads the library and declares the functions that this program calls."""
    library = ctypes.CDLL(path)
    text, number, wide = ctypes.c_char_p, ctypes.c_int32, ctypes.c_int64
    library.echolux_sender_open.argtypes = [text, text, text, number]
    library.echolux_sender_push.argtypes = [number, ctypes.c_void_p, wide]
    library.echolux_sender_wait.argtypes = [number, number]
    library.echolux_sender_problem.argtypes = [number, text, number]
    library.echolux_sender_close.argtypes = [number, number]
    return library


def mirror(depth: float) -> array.array:
    """Stands for the digitizer: a B-scan of a mirror at `depth`, given in fringes per spectrum."""
    line = [int(20000 * math.exp(-(4 * k / SAMPLES - 2) ** 2) * (1 + 0.5 * math.cos(2 * math.pi * depth * k / SAMPLES)))
            for k in range(SAMPLES)]
    return array.array("H", line * A_SCANS)


def main() -> None:
    library = opened(sys.argv[1])
    problem = ctypes.create_string_buffer(200)
    settings = f"samples={SAMPLES} a_scans={A_SCANS} b_scans={B_SCANS} sample_format=u16 line_rate_hz=6400 name=ctypes"
    sender = library.echolux_sender_open(sys.argv[2].encode(), settings.encode(), problem, len(problem))
    if sender < 0:
        sys.exit(problem.value.decode())
    while library.echolux_sender_wait(sender, 1000) == 0:
        print("waiting for the viewer")
    end = time.monotonic() + float(sys.argv[3] if len(sys.argv) > 3 else 60)
    while time.monotonic() < end:
        spectra = mirror(60 + 30 * math.sin(time.monotonic()))
        address, items = spectra.buffer_info()  # of a NumPy array: spectra.ctypes.data and spectra.nbytes
        if library.echolux_sender_push(sender, address, items * spectra.itemsize) != 0:
            library.echolux_sender_problem(sender, problem, len(problem))
            sys.exit(problem.value.decode())
        time.sleep(A_SCANS / 6400)
    library.echolux_sender_end(sender)
    library.echolux_sender_close(sender, 5000)


if __name__ == "__main__":
    main()
