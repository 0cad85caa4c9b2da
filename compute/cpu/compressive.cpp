#include "compute/cpu/compressive.h"

#include "compute/indexing.h"

namespace echolux::cpu {

CompressiveTables::CompressiveTables(const ReconstructionSpec& spec)
    : sensing_tables(echolux::sensing_tables(spec)), recipe(spec.compressive) {
    if (recipe.transform == SensingTransform::exact) matrix = std::make_unique<SensingMatrix>(sensing_tables);
}

std::unique_ptr<Sensing> CompressiveTables::sensing() const {
    return matrix ? sensing_by_matrix(*matrix) : sensing_by_grid(sensing_tables);
}

CompressiveLine::CompressiveLine(const PlainTables& plain, const CompressiveTables& tables, const LineFormat& format,
                                 DepthRange kept)
    : tables_(tables.sensing_tables), subtract_(format, plain.rolling_width), kept_(kept),
      search_(tables.sensing(), tables.recipe, std::ssize(tables_.samples), tables_.modes),
      spectrum_(index(tables_.length)), sensed_(tables_.samples.size()), bins_(index(kept.end - kept.begin)),
      bins_of_line_(bins_.data()) {
    if (tables_.on_k_grid) k_linear_.emplace(plain, format);
}

const float* CompressiveLine::spectrum_of(const RawLine& line) {
    if (k_linear_) return (*k_linear_)(line);
    subtract_(line, spectrum_.data());
    return spectrum_.data();
}

std::span<const std::complex<float>* const> CompressiveLine::reconstruct(std::span<const RawLine> lines) {
    const float* spectrum = spectrum_of(lines.front());
    for (std::size_t i = 0; i < sensed_.size(); ++i) sensed_[i] = spectrum[tables_.samples[i]];
    const std::vector<std::complex<float>>& profile = search_.run(sensed_.data());
    for (std::size_t z = 0; z < bins_.size(); ++z) bins_[z] = profile[index(kept_.begin) + z] * tables_.to_bins;
    return {&bins_of_line_, 1};
}

}  // namespace echolux::cpu
