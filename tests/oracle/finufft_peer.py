"""Computes the sums of the NUFFT by FINUFFT for finufft_test.cpp.

usage: finufft_peer.py FOLDER

Reads points.f64 (on a uniform grid of as many points), strengths.f64 [points] and profile.f64 [modes] (real,
imaginary). Writes type1.f64, modes 0 .. of sum c exp(-2 pi i m x / N), and type2.f64, Re sum over m of f exp(2 pi i m x
/ N). Exit status 77: FINUFFT is missing."""
import sys
from pathlib import Path

try:
    import finufft
    import numpy as np
except ImportError as error:
    print(error)
    sys.exit(77)

folder = Path(sys.argv[1])
points, strengths = (np.fromfile(folder / f"{name}.f64") for name in ("points", "strengths"))
profile = np.fromfile(folder / "profile.f64", np.complex128)
n, modes = len(points), len(profile)
angles = 2 * np.pi * points / n

# Modes -n/2 .. n/2 - 1.
both_sides = finufft.nufft1d1(angles, strengths.astype(complex), n, isign=-1, eps=1e-14)
both_sides[n // 2 : n // 2 + modes].tofile(folder / "type1.f64")
spectrum = np.zeros(n, complex)
spectrum[n // 2 : n // 2 + modes] = profile
finufft.nufft1d2(angles, spectrum, isign=1, eps=1e-14).real.tofile(folder / "type2.f64")
