// Features to compare B-scans by: the logarithm of the smoothed power, high-pass filtered, in the tissue's band of
// depths.
#include "engine/registration/features.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "compute/error.h"
#include "compute/parallel_for.h"
#include "compute/steps/registration.h"

namespace echolux {
namespace {

// Returns the next even length that is a product of 2, 3 and 5.
std::int64_t good_length(std::int64_t at_least) {
    for (std::int64_t length = std::max<std::int64_t>(2, at_least);; ++length) {
        std::int64_t rest = length;
        for (const std::int64_t prime : {2, 3, 5}) {
            while (rest % prime == 0) rest /= prime;
        }
        if (rest == 1 && length % 2 == 0) return length;
    }
}

// 32 partial sums in four vectors; the compiler maps them to SIMD registers.
using Eight [[gnu::vector_size(32)]] = float;

}  // namespace

PlaneTransform::PlaneTransform(std::int64_t depth, std::int64_t a_scans, std::int64_t max_z, std::int64_t max_x)
    : depth_(depth), a_scans_(a_scans), max_z_(max_z), max_x_(max_x), long_z_(good_length(depth + max_z + 1)),
      long_x_(good_length(a_scans + max_x + 1)), bins_z_(long_z_ / 2 + 1), z_forward_(FftKind::real_forward, long_z_),
      z_inverse_(FftKind::real_inverse, long_z_), x_forward_(FftKind::complex_forward, long_x_),
      x_inverse_(FftKind::complex_inverse, long_x_),
      columns_(static_cast<std::size_t>(std::max(a_scans, 2 * max_x + 1) * bins_z_)) {}

PlaneTransform::Spectrum PlaneTransform::forward(const float* plane) {
    for (std::int64_t a = 0; a < a_scans_; ++a) {
        std::copy_n(plane + a * depth_, depth_, z_forward_.real());
        std::fill_n(z_forward_.real() + depth_, long_z_ - depth_, 0.0F);
        z_forward_.execute();
        std::copy_n(z_forward_.complex_out(), bins_z_, columns_.data() + a * bins_z_);
    }
    Spectrum spectrum(static_cast<std::size_t>(bins_z_ * long_x_));
    for (std::int64_t z = 0; z < bins_z_; ++z) {
        std::complex<float>* in = x_forward_.complex_in();
        for (std::int64_t a = 0; a < a_scans_; ++a) in[a] = columns_[static_cast<std::size_t>(a * bins_z_ + z)];
        std::fill_n(in + a_scans_, long_x_ - a_scans_, std::complex<float>{});
        x_forward_.execute();
        std::copy_n(x_forward_.complex_out(), long_x_, spectrum.data() + z * long_x_);
    }
    return spectrum;
}

void PlaneTransform::correlate(const Spectrum& a, const Spectrum& b, float* map) {
    cross_.resize(a.size());
    const auto* left = reinterpret_cast<const float*>(a.data());
    const auto* right = reinterpret_cast<const float*>(b.data());
    auto* cross = reinterpret_cast<float*>(cross_.data());
    for (std::size_t i = 0; i < 2 * a.size(); i += 2) {  // a conj(b)
        cross[i] = left[i] * right[i] + left[i + 1] * right[i + 1];
        cross[i + 1] = left[i + 1] * right[i] - left[i] * right[i + 1];
    }
    for (std::int64_t z = 0; z < bins_z_; ++z) {
        std::copy_n(cross_.data() + z * long_x_, long_x_, x_inverse_.complex_in());
        x_inverse_.execute();
        const std::complex<float>* out = x_inverse_.complex_out();
        for (std::int64_t x = -max_x_; x <= max_x_; ++x) {
            columns_[static_cast<std::size_t>((x + max_x_) * bins_z_ + z)] = out[x < 0 ? x + long_x_ : x];
        }
    }
    const float share = 1 / static_cast<float>(long_z_ * long_x_);
    for (std::int64_t x = 0; x <= 2 * max_x_; ++x) {
        std::copy_n(columns_.data() + x * bins_z_, bins_z_, z_inverse_.complex_in());
        z_inverse_.execute();
        for (std::int64_t z = -max_z_; z <= max_z_; ++z) *map++ = share * z_inverse_.real()[z < 0 ? z + long_z_ : z];
    }
}

float overlap_product(const float* a, const float* b, std::int64_t depth, std::int64_t a_scans, std::int64_t shift_z,
                      std::int64_t shift_x) {
    const std::int64_t begin_x = std::max<std::int64_t>(0, -shift_x), end_x = std::min(a_scans, a_scans - shift_x);
    const std::int64_t begin_z = std::max<std::int64_t>(0, -shift_z), end_z = std::min(depth, depth - shift_z);
    Eight sums[4] = {};
    float rest = 0;
    for (std::int64_t x = begin_x; x < end_x; ++x) {
        const float* of_a = a + (x + shift_x) * depth + shift_z;
        const float* of_b = b + x * depth;
        std::int64_t z = begin_z;
        for (; z + 32 <= end_z; z += 32) {
            for (int part = 0; part < 4; ++part) {
                Eight left, right;
                std::memcpy(&left, of_a + z + 8 * part, sizeof(left));
                std::memcpy(&right, of_b + z + 8 * part, sizeof(right));
                sums[part] += left * right;
            }
        }
        for (; z < end_z; ++z) rest += of_a[z] * of_b[z];
    }
    const Eight all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    for (int lane = 0; lane < 8; ++lane) rest += all[lane];
    return rest;
}

namespace {

constexpr double smoothing = 1, high_pass = 8;  // sigma, in samples
constexpr std::int64_t smoothing_reach = 3;
constexpr double floor_part = 0.02;  // relative to the 99th percentile
constexpr double band_part = 0.02;   // relative to the mean power of the brightest depth
constexpr float silent_part = 0.1F;  // relative to the median norm; weaker B-scans have no signal

// Work space to blur one B-scan, [a_scan][depth], along both axes. End values extend beyond the ends.
class Plane {
  public:
    Plane(std::int64_t depth, std::int64_t a_scans)
        : depth_(depth), a_scans_(a_scans), other_(static_cast<std::size_t>(depth * a_scans)),
          sums_(static_cast<std::size_t>(depth)) {}

