#include "compute/cuda/transform.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <vector>

#include "compute/cuda/memory.h"
#include "compute/indexing.h"

namespace echolux::cuda {
namespace {

// Does the same for radices of at most `largest`.
std::vector<int> fewest_radices_below(int n, int largest) {
    std::vector<int> fewest;
    for (const int radix : {16, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2}) {
        if (radix > largest || n % radix != 0) continue;
        std::vector<int> radices{radix};
        if (n > radix) {
            const std::vector<int> others = fewest_radices_below(n / radix, radix);
            if (others.empty()) continue;
            radices.insert(radices.end(), others.begin(), others.end());
        }
        const auto sum = [](const std::vector<int>& all) { return std::accumulate(all.begin(), all.end(), 0); };
        if (fewest.empty() || radices.size() < fewest.size() ||
            (radices.size() == fewest.size() && sum(radices) < sum(fewest))) {
            fewest = radices;
        }
    }
    return fewest;
}

// Estimates bank conflicts: shared memory accesses relative to the ideal. Eight points of 16 bytes are served at once
// unless two share banks. Simulated for the first threads of each stage.
double conflicts(const MixedRadix& length) {
    constexpr int served = 8, counted = 64 * served;
    double turns = 0, wanted = 0;
    for (int s = 0; s < length.stages; ++s) {
        const MixedStage& stage = length.stage[s];
        const double points = stage.radix * (s == 0 || s + 1 == length.stages ? 1.0 : 2.0) * stage.butterflies;
        int here = 0, groups = 0;
        for (int first = 0; first < std::min(stage.butterflies, counted); first += served, ++groups) {
            std::array<int, served> in_banks{};
            for (int u = first; u < std::min(first + served, stage.butterflies); ++u) {
                ++in_banks[index(place_of(stage, s, u) % served)];
            }
            here += *std::ranges::max_element(in_banks);
        }
        turns += points * here / groups;
        wanted += points;
    }
    return turns / wanted;
}

}  // namespace

std::vector<int> fewest_radices(int n) {
    return fewest_radices_below(n, 16);
}

std::optional<MixedRadix> mixed_radix_of(std::int64_t n) {
    if (n < 64 || n > 8192) return {};
    std::vector<int> radices = fewest_radices(static_cast<int>(n));
    if (radices.empty()) return {};
    std::ranges::sort(radices);
    MixedRadix best;
    double least = 1e9;
    do {
        for (int padding = 0; padding < 8; ++padding) {
            const MixedRadix length = mixed_radix(radices, padding);
            const double these = conflicts(length);
            if (these < least) least = these, best = length;
        }
    } while (std::ranges::next_permutation(radices).found);
    return best;
}

std::vector<float2> mixed_radix_twiddles(const MixedRadix& length) {
    std::vector<float2> table;
    for (int s = 1; s < length.stages; ++s) append_twiddles(table, length.stage[s].radix, length.stage[s].length);
    return table;
}

namespace {

constexpr int warp = 32;

int whole_warps(int threads) {
    return (threads + warp - 1) / warp;
}

// Returns the active warps in a stage, one butterfly per thread, per pair of lines. Groups need not be aligned to
// warps.
double warps_at_work(const MixedStage& stage, int threads, int groups) {
    int all = 0;
    for (int done = 0; done < stage.butterflies; done += threads) {
        const int at_work = std::min(threads, stage.butterflies - done);
        for (int group = 0, counted = 0; group < groups; ++group) {
            const int first = group * threads / warp, end = whole_warps(group * threads + at_work);
            all += end - std::max(first, counted);
            counted = end;
        }
    }
    return static_cast<double>(all) / groups;
}

// Estimates the cost of a pair of lines in arbitrary units: instructions, penalized if there are too few threads to
// hide memory latency, and if there are too few blocks to fill barrier stalls. The constants are fitted: for 25 lengths
// in 12,000 shapes on an H200, the selected shapes are on average 3 % and at most 8 % slower than the best.
double cost(const MixedShape& shape) {
    constexpr double enough_warps = 18, of_barriers = 0.2, beside_radix = 2;
    const int warps = whole_warps(shape.threads * shape.groups);
    const int by_registers = MixedShape::max_block / (warps * warp);
    const int by_memory = max_shared_bytes() / shape.shared_bytes();
    const int blocks = std::min(by_registers, by_memory);
    double instructions = 0;
    for (int s = 0; s < shape.length.stages; ++s) {
        const MixedStage& stage = shape.length.stage[s];
        instructions += (stage.radix + beside_radix) * warps_at_work(stage, shape.threads, shape.groups);
    }
    return instructions * (1 + of_barriers / blocks) * std::sqrt(std::max(1.0, enough_warps / (blocks * warps)));
}

// Returns candidates for the threads per group: fractions of the butterflies of a stage, or whole warps.
std::vector<int> threads_to_try(const MixedRadix& length) {
    std::vector<int> all{32, 64, 96, 128, 160, 192, 256, 320};
    for (int s = 0; s < length.stages; ++s) {
        const int butterflies = length.stage[s].butterflies;
        for (int rounds = 1; rounds <= 4; ++rounds) all.push_back((butterflies + rounds - 1) / rounds);
    }
    return all;
}

}  // namespace

// Tries all shapes that fit and returns the cheapest according to cost().
std::optional<MixedShape> mixed_shape(std::int64_t transform, std::int64_t samples, std::int64_t voxel_bytes) {
    const std::optional<MixedRadix> length = mixed_radix_of(transform);
    if (!length) return {};
    MixedShape shape{*length, 1, 1, MixedShape::row_bytes_for(samples, transform / 2 * voxel_bytes)};
    if (shape.shared_bytes() > max_shared_bytes()) return {};
    std::optional<MixedShape> best;
    double least = 0;
    for (const int threads : threads_to_try(*length)) {
        for (const int groups : {1, 2, 3, 4, 6, 8, 16}) {
            shape.groups = groups;
            shape.threads = threads;
            const int block = threads * groups;
            if (block < 2 * warp || block > MixedShape::max_block || shape.shared_bytes() > max_shared_bytes())
                continue;
            const double these = cost(shape);
            if (!best || these < least) best = shape, least = these;
        }
    }
    return best;
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
