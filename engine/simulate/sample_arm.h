// Optical model of the sample arm: beam profile, focus, roll-off, attenuation, phase, and the density of scatterers.
// Tissue and Blood place scatterers; SampleArm computes their signal.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "engine/simulate/scene.h"
#include "engine/simulate/spectrometer.h"
#include "engine/simulate/spectrum_sum.h"

namespace echolux {

// Scatterers seen by one line, grouped by slab.
struct SlabLists {
    struct List {
        std::vector<float> u, real, imaginary;
    };
    std::vector<List> lists;

    void clear();
};

// One scatterer in the form that SpectrumSum expects, without the beam's weight.
struct Echo {
    std::int64_t slab = 0;
    float u = 0;
    float real = 0;
    float imaginary = 0;
};

// Computes the signal of scatterers. Thread-safe after construction.
class SampleArm {
  public:
    // Keeps references to `scenery` and `sum`. Throws Error{bad_setting} if one B-scan needs more scatterers than fit
    // in memory.
    SampleArm(const Simulation& simulation, const Scenery& scenery, const Spectrometer& spectrometer,
              const SpectrumSum& sum);

    double reach_um() const { return 2 * beam_um; }  // um; scatterers further out contribute less than 4e-4
    double cell_um() const { return beam_um / 2; }   // um, width of a lateral column

    // Returns the amplitude of one tissue scatterer at depth z in um: brightness, roll-off, focus, attenuation
    // exp(-loss).
    double amplitude(double brightness, double z, double loss) const;
    double sensitivity(double depth_um) const;  // roll-off and focus
    // Returns the echo of a scatterer at depth `z` in um.
    Echo echo(double z, double amplitude) const;

    const Scenery& scenery;
    const SpectrumSum& sum;
    double beam_um = 0;
    double index = 1;
    double density = 0;  // scatterers per cubic micrometre

  private:
    void check_scatterers() const;
    double exact_sensitivity(const Spectrometer& spectrometer, double depth_um) const;

    double phase_per_um_ = 0;  // 2 k0 n
    double amplitude_ = 0;
    double focus_um_ = 0;
    double rayleigh_um_ = 0;           // 0 without focus
    std::vector<double> sensitivity_;  // sampled every micrometre
};

// Returns exp(x) for -80 <= x <= 0, accurate to 1e-6. Simple enough for compilers to vectorize.
inline float negative_exp(float x) {
    const float y = x * 1.44269504F;
    const auto whole = static_cast<std::int32_t>(y - 0.5F);
    const float t = (y - static_cast<float>(whole)) * 0.693147181F;
    const float series = 1 + t * (1 + t * (0.5F + t * (1.0F / 6 + t * (1.0F / 24 + t * (1.0F / 120 + t / 720)))));
    return series * std::bit_cast<float>((whole + 127) << 23);
}

// Returns the weight of a scatterer off the beam's axis; light passes the beam profile twice.
inline float beam_weight(float dx, float dy, float inverse_square) {
    return negative_exp(std::max(-2 * (dx * dx + dy * dy) * inverse_square, -80.0F));
}

}  // namespace echolux
