"""The reconstruction chain in double precision, written with NumPy and SciPy only: the reference for tests/oracle.

It follows the formulas and shares no code with the C++ implementation. Arrays are [..., line, sample]; depth is last.
"""
import numpy as np
from scipy import signal
from scipy.interpolate import CubicSpline

WINDOWS = {
    "rect": lambda n, r: np.ones(n),
    "hann": lambda n, r: signal.windows.hann(n),
    "hamming": lambda n, r: signal.windows.hamming(n),
    "blackman": lambda n, r: signal.windows.blackman(n),
    "blackman_harris": lambda n, r: signal.windows.blackmanharris(n),
    "tukey": lambda n, r: signal.windows.tukey(n, r.get("tukey_alpha", 0.5)),
    "gaussian": lambda n, r: signal.windows.gaussian(n, r.get("gaussian_sigma", 0.15) * (n - 1)),
}

# An f32 transform is accurate to 1e-3 dB down to this level below its largest bin. Matters if zero delay is not
# cropped.
F32_RANGE_DB = 60
SPEED_OF_LIGHT_NM_PER_FS = 299.792458


def rolling_mean(x, width):
    """Mean over samples p-W+1 .. p+W, clipped at the edges."""
    n = x.shape[-1]
    total = np.concatenate([np.zeros(x.shape[:-1] + (1,)), np.cumsum(x, -1)], -1)
    p = np.arange(n)
    first, end = np.maximum(p - width + 1, 0), np.minimum(p + width, n - 1) + 1
    return (total[..., end] - total[..., first]) / (end - first)


def without_background(x, recipe, calibration):
    """x: [frame, line, sample]."""
    mode = recipe.get("background", "auto")
    if mode == "auto":
        mode = "stored" if "background" in calibration else "frame_mean"
    if mode == "none":
        return x
    if mode == "stored":
        return x - calibration["background"]
    if mode == "median":
        return x - np.median(x, 1, keepdims=True)
    if mode == "rolling":
        return x - rolling_mean(x, recipe.get("rolling_width", 64))
    mean = x.mean(1)
    if mode == "running":
        alpha = recipe.get("running_alpha", 0.1)
        for f in range(1, len(mean)):
            mean[f] = (1 - alpha) * mean[f - 1] + alpha * mean[f]
    return x - mean[:, None]


