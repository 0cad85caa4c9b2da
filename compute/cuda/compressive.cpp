#include "compute/cuda/compressive.h"

#include <algorithm>

namespace echolux::cuda {
namespace {

constexpr std::int64_t work_bytes = std::int64_t{64} << 20;  // size of spectra processed together

// Returns tables for unweighted points of the k grid.
KLinearTables unweighted(const PlainTables& plain, bool fused) {
    return {plain, std::vector<float>(plain.real_weight.size(), 1.0f), fused};
}

std::unique_ptr<SensingOnDevice> sensing_of(const ReconstructionSpec& spec, const SensingTables& tables,
                                            std::int64_t max_lines) {
    if (spec.compressive.transform != SensingTransform::exact) return sensing_by_grid(tables, max_lines);
    const ScanGeometry& geometry = spec.geometry;
    return sensing_by_matrix(tables, geometry.frames_per_volume() * geometry.lines_per_b_scan());
}

}  // namespace

CompressiveDeviceTables::CompressiveDeviceTables(const ReconstructionSpec& spec, const PlainTables& plain,
                                                 DepthRange kept, std::int64_t max_lines, bool on_chip)
    : sensing_(sensing_tables(spec)), recipe_(spec.compressive), kept_(kept), max_lines_(max_lines),
      rolling_width_(plain.rolling_width) {
    if (on_chip && SparseSearchOnChip::fits(sensing_)) {
        on_chip_.emplace(sensing_, recipe_, kept);
    } else {
        on_device_ = sensing_of(spec, sensing_, max_lines);
        samples_ = uploaded(sensing_.samples);
    }
    if (sensing_.on_k_grid) k_grid_.emplace(unweighted(plain, on_chip));
}

const char* CompressiveDeviceTables::way() const {
    if (on_chip_) return "compressive on chip";
    return recipe_.transform == SensingTransform::exact ? "compressive by matrix products" : "compressive in passes";
}

CompressiveLines::CompressiveLines(const CompressiveDeviceTables& tables, const LineFormat& format, cudaStream_t stream)
    : tables_(tables), stream_(stream) {
    const std::int64_t spectrum_bytes = tables.sensing_.length * std::int64_t{sizeof(float)};
    lines_at_once_ = std::clamp<std::int64_t>(work_bytes / spectrum_bytes, 1, tables.max_lines_);
    if (!tables.on_chip_) {
        search_.emplace(*tables.on_device_, tables.recipe_, enough_tries(tables.sensing_, tables.recipe_), stream);
        lines_at_once_ = std::min(lines_at_once_, search_->lines_at_once());
    }
    if (tables.k_grid_) {
        k_linear_.emplace(*tables.k_grid_, format, lines_at_once_, stream);
        lines_at_once_ = std::min(lines_at_once_, k_linear_->lines_at_once());
    } else {
        subtract_.emplace(format, tables.rolling_width_, lines_at_once_);
        spectra_ = DeviceBuffer(lines_at_once_ * spectrum_bytes);
    }
    bins_ = DeviceBuffer(lines_at_once_ * (tables.kept_.end - tables.kept_.begin) * std::int64_t{sizeof(float2)});
}

DeviceBins CompressiveLines::enqueue(const RawLines& lines) {
    const float* spectra = spectra_of(lines);
    auto* bins = bins_.as<float2>();
    if (search_) {
        search_->enqueue(spectra, tables_.sensing_.length, tables_.samples_.as<std::int32_t>(), lines.count);
        search_->store(lines.count, tables_.kept_, tables_.sensing_.to_bins, bins);
    } else {
        tables_.on_chip_->enqueue(stream_, spectra, tables_.sensing_.length, lines.count, bins);
    }
    return {bins, tables_.kept_.end - tables_.kept_.begin};
}

// Returns [lines][samples].
const float* CompressiveLines::spectra_of(const RawLines& lines) {
    if (k_linear_) return reinterpret_cast<const float*>(k_linear_->enqueue(lines));
    subtract_->enqueue(stream_, lines, spectra_.as<float>(), tables_.sensing_.length);
    return spectra_.as<float>();
}

}  // namespace echolux::cuda
