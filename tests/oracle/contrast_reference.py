"""Simulators of functional contrasts and their closed forms, in double precision. They share no code with the program.

Fields are complex, [moment][b][a][z], with the mean intensity 1.
"""
import numpy as np
from scipy.optimize import curve_fit
from scipy.special import spence

DECIBELS = 10 / np.log(10)
FRESH_SPECKLE_LIV = DECIBELS**2 * np.pi**2 / 6  # variance in dB^2 of exponentially distributed intensity


def circular(random, shape):
    """Complex normal numbers of mean power 1."""
    return (random.standard_normal(shape) + 1j * random.standard_normal(shape)) / np.sqrt(2)


# ---- dynamics


def diffusing_field(random, moments, shape, step_s, diffusion_um2_s, wavelength_um, index, particles=24):
    """Light from particles in Brownian motion: the phase of each follows the random walk of its depth, at 4 pi n / wavelength per
    um. A voxel holds `particles` of the same strength, so its field is nearly, but not exactly, Gaussian."""
    q = 4 * np.pi * index / wavelength_um
    phase = random.uniform(0, 2 * np.pi, (*shape, particles))
    field = np.empty((moments, *shape), complex)
    for t in range(moments):
        field[t] = np.exp(1j * phase).sum(-1) / np.sqrt(particles)
        phase += q * np.sqrt(2 * np.asarray(diffusion_um2_s)[..., None] * step_s) * random.standard_normal(phase.shape)
    return field


def field_correlation(delay_s, diffusion_um2_s, wavelength_um, index):
    q = 4 * np.pi * index / wavelength_um
    return np.exp(-q * q * diffusion_um2_s * np.asarray(delay_s))


def decibel_covariance(correlation):
    """Covariance in dB^2 of the levels of two complex normal numbers with this correlation: the dilogarithm of its square
    (J. W. Goodman, Speckle Phenomena in Optics, 2007, from the bivariate exponential distribution)."""
    return DECIBELS**2 * spence(1 - np.abs(correlation) ** 2)


def window_variance(moments, covariance):
    """Expectation of the unbiased variance of `moments` consecutive values with covariance(lag)."""
    lags = np.arange(moments)
    values = np.array([covariance(lag) for lag in lags])
    pairs = np.where(lags == 0, moments, 2 * (moments - lags))
    return (values[0] - (pairs * values).sum() / moments**2) * moments / (moments - 1)


def saturation(time, amplitude, rate):
    return amplitude * (1 - np.exp(-rate * time))


def expected_dynamics(window_s, step_s, covariance):
    """aLIV and swiftness: SciPy's fit to the expected LIV of each window."""
    sizes = np.rint(np.asarray(window_s) / step_s).astype(int) + 1
    liv = [window_variance(size, covariance) for size in sizes]
    (amplitude, rate), _ = curve_fit(saturation, window_s, liv, p0=(liv[-1], 2 / window_s[-1]))
    return amplitude, rate


def expected_correlation(moments, lag, covariance):
    """Expected autocovariance at a lag of a series whose own mean was removed."""
    rows = np.arange(moments)
    c = np.array([covariance(k) for k in range(moments)])[np.abs(rows[:, None] - rows)]
    centre = np.eye(moments) - 1 / moments
    return np.trace((centre @ c @ centre)[lag:, :moments - lag]) / (moments - lag)


