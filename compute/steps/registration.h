// What registration does to samples, to correlations and to sums of them: features of a B-scan, strips of B-scans, the
// place of a peak between samples, cubic resampling of power.
#pragma once

#include <cmath>
#include <cstdint>

#include "compute/host_device.h"
#include "compute/steps/layers.h"

namespace echolux {

// A strong reflector must not decide alone where a B-scan lies: the logarithm of the power, over a floor.
struct LogFeature {
    float floor = 1;

    ECHOLUX_HD float operator()(float power) const { return NaturalLog{}((power > 0 ? power : 0.0f) + floor); }
};

// The extremum of the parabola through three neighbours, from the middle one; at most half a sample.
ECHOLUX_HD inline float parabola_peak(float left, float middle, float right) {
    const float curvature = left - 2 * middle + right;
    if (!(curvature < 0)) return 0;
    const float place = (left - right) / (2 * curvature);
    return place > 0.5f ? 0.5f : place < -0.5f ? -0.5f : place;
}

// B-scans that follow each other.
struct RowRun {
    std::int64_t first = 0, end = 0;

    ECHOLUX_HD std::int64_t count() const { return end - first; }
};

// Strips of B-scans of a moving volume and their partners in a reference, by the norms of the B-scans: 0, no signal.
struct StripRows {
    const float *moving, *reference;  // norms
    std::int64_t moving_rows, reference_rows;
    std::int64_t half;  // B-scans of a strip on either side of its middle

    // The strip about `row`, all of which has a partner `y` B-scans further on; none where there is no such strip.
    ECHOLUX_HD RowRun of(std::int64_t row, std::int64_t y) const {
        const RowRun run{row > half ? row - half : 0, row + half < moving_rows ? row + half + 1 : moving_rows};
        if (run.first + y < 0 || run.end + y > reference_rows) return {};
        for (std::int64_t t = run.first; t < run.end; ++t) {
            if (!(moving[t] > 0) || !(reference[t + y] > 0)) return {};
        }
        return run;
    }

    // Of one of `count` B-scans of a strip, in its correlation.
    ECHOLUX_HD float weight(std::int64_t row, std::int64_t y, std::int64_t count) const {
        return 1 / (moving[row] * reference[row + y] * static_cast<float>(count));
    }
};

// The largest of a map of correlations, `second` being the largest at least two samples away.
struct CoarsePeak {
    float value = -1, second = -1;
    float z = 0, x = 0;  // shift, finer than samples
    std::int32_t is_at_border = 0;
};

// Correlations for all shifts up to some in depth and along A-scans, in the order of their index.
struct ShiftMap {
    std::int32_t max_z, max_x;

    ECHOLUX_HD std::int32_t depth() const { return 2 * max_z + 1; }
    ECHOLUX_HD std::int32_t cells() const { return (2 * max_x + 1) * depth(); }
    ECHOLUX_HD std::int32_t z(std::int32_t cell) const { return cell % depth() - max_z; }
    ECHOLUX_HD std::int32_t x(std::int32_t cell) const { return cell / depth() - max_x; }

    // Whether two are two samples apart or more.
    ECHOLUX_HD bool is_apart(std::int32_t cell, std::int32_t other) const {
        const std::int32_t along_z = z(cell) - z(other), along_x = x(cell) - x(other);
        return along_z > 1 || along_z < -1 || along_x > 1 || along_x < -1;
    }

    // Of the largest one, at `cell`. `at` gives the correlation of a cell.
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

// The correlation of a strip for one shift, of the maps of its B-scans, one after the other.
struct StripMap {
    const float* maps;     // of the first B-scan
    std::int64_t between;  // the map of one B-scan and that of the next
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

// Weights of the samples -1, 0, 1, 2 of a cubic B-spline, `part` of the way from sample 0 to sample 1.
struct CubicWeights {
    float weight[4];

    ECHOLUX_HD explicit CubicWeights(float part)
        : weight{(1 - part) * (1 - part) * (1 - part) / 6, (4 + part * part * (3 * part - 6)) / 6,
                 (1 + part * (3 + part * (3 - 3 * part))) / 6, part * part * part / 6} {}
};

// Values to coefficients of a cubic B-spline, mirrored at both ends, by a filter that goes there and back (M. Unser,
// IEEE Signal Processing Magazine 16(6), 1999).
struct SplineFilter {
    static constexpr std::int64_t reach = 16;                // pole^16 is 7e-10
    static constexpr double pole = -0.26794919243112270647;  // sqrt(3) - 2

    // Of the first of `count` values, two at least, that `at` gives.
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
    ECHOLUX_HD static double there(double last, float value) { return static_cast<double>(value) + pole * last; }
    ECHOLUX_HD static double turn(double last, float before) {
        return pole / (pole * pole - 1) * (last + pole * static_cast<double>(before));
    }
    ECHOLUX_HD static double back(double last, float value) { return pole * (last - static_cast<double>(value)); }
    ECHOLUX_HD static float coefficient(double last) { return static_cast<float>(6 * last); }
};

// Samples `shift` before each one along an axis, between others as it may be.
struct ShiftedTaps {
    std::int64_t whole;
    CubicWeights cubic;

    ECHOLUX_HD explicit ShiftedTaps(double shift)
        : whole(static_cast<std::int64_t>(std::floor(-shift))), cubic(static_cast<float>(-shift - std::floor(-shift))) {
    }

    ECHOLUX_HD bool is_between() const { return cubic.weight[3] > 0; }  // two samples, not on one

    // Whether a sample comes from within the `count` that there are.
    ECHOLUX_HD bool is_inside(std::int64_t at, std::int64_t count) const {
        return at + whole >= 0 && at + whole + (is_between() ? 1 : 0) < count;
    }

    // Of the four samples around a place, those that decide: a place on a sample is that sample.
    ECHOLUX_HD int first_deciding() const { return is_between() ? 0 : 1; }
    ECHOLUX_HD int end_deciding() const { return is_between() ? 4 : 2; }

    // Tap `i` of sample `at`.
    ECHOLUX_HD std::int64_t tap(std::int64_t at, int i, std::int64_t count) const {
        std::int64_t k = at + whole + i - 1;
        if (k < 0) k = -k;
        if (k >= count) k = 2 * (count - 1) - k;
        return k < 0 ? 0 : k < count ? k : count - 1;
    }
};

}  // namespace echolux
