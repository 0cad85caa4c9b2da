#include "engine/contrast/dynamics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "compute/error.h"
#include "compute/fft/fft.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"

namespace echolux {

template <>
const std::vector<Field<DynamicsRecipe>>& describe<DynamicsRecipe>() {
    using R = DynamicsRecipe;
    constexpr Effect effect = Effect::view;
    static const std::vector<Field<R>> fields{
        integer("window_depth", &R::window_depth, 1, 255, "rows", effect,
                "depth rows over which all maps except LIV are pooled")
            .odd(),
        integer("window_a_scans", &R::window_a_scans, 1, 255, "A-scans", effect,
                "A-scans over which all maps except LIV are pooled")
            .odd(),
        number("threshold_db", &R::threshold_db, -300, 300, "dB", effect,
               "voxels whose mean is darker have no value, because noise fluctuates like fast tissue")
            .special(-300, "none"),
        number("delay_from_s", &R::delay_from_s, 0, 1e6, "s", effect, "shortest delay of the OCDS").special(0, "auto"),
        number("delay_to_s", &R::delay_to_s, 0, 1e6, "s", effect,
               "longest delay of the OCDS; auto: a quarter of the series")
            .special(0, "auto"),
        numbers("bands_hz", &R::bands_hz, 0, 1e9, "Hz", effect,
                "four edges of the bands low, mid and high; empty: three bands of equal ratio"),
    };
    return fields;
}

const DynamicsMapText& text_of(DynamicsMap map) {
    static constexpr std::array<DynamicsMapText, dynamics_map_count> texts{{
        {"liv", "dB^2", "variance of the dB (LIV)"},
        {"aliv", "dB^2", "variance that longer windows approach (aLIV)"},
        {"swiftness", "1/s", "rate at which the variance approaches it"},
        {"ocds", "1/s", "slope at which the correlation of the dB decays (OCDS)"},
        {"mean_frequency", "Hz", "mean frequency of the amplitude"},
        {"bandwidth", "Hz", "standard deviation of the frequency"},
        {"low", "dB", "power of the amplitude in the lowest band"},
        {"mid", "dB", "power of the amplitude in the middle band"},
        {"high", "dB", "power of the amplitude in the highest band"},
    }};
    return texts[static_cast<std::size_t>(map)];
}

namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

}  // namespace

// ---- Saturation

SaturationFit::SaturationFit(std::vector<double> times) : times_(std::move(times)) {
    constexpr int steps = 48;
    constexpr double fastest = 3, slowest = 0.2;  // e-folds by the first time, by the last time
    slowest_ = std::log(slowest / times_.back());
    ratio_ = (std::log(fastest / times_.front()) - slowest_) / steps;
    for (int i = 0; i <= steps; ++i) curves_.push_back(curve(std::exp(slowest_ + i * ratio_)));
}

std::vector<double> SaturationFit::curve(double rate) const {
    std::vector<double> values;
    for (const double time : times_) values.push_back(-std::expm1(-rate * time));
    return values;
}

double SaturationFit::explained(const std::vector<double>& curve, const std::vector<double>& values) {
    double product = 0, squares = 0;
    for (std::size_t i = 0; i < curve.size(); ++i) {
        product += curve[i] * values[i];
        squares += curve[i] * curve[i];
    }
    return product * product / squares;
}

Saturation SaturationFit::operator()(const std::vector<double>& values) const {
    std::size_t best = 0;
    std::vector<double> scores;
    for (const std::vector<double>& one : curves_) scores.push_back(explained(one, values));
    for (std::size_t i = 1; i < scores.size(); ++i) {
        if (scores[i] > scores[best]) best = i;
    }
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    if (best == 0) return {none, none};
    const auto amplitude = [&](const std::vector<double>& one) {
        double product = 0, squares = 0;
        for (std::size_t i = 0; i < one.size(); ++i) product += one[i] * values[i], squares += one[i] * one[i];
        return product / squares;
    };
    if (best + 1 == scores.size()) return {amplitude(curves_[best]), none};
    const double before = scores[best - 1], after = scores[best + 1];
    const double bend = before - 2 * scores[best] + after;
    const double place = static_cast<double>(best) + (bend < 0 ? 0.5 * (before - after) / bend : 0);
    const double rate = std::exp(slowest_ + place * ratio_);
    return {amplitude(curve(rate)), rate};
}

// ---- What is measured

