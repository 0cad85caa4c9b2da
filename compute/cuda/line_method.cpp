#include "compute/cuda/line_method.h"

#include "compute/cuda/compressive.h"
#include "compute/cuda/defr.h"
#include "compute/cuda/k_linear.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/nudft.h"
#include "compute/cuda/nufft.h"
#include "compute/cuda/toolkit.h"
#include "compute/cuda/two_passes.h"
#include "compute/error.h"

namespace echolux::cuda {
namespace {

// Transforms batches of lines on one stream.
class PlainMethod : public LineMethod {
  public:
    // The tables must outlive this object. Calls process up to about `max_lines` lines. Throws Error{device,
    // out_of_memory}.
    PlainMethod(const KLinearTables& tables, const LineFormat& format, DepthRange kept, std::int64_t max_lines,
                cudaStream_t stream);

    std::int64_t lines_at_once() const override { return weighted_.lines_at_once(); }
    DeviceBins enqueue(const RawLines& lines) override;

  private:
    KLinearLines weighted_;
    std::int64_t first_bin_;  // first kept bin
    std::int64_t bins_of_a_line_;
    Fft transform_;
    DeviceBuffer bins_;  // complex [lines][transform / 2 + 1] for real transforms; complex ones are in place
};

Fft::Kind kind_of(const KLinearTables& tables) {
    return tables.real() ? Fft::Kind::real_forward : Fft::Kind::complex_forward;
}

std::int64_t bins_of_a_line(const KLinearTables& tables) {
    const std::int64_t transform = tables.of_plan().lengths.transform;
    return tables.real() ? transform / 2 + 1 : transform;
}

// Returns tables with window x shaping x dispersion as weight. `tables` must outlive them. Throws Error{device,
// out_of_memory}.
KLinearTables plain_weighted_tables(const PlainTables& tables, bool on_chip) {
    if (tables.weight.real) return {tables, tables.real_weight, on_chip};
    return {tables, tables.weight.values, on_chip};
}

PlainMethod::PlainMethod(const KLinearTables& tables, const LineFormat& format, DepthRange kept, std::int64_t max_lines,
                         cudaStream_t stream)
    : weighted_(tables, format, max_lines, stream), first_bin_(kept.begin),
      bins_of_a_line_(cuda::bins_of_a_line(tables)),
      transform_(kind_of(tables), tables.of_plan().lengths.transform, tables.of_plan().lengths.transform,
                 bins_of_a_line_, stream) {
    if (tables.real()) {
        bins_ = Fft::line_memory(tables.of_plan().lengths.transform, lines_at_once(),
                                 bins_of_a_line_ * std::int64_t{sizeof(float2)});
    }
}

DeviceBins PlainMethod::enqueue(const RawLines& lines) {
    std::byte* weighted = weighted_.enqueue(lines);
    std::byte* bins = bins_.bytes() > 0 ? bins_.data() : weighted;
    transform_.execute(lines.count, weighted, bins);
    return {reinterpret_cast<float2*>(bins) + first_bin_, bins_of_a_line_};
}

// Returns a maker of methods that share tables. The other arguments follow the tables in the method's constructor.
template <class Lines, class Tables, class... Arguments>
LineMethodMaker maker_of(std::shared_ptr<const Tables> tables, const Arguments&... arguments) {
    return [=](cudaStream_t stream) { return std::make_unique<Lines>(*tables, arguments..., stream); };
}

}  // namespace

LineMethodMaker line_methods(const ReconstructionSpec& spec, const PlainTables& plain, const LineFormat& format,
                             DepthRange kept, std::int64_t max_lines, const GpuPath& path) {
    const std::int64_t rolling = plain.rolling_width;
    switch (path.kernels) {
        case GpuKernels::full_range_on_chip:
        case GpuKernels::full_range_in_passes:
            return maker_of<DefrLines>(std::make_shared<const DefrDeviceTables>(spec, plain, kept, path), format,
                                       max_lines);
        case GpuKernels::compressive_on_chip:
        case GpuKernels::compressive_by_matrix:
        case GpuKernels::compressive_in_passes:
            return maker_of<CompressiveLines>(
                std::make_shared<const CompressiveDeviceTables>(spec, plain, kept, max_lines, path), format);
        case GpuKernels::matrix_product:
            return maker_of<NudftLines>(std::make_shared<const NudftTables>(spec), format, rolling);
        case GpuKernels::nufft_on_chip:
        case GpuKernels::nufft_in_passes:
            return maker_of<NufftLines>(std::make_shared<const NufftDeviceTables>(spec, path), format, rolling,
                                        max_lines);
        case GpuKernels::two_passes:
            return maker_of<TwoPassLines>(std::make_shared<const TwoPassTables>(plain, kept), format, max_lines);
        case GpuKernels::fused: throw Error(ErrorCode::bad_setting, "is not computed in passes over lines", "recipe");
        case GpuKernels::separate_passes: break;
    }
    return maker_of<PlainMethod>(std::make_shared<const KLinearTables>(plain_weighted_tables(plain, path.grid_on_chip)),
                                 format, kept, max_lines);
}

}  // namespace echolux::cuda
