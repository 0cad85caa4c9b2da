#include "render/slots/page_need.h"

#include <algorithm>
#include <cmath>
#include <glm/common.hpp>
#include <glm/geometric.hpp>

#include "render/camera.h"
#include "render/transfer_function.h"
#include "shaders/shared/raycast.h"

namespace echolux {
namespace {

// Margin around a page, in bricks. The brick that starts a run of samples also covers its neighbours up to two bricks
// away, and the run continues for another half brick. Gradients reach less far.
constexpr std::int64_t bricks_around = 3;

// Margin around a page for the visibility test, in voxels. Gradients of voxels at the edge of the picture read pages
// just outside it.
constexpr double voxels_around = 8;

// Tests whether a range of texture values contains visible ones.
class Visibility {
  public:
    Visibility(const View& view, const VolumeTexture& volume)
        : mode_(view.mode), has_isosurface_(view.isosurface), all_(!view.skip_empty),
          function_(transfer_function(view, volume.grid(), volume.range(view.range))),
          isovalue_(isovalue_of(view, function_)), scale_(volume.scale()), offset_(volume.offset()), seen_before_{0} {
        // Counts visible table entries, so that a range is tested with one subtraction.
        const TransferTable table = transfer_table(function_, shared::transfer_entries);
        for (const float extinction : table.extinctions) {
            seen_before_.push_back(seen_before_.back() + (extinction > 0 ? 1 : 0));
        }
    }

    bool operator()(const ValueBounds& bounds) const {
        if (all_) return true;
        const double min_value = bounds.min * scale_ + offset_;
        const double max_value = bounds.max * scale_ + offset_;
        const auto [low, high] = function_.range;
        switch (mode_) {
            case ViewMode::traced:
                if (has_isosurface_ && max_value >= isovalue_) return true;
                [[fallthrough]];
            case ViewMode::composite:
            case ViewMode::mida:
            case ViewMode::points: return seen_before_[entry(max_value) + 1] > seen_before_[entry(min_value)];
            case ViewMode::isosurface: return max_value >= isovalue_;
            case ViewMode::minip: return min_value < high;
            case ViewMode::average: return true;
            case ViewMode::mip:
            case ViewMode::attenuated_mip:
            case ViewMode::depth_mip: break;
        }
        return max_value > low;
    }

  private:
    // Rounds to a table entry as the ray caster does.
    std::size_t entry(double value) const {
        constexpr double last = shared::transfer_entries - 1;
        const auto [low, high] = function_.range;
        return static_cast<std::size_t>(std::clamp((value - low) / (high - low) * last, 0.0, last) + 0.5);
    }

    ViewMode mode_;
    bool has_isosurface_;
    bool all_;  // true: rays also enter empty regions
    TransferFunction function_;
    double isovalue_, scale_, offset_;
    std::vector<int> seen_before_;  // number of visible table entries before each one
};

// Position of pages relative to the camera and the picture.
class Sight {
  public:
    Sight(const View& view, const VolumeGrid& grid)
        : camera_(view, volume_extent(grid)),
          half_(0.5 * static_cast<double>(view.width), 0.5 * static_cast<double>(view.height)) {
        const auto edges = voxel_edges(grid);
        edge_ = {edges[0], edges[1], edges[2]};
        middle_ = 0.5 * glm::dvec3(grid.depth, grid.a_scans, grid.b_scans);
    }

    // Distance along the viewing direction; negative behind the eye.
    double distance_to(const glm::dvec3& place) const { return camera_.depth_of(place); }

    glm::dvec3 middle_of(const VoxelBox& box) const { return at(box, glm::dvec3(0.5), 0); }

    // Tests the bounding box of the projected corners.
    bool shows(const VoxelBox& box) const {
        glm::dvec2 min_pixel(INFINITY);
        glm::dvec2 max_pixel(-INFINITY);
        for (int corner = 0; corner < 8; ++corner) {
            const glm::dvec3 place = at(box, glm::dvec3(corner & 1, corner >> 1 & 1, corner >> 2), voxels_around);
            if (distance_to(place) <= 0) return true;  // reaches behind the eye, cannot be projected
            const glm::dvec2 pixel = camera_.project(place);
            min_pixel = glm::min(min_pixel, pixel);
            max_pixel = glm::max(max_pixel, pixel);
        }
        return min_pixel.x <= half_.x && min_pixel.y <= half_.y && max_pixel.x >= -half_.x && max_pixel.y >= -half_.y;
    }

  private:
    // Returns the point at fraction `part` between the first and the last corner of a box that is grown by `around`
    // voxels on each side, in um from the centre of the volume.
    glm::dvec3 at(const VoxelBox& box, const glm::dvec3& part, double around) const {
        const glm::dvec3 first(box.first[0], box.first[1], box.first[2]);
        const glm::dvec3 extent(box.extent[0], box.extent[1], box.extent[2]);
        return (first - around + part * (extent + 2 * around) - middle_) * edge_;
    }

    Camera camera_;
    glm::dvec2 half_;
    glm::dvec3 edge_, middle_;
};

ValueBounds joined(const ValueBounds& a, const ValueBounds& b) {
    return {std::min(a.min, b.min), std::max(a.max, b.max)};
}

}  // namespace

std::vector<ValueBounds> page_bounds(const PageLayout& layout, std::span<const ValueBounds> bricks, int brick_edge) {
    Indices count{};
    for (std::size_t i = 0; i < 3; ++i) count[i] = (layout.voxels[i] + brick_edge - 1) / brick_edge;
    std::vector<ValueBounds> bounds;
    for (std::int64_t number = 0; number < layout.page_count(); ++number) {
        const VoxelBox box = layout.box_of(layout.page_at(number));
        Indices first{};
        Indices end{};
        for (std::size_t i = 0; i < 3; ++i) {
            first[i] = std::max<std::int64_t>(0, box.first[i] / brick_edge - bricks_around);
            end[i] = std::min(count[i], (box.first[i] + box.extent[i] - 1) / brick_edge + 1 + bricks_around);
        }
        ValueBounds all{INFINITY, -INFINITY};
        for (std::int64_t z = first[2]; z < end[2]; ++z) {
            for (std::int64_t y = first[1]; y < end[1]; ++y) {
                const std::int64_t row = (z * count[1] + y) * count[0];
                for (std::int64_t x = first[0]; x < end[0]; ++x) {
                    all = joined(all, bricks[static_cast<std::size_t>(row + x)]);
                }
            }
        }
        bounds.push_back(all);
    }
    return bounds;
}

std::vector<std::int64_t> pages_needed(const View& view, const VolumeTexture& volume, const PageLayout& layout,
                                       std::span<const ValueBounds> bounds) {
    struct Page {
        double distance;
        std::int64_t number;
    };
    const Visibility is_seen(view, volume);
    const Sight sight(view, volume.grid());
    std::vector<Page> pages;
    for (std::int64_t number = 0; number < layout.page_count(); ++number) {
        if (!is_seen(bounds[static_cast<std::size_t>(number)])) continue;
        const VoxelBox box = layout.box_of(layout.page_at(number));
        if (sight.shows(box)) pages.push_back({sight.distance_to(sight.middle_of(box)), number});
    }
    std::ranges::stable_sort(pages, {}, &Page::distance);
    std::vector<std::int64_t> numbers;
    for (const Page& page : pages) numbers.push_back(page.number);
    return numbers;
}

}  // namespace echolux