Dynamics::Dynamics(std::int64_t moments, double step_s, const DynamicsRecipe& recipe)
    : moments_(moments), step_s_(step_s), window_depth_(recipe.window_depth), window_a_scans_(recipe.window_a_scans),
      threshold_(recipe.threshold_db > -300 ? std::pow(10, recipe.threshold_db / 10) : 0) {
    if (moments < min_moments) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("holds {}, at least {} are needed", plural(moments, "moments"), min_moments),
                    "dynamics", "give a longer series");
    }
    find_windows();
    find_delays(recipe);
    find_bands(recipe);
    liv_.assign(sizes_.size(), 0);
    covariance_.assign(index(moments / 2 + 1), 0);
    spectrum_.assign(index(moments / 2 + 1), 0);
}

// Sizes from two moments to all in even ratios.
void Dynamics::find_windows() {
    constexpr int count = 16;
    for (int i = 0; i < count; ++i) {
        const double size = 2 * std::pow(static_cast<double>(moments_) / 2, static_cast<double>(i) / (count - 1));
        const auto rounded = static_cast<std::int64_t>(std::llround(size));
        if (sizes_.empty() || rounded > sizes_.back()) sizes_.push_back(rounded);
    }
    std::vector<double> durations;
    for (const std::int64_t size : sizes_) durations.push_back(step_s_ * static_cast<double>(size - 1));
    saturation_ = SaturationFit(std::move(durations));
}

void Dynamics::find_delays(const DynamicsRecipe& recipe) {
    const double from_s = recipe.delay_from_s > 0 ? recipe.delay_from_s : step_s_;
    const double to_s = recipe.delay_to_s > 0 ? recipe.delay_to_s
                                              : step_s_ * std::max(2.0, std::floor(static_cast<double>(moments_) / 4));
    const auto first = static_cast<std::int64_t>(std::ceil(from_s / step_s_ - 1e-6));
    const auto last = std::min(static_cast<std::int64_t>(std::floor(to_s / step_s_ + 1e-6)), moments_ / 2);
    if (last <= first) {
        throw Error(
            ErrorCode::bad_setting,
            fmt::format("fewer than two of the delays are in {:g} to {:g} s: they are multiples of {:g} s up to {:g} s",
                        from_s, to_s, step_s_, step_s_ * static_cast<double>(moments_ / 2)),
            "dynamics.delay_to_s", "choose a range that holds several");
    }
    const double middle = 0.5 * static_cast<double>(first + last);
    double squares = 0;
    for (std::int64_t k = first; k <= last; ++k) squares += std::pow(static_cast<double>(k) - middle, 2);
    delay_weights_.assign(index(last + 1), 0);
    for (std::int64_t k = first; k <= last; ++k)
        delay_weights_[index(k)] = -(static_cast<double>(k) - middle) / squares / step_s_;
}

void Dynamics::find_bands(const DynamicsRecipe& recipe) {
    const double finest = 1 / (step_s_ * static_cast<double>(moments_)), highest = 0.5 / step_s_;
    bands_ = recipe.bands_hz;
    if (bands_.empty()) {
        const double ratio = std::cbrt(highest / finest);
        bands_ = {0.5 * finest, finest * ratio, finest * ratio * ratio, 1.01 * highest};
    }
    if (bands_.size() != 4 || std::ranges::adjacent_find(bands_, std::greater_equal{}) != bands_.end()) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("has {}, or they do not ascend", plural(bands_.size(), "edges")), "dynamics.bands_hz",
                    "give four ascending numbers, for example 0,0.5,5,25");
    }
    for (int band = 0; band < 3; ++band) {
        const double low = bands_[index(band)], high = bands_[index(band + 1)];
        const double first = std::max(1.0, std::ceil(low / finest - 1e-9)) * finest;
        if (first < high && first <= highest * (1 + 1e-9)) continue;
        throw Error(
            ErrorCode::bad_setting,
            fmt::format(
                "no frequency of the series is in {:g} to {:g} Hz: they are {:.3g} to {:.3g} Hz in steps of {:.3g}",
                low, high, finest, highest, finest),
            "dynamics.bands_hz", "choose wider bands, or a longer series");
    }
}

// ---- One B-scan

struct Dynamics::Line {
    explicit Line(std::int64_t moments, std::size_t windows)
        : forward(FftKind::real_forward, moments), padded(FftKind::real_forward, 2 * moments),
          back(FftKind::real_inverse, 2 * moments), decibels(index(moments)), amplitude(index(moments)),
          sums(index(moments + 1)), squares(sums.size()), liv(windows), covariance(index(moments / 2 + 1)),
          spectrum(covariance.size()) {}

    BasicFft<double> forward, padded, back;
    std::vector<double> decibels, amplitude, sums, squares;
    std::vector<double> liv, covariance, spectrum;  // sums over the voxels of this line
    std::int64_t voxels = 0;
};

