// Quantities measured from the spectra themselves: levels and fringes of blocks, statistics of whole recordings.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compute/plan/params.h"
#include "compute/reconstructor.h"
#include "compute/steps/sample.h"
#include "compute/voxel_target.h"

namespace echolux {

// Returns the level in dB (10 log10 of the scaled power) of the quietest depth band, for recipe.noise_floor_db = 0.
// This is the smallest median over bands of a sixteenth of the depth, excluding zero delay. `block` may hold several
// B-scans. Methods that leave no noise use the level of a single transform.
double measured_noise_floor_db(const ReconstructionSpec& spec, const Block& block);

// Returns the same level as a value for recipe.noise_floor_db. It is rounded so that files stay readable and the value
// does not depend on the last bits of a backend. Returns 0 for spectra without any noise (constant spectra), so that
// empty voxels stay at the bottom of the range.
double noise_floor_for_recipe(const ReconstructionSpec& spec, const Block& block);

// The depth at which the A-scans of a B-scan are most similar.
struct CommonFringe {
    std::int64_t bin = 0;
    double share = 0;  // power of the mean A-scan divided by the mean power at that depth, 0..1
};

// Returns the max of the mean A-scan among depths 10 dB above the median level. Tissue speckle has a share of about 1 /
// a_scans. A share near 1 indicates a mirror, a flat interface or a fixed line, which background = frame_mean removes.
// `block` holds one B-scan.
CommonFringe strongest_common_fringe(const ReconstructionSpec& spec, const Block& block);

// Returns the share of the power in the first 3 depth bins, 0 to 1, without the slow part of the raw spectra. It is
// small unless the k map is wrong. Uses the first lines of a block.
double share_at_zero_delay(const ReconstructionSpec& spec, const Block& block);

// Returns the factor, 0 to 2, by which the spec's dispersion must be scaled to make the lines of a block sharpest.
// Returns 1 if no factor is sharper by more than chance. The sign cannot be determined: real spectra show both sides.
double sharpest_dispersion_factor(const ReconstructionSpec& spec, const Block& block);

// Returns whether the lines of a block are sharper, by more than chance, if the wavelengths are read from the end.
// False without wavelengths.
bool is_sharper_with_reversed_wavelengths(const ReconstructionSpec& spec, const Block& block);

// Returns the share, 0..1, of the depth bins of the first lines of a block that are exactly zero.
double empty_share(const ReconstructionSpec& spec, const Block& block);

// ---- Reconstructs a single block with a modified recipe, to measure something in it.

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

// ---- statistics of whole recordings ---------------------------------------------------------------------------------
// Statistics of many raw lines: mean, min and max count of each sample, and the number of samples at full scale.
// Backgrounds, dark spectra and mirror spectra are means of such surveys.

// Returns the largest count of a sample, or nothing for floating-point samples.
std::optional<double> full_scale(const RawFormat& format);

// Consecutive lines of a block in host memory, counted over its acquired B-scans without flyback.
struct LineRange {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

// Returns the number of lines of a block.
std::int64_t lines_of(const Block& block, const ScanGeometry& geometry);

// Returns a pointer to line `line` of the block.
const std::byte* line_at(const Block& block, const RawFormat& format, const ScanGeometry& geometry, std::int64_t line);

// Accumulates the statistics.
class SpectrumSurvey {
  public:
    SpectrumSurvey(const RawFormat& format, const ScanGeometry& geometry);

    // Adds lines. The range must be inside the block, which must be in host memory.
    void add(const Block& block, const LineRange& range);

    std::int64_t lines() const { return lines_; }
    std::int64_t clipped() const { return clipped_; }  // samples at full scale

    // Counts [samples], after shift and mask. Requires at least one line.
    std::vector<double> mean() const;
    const std::vector<double>& min() const { return min_; }
    const std::vector<double>& max() const { return max_; }

  private:
    RawFormat format_;
    ScanGeometry geometry_;
    LineFormat reader_;
    std::optional<double> full_scale_;
    std::int64_t lines_ = 0;
    std::int64_t clipped_ = 0;
    std::vector<double> sum_, min_, max_;
};

// ---- Average of many A-scans over all depth bins: the noise floor of a recording without a sample, and the point
// spread function of a mirror that vibrates.

// Accumulates amplitude and power over blocks.
class MeanProfile {
  public:
    // A-scans follow the spec's recipe but are uncropped amplitudes in counts, without subtraction of a noise floor.
    // Throws what planning throws.
    explicit MeanProfile(const ReconstructionSpec& spec);

    // Adds the lines of a block in host memory. Blocks of a volume must be in order.
    void add(const Block& block);

    std::int64_t lines() const { return lines_; }
    const VolumeGrid& grid() const { return reconstructor_->grid(); }

    // Averages [depth bins]. Requires at least one line.
    std::vector<double> amplitude() const;        // mean |A|
    std::vector<double> root_mean_power() const;  // sqrt of the mean |A|^2

  private:
    std::vector<double> mean(const std::vector<double>& sum) const;

    std::unique_ptr<Reconstructor> reconstructor_;
    std::vector<float> amplitudes_;  // voxels of one block
    std::int64_t lines_ = 0;
    std::vector<double> sum_, power_;
};

}  // namespace echolux
