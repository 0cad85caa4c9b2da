#!/usr/bin/env python3
"""Writes the test vectors of chain_test.cpp.

usage: generate_vectors.py FOLDER

One folder per case: settings.txt (section.field value), spectra.raw as stored by an instrument, one .f64 file per
calibration vector, and the results of reference.py. CASES and SEARCHES are the only tables of cases.
"""
import pathlib
import sys

import numpy as np

import reference

SAMPLES = 512
GRID = np.linspace(-1, 1, SAMPLES)
K_POSITIONS = (SAMPLES - 1) * (0.5 + 0.5 * (GRID + 0.06 * (GRID**2 - 1) - 0.03 * (GRID**3 - GRID))) + 0.3 * GRID
WAVELENGTHS = 845 + 80 * GRID + 2.5 * (GRID**2 - 1)
THETA = 21 * GRID**2 - 6 * GRID**3
BACKGROUND = 900 + 1100 * np.exp(-2.2 * (GRID + 0.1) ** 2)
NOISE_FLOOR = np.linspace(0.9, 0.3, SAMPLES // 2)  # amplitude of each depth bin
REPEATS = {"geometry.a_repeats": 2, "geometry.b_repeats": 3}
SOURCE = {"calibration.background": BACKGROUND, "calibration.dark": np.full(SAMPLES, 870.0)}
LINEAR = {"recipe.resample": "none", "recipe.dispersion": False}
EXACT = {"recipe.resample": "nudft"}
FAST = {"recipe.resample": "nufft", "nufft.oversampling": 2, "nufft.width": 8}
SEARCH = {"defr.double_precision": True}
SPARSE = {"recipe.method": "compressive", "compressive.transform": "exact", "compressive.iterations": 4,
          "compressive.mask": "file", "calibration.mask": (np.arange(SAMPLES) * 0.618 % 1 < 0.4).astype(float)}

CASES = {
    # transforms
    "default": {},
    "real_transform": {"recipe.dispersion": False},
    "zero_padding_2": {"recipe.zero_padding": 2},
    "zero_padding_4_real": {"recipe.zero_padding": 4, "recipe.dispersion": False},
    "odd_samples": {"geometry.samples": 383, **LINEAR},
    "not_a_power_of_two": {"geometry.samples": 480, **LINEAR},
    "depth_crop": {"recipe.depth_begin": 17, "recipe.depth_end": 200},
    "depth_crop_padded": {"recipe.depth_begin": 17, "recipe.depth_end": 200, "recipe.zero_padding": 2},
    "depth_flip": {"geometry.depth_flip": True},
    # stored samples
    "u8": {"format.sample_format": "u8"},
    "u32": {"format.sample_format": "u32"},
    "i16": {"format.sample_format": "i16"},
    "f32": {"format.sample_format": "f32"},
    "packed12": {"format.sample_format": "packed12"},
    "packed12_odd": {"format.sample_format": "packed12", "geometry.samples": 383, "format.line_bytes": 575, **LINEAR},
    "packed12_big": {"format.sample_format": "packed12", "format.byte_order": "big"},
    "u16_big": {"format.byte_order": "big"},
    "i16_big": {"format.sample_format": "i16", "format.byte_order": "big"},
    "u32_big": {"format.sample_format": "u32", "format.byte_order": "big"},
    "f32_big": {"format.sample_format": "f32", "format.byte_order": "big"},
    "high_bits": {"format.shift": 4},
    "masked": {"format.bits": 12},
    "shifted_and_masked": {"format.shift": 2, "format.bits": 12},
    "interleaved": {"format.channels": 3, "format.channel": 1},
    "planar": {"format.channels": 3, "format.channel": 2, "format.channel_layout": "planar"},
    "packed12_interleaved": {"format.sample_format": "packed12", "format.channels": 2, "format.channel": 1},
    "packed12_planar_odd": {"format.sample_format": "packed12", "geometry.samples": 383, "format.channels": 3,
                            "format.channel": 1, "format.channel_layout": "planar",
                            "format.line_bytes": 1724, **LINEAR},
    "line_gap": {"format.line_bytes": 2 * SAMPLES + 30},
    # backgrounds and fixed patterns
    "stored_background": {"recipe.background": "stored", "calibration.background": BACKGROUND},
    "automatic_stored": {"calibration.background": BACKGROUND},
    "running": {"recipe.background": "running", "recipe.running_alpha": 0.3},
    "median_background": {"recipe.background": "median"},
    "rolling": {"recipe.background": "rolling", "recipe.rolling_width": 32},
    "no_background": {"recipe.background": "none", "recipe.window": "blackman_harris", "recipe.depth_begin": 30},
    "median_pattern": {"recipe.fixed_pattern": "median"},
    "minimum_variance": {"recipe.fixed_pattern": "minimum_variance", "recipe.fixed_pattern_segments": 4},
    "repeats_frame_mean": {**REPEATS},
    "repeats_running": {"recipe.background": "running", **REPEATS},
    # resampling
    "no_resampling": {"recipe.resample": "none"},
    "no_map": {"calibration.k_positions": None},
    "k_polynomial": {"calibration.k_positions": None, "calibration.k_polynomial": [2.0, 470.0, 50.0, -12.0]},
    "descending_map": {"calibration.k_positions": K_POSITIONS[::-1]},
    "nearest": {"recipe.resample": "nearest"},
    "linear": {"recipe.resample": "linear"},
    "catmull_rom": {"recipe.resample": "catmull_rom"},
    "lagrange3_rect": {"recipe.window": "rect"},
    "spline": {"recipe.resample": "spline"},
    "spline_rect": {"recipe.resample": "spline", "recipe.window": "rect"},
    "linear_wavelength": {"recipe.resample": "linear_wavelength", "calibration.k_positions": None,
                          "calibration.wavelengths_nm": WAVELENGTHS},
    "linear_wavelength_descending": {"recipe.resample": "linear_wavelength", "calibration.k_positions": None,
                                     "calibration.wavelengths_nm": WAVELENGTHS[::-1]},
    "upsample_2_linear": {"recipe.upsample": 2, "recipe.resample": "linear"},
    "upsample_4_linear": {"recipe.upsample": 4, "recipe.resample": "linear"},
    "upsample_2_lagrange3": {"recipe.upsample": 2},
    "upsample_2_padded": {"recipe.upsample": 2, "recipe.upsample_pad": True, "recipe.resample": "linear"},
    # the exact transform
    "nudft": {**EXACT},
    "nudft_descending": {**EXACT, "calibration.k_positions": K_POSITIONS[::-1]},
    "nudft_wavelengths": {**EXACT, "calibration.k_positions": None, "calibration.wavelengths_nm": WAVELENGTHS},
    "nudft_wavelengths_falling": {**EXACT, "calibration.k_positions": None,
                                  "calibration.wavelengths_nm": WAVELENGTHS[::-1]},
    "nudft_polynomial": {**EXACT, "calibration.k_positions": None,
                         "calibration.k_polynomial": [2.0, 470.0, 50.0, -12.0]},
    "nudft_odd": {**EXACT, "geometry.samples": 383, "calibration.k_polynomial": [-0.4, 350.0, 40.0, -8.0]},
    "nudft_crop": {**EXACT, "recipe.depth_begin": 17, "recipe.depth_end": 200},
    "nudft_zero_padding_2": {**EXACT, "recipe.zero_padding": 2},
    "nudft_zoom": {**EXACT, "recipe.zero_padding": 4, "recipe.depth_begin": 60, "recipe.depth_end": 85},
    "nudft_rect": {**EXACT, "recipe.window": "rect"},
    "nudft_tukey": {**EXACT, "recipe.window": "tukey", "recipe.tukey_alpha": 0.3},
    "nudft_blackman_harris": {**EXACT, "recipe.window": "blackman_harris"},
    "nudft_gaussian": {**EXACT, "recipe.window": "gaussian", "recipe.gaussian_sigma": 0.2},
    "nudft_shaping": {**EXACT, "recipe.shaping": "gaussian", "recipe.shaping_fwhm": 0.45, **SOURCE},
    "nudft_shaping_hann": {**EXACT, "recipe.shaping": "hann", "recipe.shaping_floor": 0.2, **SOURCE},
    "nudft_femtoseconds": {**EXACT, "calibration.dispersion_rad": None, "recipe.gdd_fs2": 900, "recipe.tod_fs3": -1500,
                           "calibration.k_positions": None, "calibration.wavelengths_nm": WAVELENGTHS},
    "nudft_rolling": {**EXACT, "recipe.background": "rolling", "recipe.rolling_width": 32},
    "nudft_packed12": {**EXACT, "format.sample_format": "packed12"},
    "nudft_f32": {**EXACT, "format.sample_format": "f32"},
    "nudft_median_pattern": {**EXACT, "recipe.fixed_pattern": "median"},
    "nudft_average": {**EXACT, **REPEATS, "recipe.average": "power"},
    # the fast transform, with a kernel as accurate as float
    "nufft": {**FAST},
    "nufft_real": {**FAST, "recipe.dispersion": False},
    "nufft_gaussian_kernel": {**FAST, "nufft.kernel": "gaussian", "nufft.oversampling": 4, "nufft.width": 12},
    "nufft_exponential_kernel": {**FAST, "nufft.kernel": "exponential", "nufft.width": 9},
    "nufft_shaping": {**FAST, "recipe.shaping": "gaussian", "recipe.shaping_fwhm": 0.45, **SOURCE},
    "nufft_zoom": {**FAST, "recipe.zero_padding": 4, "recipe.depth_begin": 60, "recipe.depth_end": 85},
    # windows
    "rect": {"recipe.window": "rect", **LINEAR},
    "hamming": {"recipe.window": "hamming"},
    "blackman": {"recipe.window": "blackman"},
    "blackman_harris": {"recipe.window": "blackman_harris"},
    "tukey": {"recipe.window": "tukey", "recipe.tukey_alpha": 0.3},
    "gaussian": {"recipe.window": "gaussian", "recipe.gaussian_sigma": 0.2},
    # shaping
    "shaping_gaussian": {"recipe.shaping": "gaussian", "recipe.shaping_fwhm": 0.45, **SOURCE},
    "shaping_hann": {"recipe.shaping": "hann", "recipe.shaping_floor": 0.2, **SOURCE},
    # dispersion
    "correction_file": {"calibration.dispersion_holds": "correction", "calibration.dispersion_rad": -THETA},
    "coefficients": {"calibration.dispersion_rad": None, "recipe.a2_rad": 21, "recipe.a3_rad": -6},
    "file_and_coefficients": {"recipe.a2_rad": 3, "recipe.a3_rad": -2},
    "femtoseconds": {"calibration.dispersion_rad": None, "recipe.gdd_fs2": 900, "recipe.tod_fs3": -1500,
                     "calibration.k_positions": None, "calibration.wavelengths_nm": WAVELENGTHS,
                     "recipe.resample": "linear_wavelength"},
    # averaging
    "repeats_apart": {**REPEATS, "recipe.average": "none"},
    "average_magnitude": {**REPEATS, "recipe.average": "magnitude"},
    "average_power": {**REPEATS, "recipe.average": "power"},
    "noise_floor_amplitude": {"recipe.noise_floor": "amplitude", "calibration.noise_floor": NOISE_FLOOR},
    "noise_floor_power": {"recipe.noise_floor": "power", "calibration.noise_floor": NOISE_FLOOR},
    "average_complex": {**REPEATS, "recipe.average": "complex"},
}
# Methods with decisions: the last bit may change much, so these cases do not compare backends.
SEARCHES = {
    "defr": {**SEARCH, "recipe.method": "defr", "defr.iterations": 6},
    "defr_peaks_alone": {**SEARCH, "recipe.method": "defr", "defr.iterations": 3, "defr.residual": False, "defr.delta": 0.3},
    "defr_upsampled": {**SEARCH, "recipe.method": "defr", "defr.iterations": 4, "recipe.upsample": 2,
                       "recipe.resample": "linear", "recipe.depth_begin": 40, "recipe.depth_end": 460},
    "compressive": {**SPARSE},
    "compressive_real": {**SPARSE, "recipe.dispersion": False},
}
DEFAULTS = {
    "geometry.samples": SAMPLES, "geometry.a_scans": 8, "geometry.b_scans": 3,
    "format.sample_format": "u16", "recipe.background": "auto",
    "calibration.k_positions": K_POSITIONS, "calibration.dispersion_rad": THETA,
}


def spectra(shape, top, rng):
    """Counts up to about `top`: dispersed reflectors that move from line to line, on the warped k axis, with noise."""
    n = shape[-1]
    k = np.interp(np.arange(n), K_POSITIONS * (n - 1) / (SAMPLES - 1), np.arange(SAMPLES) * (n - 1) / (SAMPLES - 1))
    edge = 2 * k / (n - 1) - 1
    source = np.exp(-2.2 * (edge + 0.1) ** 2)
    fringe = np.zeros(shape)
    for depth, amplitude in ((0.06, 0.3), (0.14, 0.12), (0.23, 0.2), (0.31, 0.05)):
        phase = rng.uniform(0, 2 * np.pi, shape[:-1] + (1,))
        at = depth + 0.004 * rng.standard_normal(shape[:-1] + (1,))
        fringe += amplitude * np.cos(2 * np.pi * at * k + 21 * edge**2 - 6 * edge**3 + phase)
    noise = 0.004 * rng.standard_normal(shape)
    return np.clip(top * (0.2 + 0.45 * source * (1 + fringe) + noise), 0, top)


def packed12(values, order):
    """Packs two samples into three bytes bit by bit, starting with the lowest (little) or highest (big) bit of each
    sample."""
    bits = (values[..., None] >> np.arange(12)) & 1
    if order == "big":
        bits = bits[..., ::-1]
    return np.packbits(bits.reshape(values.shape[:-1] + (-1,)).astype(np.uint8), axis=-1, bitorder=order)


def stored_lines(values, form, rng):
    """Stores values [..., channels, samples], given after shift and mask, as bytes [..., line_bytes]."""
    kind, shift, bits = form["sample_format"], form.get("shift", 0), form.get("bits", 0)
    if form.get("channel_layout", "interleaved") == "interleaved":
        values = np.swapaxes(values, -1, -2)
    values = values.reshape(values.shape[:-2] + (-1,))
    if kind == "packed12":
        return packed12(values, form.get("byte_order", "little"))
    if shift:
        values = (values << shift) | rng.integers(0, 1 << shift, values.shape)
    if bits:
        values = values | (rng.integers(0, 1 << (16 - bits - shift), values.shape) << (bits + shift))
    order = ">" if form.get("byte_order") == "big" else "<"
    code = {"u8": "u1", "u16": "u2", "u32": "u4", "i16": "i2", "f32": "f4"}[kind]
    stored = np.ascontiguousarray(values.astype(order + code)).view(np.uint8)
    gap = form.get("line_bytes", stored.shape[-1]) - stored.shape[-1]
    return np.concatenate([stored, rng.integers(0, 256, stored.shape[:-1] + (gap,)).astype(np.uint8)], -1)


def section(settings, name):
    return {key.split(".")[1]: value for key, value in settings.items() if key.startswith(name + ".")}


def counts(shape, form, rng):
    kind = form["sample_format"]
    top = {"u8": 255, "u16": 4095, "u32": 4_000_000_000, "i16": 4095, "f32": 4095, "packed12": 4095}[kind]
    x = spectra(shape, top, rng)
    if kind == "f32":
        return x.astype(np.float32)
    return np.rint(x).astype(np.int64) - (2000 if kind == "i16" else 0)


def write_case(folder, settings, rng):
    geometry, form = section(settings, "geometry"), section(settings, "format")
    calibration = {key: value if isinstance(value, str) else np.asarray(value, float)
                   for key, value in section(settings, "calibration").items()}
    shape = tuple(geometry.get(key, 1) for key in ("b_scans", "b_repeats", "a_scans", "a_repeats", "samples"))
    channels = [counts(shape, form, rng) for _ in range(form.get("channels", 1))]
    folder.mkdir(parents=True, exist_ok=True)
    stored_lines(np.stack(channels, -2), form, rng).tofile(folder / "spectra.raw")

    recipe = {**section(settings, "recipe"), "defr": section(settings, "defr"),
              "compressive": section(settings, "compressive")}
    field, power, noise_floor_db = reference.reconstruct(
        channels[form.get("channel", 0)], geometry, recipe, calibration)
    if field is not None:
        field.tofile(folder / "expected_field.f64")
    power.tofile(folder / "expected_power.f64")
    lines = [f"expected.noise_floor_db {noise_floor_db:.6f}"]
    for key, value in settings.items():
        if isinstance(value, np.ndarray):
            value.astype("<f8").tofile(folder / (key.split(".")[1] + ".f64"))
        else:
            lines.append(f"{key} {str(value).lower()}")
    (folder / "settings.txt").write_text("\n".join(lines) + "\n")


def write_cases(folder, cases, list_name, first_seed):
    for number, (name, changes) in enumerate(cases.items()):
        settings = {**DEFAULTS, **changes}
        if settings["geometry.samples"] != SAMPLES:
            settings.update({"calibration.k_positions": None, "calibration.dispersion_rad": None})
        settings = {key: value for key, value in settings.items() if value is not None}
        write_case(folder / name, settings, np.random.default_rng(first_seed + number))
    (folder / list_name).write_text("\n".join(cases) + "\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    write_cases(folder, SEARCHES, "searches.txt", 1000)
    write_cases(folder, CASES, "cases.txt", 0)


if __name__ == "__main__":
    main()
