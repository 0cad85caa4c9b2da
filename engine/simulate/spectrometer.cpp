#include "engine/simulate/spectrometer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/simulate/counter_random.h"

namespace echolux {
namespace {

using std::numbers::pi;

// Returns the wavelength of each sample: a cubic polynomial over the samples.
std::vector<double> wavelength_map(const Simulation& s) {
    std::vector<double> wavelengths;
    for (std::int64_t p = 0; p < s.samples; ++p) {
        const double u = 2 * static_cast<double>(p) / static_cast<double>(s.samples - 1) - 1;
        wavelengths.push_back(s.centre_nm + s.span_nm / 2 * u + s.curve2_nm * (u * u - 1) +
                              s.curve3_nm * (u * u * u - u));
        const bool grows = p == 0 || wavelengths.back() > wavelengths[wavelengths.size() - 2];
        if (!grows || wavelengths.back() <= 0) {
            throw Error(ErrorCode::bad_setting, "the wavelengths must be positive and increase along the samples",
                        "simulation.span_nm", "choose a smaller curve2_nm and curve3_nm, or another span_nm");
        }
    }
    return wavelengths;
}

}  // namespace

Spectrometer::Spectrometer(const Simulation& s) : wavelengths_nm(wavelength_map(s)), wide_pixels(s.roll_off) {
    const double k_max = 2000 * pi / wavelengths_nm.front();
    const double k_min = 2000 * pi / wavelengths_nm.back();
    k0_per_um = (k_max + k_min) / 2;
    const double step = (k_max - k_min) / static_cast<double>(s.samples - 1);
    pitch_um = pi / (static_cast<double>(s.samples) * step);

    const double centre = 2000 * pi / s.centre_nm;
    const double width = centre * s.bandwidth_nm / s.centre_nm;
    coherence_um = 4 * std::numbers::ln2 / width;
    for (const double wavelength : wavelengths_nm) {
        const double k = 2000 * pi / wavelength;
        const double off_centre = (k - centre) / width;
        const double edge = (k - k0_per_um) / ((k_max - k_min) / 2);
        k_per_um.push_back(k);
        source.push_back(std::exp(-4 * std::numbers::ln2 * off_centre * off_centre));
        theta_rad.push_back(s.a2_rad * edge * edge + s.a3_rad * edge * edge * edge);
    }
}

double Spectrometer::roll_off(double optical_um) const {
    const double x = pi * optical_um / (2 * z_max_um());
    return !wide_pixels || x == 0 ? 1 : std::sin(x) / x;
}

constexpr std::size_t quantiles = 4096;
constexpr double calibration_lines = 1000;

static double normal_cdf(double x) {
    return std::erfc(-x / std::sqrt(2.0)) / 2;
}

// Returns x with normal_cdf(x) = p, by bisection. Slow, but called only to build a table.
static double normal_quantile(double p) {
    double low = -10;
    double high = 10;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (normal_cdf(middle) < p ? low : high) = middle;
    }
    return (low + high) / 2;
}

// Returns equally likely values; the sum of two of them has unit variance.
static std::vector<float> normal_table() {
    std::vector<double> values(quantiles);
    double power = 0;
    for (std::size_t i = 0; i < quantiles; ++i) {
        values[i] = normal_quantile((static_cast<double>(i) + 0.5) / quantiles);
        power += values[i] * values[i];
    }
    const double scale = std::sqrt(quantiles / power / 2);
    std::vector<float> table(quantiles);
    for (std::size_t i = 0; i < quantiles; ++i) table[i] = static_cast<float>(values[i] * scale);
    return table;
}

// Returns a normal random number of unit variance: the sum of two table values selected by a hash.
static float normal(const std::vector<float>& table, std::uint64_t bits) {
    return table[bits % quantiles] + table[(bits >> 20) % quantiles];
}

LineScanCamera::LineScanCamera(const Simulation& s, const Spectrometer& spectrometer)
    : normal_(normal_table()), dark_(static_cast<float>(s.dark_counts)),
      full_scale_(static_cast<float>((std::int64_t{1} << s.adc_bits) - 1)),
      key_(hashed(static_cast<std::uint64_t>(s.seed), 0xca3e7a)) {
    const double counts = s.full_well_electrons > 0 ? static_cast<double>(full_scale_) / s.full_well_electrons : 0;
    const double read_noise = s.read_noise_electrons * (counts > 0 ? counts : 1);
    shot_variance_ = static_cast<float>(counts);
    read_variance_ = static_cast<float>(read_noise * read_noise);
    for (const double power : spectrometer.source) {
        reference_.push_back(static_cast<float>(power * s.reference_level * static_cast<double>(full_scale_)));
    }
}

