// Phase steps of whole lines, one array per component so that loops over depth vectorize.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/cpu/bins.h"
#include "compute/steps/flow.h"

namespace echolux::cpu {

// Products and powers of phase steps over depth.
struct StepPlanes {
    explicit StepPlanes(std::int64_t depth);

    void clear();

    // Adds the step of each bin between two lines.
    void add(const float* earlier, const float* later, Phasor bulk);

    void add(const StepPlanes& other, float weight);

    // Stores the sums of `other` over a depth window, each times its share.
    void sum_along_depth(const StepPlanes& other, std::int64_t width, const std::vector<float>& shares);

    PhaseStep at(std::size_t z) const { return {{re[z], im[z]}, power[z]}; }

    std::vector<float> re, im, power;  // [depth]
};

// Sums over the pairs of repeats at A-scan positions, cached for neighbours whose windows include the same position.
class PositionSteps {
  public:
    // Keeps `kept` consecutive positions.
    PositionSteps(std::int64_t depth, std::int64_t kept);

    void begin(const PositionBins& bins);
    const StepPlanes& of(std::int64_t position);

  private:
    PositionBins bins_{};
    std::vector<StepPlanes> steps_;
    std::vector<std::int64_t> held_;  // position in each slot; -1: empty
};

}  // namespace echolux::cpu