// LIV by window, and the covariance by delay, which is the inverse transform of the power spectrum of the zero-padded
// series.
void Dynamics::measure_decibels(Line& line, std::size_t voxel, std::vector<std::vector<float>>& values) const {
    const std::size_t n = index(moments_);
    for (std::size_t t = 0; t < n; ++t) {
        line.sums[t + 1] = line.sums[t] + line.decibels[t];
        line.squares[t + 1] = line.squares[t] + line.decibels[t] * line.decibels[t];
    }
    for (std::size_t w = 0; w < sizes_.size(); ++w) {
        const std::size_t m = index(sizes_[w]);
        double sum = 0;
        for (std::size_t t = 0; t + m <= n; ++t) {
            const double s = line.sums[t + m] - line.sums[t];
            sum += line.squares[t + m] - line.squares[t] - s * s / static_cast<double>(m);
        }
        const double liv = std::max(0.0, sum / static_cast<double>((n - m + 1) * (m - 1)));
        values[w][voxel] = static_cast<float>(liv);
        line.liv[w] += liv;
    }
    std::ranges::copy(line.decibels, line.padded.real());
    std::fill_n(line.padded.real() + n, n, 0.0);
    line.padded.execute();
    for (std::size_t k = 0; k <= n; ++k) line.back.complex_in()[k] = std::norm(line.padded.complex_out()[k]);
    line.back.execute();
    double slope = 0;
    for (std::size_t k = 0; k < line.covariance.size(); ++k) {
        const double covariance = line.back.real()[k] / static_cast<double>(2 * n * (n - k));
        line.covariance[k] += covariance;
        if (k < delay_weights_.size()) slope += delay_weights_[k] * covariance;
        if (k == 0) values[sizes_.size() + variance][voxel] = static_cast<float>(covariance);
    }
    values[sizes_.size() + covariance_slope][voxel] = static_cast<float>(slope);
}

void Dynamics::measure_spectrum(Line& line, std::size_t voxel, std::vector<std::vector<float>>& values) const {
    std::ranges::copy(line.amplitude, line.forward.real());
    line.forward.execute();
    const auto n = static_cast<double>(moments_);
    std::array<double, sum_count> sum{};
    for (std::size_t k = 1; k < line.spectrum.size(); ++k) {
        const bool is_single = 2 * static_cast<std::int64_t>(k) == moments_;  // the highest frequency of an even number
        const double power = (is_single ? 1 : 2) * std::norm(line.forward.complex_out()[k]) / (n * n);
        const double f = static_cast<double>(k) / (n * step_s_);
        line.spectrum[k] += power;
        sum[power_sum] += power;
        sum[power_f] += f * power;
        sum[power_f2] += f * f * power;
        for (std::size_t band = 0; band < 3; ++band) {
            if (f >= bands_[band] * (1 - 1e-9) && f < bands_[band + 1] * (1 - 1e-9)) sum[band_low + band] += power;
        }
    }
    for (std::size_t s = power_sum; s < sum_count; ++s) values[sizes_.size() + s][voxel] = static_cast<float>(sum[s]);
}

// Leaves `values` as they are if the voxel has no value.
void Dynamics::measure(const std::vector<std::vector<float>>& power, std::size_t voxel, Line& line,
                       std::vector<std::vector<float>>& values) const {
    double sum = 0, decibels = 0, amplitude = 0;
    for (std::size_t t = 0; t < power.size(); ++t) {
        const auto intensity = static_cast<double>(power[t][voxel]);
        if (!(intensity > 0) || !std::isfinite(intensity)) return;
        sum += intensity;
        decibels += line.decibels[t] = 10 * std::log10(intensity);
        amplitude += line.amplitude[t] = std::sqrt(intensity);
    }
    const auto n = static_cast<double>(moments_);
    if (sum / n < threshold_) return;
    for (double& value : line.decibels) value -= decibels / n;
    for (double& value : line.amplitude) value -= amplitude / n;
    ++line.voxels;
    measure_decibels(line, voxel, values);
    measure_spectrum(line, voxel, values);
}

// Replaces each value by the mean of the known ones in the window around it, which keeps 0 where none is known.
void Dynamics::pool(std::vector<float>& values, const std::vector<float>& known, std::int64_t a_scans,
                    std::int64_t depth) const {
    const auto add = [&](const std::vector<float>& in, std::int64_t window, std::int64_t count, std::int64_t stride,
                         std::vector<float>& out) {
        parallel_for(0, a_scans, [&](std::int64_t a) {
            for (std::int64_t z = 0; z < depth; ++z) {
                const std::int64_t voxel = a * depth + z, at = stride == 1 ? z : a;
                const std::int64_t begin = std::max<std::int64_t>(0, at - window / 2);
                const std::int64_t end = std::min(count, at + window / 2 + 1);
                double sum = 0;
                for (std::int64_t i = begin; i < end; ++i)
                    sum += static_cast<double>(in[index(voxel + (i - at) * stride)]);
                out[index(voxel)] = static_cast<float>(sum);
            }
        });
    };
    std::vector<float> along(values.size());
    add(values, window_depth_, depth, 1, along);
    add(along, window_a_scans_, a_scans, depth, values);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = known[i] > 0 ? values[i] / known[i] : 0;
}