    // Convolves with a Gaussian truncated at three samples.
    void smooth(std::vector<float>& plane) {
        static const std::vector<float> weights = smoothing_weights();
        along_depth(plane, weights);
        along_a_scans(plane, weights);
    }

    // Approximates a wider Gaussian by three running means.
    void blur(std::vector<float>& plane) {
        const std::int64_t half = slow_mean_half();
        for (int pass = 0; pass < slow_means; ++pass) {
            mean_along_depth(plane, half);
            mean_along_a_scans(plane, half);
        }
    }

  private:
    float* line(std::vector<float>& plane, std::int64_t a) const {
        return plane.data() + std::clamp<std::int64_t>(a, 0, a_scans_ - 1) * depth_;
    }

    // Returns a copy of the line, extended by `reach` end values on either side.
    const float* padded(const float* from, std::int64_t reach, std::size_t number) {
        std::vector<float>& to = padded_[number];
        to.resize(static_cast<std::size_t>(depth_ + 2 * reach));
        std::fill_n(to.begin(), reach, from[0]);
        std::copy_n(from, depth_, to.begin() + reach);
        std::fill(to.begin() + reach + depth_, to.end(), from[depth_ - 1]);
        return to.data() + reach;
    }

    void along_depth(std::vector<float>& plane, const std::vector<float>& weights) {
        for (std::int64_t a = 0; a < a_scans_; ++a) {
            const float* from = padded(line(plane, a), smoothing_reach, 0) - smoothing_reach;
            float* to = line(other_, a);
            std::fill_n(to, depth_, 0.0F);
            for (std::int64_t i = 0; i <= 2 * smoothing_reach; ++i) {
                const float weight = weights[static_cast<std::size_t>(i)];
                for (std::int64_t z = 0; z < depth_; ++z) to[z] += weight * from[z + i];
            }
        }
        plane.swap(other_);
    }

    void along_a_scans(std::vector<float>& plane, const std::vector<float>& weights) {
        for (std::int64_t a = 0; a < a_scans_; ++a) {
            float* to = line(other_, a);
            std::fill_n(to, depth_, 0.0F);
            for (std::int64_t i = 0; i <= 2 * smoothing_reach; ++i) {
                const float* from = line(plane, a + i - smoothing_reach);
                const float weight = weights[static_cast<std::size_t>(i)];
                for (std::int64_t z = 0; z < depth_; ++z) to[z] += weight * from[z];
            }
        }
        plane.swap(other_);
    }

