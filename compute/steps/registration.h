// Registration steps for single samples, correlations and sums: features of a B-scan, strips of B-scans, sub-sample
// peak positions, cubic resampling of power.
#pragma once

#include <cmath>
#include <cstdint>

#include "compute/host_device.h"
#include "compute/steps/natural_log.h"

namespace echolux {

// Logarithm of the power plus a floor, so that a single strong reflector does not dominate the registration of a
// B-scan.
struct LogFeature {
    float floor = 1;

    ECHOLUX_HD float operator()(float power) const { return NaturalLog{}((power > 0 ? power : 0.0f) + floor); }
};

// Returns the offset of the extremum of a parabola through three neighbours from the middle one, limited to half a
// sample.
ECHOLUX_HD inline float parabola_peak(float left, float middle, float right) {
    const float curvature = left - 2 * middle + right;
    if (!(curvature < 0)) return 0;
    const float place = (left - right) / (2 * curvature);
    return place > 0.5f ? 0.5f : place < -0.5f ? -0.5f : place;
}

// Consecutive B-scans [first, end).
struct RowRun {
    std::int64_t first = 0, end = 0;

    ECHOLUX_HD std::int64_t count() const { return end - first; }
};

// Pairs strips of B-scans of a moving volume with strips of a reference. A B-scan with norm 0 has no signal.
struct StripRows {
    const float *moving, *reference;  // norms
    std::int64_t moving_rows, reference_rows;
    std::int64_t half;  // B-scans of a strip on either side of its centre

    // Returns the strip around `row` if each of its B-scans has a partner `y` B-scans further on, otherwise an empty
    // run.
    ECHOLUX_HD RowRun of(std::int64_t row, std::int64_t y) const {
        const RowRun run{row > half ? row - half : 0, row + half < moving_rows ? row + half + 1 : moving_rows};
        if (run.first + y < 0 || run.end + y > reference_rows) return {};
        for (std::int64_t t = run.first; t < run.end; ++t) {
            if (!(moving[t] > 0) || !(reference[t + y] > 0)) return {};
        }
        return run;
    }

    // Returns the weight of one B-scan in the correlation of a strip of `count` B-scans.
    ECHOLUX_HD float weight(std::int64_t row, std::int64_t y, std::int64_t count) const {
        return 1 / (moving[row] * reference[row + y] * static_cast<float>(count));
    }
};

// The max of a correlation map. `second` is the max at least two samples away from it.
struct CoarsePeak {
    float value = -1, second = -1;
    float z = 0, x = 0;  // shift, with sub-sample precision
    std::int32_t is_at_border = 0;
};

// Index layout of correlations for all shifts up to a limit in depth and along A-scans.
struct ShiftMap {
    std::int32_t max_z, max_x;

    ECHOLUX_HD std::int32_t depth() const { return 2 * max_z + 1; }
    ECHOLUX_HD std::int32_t cells() const { return (2 * max_x + 1) * depth(); }
    ECHOLUX_HD std::int32_t z(std::int32_t cell) const { return cell % depth() - max_z; }
    ECHOLUX_HD std::int32_t x(std::int32_t cell) const { return cell / depth() - max_x; }

    // Returns whether two cells are at least two samples apart.
    ECHOLUX_HD bool is_apart(std::int32_t cell, std::int32_t other) const {
        const std::int32_t along_z = z(cell) - z(other), along_x = x(cell) - x(other);
        return along_z > 1 || along_z < -1 || along_x > 1 || along_x < -1;
    }

    // Returns the peak at `cell`, the max of the map. `at` returns the correlation of a cell.
    ECHOLUX_HD_CALLER
    template <class At>
    ECHOLUX_HD CoarsePeak peak(const At& at, std::int32_t cell, float value, float second) const {
        const std::int32_t shift_z = z(cell), shift_x = x(cell);
        const bool inside_z = shift_z > -max_z && shift_z<max_z, inside_x = shift_x> - max_x && shift_x < max_x;
        CoarsePeak peak;
        peak.value = value;
        peak.second = second;
        peak.z = static_cast<float>(shift_z) + (inside_z ? parabola_peak(at(cell - 1), value, at(cell + 1)) : 0);
        peak.x =
            static_cast<float>(shift_x) + (inside_x ? parabola_peak(at(cell - depth()), value, at(cell + depth())) : 0);
        peak.is_at_border = (max_z > 0 && !inside_z) || (max_x > 0 && !inside_x) ? 1 : 0;
        return peak;
    }
};

// Correlation of a strip for one shift, summed over the maps of its B-scans.
struct StripMap {
    const float* maps;     // map of the first B-scan
    std::int64_t between;  // distance between the maps of consecutive B-scans
    StripRows rows;
    RowRun run;
    std::int64_t y;

