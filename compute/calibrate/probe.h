// Reconstructs a single block with a modified recipe, to measure something in it.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "compute/place.h"
#include "compute/plan/params.h"

namespace echolux {

// Packed voxels of one block and their grid.
struct ProbedBlock {
    VolumeGrid grid;
    std::vector<std::byte> voxels;
};

// Returns all depth bins of the block's B-scans, following `recipe` but uncropped.
ProbedBlock probed(const ReconstructionSpec& spec, const Recipe& recipe, const Block& block);

// Returns the real spectra [lines][samples] of one-sided bins without zero padding, `bins` [lines][samples / 2], times
// `scale`. The bin between the halves is assumed to be zero.
std::vector<float> spectra_of(std::span<const std::complex<float>> bins, std::int64_t samples, double scale);

// Returns spectra as they enter the transform, without dispersion compensation: background subtracted, resampled,
// windowed or shaped, on the uniform k grid. Shape [lines of the block, counted like its grid][samples], in counts.
// Computed back from the complex depth bins, so that there is only one implementation from raw lines to the k grid.
std::vector<float> windowed_spectra(const ReconstructionSpec& spec, const Block& block);

// Returns the first depth row past zero delay, which holds autocorrelation terms and the foot of the DC peak.
std::int64_t first_row_past_zero_delay(std::int64_t depth);

}  // namespace echolux
