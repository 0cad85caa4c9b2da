#include "engine/registration/correlation.h"

#include <algorithm>
#include <cstring>

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

}  // namespace echolux
