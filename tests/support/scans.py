"""Scans and volumes for tests in Python, written without the program."""
from pathlib import Path

import numpy as np


def fringes(b_scans=4, a_scans=12, samples=256, seed=3):
    """Returns u16 spectra [b][a][k] of three reflectors whose depth drifts over the scan: linear in k, with noise."""
    noise = np.random.default_rng(seed)
    j = np.arange(samples)
    envelope = np.exp(-(((j - samples / 2) / (samples / 4)) ** 2))
    b, a = np.meshgrid(np.arange(b_scans), np.arange(a_scans), indexing="ij")
    spectra = 20000 * envelope + np.zeros((b_scans, a_scans, 1))
    for depth, height in [(20.3, 3000), (41.0, 1200), (77.6, 500)]:
        place = depth + 0.7 * b + 0.2 * a
        spectra = spectra + height * envelope * np.cos(2 * np.pi * place[..., None] * j / samples + 0.3 * a[..., None])
    spectra = spectra + 3000 + noise.normal(0, 40, spectra.shape)
    return np.clip(np.rint(spectra), 0, 65535).astype("<u2")


def toml_text(sections):
    def spelled(value):
        if isinstance(value, bool):
            return str(value).lower()
        return f'"{value}"' if isinstance(value, (str, Path)) else str(value)

    lines = []
    for section, keys in sections.items():
        lines.append(f"[{section}]")
        lines += [f"{key} = {spelled(value)}" for key, value in keys.items() if value is not None]
    return "\n".join(lines) + "\n"


def write_scan(folder, spectra=None, scan=None, calibration=None, recipe=None, name="scan.toml", raw="spectra.raw"):
    """Writes a TOML and a raw file with linear-k spectra. Keys with the value None are left out. Returns the TOML's
    path."""
    spectra = fringes() if spectra is None else spectra
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    spectra.tofile(folder / raw)
    b_scans, a_scans, samples = spectra.shape
    keys = {"file": raw, "sample_format": "u16", "samples": samples, "a_scans": a_scans, "b_scans": b_scans}
    sections = {
        "scan": {**keys, **(scan or {})},
        "calibration": calibration or {},
        "recipe": {"resample": "none", "levels": "fixed", **(recipe or {})},
    }
    (folder / name).write_text(toml_text(sections))
    return folder / name


def layered(seed=1, shape=(8, 40, 64)):
    """Speckle [b][a][z] of a bright layer, rows 20 to 39, between dark ones, in dB."""
    mean = np.full(shape, 0.01)
    mean[..., 20:40] = 1
    return (10 * np.log10(mean * np.random.default_rng(seed).exponential(1, shape) + 1e-9)).astype(np.float32)


def dome():
    """Depths in um of a surface of radius 8 mm, [surface][a_scan][b_scan] in steps of 0.1 mm, as `segment` writes them."""
    a, b = np.indices((25, 21)) * 0.1 - 1.1
    return (1000 + 1000 * (8 - np.sqrt(64 - a**2 - b**2)))[None]


def tube_velocities(a_scans, b_scans, depth, radius_um=25, peak_mm_s=10, slope=0.2):
    """Axial velocities [b][a][z] of laminar flow along the B-scans in the middle of the volume; voxels of 1.4 x 5 x 5
    um. Static tissue has a tiny velocity because 0 means unknown."""
    b, a, z = np.meshgrid(np.arange(b_scans), np.arange(a_scans), np.arange(depth), indexing="ij")
    y = 5 * (b - b_scans // 2)
    r = np.hypot(5 * (a - a_scans // 2), 1.4 * (z - depth // 2) - slope * y) / radius_um
    return np.where(r < 1, peak_mm_s * (1 - r * r) * slope, 0) + 1e-6


def write_nrrd(path, voxels, spacing_mm=(0.005, 0.0014, 0.005), unit="dB", quantity="db"):
    """f32 [b][a][z] in the orientation of files: columns are A-scans, rows are depth, slices are B-scans."""
    b_scans, a_scans, depth = voxels.shape
    header = (
        f"NRRD0004\ntype: float\ndimension: 3\nsizes: {a_scans} {depth} {b_scans}\nspacings: {spacing_mm[0]} {spacing_mm[1]} "
        f"{spacing_mm[2]}\nspace units: \"mm\" \"mm\" \"mm\"\nencoding: raw\nendian: little\necholux_quantity:={quantity}\n"
        f"echolux_unit:={unit}\n\n"
    )
    path.write_bytes(header.encode() + np.ascontiguousarray(np.swapaxes(voxels, 1, 2), "<f4").tobytes())


def write_series(path, voxels, step_s, spacing_mm=(0.005, 0.0014, 0.005), quantity=None, more=()):
    """f32 or complex64 [t][b][a][z] of a series, in the orientation of files. `more`: texts such as provenance."""
    times, b_scans, a_scans, depth = voxels.shape
    is_complex = np.iscomplexobj(voxels)
    quantity = quantity or ("complex" if is_complex else "db")
    axes = [("2", "none", "complex", "nan")] * is_complex
    axes += [(n, f"({','.join(str(spacing_mm[i] if i == j else 0) for j in range(3))})", "domain", "nan")
             for i, n in enumerate((a_scans, depth, b_scans))]
    axes.append((times, "none", "time", step_s))
    sizes, directions, kinds, spacings = (" ".join(str(axis[i]) for axis in axes) for i in range(4))
    header = ["NRRD0004", "type: float", f"dimension: {len(axes)}", "space: left-posterior-superior", f"sizes: {sizes}",
              f"space directions: {directions}", f"kinds: {kinds}", *([f"spacings: {spacings}", "units: " + '"" ' * (len(axes) - 1) + '"s"'] if step_s else []),
              'space units: "mm" "mm" "mm"', "endian: little", "encoding: raw", f"echolux_quantity:={quantity}",
              "echolux_unit:=" + {"db": "dB"}.get(quantity, "counts"), "echolux_spacing_known:=dab"]
    header += [f"echolux_provenance_{key}:={value}" for key, value in dict(more).items()]
    data = np.ascontiguousarray(np.swapaxes(voxels, 2, 3), "<c8" if is_complex else "<f4")
    Path(path).write_bytes(("\n".join(header) + "\n\n").encode() + data.tobytes())