std::array<std::vector<float>, dynamics_map_count> Dynamics::add(const std::vector<std::vector<float>>& power,
                                                                 std::int64_t a_scans, std::int64_t depth) {
    const std::size_t voxels = index(a_scans * depth);
    std::vector<std::vector<float>> values(sums(), std::vector<float>(voxels));
    std::vector<float> known(voxels), single(voxels, unknown);
    std::vector<Line> lines;
    for (std::int64_t a = 0; a < a_scans; ++a) lines.emplace_back(moments_, sizes_.size());
    parallel_for(0, a_scans, [&](std::int64_t a) {
        for (std::size_t voxel = index(a * depth); voxel < index((a + 1) * depth); ++voxel) {
            const std::int64_t before = lines[index(a)].voxels;
            measure(power, voxel, lines[index(a)], values);
            if (lines[index(a)].voxels == before) continue;
            known[voxel] = 1;
            single[voxel] = values[sizes_.size() - 1][voxel];
        }
    });
    for (const Line& line : lines) {
        voxels_ += line.voxels;
        std::ranges::transform(liv_, line.liv, liv_.begin(), std::plus{});
        std::ranges::transform(covariance_, line.covariance, covariance_.begin(), std::plus{});
        std::ranges::transform(spectrum_, line.spectrum, spectrum_.begin(), std::plus{});
    }
    std::vector<float> counted = known;
    pool(counted, std::vector<float>(voxels, 1), a_scans, depth);
    for (std::vector<float>& of_sum : values) pool(of_sum, counted, a_scans, depth);
    std::array<std::vector<float>, dynamics_map_count> maps;
    maps.fill(std::vector<float>(voxels, unknown));
    maps[static_cast<std::size_t>(DynamicsMap::liv)] = std::move(single);
    parallel_for(0, a_scans, [&](std::int64_t a) {
        for (std::size_t voxel = index(a * depth); voxel < index((a + 1) * depth); ++voxel) {
            if (known[voxel] > 0) finish(voxel, values, maps);
        }
    });
    return maps;
}

void Dynamics::finish(std::size_t voxel, const std::vector<std::vector<float>>& pooled,
                      std::array<std::vector<float>, dynamics_map_count>& maps) const {
    const auto sum = [&](std::size_t which) { return static_cast<double>(pooled[sizes_.size() + which][voxel]); };
    const auto set = [&](DynamicsMap map, double value) {
        maps[static_cast<std::size_t>(map)][voxel] = static_cast<float>(value);
    };
    std::vector<double> liv;
    for (std::size_t w = 0; w < sizes_.size(); ++w) liv.push_back(static_cast<double>(pooled[w][voxel]));
    if (sum(variance) > 0) {
        const Saturation fit = saturation_(liv);
        set(DynamicsMap::aliv, fit.amplitude);
        set(DynamicsMap::swiftness, fit.rate);
        set(DynamicsMap::ocds, sum(covariance_slope) / sum(variance));
    }
    if (sum(power_sum) > 0) {
        const double mean = sum(power_f) / sum(power_sum);
        set(DynamicsMap::mean_frequency, mean);
        set(DynamicsMap::bandwidth, std::sqrt(std::max(0.0, sum(power_f2) / sum(power_sum) - mean * mean)));
        for (std::size_t band = 0; band < 3; ++band) {
            const double power = sum(band_low + band);
            maps[static_cast<std::size_t>(DynamicsMap::low) + band][voxel] =
                power > 0 ? static_cast<float>(10 * std::log10(power)) : unknown;
        }
    }
}

DynamicsCurves Dynamics::curves() const {
    DynamicsCurves curves;
    const auto count = static_cast<double>(std::max<std::int64_t>(1, voxels_));
    curves.window_s = saturation_.times();
    for (const double sum : liv_) curves.liv_db2.push_back(sum / count);
    for (std::size_t k = 0; k < covariance_.size(); ++k) {
        curves.delay_s.push_back(step_s_ * static_cast<double>(k));
        curves.correlation.push_back(covariance_[0] > 0 ? covariance_[k] / covariance_[0] : 0);
    }
    for (std::size_t k = 1; k < spectrum_.size(); ++k) {
        curves.frequency_hz.push_back(static_cast<double>(k) / (step_s_ * static_cast<double>(moments_)));
        curves.power_db.push_back(10 * std::log10(std::max(1e-30, spectrum_[k] / count)));
    }
    return curves;
}

}  // namespace echolux
