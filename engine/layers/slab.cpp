#include "engine/layers/slab.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "compute/error.h"
#include "compute/parallel_for.h"
#include "engine/io/voxel_value.h"

namespace echolux {
namespace {

constexpr float none = std::numeric_limits<float>::quiet_NaN();

// Throws for complex voxels.
void require_real(const VolumeGrid& grid) {
    if (grid.type != VoxelType::complex64) return;
    throw Error(ErrorCode::bad_setting, "complex voxels have no value to show", "recipe.quantity",
                "reconstruct db, intensity or amplitude");
}

// Projects some rows of an A-scan to one value.
template <class Code>
float projected(const Code* codes, std::int64_t count, const VolumeGrid& grid, SlabValue shown) {
    const bool is_db = grid.quantity == "db";
    const double least = -std::numeric_limits<double>::infinity();
    std::array<double, 3> top{least, least, least};  // in descending order
    double sum = 0;
    std::size_t known = 0;
    for (std::int64_t z = 0; z < count; ++z) {
        double value = static_cast<double>(codes[z]) * grid.scale + grid.offset;
        if (std::isnan(value)) continue;
        sum += is_db ? std::pow(10.0, value / 10) : value;
        ++known;
        for (double& place : top) {
            if (value > place) std::swap(value, place);
        }
    }
    if (known == 0) return none;
    if (shown == SlabValue::max) return static_cast<float>(top[0]);
    if (shown == SlabValue::top3) {
        known = std::min(known, top.size());
        sum = 0;
        for (std::size_t i = 0; i < known; ++i) sum += is_db ? std::pow(10.0, top[i] / 10) : top[i];
    }
    const double mean = sum / static_cast<double>(known);
    return static_cast<float>(is_db ? 10 * std::log10(mean) : mean);
}

// Returns the Catmull-Rom weights of four neighbours for a position `t` between the second and the third.
std::array<double, 4> cubic_weights(double t) {
    return {0.5 * t * (-1 + t * (2 - t)), 1 + 0.5 * t * t * (-5 + 3 * t), 0.5 * t * (1 + t * (4 - 3 * t)),
            0.5 * t * t * (t - 1)};
}

template <class Code>
Code code_of(double value) {
    if constexpr (std::is_integral_v<Code>) {
        using Limits = std::numeric_limits<Code>;
        return static_cast<Code>(std::lround(std::clamp<double>(value, Limits::min(), Limits::max())));
    } else {
        return static_cast<Code>(value);
    }
}

// Shifts an A-scan up by `by` rows. `copy` is a buffer.
template <class Code>
void move_up(Code* a_scan, std::int64_t depth, double by, std::vector<double>& copy) {
    copy.assign(a_scan, a_scan + depth);
    const double whole = std::floor(by);
    const std::array<double, 4> weights = cubic_weights(by - whole);
    const auto first = static_cast<std::int64_t>(whole) - 1;
    for (std::int64_t z = 0; z < depth; ++z) {
        double value = 0;
        for (std::int64_t i = 0; i < 4; ++i) {
            const std::int64_t from = std::clamp<std::int64_t>(z + first + i, 0, depth - 1);
            value += weights[static_cast<std::size_t>(i)] * copy[static_cast<std::size_t>(from)];
        }
        a_scan[z] = code_of<Code>(value);
    }
}

template <class Code>
Code empty_code() {
    if constexpr (std::is_integral_v<Code>) return std::numeric_limits<Code>::min();
    return std::numeric_limits<Code>::quiet_NaN();
}

}  // namespace

std::optional<RowRange> rows_between(const Surfaces& surfaces, const SlabSpec& slab, const VolumeGrid& grid,
                                     std::size_t line) {
    const double row_um = DepthScale(grid).thickness(1);
    const float upper = surfaces.all.at(slab.upper).rows[line], lower = surfaces.all.at(slab.lower).rows[line];
    if (std::isnan(upper) || std::isnan(lower)) return std::nullopt;
    const auto row = [&](float surface, double below_um) {
        const double at = std::ceil(static_cast<double>(surface) + below_um / row_um);
        return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(grid.depth)));
    };
    const RowRange rows{row(upper, slab.below_upper_um), row(lower, slab.below_lower_um)};
    return rows.begin < rows.end ? std::optional(rows) : std::nullopt;
}

std::vector<float> en_face_between(const Volume& volume, const Surfaces& surfaces, const SlabSpec& slab) {
    const VolumeGrid& grid = volume.grid;
    require_real(grid);
    std::vector<float> map(surfaces.all.at(slab.upper).rows.size(), none);
    with_voxels(volume, [&](const auto* codes) {
        parallel_for(0, std::ssize(map), [&](std::int64_t line) {
            const auto rows = rows_between(surfaces, slab, grid, static_cast<std::size_t>(line));
            if (!rows) return;
            map[static_cast<std::size_t>(line)] =
                projected(codes + line * grid.depth + rows->begin, rows->end - rows->begin, grid, slab.value);
        });
    });
    return map;
}

Volume volume_of_map(const std::vector<float>& map, const Volume& volume, const char* quantity, const char* unit) {
    const VolumeGrid& grid = volume.grid;
    Volume picture;
    picture.provenance = volume.provenance;
    picture.grid.depth = grid.b_scans;
    picture.grid.a_scans = grid.a_scans;
    picture.grid.b_scans = 1;
    picture.grid.spacing_um = {grid.spacing_um[2], grid.spacing_um[1], 0};
    picture.grid.quantity = quantity;
    picture.grid.unit = unit;
    picture.voxels.resize(static_cast<std::size_t>(picture.grid.bytes()));
    auto* values = reinterpret_cast<float*>(picture.voxels.data());
    for (std::int64_t a = 0; a < grid.a_scans; ++a) {
        for (std::int64_t b = 0; b < grid.b_scans; ++b) {
            *values++ = map[static_cast<std::size_t>(b * grid.a_scans + a)];
        }
    }
    return picture;
}

double flat_row_of(const Surface& surface) {
    double sum = 0;
    std::int64_t count = 0;
    for (const float row : surface.rows) {
        if (std::isnan(row)) continue;
        sum += static_cast<double>(row);
        ++count;
    }
    return count > 0 ? std::round(sum / static_cast<double>(count)) : 0;
}

void flatten_to(Volume& volume, const Surface& surface, bool back) {
    const VolumeGrid& grid = volume.grid;
    require_real(grid);
    const double level = flat_row_of(surface);
    with_voxels(volume, [&](const auto* voxels) {
        using Code = std::remove_cv_t<std::remove_pointer_t<decltype(voxels)>>;
        auto* codes = reinterpret_cast<Code*>(volume.voxels.data());
        parallel_for(0, grid.b_scans, [&](std::int64_t b) {
            std::vector<double> copy;
            for (std::int64_t line = b * grid.a_scans; line < (b + 1) * grid.a_scans; ++line) {
                const float row = surface.rows[static_cast<std::size_t>(line)];
                Code* a_scan = codes + line * grid.depth;
                if (std::isnan(row)) {
                    std::fill_n(a_scan, grid.depth, empty_code<Code>());
                    continue;
                }
                const double up = static_cast<double>(row) - level;
                move_up(a_scan, grid.depth, back ? -up : up, copy);
            }
        });
    });
}

}  // namespace echolux
