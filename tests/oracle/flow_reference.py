"""Flow and scan order in double precision, written with NumPy only: the reference for flow_vectors_test.cpp.

It follows the formulas of docs/algorithms.md, not the C++ code. Bins are [b_scan, b_repeat, a_scan, a_repeat, depth].
"""
import numpy as np

DOPPLER = ("doppler", "power_doppler")


def looks_of(bins, method):
    """Returns [b_scan, a_scan, series, look, depth]. Neighbouring lines are looks of all A-scans except the last."""
    across_b = bins.swapaxes(1, 2).swapaxes(2, 3)  # b, a, a_repeat, b_repeat, z
    across_a = bins.swapaxes(1, 2)                 # b, a, b_repeat, a_repeat, z
    a_repeats, b_repeats = bins.shape[3], bins.shape[1]
    if b_repeats > 1 and (method not in DOPPLER or a_repeats == 1):
        return across_b
    if a_repeats > 1:
        return across_a
    lines = bins[:, 0, :, 0]
    return np.stack([lines[:, :-1], lines[:, 1:]], 2)[:, :, None]


def bulk_directions(earlier, later, least_power):
    """Returns the bulk direction of every pair along depth: the amplitude-weighted mean phase step, refined by three
    passes without outliers."""
    step = later * earlier.conj()
    tissue = (abs(earlier) ** 2 + abs(later) ** 2) / 2 >= least_power
    kept = tissue
    for _ in range(3):
        angle = np.angle(np.where(kept, step, 0).sum(-1, keepdims=True))
        kept = tissue & (abs(np.angle(step * np.exp(-1j * angle))) <= 0.4)
    total = np.where(kept, step, 0).sum(-1, keepdims=True)
    refused = (2 * kept.sum(-1, keepdims=True) < tissue.sum(-1, keepdims=True)) | (total == 0)
    return np.where(refused, 1, np.exp(1j * np.angle(total)))


