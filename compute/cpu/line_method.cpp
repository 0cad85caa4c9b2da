#include "compute/cpu/line_method.h"

#include "compute/cpu/k_linear.h"
#include "compute/cpu/nonuniform.h"
#include "compute/cpu/sparse.h"

namespace echolux::cpu {

// Each closure owns the shared tables of its method.
LineMethodMaker line_methods(const ReconstructionSpec& spec, const PlainTables& plain, const LineFormat& format,
                             DepthRange kept) {
    const std::int64_t rolling = plain.rolling_width;
    if (spec.recipe.method == Method::defr) {
        return [tables = std::make_shared<DefrTables>(defr_tables(spec)), &plain, format, kept, recipe = spec.defr] {
            return std::make_unique<DefrLine>(plain, *tables, recipe, format, kept);
        };
    }
    if (spec.recipe.method == Method::compressive) {
        return [tables = std::make_shared<CompressiveTables>(spec), &plain, format, kept] {
            return std::make_unique<CompressiveLine>(plain, *tables, format, kept);
        };
    }
    if (uses_nudft(spec)) {
        return [matrix = std::make_shared<NudftPanels>(NudftMatrix(spec)), format, rolling] {
            return std::make_unique<NudftLines>(*matrix, format, rolling);
        };
    }
    if (uses_nufft(spec)) {
        const auto tables = std::make_shared<const NufftTables>(nufft_tables(spec));
        std::shared_ptr<const MovedSamples> moved;
        if (!spec.calibration.k_jitter.empty()) moved = std::make_shared<MovedSamples>(moved_samples(spec, *tables));
        return [tables, moved, format, rolling] {
            return std::make_unique<NufftLine>(*tables, moved.get(), format, rolling);
        };
    }
    return [&plain, format, first = kept.begin] { return std::make_unique<PlainLine>(plain, format, first); };
}

}  // namespace echolux::cpu
