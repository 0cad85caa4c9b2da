"""Positions of samples in mm, in double precision from the definitions of docs/geometry.md. Shares no code with the program."""
import numpy as np
from scipy import signal

TERMS = [(n - j, j) for n in range(5) for j in range(n + 1)]  # powers of x and y


def polynomial(coefficients, x, y):
    return sum((c * x**i * y**j for c, (i, j) in zip(coefficients, TERMS)), np.zeros_like(x))


def lens(g, u, v):
    r2 = u**2 + v**2
    radial = 1 + g.get("radial_per_mm2", 0) * r2 + g.get("radial_per_mm4", 0) * r2**2
    bend = lambda terms, w: sum((c * w ** (n + 2) for n, c in enumerate(terms)), np.zeros_like(w))
    return (g.get("scale_x", 1) * u * radial + bend(g.get("bend_x", []), u), g.get("scale_y", 1) * v * radial + bend(g.get("bend_y", []), v))


def rotation(axis, angle):
    """Matrices [n, 3, 3] of right-handed rotations about x or y."""
    c, s, one, zero = np.cos(angle), np.sin(angle), np.ones_like(angle), np.zeros_like(angle)
    rows = {"x": [[one, zero, zero], [zero, c, -s], [zero, s, c]], "y": [[c, zero, s], [zero, one, zero], [-s, zero, c]]}[axis]
    return np.moveaxis(np.array(rows), 2, 0)


def fan(g, x, y, s):
    """The path of a beam as a chain of rotations about the two pivots, which lie above zero delay on the axis."""
    px, py = g.get("pivot_x_mm", 0), g.get("pivot_y_mm", 0)
    point = np.stack([np.zeros_like(s), np.zeros_like(s), s], -1)
    if px:
        pivot = np.array([0, 0, -px])
        point = np.einsum("nij,nj->ni", rotation("y", x / px), point - pivot) + pivot
    else:
        point[:, 0] += x
    if py:
        pivot = np.array([0, 0, -py])
        point = np.einsum("nij,nj->ni", rotation("x", -y / py), point - pivot) + pivot
    else:
        point[:, 1] += y
    return point


# ---- Galvanometers


def command(scan):
    """Positions (A-scan, B-scan) of the command at every line of a volume, and the line of each A-scan [b_scan][a_scan]."""
    a_scans, b_scans = scan["a_scans"], scan["b_scans"]
    flyback, frames = scan.get("flyback_lines", 0), scan.get("flyback_frames", 0)
    share = np.linspace(-1, 1, a_scans)
    if scan.get("fast_axis") == "sinusoidal":
        end = np.pi / 2 * scan["sinusoidal_part"]
        share = np.sin(end * share) / np.sin(end)
    forward = (share + 1) / 2 * (a_scans - 1)
    lines, starts = [], []
    for b in range(b_scans):
        backwards = scan.get("bidirectional", False) and b % 2 == 1
        starts.append((len(lines), backwards))
        lines += [(a, b) for a in (forward[::-1] if backwards else forward)]
        pause = flyback + (frames * (a_scans + flyback) if b == b_scans - 1 else 0)
        following = (b + 1) % b_scans
        to = np.array([forward[-1 if scan.get("bidirectional", False) and following % 2 == 1 else 0], following])
        last = np.array(lines[-1])
        for i in range(1, pause + 1):
            lines.append(tuple(last + (1 - np.cos(np.pi * i / (pause + 1))) / 2 * (to - last)))
    at = np.interp(np.arange(a_scans), forward, np.arange(a_scans))
    line_of = np.array([start + (a_scans - 1 - at if backwards else at) for start, backwards in starts])
    return np.array(lines), line_of


def follow(values, rate_hz, delay_s, resonance_hz, damping):
    """The periodic answer of an oscillator, at every line."""
    n, fine = len(values), 16
    t = np.arange(3 * n * fine) / fine  # in lines
    wanted = np.interp(t - delay_s * rate_hz, np.arange(n), values, period=n)
    if resonance_hz:
        w = 2 * np.pi * resonance_hz / rate_hz
        system = signal.StateSpace([[0, 1], [-w * w, -2 * damping * w]], [[0], [w * w]], [[1, 0]], [[0]])
        _, wanted, _ = signal.lsim(system, wanted, t, X0=[wanted[0], 0])
    return wanted[2 * n * fine::fine]


def scanned(g, scan, grid, a, b):
    """Position of the beam in the scan in mm, of A-scan a (any number) in B-scan b (a whole number)."""
    da, db = grid["spacing"][1] / 1000, grid["spacing"][2] / 1000
    if "pattern" in g:
        turn = a / scan["a_scans"]
        way = {"radial": lambda: (a - (scan["a_scans"] - 1) / 2) * da * np.exp(1j * np.pi * b / scan["b_scans"]),
               "circle": lambda: (b + 0.5) * db * np.exp(2j * np.pi * turn),
               "spiral": lambda: (b + turn) * db * np.exp(2j * np.pi * turn)}[g["pattern"]]()
        return way.real, way.imag
    if any(g.get(f"{name}_{axis}", 0) for name, axis in (("delay", "x_us"), ("delay", "y_us"), ("resonance", "x_hz"), ("resonance", "y_hz"))):
        lines, line_of = command(scan)
        real = [follow(lines[:, k], scan["line_rate_hz"], g.get(f"delay_{axis}_us", 0) * 1e-6, g.get(f"resonance_{axis}_hz", 0), g.get(f"damping_{axis}", 0.7))
                for k, axis in enumerate("xy")]
        whole = np.arange(scan["a_scans"])
        lag = [np.array([np.interp(line_of[i], np.arange(len(lines)), real[k]) - (whole, i)[k] for i in range(scan["b_scans"])]) for k in (0, 1)]
        a, b = (a + np.array([np.interp(one, whole, lag[0][i]) for one, i in zip(a, b.astype(int))]),
                b + np.array([np.interp(one, whole, lag[1][i]) for one, i in zip(a, b.astype(int))]))
    along, across = (a - (scan["a_scans"] - 1) / 2) * da, (b - (scan["b_scans"] - 1) / 2) * db
    return (across, along) if scan.get("protocol") == "raster_y" else (along, across)


def positions(g, scan, grid, row, a, b):
    """Positions [n, 3] of samples."""
    depth = grid["first"] + row * grid["spacing"][0]
    if g.get("polar"):
        turn = a / scan["a_scans"]
        angle = np.deg2rad(g.get("rotation_deg", 0)) + (-1 if g.get("turns_backwards") else 1) * 2 * np.pi * turn
        arm = (g.get("zero_radius_um", 0) + depth) / 1000 * np.exp(1j * angle)
        return np.stack([arm.real, arm.imag, (g.get("pullback_um") or grid["spacing"][2]) / 1000 * (b + turn)], -1)
    u, v = scanned(g, scan, grid, a, b)
    s = (depth - polynomial(g.get("path_um", []), u, v) / (g.get("refractive_index") or scan.get("refractive_index", 1))) / 1000
    return fan(g, *lens(g, u, v), s)
