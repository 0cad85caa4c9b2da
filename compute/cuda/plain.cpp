#include "compute/cuda/plain.h"

namespace echolux::cuda {
namespace {

Fft::Kind kind_of(const KLinearTables& tables) {
    return tables.real() ? Fft::Kind::real_forward : Fft::Kind::complex_forward;
}

std::int64_t bins_of_a_line(const KLinearTables& tables) {
    const std::int64_t transform = tables.of_plan().lengths.transform;
    return tables.real() ? transform / 2 + 1 : transform;
}

}  // namespace

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

}  // namespace echolux::cuda
