// One depth profile cut into pieces of constant brightness: the most likely cut of exponentially distributed
// intensities, found exactly by dynamic programming over all places of all boundaries.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compute/steps/coarse_layers.h"

namespace echolux {

class ProfileCutter {
  public:
    ProfileCutter(std::vector<ProfileBoundary> boundaries, std::int64_t bins);

    // The bin that begins below each boundary. `profile` is above 0 everywhere. Empty: none fits distances and
    // polarities.
    std::vector<std::int64_t> operator()(std::span<const float> profile);

  private:
    void find_pieces(std::span<const float> profile);
    void next_boundary(const ProfileBoundary& boundary, const std::vector<float>& above, std::vector<float>& costs,
                       std::int32_t* from) const;
    ProfileCut cut() const { return {sums_.data(), static_cast<std::int32_t>(bins_)}; }
    float* pieces_to(std::int64_t end) { return pieces_.data() + end * stride_; }
    const float* pieces_to(std::int64_t end) const { return pieces_.data() + end * stride_; }

    std::vector<ProfileBoundary> boundaries_;
    std::int64_t bins_, stride_, longest_ = 0;
    std::vector<double> sums_;        // of the bins before
    std::vector<float> pieces_;       // [end][begin]: cost of a piece
    std::vector<std::int32_t> from_;  // [boundary][end]: where the piece above it begins
};

}  // namespace echolux
