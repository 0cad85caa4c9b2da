#include "compute/speckle.h"

#include <fmt/format.h>

#include <algorithm>

#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "compute/voxel_target.h"

namespace echolux {

namespace {

// Returns the number of B-scans per batch, small enough for progress reports, cancellation and the GPU's memory.
std::int64_t slices_together(const std::array<std::int64_t, 3>& size, const SpeckleTables& tables,
                             const BackendChoice& choice, std::int64_t around) {
    constexpr std::int64_t parts = 8, times_around = 8;
    constexpr double share = 0.9;  // usable share of free memory: allocations are rounded up
    const std::int64_t slice = size[0] * size[1] * static_cast<std::int64_t>(sizeof(float));
    const std::int64_t of_slice = 2 * slice + required_gpu().filter_bytes({size[0], size[1], 1}, tables);
    const auto free = static_cast<std::int64_t>(share * static_cast<double>(free_device_memory(choice.gpu)));
    const std::int64_t fitting = free / of_slice - 2 * around;
    if (fitting < std::min<std::int64_t>(1, size[2])) {
        constexpr double gib = 1 << 30;
        throw Error(
            ErrorCode::out_of_memory,
            fmt::format("this filter needs {:.1f} GiB of memory for a B-scan and those around it, the GPU has {:.1f} "
                        "GiB free",
                        static_cast<double>((1 + 2 * around) * of_slice) / gib, static_cast<double>(free) / gib),
            "cuda", "search fewer B-scans, close what else uses the GPU, or choose `backend` cpu");
    }
    return std::min({size[2], fitting, std::max((size[2] + parts - 1) / parts, times_around * around)});
}

}  // namespace

std::int64_t slices_around(const SpeckleTables& tables) {
    struct Reach {
        std::int64_t operator()(const NonLocalMeansTables& nlm) const { return nlm.search[2] + nlm.patch; }
        std::int64_t operator()(const MedianTables& median) const { return median.edge / 2; }
        std::int64_t operator()(const BilateralTables& bilateral) const {
            return bilateral.reach[2] + static_cast<std::int64_t>(bilateral.smoothing[2].size() / 2);
        }
    };
    return std::visit(Reach{}, tables);
}

FilteredOnGpu filtered_on_gpu(const std::vector<float>& power, const std::array<std::int64_t, 3>& size,
                              const SpeckleTables& tables, const BackendChoice& choice, const BScanCallback& done) {
    const GpuBackend& gpu = required_gpu();
    FilteredOnGpu filtered{std::vector<float>(power.size()), {}};
    const std::int64_t slice = size[0] * size[1], around = slices_around(tables);
    if (slice * size[2] == 0) {
        gpu.speckle_filter(size, tables, choice);  // throws without a GPU
        return filtered;
    }
    constexpr auto each = static_cast<std::int64_t>(sizeof(float));
    const std::int64_t together = slices_together(size, tables, choice, around);
    const std::int64_t bytes = std::min(size[2], together + 2 * around) * slice * each;
    const BlockMemory from = device_memory(bytes, choice.gpu), to = device_memory(bytes, choice.gpu);
    std::unique_ptr<SpeckleFilterOnGpu> filter;
    std::int64_t slices_of_filter = 0;
    for (std::int64_t first = 0; first < size[2]; first += together) {
        const std::int64_t end = std::min(size[2], first + together);
        const std::int64_t begin_with = std::max<std::int64_t>(0, first - around),
                           end_with = std::min(size[2], end + around);
        if (!filter || end_with - begin_with != slices_of_filter) {
            filter.reset();
            slices_of_filter = end_with - begin_with;
            filter = gpu.speckle_filter({size[0], size[1], slices_of_filter}, tables, choice);
            if (filtered.why_slow.empty()) filtered.why_slow = filter->why_slow();
        }
        copy_memory(from.data, reinterpret_cast<const std::byte*>(power.data() + begin_with * slice),
                    slices_of_filter * slice * each);
        (*filter)(reinterpret_cast<const float*>(from.data), reinterpret_cast<float*>(to.data));
        copy_memory(reinterpret_cast<std::byte*>(filtered.power.data() + first * slice),
                    to.data + (first - begin_with) * slice * each, (end - first) * slice * each);
        if (done) done(end - first);
    }
    return filtered;
}

}  // namespace echolux
