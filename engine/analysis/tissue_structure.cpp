#include "engine/analysis/tissue_structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plural.h"
#include "engine/analysis/intensity.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

constexpr std::array<double, 3> speckle{1, 2, 2};  // sigma in voxels of the averaging before the search for steps
constexpr double noise_share = 0.1;                // share of voxels that are darker than the noise level
constexpr double bright_share = 0.99;
// Relative to the bright level; min noise level, for volumes without noise.
constexpr double min_of_bright = 0.002;
constexpr double standing_out = 0.5;      // min contrast of a surface relative to the strongest contrast
constexpr std::int64_t refined = 4;       // rows around the max contrast in which the strongest step is searched
constexpr std::int64_t median_reach = 3;  // A-scans and B-scans on either side
constexpr std::array<double, 3> lateral{0, 1, 1};
constexpr float none = std::numeric_limits<float>::quiet_NaN();

// Returns a quantile, estimated from at most about a million values.
float quantile(const std::vector<float>& values, double share) {
    constexpr std::size_t max = 1 << 20;
    std::vector<float> some;
    const std::size_t stride = std::max<std::size_t>(1, values.size() / max) | 1;
    for (std::size_t i = 0; i < values.size(); i += stride) some.push_back(values[i]);
    const auto place = some.begin() + std::lround(share * static_cast<double>(some.size() - 1));
    std::ranges::nth_element(some, place);
    return *place;
}

// Finds the first step of each A-scan that exceeds the noise.
class SurfaceFinder {
  public:
    SurfaceFinder(const std::vector<float>& averaged, const Size3& size)
        : averaged_(averaged), size_(size),
          floor_(std::max<double>(quantile(averaged, noise_share),
                                  min_of_bright * static_cast<double>(quantile(averaged, bright_share)))) {}

    // Returns the height of a step relative to the sum of both sides and the noise, from -1 to 1.
    double contrast(const AxialSteps& steps, std::int64_t z) const {
        return steps.height(z) / (steps.below(z) + steps.above(z) + floor_);
    }

    // Returns the surface row of each A-scan, or `none`.
    std::vector<float> rows() const {
        const double min = standing_out * strongest_contrast();
        std::vector<float> rows(index(size_[1] * size_[2]), none);
        if (min <= 0) return rows;
        parallel_for(0, std::ssize(rows), [&](std::int64_t line) {
            const AxialSteps steps = steps_of(line);
            for (std::int64_t z = steps.begin(); z < steps.end(); ++z) {
                if (contrast(steps, z) < min) continue;
                std::int64_t top = z;
                while (top + 1 < steps.end() && contrast(steps, top + 1) > contrast(steps, top)) ++top;
                const double row = steps.strongest(top - refined, top + refined + 1, 1);
                rows[index(line)] = static_cast<float>(row);
                return;
            }
        });
        return rows;
    }

  private:
    AxialSteps steps_of(std::int64_t line) const { return {averaged_.data() + line * size_[0], size_[0]}; }

    // Returns the median over A-scans of the strongest contrast.
    double strongest_contrast() const {
        std::vector<float> strongest(index(size_[1] * size_[2]));
        parallel_for(0, std::ssize(strongest), [&](std::int64_t line) {
            const AxialSteps steps = steps_of(line);
            double max = 0;
            for (std::int64_t z = steps.begin(); z < steps.end(); ++z) max = std::max(max, contrast(steps, z));
            strongest[index(line)] = static_cast<float>(max);
        });
        return static_cast<double>(quantile(strongest, 0.5));
    }

    const std::vector<float>& averaged_;
    const Size3& size_;
    double floor_;
};

// Returns the median of known neighbours, in a window that grows until it contains some.
float median_around(const std::vector<float>& rows, const Size3& size, std::int64_t a_scan, std::int64_t b_scan) {
    std::vector<float> near;
    for (std::int64_t reach = median_reach; near.empty(); reach *= 2) {
        for (std::int64_t b = std::max<std::int64_t>(0, b_scan - reach); b <= std::min(size[2] - 1, b_scan + reach);
             ++b) {
            for (std::int64_t a = std::max<std::int64_t>(0, a_scan - reach); a <= std::min(size[1] - 1, a_scan + reach);
                 ++a) {
                const float row = rows[index(b * size[1] + a)];
                if (!std::isnan(row)) near.push_back(row);
            }
        }
    }
    const auto middle = near.begin() + std::ssize(near) / 2;
    std::ranges::nth_element(near, middle);
    return *middle;
}

}  // namespace