def upsampled(x, factor, pad):
    """Zero padding in the conjugate domain. Returns the line and the number of samples padded on its left."""
    n = x.shape[-1]
    left = 0
    if pad:
        padded = max(2048, 1 << (n - 1).bit_length())
        left = (padded - n) // 2
        x = np.concatenate([np.zeros(x.shape[:-1] + (left,)), x, np.zeros(x.shape[:-1] + (padded - n - left,))], -1)
        n = padded
    if factor == 1:
        return x, left
    spectrum = np.fft.rfft(x)
    wide = np.zeros(x.shape[:-1] + (n * factor // 2 + 1,), complex)
    wide[..., : n // 2 + 1] = spectrum
    if n % 2 == 0:
        wide[..., n // 2] *= 0.5
    return np.fft.irfft(wide, n * factor) * factor, left


def lagrange(x, at):
    base = np.clip(np.floor(at).astype(int), 1, x.shape[-1] - 3)
    out = 0
    for m in range(4):
        weight = np.ones_like(at)
        for n in range(4):
            if n != m:
                weight = weight * (at - (base - 1) - n) / (m - n)
        out = out + weight * x[..., base - 1 + m]
    return out


def catmull_rom(x, at):
    i = np.clip(np.floor(at).astype(int), 0, x.shape[-1] - 2)
    t = at - i
    a, b, c, d = (x[..., np.clip(i + o, 0, x.shape[-1] - 1)] for o in (-1, 0, 1, 2))
    return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)))


def interpolated(x, at, method):
    n = x.shape[-1]
    if method == "nearest":
        return x[..., np.clip(np.floor(at + 0.5).astype(int), 0, n - 1)]
    if method == "linear":
        i = np.clip(np.floor(at).astype(int), 0, n - 2)
        return x[..., i] * (1 - (at - i)) + x[..., i + 1] * (at - i)
    if method == "spline":
        return CubicSpline(np.arange(n), x, axis=-1, bc_type="natural")(at)
    return {"lagrange3": lagrange, "catmull_rom": catmull_rom}[method](x, at)


def uniform_wavelengths(wavelengths):
    k = 2 * np.pi / wavelengths
    return 2 * np.pi / np.linspace(k.min(), k.max(), len(k))


def linear_in_wavelength(x, wavelengths):
    target, order = uniform_wavelengths(wavelengths), np.argsort(wavelengths)
    return np.apply_along_axis(lambda line: np.interp(target, wavelengths[order], line[order]), -1, x)


def positions(n, calibration):
    if "k_positions" in calibration:
        return np.clip(calibration["k_positions"], 0, n - 1)
    if "k_polynomial" in calibration:
        return np.clip(np.polynomial.polynomial.polyval(np.linspace(0, 1, n), calibration["k_polynomial"]), 0, n - 1)
    return np.arange(n, dtype=float)


def resampled(x, recipe, calibration):
    method = recipe.get("resample", "lagrange3")
    if method == "linear_wavelength":
        return linear_in_wavelength(x, calibration["wavelengths_nm"])
    if method == "none":
        return x
    at = positions(x.shape[-1], calibration)
    factor = recipe.get("upsample", 1)
    x, left = upsampled(x, factor, recipe.get("upsample_pad", False))
    return interpolated(x, (at + left) * factor, method)


def dispersion(n, recipe, calibration):
    """Returns theta on the uniform k grid."""
    if not recipe.get("dispersion", True):
        return np.zeros(n)
    edge = np.linspace(-1, 1, n)
    theta = recipe.get("a2_rad", 0) * edge**2 + recipe.get("a3_rad", 0) * edge**3
    if "gdd_fs2" in recipe or "tod_fs3" in recipe:
        k = 2 * np.pi / calibration["wavelengths_nm"]
        half_band = SPEED_OF_LIGHT_NM_PER_FS * (k.max() - k.min()) / 2  # rad/fs
        theta = theta + recipe.get("gdd_fs2", 0) / 2 * (half_band * edge) ** 2
        theta = theta + recipe.get("tod_fs3", 0) / 6 * (half_band * edge) ** 3
    if "dispersion_rad" in calibration:
        sign = -1 if calibration.get("dispersion_holds") == "correction" else 1
        theta = theta + sign * calibration["dispersion_rad"]
    return theta


def target(n, recipe):
    edge = np.linspace(-0.5, 0.5, n)
    if recipe["shaping"] == "hann":
        return signal.windows.hann(n)
    return 0.5 ** ((2 * edge / recipe.get("shaping_fwhm", 0.5)) ** 2)


def smoothed(x, width):
    """Centred mean over an odd number of samples, clipped at the edges."""
    return np.array([x[max(0, p - width // 2) : p + width // 2 + 1].mean() for p in range(len(x))])


def spectral_weight(n, recipe, calibration):
    """Returns the factor of a spectrum without dispersion, and the sum by which the field is divided."""
    if recipe.get("shaping", "none") == "none":
        window = WINDOWS[recipe.get("window", "hann")](n, recipe)
        return window, window.sum()
    light = smoothed(calibration["background"] - calibration["dark"], recipe.get("shaping_smooth", 15))
    source = CubicSpline(np.arange(n), light, bc_type="natural")(positions(n, calibration))
    wanted = target(n, recipe)
    gain = wanted / np.maximum(source, recipe.get("shaping_floor", 0.05) * source.max())
    return gain * wanted.sum() / (gain * source).sum(), wanted.sum()


def grid_points(n, calibration):
    """Returns the position of each sample on the uniform k grid: the inverse k map, extrapolated linearly beyond its
    ends."""
    if "wavelengths_nm" in calibration:
        k = 2 * np.pi / calibration["wavelengths_nm"]
        return (n - 1) * (k - k.min()) / (k.max() - k.min())
    if "k_positions" in calibration:
        at = calibration["k_positions"]
    else:
        at = np.polynomial.polynomial.polyval(np.linspace(0, 1, n), calibration["k_polynomial"])
    order = np.argsort(at)
    x, y = at[order], np.arange(n, dtype=float)[order]
    p = np.arange(n)
    points = CubicSpline(x, y, bc_type="natural")(p)
    points = np.where(p < x[0], y[0] + (p - x[0]) * (y[1] - y[0]) / (x[1] - x[0]), points)
    return np.where(p > x[-1], y[-1] + (p - x[-1]) * (y[-1] - y[-2]) / (x[-1] - x[-2]), points)


def cosines(*a):
    return lambda u, r: sum((-1) ** i * c * np.cos(2 * np.pi * i * u) for i, c in enumerate(a))


# Windows at any u in 0..1 along the spectrum; exact_transform() compares them with SciPy's.
WINDOWS_AT = {
    "rect": lambda u, r: np.ones(u.shape),
    "hann": cosines(0.5, 0.5),
    "hamming": cosines(0.54, 0.46),
    "blackman": cosines(0.42, 0.5, 0.08),
    "blackman_harris": cosines(0.35875, 0.48829, 0.14128, 0.01168),
    "tukey": lambda u, r: np.sin(np.pi * np.minimum(0.5, np.minimum(u, 1 - u) / r.get("tukey_alpha", 0.5))) ** 2,
    "gaussian": lambda u, r: np.exp(-(((u - 0.5) / r.get("gaussian_sigma", 0.15)) ** 2) / 2),
}


def window_at(u, recipe):
    name, n = recipe.get("window", "hann"), 101
    window = WINDOWS_AT[name]
    assert np.allclose(window(np.linspace(0, 1, n), recipe), WINDOWS[name](n, recipe), rtol=0, atol=1e-14)
    return window(u, recipe)


def exact_transform(s, recipe, calibration):
    """A[z] = sum over samples of weight * |dk/dp| * exp(-i (2 pi z x / M + theta)) * sample, unscaled."""
    n = s.shape[-1]
    x = grid_points(n, calibration)
    share = np.where((x >= -0.5) & (x <= n - 0.5), abs(np.gradient(x)), 0)
    u = np.clip(x / (n - 1), 0, 1)
    if recipe.get("shaping", "none") == "none":
        weight = window_at(u, recipe)
    else:
        on_grid, _ = spectral_weight(n, recipe, calibration)  # only for its scale, which the grid determines
        light = smoothed(calibration["background"] - calibration["dark"], recipe.get("shaping_smooth", 15))
        source = CubicSpline(np.arange(n), light, bc_type="natural")(positions(n, calibration))
        floor = recipe.get("shaping_floor", 0.05) * source.max()
        middle = n // 2
        factor = on_grid[middle] * max(source[middle], floor) / target(n, recipe)[middle]
        wanted = np.sin(np.pi * u) ** 2
        if recipe["shaping"] == "gaussian":
            wanted = np.exp(-np.log(2) * ((2 * u - 1) / recipe.get("shaping_fwhm", 0.5)) ** 2)
        weight = factor * wanted / np.maximum(light, floor)
    edge = 2 * x / (n - 1) - 1
    theta = CubicSpline(np.linspace(-1, 1, n), dispersion(n, recipe, calibration), bc_type="natural")(edge.clip(-1, 1))
    length = n * recipe.get("zero_padding", 1)
    z = np.arange(length // 2)
    return s @ (weight * share * np.exp(-1j * (2 * np.pi / length * np.outer(z, x) + theta))).T


def full_range(s, recipe, calibration):
    """Separates both sides of zero delay by their dispersion (docs/transforms.md 8). `s` is windowed and on the k grid.
    The source is unknown, so gamma is that of the window."""
    n = s.shape[-1]
    phase = np.exp(1j * dispersion(n, recipe, calibration))
    weight, _ = spectral_weight(n, recipe, calibration)
    gamma = abs(np.fft.ifft(weight * phase.conj() ** 2)).max() / abs(np.fft.ifft(weight)).max()
    wanted = recipe["defr"]
    threshold = gamma + wanted.get("delta", 0.5) * (1 - gamma)
    f, found = s.copy(), 0
    left = np.fft.fft(f * phase.conj())
    for _ in range(wanted.get("iterations", 10)):
        peaks = np.where(abs(left) >= threshold * abs(left).max(-1, keepdims=True), left, 0)
        found = found + peaks
        f = f - 2 * (np.fft.ifft(peaks) * phase).real
        left = np.fft.fft(f * phase.conj())
    if wanted.get("residual", True):
        found = found + left
    return np.fft.fftshift(found, axes=-1)


def sparse(s, recipe, calibration):
    """Finds the sparsest profile by SpaRSA with clamped steps (docs/transforms.md 9), using the matrix itself. Checks
    that the final objective is never worse than that of an empty profile."""
    n = s.shape[-1]
    wanted, used = recipe["compressive"], calibration["mask"] == 1
    x = grid_points(n, calibration)
    theta = CubicSpline(np.arange(n), dispersion(n, recipe, calibration), bc_type="natural")(x.clip(0, n - 1))
    modes = np.arange(n // 2)
    matrix = np.exp(1j * (theta[used, None] + 2 * np.pi * np.outer(x[used], modes) / n)) / np.sqrt(n)
    share = np.where(modes == 0, 1, 2)

    def one(y):
        profile, residual, curvature = np.zeros(n // 2, complex), -y, 1.0
        tau = wanted.get("tau_relative", 0.01) * abs(matrix.conj().T @ y).max()

        def objective():
            return (residual**2).sum() / 2 + tau * (share * abs(profile)).sum()

        before = objective()
        for _ in range(wanted["iterations"]):
            moved = profile - matrix.conj().T @ residual / curvature
            length = abs(moved)
            following = moved * np.maximum(length - tau / curvature, 0) / np.maximum(length, 1e-300)
            step = following - profile
            seen = (matrix @ (share * step)).real
            profile, residual = following, residual + seen
            curvature = max((seen**2).sum() / (share * abs(step) ** 2).sum(), wanted.get("min_step", 0.1))
        assert objective() < before
        return profile / np.sqrt(n)

    return np.apply_along_axis(one, -1, s[..., used])


def fixed_pattern(a, recipe):
    """a: [frame, line, depth], complex."""
    mode = recipe.get("fixed_pattern", "none")
    if mode == "none":
        return a
    if mode == "median":
        return a - (np.median(a.real, 1, keepdims=True) + 1j * np.median(a.imag, 1, keepdims=True))
    segments = a.reshape(a.shape[0], recipe.get("fixed_pattern_segments", 8), -1, a.shape[-1])
    mean = segments.mean(2)
    variance = (abs(segments - mean[:, :, None]) ** 2).mean(2)
    least = np.take_along_axis(mean, variance.argmin(1)[:, None], 1)
    return a - least


def reconstruct(x, geometry, recipe, calibration):
    """Reconstructs x, [b_scans, b_repeats, a_scans, a_repeats, samples]. Returns the complex field or None, the power,
    and the noise floor in dB.

    Field and power are [b_scan, a_scan, depth].
    """
    b, rb, a, ra, n = x.shape
    s = without_background(x.reshape(b * rb, a * ra, n).astype(float), recipe, calibration)
    weight, scale = spectral_weight(n, recipe, calibration)
    method = recipe.get("method", "plain")
    if method == "compressive":
        field = sparse(s, recipe, calibration)
    elif method == "defr":
        field = full_range(resampled(s, recipe, calibration) * weight, recipe, calibration) / scale
    elif recipe.get("resample") in ("nudft", "nufft"):
        field = exact_transform(s, recipe, calibration) / scale
    else:
        s = resampled(s, recipe, calibration) * (weight * np.exp(-1j * dispersion(n, recipe, calibration)))
        length = n * recipe.get("zero_padding", 1)
        field = np.fft.fft(s, length)[..., : length // 2] / scale
    greatest_db = 20 * np.log10(abs(field).max())
    padding = recipe.get("zero_padding", 1)  # the depth range is in bins without zero padding
    field = field[..., recipe.get("depth_begin", 0) * padding : recipe.get("depth_end", 0) * padding or None]
    field = fixed_pattern(field, recipe)
    field, power = averaged(field.reshape(b, rb, a, ra, -1), geometry, recipe)
    level = noise_floor_db(power)
    floor = calibration.get("noise_floor")
    if recipe.get("noise_floor") == "amplitude":
        field, power = None, np.maximum(np.sqrt(power) - floor, 0) ** 2
    if recipe.get("noise_floor") == "power":
        field, power = None, np.maximum(power - floor**2, 0)
    return field, power, max(level, greatest_db - F32_RANGE_DB)


def averaged(field, geometry, recipe):
    b, rb, a, ra, depth = field.shape
    mode = recipe.get("average", "none")
    repeats = (1, 3)
    if mode == "magnitude":
        return None, abs(field).mean(repeats) ** 2
    if mode == "power":
        return None, (abs(field) ** 2).mean(repeats)
    field = field.mean(repeats) if mode == "complex" else field.reshape(b * rb, a * ra, depth)
    if geometry.get("depth_flip", False):
        field = field[..., ::-1]
    return field, abs(field) ** 2


def noise_floor_db(power):
    """Returns the median of the quietest of sixteen depth bands, without the first, which contains zero delay."""
    bands = np.array_split(power, 16, axis=-1)[1:]
    return 10 * np.log10(max(min(np.median(band) for band in bands), 1e-30))
