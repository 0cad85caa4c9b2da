#include "engine/analysis/line_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compute/error.h"
#include "engine/io/voxel_value.h"

namespace echolux {
namespace {

using Place = std::array<double, 3>;

// Position between two voxels on one axis: the voxel below, and the share of the one above.
struct Between {
    std::int64_t below, above;
    double share;
};

// Clamps the position to the voxels of the axis.
Between between(double index, std::int64_t count) {
    const double inside = std::clamp(index, 0.0, static_cast<double>(count - 1));
    const auto below = static_cast<std::int64_t>(std::floor(inside));
    return {below, std::min(below + 1, count - 1), inside - static_cast<double>(below)};
}

template <class Code>
double code_between(const Code* codes, const VolumeGrid& grid, const Place& index) {
    const Between z = between(index[0], grid.depth), a = between(index[1], grid.a_scans),
                  b = between(index[2], grid.b_scans);
    const auto along_depth = [&](std::int64_t a_scan, std::int64_t b_scan) {
        const Code* line = codes + (b_scan * grid.a_scans + a_scan) * grid.depth;
        return std::lerp(static_cast<double>(line[z.below]), static_cast<double>(line[z.above]), z.share);
    };
    const auto along_lines = [&](std::int64_t b_scan) {
        return std::lerp(along_depth(a.below, b_scan), along_depth(a.above, b_scan), a.share);
    };
    return std::lerp(along_lines(b.below), along_lines(b.above), b.share);
}

}  // namespace

LineProfile line_profile(const Volume& volume, const Place& from, const Place& to) {
    const VolumeGrid& grid = volume.grid;
    if (grid.type == VoxelType::complex64 || grid.type == VoxelType::phasor8) {
        throw Error(ErrorCode::bad_setting, "complex voxels have no profile", "measure", "show amplitudes or dB");
    }
    LineProfile profile{.from = from, .to = to, .values = {}, .unit = grid.unit};
    const bool is_known = std::ranges::all_of(grid.spacing_um, [](double spacing) { return spacing > 0; });
    profile.has_spacing = is_known;
    profile.length = std::hypot(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
    Place edges{1, 1, 1};
    for (std::size_t i = 0; i < 3; ++i) {
        if (grid.spacing_um[i] > 0) edges[i] = grid.spacing_um[i];
    }
    double voxels = 0;
    for (std::size_t i = 0; i < 3; ++i) voxels = std::hypot(voxels, (to[i] - from[i]) / edges[i]);
    constexpr double max_values = 4096;
    const auto count = static_cast<std::size_t>(std::clamp(2 * std::ceil(voxels), 1.0, max_values - 1)) + 1;
    with_voxels(volume, [&](const auto* codes) {
        for (std::size_t i = 0; i < count; ++i) {
            const double share = static_cast<double>(i) / static_cast<double>(count - 1);
            Place index{};
            for (std::size_t axis = 0; axis < 3; ++axis)
                index[axis] = std::lerp(from[axis], to[axis], share) / edges[axis];
            profile.values.push_back(static_cast<float>(code_between(codes, grid, index) * grid.scale + grid.offset));
        }
    });
    return profile;
}

std::string profile_csv(const LineProfile& profile) {
    std::string csv = profile.has_spacing ? "length_um,value\n" : "length_voxels,value\n";
    for (std::size_t i = 0; i < profile.values.size(); ++i) {
        csv += fmt::format("{:.6g},{:.6g}\n", profile.step() * static_cast<double>(i), profile.values[i]);
    }
    return csv;
}

}  // namespace echolux
