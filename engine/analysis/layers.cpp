#include "engine/analysis/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/counted.h"
#include "compute/error.h"
#include "compute/parallel_for.h"
#include "engine/analysis/axial_steps.h"

namespace echolux {
namespace {

// Rows around the boundary in the mean profile in which the boundary of each A-scan is searched.
constexpr std::int64_t search = 7;
constexpr std::int64_t min_distance = 12;          // rows between two boundaries
constexpr double zero_delay_share = 0.04;          // share of the depth, ignored
constexpr std::array<double, 3> speckle{1, 3, 3};  // sigma in voxels

// Returns the whole row nearest to a height.
std::int64_t row_above(const std::vector<float>& heights, std::size_t line) {
    return static_cast<std::int64_t>(std::lround(heights[line]));
}

// Returns the row of the strongest step of each A-scan, smoothed.
std::vector<float> find_surface(const std::vector<float>& intensity, const Size3& size) {
    std::vector<float> averaged = intensity;
    smooth(averaged, size, speckle);
    std::vector<float> surface(static_cast<std::size_t>(size[1] * size[2]));
    const auto first = static_cast<std::int64_t>(zero_delay_share * static_cast<double>(size[0]));
    parallel_for(0, size[1] * size[2], [&](std::int64_t line) {
        const AxialSteps steps(averaged.data() + line * size[0], size[0]);
        surface[static_cast<std::size_t>(line)] = static_cast<float>(steps.strongest(first, size[0], 1));
    });
    smooth(surface, {1, size[1], size[2]}, speckle);
    return surface;
}

struct Edge {
    std::int64_t row;
    double contrast;  // (below - above) / (below + above)
};

// Returns the `count` edges of highest contrast, from the top.
std::vector<Edge> strongest_edges(const std::vector<double>& profile, std::int64_t count) {
    const std::vector<float> values(profile.begin(), profile.end());
    const AxialSteps steps(values.data(), std::ssize(values));
    std::vector<Edge> candidates;
    for (std::int64_t z = steps.begin(); z < steps.end(); ++z) {
        candidates.push_back({z, steps.height(z) / std::max(1e-30, steps.below(z) + steps.above(z))});
    }
    std::sort(candidates.begin(), candidates.end(),
              [](const Edge& a, const Edge& b) { return std::abs(a.contrast) > std::abs(b.contrast); });
    std::vector<Edge> edges;
    for (const Edge& candidate : candidates) {
        const bool is_new = std::all_of(edges.begin(), edges.end(), [&](const Edge& edge) {
            return std::abs(edge.row - candidate.row) >= min_distance;
        });
        if (is_new && std::ssize(edges) < count) edges.push_back(candidate);
    }
    if (std::ssize(edges) < count) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("only {} of {} were found", edges.size(), counted(count, "boundaries")), "layers");
    }
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.row < b.row; });
    return edges;
}

// Returns the sum over all lines; only its shape matters.
std::vector<double> mean_profile(const std::vector<float>& lines, std::int64_t rows) {
    std::vector<double> profile(static_cast<std::size_t>(rows), 0.0);
    for (std::size_t i = 0; i < lines.size(); ++i) profile[i % profile.size()] += static_cast<double>(lines[i]);
    return profile;
}

}  // namespace

std::vector<float> flattened(const std::vector<float>& intensity, const Size3& size, const std::vector<float>& height,
                             std::int64_t row, std::int64_t rows) {
    std::vector<float> flat(static_cast<std::size_t>(rows * size[1] * size[2]));
    parallel_for(0, size[1] * size[2], [&](std::int64_t line) {
        const std::int64_t first = row_above(height, static_cast<std::size_t>(line)) - row;
        for (std::int64_t z = 0; z < rows; ++z) {
            flat[static_cast<std::size_t>(line * rows + z)] = intensity[static_cast<std::size_t>(
                line * size[0] + std::clamp<std::int64_t>(first + z, 0, size[0] - 1))];
        }
    });
    return flat;
}

Layers find_layers(const Volume& volume, std::int64_t count) {
    constexpr std::int64_t rows_above = 40;
    const Size3 size{volume.grid.depth, volume.grid.a_scans, volume.grid.b_scans};
    if (size[0] < 4 * AxialSteps::half_width) {
        throw Error(ErrorCode::bad_setting, fmt::format("no boundary in {}", counted(size[0], "depth rows")), "layers");
    }
    const std::vector<float> intensity = linear_intensity(volume);
    const std::vector<float> surface = find_surface(intensity, size);
    const auto shallowest = static_cast<std::int64_t>(*std::min_element(surface.begin(), surface.end()));
    const std::int64_t rows = rows_above + size[0] - std::clamp<std::int64_t>(shallowest, 0, size[0] - 1);
    std::vector<float> flat = flattened(intensity, size, surface, rows_above, rows);
    const std::vector<Edge> edges = strongest_edges(mean_profile(flat, rows), count);
    smooth(flat, {rows, size[1], size[2]}, speckle);

    Layers layers{size[1], size[2], {}};
    for (const Edge& edge : edges) {
        std::vector<float> heights(surface.size());
        parallel_for(0, size[1] * size[2], [&](std::int64_t line) {
            const AxialSteps steps(flat.data() + line * rows, rows);
            const double row = steps.strongest(edge.row - search, edge.row + search + 1, edge.contrast > 0 ? 1 : -1);
            const auto i = static_cast<std::size_t>(line);
            heights[i] = static_cast<float>(row + static_cast<double>(row_above(surface, i) - rows_above));
        });
        smooth(heights, {1, size[1], size[2]}, speckle);
        layers.boundaries.push_back(std::move(heights));
    }
    return layers;
}

}  // namespace echolux
