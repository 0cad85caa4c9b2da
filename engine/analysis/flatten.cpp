#include "engine/analysis/flatten.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "compute/error.h"
#include "compute/parallel_for.h"
#include "engine/io/voxel_value.h"

namespace echolux {
namespace {

template <class Code>
Code code_of(double code) {
    if constexpr (std::is_integral_v<Code>) return static_cast<Code>(std::lround(code));
    return static_cast<Code>(code);
}

template <class Code>
void move_up(Code* a_scan, std::int64_t depth, double by, std::vector<double>& copy) {
    copy.assign(a_scan, a_scan + depth);
    for (std::int64_t z = 0; z < depth; ++z) {
        const double from = std::clamp(static_cast<double>(z) + by, 0.0, static_cast<double>(depth - 1));
        const auto above = static_cast<std::size_t>(from);
        const std::size_t below = std::min(above + 1, copy.size() - 1);
        a_scan[z] = code_of<Code>(std::lerp(copy[above], copy[below], from - static_cast<double>(above)));
    }
}

}  // namespace

double flat_row(const std::vector<float>& rows) {
    const double sum = std::accumulate(rows.begin(), rows.end(), 0.0);
    return std::round(sum / static_cast<double>(rows.size()));
}

void flatten(Volume& volume, const std::vector<float>& rows) {
    const VolumeGrid& grid = volume.grid;
    if (grid.type == VoxelType::complex64) {
        throw Error(ErrorCode::bad_setting, "complex voxels are not flattened", "view.flatten",
                    "reconstruct db, intensity or amplitude");
    }
    const double level = flat_row(rows);
    with_voxels(volume, [&](const auto* voxels) {
        using Code = std::remove_cv_t<std::remove_pointer_t<decltype(voxels)>>;
        auto* codes = reinterpret_cast<Code*>(volume.voxels.data());
        parallel_for(0, grid.b_scans, [&](std::int64_t b) {
            std::vector<double> copy;
            for (std::int64_t a = 0; a < grid.a_scans; ++a) {
                const std::int64_t line = b * grid.a_scans + a;
                const double by = static_cast<double>(rows[static_cast<std::size_t>(line)]) - level;
                move_up(codes + line * grid.depth, grid.depth, by, copy);
            }
        });
    });
}

}  // namespace echolux
