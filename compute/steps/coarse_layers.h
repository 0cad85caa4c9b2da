// Coarse localization of layers (docs/layers.md): average blocks of A-scans, cut their mean profiles into layers, and
// fit smooth surfaces that ignore outliers. These steps are compiled without fused multiply-add so that all backends
// return the same bits.
#pragma once

#include <cmath>
#include <cstdint>

#include "compute/host_device.h"
#include "compute/steps/layers.h"

namespace echolux {

inline constexpr int rows_of_a_bin = 2;
inline constexpr float signal_over_floor = 3.981f;  // 6 dB
// Min number of rows with signal.
inline constexpr int least_signal_rows = 8;

// Blocks along an axis. Those of the second half mirror those of the first.
struct BlockAxis {
    std::int64_t size, count;

    ECHOLUX_HD static BlockAxis of(std::int64_t size, std::int64_t block) {
        return {size, size / block > 1 ? size / block : 1};
    }
    ECHOLUX_HD std::int64_t begin(std::int64_t i) const {
        return 2 * i <= count ? i * size / count : size - (count - i) * size / count;
    }
    ECHOLUX_HD double centre(std::int64_t i) const { return 0.5 * static_cast<double>(begin(i) + begin(i + 1) - 1); }

    // The two blocks on either side of a position, and the weight of the second.
    struct Share {
        std::int64_t first, second;
        double of_second;
    };
    ECHOLUX_HD Share share(std::int64_t at) const {
        const auto place = static_cast<double>(at);
        std::int64_t first = at * count / size;  // index of the block that contains it, or of a neighbour
        first = first > 1 ? first - 2 : 0;
        while (first + 1 < count && centre(first + 1) <= place) ++first;
        const std::int64_t second = first + 1 < count ? first + 1 : count - 1;
        if (second == first || place <= centre(first)) return {first, first, 0};
        return {first, second, (place - centre(first)) / (centre(second) - centre(first))};
    }
};

// Bilinear interpolation of a block map between the four blocks around a position. Returns rows.
struct BetweenBlocks {
    ECHOLUX_HD float operator()(const float* map, std::int64_t stride, const BlockAxis::Share& a,
                                const BlockAxis::Share& b) const {
        const double first = along(map + b.first * stride, a), second = along(map + b.second * stride, a);
        const double bins = first * (1 - b.of_second) + second * b.of_second;
        return static_cast<float>(rows_of_a_bin * bins);
    }

  private:
    ECHOLUX_HD static double along(const float* row, const BlockAxis::Share& a) {
        const auto left = static_cast<double>(row[a.first]), right = static_cast<double>(row[a.second]);
        return left * (1 - a.of_second) + right * a.of_second;
    }
};

// A boundary to search for, in bins of a profile.
struct ProfileBoundary {
    std::int32_t polarity = 0;  // 1: brighter below, -1: darker below
    std::int32_t min = 1;       // from the previous boundary or from the top, at least 1
    std::int32_t max = 0;       // 0 for no limit

    // Returns whether a piece above the boundary at `end` may begin at `begin`.
    ECHOLUX_HD bool may_follow(std::int32_t begin, std::int32_t end) const {
        return end - begin >= min && (max == 0 || end - begin <= max);
    }
};

// The most likely cut of a profile into pieces of constant brightness, found exactly by dynamic programming over all
// positions of all boundaries. Stores the cost of each boundary at each bin and the start of the piece above it.
struct ProfileCut {
    static constexpr float ruled_out = 1e9f;
    static constexpr std::int32_t step_reach = 3;  // bins on either side that determine the polarity of a boundary

    const double* sums;  // [bins + 1], prefix sums of the profile
    std::int32_t bins;

    // Returns the cost of one piece of constant brightness over bins [begin, end).
    ECHOLUX_HD float piece(std::int32_t begin, std::int32_t end) const {
        return PieceCost{}(static_cast<float>(sums[end] - sums[begin]), static_cast<float>(end - begin));
    }

    // Returns whether the brightness step at this bin contradicts the polarity.
    ECHOLUX_HD bool steps_wrong(int polarity, std::int32_t at) const {
        if (polarity == 0) return false;
        std::int32_t reach = step_reach < at ? step_reach : at;
        reach = reach < bins - at ? reach : bins - at;
        const double below = sums[at + reach] - sums[at], above = sums[at] - sums[at - reach];
        return polarity * (below - above) <= 0;
    }

    // Returns the cost of the first boundary at `end`.
    ECHOLUX_HD float first(const ProfileBoundary& boundary, std::int32_t end) const {
        if (!boundary.may_follow(0, end) || steps_wrong(boundary.polarity, end)) return ruled_out;
        return piece(0, end);
    }