void LineScanCamera::expose(std::span<const float> fringes, std::uint64_t line, std::span<std::uint16_t> counts) const {
    const std::uint64_t key = hashed(key_, 1, line);
    for (std::size_t p = 0; p < counts.size(); ++p) {
        const float light = std::max(reference_[p] * (1 + fringes[p]), 0.0F);
        const float noise = std::sqrt(light * shot_variance_ + read_variance_) * normal(normal_, hashed(key + p));
        const float level = std::clamp(dark_ + light + noise + 0.5F, 0.0F, full_scale_);
        counts[p] = static_cast<std::uint16_t>(level);
    }
}

std::vector<float> LineScanCamera::averaged(float light, std::uint64_t key) const {
    std::vector<float> mean;
    for (std::size_t p = 0; p < reference_.size(); ++p) {
        const float level = light * reference_[p];
        const float variance = level * shot_variance_ + read_variance_;
        const float noise = std::sqrt(variance / static_cast<float>(calibration_lines));
        mean.push_back(std::clamp(dark_ + level + noise * normal(normal_, hashed(key_, key, p)), 0.0F, full_scale_));
    }
    return mean;
}

std::vector<float> LineScanCamera::background() const {
    return averaged(1, 2);
}

std::vector<float> LineScanCamera::dark() const {
    return averaged(0, 3);
}

namespace {

// Eight floats processed together. GCC and Clang map them to the available registers, with the same results.
using Eight [[gnu::vector_size(32)]] = float;
constexpr std::int64_t eight = 8;

void load(Eight& values, const float* from) {
    std::memcpy(&values, from, sizeof(values));
}
void store(float* to, const Eight& values) {
    std::memcpy(to, &values, sizeof(values));
}

// Loads fewer than eight values and sets the rest to zero.
void load_some(Eight& values, const float* from, std::int64_t count) {
    values = Eight{};
    for (std::int64_t i = 0; i < std::min(count, eight); ++i) values[i] = from[i];
}

// Largest |2 (k - k0) d|. Thicker slabs need fewer moments in total, but more work per scatterer.
constexpr double max_x = 14;
constexpr double tolerance = 1e-5;
constexpr std::int64_t max_orders = 48;  // max_x and tolerance need 27

// Returns J_order(x) for any sign of x.
double bessel(std::int64_t order, double x) {
    const double value = std::cyl_bessel_j(static_cast<double>(order), std::abs(x));
    return x < 0 && order % 2 == 1 ? -value : value;
}

}  // namespace

SpectrumSum::SpectrumSum(const Spectrometer& spectrometer, double deepest_um)
    : samples_(std::ssize(spectrometer.k_per_um)) {
    const double k0 = spectrometer.k0_per_um;
    half_um_ = max_x / (2 * (spectrometer.k_per_um.front() - k0));
    slabs_ = static_cast<std::int64_t>(deepest_um / (2 * half_um_)) + 1;
    slabs_ += slabs_ % 2;
    while (order_ < max_x || 2 * bessel(order_, max_x) > tolerance) ++order_;

    const std::int64_t blocks = (samples_ + lanes - 1) / lanes;
    bessel_.resize(index(blocks * order_ * lanes));
    phase_.resize(index(blocks * slabs_ * 2 * lanes));
    for (std::int64_t p = 0; p < samples_; ++p) {
        const std::int64_t block = p / lanes;
        const std::int64_t lane = p % lanes;
        const double k = spectrometer.k_per_um[index(p)] - k0;
        for (std::int64_t q = 0; q < order_; ++q) {
            const auto at = index((block * order_ + q) * lanes + lane);
            bessel_[at] = static_cast<float>(bessel(q, 2 * k * half_um_));
        }
        for (std::int64_t slab = 0; slab < slabs_; ++slab) {
            const double centre_um = (2 * static_cast<double>(slab) + 1) * half_um_;
            const double angle = 2 * k * centre_um + spectrometer.theta_rad[index(p)];
            const auto at = index((block * slabs_ + slab) * 2 * lanes + lane);
            phase_[at] = static_cast<float>(std::cos(angle));
            phase_[at + lanes] = static_cast<float>(std::sin(angle));
        }
    }
}

std::int64_t SpectrumSum::slab_of(double optical_um) const {
    return static_cast<std::int64_t>(std::floor(optical_um / (2 * half_um_)));
}

float SpectrumSum::place_in(std::int64_t slab, double optical_um) const {
    return static_cast<float>(optical_um / half_um_ - (2 * static_cast<double>(slab) + 1));
}

