// Average of many A-scans over all depth bins: the noise floor of a recording without a sample, and the point spread
// function of a mirror that vibrates.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compute/reconstructor.h"

namespace echolux {

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
