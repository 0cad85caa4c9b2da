#include "compute/calibrate/dispersion_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "compute/calibrate/calibrate.h"
#include "compute/calibrate/fitting.h"
#include "compute/depth_entropy.h"
#include "compute/error.h"
#include "compute/fft/fft.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/choices.h"
#include "compute/plan/tables.h"

namespace echolux {

// ---- Removal of fixed lines: reflections inside the instrument that all A-scans contain at the same depth and
// strength, although their phase may drift. The spectrum that all lines of a block share up to a phase is the strongest
// direction of many lines, refined by weighted means that limit the influence of single bright reflectors.

namespace {

using Complex = std::complex<double>;
using Spectrum = std::vector<Complex>;

constexpr std::int64_t min_lines = 16, max_lines = 256;  // lines used

// The spectrum that the lines of a block share up to a phase.
class SharedSpectrum {
  public:
    explicit SharedSpectrum(const SpectraOnGrid& spectra)
        : spectra_(spectra), count_(std::min(max_lines, spectra.lines())), norms_(index(count_)) {
        for (std::int64_t l = 0; l < count_; ++l) {
            double power = 0;
            for (std::int64_t j = 0; j < spectra.points; ++j) power += std::norm(Complex(line(l)[j]));
            norms_[index(l)] = std::sqrt(power);
        }
    }

    // Returns the shared spectrum with norm 1, or zero if the lines share none.
    Spectrum found() const {
        constexpr int powers = 30, weighted_means = 10;
        Spectrum shared(line(0), line(0) + spectra_.points);
        for (int step = 0; step < powers; ++step) shared = strongest(shared);
        for (int step = 0; step < weighted_means; ++step) shared = evenly_held(shared);
        return shared;
    }

    // Returns whether all lines contain `shared` equally. The fourth moment of the moduli is then 1; it is 2 for
    // speckle and larger for single reflectors.
    bool is_held_by_all(const Spectrum& shared) const {
        constexpr double max_moment = 1.5;
        double second = 0, fourth = 0;
        for (std::int64_t l = 0; l < count_; ++l) {
            const double power = std::norm(part_in(l, shared));
            second += power / static_cast<double>(count_);
            fourth += power * power / static_cast<double>(count_);
        }
        return second > 0 && fourth < max_moment * second * second;
    }

  private:
    const std::complex<float>* line(std::int64_t l) const {
        return spectra_.values.data() + l * spectra_.lines() / count_ * spectra_.points;
    }

    Complex part_in(std::int64_t l, const Spectrum& shared) const {
        Complex sum = 0;
        for (std::size_t j = 0; j < shared.size(); ++j) sum += Complex(line(l)[j]) * std::conj(shared[j]);
        return sum;
    }

    template <class WeightOf>
    Spectrum mean(const WeightOf& weight_of) const {
        Spectrum sum(index(spectra_.points));
        for (std::int64_t l = 0; l < count_; ++l) {
            const Complex weight = weight_of(l);
            for (std::size_t j = 0; j < sum.size(); ++j) sum[j] += weight * Complex(line(l)[j]);
        }
        double power = 0;
        for (const Complex& value : sum) power += std::norm(value);
        const double scale = power > 0 ? 1 / std::sqrt(power) : 0;
        for (Complex& value : sum) value *= scale;
        return sum;
    }

    // One step of power iteration over lines of norm 1.
    Spectrum strongest(const Spectrum& shared) const {
        return mean([&](std::int64_t l) {
            const double norm = norms_[index(l)];
            return norm > 0 ? std::conj(part_in(l, shared)) / (norm * norm) : Complex();
        });
    }

