#include "render/annotations/tiles.h"

#include <algorithm>
#include <cmath>
#include <glm/common.hpp>
#include <glm/geometric.hpp>

namespace echolux {
namespace {

using shared::Shape;

struct Bounds {
    glm::vec2 low, high;
};

// Returns the bounding box including partially covered pixels at its edges.
Bounds bounds_of(const Shape& shape) {
    const glm::vec2 a(shape.at.x, shape.at.y);
    const glm::vec2 b(shape.at.z, shape.at.w);
    Bounds bounds{glm::min(a, b), glm::max(a, b)};
    if (shape.kind == shared::shape_triangle) {
        bounds = {glm::min(bounds.low, shape.more), glm::max(bounds.high, shape.more)};
    }
    const float beyond = 1 + (shape.kind == shared::shape_line ? 0.5F * shape.more.x : 0);
    return {bounds.low - beyond, bounds.high + beyond};
}

// Returns true unless a long line, whose bounding box is large, misses the tile.
bool is_near(const Shape& shape, const glm::vec2& middle) {
    if (shape.kind != shared::shape_line) return true;
    const glm::vec2 from(shape.at.x, shape.at.y);
    const glm::vec2 along = glm::vec2(shape.at.z, shape.at.w) - from;
    const float length = glm::length(along);
    if (length < shared::annotate_tile) return true;
    const glm::vec2 off = middle - from;
    const float across = std::abs(off.x * along.y - off.y * along.x) / length;
    // sqrt(1/2) is half of the diagonal of a unit tile.
    return across <= 0.5F * shape.more.x + 1 + 0.7072F * shared::annotate_tile;
}

}  // namespace

Tiles tiles_of(std::span<const Shape> shapes, const Region& region) {
    constexpr auto edge = static_cast<float>(shared::annotate_tile);
    const glm::vec2 corner(region.left, region.top);
    const glm::ivec2 count((region.width + shared::annotate_tile - 1) / shared::annotate_tile,
                           (region.height + shared::annotate_tile - 1) / shared::annotate_tile);
    // One list of shapes per tile, filled in drawing order.
    std::vector<std::vector<std::uint32_t>> touching(static_cast<std::size_t>(count.x) *
                                                     static_cast<std::size_t>(count.y));
    for (std::uint32_t i = 0; i < shapes.size(); ++i) {
        const auto [low, high] = bounds_of(shapes[i]);
        const glm::ivec2 first = glm::clamp(glm::floor((low - corner) / edge), glm::vec2(0), glm::vec2(count));
        const glm::ivec2 last = glm::clamp(glm::floor((high - corner) / edge), glm::vec2(-1), glm::vec2(count - 1));
        for (int y = first.y; y <= last.y; ++y) {
            for (int x = first.x; x <= last.x; ++x) {
                if (!is_near(shapes[i], corner + edge * (glm::vec2(x, y) + 0.5F))) continue;
                touching[static_cast<std::size_t>(y) * static_cast<std::size_t>(count.x) + static_cast<std::size_t>(x)]
                    .push_back(i);
            }
        }
    }
    Tiles tiles;
    for (std::size_t i = 0; i < touching.size(); ++i) {
        if (touching[i].empty()) continue;
        const auto begin = static_cast<std::uint32_t>(tiles.list.size());
        tiles.list.insert(tiles.list.end(), touching[i].begin(), touching[i].end());
        const auto columns = static_cast<std::size_t>(count.x);
        tiles.tiles.push_back({i % columns, i / columns, begin, tiles.list.size()});
    }
    return tiles;
}

}  // namespace echolux
