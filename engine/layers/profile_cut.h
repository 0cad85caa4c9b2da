// Cuts one depth profile into pieces of constant brightness. Finds the exact maximum likelihood cut of exponentially
// distributed intensities by dynamic programming over all positions of all boundaries.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compute/steps/coarse_layers.h"

namespace echolux {

// Cuts profiles of `bins` bins. Reuses its buffers; use from one thread.
class ProfileCutter {
  public:
    ProfileCutter(std::vector<ProfileBoundary> boundaries, std::int64_t bins);

    // Returns the bin that begins below each boundary; empty if no cut fits the distances and polarities. All values of
    // `profile` must be positive.
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
    std::vector<double> sums_;        // prefix sums
    std::vector<float> pieces_;       // [end][begin]: cost of a piece
    std::vector<std::int32_t> from_;  // [boundary][end]: begin of the piece above
};

}  // namespace echolux