std::vector<float> tissue_surface(const Volume& volume) {
    const Size3 size{volume.grid.depth, volume.grid.a_scans, volume.grid.b_scans};
    if (size[0] < 4 * AxialSteps::half_width) {
        throw Error(ErrorCode::bad_setting, fmt::format("no surface in {}", plural(size[0], "depth rows")),
                    "tissue surface", fmt::format("use {} or more", 4 * AxialSteps::half_width));
    }
    std::vector<float> averaged = linear_intensity(volume);
    smooth(averaged, size, speckle);
    const std::vector<float> rows = SurfaceFinder(averaged, size).rows();
    if (std::ranges::all_of(rows, [](float row) { return std::isnan(row); })) {
        throw Error(ErrorCode::bad_setting, "no signal exceeds the noise", "tissue surface",
                    "use a height map, or a constant depth");
    }
    std::vector<float> surface(rows.size());
    parallel_for(0, size[2], [&](std::int64_t b) {
        for (std::int64_t a = 0; a < size[1]; ++a) {
            surface[index(b * size[1] + a)] = median_around(rows, size, a, b);
        }
    });
    smooth(surface, {1, size[1], size[2]}, lateral);
    return surface;
}

template <class Code>
static Code code_of(double code) {
    if constexpr (std::is_integral_v<Code>) return static_cast<Code>(std::lround(code));
    return static_cast<Code>(code);
}

template <class Code>
static void move_up(Code* a_scan, std::int64_t depth, double by, std::vector<double>& copy) {
    copy.assign(a_scan, a_scan + depth);
    for (std::int64_t z = 0; z < depth; ++z) {
        const double from = std::clamp(static_cast<double>(z) + by, 0.0, static_cast<double>(depth - 1));
        const auto above = static_cast<std::size_t>(from);
        const std::size_t below = std::min(above + 1, copy.size() - 1);
        a_scan[z] = code_of<Code>(std::lerp(copy[above], copy[below], from - static_cast<double>(above)));
    }
}

double flat_row(const std::vector<float>& rows) {
    const double sum = std::accumulate(rows.begin(), rows.end(), 0.0);
    return std::round(sum / static_cast<double>(rows.size()));
}

void flatten(Volume& volume, const std::vector<float>& rows) {
    const VolumeGrid& grid = volume.grid;
    if (grid.type == VoxelType::complex64) {
        throw Error(ErrorCode::bad_setting, "complex voxels cannot be flattened", "view.flatten",
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
                const double by = static_cast<double>(rows[index(line)]) - level;
                move_up(codes + line * grid.depth, grid.depth, by, copy);
            }
        });
    });
}

namespace {

// Rows around the boundary in the mean profile in which the boundary of each A-scan is searched.
constexpr std::int64_t search = 7;
constexpr std::int64_t min_distance = 12;            // rows between two boundaries
constexpr double zero_delay_share = 0.04;            // share of the depth, ignored
constexpr std::array<double, 3> smoothing{1, 3, 3};  // sigma in voxels

// Returns the whole row nearest to a height.
std::int64_t row_above(const std::vector<float>& heights, std::size_t line) {
    return static_cast<std::int64_t>(std::lround(heights[line]));
}

// Returns the row of the strongest step of each A-scan, smoothed.
std::vector<float> find_surface(const std::vector<float>& intensity, const Size3& size) {
    std::vector<float> averaged = intensity;
    smooth(averaged, size, smoothing);
    std::vector<float> surface(index(size[1] * size[2]));
    const auto first = static_cast<std::int64_t>(zero_delay_share * static_cast<double>(size[0]));
    parallel_for(0, size[1] * size[2], [&](std::int64_t line) {
        const AxialSteps steps(averaged.data() + line * size[0], size[0]);
        surface[index(line)] = static_cast<float>(steps.strongest(first, size[0], 1));
    });
    smooth(surface, {1, size[1], size[2]}, smoothing);
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
                    fmt::format("only {} of {} were found", edges.size(), plural(count, "boundaries")), "layers");
    }
    std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.row < b.row; });
    return edges;
}

// Returns the sum over all lines; only its shape matters.
std::vector<double> mean_profile(const std::vector<float>& lines, std::int64_t rows) {
    std::vector<double> profile(index(rows), 0.0);
    for (std::size_t i = 0; i < lines.size(); ++i) profile[i % profile.size()] += static_cast<double>(lines[i]);
    return profile;
}

}  // namespace

std::vector<float> flattened(const std::vector<float>& intensity, const Size3& size, const std::vector<float>& height,
                             std::int64_t row, std::int64_t rows) {
    std::vector<float> flat(index(rows * size[1] * size[2]));
    parallel_for(0, size[1] * size[2], [&](std::int64_t line) {
        const std::int64_t first = row_above(height, index(line)) - row;
        for (std::int64_t z = 0; z < rows; ++z) {
            flat[index(line * rows + z)] =
                intensity[index(line * size[0] + std::clamp<std::int64_t>(first + z, 0, size[0] - 1))];
        }
    });
    return flat;
}

