// Steps of the speckle filters (docs/filters.md), all on linear power. Single-look speckle is exponentially distributed
// around the reflectivity of the tissue, which defines the likelihoods below.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "compute/host_device.h"
#include "compute/steps/depth.h"

namespace echolux {

// 2^x for x from -126 to 126, relative error below 1e-7 (2.4e-7 on a GPU, which uses its special function unit). The
// CPU uses a polynomial because vectorized loops cannot call a library function. Smaller numbers and NaN become 2^-126
// on the CPU; the GPU flushes smaller numbers to 0.
struct Exp2 {
    ECHOLUX_HD float operator()(float x) const {
#ifdef __CUDA_ARCH__
        float power;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
        return power;
#else
        constexpr float least = -126, most = 126, rounds = 12582912;  // 1.5 * 2^23: adding it rounds to an integer
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

// log2 of a positive normal number where an error of 2.4e-7 is acceptable. Uses the GPU's special function unit.
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

// Converts between voxel codes and linear power, where a code stores the recipe's quantity on a linear scale. Computed
// in double, so that CPU and GPU return the same code except for ties.
enum class Stored { db, intensity, amplitude, fourth_root };

// Linear mapping of codes to values of a quantity.
struct StoredPower {
    Stored as = Stored::intensity;
    double scale = 1, offset = 0;  // value = code * scale + offset

    // Returns the power of a code, 0 or more. NaN stays NaN.
    ECHOLUX_HD float power(double code) const {
        const double value = code * scale + offset;
        double power = value;
        if (as == Stored::db) power = pow(10.0, value / 10);
        if (as == Stored::amplitude) power = value * value;
        if (as == Stored::fourth_root) power = value * value * value * value;
        return power <= 0 ? 0 : static_cast<float>(power);
    }

    // Returns the code of a power, not yet rounded.
    ECHOLUX_HD double code(float power) const {
        double value = static_cast<double>(power);
        constexpr double least = min_power;
        if (as == Stored::db) value = 10 * log10(value < least ? least : value);
        if (as == Stored::amplitude) value = sqrt(value);
        if (as == Stored::fourth_root) value = sqrt(sqrt(value));
        return (value - offset) / scale;
    }
};

// A small fraction of the brightest power, added inside logarithms so that empty voxels do not dominate. Large volumes
// are sampled at every `stride`-th voxel.
struct LogMargin {
    static constexpr std::int64_t stride(std::int64_t voxels) {
        constexpr std::int64_t enough = std::int64_t{1} << 20;
        const std::int64_t apart = voxels / enough;
        return (apart < 1 ? 1 : apart) | 1;
    }
    // Returns the index of the bright reference among `count` powers in ascending order (99th percentile).
    static constexpr std::int64_t bright(std::int64_t count) {
        return static_cast<std::int64_t>(0.99 * static_cast<double>(count - 1));
    }
    static constexpr float of(float bright) {
        constexpr double share = 2.5e-4, least = 1e-30;
        const double margin = share * static_cast<double>(bright);
        return static_cast<float>(margin < least ? least : margin);
    }
    // Margin of a volume without signal.
    static constexpr float of_nothing() { return 1e-30f; }
};

// log2 of the likelihood ratio that two intensities have separate means rather than a common one: (a + b)^2 / (4 a b).
// `log_a` and `log_b` are their base-2 logarithms (Deledalle et al., IEEE TIP 18, 2661, 2009).
struct SpeckleDistance {
    ECHOLUX_HD float operator()(float a, float b, float log_a, float log_b) const {
        return 2 * Log2{}(a + b) - log_a - log_b - 2;
    }
};

// log2(1 + x) for x >= 0, relative error 4e-7. Near 0, where 1 + x would lose the digits of x, uses log2 of (1 + s) /
// (1 - s) with s = x / (2 + x).
struct Log2OnePlus {
    ECHOLUX_HD float operator()(float x) const {
        constexpr float near = 0.5f, twice_log2_e = 2.88539008f;
        const float s = x / (2 + x), t = s * s;
        const float small = twice_log2_e * s * (1 + t * (1.0f / 3 + t * (1.0f / 5 + t * (1.0f / 7 + t * (1.0f / 9)))));
        const float large = Log2{}(1 + x);
        return x < near ? small : large;
    }
};

// The same distance written as (a + b)^2 / (4 a b) = 1 + (a - b)^2 / (4 a b), which avoids cancellation. Needed when
// many looks are averaged, because intensities with equal means then differ very little.
struct CloseSpeckleDistance {
    ECHOLUX_HD float operator()(float a, float b, float, float) const {
        const float off = a - b;
        return Log2OnePlus{}(0.25f * (off / a) * (off / b));
    }
};

// Weight of a voxel as a function of its patch distance: 1 up to the distance expected from independent speckle with
// equal means, less beyond. Distances are in log2. `per_h` is the number of looks divided by h.
struct PatchWeight {
    float expected, per_h;

    // Returns whether differences are so small that CloseSpeckleDistance is required.
    ECHOLUX_HD bool is_close() const {
        constexpr float most = 256;
        return per_h > most;
    }

    ECHOLUX_HD float operator()(float distance) const {
        const float more = distance - expected;
        return more > 0 ? Exp2{}(-more * per_h) : 1.0f;
    }
};

// The same weight computed from patch sums that neighbours share, for weights that are not close. The mean of
// SpeckleDistance over n voxels is the sum of 2 log2(a + b) minus the sums of log2 a and log2 b of the two patches,
// divided by n, minus 2.
struct PatchLikelihood {
    float per_log, per_sum, beyond;

    ECHOLUX_HD static PatchLikelihood of(const PatchWeight& weight, float voxels) {
        return {weight.per_h / voxels, -2 * weight.per_h / voxels, 0.5f * weight.per_h * (2 + weight.expected)};
    }

    // Returns the value stored per voxel, from the sum of log2 over the patch around it.
    ECHOLUX_HD float of_patch(float logs) const { return logs * per_log + beyond; }

    // Value stored for patches outside the volume: their weight is 0.
    ECHOLUX_HD static float no_level() { return -HUGE_VALF; }

    // Returns the weight. `sum` is the sum of log2(a + b) over the patch, `own` and `other` the stored values.
    ECHOLUX_HD float operator()(float sum, float own, float other) const {
        const float more = sum * per_sum + (own + other);
        return Exp2{}(more < 0 ? more : 0.0f);
    }
};

// Weight of a voxel at squared distance `distance_square` (in voxels, scaled by the spatial sigma) that is
// `difference_db` brighter.
struct BilateralWeight {
    float per_square, per_db_square;  // log2(e) / 2 divided by the squares of the two sigmas

    ECHOLUX_HD float operator()(float distance_square, float difference_db) const {
        return Exp2{}(-distance_square * per_square - difference_db * difference_db * per_db_square);
    }
};

// Median of an odd number of values by forgetful selection: of slightly more than half of them, drop the min and the
// max, add the next value, and repeat. No branch depends on the values, so vector lanes and threads of a warp do not
// diverge. T needs overloads of smaller() and greater().
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

// The median of `count` values.
template <int count>
struct MedianOf {
    static_assert(count % 2 == 1 && count > 1);

    // Returns the median of value(0) .. value(count - 1).
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
        drop_ends(kept, size);  // three are left, and the median is first
        return kept[0];
    }

  private:
    // Moves the min to the end of the remaining values and the max after it. The caller then discards both.
    template <class T>
    ECHOLUX_HD static void drop_ends(T* kept, int size) {
        ECHOLUX_UNROLL
        for (int i = 0; i + 1 < size; ++i) {  // the max to the end
            const T low = smaller(kept[i], kept[i + 1]), high = greater(kept[i], kept[i + 1]);
            kept[i] = low;
            kept[i + 1] = high;
        }
        ECHOLUX_UNROLL
        for (int i = 0; i + 2 < size; ++i) {  // the min to the second-to-last position
            const T low = smaller(kept[i], kept[i + 1]), high = greater(kept[i], kept[i + 1]);
            kept[i] = high;
            kept[i + 1] = low;
        }
    }
};

}  // namespace echolux
