// What the sample arm does to the light of a scatterer: beam profile, focus, roll-off, attenuation, phase; and how many
// scatterers there must be. Tissue and Blood place scatterers, SampleArm says how they count.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "engine/simulate/scene.h"
#include "engine/simulate/spectrometer.h"
#include "engine/simulate/spectrum_sum.h"

namespace echolux {

// The scatterers that one line sees, slab by slab.
struct SlabLists {
    struct List {
        std::vector<float> u, real, imaginary;
    };
    std::vector<List> lists;

    void clear();
};

// One scatterer as SpectrumSum takes it, without the beam's weight.
struct Echo {
    std::int64_t slab = 0;
    float u = 0;
    float real = 0;
    float imaginary = 0;
};

class SampleArm {
  public:
    // Throws Error{bad_setting} when one B-scan would need more scatterers than memory holds.
    SampleArm(const Simulation& simulation, const Scenery& scenery, const Spectrometer& spectrometer,
              const SpectrumSum& sum);

    double reach_um() const { return 2 * beam_um; }  // further out, a scatterer gives less than 4e-4
    double cell_um() const { return beam_um / 2; }   // of a lateral column

    // Amplitude of one scatterer of tissue at depth z: brightness, roll-off, focus, attenuation exp(-loss).
    double amplitude(double brightness, double z, double loss) const;
    double sensitivity(double depth_um) const;  // roll-off and focus
    Echo echo(double z, double amplitude) const;

    const Scenery& scenery;
    const SpectrumSum& sum;
    double beam_um = 0;
    double index = 1;
    double density = 0;  // scatterers in a cubic micrometre

  private:
    void check_scatterers() const;
    double exact_sensitivity(const Spectrometer& spectrometer, double depth_um) const;

    double phase_per_um_ = 0;  // 2 k0 n
    double amplitude_ = 0;
    double focus_um_ = 0;
    double rayleigh_um_ = 0;           // 0: no focus
    std::vector<double> sensitivity_;  // every micrometre
};

// exp(x) for -80 <= x <= 0, to 1e-6; simple enough for the compiler to vectorise.
inline float negative_exp(float x) {
    const float y = x * 1.44269504F;
    const auto whole = static_cast<std::int32_t>(y - 0.5F);
    const float t = (y - static_cast<float>(whole)) * 0.693147181F;
    const float series = 1 + t * (1 + t * (0.5F + t * (1.0F / 6 + t * (1.0F / 24 + t * (1.0F / 120 + t / 720)))));
    return series * std::bit_cast<float>((whole + 127) << 23);
}

// Weight of a scatterer off the beam's axis: light passes the beam profile twice.
inline float beam_weight(float dx, float dy, float inverse_square) {
    return negative_exp(std::max(-2 * (dx * dx + dy * dy) * inverse_square, -80.0F));
}

}  // namespace echolux
