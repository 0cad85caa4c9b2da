#include "engine/layers/find_surfaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plural.h"
#include "compute/reason.h"
#include "compute/steps/layers.h"
#include "engine/layers/boundary_search.h"
#include "engine/layers/recordings.h"

namespace echolux {
namespace {

constexpr std::int64_t reach = 4;  // nodes on either side, covering a vessel's width
constexpr double surely_off = 3;   // rows off the surface that a vessel's wall reaches somewhere
constexpr double off = 1;          // rows off the surface of all positions connected to such a wall
// Relative to a vessel's width; B-scans further apart are bridged one by one.
constexpr double farthest_share = 0.5;

// Evenly spaced positions on an axis, to which surfaces are fitted.
struct Nodes {
    std::int64_t step, first, count;

    static Nodes along(std::int64_t size, double spacing_um, double vessel_um) {
        const auto step = std::max<std::int64_t>(1, std::lround(vessel_um / static_cast<double>(reach) / spacing_um));
        const std::int64_t count = (size - 1) / step + 1;
        return {step, (size - 1 - (count - 1) * step) / 2, count};
    }
    std::int64_t place(std::int64_t node) const { return first + node * step; }
    std::int64_t nearest(std::int64_t at) const {
        return std::clamp<std::int64_t>((at - first + step / 2) / step, 0, count - 1);
    }
    double offset(std::int64_t at) const {
        return static_cast<double>(at - place(nearest(at))) / static_cast<double>(step);
    }
};

// Returns the boundary's rows according to the surrounding tissue. `rows` must not have gaps.
std::vector<float> smooth_course(const std::vector<float>& rows, const MapSize& size, const Nodes& a, const Nodes& b) {
    const MapSize nodes{a.count, b.count};
    std::vector<float> map(index(nodes.count()));
    for (std::int64_t y = 0; y < b.count; ++y) {
        for (std::int64_t x = 0; x < a.count; ++x)
            map[index(y * a.count + x)] = rows[index(b.place(y) * size.a_scans + a.place(x))];
    }
    std::vector<RobustSurface::Fit> fits(map.size());
    const RobustSurface surface{map.data(), a.count, b.count, reach, surely_off};
    parallel_for(0, b.count, [&](std::int64_t y) {
        for (std::int64_t x = 0; x < a.count; ++x) fits[index(y * a.count + x)] = surface.fit(y, x);
    });
    std::vector<float> course(rows.size());
    for (std::int64_t y = 0; y < size.b_scans; ++y) {
        for (std::int64_t x = 0; x < size.a_scans; ++x) {
            const auto& fit = fits[index(b.nearest(y) * a.count + a.nearest(x))];
            course[index(y * size.a_scans + x)] = static_cast<float>(fit.at(a.offset(x), b.offset(y)));
        }
    }
    return course;
}

// Returns positions that are surely off, and all connected ones that are off.
std::vector<std::uint8_t> parts_off(const std::vector<float>& distance, const MapSize& size) {
    std::vector<std::uint8_t> is_off(distance.size());
    std::vector<std::int64_t> open;
    const auto take = [&](std::int64_t at, double least) {
        const auto i = index(at);
        if (is_off[i] != 0 || !(static_cast<double>(distance[i]) > least)) return;
        is_off[i] = 1;
        open.push_back(at);
    };
    for (std::int64_t at = 0; at < size.count(); ++at) take(at, surely_off);
    while (!open.empty()) {
        const std::int64_t at = open.back(), x = at % size.a_scans;
        open.pop_back();
        if (x > 0) take(at - 1, off);
        if (x + 1 < size.a_scans) take(at + 1, off);
        if (at >= size.a_scans) take(at - size.a_scans, off);
        if (at + size.a_scans < size.count()) take(at + size.a_scans, off);
    }
    return is_off;
}

// A range of B-scans of a surface that is processed together.
class BScanRange {
  public:
    BScanRange(Surface& surface, const MapSize& size, std::int64_t first_b_scan)
        : surface_(surface), size_(size), first_(index(first_b_scan * size.a_scans)) {}