Layers find_layers(const Volume& volume, std::int64_t count) {
    constexpr std::int64_t rows_above = 40;
    const Size3 size{volume.grid.depth, volume.grid.a_scans, volume.grid.b_scans};
    if (size[0] < 4 * AxialSteps::half_width) {
        throw Error(ErrorCode::bad_setting, fmt::format("no boundary in {}", plural(size[0], "depth rows")), "layers");
    }
    const std::vector<float> intensity = linear_intensity(volume);
    const std::vector<float> surface = find_surface(intensity, size);
    const auto shallowest = static_cast<std::int64_t>(*std::min_element(surface.begin(), surface.end()));
    const std::int64_t rows = rows_above + size[0] - std::clamp<std::int64_t>(shallowest, 0, size[0] - 1);
    std::vector<float> flat = flattened(intensity, size, surface, rows_above, rows);
    const std::vector<Edge> edges = strongest_edges(mean_profile(flat, rows), count);
    smooth(flat, {rows, size[1], size[2]}, smoothing);

    Layers layers{size[1], size[2], {}};
    for (const Edge& edge : edges) {
        std::vector<float> heights(surface.size());
        parallel_for(0, size[1] * size[2], [&](std::int64_t line) {
            const AxialSteps steps(flat.data() + line * rows, rows);
            const double row = steps.strongest(edge.row - search, edge.row + search + 1, edge.contrast > 0 ? 1 : -1);
            const auto i = index(line);
            heights[i] = static_cast<float>(row + static_cast<double>(row_above(surface, i) - rows_above));
        });
        smooth(heights, {1, size[1], size[2]}, smoothing);
        layers.boundaries.push_back(std::move(heights));
    }
    return layers;
}

// Divides each depth row by its median over all lines, which leaves the contrast within the row.
static void normalise_rows(std::vector<float>& lines, std::int64_t rows) {
    const std::int64_t count = std::ssize(lines) / rows;
    parallel_for(0, rows, [&](std::int64_t z) {
        std::vector<float> row(index(count));
        for (std::int64_t l = 0; l < count; ++l) {
            row[index(l)] = lines[index(l * rows + z)];
        }
        const auto middle = row.begin() + count / 2;
        std::nth_element(row.begin(), middle, row.end());
        const float median = std::max(*middle, 1e-30f);
        for (std::int64_t l = 0; l < count; ++l) lines[index(l * rows + z)] /= median;
    });
}

// Returns the threshold that maximizes the variance between the two classes (Otsu 1979).
static double otsu_threshold(const std::vector<float>& values) {
    constexpr std::size_t bins = 256;
    const auto [min, max] = std::minmax_element(values.begin(), values.end());
    const double low = static_cast<double>(*min);
    const double width = std::max(1e-30, (static_cast<double>(*max) - low) / bins);
    std::array<double, bins> histogram{};
    double total = 0;
    for (const float value : values) {
        const auto bin = static_cast<std::size_t>((static_cast<double>(value) - low) / width);
        histogram[std::min(bin, bins - 1)] += 1;
        total += static_cast<double>(std::min(bin, bins - 1));
    }
    const auto count = static_cast<double>(values.size());
    double below = 0, below_sum = 0, best = -1;
    std::size_t best_bin = 0;
    for (std::size_t bin = 0; bin + 1 < bins; ++bin) {
        below += histogram[bin];
        below_sum += histogram[bin] * static_cast<double>(bin);
        if (below == 0 || below == count) continue;
        const double distance = below_sum / below - (total - below_sum) / (count - below);
        const double variance = below * (count - below) * distance * distance;
        if (variance > best) {
            best = variance;
            best_bin = bin;
        }
    }
    return low + width * static_cast<double>(best_bin + 1);
}

std::vector<std::uint8_t> find_vessels(const Volume& volume, const std::vector<float>& surface, std::int64_t first_row,
                                       std::int64_t last_row) {
    constexpr std::array<double, 3> within_lumen{6, 1.5, 1.5};  // sigma in voxels, smaller than a lumen
    if (first_row >= last_row) throw Error(ErrorCode::bad_setting, "the depth range is empty", "vessels");
    const Size3 size{volume.grid.depth, volume.grid.a_scans, volume.grid.b_scans};
    const std::int64_t rows = last_row - first_row;
    std::vector<float> lines = flattened(linear_intensity(volume), size, surface, -first_row, rows);
    normalise_rows(lines, rows);
    smooth(lines, {rows, size[1], size[2]}, within_lumen);
    std::vector<float> brightest(surface.size());
    for (std::size_t l = 0; l < brightest.size(); ++l) {
        const auto line = lines.begin() + static_cast<std::int64_t>(l) * rows;
        brightest[l] = *std::max_element(line, line + rows);
    }
    const double threshold = otsu_threshold(brightest);
    std::vector<std::uint8_t> mask(brightest.size());
    std::transform(brightest.begin(), brightest.end(), mask.begin(), [threshold](float value) {
        return static_cast<std::uint8_t>(static_cast<double>(value) > threshold ? 1 : 0);
    });
    return mask;
}

double dice(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
    std::int64_t both = 0, sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        both += a[i] != 0 && b[i] != 0;
        sum += (a[i] != 0) + (b[i] != 0);
    }
    return sum == 0 ? 1 : 2 * static_cast<double>(both) / static_cast<double>(sum);
}

}  // namespace echolux
