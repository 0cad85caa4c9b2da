// Compressive sensing on the CPU, one A-scan at a time.
#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <vector>

#include "compute/cpu/k_linear.h"
#include "compute/cpu/line_method.h"
#include "compute/cpu/sparse_search.h"
#include "compute/cpu/subtraction.h"

namespace echolux::cpu {

// Tables shared by the threads of a plan.
struct CompressiveTables {
    explicit CompressiveTables(const ReconstructionSpec& spec);

    std::unique_ptr<Sensing> sensing() const;

    SensingTables sensing_tables;
    std::unique_ptr<SensingMatrix> matrix;  // null when using a grid
    CompressiveRecipe recipe;
};

// Reconstructs lines one at a time. The tables must outlive it.
class CompressiveLine : public LineMethod {
  public:
    CompressiveLine(const PlainTables& plain, const CompressiveTables& tables, const LineFormat& format,
                    DepthRange kept);

    std::int64_t lines_at_once() const override { return 1; }
    std::span<const std::complex<float>* const> reconstruct(std::span<const RawLine> lines) override;

  private:
    const float* spectrum_of(const RawLine& line);

    const SensingTables& tables_;
    std::optional<KLinearLine> k_linear_;  // if samples are those of the k grid
    Subtraction subtract_;
    DepthRange kept_;
    SparseSearch search_;
    std::vector<float> spectrum_;  // [samples]
    std::vector<float> sensed_;
    std::vector<std::complex<float>> bins_;  // kept depth only
    const std::complex<float>* bins_of_line_;
};

}  // namespace echolux::cpu