    // Weights each line inversely to its remaining power and limits its modulus to the median.
    Spectrum evenly_held(const Spectrum& shared) const {
        std::vector<Complex> parts;
        std::vector<double> moduli;
        for (std::int64_t l = 0; l < count_; ++l) {
            parts.push_back(part_in(l, shared));
            moduli.push_back(std::abs(parts.back()));
        }
        std::nth_element(moduli.begin(), moduli.begin() + std::ssize(moduli) / 2, moduli.end());
        const double median = moduli[moduli.size() / 2];
        return mean([&](std::int64_t l) {
            const double modulus = std::abs(parts[index(l)]), norm = norms_[index(l)];
            const double rest = std::max(norm * norm - modulus * modulus, 1e-6 * norm * norm);
            if (modulus <= 0 || rest <= 0) return Complex();
            return std::conj(parts[index(l)]) * (std::min(modulus, median) / modulus / rest);
        });
    }

    const SpectraOnGrid& spectra_;
    std::int64_t count_;
    std::vector<double> norms_;
};

void take_out(const Spectrum& shared, SpectraOnGrid& spectra) {
    for (std::int64_t l = 0; l < spectra.lines(); ++l) {
        std::complex<float>* line = spectra.values.data() + l * spectra.points;
        Complex part = 0;
        for (std::size_t j = 0; j < shared.size(); ++j) part += Complex(line[j]) * std::conj(shared[j]);
        for (std::size_t j = 0; j < shared.size(); ++j) line[j] -= std::complex<float>(part * shared[j]);
    }
}

// Removes up to three fixed lines and returns their number. Returns 0 for fewer than 16 lines, which are too similar by
// chance.
std::int64_t take_out_fixed_lines(SpectraOnGrid& spectra) {
    constexpr std::int64_t most = 3;
    if (spectra.lines() < min_lines) return 0;
    for (std::int64_t found = 0; found < most; ++found) {
        const SharedSpectrum among(spectra);
        const Spectrum shared = among.found();
        if (!among.is_held_by_all(shared)) return found;
        take_out(shared, spectra);
    }
    return most;
}

// ---- Isolates depths in spectra: transform with the spec's dispersion, cut, and transform back.

struct Range {
    std::int64_t begin = 0, end = 0;
};

// Resolves 0 to the limits and checks the range. Throws Error{bad_setting}.
Range chosen(std::int64_t begin, std::int64_t end, std::int64_t min, std::int64_t all, const char* what) {
    const Range range{begin != 0 ? begin : min, end != 0 ? end : all};
    require(range.begin >= 0 && range.begin < range.end && range.end <= all,
            std::string(what) + " " + std::to_string(range.begin) + ":" + std::to_string(range.end) +
                " are outside the B-scan",
            "dispersion search", "stay within " + std::to_string(min) + ":" + std::to_string(all));
    return range;
}

// Returns 1 at the selected depths with a smooth slope around them, because a sharp cut would ring.
std::vector<float> depth_gate(const Range& depths, std::int64_t points) {
    constexpr std::int64_t slope = 8;  // bins
    std::vector<float> gate(index(points), 0.0F);
    for (std::int64_t z = std::max<std::int64_t>(0, depths.begin - slope); z < std::min(points / 2, depths.end + slope);
         ++z) {
        const std::int64_t outside = std::max({depths.begin - z, z - depths.end + 1, std::int64_t{0}});
        const double u = static_cast<double>(outside) / (slope + 1);
        gate[index(z)] = static_cast<float>(0.5 + 0.5 * std::cos(std::numbers::pi * u));
    }
    return gate;
}

// Returns the factors that apply the spec's dispersion compensation.
std::vector<std::complex<float>> shown_phasors(const ReconstructionSpec& spec, std::int64_t points) {
    std::vector<std::complex<float>> phasors(index(points), 1.0F);
    if (!spec.recipe.dispersion) return phasors;
    const std::vector<double> theta = dispersion_phase(spec.recipe, spec.calibration, k_grid(spec.calibration, points));
    std::transform(theta.begin(), theta.end(), phasors.begin(),
                   [](double phase) { return std::complex<float>(std::polar(1.0, -phase)); });
    return phasors;
}

// Checks that a selected region is wide enough for blur and contains a reflector. `power` covers all depths.
void require_reflector(const Range& depths, const std::vector<double>& power) {
    constexpr std::int64_t min_depths = 24, bands = 16;
    constexpr double min_above_noise = 1.5;
    require(
        depths.end - depths.begin >= min_depths,
        "depths " + std::to_string(depths.begin) + ":" + std::to_string(depths.end) + " are too few to measure a blur",
        "dispersion search", "choose at least " + std::to_string(min_depths) + " depths around the reflector");
    const auto mean = [&](std::int64_t begin, std::int64_t end) {
        return std::accumulate(power.begin() + begin, power.begin() + end, 0.0) / static_cast<double>(end - begin);
    };
    const std::int64_t all = std::ssize(power), width = std::max<std::int64_t>(1, all / bands);
    double quietest = mean(depths.begin, depths.end);
    for (std::int64_t z = first_row_past_zero_delay(all); z + width <= all; z += width) {
        quietest = std::min(quietest, mean(z, z + width));
    }
    require(mean(depths.begin, depths.end) > min_above_noise * quietest,
            "depths " + std::to_string(depths.begin) + ":" + std::to_string(depths.end) + " contain only noise",
            "dispersion search", "choose those of a reflector");
}

// Scales values to a root mean square of 1.
void scale_to_one(std::vector<std::complex<float>>& values) {
    double power = 0;
    for (const std::complex<float>& value : values) power += static_cast<double>(std::norm(value));
    require(power > 0, "the spectra are all zero", "dispersion search", "choose another B-scan");
    const auto scale = static_cast<float>(std::sqrt(static_cast<double>(values.size()) / power));
    for (std::complex<float>& value : values) value *= scale;
}

}  // namespace

void cut_depths(SpectraOnGrid& spectra, std::int64_t begin, std::int64_t end) {
    const std::int64_t n = spectra.points;
    const std::vector<float> gate = depth_gate({begin, end}, n);
    Fft forward(Fft::Kind::complex_forward, n), inverse(Fft::Kind::complex_inverse, n);
    const auto scale = 1 / static_cast<float>(n);
    for (std::int64_t l = 0; l < spectra.lines(); ++l) {
        std::copy_n(spectra.values.begin() + l * n, n, forward.complex_in());
        forward.execute();
        std::transform(gate.begin(), gate.end(), forward.complex_out(), inverse.complex_in(),
                       [scale](float g, std::complex<float> bin) { return scale * g * bin; });
        inverse.execute();
        std::copy_n(inverse.complex_out(), n, spectra.values.begin() + l * n);
    }
}

SpectraOnGrid isolated_spectra(const ReconstructionSpec& spec, const Block& block, const DispersionSearch& wanted,
                               const std::function<void()>& should_continue) {
    constexpr std::int64_t asked_every = 64;  // lines
    const std::int64_t n = spec.geometry.samples;
    const std::vector<float> spectra = windowed_spectra(spec, block);
    const Range depths =
        chosen(wanted.depth_begin, wanted.depth_end, first_row_past_zero_delay(n / 2), n / 2, "depths");
    const Range of_block = chosen(wanted.line_begin, wanted.line_end, 0, std::ssize(spectra) / n, "A-scans");
    const std::int64_t all = of_block.end - of_block.begin;
    const std::int64_t count = std::min(all, std::max<std::int64_t>(1, wanted.lines));
    const std::vector<std::complex<float>> phasors = shown_phasors(spec, n);
    const std::vector<float> gate = depth_gate(depths, n);

    SpectraOnGrid isolated{std::vector<std::complex<float>>(index(count * n)), n};
    std::vector<double> power(index(n / 2), 0.0);
    Fft forward(Fft::Kind::complex_forward, n), inverse(Fft::Kind::complex_inverse, n);
    for (std::int64_t i = 0; i < count; ++i) {
        if (should_continue && i % asked_every == 0) should_continue();
        const float* spectrum = spectra.data() + (of_block.begin + i * all / count) * n;
        std::transform(phasors.begin(), phasors.end(), spectrum, forward.complex_in(),
                       [](std::complex<float> t, float s) { return t * s; });
        forward.execute();
        for (std::size_t z = 0; z < power.size(); ++z)
            power[z] += std::norm(std::complex<double>(forward.complex_out()[z]));
        std::transform(gate.begin(), gate.end(), forward.complex_out(), inverse.complex_in(),
                       [](float g, std::complex<float> bin) { return g * bin; });
        inverse.execute();
        std::copy_n(inverse.complex_out(), n, isolated.values.begin() + i * n);
    }
    const bool is_chosen = wanted.depth_begin != 0 || wanted.depth_end != 0;
    if (is_chosen) require_reflector(depths, power);
    scale_to_one(isolated.values);
    return isolated;
}

namespace {

struct Trial {
    double a2 = 0, a3 = 0;
};

// Progress over all searches of a call; checks for cancellation.
struct Work {
    const ContinueCallback& should_continue;
    std::int64_t trials = 0;

