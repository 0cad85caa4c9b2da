#include "compute/calibrate/dispersion_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "compute/calibrate/least_value.h"
#include "compute/calibrate/probe.h"
#include "compute/cpu/fft.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/require.h"
#include "compute/tables.h"

namespace echolux {
namespace {

// Sums over depth bins from which the entropy of any number of lines follows.
struct Power {
    double sum = 0;
    double with_log = 0;  // sum of p ln p

    void add(double p) {
        if (p <= 0) return;
        sum += p;
        with_log += p * std::log(p);
    }
    double entropy() const { return std::log(sum) - with_log / sum; }
};

// Windowed spectra on the k grid, and the entropy of their depth profiles under a phase.
class Sharpness {
  public:
    Sharpness(const ReconstructionPlan& plan, const Block& block, const DispersionSearch& wanted)
        : points_(plan.geometry.samples), spectra_(windowed_spectra(plan, block)),
          begin_(wanted.depth_begin > 0 ? wanted.depth_begin : first_row_past_zero_delay(points_ / 2)),
          end_(wanted.depth_end > 0 ? std::min(wanted.depth_end, points_ / 2) : points_ / 2) {
        require(begin_ < end_, "no depth is left to look at", "dispersion search", "widen its depth range");
        choose_lines(wanted.lines);
        Recipe others = plan.recipe;
        others.a2_rad = others.a3_rad = 0;
        others.dispersion = true;
        fixed_ = dispersion_phase(others, plan.calibration, k_grid(plan.calibration, points_));
    }

    double entropy(double a2, double a3) {
        std::vector<std::complex<float>> turn(index(points_));
        for (std::size_t j = 0; j < turn.size(); ++j) {
            const double kappa = 2 * static_cast<double>(j) / static_cast<double>(points_ - 1) - 1;
            turn[j] = std::complex<float>(std::polar(1.0, -fixed_[j] - (a2 + a3 * kappa) * kappa * kappa));
        }
        std::array<Power, parts> powers{};
        parallel_for(0, parts, [&](std::int64_t part) { powers[index(part)] = power_of(part, turn); });
        Power all;
        for (const Power& power : powers) {
            all.sum += power.sum;
            all.with_log += power.with_log;
        }
        require(all.sum > 0, "the spectra hold nothing but zeros", "dispersion search", "choose another B-scan");
        return all.entropy();
    }

  private:
    static constexpr std::int64_t parts = 16;  // the same sums for any number of threads

    void choose_lines(std::int64_t most) {
        const std::int64_t all = std::ssize(spectra_) / points_;
        const std::int64_t count = std::min(all, std::max<std::int64_t>(1, most));
        for (std::int64_t i = 0; i < count; ++i) lines_.push_back(i * all / count);
        for (std::int64_t part = 0; part < parts; ++part) {
            transforms_.emplace_back(Fft::Kind::complex_forward, points_);
        }
    }

    Power power_of(std::int64_t part, const std::vector<std::complex<float>>& turn) {
        Fft& transform = transforms_[index(part)];
        Power power;
        for (std::int64_t i = part; i < std::ssize(lines_); i += parts) {
            const float* spectrum = spectra_.data() + lines_[index(i)] * points_;
            std::transform(turn.begin(), turn.end(), spectrum, transform.complex_in(),
                           [](std::complex<float> t, float s) { return t * s; });
            transform.execute();
            for (std::int64_t z = begin_; z < end_; ++z) {
                power.add(static_cast<double>(std::norm(transform.complex_out()[z])));
            }
        }
        return power;
    }

    std::int64_t points_;
    std::vector<float> spectra_;
    std::int64_t begin_, end_;
    std::vector<std::int64_t> lines_;
    std::vector<double> fixed_;  // phase of what is not searched for [points]
    std::vector<Fft> transforms_;
};

}  // namespace

DispersionFound searched_dispersion(const ReconstructionPlan& plan, const Block& block, const DispersionSearch& wanted,
                                    const GoesOn& goes_on) {
    constexpr int cycles = 3;
    constexpr std::int64_t about_all = 330;  // trials
    Sharpness sharpness(plan, block, wanted);
    DispersionFound found;
    const auto entropy_at = [&](double a2, double a3) {
        const double done = std::min(1.0, static_cast<double>(found.trials) / about_all);
        if (!goes_on(done)) throw Error(ErrorCode::cancelled, "stopped", "dispersion search");
        ++found.trials;
        return sharpness.entropy(a2, a3);
    };
    const double given = plan.recipe.dispersion ? 1 : 0;
    found.entropy_before = sharpness.entropy(given * plan.recipe.a2_rad, given * plan.recipe.a3_rad);

    double range = wanted.range_rad;
    for (int cycle = 0; cycle < cycles; ++cycle, range /= 4) {
        found.a2_rad = least_along([&](double a2) { return entropy_at(a2, found.a3_rad); }, found.a2_rad, range);
        found.a3_rad = least_along([&](double a3) { return entropy_at(found.a2_rad, a3); }, found.a3_rad, range);
    }
    const Minimum least =
        least_nearby([&](double a2, double a3) { return entropy_at(a2, a3); }, {found.a2_rad, found.a3_rad}, range);
    found.a2_rad = least.place[0];
    found.a3_rad = least.place[1];
    found.entropy = least.value;
    return found;
}

}  // namespace echolux
