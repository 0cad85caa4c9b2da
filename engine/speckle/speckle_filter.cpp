#include "engine/speckle/speckle_filter.h"

#include <algorithm>

#include "compute/error.h"
#include "compute/plan/describe.h"

namespace echolux {

template <>
const std::vector<Field<SpeckleFilter>>& describe<SpeckleFilter>() {
    using F = SpeckleFilter;
    constexpr Effect effect = Effect::view;
    static const std::vector<Field<F>> fields{
        choice("method", &F::method, {"nlm", "median", "bilateral"}, effect,
               "nlm: non-local means, the mean of voxels whose surroundings look alike; median: of a cube; bilateral: "
               "mean of near voxels of similar brightness"),
        number("looks", &F::looks, 1, 1e4, "", effect, "independent speckle patterns that were averaged before"),
        integer("search_depth", &F::search_depth, 1, 63, "voxels", effect, "nlm: width of the search in depth, odd"),
        integer("search_a_scans", &F::search_a_scans, 1, 63, "A-scans", effect,
                "nlm: width of the search along a B-scan, odd"),
        integer("search_b_scans", &F::search_b_scans, 1, 63, "B-scans", effect,
                "nlm: width of the search across B-scans, odd; 1 for volumes whose B-scans are not aligned"),
        integer("patch", &F::patch, 1, 15, "voxels", effect, "nlm: edge of the cubes that are compared, odd"),
        number("strength", &F::strength, 0.001, 100, "", effect,
               "nlm: how unlike cubes may be beyond what speckle explains; more smooths more"),
        integer("median_size", &F::median_size, 3, 5, "voxels", effect, "median: edge of the cube").only({3, 5}),
        number("sigma", &F::sigma, 0.1, 8, "voxels", effect, "bilateral: reach of the mean"),
        number("range_db", &F::range_db, 0.1, 100, "dB", effect,
               "bilateral: difference in brightness that counts less"),
        choice("stored_as", &F::stored_as, {"auto", "db", "intensity", "amplitude"}, effect,
               "what the voxels hold, where the volume does not say so; auto: as it says"),
    };
    return fields;
}

namespace {

// Throws unless the width is odd.
void require_odd(std::int64_t width, const char* key) {
    if (width % 2 == 1) return;
    throw Error(ErrorCode::bad_setting, "is even, and has no voxel in its middle", key, "give an odd number");
}

}  // namespace

void check_filter(const SpeckleFilter& filter) {
    check(filter, "filter");
    require_odd(filter.search_depth, "filter.search_depth");
    require_odd(filter.search_a_scans, "filter.search_a_scans");
    require_odd(filter.search_b_scans, "filter.search_b_scans");
    require_odd(filter.patch, "filter.patch");
    require_odd(filter.median_size, "filter.median_size");
}

float log_margin(const std::vector<float>& power) {
    if (power.empty()) return LogMargin::of_nothing();
    std::vector<float> some;
    const std::int64_t stride = LogMargin::stride(std::ssize(power));
    for (std::int64_t i = 0; i < std::ssize(power); i += stride) some.push_back(power[static_cast<std::size_t>(i)]);
    const auto place = some.begin() + LogMargin::bright(std::ssize(some));
    std::ranges::nth_element(some, place);
    return LogMargin::of(*place);
}

SpeckleTables tables_of(const std::vector<float>& power, const Size3& size, const SpeckleFilter& filter) {
    return tables_of(size, filter, filter.method == FilterMethod::median ? 0 : log_margin(power));
}

SpeckleTables tables_of(const Size3& size, const SpeckleFilter& filter, float margin) {
    check_filter(filter);
    switch (filter.method) {
        case FilterMethod::median: return median_tables(filter);
        case FilterMethod::bilateral: return bilateral_tables(size, filter, margin);
        case FilterMethod::nlm: break;
    }
    return non_local_means_tables(size, filter, margin);
}

std::vector<float> filtered(const std::vector<float>& power, const Size3& size, const SpeckleFilter& filter,
                            Progress& progress) {
    return filtered(power, size, filter, {.backend = Backend::cpu}, progress).power;
}

FilteredPower filtered(const std::vector<float>& power, const Size3& size, const SpeckleFilter& filter,
                       const BackendChoice& choice, Progress& progress) {
    const SpeckleTables tables = tables_of(power, size, filter);
    FilteredPower done;
    std::string why_slow;
    done.used = on_gpu_or_cpu(
        choice,
        [&] {
            progress.begin("filter on the GPU", size[2], "B-scans");
            FilteredOnGpu filtered =
                filtered_on_gpu(power, size, tables, choice, [&](std::int64_t slices) { progress.advance(slices); });
            done.power = std::move(filtered.power);
            why_slow = std::move(filtered.why_slow);
            progress.end();
        },
        [&] { done.power = std::visit([&](const auto& of) { return filtered(power, size, of, progress); }, tables); });
    if (done.used.processor == Backend::cuda) done.used.refusal = why_slow;
    return done;
}

}  // namespace echolux