    void begin(std::int64_t count) {
        constexpr double about_all = 1400;  // trials of a usual call; only the reported progress depends on it
        if (!should_continue(std::min(1.0, static_cast<double>(trials) / about_all))) {
            throw Error(ErrorCode::cancelled, "stopped", "dispersion search");
        }
        trials += count;
    }
};

// Entropies under trial coefficients, for spectra that already have the spec's own dispersion applied.
class Sharpness {
  public:
    Sharpness(const ReconstructionSpec& spec, const SpectraOnGrid& spectra, const DispersionSearch& wanted, Work& work)
        : entropy_(depth_entropy(spectra, wanted.processor)), range_(wanted.range_rad), work_(work),
          turned_(index(spec.geometry.samples), 0.0) {
        const KGrid grid = k_grid(spec.calibration, spec.geometry.samples);
        if (spec.recipe.dispersion) turned_ = dispersion_phase(spec.recipe, spec.calibration, grid);
        Recipe others = spec.recipe;
        others.a2_rad = others.a3_rad = 0;
        others.dispersion = true;
        fixed_ = dispersion_phase(others, spec.calibration, grid);
    }

    std::vector<double> at(const std::vector<Trial>& trials) {
        work_.begin(std::ssize(trials));
        return entropy_->of(phasors_of(trials));
    }

