#include "engine/simulate/sample_arm.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "compute/error.h"

namespace echolux {

using std::numbers::pi;

void SlabLists::clear() {
    for (List& list : lists) {
        list.u.clear();
        list.real.clear();
        list.imaginary.clear();
    }
}

SampleArm::SampleArm(const Simulation& s, const Scenery& scenery_in, const Spectrometer& spectrometer,
                     const SpectrumSum& sum_in)
    : scenery(scenery_in), sum(sum_in), beam_um(s.beam_radius_um), index(s.refractive_index),
      phase_per_um_(2 * spectrometer.k0_per_um * s.refractive_index) {
    const double depth_range = spectrometer.z_max_um() / index;
    const double cell_um3 = pi * beam_um * beam_um / 2 * spectrometer.coherence_um / index;
    const auto in_cell = static_cast<double>(s.scatterers_per_cell);
    density = in_cell / cell_um3;
    check_scatterers();
    // Power of the speckle: density * a^2 * (integral of the squared beam weight, pi w0^2 / 4) * (integral of the
    // squared point spread, 0.7526 of its FWHM).
    amplitude_ = s.brightness / std::sqrt(in_cell * 0.7526 / 2);
    focus_um_ = 0.4 * depth_range;
    if (s.confocal) rayleigh_um_ = pi * beam_um * beam_um * index / (s.centre_nm / 1000);
    const auto depths = static_cast<std::int64_t>(depth_range) + 2;
    for (std::int64_t depth = 0; depth < depths; ++depth) {
        sensitivity_.push_back(exact_sensitivity(spectrometer, static_cast<double>(depth)));
    }
}

void SampleArm::check_scatterers() const {
    constexpr double max = 2e8;  // about 4 GB
    const double seen_um2 = (scenery.width_um + 2 * reach_um()) * (2 * reach_um() + cell_um());
    double scatterers = scenery.layers.empty() ? 0 : density * scenery.deepest_um * seen_um2;
    for (const Tube& tube : scenery.tubes) scatterers += density * seen_um2 * 2 * tube.radius_um;
    if (scatterers > max) {
        throw Error(ErrorCode::bad_setting,
                    "one B-scan would need " + std::to_string(static_cast<std::int64_t>(scatterers / 1e6)) +
                        " million scatterers",
                    "simulation.scatterers_per_cell", "choose fewer, a larger beam_radius_um or fewer A-scans");
    }
}

double SampleArm::exact_sensitivity(const Spectrometer& spectrometer, double depth_um) const {
    const double defocus = rayleigh_um_ > 0 ? (depth_um - focus_um_) / rayleigh_um_ : 0;
    return spectrometer.roll_off(index * depth_um) / std::sqrt(1 + defocus * defocus);
}

double SampleArm::sensitivity(double depth_um) const {
    const double depth = std::clamp(depth_um, 0.0, static_cast<double>(sensitivity_.size() - 2));
    const auto below = static_cast<std::size_t>(depth);
    const double part = depth - static_cast<double>(below);
    return sensitivity_[below] * (1 - part) + sensitivity_[below + 1] * part;
}

double SampleArm::amplitude(double brightness, double z, double loss) const {
    return amplitude_ * brightness * sensitivity(z) * std::exp(-loss);
}

Echo SampleArm::echo(double z, double amplitude) const {
    const std::int64_t slab = sum.slab_of(index * z);
    const double phase = phase_per_um_ * z;
    return {slab, sum.place_in(slab, index * z), static_cast<float>(amplitude * std::cos(phase)),
            static_cast<float>(amplitude * std::sin(phase))};
}

}  // namespace echolux
