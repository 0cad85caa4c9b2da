// The camera of the simulated instrument: from fringes to counts. Reference light, dark level, shot noise, receiver
// noise, quantisation, saturation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/simulate/spectrometer.h"

namespace echolux {

class LineScanCamera {
  public:
    LineScanCamera(const Simulation& simulation, const Spectrometer& spectrometer);

    // One line: fringes[p] relative to the reference light at sample p. `line` names the noise.
    void expose(std::span<const float> fringes, std::uint64_t line, std::span<std::uint16_t> counts) const;

    // What calibration measures, the mean of many lines: sample arm blocked, and no light at all.
    std::vector<float> background() const;
    std::vector<float> dark() const;

  private:
    std::vector<float> averaged(float light, std::uint64_t key) const;

    std::vector<float> reference_;  // counts above dark
    std::vector<float> normal_;     // quantiles of the normal distribution
    float dark_ = 0;
    float full_scale_ = 0;
    float shot_variance_ = 0;  // counts^2 for each count of light
    float read_variance_ = 0;  // counts^2
    std::uint64_t key_ = 0;
};

}  // namespace echolux
