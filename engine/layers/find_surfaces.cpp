#include "engine/layers/find_surfaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "compute/error.h"
#include "compute/gpu_backend.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/plural.h"
#include "compute/steps/layers.h"
#include "compute/tissue_on_gpu.h"
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
class BScansTogether {
  public:
    BScansTogether(Surface& surface, const MapSize& size, std::int64_t first_b_scan)
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
        BScansTogether(surface, {a_scans, b_scans}, 0)
            .bridge(polarity, along_a, Nodes::along(b_scans, spacing_um[1], vessel_um));
        return;
    }
    for (std::int64_t b = 0; b < b_scans; ++b)
        BScansTogether(surface, {a_scans, 1}, b).bridge(polarity, along_a, {1, 0, 1});
}

namespace {

// In A-scans and B-scans; turns whole rows into fractions.
constexpr double jitter_sigma = 1.5;
constexpr float none = std::numeric_limits<float>::quiet_NaN();

// Converts boundaries to the form used by both backends.
std::vector<BoundaryRequest> boundary_requests(const std::vector<BoundaryOptions>& wanted) {
    std::vector<BoundaryRequest> rows;
    for (const BoundaryOptions& one : wanted) {
        const bool is_thin = one.min_rows > 0 && one.min_rows < thinnest_layer;
        rows.push_back(
            {static_cast<float>(one.smoothness), static_cast<float>(one.min_rows), one.polarity, is_thin ? 1 : 0});
    }
    return rows;
}

// Search steps shared by both backends, plus the CPU search.
class SurfaceFinder {
  public:
    SurfaceFinder(const Size3& size, const SurfaceSearch& search)
        : size_(size), lines_(index(size[1] * size[2])), search_(search), wanted_(boundary_requests(search.wanted)) {}

    // Runs the search on the GPU; `intensity` may be in host or GPU memory.
    SurfaceRows on_gpu(const float* intensity, Progress& progress) const {
        const auto search = required_gpu().surface_search(intensity, tables(), search_.processor);
        BlocksCut cut = search->cut();
        progress.advance(0);
        const auto is_set = [](std::uint8_t flag) { return flag != 0; };
        const bool is_found = std::ranges::any_of(cut.is_known, is_set);
        require_fit(std::ranges::any_of(cut.has_tissue, is_set), is_found);
        if (!is_found) return {};
        const MapSize blocks{blocks_along_a(size_).count, blocks_along_b(size_).count};
        for (std::vector<float>& of_boundary : cut.bins) fill_unknown(of_boundary, cut.is_known, blocks);
        return search->found(cut.bins, signal_levels(size_[0], cut.floor), [&] { progress.advance(0); });
    }

    // Runs the search on the CPU.
    SurfaceRows on_cpu(const std::vector<float>& intensity, Progress& progress) const {
        const CoarseLayers coarse =
            coarse_layers(intensity, size_, search_.wanted, search_.tissue_below, search_.floor);
        progress.advance(1);
        require_fit(coarse.has_tissue, coarse.is_found);
        if (!coarse.is_found) return {};
        SurfaceRows found;
        found.reasons.resize(wanted_.size() * lines_);
        found.quality.resize(found.reasons.size());
        found.rows.resize(found.reasons.size());
        std::vector<std::int32_t> rows;
        for (const std::vector<float>& of_boundary : coarse.places)
            std::ranges::transform(of_boundary, std::back_inserter(rows), whole_row);
        order(rows, found);
        const auto search = boundary_search_on_cpu(intensity, size_, coarse);
        sweep_till_settled(rows, *search, coarse, found, progress);
        judge(intensity, rows, coarse, found);
        finish(rows, coarse.has_signal, found);
        return found;
    }

    // Converts rows to surfaces. Empty `found.rows` means that nothing exceeds the noise.
    Surfaces surfaces_of(const SurfaceRows& found) const {
        Surfaces surfaces{size_[1], size_[2], {}, found.moved, {}};
        for (std::size_t k = 0; k < wanted_.size(); ++k) {
            Surface surface{search_.wanted[k].name, std::vector<float>(lines_, none), std::vector<float>(lines_),
                            std::vector<Reason>(lines_, Reason::no_signal)};
            if (!found.rows.empty()) {
                const auto first = static_cast<std::ptrdiff_t>(k * lines_);
                std::copy_n(found.rows.begin() + first, lines_, surface.rows.begin());
                std::copy_n(found.quality.begin() + first, lines_, surface.quality.begin());
                std::copy_n(found.reasons.begin() + first, lines_, surface.reasons.begin());
            }
            doubt_lonely(surface);
            bridge_vessels(surface, size_[1], size_[2], wanted_[k].polarity, search_.wanted[k].vessel_um,
                           search_.spacing_um);
            surfaces.all.push_back(std::move(surface));
        }
        sort_surfaces(surfaces);
        return surfaces;
    }