def windowed_mean(x, width, axis):
    """Mean over [i - width // 2, i - width // 2 + width), clipped at the ends."""
    x = np.moveaxis(x, axis, 0)
    means = [x[max(0, i - width // 2):i - width // 2 + width].mean(0) for i in range(len(x))]
    return np.moveaxis(np.array(means), 0, axis)


def pairs_of(looks, removes_bulk, least_power):
    earlier, later = looks[:, :, :, :-1], looks[:, :, :, 1:]
    bulk = bulk_directions(earlier, later, least_power) if removes_bulk else np.ones(earlier.shape[:-1] + (1,))
    return earlier, later * bulk.conj(), bulk


def kasai(looks, flow, least_power):
    """Mean complex product and mean power over pairs and window, [b, a, z]."""
    earlier, later, _ = pairs_of(looks, flow.get("bulk_motion", False), least_power)
    product = (later * earlier.conj()).mean((2, 3))
    power = ((abs(earlier) ** 2 + abs(later) ** 2) / 2).mean((2, 3))
    widths = flow.get("window_lines", 4), flow.get("window_depth", 3)
    return [windowed_mean(windowed_mean(x, widths[0], 1), widths[1], 2) for x in (product, power)]


def correlation(a, b, reach):
    """1 - Pearson correlation of amplitudes over the window around each [b, position, series, pair, depth]."""
    out = np.zeros(a.shape)
    for p in range(a.shape[1]):
        for z in range(a.shape[-1]):
            at = np.s_[:, max(0, p - reach):p + reach + 1, :, :, max(0, z - reach):z + reach + 1]
            x, y = a[at] - a[at].mean((1, 4), keepdims=True), b[at] - b[at].mean((1, 4), keepdims=True)
            r = (x * y).sum((1, 4)) / np.sqrt((x * x).sum((1, 4)) * (y * y).sum((1, 4)))
            out[:, p, :, :, z] = 1 - r
    return out


def sub_band(bins, band, bands, transform, zero_padding):
    """Returns the bins of a Gaussian sub-band of the spectrum, computed from the bins kept in depth."""
    padded = np.zeros(bins.shape[:-1] + (transform,), complex)
    padded[..., :bins.shape[-1]] = bins
    spectrum = np.fft.ifft(padded)
    place = np.arange(transform) * zero_padding / transform  # 0..1 along the recorded spectrum
    sigma = 1 / (bands * np.sqrt(8 * np.log(2)))
    centre = (band + 0.5) / bands
    distance = (place - centre + zero_padding / 2) % zero_padding - zero_padding / 2  # transforms are periodic
    return np.fft.fft(spectrum * np.exp(-(distance / sigma) ** 2 / 2))[..., :bins.shape[-1]]


def decorrelation(a, b):
    return 1 - (a * b / ((a * a + b * b) / 2)).mean(3)


def angiogram(looks, method, flow, noise_power, least_power, transform, zero_padding):
    """Value before series are averaged, [b, a, series, z]."""
    earlier, later, bulk = pairs_of(looks, method in ("omag", "phase_variance"), least_power)
    amplitude = abs(looks)
    a, b = amplitude[:, :, :, :-1], amplitude[:, :, :, 1:]
    if method == "speckle_variance":
        return amplitude.var(3) / noise_power
    if method == "decorrelation":
        bands = flow.get("sub_bands", 1)
        if bands == 1:
            return decorrelation(a, b)
        filtered = [abs(sub_band(looks, band, bands, transform, zero_padding)) for band in range(bands)]
        return np.mean([decorrelation(x[:, :, :, :-1], x[:, :, :, 1:]) for x in filtered], 0)
    if method == "omag":
        return abs(later - earlier).mean(3) / np.sqrt(noise_power)
    if method == "phase_variance":
        return -2 * np.log(abs(np.exp(1j * np.angle(later * earlier.conj())).mean(3)))
    if method == "cdv":
        width = flow.get("window_depth", 3)
        product = abs(windowed_mean(looks[:, :, :, 1:] * looks[:, :, :, :-1].conj(), width, 4)).sum(3)
        power = windowed_mean((a * a + b * b) / 2, width, 4).sum(3)
        return np.sqrt(np.maximum(0, 1 - product / power))
    return correlation(a, b, flow.get("correlation_reach", 2)).mean(3)


def along_fast_axis(x, geometry, curve):
    """Resamples [frame, line, z] to evenly spaced A-scans, linearly between recorded lines; every second frame runs
    backwards."""
    x = np.concatenate([x, np.repeat(x[:, -1:], geometry["a_scans"] - x.shape[1], 1)], 1)
    if geometry.get("bidirectional", False):
        x = np.array([frame[::-1] if f % 2 else frame for f, frame in enumerate(x)])
    if curve is None:
        return x
    wanted = np.linspace(curve[0], curve[-1], len(curve))
    sign = np.sign(curve[-1] - curve[0])
    column = lambda v: np.interp(sign * wanted, sign * curve, v.real) + 1j * np.interp(sign * wanted, sign * curve, v.imag)
    found = np.apply_along_axis(column, 1, x)
    return found if np.iscomplexobj(x) else found.real


def fast_axis_curve(geometry, calibration):
    kind = geometry.get("fast_axis", "uniform")
    if kind == "uniform":
        return None
    if kind == "file":
        return calibration["fast_axis"]
    return np.sin(np.pi / 2 * geometry.get("sinusoidal_part", 0.9) * np.linspace(-1, 1, geometry["a_scans"]))


def unwrapped(phase, known):
    """[a, z]: Itoh unwrapping along each run of known bins. A run begins relative to the previous line if that is
    known."""
    out = np.full(phase.shape, np.nan)
    for a in range(len(phase)):
        z = 0
        while z < phase.shape[1]:
            if not known[a, z]:
                z += 1
                continue
            end = z
            while end < phase.shape[1] and known[a, end]:
                end += 1
            run = np.unwrap(phase[a, z:end])
            if a > 0 and known[a - 1, z]:
                run += 2 * np.pi * np.rint((out[a - 1, z] - run[0]) / (2 * np.pi))
            out[a, z:end] = run
            z = end
    return out


def computed(bins, geometry, flow, calibration, noise_floor_db, transform, zero_padding):
    """Mean product (or None), value (or None) and mean power of each output voxel, [b, a, z]."""
    method = flow["method"]
    noise_power = 10 ** (noise_floor_db / 10) / np.log(2)  # from the median (floor) to the mean
    least_power = noise_power * 10 ** (flow.get("threshold_db", 10) / 10)
    looks = looks_of(bins, method)
    curve = fast_axis_curve(geometry, calibration)
    place = lambda x: along_fast_axis(x, geometry, curve)
    if method in DOPPLER:
        product, power = [place(x) for x in kasai(looks, flow, least_power)]
        if method == "doppler":
            negative = geometry.get("depth_flip", False) != flow.get("invert", False)
            return (product.conj() if negative else product), None, power, least_power
        changed = np.maximum((power - product.real) / noise_power, 1)
        return None, 10 * np.log10(changed), power, least_power
    value = angiogram(looks, method, flow, noise_power, least_power, transform, zero_padding).mean(2)
    return None, place(value), place((abs(looks) ** 2).mean((2, 3))), least_power


def structure_power(bins, geometry, calibration, average):
    """Power of the output A-scans, with repeats averaged."""
    lines = bins.mean(3) if average == "complex" else bins[:, :, :, 0]
    if average == "power":
        lines = (abs(bins) ** 2).mean(3)
    if average == "magnitude":
        lines = abs(bins).mean(3)
    if average == "none":
        lines = abs(lines) ** 2
    frames = lines.reshape((-1,) + lines.shape[2:])
    placed = along_fast_axis(frames, geometry, fast_axis_curve(geometry, calibration))
    placed = placed.reshape((bins.shape[0], -1) + placed.shape[1:])
    if average == "none":
        return placed.reshape((-1,) + placed.shape[2:])
    joined = placed.mean(1)
    return joined if average == "power" else abs(joined) ** 2
