// Steps of speckle filters (docs/filters.md), all on linear power. Speckle of one look is exponentially distributed
// around what the tissue reflects, and that is what the likelihoods below are of.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "compute/host_device.h"
#include "compute/steps/depth.h"

namespace echolux {

// 2^x for x from -126 to 126, relative error below 1e-7 (2.4e-7 on a GPU, which has a unit for it). Our own polynomial,
// because a vectorised loop needs one; smaller numbers and NaN become 2^-126, on a GPU nothing.
struct Exp2 {
    ECHOLUX_HD float operator()(float x) const {
#ifdef __CUDA_ARCH__
        float power;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
        return power;
#else
        constexpr float least = -126, most = 126, rounds = 12582912;  // 1.5 * 2^23: what is added to it is whole
        x = x > least ? x : least;
        x = x < most ? x : most;
        const float whole = (x + rounds) - rounds;
        const float f = x - whole;
        float p = 1.5252734e-5f;
        p = p * f + 1.5403530e-4f;
        p = p * f + 1.3333558e-3f;
        p = p * f + 9.6181291e-3f;
        p = p * f + 5.5504109e-2f;
        p = p * f + 2.4022651e-1f;
        p = p * f + 6.9314718e-1f;
        p = p * f + 1.0f;
        return p * std::bit_cast<float>((static_cast<std::int32_t>(whole) + 127) << 23);
#endif
    }
};

// log2 of a positive normal number where an error of 2.4e-7 of it will do: a GPU's own.
struct FastLog2 {
    ECHOLUX_HD float operator()(float x) const {
#ifdef __CUDA_ARCH__
        float log;
        asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log) : "f"(x));
        return log;
#else
        return Log2{}(x);
#endif
    }
};

// What a voxel's code says of linear power, and which code says it: as the recipe's quantity on a linear scale. In
// double, so that a GPU finds the same code but where a value lies between two.
enum class Stored { db, intensity, amplitude };

struct StoredPower {
    Stored as = Stored::intensity;
    double scale = 1, offset = 0;  // value = code * scale + offset

    // 0 or more; what is no number stays none.
    ECHOLUX_HD float power(double code) const {
        const double value = code * scale + offset;
        double power = value;
        if (as == Stored::db) power = pow(10.0, value / 10);
        if (as == Stored::amplitude) power = value * value;
        return power <= 0 ? 0 : static_cast<float>(power);
    }

    // Not yet rounded to a code.
    ECHOLUX_HD double code(float power) const {
        double value = static_cast<double>(power);
        constexpr double least = min_power;
        if (as == Stored::db) value = 10 * log10(value < least ? least : value);
        if (as == Stored::amplitude) value = sqrt(value);
        return (value - offset) / scale;
    }
};

// A small share of the brightest power, added inside logarithms so that voxels of nothing do not decide. Of large
// volumes some voxels tell it, `stride` apart.
struct LogMargin {
    static constexpr std::int64_t stride(std::int64_t voxels) {
        constexpr std::int64_t enough = std::int64_t{1} << 20;
        const std::int64_t apart = voxels / enough;
        return (apart < 1 ? 1 : apart) | 1;
    }
    // Which of `count` powers in rising order counts as bright.
    static constexpr std::int64_t bright(std::int64_t count) {
        return static_cast<std::int64_t>(0.99 * static_cast<double>(count - 1));
    }
    static constexpr float of(float bright) {
        constexpr double share = 2.5e-4, least = 1e-30;
        const double margin = share * static_cast<double>(bright);
        return static_cast<float>(margin < least ? least : margin);
    }
    static constexpr float of_nothing() { return 1e-30f; }
};

// log2 of the likelihood ratio of two intensities having means of their own or one in common: (a + b)^2 / (4 a b). The
// logarithms are those of a and b (Deledalle et al., IEEE TIP 18, 2661, 2009).
struct SpeckleDistance {
    ECHOLUX_HD float operator()(float a, float b, float log_a, float log_b) const {
        return 2 * Log2{}(a + b) - log_a - log_b - 2;
    }
};

// log2(1 + x) for x of 0 or more, to 4e-7 of itself: near 0, where 1 + x would round x away, by log2 of f with
// f = (1 + s) / (1 - s), s = x / (2 + x).
struct Log2OnePlus {
    ECHOLUX_HD float operator()(float x) const {
        constexpr float near = 0.5f, twice_log2_e = 2.88539008f;
        const float s = x / (2 + x), t = s * s;
        const float small = twice_log2_e * s * (1 + t * (1.0f / 3 + t * (1.0f / 5 + t * (1.0f / 7 + t * (1.0f / 9)))));
        const float large = Log2{}(1 + x);
        return x < near ? small : large;
    }
};

