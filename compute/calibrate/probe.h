// Reconstructs a block once, with some of the recipe changed, to measure something in it.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "compute/place.h"
#include "compute/plan/params.h"

namespace echolux {

struct ProbedBlock {
    VolumeGrid grid;
    std::vector<std::byte> voxels;
};

// All depth bins of the block's B-scans, as `recipe` says but uncropped.
ProbedBlock probed(const ReconstructionSpec& spec, const Recipe& recipe, const Block& block);

// The real spectra, [lines][samples], whose one-sided bins without zero padding are `bins`, [lines][samples / 2]; times
// `scale`. The bin between the halves is taken as zero.
std::vector<float> spectra_of(std::span<const std::complex<float>> bins, std::int64_t samples, double scale);

// Spectra as they enter the transform, without dispersion compensation: subtracted, resampled, windowed or shaped, on
// the uniform k grid; [lines of the block as the grid counts them][samples], in counts. (Read back from the complex
// depth bins, so that there is one way from raw lines to the k grid, not two.)
std::vector<float> windowed_spectra(const ReconstructionSpec& spec, const Block& block);

// First depth row that is not zero delay: autocorrelation terms and the foot of the DC peak come before.
std::int64_t first_row_past_zero_delay(std::int64_t depth);

}  // namespace echolux
