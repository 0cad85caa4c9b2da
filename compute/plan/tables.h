// Everything that is computed once per plan, on the host in double precision: the position of each point of the uniform
// k grid among the samples, interpolation weights, and window x shaping x dispersion as one complex vector. Formulas:
// docs/algorithms.md 2.5, 3.1-3.5, 3.8-3.10.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/host_device.h"
#include "compute/plan/choices.h"
#include "compute/plan/params.h"
#include "compute/voxel_target.h"

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

// ---- data for runners -----------------------------------------------------------------------------------------------
// Plan data for runners in addition to the geometry: the tables from raw lines to depth bins, and from bins to voxels.
// Built once on the host so that all backends use the same numbers.

// Tables from a raw line to depth bins by a single transform.
struct PlainTables {
    Lengths lengths;
    ResampleTable resample;
    SpectralWeight weight;
    std::vector<float> real_weight;  // real parts of weight.values
    std::int64_t upsample = 1;
    std::int64_t rolling_width = 0;  // 0 without a rolling background
};

// Tables from depth bins to voxels.
struct VoxelTables {
    std::int64_t depth = 0;          // after cropping
    float scale = 1;                 // amplitude factor: 1 / sum of the window
    std::vector<float> noise_floor;  // amplitude [depth]; empty without one
    double reference_db = 0;         // level of 0 dB
    Recipe recipe;                   // uses average, noise_floor, quantity, voxel, low, high
    bool depth_flip = false;
};

// Range of values covered by the codes.
struct CodeRange {
    float low = 0;
    float high = 1;
};

// Build the tables of a validated spec.
PlainTables plain_tables(const ReconstructionSpec& spec);
VoxelTables voxel_tables(const ReconstructionSpec& spec, double weight_sum, DepthRange kept);

// Line and B-scan counts of a block.
struct BlockShape {
    std::int64_t frame_lines = 0;         // lines of an acquired B-scan
    std::int64_t frames = 0;              // max acquired B-scans per block
    std::int64_t outputs_per_b_scan = 0;  // output lines per B-scan position
    std::int64_t joined = 1;              // lines averaged into one output line

    std::int64_t lines() const { return frames * frame_lines; }
};

BlockShape block_shape(const ReconstructionSpec& spec, const VolumeGrid& grid);

// Checks that a block matches the spec. Throws Error{bad_setting}.
void check_block(const Block& block, const ReconstructionSpec& spec);

// ---- Maps the recorded lines of an acquired B-scan to evenly spaced A-scans (docs/algorithms.md, Scans). Every second
// acquired B-scan of a bidirectional scan is reversed. If the beam moves unevenly, an A-scan is a weighted mean of the
// two nearest recorded lines.

// Weighted mean of two recorded A-scan positions: (1 - next) of `first` plus `next` of the following one.
struct LineMix {
    std::int32_t first = 0;
    float next = 0;
};

// Returns the mixes [a_scans] of a B-scan that is not reversed. Empty if A-scans are recorded lines.
std::vector<LineMix> line_mixes(const ScanGeometry& geometry, const Calibration& calibration);

// (1 - next) of position `first` plus `next` of position `second`, in temporal order.
struct RecordedPositions {
    std::int64_t first;
    std::int64_t second;
    float next;
};

// Order in which a scan records its A-scan positions.
struct ScanOrder {
    std::int64_t a_scans = 1;
    bool bidirectional = false;

    // Returns whether a frame (an acquired B-scan), counted within the volume, is reversed.
    ECHOLUX_HD bool is_reversed(std::int64_t frame_of_volume) const {
        return bidirectional && frame_of_volume % 2 == 1;
    }

    // Converts between recorded A-scan position and position `a` along the fast axis, in either direction.
    ECHOLUX_HD std::int64_t recorded(std::int64_t a, bool reversed) const { return reversed ? a_scans - 1 - a : a; }

    // Returns the recorded positions that contribute to output A-scan `a`. Without `mixes` there is only one. A
    // reversed B-scan is a mirror image, so both lines of a mix are mirrored and keep their weights.
    ECHOLUX_HD RecordedPositions positions(std::int64_t a, bool reversed, const LineMix* mixes) const {
        if (mixes == nullptr) return {recorded(a, reversed), recorded(a, reversed), 0};
        return {recorded(mixes[a].first, reversed), recorded(mixes[a].first + 1, reversed), mixes[a].next};
    }
};

}  // namespace echolux