  private:
    MapSize map() const { return {size_[1], size_[2]}; }

    // Marks boundaries as ambiguous where most of their neighbourhood is. Isolated confident spots are chance.
    void doubt_lonely(Surface& surface) const {
        constexpr double sigma = 3;  // A-scans, B-scans
        std::vector<float> sure, seen;
        for (const Reason reason : surface.reasons) {
            sure.push_back(reason == Reason::ok ? 1 : 0);
            seen.push_back(reason == Reason::no_signal ? 0 : 1);
        }
        smooth_map(sure, map(), sigma, sigma);
        smooth_map(seen, map(), sigma, sigma);
        for (std::size_t i = 0; i < lines_; ++i) {
            if (surface.reasons[i] == Reason::ok && sure[i] < seen[i] / 2) surface.reasons[i] = Reason::ambiguous;
        }
    }

    SurfaceTables tables() const {
        SurfaceTables tables;
        tables.size = size_;
        set_coarse(tables, search_.wanted, search_.tissue_below, search_.floor);
        tables.wanted = wanted_;
        tables.mean_weights = layer_mean_weights();
        tables.contrast_weights = half_gaussian(contrast_sigma);
        tables.jitter_weights = half_gaussian(jitter_sigma);
        return tables;
    }

    // Throws if tissue was found but no block has depths that fit the distances and polarities.
    static void require_fit(bool has_tissue, bool is_found) {
        if (!has_tissue || is_found) return;
        throw Error(ErrorCode::bad_setting, "no depths fit these distances and polarities",
                    "layers.min_um, layers.max_um, layers.polarity",
                    "check them, and how deep a voxel is (layers.row_um)");
    }

    // Calls each(boundaries of an A-scan, its index) for all A-scans, in parallel.
    template <class Each>
    void over_lines(std::vector<std::int32_t>& rows, SurfaceRows& found, const Each& each) const {
        parallel_for(0, size_[2], [&](std::int64_t b) {
            for (auto line = index(b * size_[1]); line < index((b + 1) * size_[1]); ++line) {
                each(LineOfSurfaces{rows.data() + line, found.rows.data() + line, found.quality.data() + line,
                                    found.reasons.data() + line, static_cast<std::int64_t>(lines_), wanted_.data(),
                                    static_cast<int>(wanted_.size())},
                     line);
            }
        });
    }

    // Moves boundaries down that cross the one above.
    void order(std::vector<std::int32_t>& rows, SurfaceRows& found) const {
        std::atomic<std::int64_t> moved = 0;
        over_lines(rows, found, [&](const LineOfSurfaces& line, std::size_t) { moved += line.order_rows(); });
        found.moved = moved;
    }

    BoundaryRows by_boundary(const std::vector<std::int32_t>& rows) const {
        BoundaryRows all;
        for (auto first = rows.begin(); first != rows.end(); first += static_cast<std::ptrdiff_t>(lines_))
            all.emplace_back(first, first + static_cast<std::ptrdiff_t>(lines_));
        return all;
    }

    void sweep_till_settled(std::vector<std::int32_t>& rows, BoundarySearch& search, const CoarseLayers& coarse,
                            SurfaceRows& found, Progress& progress) const {
        SweepPasses passes(std::ssize(rows));
        while (!passes.are_settled()) {
            const int reported = passes.done() < SweepPasses::least ? 1 : 0;
            passes.end(sweep(rows, search, coarse, found, [&] { progress.advance(reported); }));
        }
    }

