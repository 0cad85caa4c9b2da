// Phase steps of whole lines, one array for each part so that loops over depth vectorise.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/cpu/bins.h"
#include "compute/steps/flow.h"

namespace echolux::cpu {

struct StepPlanes {
    explicit StepPlanes(std::int64_t depth);

    void clear();

    // Adds the step of each bin from one line to another.
    void add(const float* earlier, const float* later, Phasor bulk);

    void add(const StepPlanes& other, float weight);

    // Becomes the sums of `other` over a window along depth, each times its `share`.
    void sum_along_depth(const StepPlanes& other, std::int64_t width, const std::vector<float>& shares);

    PhaseStep at(std::size_t z) const { return {{re[z], im[z]}, power[z]}; }

    std::vector<float> re, im, power;  // [depth]
};

// The sums over the pairs of repeats of an A-scan position, kept for the neighbours whose windows hold it too.
class PositionSteps {
  public:
    // `kept` positions that follow one another.
    PositionSteps(std::int64_t depth, std::int64_t kept);

    void begin(const PositionBins& bins);
    const StepPlanes& of(std::int64_t position);

  private:
    PositionBins bins_{};
    std::vector<StepPlanes> steps_;
    std::vector<std::int64_t> held_;  // position of each; -1: none
};

}  // namespace echolux::cpu
