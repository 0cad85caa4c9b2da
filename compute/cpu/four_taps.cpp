#include "compute/cpu/four_taps.h"

#if defined(__x86_64__)
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of GCC 12's own header, in _mm512_undefined_ps
#endif
#endif

#include <algorithm>

#include "compute/cpu/four.h"
#include "compute/indexing.h"
#include "compute/steps/resample.h"

namespace echolux::cpu {
namespace {

constexpr std::int64_t taps = 4;

}  // namespace

FourTaps::FourTaps(const ResampleTable& table, std::int64_t run) : table_(table), run_(run) {
    if (run > 4) prepare_runs();
}

void FourTaps::operator()(const float* spectrum, float* out) const {
    const auto points = static_cast<std::int64_t>(table_.base.size());
    const Resampled<taps> step{table_.base.data(), table_.weights.data()};
    std::int64_t j = by_runs(spectrum, out);
    for (j = by_fours(spectrum, out, j); j < points; ++j) out[j] = step(spectrum, j);
}

// Leaves first_ empty where a run reaches farther than two registers.
void FourTaps::prepare_runs() {
    const std::int64_t runs = std::ssize(table_.base) / run_;
    std::vector<std::int32_t> first;
    for (std::int64_t run = 0; run < runs; ++run) {
        const auto begin = table_.base.begin() + run * run_;
        const auto [least, most] = std::minmax_element(begin, begin + run_);
        if (*most - *least + taps > 2 * run_) return;
        first.push_back(*least);
        is_near_.push_back(*most - *least < run_);
    }
    for (std::int64_t j = 0; j < runs * run_; ++j) {
        offset_.push_back(static_cast<std::uint8_t>(table_.base[index(j)] - first[index(j / run_)]));
    }
    for (std::int64_t i = 0; i < runs * run_ * taps; ++i) {
        const std::int64_t run = i / (run_ * taps), tap = i / run_ % taps, point = i % run_;
        weights_.push_back(table_.weights[index((run * run_ + point) * taps + tap)]);
    }
    first_ = std::move(first);
}

std::int64_t FourTaps::by_runs(const float* spectrum, float* out) const {
    if (first_.empty()) return 0;
    return run_ == 16 ? by_sixteens(spectrum, out) : by_eights(spectrum, out);
}

// The taps of a point are neighbours in memory, so four plain loads and a crosswise sum replace sixteen gathered ones.
std::int64_t FourTaps::by_fours(const float* spectrum, float* out, std::int64_t from) const {
    const auto points = static_cast<std::int64_t>(table_.base.size());
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

// A window of the spectrum lies in two registers, from which the taps of sixteen points are picked. The rounding is
// named so that no product is fused with a sum.
__attribute__((target("avx512f"))) std::int64_t FourTaps::by_sixteens(const float* spectrum, float* out) const {
    constexpr std::int64_t run_points = 16;
    constexpr int rounding = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
    const auto runs = static_cast<std::int64_t>(first_.size());
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

// Here a register of samples is loaded for each tap, one farther on, so that all taps are picked by the same offsets,
// of which the machine looks at three bits; where offsets reach farther, from the register behind it too.
__attribute__((target("avx2"))) std::int64_t FourTaps::by_eights(const float* spectrum, float* out) const {
    constexpr std::int64_t run_points = 8;
    constexpr int fourth_bit_to_sign = 28;
    const auto runs = static_cast<std::int64_t>(first_.size());
    for (std::int64_t run = 0; run < runs; ++run) {
        const float* const from = spectrum + first_[index(run)];
        const float* const weights = weights_.data() + run * run_points * taps;
        const auto* const offsets = reinterpret_cast<const __m128i*>(offset_.data() + run * run_points);
        const __m256i at = _mm256_cvtepu8_epi32(_mm_loadl_epi64(offsets));
        const __m256 is_far = _mm256_castsi256_ps(_mm256_slli_epi32(at, fourth_bit_to_sign));
        const bool is_near = is_near_[index(run)] != 0;
        __m256 products[taps];
        for (std::int64_t tap = 0; tap < taps; ++tap) {
            __m256 samples = _mm256_permutevar8x32_ps(_mm256_loadu_ps(from + tap), at);
            if (!is_near) {
                const __m256 far = _mm256_permutevar8x32_ps(_mm256_loadu_ps(from + tap + run_points), at);
                samples = _mm256_blendv_ps(samples, far, is_far);
            }
            products[tap] = _mm256_mul_ps(_mm256_loadu_ps(weights + tap * run_points), samples);
            asm("" : "+x"(products[tap]));  // so that no product is fused with a sum
        }
        const __m256 left = _mm256_add_ps(products[0], products[1]), right = _mm256_add_ps(products[2], products[3]);
        _mm256_storeu_ps(out + run * run_points, _mm256_add_ps(left, right));
    }
    return runs * run_points;
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
