// Everything that is computed once per plan, on the host in double precision: the position of each point of the uniform
// k grid among the samples, interpolation weights, and window x shaping x dispersion as one complex vector. Formulas:
// docs/algorithms.md 2.5, 3.1-3.5, 3.8-3.10.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

// Length of a spectrum at each processing step.
struct Lengths {
    std::int64_t samples = 0;     // N, as recorded
    std::int64_t pad_left = 0;    // zeros before the first sample
    std::int64_t padded = 0;      // N'
    std::int64_t upsampled = 0;   // M' = upsample * N'
    std::int64_t points = 0;      // M_k, points of the uniform k grid
    std::int64_t transform = 0;   // M = zero_padding * M_k
    std::int64_t bins = 0;        // M / 2, depth bins before cropping; full range: M
    std::int64_t zero_delay = 0;  // bin of zero delay
};

// Returns the lengths for a geometry and recipe.
Lengths lengths_of(const ScanGeometry& geometry, const Recipe& recipe);

// The uniform k grid.
struct KGrid {
    std::vector<double> positions;  // sample position of each point, not clamped
    double k_min_per_um = 0;        // both 0 if the absolute scale is unknown
    double k_max_per_um = 0;        //
    double depth_pitch_um = 0;      // per bin without zero padding, single trip in air; 0: unknown
};

// Returns the k grid of a calibration. Without a k map, grid points are the samples.
KGrid k_grid(const Calibration& calibration, std::int64_t samples);

// Points on the k axis, each with its position on the uniform grid and among the recorded samples.
struct SpectrumPoints {
    std::vector<double> on_grid;  // 0 .. n - 1, fractional
    std::vector<double> samples;
};

// Returns the points of the grid. Positions beyond the ends are clamped.
SpectrumPoints points_of_grid(const KGrid& grid);

// Returns the recorded samples as points: the inverse k map. A natural spline, extrapolated linearly; exact for
// wavelengths.
SpectrumPoints points_of_samples(const Calibration& calibration, const KGrid& grid);

// out[j] = sum over m < taps of weights[j * taps + m] * in[base[j] + m].
struct ResampleTable {
    std::int64_t taps = 1;
    bool prefilter = false;          // `in` holds B-spline coefficients, starting with that of sample -1
    std::vector<std::int32_t> base;  // [points]
    std::vector<float> weights;      // [points][taps]
    std::vector<float> offset;       // [points], relative to sample base + 1, for LagrangeCubic weights only
};

// Returns the interpolation table of a method, for spectra padded and up-sampled as in `lengths`.
ResampleTable resample_table(Resample method, const KGrid& grid, const Calibration& calibration,
                             const Lengths& lengths);

// Returns the phase theta of the sample arm on the k grid, [points] in rad. Dispersion compensation multiplies by
// exp(-i theta).
std::vector<double> dispersion_phase(const Recipe& recipe, const Calibration& calibration, const KGrid& grid);

// Returns the same phase at arbitrary points.
std::vector<double> dispersion_phase_at(const SpectrumPoints& points, const Recipe& recipe,
                                        const Calibration& calibration, const KGrid& grid);

// Returns the source spectrum, background - dark, smoothed and interpolated to the k grid, [points] in counts.
std::vector<double> source_on_grid(const Recipe& recipe, const Calibration& calibration, const KGrid& grid);

// Window or shaping, times exp(-i theta), on the k grid.
struct SpectralWeight {
    std::vector<std::complex<float>> values;  // [points]
    bool real = true;                         // all imaginary parts are zero: a real transform suffices
    double sum = 1;                           // sum of the window or of the shaping target
};

SpectralWeight spectral_weight(const Recipe& recipe, const Calibration& calibration, const KGrid& grid);

// Returns the same weight at arbitrary points.
std::vector<std::complex<double>> spectral_weight_at(const SpectrumPoints& points, const Recipe& recipe,
                                                     const Calibration& calibration, const KGrid& grid);

}  // namespace echolux
