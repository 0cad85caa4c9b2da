#include "compute/calibrate/dispersion_search.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "compute/calibrate/least_value.h"
#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/tables.h"

namespace echolux {
namespace {

struct Trial {
    double a2 = 0, a3 = 0;
};

// Entropies under trial coefficients, of spectra that already carry the spec's own dispersion.
class Sharpness {
  public:
    Sharpness(const ReconstructionSpec& spec, const Block& block, const DispersionSearch& wanted, const GoesOn& goes_on)
        : entropy_(depth_entropy(isolated_spectra(spec, block, wanted), wanted.processor)), goes_on_(goes_on),
          turned_(index(spec.geometry.samples), 0.0) {
        const KGrid grid = k_grid(spec.calibration, spec.geometry.samples);
        if (spec.recipe.dispersion) turned_ = dispersion_phase(spec.recipe, spec.calibration, grid);
        Recipe others = spec.recipe;
        others.a2_rad = others.a3_rad = 0;
        others.dispersion = true;
        fixed_ = dispersion_phase(others, spec.calibration, grid);
    }

    std::vector<double> at(const std::vector<Trial>& trials) {
        constexpr std::int64_t about_all = 400;
        const double done = std::min(1.0, static_cast<double>(trials_) / about_all);
        if (!goes_on_(done)) throw Error(ErrorCode::cancelled, "stopped", "dispersion search");
        trials_ += std::ssize(trials);
        std::vector<std::complex<float>> phasors;
        phasors.reserve(trials.size() * fixed_.size());
        const auto last = static_cast<double>(fixed_.size() - 1);
        for (const Trial& trial : trials) {
            for (std::size_t j = 0; j < fixed_.size(); ++j) {
                const double kappa = 2 * static_cast<double>(j) / last - 1;
                const double theta = fixed_[j] + (trial.a2 + trial.a3 * kappa) * kappa * kappa;
                phasors.emplace_back(std::polar(1.0, turned_[j] - theta));
            }
        }
        return entropy_->of(phasors);
    }

    double at(const Trial& trial) { return at(std::vector<Trial>{trial}).front(); }

    std::int64_t trials() const { return trials_; }
    Backend processor() const { return entropy_->processor(); }

  private:
    std::unique_ptr<DepthEntropy> entropy_;
    const GoesOn& goes_on_;
    std::vector<double> turned_;  // phase that the spectra carry already [points]
    std::vector<double> fixed_;   // phase of what is not searched for [points]
    std::int64_t trials_ = 0;
};

}  // namespace

DispersionFound searched_dispersion(const ReconstructionSpec& spec, const Block& block, const DispersionSearch& wanted,
                                    const GoesOn& goes_on) {
    constexpr int cycles = 3;
    Sharpness sharpness(spec, block, wanted, goes_on);
    const auto along = [&](const auto& trial_at) {
        return [&sharpness, trial_at](const std::vector<double>& places) {
            std::vector<Trial> trials;
            std::transform(places.begin(), places.end(), std::back_inserter(trials), trial_at);
            return sharpness.at(trials);
        };
    };
    Trial best;
    double range = wanted.range_rad;
    for (int cycle = 0; cycle < cycles; ++cycle, range /= 4) {
        best.a2 = min_along(along([&](double a2) { return Trial{a2, best.a3}; }), best.a2, range);
        best.a3 = min_along(along([&](double a3) { return Trial{best.a2, a3}; }), best.a3, range);
    }
    const Minimum min = min_nearby(
        [&](double a2, double a3) {
            return sharpness.at(Trial{a2, a3});
        },
        {best.a2, best.a3}, range);

    DispersionFound found;
    found.a2_rad = min.place[0];
    found.a3_rad = min.place[1];
    found.entropy = min.value;
    const double given = spec.recipe.dispersion ? 1 : 0;
    found.entropy_before = sharpness.at(Trial{given * spec.recipe.a2_rad, given * spec.recipe.a3_rad});
    constexpr double blur_rad = 40;
    const std::vector<double> blurred =
        sharpness.at({Trial{found.a2_rad - blur_rad, found.a3_rad}, Trial{found.a2_rad + blur_rad, found.a3_rad}});
    found.entropy_blurred = std::min(blurred[0], blurred[1]);
    found.trials = sharpness.trials();
    found.processor = sharpness.processor();
    return found;
}

bool has_sharp_depths(const DispersionFound& found) {
    constexpr double beyond_chance = 6;
    return found.entropy_blurred - found.entropy > beyond_chance * std::exp(-found.entropy_blurred / 2);
}

}  // namespace echolux