    // Returns the factors for the spectra, [trials][points].
    std::vector<std::complex<float>> phasors_of(const std::vector<Trial>& trials) const {
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
        return phasors;
    }

    double at(const Trial& trial) { return at(std::vector<Trial>{trial}).front(); }

    // Evaluates trials along a line. Those beyond the range are clamped to its ends.
    template <class TrialAt>
    ValuesAt along(const TrialAt& trial_at) {
        return [this, trial_at](const std::vector<double>& places) {
            std::vector<Trial> trials;
            for (const double place : places) trials.push_back(trial_at(within(place)));
            return at(trials);
        };
    }

    double within(double coefficient) const { return std::clamp(coefficient, -range_, range_); }

    // Returns the minimum near `start`, within the range.
    Minimum nearby(const Trial& start, double step) {
        return min_nearby(
            [this](double a2, double a3) {
                constexpr double beyond = 1e9;  // larger than any entropy
                return a2 == within(a2) && a3 == within(a3) ? at(Trial{a2, a3}) : beyond;
            },
            {start.a2, start.a3}, step);
    }

    Backend backend() const { return entropy_->backend(); }

  private:
    std::unique_ptr<DepthEntropy> entropy_;
    double range_;
    Work& work_;
    std::vector<double> turned_;  // phase already applied to the spectra [points]
    std::vector<double> fixed_;   // phase of the dispersion that is not searched [points]
};

// Returns the smallest local minimum over a2 away from the result.
std::optional<DispersionRival> rival_of(const DispersionResult& found, Sharpness& sharpness, double range) {
    constexpr int half = 40;      // grid points on either side
    constexpr int min_steps = 3;  // closer minima belong to the valley of the result
    std::vector<Trial> trials;
    for (int i = -half; i <= half; ++i) trials.push_back({range * i / half, found.a3_rad});
    const std::vector<double> entropies = sharpness.at(trials);
    std::optional<DispersionRival> rival;
    for (std::size_t i = 1; i + 1 < trials.size(); ++i) {
        const bool is_far = std::abs(trials[i].a2 - found.a2_rad) > min_steps * range / half;
        const bool is_minimum = entropies[i] < entropies[i - 1] && entropies[i] < entropies[i + 1];
        if (is_far && is_minimum && (!rival || entropies[i] < rival->entropy)) rival = {trials[i].a2, entropies[i]};
    }
    return rival;
}

// Alternates one-dimensional searches over a2 and a3 with shrinking ranges, then refines both by a simplex.
DispersionResult search_in(const SpectraOnGrid& spectra, const ReconstructionSpec& spec, const DispersionSearch& wanted,
                           Work& work) {
    constexpr int cycles = 3;
    Sharpness sharpness(spec, spectra, wanted, work);
    Trial best;
    double range = wanted.range_rad;
    for (int cycle = 0; cycle < cycles; ++cycle, range /= 4) {
        const auto along_a2 = sharpness.along([&](double a2) { return Trial{a2, best.a3}; });
        best.a2 = sharpness.within(min_along(along_a2, best.a2, range));
        const auto along_a3 = sharpness.along([&](double a3) { return Trial{best.a2, a3}; });
        best.a3 = sharpness.within(min_along(along_a3, best.a3, range));
    }
    const Minimum min = sharpness.nearby(best, range);
    DispersionResult found;
    found.a2_rad = min.place[0];
    found.a3_rad = min.place[1];
    found.entropy = min.value;
    const double given = spec.recipe.dispersion ? 1 : 0;
    found.entropy_before = sharpness.at(Trial{given * spec.recipe.a2_rad, given * spec.recipe.a3_rad});
    // An error of a2 by 40 rad spreads a reflector over 50 bins: the phase a2 kappa^2 has the slope 4 a2 / 2 pi bins at
    // either end of the spectrum.
    constexpr double blur_rad = 40;
    const std::vector<double> blurred =
        sharpness.at({Trial{found.a2_rad - blur_rad, found.a3_rad}, Trial{found.a2_rad + blur_rad, found.a3_rad}});
    found.entropy_blurred = std::min(blurred[0], blurred[1]);
    found.rival = rival_of(found, sharpness, wanted.range_rad);
    found.processor = sharpness.backend();
    return found;
}

// Returns the spectra without every fourth line, starting with `first`.
SpectraOnGrid without_a_quarter(const SpectraOnGrid& spectra, std::int64_t first) {
    SpectraOnGrid rest{{}, spectra.points};
    for (std::int64_t l = 0; l < spectra.lines(); ++l) {
        if (l % 4 == first) continue;
        const auto line = spectra.values.begin() + l * spectra.points;
        rest.values.insert(rest.values.end(), line, line + spectra.points);
    }
    return rest;
}

// Estimates standard errors by a jackknife over quarters of the lines. Searches without one quarter share most of their
// lines, so the variance of their results is multiplied by the number of parts minus 1.
void estimate_errors(DispersionResult& found, const SpectraOnGrid& spectra, const ReconstructionSpec& spec,
                     const DispersionSearch& wanted, Work& work) {
    constexpr std::int64_t parts = 4;
    constexpr double step_rad = 1;  // first step of each search, which starts at the result
    if (spectra.lines() < parts) return;
    std::array<std::array<double, parts>, 2> places{};
    for (std::int64_t part = 0; part < parts; ++part) {
        Sharpness sharpness(spec, without_a_quarter(spectra, part), wanted, work);
        const Minimum min = sharpness.nearby({found.a2_rad, found.a3_rad}, step_rad);
        for (const std::size_t c : {0U, 1U}) places[c][index(part)] = min.place[c];
    }
    const auto error = [](const std::array<double, parts>& of_parts) {
        const double mean = std::accumulate(of_parts.begin(), of_parts.end(), 0.0) / parts;
        double square = 0;
        for (const double value : of_parts) square += (value - mean) * (value - mean);
        return std::sqrt(square * (parts - 1) / parts);
    };
    found.a2_error_rad = error(places[0]);
    found.a3_error_rad = error(places[1]);
}

double power_of(const SpectraOnGrid& spectra) {
    return std::accumulate(
        spectra.values.begin(), spectra.values.end(), 0.0,
        [](double sum, std::complex<float> value) { return sum + static_cast<double>(std::norm(value)); });
}

// Returns the power of each depth bin.
std::vector<double> depth_power(const SpectraOnGrid& spectra) {
    const std::int64_t n = spectra.points;
    std::vector<double> power(index(n / 2), 0.0);
    Fft forward(Fft::Kind::complex_forward, n);
    for (std::int64_t l = 0; l < spectra.lines(); ++l) {
        std::copy_n(spectra.values.begin() + l * n, n, forward.complex_in());
        forward.execute();
        for (std::size_t z = 0; z < power.size(); ++z) {
            power[z] += std::norm(std::complex<double>(forward.complex_out()[z]));
        }
    }
    return power;
}

// Multiplies each line by `phasors`, or by their conjugates.
void turn(SpectraOnGrid& spectra, const std::vector<std::complex<float>>& phasors, bool is_back) {
    for (std::size_t i = 0; i < spectra.values.size(); ++i) {
        const std::complex<float> phasor = phasors[i % phasors.size()];
        spectra.values[i] *= is_back ? std::conj(phasor) : phasor;
    }
}

// Returns the best a2 of the depths before and beyond the median of the power, each searched separately. `phasors`
// apply the result of the whole search. Returns nothing if one of them is not sharp or a reflector is at the median.
std::optional<std::array<double, 2>> searched_halves(const SpectraOnGrid& spectra,
                                                     const std::vector<std::complex<float>>& phasors,
                                                     const ReconstructionSpec& spec, const DispersionSearch& wanted,
                                                     Work& work) {
    constexpr std::int64_t apart = 8;  // bins, the slope of the cut
    constexpr double max_between = 0.15, min_half = 0.2;
    SpectraOnGrid sharp = spectra;
    turn(sharp, phasors, false);
    std::vector<double> below = depth_power(sharp);
    std::partial_sum(below.begin(), below.end(), below.begin());
    const double all = below.back();
    const std::int64_t bins = std::ssize(below);
    const std::int64_t middle = std::lower_bound(below.begin(), below.end(), all / 2) - below.begin();
    if (middle <= 2 * apart || middle + 2 * apart >= bins) return {};
    const double nearer = below[index(middle - apart)], until = below[index(middle + apart)];
    if (until - nearer > max_between * all || std::min(nearer, all - until) < min_half * all) return {};
    std::array<double, 2> a2{};
    for (const std::size_t half : {0U, 1U}) {
        SpectraOnGrid part = sharp;
        cut_depths(part, half == 0 ? 0 : middle + apart, half == 0 ? middle - apart : bins);
        turn(part, phasors, true);
        const DispersionResult found = search_in(part, spec, wanted, work);
        if (!has_sharp_depths(found)) return {};
        a2[half] = found.a2_rad;
    }
    return a2;
}

// Scales the power to that of `others`, because the entropy assumes values near 1.
void scale_like(const SpectraOnGrid& others, SpectraOnGrid& spectra) {
    const auto scale = static_cast<float>(std::sqrt(power_of(others) / power_of(spectra)));
    for (std::complex<float>& value : spectra.values) value *= scale;
}

// Returns the entropy difference of two realizations of one image due to chance: about 1 / sqrt(number of values that
// share the power).
double chance(double entropy) {
    return std::exp(-entropy / 2);
}

}  // namespace

DispersionResult searched_dispersion(const ReconstructionSpec& spec, const Block& block, const DispersionSearch& wanted,
                                     const ContinueCallback& should_continue) {
    constexpr double something = 1e-6;  // share of the power; less is rounding error
    Work work{should_continue};
    const SpectraOnGrid all = isolated_spectra(spec, block, wanted, [&work] { work.begin(0); });
    SpectraOnGrid spectra = all;
    DispersionResult found;
    std::int64_t fixed_lines = take_out_fixed_lines(spectra);
    if (fixed_lines > 0 && power_of(spectra) > something * power_of(all)) {
        scale_like(all, spectra);
        found = search_in(spectra, spec, wanted, work);
    }
    if (fixed_lines == 0 || !has_sharp_depths(found)) {  // a mirror consists of a fixed line only
        fixed_lines = 0;
        spectra = all;
        found = search_in(spectra, spec, wanted, work);
    }
    estimate_errors(found, spectra, spec, wanted, work);
    const Sharpness sharpness(spec, spectra, wanted, work);
    found.a2_of_halves_rad =
        searched_halves(spectra, sharpness.phasors_of({{found.a2_rad, found.a3_rad}}), spec, wanted, work);
    found.fixed_lines = fixed_lines;
    found.trials = work.trials;
    return found;
}

bool has_sharp_depths(const DispersionResult& found) {
    constexpr double beyond_chance = 6;  // multiple of a difference by chance
    return found.entropy_blurred - found.entropy > beyond_chance * chance(found.entropy_blurred);
}

std::string doubt_about(const DispersionResult& found, double range_rad) {
    constexpr double end = 0.98, max_a2_error_rad = 5, max_a3_error_rad = 10, beyond_chance = 3;
    if (std::max(std::abs(found.a2_rad), std::abs(found.a3_rad)) > end * range_rad) {
        return fmt::format("is sharpest at the limit of the range, at a2 {:.1f} and a3 {:.1f} rad", found.a2_rad,
                           found.a3_rad);
    }
    constexpr double max_change_rad = 10;
    if (found.a2_of_halves_rad &&
        std::abs((*found.a2_of_halves_rad)[1] - (*found.a2_of_halves_rad)[0]) > max_change_rad) {
        return fmt::format(
            "is sharpest at a2 {:.1f} rad in the shallower and at {:.1f} rad in the deeper half of the signal",
            (*found.a2_of_halves_rad)[0], (*found.a2_of_halves_rad)[1]);
    }
    if (found.rival && found.rival->entropy - found.entropy < beyond_chance * chance(found.entropy)) {
        return fmt::format("is as sharp at a2 {:.1f} rad as at {:.1f} rad", found.rival->a2_rad, found.a2_rad);
    }
    if (found.a2_error_rad.value_or(0) > max_a2_error_rad || found.a3_error_rad.value_or(0) > max_a3_error_rad) {
        return fmt::format("leaves a2 uncertain by {:.1f} rad and a3 by {:.1f} rad", *found.a2_error_rad,
                           *found.a3_error_rad);
    }
    return {};
}

bool is_sharp(const DispersionResult& found, double range_rad) {
    constexpr double rounding = 1e-6;  // tolerance of the entropy
    return std::isfinite(found.a2_rad) && std::isfinite(found.a3_rad) && has_sharp_depths(found) &&
           doubt_about(found, range_rad).empty() && found.entropy <= found.entropy_before + rounding;
}

}  // namespace echolux
