// Statistics of whole recordings: counts of each sample, and mean power of each depth bin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "compute/place.h"
#include "compute/reconstructor.h"
#include "compute/steps/sample.h"

namespace echolux {

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

// Average of many A-scans over all depth bins: the noise floor of a recording without a sample, and the point spread
// function of a mirror that vibrates.

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