    // Processes four lines at a time, because each sum depends on the previous one.
    void mean_along_depth(std::vector<float>& plane, std::int64_t half) {
        constexpr std::size_t together = 4;
        const double share = 1 / static_cast<double>(2 * half + 1);
        for (std::int64_t first = 0; first < a_scans_; first += together) {
            std::array<const float*, together> from{};
            std::array<float*, together> to{};
            std::array<double, together> sums{};
            for (std::size_t i = 0; i < together; ++i) {  // past the end, repeat the last line
                to[i] = line(plane, first + static_cast<std::int64_t>(i));
                from[i] = padded(to[i], half + 1, i);
                for (std::int64_t z = -half; z <= half; ++z) sums[i] += static_cast<double>(from[i][z]);
            }
            for (std::int64_t z = 0; z < depth_; ++z) {
                for (std::size_t i = 0; i < together; ++i) {
                    to[i][z] = static_cast<float>(sums[i] * share);
                    sums[i] += static_cast<double>(from[i][z + half + 1]) - static_cast<double>(from[i][z - half]);
                }
            }
        }
    }

    void mean_along_a_scans(std::vector<float>& plane, std::int64_t half) {
        const double share = 1 / static_cast<double>(2 * half + 1);
        std::ranges::fill(sums_, 0.0);
        double* sum = sums_.data();
        for (std::int64_t a = -half; a <= half; ++a) {
            const float* from = line(plane, a);
            for (std::int64_t z = 0; z < depth_; ++z) sum[z] += static_cast<double>(from[z]);
        }
        for (std::int64_t a = 0; a < a_scans_; ++a) {
            float* to = line(other_, a);
            const float *next = line(plane, a + half + 1), *last = line(plane, a - half);
            for (std::int64_t z = 0; z < depth_; ++z) {
                to[z] = static_cast<float>(sum[z] * share);
                sum[z] += static_cast<double>(next[z]) - static_cast<double>(last[z]);
            }
        }
        plane.swap(other_);
    }

    std::int64_t depth_, a_scans_;
    std::vector<float> other_;
    std::array<std::vector<float>, 4> padded_;
    std::vector<double> sums_;
};

// Returns the 99th percentile of the finite values, 0 without any.
float percentile_99(std::vector<float> some) {
    std::erase_if(some, [](float value) { return !std::isfinite(value); });
    if (some.empty()) return 0;
    const auto at = some.begin() + static_cast<std::ptrdiff_t>(some.size() * 99 / 100);
    std::nth_element(some.begin(), at, some.end());
    return *at;
}

// Returns 1 for finite samples and 0 for others, which become 0 in `values`. Empty if all samples are finite.
std::vector<float> known_of(std::vector<float>& values) {
    if (std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) return {};
    std::vector<float> known(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        known[i] = std::isfinite(values[i]) ? 1.0F : 0.0F;
        if (known[i] == 0) values[i] = 0;
    }
    return known;
}

// Normalizes means to the known samples, so that the border of unknown samples is not an edge. `shares` is the known
// share of each mean.
void divide(std::vector<float>& means, const std::vector<float>& shares, const std::vector<float>& known) {
    for (std::size_t i = 0; i < known.size(); ++i) means[i] = known[i] > 0 ? means[i] / shares[i] : 0;
}

// Buffers to compute rows one after the other.
struct RowWork {
    RowWork(std::int64_t depth, std::int64_t a_scans)
        : plane(depth, a_scans), values(static_cast<std::size_t>(depth * a_scans)) {}