    // Returns the cost of a later boundary at `end`, given the minimal cost of everything above it.
    ECHOLUX_HD float later(const ProfileBoundary& boundary, std::int32_t end, float least) const {
        if (steps_wrong(boundary.polarity, end)) return ruled_out;
        return least < ruled_out ? least : ruled_out;
    }
};

// A quadratic surface fitted to the neighbourhood of a point by iteratively reweighted least squares (P. W. Holland, R.
// E. Welsch, Commun. Stat. A6, 813, 1977).
struct RobustSurface {
    static constexpr int terms = 6;  // 1, x, y, x^2, x y, y^2
    static constexpr int iterations = 8;

    const float* map;
    std::int64_t a_scans, b_scans, reach;
    double limit;

    // Coefficients around the fitted point: x along A-scans, y along B-scans.
    struct Fit {
        double of[terms] = {};

        ECHOLUX_HD double at(double x, double y) const {
            return of[0] + of[1] * x + of[2] * y + of[3] * x * x + of[4] * x * y + of[5] * y * y;
        }
    };
    ECHOLUX_HD Fit fit(std::int64_t b, std::int64_t a) const {
        Fit surface;
        for (int i = 0; i < iterations; ++i) {
            double matrix[terms][terms] = {}, right[terms] = {};
            for (std::int64_t y = b > reach ? b - reach : 0; y <= b + reach && y < b_scans; ++y) {
                for (std::int64_t x = a > reach ? a - reach : 0; x <= a + reach && x < a_scans; ++x)
                    add(static_cast<double>(x - a), static_cast<double>(y - b),
                        static_cast<double>(map[y * a_scans + x]), i, surface.of, matrix, right);
            }
            solve(matrix, right, surface.of);
        }
        return surface;
    }

    // Returns the value of the map, or the fitted surface if the value deviates by more than the limit.
    ECHOLUX_HD float without_outlier(std::int64_t b, std::int64_t a) const {
        const float value = map[b * a_scans + a];
        const double surface = fit(b, a).of[0], off = surface - static_cast<double>(value);
        return off > limit || -off > limit ? static_cast<float>(surface) : value;
    }

  private:
    ECHOLUX_HD void add(double dx, double dy, double value, int iteration, const double* surface,
                        double (*matrix)[terms], double* right) const {
        const double place[terms] = {1, dx, dy, dx * dx, dx * dy, dy * dy};
        double there = 0;
        for (int i = 0; i < terms; ++i) there += surface[i] * place[i];
        const double difference = value - there, off = (difference < 0 ? -difference : difference) / limit;
        // Equal weights at first, then inversely proportional to the deviation. The final iterations nearly ignore
        // values beyond the limit.
        const double weight = iteration == 0               ? 1
                              : iteration < iterations / 2 ? 1 / (off > 0.2 ? off : 0.2)
                                                           : 1 / (1 + off * off * off * off);
        for (int i = 0; i < terms; ++i) {
            for (int j = 0; j < terms; ++j) matrix[i][j] += weight * place[i] * place[j];
            right[i] += weight * place[i] * value;
        }
    }

    // Gaussian elimination without pivoting, because the matrix is positive semidefinite. Terms that the data cannot
    // determine (y if there is a single row of B-scans) are 0.
    ECHOLUX_HD static void solve(double (*matrix)[terms], double* right, double* solution) {
        constexpr double least_pivot = 1e-6;
        bool is_known[terms] = {};
        for (int i = 0; i < terms; ++i) {
            is_known[i] = matrix[i][i] > least_pivot;
            if (!is_known[i]) continue;
            for (int row = i + 1; row < terms; ++row) {
                const double factor = matrix[row][i] / matrix[i][i];
                for (int j = i; j < terms; ++j) matrix[row][j] -= factor * matrix[i][j];
                right[row] -= factor * right[i];
            }
        }
        for (int i = terms; i-- > 0;) {
            solution[i] = 0;
            if (!is_known[i]) continue;
            double sum = right[i];
            for (int j = i + 1; j < terms; ++j) sum -= matrix[i][j] * solution[j];
            solution[i] = sum / matrix[i][i];
        }
    }
};

// Median of 3 x 3 neighbours, or fewer at the borders of a map.
struct MedianOfNeighbours {
    ECHOLUX_HD float operator()(const float* map, std::int64_t a_scans, std::int64_t b_scans, std::int64_t b,
                                std::int64_t a) const {
        float near[9];
        int count = 0;
        for (std::int64_t y = b > 0 ? b - 1 : 0; y <= b + 1 && y < b_scans; ++y) {
            for (std::int64_t x = a > 0 ? a - 1 : 0; x <= a + 1 && x < a_scans; ++x) {
                const float value = map[y * a_scans + x];
                int at = count++;
                for (; at > 0 && near[at - 1] > value; --at) near[at] = near[at - 1];
                near[at] = value;
            }
        }
        return 0.5f * (near[(count - 1) / 2] + near[count / 2]);
    }
};

}  // namespace echolux