def expected_spectrum(moments, covariance):
    """Expected one-sided periodogram without the mean, for frequencies 1 / moments ... 1 / 2 per step."""
    lags = np.arange(-(moments - 1), moments)
    c = np.array([covariance(abs(lag)) for lag in lags]) * (1 - np.abs(lags) / moments)
    k = np.arange(1, moments // 2 + 1)
    power = (c * np.cos(2 * np.pi * np.outer(k, lags) / moments)).sum(-1) / moments
    return np.where(2 * k == moments, 1, 2) * power


def amplitude_covariance(correlation, terms=200):
    """Covariance of the moduli of two complex normal numbers of power 1: pi/4 (2F1(-1/2, -1/2; 1; |rho|^2) - 1)."""
    r2, term, total = np.abs(correlation) ** 2, 1.0, 0.0
    for n in range(1, terms):
        term = term * ((n - 1.5) / n) ** 2 * r2
        total = total + term
    return np.pi / 4 * total


# ---- displacement


def moved(random, field, phase, snr_db):
    """The same speckle with phases [moment][b][a][z] in rad at several moments, with white noise of this signal-to-noise ratio."""
    still = field * np.exp(1j * phase)
    return still + circular(random, still.shape) * np.sqrt((np.abs(field) ** 2).mean() / 10 ** (snr_db / 10))


def compressed(random, shape, strain, row_um, wavelength_um, index, per_row=6, width=1.5):
    """Two moments [2][1][a][z] of point scatterers at any depth, seen through a Gaussian of this half width in rows, before and after
    depths grow by `strain` around the middle. Phase and speckle follow from the depths, as in an instrument."""
    a_scans, depth = shape
    z = random.uniform(-4 * width, depth + 4 * width, (a_scans, 1, per_row * depth))
    strength = circular(random, z.shape)
    rows = np.arange(depth)[:, None]
    moments = []
    for moment in (0, 1):
        at = z + moment * strain * (z - depth / 2)
        turned = strength * np.exp(4j * np.pi * index / wavelength_um * row_um * at)
        near = [np.exp(-(((at[a] - rows) / width) ** 2)) @ turned[a, 0] for a in range(a_scans)]
        moments.append(near)
    return np.array(moments)[:, None]


def phase_of_nm(nm, wavelength_um, index):
    return 4 * np.pi * index / wavelength_um * np.asarray(nm) / 1000


def slope_bound(snr, rows):
    """Cramer-Rao bound of the slope of a phase over windows of `rows` along the last axis, whose phases vary by 1 / SNR: the
    inverse of the Fisher matrix of offset and slope, by window."""
    windows = np.lib.stride_tricks.sliding_window_view(snr, rows, axis=-1)
    i = np.arange(rows)
    fisher = np.stack([np.stack([(windows * i**p).sum(-1) for p in pair], -1) for pair in ((0, 1), (1, 2))], -2)
    return np.sqrt(np.linalg.inv(fisher)[..., 1, 1])


# ---- polarisation

QUARTER_WAVE = np.array([[1, 1j], [1j, 1]]) / np.sqrt(2)  # at 45 degrees


def retarder(retardation, axis):
    """Jones matrix of one pass: the axis is delayed by half the retardation, the other one advanced."""
    c, s = np.cos(axis), np.sin(axis)
    rotation = np.moveaxis(np.array([[c, s], [-s, c]]), (0, 1), (-2, -1))
    half = np.exp(0.5j * np.asarray(retardation))
    phases = np.zeros((*half.shape, 2, 2), complex)
    phases[..., 0, 0], phases[..., 1, 1] = half, half.conj()
    return np.swapaxes(rotation, -1, -2) @ phases @ rotation


def returned(retardation, axis):
    """Jones matrices of light that returns from below each of these rows, last axis: all layers down and up again."""
    layers = retarder(retardation, axis)
    down = np.empty_like(layers)
    down[..., 0, :, :] = layers[..., 0, :, :]
    for z in range(1, layers.shape[-3]):
        down[..., z, :, :] = layers[..., z, :, :] @ down[..., z - 1, :, :]
    return np.swapaxes(down, -1, -2) @ down


def channels(matrices):
    """Fields of both detectors: horizontal light through the quarter-wave plate, the sample and the plate again."""
    return np.moveaxis(QUARTER_WAVE @ matrices @ QUARTER_WAVE @ np.array([1, 0]), -1, 0)


def retardation_and_axis(matrices):
    """Of symmetric unitary matrices, by their eigenvectors, which are real: 0 to pi/2 and 0 to pi."""
    values, vectors = np.linalg.eig(matrices)
    phase = np.angle(values[..., 0] * values[..., 1].conj())
    # The first eigenvector turned to the real plane by its largest component.
    first = vectors[..., :, 0]
    largest = np.take_along_axis(first, np.abs(first).argmax(-1)[..., None], -1)
    first = (first * np.abs(largest) / largest).real
    axis = np.arctan2(first[..., 1], first[..., 0])
    axis = np.where(phase < 0, axis + np.pi / 2, axis) % np.pi
    retardation = np.abs(phase) / 2
    return retardation, axis


def unitary(random):
    """A random lossless element, such as a fibre."""
    q, r = np.linalg.qr(random.standard_normal((2, 2)) + 1j * random.standard_normal((2, 2)))
    return q * (np.diag(r) / np.abs(np.diag(r)))


def diattenuator(transmission, axis):
    """Jones matrix of one pass that weakens the amplitude across the axis."""
    c, s = np.cos(axis), np.sin(axis)
    rotation = np.array([[c, s], [-s, c]])
    return rotation.T @ np.diag([1, transmission]) @ rotation
