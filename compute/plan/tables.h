// Everything that is computed once for a plan, on the host and in double: where each point of the uniform k grid lies
// between the samples, the interpolation weights, and window x shaping x dispersion folded into one complex vector.
// Formulas: docs/algorithms.md 2.5, 3.1-3.5, 3.8-3.10.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/plan/params.h"

namespace echolux {

// Lengths of the stages of one spectrum.
struct Lengths {
    std::int64_t samples = 0;     // N, as recorded
    std::int64_t pad_left = 0;    // zeros before the first sample
    std::int64_t padded = 0;      // N'
    std::int64_t upsampled = 0;   // M' = upsample * N'
    std::int64_t points = 0;      // M_k, of the uniform k grid
    std::int64_t transform = 0;   // M = zero_padding * M_k
    std::int64_t bins = 0;        // M / 2, depth bins before cropping; full range: M
    std::int64_t zero_delay = 0;  // the bin where it lies
};

Lengths lengths_of(const ScanGeometry& geometry, const Recipe& recipe);

// The uniform k grid.
struct KGrid {
    std::vector<double> positions;  // of each point, in recorded samples, not yet clamped
    double k_min_per_um = 0;        // both 0: the absolute scale is unknown
    double k_max_per_um = 0;        //
    double depth_pitch_um = 0;      // single trip in air, of a bin without zero padding; 0: unknown
};

KGrid k_grid(const Calibration& calibration, std::int64_t samples);

// Points of the k axis where a spectrum is known, and both names of each: where it lies on the uniform grid, and where
// among the recorded samples.
struct SpectrumPoints {
    std::vector<double> on_grid;  // 0 .. n - 1, between its points too
    std::vector<double> samples;
};

// The grid's own points; positions beyond the ends are clamped.
SpectrumPoints points_of_grid(const KGrid& grid);

// The recorded samples: the k map read backwards (natural spline, straight on beyond its ends; exact for wavelengths).
SpectrumPoints points_of_samples(const Calibration& calibration, const KGrid& grid);

// out[j] = sum over m < taps of weights[j * taps + m] * in[base[j] + m].
struct ResampleTable {
    std::int64_t taps = 1;
    bool prefilter = false;          // `in` are B-spline coefficients, the first one belonging to sample -1
    std::vector<std::int32_t> base;  // [points]
    std::vector<float> weights;      // [points][taps]
    std::vector<float> offset;       // [points], from sample base + 1, where weights are LagrangeCubic's; else empty
};

ResampleTable resample_table(Resample method, const KGrid& grid, const Calibration& calibration,
                             const Lengths& lengths);

// Phase theta of the sample arm on the k grid, [points] in rad: what dispersion compensation multiplies by exp(-i
// theta).
std::vector<double> dispersion_phase(const Recipe& recipe, const Calibration& calibration, const KGrid& grid);

// The same at any points of the k axis.
std::vector<double> dispersion_phase_at(const SpectrumPoints& points, const Recipe& recipe,
                                        const Calibration& calibration, const KGrid& grid);

// The source spectrum, background - dark, smoothed and brought to the k grid, [points] in counts.
std::vector<double> source_on_grid(const Recipe& recipe, const Calibration& calibration, const KGrid& grid);

// Window or shaping, times exp(-i theta), on the k grid.
struct SpectralWeight {
    std::vector<std::complex<float>> values;  // [points]
    bool real = true;                         // every imaginary part is zero: a real transform will do
    double sum = 1;                           // of the window or of the shaping target
};

SpectralWeight spectral_weight(const Recipe& recipe, const Calibration& calibration, const KGrid& grid);

// The same weight at any points of the k axis.
std::vector<std::complex<double>> spectral_weight_at(const SpectrumPoints& points, const Recipe& recipe,
                                                     const Calibration& calibration, const KGrid& grid);

}  // namespace echolux