    void bridge(int polarity, const Nodes& a, const Nodes& b) const {
        std::vector<float> rows(index(size_.count()));
        std::vector<std::uint8_t> is_known(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows[i] = surface_.rows[first_ + i];
            is_known[i] = std::isnan(rows[i]) ? 0 : 1;
        }
        if (std::ranges::find(is_known, 1) == is_known.end()) return;
        fill_unknown(rows, is_known, size_);
        const std::vector<float> course = smooth_course(rows, size_, a, b);
        std::vector<float> distance(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const float down = rows[i] - course[i];
            distance[i] = polarity == 0 ? std::abs(down) : static_cast<float>(-polarity) * down;
        }
        const std::vector<std::uint8_t> is_off = parts_off(distance, size_);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (is_off[i] == 0 || is_known[i] == 0) continue;
            surface_.rows[first_ + i] = course[i];
            surface_.reasons[first_ + i] = Reason::ambiguous;
        }
    }

  private:
    Surface& surface_;
    MapSize size_;
    std::size_t first_;
};

}  // namespace

void bridge_vessels(Surface& surface, std::int64_t a_scans, std::int64_t b_scans, int polarity, double vessel_um,
                    const std::array<double, 2>& spacing_um) {
    if (!(vessel_um > 0 && spacing_um[0] > 0 && spacing_um[1] > 0)) return;
    const Nodes along_a = Nodes::along(a_scans, spacing_um[0], vessel_um);
    if (spacing_um[1] <= farthest_share * vessel_um) {
        BScanRange(surface, {a_scans, b_scans}, 0)
            .bridge(polarity, along_a, Nodes::along(b_scans, spacing_um[1], vessel_um));
        return;
    }
    for (std::int64_t b = 0; b < b_scans; ++b)
        BScanRange(surface, {a_scans, 1}, b).bridge(polarity, along_a, {1, 0, 1});
}

namespace {

constexpr float none = std::numeric_limits<float>::quiet_NaN();

// Runs the search on either backend and converts its result.
class SurfaceFinder {
  public:
    SurfaceFinder(const Size3& size, const SurfaceSearch& search)
        : size_(size), lines_(index(size[1] * size[2])), search_(search),
          tables_(surface_tables(size, search.wanted, search.tissue_below, search.floor)) {}

    // Runs the search on the GPU; `intensity` may be in host or GPU memory. Progress is not counted.
    SurfaceRows on_gpu(const float* intensity, Progress& progress) const {
        return run(*required_gpu().boundary_search(intensity, tables_, search_.processor),
                   [&](std::int64_t) { progress.advance(0); });
    }

    SurfaceRows on_cpu(const std::vector<float>& intensity, Progress& progress) const {
        return run(*boundary_search_on_cpu(intensity.data(), tables_),
                   [&](std::int64_t steps) { progress.advance(steps); });
    }

    // Converts rows to surfaces.
    Surfaces surfaces_of(SurfaceRows found) const {
        Surfaces surfaces{size_[1], size_[2], {}, found.moved, {}};
        for (std::size_t k = 0; k < search_.wanted.size(); ++k) {
            const BoundaryOptions& wanted = search_.wanted[k];
            Surface surface{wanted.name, std::move(found.rows[k]), std::move(found.quality[k]),
                            std::move(found.reasons[k])};
            bridge_vessels(surface, size_[1], size_[2], wanted.polarity, wanted.vessel_um, search_.spacing_um);
            surfaces.all.push_back(std::move(surface));
        }
        sort_surfaces(surfaces);
        return surfaces;
    }

  private:
    // Returns maps without a surface, for a volume in which nothing exceeds the noise.
    SurfaceRows none_found() const {
        const std::size_t count = search_.wanted.size();
        return {std::vector(count, std::vector<float>(lines_, none)), std::vector(count, std::vector<float>(lines_)),
                std::vector(count, std::vector<Reason>(lines_, Reason::no_signal)), 0};
    }

    // Runs the steps of a search. `advance` is called with the number of completed steps.
    SurfaceRows run(BoundarySearch& search, const BoundaryCallback& advance) const {
        BlockCutResult cut = search.cut();
        advance(1);
        const auto is_set = [](std::uint8_t flag) { return flag != 0; };
        const bool is_found = std::ranges::any_of(cut.is_known, is_set);
        require_fit(std::ranges::any_of(cut.has_tissue, is_set), is_found);
        if (!is_found) return none_found();
        const MapSize blocks{tables_.along_a.count, tables_.along_b.count};
        for (std::vector<float>& of_boundary : cut.bins) fill_unknown(of_boundary, cut.is_known, blocks);
        return search.found(cut.bins, signal_levels(size_[0], cut.floor), advance);
    }

