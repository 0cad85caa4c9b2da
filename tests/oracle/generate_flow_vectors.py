#!/usr/bin/env python3
"""Writes the test vectors of flow and scan order.

usage: generate_flow_vectors.py FOLDER

One folder per case: settings.txt (section.field value), spectra.raw in f32, and the results of flow_reference.py for
their bins. CASES is the only table of cases for both backends.
"""
import pathlib
import sys

import numpy as np

import flow_reference

SAMPLES = 128
DEFAULTS = {
    "geometry.samples": SAMPLES, "geometry.a_scans": 17, "geometry.b_scans": 3, "geometry.line_rate_hz": 70000,
    "format.sample_format": "f32", "calibration.centre_wavelength_nm": 840,
    "recipe.background": "none", "recipe.resample": "none", "recipe.window": "rect", "recipe.dispersion": False,
    "recipe.quantity": "intensity", "recipe.levels": "fixed", "recipe.noise_floor_db": -20,
}
MB = {"geometry.a_repeats": 4, "recipe.average": "power"}
BM = {"geometry.b_repeats": 4, "recipe.average": "magnitude"}
BOTH = {"geometry.a_repeats": 2, "geometry.b_repeats": 3, "recipe.average": "power"}
CURVE = np.cumsum(1 + 0.6 * np.sin(np.arange(17)))

CASES = {
    "doppler": {"flow.method": "doppler"},
    "doppler_one_voxel": {"flow.method": "doppler", "flow.window_depth": 1, "flow.window_lines": 1},
    "doppler_even_and_odd": {"flow.method": "doppler", "flow.window_depth": 4, "flow.window_lines": 3},
    "doppler_window_beyond_the_scan": {"flow.method": "doppler", "flow.window_depth": 32, "flow.window_lines": 40},
    "doppler_low_threshold": {"flow.method": "doppler", "flow.threshold_db": -40},
    "doppler_bulk": {"flow.method": "doppler", "flow.bulk_motion": True},
    "doppler_invert": {"flow.method": "doppler", "flow.invert": True},
    "doppler_flip": {"flow.method": "doppler", "geometry.depth_flip": True},
    "doppler_crop": {"flow.method": "doppler", "recipe.depth_begin": 9, "recipe.depth_end": 40},
    "doppler_padded": {"flow.method": "doppler", "recipe.zero_padding": 2},
    "doppler_mb": {"flow.method": "doppler", **MB},
    "doppler_bm": {"flow.method": "doppler", "flow.bulk_motion": True, **BM},
    "doppler_both": {"flow.method": "doppler", **BOTH},
    "doppler_unwrapped": {"flow.method": "doppler", "flow.unwrap": True},
    "doppler_unwrapped_flip": {"flow.method": "doppler", "flow.unwrap": True, "geometry.depth_flip": True},
    "doppler_bidirectional": {"flow.method": "doppler", "geometry.bidirectional": True},
    "doppler_mb_bidirectional": {"flow.method": "doppler", "geometry.bidirectional": True, **MB},
    "doppler_sinusoidal": {"flow.method": "doppler", "geometry.fast_axis": "sinusoidal"},
    "doppler_file_bidirectional": {"flow.method": "doppler", "geometry.fast_axis": "file",
                                   "geometry.bidirectional": True, "calibration.fast_axis": CURVE},
    "power_doppler": {"flow.method": "power_doppler"},
    "power_doppler_bulk": {"flow.method": "power_doppler", "flow.bulk_motion": True, **MB},
    "speckle_variance": {"flow.method": "speckle_variance", **BM},
    "speckle_variance_mb": {"flow.method": "speckle_variance", **MB},
    "decorrelation": {"flow.method": "decorrelation", **BM},
    "decorrelation_both": {"flow.method": "decorrelation", **BOTH},
    "split_spectrum": {"flow.method": "decorrelation", "flow.sub_bands": 4, **BM},
    "split_spectrum_padded": {"flow.method": "decorrelation", "flow.sub_bands": 3, "recipe.zero_padding": 2, **BM},
    "omag": {"flow.method": "omag", **BM},
    "omag_sinusoidal": {"flow.method": "omag", "geometry.fast_axis": "sinusoidal", **BM},
    "cdv": {"flow.method": "cdv", "flow.window_depth": 5, **BM},
    "correlation": {"flow.method": "correlation", **BM},
    "correlation_wide": {"flow.method": "correlation", "flow.correlation_reach": 4, **BOTH},
    "phase_variance": {"flow.method": "phase_variance", **BM},
    # scan order only
    "bidirectional": {"geometry.bidirectional": True},
    "bidirectional_repeats": {"geometry.bidirectional": True, "geometry.b_repeats": 3, "recipe.average": "power"},
    "bidirectional_repeats_apart": {"geometry.bidirectional": True, "geometry.b_repeats": 3},
    "sinusoidal": {"geometry.fast_axis": "sinusoidal", "geometry.sinusoidal_part": 0.7},
    "sinusoidal_magnitude": {"geometry.fast_axis": "sinusoidal", "geometry.b_repeats": 2,
                             "recipe.average": "magnitude"},
    "file_complex": {"geometry.fast_axis": "file", "geometry.bidirectional": True, "calibration.fast_axis": -CURVE,
                     "geometry.b_repeats": 2, "recipe.average": "complex"},
}


