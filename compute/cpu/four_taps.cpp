#include "compute/cpu/four_taps.h"

#include <algorithm>

#include "compute/indexing.h"
#include "compute/steps/sample.h"

#if defined(__x86_64__)
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // false positive in GCC 12's own header, in _mm512_undefined_ps
#endif
#endif

namespace echolux::cpu {
namespace {

constexpr std::int64_t taps = 4;

}  // namespace

FourTaps::FourTaps(const ResampleTable& table, std::int64_t run) : table_(table) {
    if (run >= 16 && prepare_sixteens()) {
        run_ = 16;
    } else if (run >= 8) {
        prepare_eights();
        run_ = 8;
    }
}

void FourTaps::operator()(const float* spectrum, float* out) const {
    const auto points = std::ssize(table_.base);
    const Resampled<taps> step{table_.base.data(), table_.weights.data()};
    std::int64_t j = run_ == 16 ? by_sixteens(spectrum, out) : run_ == 8 ? by_eights(spectrum, out) : 0;
    for (j = by_fours(spectrum, out, j); j < points; ++j) out[j] = step(spectrum, j);
}

// Returns false if the taps of a run exceed a window.
bool FourTaps::prepare_sixteens() {
    constexpr std::int64_t run_points = 16;
    const std::int64_t runs = std::ssize(table_.base) / run_points;
    for (std::int64_t run = 0; run < runs; ++run) {
        const auto begin = table_.base.begin() + run * run_points;
        const auto [least, most] = std::minmax_element(begin, begin + run_points);
        if (*most - *least + taps > window) return false;
        first_.push_back(*least);
    }
    for (std::int64_t j = 0; j < runs * run_points; ++j) {
        offset_.push_back(static_cast<std::uint8_t>(table_.base[index(j)] - first_[index(j / run_points)]));
    }
    for (std::int64_t i = 0; i < runs * run_points * taps; ++i) {
        const std::int64_t run = i / (run_points * taps), tap = i / run_points % taps, point = i % run_points;
        weights_.push_back(table_.weights[index((run * run_points + point) * taps + tap)]);
    }
    return true;
}

void FourTaps::prepare_eights() {
    constexpr std::int64_t run_points = 8;
    const std::int64_t points = std::ssize(table_.base) / run_points * run_points;
    for (std::int64_t i = 0; i < points * taps; ++i) {
        const std::int64_t run = i / (run_points * taps), pair = i / 8 % 4, half = i / taps % 2, tap = i % taps;
        weights_.push_back(table_.weights[index((run * run_points + pair + 4 * half) * taps + tap)]);
    }
}

// The taps of a point are adjacent in memory, so four plain loads and a horizontal sum replace sixteen gathers.
std::int64_t FourTaps::by_fours(const float* spectrum, float* out, std::int64_t from) const {
    const auto points = std::ssize(table_.base);
    const std::int32_t* const base = table_.base.data();
    const float* const weights = table_.weights.data();
    std::int64_t j = from;
    for (; j + 4 <= points; j += 4) {
        const auto products = [&](std::int64_t i) { return load(weights + taps * i) * load(spectrum + base[i]); };
        const Four a = products(j), b = products(j + 1), c = products(j + 2), d = products(j + 3);
        const Four ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
        const Four cd = __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
        const Four sums = __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
        store(sums, out + j);
    }
    return j;
}

#if defined(__x86_64__)

std::int64_t FourTaps::widest_run() {
    return __builtin_cpu_supports("avx512f") ? 16 : __builtin_cpu_supports("avx2") ? 8 : 4;
}

// A window of the spectrum fits into two registers, from which the taps of sixteen points are permuted. Explicit
// rounding prevents fused multiply-adds.
__attribute__((target("avx512f"))) std::int64_t FourTaps::by_sixteens(const float* spectrum, float* out) const {
    constexpr std::int64_t run_points = 16;
    constexpr int rounding = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    const auto runs = std::ssize(first_);
    const __m512i one = _mm512_set1_epi32(1);
    for (std::int64_t run = 0; run < runs; ++run) {
        const float* const from = spectrum + first_[index(run)];
        const float* const weights = weights_.data() + run * run_points * taps;
        const __m512 low = _mm512_loadu_ps(from), high = _mm512_loadu_ps(from + run_points);
        const auto* const offsets = reinterpret_cast<const __m128i*>(offset_.data() + run * run_points);
        __m512i at = _mm512_cvtepu8_epi32(_mm_loadu_si128(offsets));
        __m512 products[taps];
        for (std::int64_t tap = 0; tap < taps; ++tap) {
            const __m512 samples = _mm512_permutex2var_ps(low, at, high);
            products[tap] = _mm512_mul_round_ps(_mm512_loadu_ps(weights + tap * run_points), samples, rounding);
            at = _mm512_add_epi32(at, one);
        }
        const __m512 near = _mm512_add_ps(products[0], products[1]), far = _mm512_add_ps(products[2], products[3]);
        _mm512_storeu_ps(out + run * run_points, _mm512_add_ps(near, far));
    }
    return runs * run_points;
}

// Like by_fours(), with point j + 4 in the upper half of the register of point j, so that the sums are in order.
__attribute__((target("avx2"))) std::int64_t FourTaps::by_eights(const float* spectrum, float* out) const {
    constexpr std::int64_t run_points = 8;
    constexpr int even = 0x88, odd = 0xdd;
    const std::int64_t points = std::ssize(table_.base) / run_points * run_points;
    const std::int32_t* base = table_.base.data();
    const float* weights = weights_.data();
    for (std::int64_t j = 0; j < points; j += run_points, base += run_points, weights += run_points * taps) {
        __m256 products[4];
        for (std::int64_t i = 0; i < 4; ++i) {
            const __m128 near = _mm_loadu_ps(spectrum + base[i]), far = _mm_loadu_ps(spectrum + base[i + 4]);
            const __m256 samples = _mm256_insertf128_ps(_mm256_castps128_ps256(near), far, 1);
            products[i] = _mm256_mul_ps(samples, _mm256_loadu_ps(weights + 8 * i));
            asm("" : "+x"(products[i]));  // prevents fused multiply-adds
        }
        const auto& [a, b, c, d] = products;
        const __m256 ab = _mm256_add_ps(_mm256_shuffle_ps(a, b, even), _mm256_shuffle_ps(a, b, odd));
        const __m256 cd = _mm256_add_ps(_mm256_shuffle_ps(c, d, even), _mm256_shuffle_ps(c, d, odd));
        _mm256_storeu_ps(out + j, _mm256_add_ps(_mm256_shuffle_ps(ab, cd, even), _mm256_shuffle_ps(ab, cd, odd)));
    }
    return points;
}

#else

std::int64_t FourTaps::widest_run() {
    return 4;
}

std::int64_t FourTaps::by_sixteens(const float*, float*) const {
    return 0;
}

std::int64_t FourTaps::by_eights(const float*, float*) const {
    return 0;
}

#endif

}  // namespace echolux::cpu