    // Throws if tissue was found but no block has depths that fit the distances and polarities.
    static void require_fit(bool has_tissue, bool is_found) {
        if (!has_tissue || is_found) return;
        throw Error(ErrorCode::bad_setting, "no depths satisfy these distances and polarities",
                    "layers.min_um, layers.max_um, layers.polarity", "check them and the depth pitch (layers.row_um)");
    }

    const Size3 size_;
    const std::size_t lines_;
    const SurfaceSearch& search_;
    const SurfaceTables tables_;
};

// Throws if the depth is too small to separate the boundaries.
void require_rows(const Size3& size, const SurfaceSearch& search) {
    const auto least = 4 * (std::ssize(search.wanted) + 2);
    if (size[0] >= least && size[1] * size[2] != 0) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{} cannot be distinguished in {}", plural(std::ssize(search.wanted), "surfaces"),
                            plural(size[0], "depth rows")),
                "layers", fmt::format("search for fewer, or use {} or more", plural(least, "rows")));
}

// Rejects velocities and phases. Voxels without a quantity are taken as intensities.
void require_brightness(const VolumeGrid& grid) {
    constexpr std::array<std::string_view, 5> brightness{"", "db", "intensity", "amplitude", "reflectivity"};
    const std::string& held = grid.quantity;
    if (grid.type != VoxelType::complex64 && std::ranges::find(brightness, held) != brightness.end()) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("voxels of {} show no layers", held.empty() ? "complex numbers" : held), "recipe.quantity",
                "reconstruct db, intensity or amplitude");
}

// Returns the noise floor of volumes whose dB values are relative to it: 0 dB is an intensity of 1.
std::optional<double> floor_of(const VolumeGrid& grid) {
    if (grid.quantity == "db" && grid.unit == "dB above noise floor") return 1;
    return {};
}

Surfaces likeliest(const Volume& volume, const LayerRecipe& recipe, const SearchPlan& plan, Progress& progress,
                   const BackendChoice& processor) {
    const VolumeGrid& grid = volume.grid;
    const SurfaceSearch search{boundary_options(recipe, grid.spacing_um[0]),
                               recipe.tissue_below,
                               floor_of(grid),
                               {grid.spacing_um[1], grid.spacing_um[2]},
                               processor};
    return find_surfaces(planned_intensity(volume, plan), {grid.depth, grid.a_scans, grid.b_scans}, search, progress);
}

}  // namespace

Surfaces find_surfaces(const std::vector<float>& intensity, const Size3& size, const SurfaceSearch& search,
                       Progress& progress) {
    require_rows(size, search);
    const SurfaceFinder finder(size, search);
    const std::int64_t steps = 1 + SweepPasses::least * std::ssize(search.wanted);
    progress.begin("find surfaces", steps, "steps");
    SurfaceRows found;
    const SelectedBackend used = on_gpu_or_cpu(
        search.processor,
        [&] {
            found = finder.on_gpu(intensity.data(), progress);
            progress.advance(steps);
        },
        [&] { found = finder.on_cpu(intensity, progress); });
    progress.end();
    Surfaces surfaces = finder.surfaces_of(std::move(found));
    surfaces.searched_on = used;
    return surfaces;
}

Surfaces find_surfaces_on_gpu(const float* intensity, const Size3& size, const SurfaceSearch& search,
                              Progress& progress) {
    require_rows(size, search);
    const SurfaceFinder finder(size, search);
    Surfaces surfaces = finder.surfaces_of(finder.on_gpu(intensity, progress));
    surfaces.searched_on = {Backend::cuda};
    return surfaces;
}

Surfaces find_surfaces(const Volume& volume, const LayerRecipe& recipe, Progress& progress,
                       const BackendChoice& processor) {
    require_brightness(volume.grid);
    const SearchPlan plan = plan_search(volume, recipe);
    const auto in_recording = [&](const SearchPlan& how) {
        Surfaces surfaces = surfaces_in_recording(volume, recipe, how, progress);
        surfaces.searched_on = {Backend::cpu};
        return surfaces;
    };
    SearchPlan used = plan;
    Surfaces surfaces = plan.method == SearchMethod::likelihood ? likeliest(volume, recipe, plan, progress, processor)
                                                                : in_recording(plan);
    if (plan.is_checked && !agrees_with_retina(volume, recipe, plan, surfaces)) {
        used.method = SearchMethod::retina;
        surfaces = in_recording(used);
    }
    surfaces.method = used.method;
    surfaces.stored = used;
    return surfaces;
}

}  // namespace echolux
