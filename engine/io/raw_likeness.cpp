#include "engine/io/raw_guess.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace echolux {
namespace {

// Sixteen partial sums allow the compiler to vectorise the loop. Runs of 128 products are summed in single precision:
// most of the time of a guess passes here.
double dot(const float* a, const float* b, std::size_t count) {
    constexpr std::size_t run = 128;
    std::array<double, 16> lanes{};
    const std::size_t whole = count - count % run;
    for (std::size_t begin = 0; begin < whole; begin += run) {
        std::array<float, lanes.size()> sums{};
        for (std::size_t i = begin; i < begin + run; i += sums.size()) {
            for (std::size_t lane = 0; lane < sums.size(); ++lane) sums[lane] += a[i + lane] * b[i + lane];
        }
        for (std::size_t lane = 0; lane < sums.size(); ++lane) lanes[lane] += static_cast<double>(sums[lane]);
    }
    double sum = 0;
    for (const double lane : lanes) sum += lane;
    for (std::size_t i = whole; i < count; ++i) sum += static_cast<double>(a[i] * b[i]);
    return sum;
}

// Scales the elements `stride` apart from `first` to mean 0 and variance 1. Constant values become 0.
void normalise(std::vector<float>& values, std::size_t first = 0, std::size_t stride = 1) {
    double sum = 0, squares = 0, count = 0;
    for (std::size_t i = first; i < values.size(); i += stride, ++count) sum += static_cast<double>(values[i]);
    const double mean = count > 0 ? sum / count : 0;
    for (std::size_t i = first; i < values.size(); i += stride) {
        squares += std::pow(static_cast<double>(values[i]) - mean, 2);
    }
    const double scale = squares > 0 ? std::sqrt(count / squares) : 0;
    for (std::size_t i = first; i < values.size(); i += stride) {
        values[i] = static_cast<float>((static_cast<double>(values[i]) - mean) * scale);
    }
}

// Appends the log power of differences of neighbours, then of neighbouring pairs, and so on (a Haar transform). These
// are octaves of depth, the deepest first.
void add_octaves(std::vector<float> line, std::vector<float>& features) {
    constexpr std::size_t min = 8;
    for (std::size_t count = line.size() / 2; count >= min; count /= 2) {
        double power = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const float a = line[2 * i], b = line[2 * i + 1];
            power += static_cast<double>((a - b) * (a - b));
            line[i] = 0.5f * (a + b);
        }
        features.push_back(static_cast<float>(std::log(power / static_cast<double>(count) + 1e-12)));
    }
}

}  // namespace

Autocorrelation::Autocorrelation(const std::vector<float>& samples) : samples_(samples) {
    normalise(samples_);
}

double Autocorrelation::at(std::int64_t lag) const {
    constexpr std::size_t few = 64;
    const auto distance = static_cast<std::size_t>(lag);
    if (samples_.size() < distance + few) return 0;
    const std::size_t pairs = samples_.size() - distance;
    return dot(samples_.data(), samples_.data() + distance, pairs) / static_cast<double>(pairs);
}

std::vector<float> fine_structure_of(const std::vector<float>& samples) {
    std::vector<float> edges;
    for (std::size_t i = 2; i < samples.size(); ++i) {
        edges.push_back(samples[i - 1] - 0.5f * (samples[i] + samples[i - 2]));
    }
    return edges;
}

LineFeatures::LineFeatures(const std::vector<float>& samples, std::int64_t first, std::int64_t line)
    : lines_((static_cast<std::int64_t>(samples.size()) - first) / line) {
    const auto length = static_cast<std::size_t>(line);
    const auto line_at = [&](std::int64_t index) {
        return std::span(samples).subspan(static_cast<std::size_t>(first + index * line), length);
    };
    std::vector<double> sums(length);
    for (std::int64_t l = 0; l < lines_; ++l) {
        for (std::size_t i = 0; i < length; ++i) sums[i] += static_cast<double>(line_at(l)[i]);
    }
    std::vector<float> mean(length);
    for (std::size_t i = 0; i < length; ++i) mean[i] = static_cast<float>(sums[i] / static_cast<double>(lines_));
    std::vector<float> normal_mean = mean;
    normalise(normal_mean);
    for (std::int64_t l = 0; l < lines_; ++l) {
        std::vector<float> one(line_at(l).begin(), line_at(l).end());
        std::vector<float> normal = one;
        normalise(normal);
        to_mean_.push_back(dot(normal.data(), normal_mean.data(), length) / static_cast<double>(length));
        for (std::size_t i = 0; i < length; ++i) one[i] -= mean[i];
        add_octaves(std::move(one), values_);
    }
    features_ = lines_ > 0 ? static_cast<std::int64_t>(values_.size()) / lines_ : 0;
    for (std::int64_t f = 0; f < features_; ++f) {
        normalise(values_, static_cast<std::size_t>(f), static_cast<std::size_t>(features_));
    }
}

double LineFeatures::correlation(std::int64_t lag) const {
    const auto distance = static_cast<std::size_t>(lag * features_);
    if (lag >= lines_ || values_.empty()) return 0;
    const std::size_t pairs = values_.size() - distance;
    return dot(values_.data(), values_.data() + distance, pairs) / static_cast<double>(pairs);
}

double LineFeatures::likeness_to_mean(std::int64_t line) const {
    return to_mean_.at(static_cast<std::size_t>(line));
}

}  // namespace echolux
