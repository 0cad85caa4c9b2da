// Camera of the simulated instrument: converts fringes to counts. Models reference light, dark level, shot noise,
// receiver noise, quantization and saturation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/simulate/spectrometer.h"

namespace echolux {

// Converts fringes to counts. Thread-safe after construction.
class LineScanCamera {
  public:
    LineScanCamera(const Simulation& simulation, const Spectrometer& spectrometer);

    // Converts one line: fringes[p] is relative to the reference light at sample p. `line` seeds the noise.
    void expose(std::span<const float> fringes, std::uint64_t line, std::span<std::uint16_t> counts) const;

    // Return calibration spectra, the means of many lines: with a blocked sample arm, and without light.
    std::vector<float> background() const;
    std::vector<float> dark() const;

  private:
    std::vector<float> averaged(float light, std::uint64_t key) const;

    std::vector<float> reference_;  // counts above dark
    std::vector<float> normal_;     // quantiles of the normal distribution
    float dark_ = 0;
    float full_scale_ = 0;
    float shot_variance_ = 0;  // counts^2 per count of light
    float read_variance_ = 0;  // counts^2
    std::uint64_t key_ = 0;
};

}  // namespace echolux
