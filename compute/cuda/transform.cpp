#include "compute/cuda/transform.h"

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace echolux::cuda {

std::vector<float2> mixed_radix_twiddles(const MixedRadix& length) {
    std::vector<float2> table;
    for (int s = 1; s < length.stages; ++s) append_twiddles(table, length.stage[s].radix, length.stage[s].length);
    return table;
}

namespace {

using Complex = std::complex<double>;
using std::numbers::pi;

float4 as_float4(Complex own, Complex mirrored) {
    return {static_cast<float>(own.real()), static_cast<float>(own.imag()), static_cast<float>(mirrored.real()),
            static_cast<float>(mirrored.imag())};
}

// Bin k of a real line of 2 n points is own Z[k] + mirrored conj(Z[n - k]). Exchanging both factors yields the
// conjugate of bin n - k.
struct Bin {
    Complex own, mirrored;

    Bin(std::int64_t k, std::int64_t n) {
        const Complex turn = Complex(0, 1) * std::polar(1.0, -pi * static_cast<double>(k) / static_cast<double>(n));
        own = 0.5 * (1.0 - turn);
        mirrored = 0.5 * (1.0 + turn);
    }
};

}  // namespace

std::vector<float4> spectrum_factors(std::int64_t n, std::int64_t first, const std::vector<float>& times) {
    std::vector<float4> factors;
    for (const float factor : times) {
        const Bin bin(first + std::ssize(factors), n);
        factors.push_back(as_float4(bin.own * double{factor}, bin.mirrored * double{factor}));
    }
    return factors;
}

std::vector<float4> shift_factors(std::int64_t n, std::int64_t upsample) {
    const auto length = static_cast<double>(2 * n);
    std::vector<float4> factors;
    for (std::int64_t phase = 1; phase < upsample; ++phase) {
        const double shift = static_cast<double>(phase) / static_cast<double>(upsample);  // in samples
        const auto shifted = [&](std::int64_t k) -> Complex {
            if (k == n) return std::cos(pi * shift) / length;
            return std::polar(1 / length, 2 * pi * static_cast<double>(k) * shift / length);
        };
        for (std::int64_t k = 0; k < n; ++k) {
            // Combine two bins of the shifted line into one of its half-length transform.
            const Complex turn = Complex(0, 1) * std::polar(1.0, 2 * pi * static_cast<double>(k) / length);
            const Complex to_own = shifted(k) * (1.0 + turn), to_mirrored = std::conj(shifted(n - k)) * (1.0 - turn);
            const Bin bin(k, n);
            factors.push_back(as_float4(to_own * bin.own + to_mirrored * bin.mirrored,
                                        to_own * bin.mirrored + to_mirrored * bin.own));
        }
    }
    return factors;
}

}  // namespace echolux::cuda
