// NUFFT on the CPU (docs/transforms.md 7): with tables shared by all lines or, if each line has its own sample
// positions, with weights computed per line.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "compute/cpu/k_linear.h"
#include "compute/cpu/line_method.h"
#include "compute/fft/fft.h"
#include "compute/indexing.h"
#include "compute/methods/k_jitter.h"
#include "compute/methods/nonuniform.h"

namespace echolux::cpu {

// Reconstructs lines one at a time. The tables must outlive it.
class NufftLine : public LineMethod {
  public:
    // `moved` is null if all lines follow the k map.
    NufftLine(const NufftTables& tables, const MovedSamples* moved, const LineFormat& format,
              std::int64_t rolling_width);

    std::int64_t lines_at_once() const override { return 1; }
    std::span<const std::complex<float>* const> reconstruct(std::span<const RawLine> lines) override;

  private:
    void spread_moved(const LineMap& map);
    void spread_real();
    void spread_complex();

    const NufftTables& tables_;
    const MovedSamples* moved_;
    Subtraction subtract_;
    std::vector<float> spectrum_;                // [samples]
    std::vector<std::complex<float>> weighted_;  // [samples], for complex weights
    Fft transform_;
    std::vector<std::complex<float>> bins_;
    const std::complex<float>* bins_of_line_;
};

// Applies SpreadSamples on the CPU to float or complex float values.
template <class Value>
void to_grid(const SpreadSamples& spread, const Value* samples, Value* grid) {
    const std::int32_t* begin = spread.begin.data();
    for (std::size_t g = 0; g + 1 < spread.begin.size(); ++g) {
        Value sum{};
        for (auto i = index(begin[g]); i < index(begin[g + 1]); ++i) {
            sum += spread.weights[i] * samples[spread.samples[i]];
        }
        grid[g] = sum;
    }
}

template <class Value>
void from_grid(const SpreadSamples& spread, const Value* grid, Value* samples) {
    const auto points = static_cast<std::int32_t>(spread.begin.size() - 1);
    const auto width = static_cast<std::int32_t>(spread.width);
    const float* weight = spread.from_weights.data();
    for (std::size_t p = 0; p < spread.first.size(); ++p) {
        Value sum{};
        std::int32_t point = spread.first[p];
        for (std::int32_t l = 0; l < width; ++l) {
            sum += *weight++ * grid[point];
            if (++point == points) point = 0;
        }
        samples[p] = sum;
    }
}

// ---- Spreads the samples of one line from their own positions over the finer grid (MovedSamples). A single thread
// scatters the samples of a line in order, so the bits do not depend on the number of threads.

// Returns the weight of a sample at a point of the k grid. Value is float if all weights are real, otherwise complex.
template <class Value>
Value weight_at(const MovedSamples& moved, double point) {
    const std::complex<float> weight = moved.weights(point);
    if constexpr (std::is_same_v<Value, float>) {
        return weight.real();
    } else {
        const std::complex<float> turn = turn_of(moved.turn, point * moved.cycles_a_point);
        return {weight.real() * turn.real() - weight.imag() * turn.imag(),
                weight.real() * turn.imag() + weight.imag() * turn.real()};
    }
}

template <class Value>
void spread_sample(const MovedSpreading& moved, double place, Value value, Value* grid) {
    const auto first = static_cast<std::int64_t>(std::ceil(place - static_cast<double>(moved.width) / 2));
    for (std::int64_t g = first; g < first + moved.width; ++g) {
        const std::int64_t around = g < 0 ? g + moved.grid : g < moved.grid ? g : g - moved.grid;
        grid[around] += moved.kernel_at(place - static_cast<double>(g)) * value;
    }
}

template <class Value>
void to_grid(const MovedSamples& moved, const LineMap& map, const float* samples, Value* grid) {
    std::fill_n(grid, moved.grid, Value{});
    const MovedSpreading spreading = moved.spreading();
    const auto stretch = static_cast<float>(map.stretch);
    for (std::size_t p = 0; p < moved.points.size(); ++p) {
        const double point = map(moved.points[p]);
        if (!spreading.holds(point)) continue;
        const Value weight = weight_at<Value>(moved, point) * (moved.shares[p] * stretch);
        spread_sample(spreading, point * moved.ratio, weight * samples[p], grid);
    }
}

// ---- Exact transform on the CPU: a matrix product in float, the quality reference for all other methods. Several
// lines are multiplied together, because reading the matrix costs more than the multiplication.

// The matrix in reading order: panels of twelve depth bins, [panel][sample].
class NudftPanels {
  public:
    static constexpr std::int64_t bins = 12;
    static constexpr std::int64_t floats = 2 * bins;

    using Eight = float __attribute__((vector_size(32)));
    static constexpr std::int64_t eights = floats / 8;

    struct Row {
        Eight values[eights];
    };

    explicit NudftPanels(const NudftMatrix& matrix);

    std::int64_t depth() const { return depth_; }
    std::int64_t samples() const { return samples_; }
    std::int64_t count() const { return (depth_ + bins - 1) / bins; }
    const Row* panel(std::int64_t i) const { return rows_.data() + i * samples_; }

  private:
    std::int64_t depth_;
    std::int64_t samples_;
    std::vector<Row> rows_;
};

// Multiplies batches of lines with the matrix. The panels must outlive it.
class NudftLines : public LineMethod {
  public:
    NudftLines(const NudftPanels& matrix, const LineFormat& format, std::int64_t rolling_width);

    std::int64_t lines_at_once() const override { return max_lines; }
    std::span<const std::complex<float>* const> reconstruct(std::span<const RawLine> lines) override;

  private:
    static constexpr std::int64_t max_lines = 32;

    // Adds the products of one panel with `lines` spectra to `sums`.
    void multiply(const NudftPanels::Row* panel, std::int64_t lines, NudftPanels::Row* sums) const;

    const NudftPanels& matrix_;
    Subtraction subtract_;
    std::vector<float> spectra_;             // [max_lines][samples]
    std::vector<std::complex<float>> bins_;  // [max_lines][whole panels]
    std::vector<const std::complex<float>*> bins_of_line_;
};

}  // namespace echolux::cpu