void SpectrumSum::add(std::int64_t slab, const SlabScatterers& scatterers, std::span<float> moments) const {
    // Eight partial sums per moment fix the order of additions.
    std::array<Eight, 2 * max_orders> sums{};
    for (std::int64_t first = 0; first < scatterers.count; first += eight) {
        Eight u, real, imaginary;
        if (const std::int64_t left = scatterers.count - first; left >= eight) {
            load(u, scatterers.u + first);
            load(real, scatterers.real + first);
            load(imaginary, scatterers.imaginary + first);
        } else {
            load_some(u, scatterers.u + first, left);
            load_some(real, scatterers.real + first, left);
            load_some(imaginary, scatterers.imaginary + first, left);
        }
        // Recurrence T_(q+1) = 2 u T_q - T_(q-1), from T_(-1) = T_1 = u.
        Eight last_real = u * real;
        Eight last_imaginary = u * imaginary;
        for (std::size_t q = 0; q < index(order_); ++q) {
            sums[2 * q] += real;
            sums[2 * q + 1] += imaginary;
            const Eight next_real = 2 * u * real - last_real;
            const Eight next_imaginary = 2 * u * imaginary - last_imaginary;
            last_real = real;
            last_imaginary = imaginary;
            real = next_real;
            imaginary = next_imaginary;
        }
    }
    float* moment = moments.data() + slab * 2 * order_;
    for (std::int64_t q = 0; q < order_; ++q) {
        float real = 0;
        float imaginary = 0;
        for (std::int64_t j = 0; j < eight; ++j) {
            real += sums[index(2 * q)][j];
            imaginary += sums[index(2 * q + 1)][j];
        }
        const float weight = q == 0 ? 1.0F : 2.0F;
        const std::array<float, 4> turned{real, -imaginary, -real, imaginary};  // real part after 0 to 3 factors of i
        moment[q] += weight * turned[index(q % 4)];
        moment[order_ + q] += weight * turned[index((q + 3) % 4)];
    }
}

void SpectrumSum::fringes(std::span<const float> moments, std::span<float> fringes) const {
    sum_up<false>(moments, fringes.data(), nullptr);
}

void SpectrumSum::fringes(std::span<const float> moments, std::span<float> cosines, std::span<float> sines) const {
    sum_up<true>(moments, cosines.data(), sines.data());
}

template <bool with_sines>
// Multiplies moments by the table of Bessel functions, two slabs at a time, and applies the phases of the slabs.
void SpectrumSum::sum_up(std::span<const float> moments, float* cosines, float* sines) const {
    const auto is_empty = [&](std::int64_t slab) {
        const float* begin = moments.data() + slab * 2 * order_;
        return std::all_of(begin, begin + 4 * order_, [](float moment) { return moment == 0; });
    };
    std::int64_t first_slab = 0;
    std::int64_t end_slab = slabs_;
    while (first_slab < end_slab && is_empty(first_slab)) first_slab += 2;
    while (first_slab < end_slab && is_empty(end_slab - 2)) end_slab -= 2;

    const std::int64_t blocks = (samples_ + lanes - 1) / lanes;
    for (std::int64_t block = 0; block < blocks; ++block) {
        Eight out[2] = {};
        Eight out_sines[2] = {};
        for (std::int64_t slab = first_slab; slab < end_slab; slab += 2) {
            const float* row = moments.data() + slab * 2 * order_;
            Eight sums[4][2] = {};
            for (std::int64_t q = 0; q < order_; ++q) {
                const float* table = bessel_.data() + (block * order_ + q) * lanes;
                Eight bessel[2];
                load(bessel[0], table);
                load(bessel[1], table + eight);
                for (int r = 0; r < 4; ++r) {
                    const float moment = row[r * order_ + q];
                    sums[r][0] += moment * bessel[0];
                    sums[r][1] += moment * bessel[1];
                }
            }
            const float* phase = phase_.data() + (block * slabs_ + slab) * 2 * lanes;
            for (int half = 0; half < 2; ++half) {
                // Cosine and sine of the first slab, then of the second.
                Eight turn[4];
                for (int i = 0; i < 4; ++i) load(turn[i], phase + half * eight + i * lanes);
                out[half] += sums[0][half] * turn[0] - sums[1][half] * turn[1];
                out[half] += sums[2][half] * turn[2] - sums[3][half] * turn[3];
                if constexpr (with_sines) {
                    out_sines[half] += sums[0][half] * turn[1] + sums[1][half] * turn[0];
                    out_sines[half] += sums[2][half] * turn[3] + sums[3][half] * turn[2];
                }
            }
        }
        const std::int64_t first = block * lanes;
        const std::int64_t count = std::min(lanes, samples_ - first);
        const auto put = [first, count](const Eight(&sums)[2], float* to) {
            float of_block[lanes];
            store(of_block, sums[0]);
            store(of_block + eight, sums[1]);
            std::copy_n(of_block, count, to + first);
        };
        put(out, cosines);
        if constexpr (with_sines) put(out_sines, sines);
    }
}

}  // namespace echolux
