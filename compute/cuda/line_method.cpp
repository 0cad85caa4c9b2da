#include "compute/cuda/line_method.h"

#include "compute/cuda/compressive.h"
#include "compute/cuda/defr.h"
#include "compute/cuda/k_linear.h"
#include "compute/cuda/memory.h"
#include "compute/cuda/nudft.h"
#include "compute/cuda/nufft.h"
#include "compute/cuda/toolkit.h"
#include "compute/cuda/two_passes.h"

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

// Returns tables with window x shaping x dispersion as weight. `tables` must outlive them. `fused` selects a single
// kernel if possible. Throws Error{device, out_of_memory}.
KLinearTables plain_weighted_tables(const PlainTables& tables, bool fused) {
    if (tables.weight.real) return {tables, tables.real_weight, fused};
    return {tables, tables.weight.values, fused};
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

}  // namespace

LineMethods line_methods(const ReconstructionSpec& spec, const PlainTables& plain, const LineFormat& format,
                         DepthRange kept, std::int64_t max_lines, bool fused) {
    if (spec.recipe.method == Method::defr) {
        const auto tables = std::make_shared<DefrDeviceTables>(spec, plain, kept, fused);
        return {[tables, format, max_lines](cudaStream_t stream) {
                    return std::make_unique<DefrLines>(*tables, format, max_lines, stream);
                },
                tables->in_halves() ? "full range on chip, half precision"
                : tables->on_chip   ? "full range on chip"
                                    : "full range in passes",
                tables->in_halves()};
    }
    if (spec.recipe.method == Method::compressive) {
        const auto tables = std::make_shared<CompressiveDeviceTables>(spec, plain, kept, max_lines, fused);
        return {[tables, format](cudaStream_t stream) {
                    return std::make_unique<CompressiveLines>(*tables, format, stream);
                },
                tables->method_name()};
    }
    if (uses_nudft(spec)) {
        return {[tables = std::make_shared<NudftTables>(spec), format, rolling = plain.rolling_width](
                    cudaStream_t stream) { return std::make_unique<NudftLines>(stream, *tables, format, rolling); },
                "matrix product"};
    }
    if (uses_nufft(spec)) {
        const auto tables = std::make_shared<NufftDeviceTables>(spec, fused && plain.rolling_width == 0);
        return {[tables, format, rolling = plain.rolling_width, max_lines](cudaStream_t stream) {
                    return std::make_unique<NufftLines>(*tables, format, rolling, max_lines, stream);
                },
                tables->in_halves()       ? "nufft on chip, half precision"
                : tables->in_one_kernel() ? "nufft on chip"
                                          : "nufft in passes",
                tables->in_halves()};
    }
    if (fused && TwoPassTables::fits(plain)) {
        return {[tables = std::make_shared<TwoPassTables>(plain, kept), format, max_lines](cudaStream_t stream) {
                    return std::make_unique<TwoPassLines>(*tables, format, max_lines, stream);
                },
                "two passes"};
    }
    const auto tables = std::make_shared<KLinearTables>(plain_weighted_tables(plain, fused));
    return {[tables, format, kept, max_lines](cudaStream_t stream) {
                return std::make_unique<PlainMethod>(*tables, format, kept, max_lines, stream);
            },
            tables->one_kernel() ? "separate passes, up-sampled on chip" : "separate passes"};
}

}  // namespace echolux::cuda
