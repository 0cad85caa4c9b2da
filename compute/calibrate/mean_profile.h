// What many A-scans look like on average, over all depth bins: the noise floor of a recording without sample, and the
// point spread of a mirror that trembles.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compute/reconstructor.h"

namespace echolux {

class MeanProfile {
  public:
    // A-scans come out as the spec's recipe says, but uncropped, as amplitudes in counts and with no noise floor
    // subtracted. Throws what planning throws.
    explicit MeanProfile(const ReconstructionSpec& spec);

    // A block of the spec, in host memory; blocks of a volume in their order.
    void add(const Block& block);

    std::int64_t lines() const { return lines_; }
    const VolumeGrid& grid() const { return reconstructor_->grid(); }

    // [depth bins], of at least one line.
    std::vector<double> amplitude() const;        // mean |A|
    std::vector<double> root_mean_power() const;  // of |A|^2

  private:
    std::vector<double> mean(const std::vector<double>& sum) const;

    std::unique_ptr<Reconstructor> reconstructor_;
    std::vector<float> amplitudes_;  // of a block
    std::int64_t lines_ = 0;
    std::vector<double> sum_, power_;
};

}  // namespace echolux