def fields(shape, rng):
    """Bins of speckle that is still except for a vessel, with bulk motion from line to line and noise 20 dB below."""
    b_scans, b_repeats, a_scans, a_repeats, depth = shape
    complex_normal = lambda s: (rng.standard_normal(s) + 1j * rng.standard_normal(s)) / np.sqrt(2)
    speckle = complex_normal((b_scans, 1, 1, 1, depth)) * np.exp(1j * rng.uniform(-0.3, 0.3, (b_scans, 1, a_scans, 1, 1)))
    z = np.arange(depth)
    brightness = np.where((z > depth // 8) & (z < 7 * depth // 8), 1, 0.03)
    vessel = np.clip(1 - ((z - depth // 3) / (depth / 8)) ** 2, 0, None)
    time = np.arange(a_scans)[:, None] * a_repeats + np.arange(a_repeats)
    time = time[None, :, :] + 50 * np.arange(b_repeats)[:, None, None]
    flow = np.exp(1j * 2.8 * time[None, ..., None] * vessel)
    changing = 1 - 0.5 * (vessel > 0) * rng.uniform(0, 1, shape)
    bulk = np.exp(1j * np.cumsum(0.4 * rng.standard_normal(shape[1:4])).reshape(shape[1:4]))
    return brightness * changing * speckle * flow * bulk[None, ..., None] + 0.1 * complex_normal(shape)


def section(settings, name):
    return {key.split(".")[1]: value for key, value in settings.items() if key.startswith(name + ".")}


def bins_of(spectra, recipe):
    padding = recipe.get("zero_padding", 1)
    bins = np.fft.rfft(spectra.astype(float), SAMPLES * padding)[..., :SAMPLES * padding // 2] / SAMPLES
    begin, end = recipe.get("depth_begin", 0) * padding, recipe.get("depth_end", 0) * padding
    return bins[..., begin:end or None]


def write_flow(folder, settings, bins):
    geometry, flow, recipe = section(settings, "geometry"), section(settings, "flow"), section(settings, "recipe")
    if "method" not in flow:
        return
    padding = recipe.get("zero_padding", 1)
    product, value, power, least = flow_reference.computed(
        bins, geometry, flow, section(settings, "calibration"), recipe["noise_floor_db"], SAMPLES * padding, padding)
    flipped = (lambda x: x[..., ::-1]) if geometry.get("depth_flip", False) else (lambda x: x)
    if flow.get("unwrap", False):
        known = power >= least
        mm_s_per_rad = settings["calibration.centre_wavelength_nm"] * 1e-6 * geometry["line_rate_hz"] / (4 * np.pi)
        value = np.array([flow_reference.unwrapped(np.angle(p), k) for p, k in zip(product, known)]) * mm_s_per_rad
        value, product = np.where(known, value, 0), None
    np.ascontiguousarray(flipped(power) / least).tofile(folder / "expected_margin.f64")
    if product is not None:
        np.ascontiguousarray(flipped(product)).tofile(folder / "expected_phasors.f64")
    else:
        np.ascontiguousarray(flipped(value)).tofile(folder / "expected_values.f64")


def write_case(folder, settings, rng):
    geometry, recipe = section(settings, "geometry"), section(settings, "recipe")
    shape = tuple(geometry.get(key, 1) for key in ("b_scans", "b_repeats", "a_scans", "a_repeats"))
    half = np.zeros(shape + (SAMPLES // 2 + 1,), complex)
    half[..., 1:-1] = fields(shape + (SAMPLES // 2 - 1,), rng)
    spectra = np.fft.irfft(half * SAMPLES, SAMPLES).astype(np.float32)
    folder.mkdir(parents=True, exist_ok=True)
    spectra.astype("<f4").tofile(folder / "spectra.raw")
    bins = bins_of(spectra, recipe)
    structure = flow_reference.structure_power(bins, geometry, section(settings, "calibration"),
                                               recipe.get("average", "none"))
    if geometry.get("depth_flip", False):
        structure = structure[..., ::-1]
    np.ascontiguousarray(structure).tofile(folder / "expected_power.f64")
    write_flow(folder, settings, bins)
    lines = []
    for key, value in settings.items():
        if isinstance(value, np.ndarray):
            value.astype("<f8").tofile(folder / (key.split(".")[1] + ".f64"))
        else:
            lines.append(f"{key} {str(value).lower()}")
    (folder / "settings.txt").write_text("\n".join(lines) + "\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    for number, (name, changes) in enumerate(CASES.items()):
        write_case(folder / name, {**DEFAULTS, **changes}, np.random.default_rng(number))
    (folder / "cases.txt").write_text("\n".join(CASES) + "\n")


if __name__ == "__main__":
    main()