    Plane plane;
    std::vector<float> values, slow;
};

// Computes the features of one B-scan in `row` and returns their norm.
float fill_row(const float* power, const VolumeGrid& grid, Interval band, const LogFeature& feature, RowWork& work,
               float* row) {
    const std::int64_t depth = band.end - band.begin;
    const auto count = static_cast<std::size_t>(depth * grid.a_scans);
    auto& [plane, values, slow] = work;
    for (std::int64_t a = 0; a < grid.a_scans; ++a) {
        for (std::int64_t z = 0; z < depth; ++z) {
            values[static_cast<std::size_t>(a * depth + z)] = power[a * grid.depth + band.begin + z];
        }
    }
    const std::vector<float> known = known_of(values);
    std::vector<float> shares = known;
    plane.smooth(values);
    if (!known.empty()) plane.smooth(shares);
    divide(values, shares, known);
    for (float& value : values) value = feature(value);
    for (std::size_t i = 0; i < known.size(); ++i) values[i] *= known[i];
    slow = values;
    plane.blur(slow);
    shares = known;
    if (!known.empty()) plane.blur(shares);
    divide(slow, shares, known);
    double sum = 0, square = 0, samples = known.empty() ? static_cast<double>(count) : 0;
    for (std::size_t i = 0; i < count; ++i) {
        values[i] -= slow[i];
        sum += static_cast<double>(values[i]);
        if (!known.empty()) samples += static_cast<double>(known[i]);
    }
    const auto mean = static_cast<float>(sum / std::max(1.0, samples));
    for (std::size_t i = 0; i < count; ++i) {
        row[i] = (values[i] - mean) * (known.empty() ? 1.0F : known[i]);
        square += static_cast<double>(row[i]) * static_cast<double>(row[i]);
    }
    return static_cast<float>(std::sqrt(square));
}

}  // namespace

std::vector<float> smoothing_weights() {
    std::vector<float> weights;
    float sum = 0;
    for (std::int64_t i = -smoothing_reach; i <= smoothing_reach; ++i) {
        weights.push_back(static_cast<float>(std::exp(-static_cast<double>(i * i) / (2 * smoothing * smoothing))));
        sum += weights.back();
    }
    for (float& weight : weights) weight /= sum;
    return weights;
}

std::int64_t slow_mean_half() {
    return std::lround((std::sqrt(4 * high_pass * high_pass + 1) - 1) / 2);
}

Samples samples_of(std::int64_t voxels) {
    constexpr std::int64_t most = 100'000;
    const std::int64_t step = std::max<std::int64_t>(1, voxels / most);
    return {(voxels + step - 1) / step, step};
}

LogFeature log_feature(std::vector<float> samples) {
    const float bright = percentile_99(std::move(samples));
    if (!(bright > 0)) {
        throw Error(ErrorCode::bad_setting, "holds nothing: no sample is above zero", "registration",
                    "choose another volume");
    }
    return {static_cast<float>(floor_part) * bright};
}

Samples lines_of_band(const VolumeGrid& grid) {
    constexpr std::int64_t most = 4096;
    const std::int64_t lines = grid.a_scans * grid.b_scans, step = std::max<std::int64_t>(1, lines / most);
    return {(lines + step - 1) / step, step};
}

Interval band_of_lines(const std::vector<float>& lines, std::int64_t depth, std::int64_t margin) {
    std::vector<double> mean(static_cast<std::size_t>(depth), 0.0);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (std::isfinite(lines[i])) mean[i % mean.size()] += static_cast<double>(lines[i]);
    }
    std::vector<double> sorted = mean;
    std::ranges::sort(sorted);
    const double dark = sorted[sorted.size() / 20];
    const double least = dark + band_part * (sorted.back() - dark);
    const auto shines = [least](double value) { return value > least; };
    const auto first = std::ranges::find_if(mean, shines);
    const auto last = std::find_if(mean.rbegin(), mean.rend(), shines).base();
    if (first == mean.end()) return {0, depth};
    return {std::max<std::int64_t>(0, first - mean.begin() - margin),
            std::min(depth, static_cast<std::int64_t>(last - mean.begin()) + margin)};
}

Interval tissue_band(const PowerVolume& volume, std::int64_t margin) {
    const std::int64_t depth = volume.grid.depth;
    const Samples samples = lines_of_band(volume.grid);
    std::vector<float> lines;
    for (std::int64_t i = 0; i < samples.count; ++i) {
        const auto line = volume.power.begin() + i * samples.step * depth;
        lines.insert(lines.end(), line, line + depth);
    }
    return band_of_lines(lines, depth, margin);
}

void silence(std::vector<float>& norms) {
    std::vector<float> sorted = norms;
    std::ranges::sort(sorted);
    const float least = silent_part * sorted[sorted.size() / 2];
    for (float& norm : norms) norm = norm > least ? norm : 0;
}

RowFeatures row_features(const PowerVolume& volume, Interval band) {
    const VolumeGrid& grid = volume.grid;
    const std::vector<float>& power = volume.power;
    const Samples samples = samples_of(std::ssize(power));
    std::vector<float> some;
    for (std::int64_t i = 0; i < samples.count; ++i) some.push_back(power[static_cast<std::size_t>(i * samples.step)]);
    const LogFeature feature = log_feature(std::move(some));
    RowFeatures features{
        .depth = band.end - band.begin, .a_scans = grid.a_scans, .rows = grid.b_scans, .values = {}, .norms = {}};
    const std::int64_t of_row = features.depth * features.a_scans;
    features.values.resize(static_cast<std::size_t>(of_row * features.rows));
    features.norms.resize(static_cast<std::size_t>(features.rows));
    constexpr std::int64_t together = 8;
    parallel_for(0, (features.rows + together - 1) / together, [&](std::int64_t group) {
        RowWork work(features.depth, features.a_scans);
        for (std::int64_t row = group * together; row < std::min(features.rows, (group + 1) * together); ++row) {
            features.norms[static_cast<std::size_t>(row)] =
                fill_row(power.data() + row * grid.a_scans * grid.depth, grid, band, feature, work,
                         features.values.data() + row * of_row);
        }
    });
    silence(features.norms);
    return features;
}

}  // namespace echolux