    ECHOLUX_HD float operator()(std::int32_t cell) const {
        float sum = 0;
        for (std::int64_t t = run.first; t < run.end; ++t)
            sum += rows.weight(t, y, run.count()) * maps[(t - run.first) * between + cell];
        return sum;
    }
};

// Weights of samples -1, 0, 1, 2 of a cubic B-spline at fraction `part` between samples 0 and 1.
struct CubicWeights {
    float weight[4];

    ECHOLUX_HD explicit CubicWeights(float part)
        : weight{(1 - part) * (1 - part) * (1 - part) / 6, (4 + part * part * (3 * part - 6)) / 6,
                 (1 + part * (3 + part * (3 - 3 * part))) / 6, part * part * part / 6} {}
};

// Recursive filter that converts values to cubic B-spline coefficients: a forward and a backward pass, mirrored at both
// ends (M. Unser, IEEE Signal Processing Magazine 16(6), 1999).
struct SplineFilter {
    static constexpr std::int64_t reach = 16;                // pole^16 is 7e-10
    static constexpr double pole = -0.26794919243112270647;  // sqrt(3) - 2

    // Returns the first value of the forward pass. `at(i)` returns value i, and `count` is at least two.
    ECHOLUX_HD_CALLER
    template <class At>
    ECHOLUX_HD static double first(const At& at, std::int64_t count) {
        const std::int64_t period = 2 * count - 2;
        double sum = 0, power = 1;
        for (std::int64_t i = 0; i < reach; ++i, power *= pole) {
            const std::int64_t there = i % period, mirror = period - there;
            sum += power * static_cast<double>(at(there < mirror ? there : mirror));
        }
        return sum;
    }
    // there() is one forward step, turn() starts the backward pass, back() is one backward step, coefficient() scales
    // the result.
    ECHOLUX_HD static double there(double last, float value) { return static_cast<double>(value) + pole * last; }
    ECHOLUX_HD static double turn(double last, float before) {
        return pole / (pole * pole - 1) * (last + pole * static_cast<double>(before));
    }
    ECHOLUX_HD static double back(double last, float value) { return pole * (last - static_cast<double>(value)); }
    ECHOLUX_HD static float coefficient(double last) { return static_cast<float>(6 * last); }
};

// Taps that shift samples by `shift` along an axis, with sub-sample precision.
struct ShiftedTaps {
    std::int64_t whole;
    CubicWeights cubic;

    ECHOLUX_HD explicit ShiftedTaps(double shift)
        : whole(static_cast<std::int64_t>(std::floor(-shift))), cubic(static_cast<float>(-shift - std::floor(-shift))) {
    }

    ECHOLUX_HD bool is_between() const { return cubic.weight[3] > 0; }  // the shift is fractional

    // Returns whether the source of a sample is within the `count` existing samples.
    ECHOLUX_HD bool is_inside(std::int64_t at, std::int64_t count) const {
        return at + whole >= 0 && at + whole + (is_between() ? 1 : 0) < count;
    }

    // Range of the four taps with nonzero influence: an integer shift copies a single sample.
    ECHOLUX_HD int first_deciding() const { return is_between() ? 0 : 1; }
    ECHOLUX_HD int end_deciding() const { return is_between() ? 4 : 2; }

    // Returns the index of tap `i` of sample `at`, mirrored at both ends.
    ECHOLUX_HD std::int64_t tap(std::int64_t at, int i, std::int64_t count) const {
        std::int64_t k = at + whole + i - 1;
        if (k < 0) k = -k;
        if (k >= count) k = 2 * (count - 1) - k;
        return k < 0 ? 0 : k < count ? k : count - 1;
    }
};

}  // namespace echolux
