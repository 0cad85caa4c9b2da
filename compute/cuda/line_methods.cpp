#include "compute/cuda/line_methods.h"

#include "compute/cuda/compressive.h"
#include "compute/cuda/defr.h"
#include "compute/cuda/nudft.h"
#include "compute/cuda/nufft.h"
#include "compute/cuda/plain.h"
#include "compute/cuda/two_passes.h"

namespace echolux::cuda {

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
                tables->way()};
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
