#include "compute/cpu/line_methods.h"

#include "compute/cpu/compressive.h"
#include "compute/cpu/defr.h"
#include "compute/cpu/nudft.h"
#include "compute/cpu/nufft.h"
#include "compute/cpu/plain.h"

namespace echolux {

LineMethodMaker line_methods(const ReconstructionSpec& plan, const PlainTables& plain, const LineFormat& format,
                             DepthRange kept) {
    const std::int64_t rolling = plain.rolling_width;
    if (plan.recipe.method == Method::defr) {
        return [tables = std::make_shared<DefrTables>(defr_tables(plan)), &plain, format, kept, recipe = plan.defr] {
            return std::make_unique<DefrLine>(plain, *tables, recipe, format, kept);
        };
    }
    if (plan.recipe.method == Method::compressive) {
        return [tables = std::make_shared<CompressiveTables>(plan), &plain, format, kept] {
            return std::make_unique<CompressiveLine>(plain, *tables, format, kept);
        };
    }
    if (uses_nudft(plan)) {
        return [matrix = std::make_shared<NudftPanels>(NudftMatrix(plan)), format, rolling] {
            return std::make_unique<NudftLines>(*matrix, format, rolling);
        };
    }
    if (uses_nufft(plan)) {
        std::shared_ptr<const MovedSamples> moved;
        if (!plan.calibration.k_jitter.empty()) moved = std::make_shared<MovedSamples>(moved_samples(plan));
        return [tables = std::make_shared<NufftTables>(nufft_tables(plan)), moved, format, rolling] {
            return std::make_unique<NufftLine>(*tables, moved.get(), format, rolling);
        };
    }
    return [&plain, format, first = kept.begin] { return std::make_unique<PlainLine>(plain, format, first); };
}

}  // namespace echolux