    // Sweeps all boundaries once and returns the number of positions at the end of their searched rows.
    std::int64_t sweep(std::vector<std::int32_t>& rows, BoundarySearch& search, const CoarseLayers& coarse,
                       SurfaceRows& found, const BoundaryCallback& done) const {
        std::int64_t at_ends = 0;
        std::vector<SweepStep> steps;
        for (const BoundaryRequest& wanted : wanted_) steps.push_back({wanted.smoothness});
        const std::vector<SweptBoundary> swept = search.swept(by_boundary(rows), steps, done);
        for (std::size_t k = 0; k < wanted_.size(); ++k) {
            for (std::size_t line = 0; line < lines_; ++line) {
                const SweepResult place{swept[k].labels[line], swept[k].is_ambiguous[line], coarse.has_signal[line]};
                at_ends += place.is_at_end() ? 1 : 0;
                rows[k * lines_ + line] += place.rows_down();
                found.reasons[k * lines_ + line] = place.reason();
            }
            std::ranges::copy(swept[k].quality, found.quality.begin() + static_cast<std::ptrdiff_t>(k * lines_));
        }
        order(rows, found);
        return at_ends;
    }

    void judge(const std::vector<float>& intensity, std::vector<std::int32_t>& rows, const CoarseLayers& coarse,
               SurfaceRows& found) const {
        const BoundaryRows all = by_boundary(rows);
        for (std::size_t k = 0; k < wanted_.size(); ++k) {
            const std::vector<float> contrast = contrast_db(intensity, size_, all, k, coarse.has_signal, coarse.floor);
            over_lines(rows, found, [&](const LineOfSurfaces& line, std::size_t at) {
                line.mark_weak(static_cast<int>(k), contrast[at]);
            });
        }
        over_lines(rows, found, [&](const LineOfSurfaces& line, std::size_t at) {
            const float* values = intensity.data() + static_cast<std::int64_t>(at) * size_[0];
            line.mark_mixed(values, static_cast<int>(size_[0]), coarse.floor);
            for (int k = 0; k < line.count; ++k) line.mark_missing(k, values, static_cast<int>(size_[0]));
        });
    }

    // Returns the total quality of each boundary in the volume.
    std::vector<double> sureness(const SurfaceRows& found) const {
        std::vector<double> all;
        for (std::size_t k = 0; k < wanted_.size(); ++k) {
            double sum = 0;
            for (std::int64_t b = 0; b < size_[2]; ++b) {
                const auto first = found.quality.begin() + static_cast<std::ptrdiff_t>(k * lines_) + b * size_[1];
                sum += std::accumulate(first, first + size_[1], 0.0);
            }
            all.push_back(sum);
        }
        return all;
    }

    void finish(std::vector<std::int32_t>& rows, const std::vector<std::uint8_t>& has_signal,
                SurfaceRows& found) const {
        const std::vector<float> weights(has_signal.begin(), has_signal.end());
        for (std::size_t k = 0; k < wanted_.size(); ++k) {
            const auto first = static_cast<std::ptrdiff_t>(k * lines_),
                       end = static_cast<std::ptrdiff_t>((k + 1) * lines_);
            std::vector<float> places(rows.begin() + first, rows.begin() + end);
            smooth_weighted(places, weights, map(), jitter_sigma, jitter_sigma);
            std::ranges::copy(places, found.rows.begin() + first);
        }
        const std::vector<double> sure = sureness(found);
        over_lines(rows, found, [&](const LineOfSurfaces& line, std::size_t at) {
            line.order_places();
            line.mark_doubled(sure.data());
            line.finish(has_signal[at] != 0, static_cast<int>(size_[0]));
        });
    }

    const Size3 size_;
    const std::size_t lines_;
    const SurfaceSearch& search_;
    const std::vector<BoundaryRequest> wanted_;
};

// Throws if the depth is too small to separate the boundaries.
void require_rows(const Size3& size, const SurfaceSearch& search) {
    const auto least = 4 * (std::ssize(search.wanted) + 2);
    if (size[0] >= least && size[1] * size[2] != 0) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("{} cannot be told apart in {}", plural(std::ssize(search.wanted), "surfaces"),
                            plural(size[0], "depth rows")),
                "layers", fmt::format("look for fewer, or in {} or more", plural(least, "rows")));
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
    const BackendUsed used = on_gpu_or_cpu(
        search.processor,
        [&] {
            found = finder.on_gpu(intensity.data(), progress);
            progress.advance(steps);
        },
        [&] { found = finder.on_cpu(intensity, progress); });
    progress.end();
    Surfaces surfaces = finder.surfaces_of(found);
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