// The same distance, (a + b)^2 / (4 a b) being 1 + (a - b)^2 / (4 a b): nothing cancels. Where many looks were
// averaged, intensities of one mean are so near each other that only this tells them apart.
struct CloseSpeckleDistance {
    ECHOLUX_HD float operator()(float a, float b, float, float) const {
        const float off = a - b;
        return Log2OnePlus{}(0.25f * (off / a) * (off / b));
    }
};

// What a voxel counts whose patch is that far away: 1 as long as the distance is what independent speckle of one mean
// gives, less beyond. Both in log2; `per_h`: looks by h.
struct PatchWeight {
    float expected, per_h;

    // Whether differences are so small that logarithms of the intensities themselves would not tell them.
    ECHOLUX_HD bool is_close() const {
        constexpr float most = 256;
        return per_h > most;
    }

    ECHOLUX_HD float operator()(float distance) const {
        const float more = distance - expected;
        return more > 0 ? Exp2{}(-more * per_h) : 1.0f;
    }
};

// The same from sums over the patch, which neighbours share, for weights that are not close: the mean of
// SpeckleDistance over n voxels is the sum of 2 log2(a + b), less the patches' own sums of log2 a and of log2 b, by n,
// less 2.
struct PatchLikelihood {
    float per_log, per_sum, beyond;

    ECHOLUX_HD static PatchLikelihood of(const PatchWeight& weight, float voxels) {
        return {weight.per_h / voxels, -2 * weight.per_h / voxels, 0.5f * weight.per_h * (2 + weight.expected)};
    }

    // Kept for each voxel: of the sum of log2 over the patch around it.
    ECHOLUX_HD float of_patch(float logs) const { return logs * per_log + beyond; }

    // Of what lies beyond the volume: its weight is 0.
    ECHOLUX_HD static float nowhere() { return -HUGE_VALF; }

    // `sum`: of log2(a + b) over the patch.
    ECHOLUX_HD float operator()(float sum, float own, float other) const {
        const float more = sum * per_sum + (own + other);
        return Exp2{}(more < 0 ? more : 0.0f);
    }
};

// What a voxel counts that is `distance_square` (in voxels of the spatial sigma) away and `difference_db` brighter.
struct BilateralWeight {
    float per_square, per_db_square;  // log2(e) / 2 by the squares of both sigmas

    ECHOLUX_HD float operator()(float distance_square, float difference_db) const {
        return Exp2{}(-distance_square * per_square - difference_db * difference_db * per_db_square);
    }
};

// The median of an odd number of values by forgetful selection: of a little more than half of them the least and the
// greatest are dropped, the next takes their place, and so on. No branch depends on values, so that lanes of a vector
// or threads of a warp stay together. Minimum and maximum of T are found by smaller() and greater().
ECHOLUX_HD inline float smaller(float a, float b) {
#ifdef __CUDA_ARCH__
    return fminf(a, b);  // one instruction
#else
    return a < b ? a : b;
#endif
}
ECHOLUX_HD inline float greater(float a, float b) {
#ifdef __CUDA_ARCH__
    return fmaxf(a, b);
#else
    return a < b ? b : a;
#endif
}

template <int count>
struct MedianOf {
    static_assert(count % 2 == 1 && count > 1);

    // `value(i)`: the i-th.
    template <class T, class Value>
    ECHOLUX_HD static T of(const Value& value) {
        constexpr int most = count / 2 + 2;
        T kept[most];
        ECHOLUX_UNROLL
        for (int i = 0; i < most; ++i) kept[i] = value(i);
        int size = most;
        ECHOLUX_UNROLL
        for (int next = most; next < count; ++next) {
            drop_ends(kept, size);
            kept[size - 2] = value(next);
            --size;
        }
        drop_ends(kept, size);  // three are left: the middle one is in front
        return kept[0];
    }

  private:
    // Puts the least at the end of what remains and the greatest behind it; both are then forgotten.
    template <class T>
    ECHOLUX_HD static void drop_ends(T* kept, int size) {
        ECHOLUX_UNROLL
        for (int i = 0; i + 1 < size; ++i) {  // the greatest to the end
            const T low = smaller(kept[i], kept[i + 1]), high = greater(kept[i], kept[i + 1]);
            kept[i] = low;
            kept[i + 1] = high;
        }
        ECHOLUX_UNROLL
        for (int i = 0; i + 2 < size; ++i) {  // the least to the last place but one
            const T low = smaller(kept[i], kept[i + 1]), high = greater(kept[i], kept[i + 1]);
            kept[i] = high;
            kept[i + 1] = low;
        }
    }
};

}  // namespace echolux
