#include "compute/cuda/compressive.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/cuda/transform.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/steps/sparse.h"

namespace echolux::cuda {

// ---- The sensing matrix as two real matrices for the tensor cores. Their elements and operands have eleven
// significant bits, a relative error of 3e-4, which is smaller than the error of a spreading kernel over three grid
// points.

namespace {

// Returns the lines per product, as many as fit: a search stores two profiles and two sets of samples per line in
// float, and two and one in half precision. Depends only on the scan and not on blocks, and so do the algorithm and the
// bits.
std::int64_t lines_of_product(std::int64_t scan_lines, std::int64_t mode_pitch, std::int64_t sample_pitch) {
    constexpr std::int64_t best = 8192, step = 128, max_bytes = std::int64_t{256} << 20;
    constexpr std::int64_t mode_bytes = 2 * sizeof(float2) + 2 * sizeof(__half2);
    constexpr std::int64_t sample_bytes = 2 * sizeof(float) + sizeof(__half);
    const std::int64_t line_bytes = mode_pitch * mode_bytes + sample_pitch * sample_bytes;
    const std::int64_t affordable = max_bytes / line_bytes / step * step;
    return std::clamp(rounded_up(scan_lines, step), step, std::clamp(affordable, step, best));
}

SensingShape shape_of(const SensingTables& tables, std::int64_t scan_lines) {
    const std::int64_t sensed = std::ssize(tables.samples), sample_pitch = rounded_up(sensed, 8);
    const std::int64_t mode_pitch = rounded_up(tables.modes, 4);
    return {lines_of_product(scan_lines, mode_pitch, sample_pitch), sensed, sample_pitch, tables.modes, mode_pitch};
}

// Returns the scale of both matrices, whose elements are at most 2 / sqrt(N).
float scale_of(const SensingTables& tables) {
    return half_matrix_scale(2 / std::sqrt(static_cast<double>(tables.length)));
}

// Returns [2 mode_pitch][sample_pitch], which maps samples to the real and imaginary parts of bins.
DeviceBuffer to_depth_matrix(const SensingTables& tables, const SensingShape& shape) {
    const double scale = scale_of(tables);
    std::vector<__half> elements(index(2 * shape.mode_pitch * shape.sample_pitch), __double2half(0));
    parallel_for(0, shape.modes, [&](std::int64_t m) {
        __half* real = elements.data() + 2 * m * shape.sample_pitch;
        for (std::size_t p = 0; p < tables.samples.size(); ++p) {
            const std::complex<double> element = scale * tables.element(p, m);
            real[p] = __double2half(element.real());
            real[p + index(shape.sample_pitch)] = __double2half(element.imag());
        }
    });
    return uploaded(elements);
}

// Returns [sample_pitch][2 mode_pitch], the inverse direction for a bin and its mirror image.
DeviceBuffer to_samples_matrix(const SensingTables& tables, const SensingShape& shape) {
    const double scale = scale_of(tables);
    std::vector<__half> elements(index(2 * shape.mode_pitch * shape.sample_pitch), __double2half(0));
    parallel_for(0, shape.sensed, [&](std::int64_t p) {
        __half* row = elements.data() + p * 2 * shape.mode_pitch;
        for (std::int64_t m = 0; m < shape.modes; ++m) {
            const double share = share_of_norm(static_cast<int>(m));
            const std::complex<double> element = share * scale * tables.element(index(p), m);
            row[2 * m] = __double2half(element.real());
            row[2 * m + 1] = __double2half(element.imag());
        }
    });
    return uploaded(elements);
}

// Both matrices on the device, and their products.
struct Matrices : SensingOnDevice {
    Matrices(const SensingTables& tables, std::int64_t scan_lines)
        : layout(shape_of(tables, scan_lines)), to_samples(to_samples_matrix(tables, layout)),
          to_depth(to_depth_matrix(tables, layout)), of_products(1 / scale_of(tables)),
          samples_product(Operand::half, {layout.sample_pitch, layout.lines, 2 * layout.mode_pitch}),
          depth_product(Operand::half, {2 * layout.mode_pitch, layout.lines, layout.sample_pitch},
                        MatrixProduct::Products::halves) {}

    SensingShape shape() const override { return layout; }
    bool accepts_halves() const override { return true; }
    std::unique_ptr<Sensing> on(cudaStream_t stream) const override;

    SensingShape layout;
    DeviceBuffer to_samples, to_depth;
    float of_products;
    MatrixProduct samples_product, depth_product;
};

class ByMatrix : public Sensing {
  public:
    ByMatrix(const Matrices& matrices, cudaStream_t stream)
        : matrices_(matrices), stream_(stream),
          workspace_(std::max(matrices.samples_product.workspace_bytes(), matrices.depth_product.workspace_bytes())) {}

    // Multiplies whole batches, so that the sums of a line have the same order in each.
    void to_samples(std::int64_t, const void* profiles, float* samples) override {
        matrices_.samples_product.enqueue(stream_, matrices_.to_samples.data(), profiles, matrices_.of_products,
                                          samples, workspace_.data());
    }

    void to_depth(std::int64_t, const void* samples, void* profiles) override {
        matrices_.depth_product.enqueue(stream_, matrices_.to_depth.data(), samples, matrices_.of_products, profiles,
                                        workspace_.data());
    }

  private:
    const Matrices& matrices_;
    cudaStream_t stream_;
    DeviceBuffer workspace_;
};

std::unique_ptr<Sensing> Matrices::on(cudaStream_t stream) const {
    return std::make_unique<ByMatrix>(*this, stream);
}

}  // namespace

std::unique_ptr<SensingOnDevice> sensing_by_matrix(const SensingTables& tables, std::int64_t scan_lines) {
    return std::make_unique<Matrices>(tables, scan_lines);
}

constexpr std::int64_t work_bytes = std::int64_t{64} << 20;  // size of spectra processed together

// Returns tables for unweighted points of the k grid.
static KLinearTables unweighted(const PlainTables& plain, bool on_chip) {
    return {plain, std::vector<float>(plain.real_weight.size(), 1.0f), on_chip};
}

static std::unique_ptr<SensingOnDevice> sensing_of(const ReconstructionSpec& spec, const SensingTables& tables,
                                                   std::int64_t max_lines, GpuKernels kernels) {
    if (kernels != GpuKernels::compressive_by_matrix) return sensing_by_grid(tables, max_lines);
    const ScanGeometry& geometry = spec.geometry;
    return sensing_by_matrix(tables, geometry.frames_per_volume() * geometry.lines_per_b_scan());
}

CompressiveDeviceTables::CompressiveDeviceTables(const ReconstructionSpec& spec, const PlainTables& plain,
                                                 DepthRange kept, std::int64_t max_lines, const GpuPath& path)
    : sensing_(sensing_tables(spec)), recipe_(spec.compressive), kept_(kept), max_lines_(max_lines),
      rolling_width_(plain.rolling_width) {
    if (path.kernels == GpuKernels::compressive_on_chip) {
        on_chip_.emplace(sensing_, recipe_, kept);
    } else {
        on_device_ = sensing_of(spec, sensing_, max_lines, path.kernels);
        samples_ = uploaded(sensing_.samples);
    }
    if (sensing_.on_k_grid) k_grid_.emplace(unweighted(plain, path.grid_on_chip));
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
