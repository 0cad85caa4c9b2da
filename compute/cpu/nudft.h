// Exact transform on the CPU: a matrix product in float, the quality reference for all other methods. Several lines are
// multiplied together, because reading the matrix costs more than the multiplication.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "compute/cpu/line_method.h"
#include "compute/cpu/subtraction.h"
#include "compute/methods/nonuniform.h"

namespace echolux::cpu {

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
