#include "engine/layers/find_surfaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "compute/counted.h"
#include "compute/error.h"
#include "compute/parallel_for.h"
#include "engine/layers/boundary_costs.h"
#include "engine/layers/boundary_search.h"
#include "engine/layers/coarse_layers.h"

namespace echolux {
namespace {

constexpr int passes = 2;               // costs around the coarse places, then around what was found
constexpr int most_passes = 6;          // where boundaries are so steep that they lie further from the coarse places
constexpr double may_stay = 5e-4;       // share of places at the end of their candidates that asks for no more passes
constexpr double still_moves = 0.9;     // of those of the pass before: fewer, or another pass would not help either
constexpr double jitter_sigma = 1.5;    // A-scans, B-scans: whole rows become parts of a row
constexpr float parts_of_a_row = 4096;  // what sums of smoothing round is not told
constexpr float least_contrast_db = 1;  // across a boundary that something speaks for
constexpr float none = std::numeric_limits<float>::quiet_NaN();

// Rows between a surface and the next, as whole numbers where `whole`.
double least_distance(const WantedBoundary& wanted, bool whole) {
    return whole ? std::floor(wanted.min_rows) : wanted.min_rows;
}

// Boundaries from above, each at least its distance below the one before; how many were moved for that.
template <class Number>
std::int64_t put_in_order(std::vector<std::vector<Number>>& rows, const std::vector<WantedBoundary>& wanted) {
    std::int64_t moved = 0;
    for (std::size_t k = 1; k < rows.size(); ++k) {
        const auto distance = static_cast<Number>(least_distance(wanted[k], std::is_integral_v<Number>));
        for (std::size_t line = 0; line < rows[k].size(); ++line) {
            const Number least = rows[k - 1][line] + distance;
            if (rows[k][line] >= least) continue;
            rows[k][line] = least;
            ++moved;
        }
    }
    return moved;
}

BoundaryRows whole_rows(const std::vector<std::vector<float>>& places) {
    BoundaryRows rows;
    for (const std::vector<float>& of_boundary : places) {
        rows.emplace_back();
        for (const float place : of_boundary) rows.back().push_back(static_cast<std::int32_t>(std::lround(place)));
    }
    return rows;
}

class SurfaceFinder {
  public:
    SurfaceFinder(const std::vector<float>& intensity, const Size3& size, const SurfaceSearch& search)
        : intensity_(intensity), size_(size), search_(search) {}

    Surfaces found(Progress& progress) {
        progress.begin("find surfaces", 1 + passes * std::ssize(search_.wanted), "steps");
        const CoarseLayers coarse =
            coarse_layers(intensity_, size_, search_.wanted, search_.tissue_below, search_.floor);
        progress.advance(1);
        if (coarse.has_tissue && !coarse.is_found) {
            throw Error(ErrorCode::bad_setting, "no depths fit these distances and polarities",
                        "layers.min_um, layers.max_um, layers.polarity",
                        "check them, and how deep a voxel is (layers.row_um)");
        }
        Surfaces surfaces = empty();
        if (coarse.is_found) {
            BoundaryRows rows = whole_rows(coarse.places);
            put_in_order(rows, search_.wanted);
            sweep(rows, coarse, surfaces, progress);
            mark_weak(rows, coarse, surfaces);
            mark_mixed(rows, coarse, surfaces);
            mark_missing(rows, surfaces);
            finish(rows, coarse.has_signal, surfaces);
        }
        progress.end();
        return surfaces;
    }

  private:
    MapSize map() const { return {size_[1], size_[2]}; }

    Surfaces empty() const {
        Surfaces surfaces{size_[1], size_[2], {}, 0, {}};
        const auto lines = static_cast<std::size_t>(surfaces.lines());
        for (const WantedBoundary& wanted : search_.wanted) {
            surfaces.all.push_back({wanted.name, std::vector<float>(lines, none), std::vector<float>(lines),
                                    std::vector<Reason>(lines, Reason::no_signal)});
        }
        return surfaces;
    }

    void sweep(BoundaryRows& rows, const CoarseLayers& coarse, Surfaces& surfaces, Progress& progress) const {
        const BoundaryRows first = rows;
        surfaces.searched_on = on_gpu_or_cpu(
            search_.processor,
            [&] {
                const auto search = boundary_search_on_gpu(
                    intensity_, {size_, coarse.has_signal, layer_mean_weights(), least_layer_mean(coarse.floor)},
                    search_.processor);
                sweep_till_settled(rows, *search, coarse, surfaces, [&](int) { progress.advance(0); });
                progress.advance(passes * std::ssize(rows));
            },
            [&] {
                rows = first;
                const auto search = boundary_search_on_cpu(intensity_, size_, coarse);
                sweep_till_settled(rows, *search, coarse, surfaces,
                                   [&](int pass) { progress.advance(pass < passes ? 1 : 0); });
            });
    }

    // Each pass moves boundaries by as many rows as there are candidates to either side. Those that would go on are not
    // there yet; where more passes do not bring them further, nothing is known of them.
    void sweep_till_settled(BoundaryRows& rows, BoundarySearch& search, const CoarseLayers& coarse, Surfaces& surfaces,
                            const std::function<void(int pass)>& done) const {
        std::int64_t before = std::numeric_limits<std::int64_t>::max();
        for (int pass = 0; pass < most_passes; ++pass) {
            const std::int64_t at_ends = sweep(rows, search, coarse, surfaces, [&] { done(pass); });
            const double places = static_cast<double>(surfaces.lines() * std::ssize(rows));
            const bool is_settled = static_cast<double>(at_ends) <= may_stay * places ||
                                    static_cast<double>(at_ends) > still_moves * static_cast<double>(before);
            if (pass + 1 >= passes && is_settled) return;
            before = at_ends;
        }
    }

    // How many places lie at the end of their candidates.
    std::int64_t sweep(BoundaryRows& rows, BoundarySearch& search, const CoarseLayers& coarse, Surfaces& surfaces,
                       const BoundaryDone& done) const {
        constexpr std::int32_t last = boundary_labels - 1;
        std::int64_t at_ends = 0;
        std::vector<SweepStep> steps;
        for (const WantedBoundary& wanted : search_.wanted) steps.push_back({static_cast<float>(wanted.smoothness)});
        std::vector<SweptBoundary> found = search.swept(rows, steps, done);
        for (std::size_t k = 0; k < rows.size(); ++k) {
            for (std::size_t line = 0; line < rows[k].size(); ++line) {
                const std::int32_t label = found[k].labels[line];
                const bool is_at_end = coarse.has_signal[line] != 0 && (label == 0 || label == last);
                at_ends += is_at_end ? 1 : 0;
                rows[k][line] += label - boundary_reach;
                surfaces.all[k].reasons[line] =
                    is_at_end || found[k].is_ambiguous[line] != 0 ? Reason::ambiguous : Reason::ok;
            }
            surfaces.all[k].quality = std::move(found[k].quality);
        }
        surfaces.moved = put_in_order(rows, search_.wanted);
        return at_ends;
    }

    void mark_weak(const BoundaryRows& rows, const CoarseLayers& coarse, Surfaces& surfaces) const {
        for (std::size_t k = 0; k < rows.size(); ++k) {
            const std::vector<float> contrast =
                contrast_db(intensity_, size_, rows, k, coarse.has_signal, coarse.floor);
            const auto polarity = static_cast<float>(search_.wanted[k].polarity);
            for (std::size_t line = 0; line < contrast.size(); ++line) {
                const float rise = polarity != 0 ? polarity * contrast[line] : std::abs(contrast[line]);
                if (!(rise >= least_contrast_db) && !is_thin_as_wanted(rows, k, line))
                    surfaces.all[k].reasons[line] = Reason::weak_match;
            }
        }
    }

    // Two surfaces with another one between them that neither found: both may lie elsewhere.
    void mark_mixed(const BoundaryRows& rows, const CoarseLayers& coarse, Surfaces& surfaces) const {
        parallel_for(0, map().b_scans, [&](std::int64_t b) {
            for (std::int64_t of_map = b * map().a_scans; of_map < (b + 1) * map().a_scans; ++of_map) {
                const auto line = static_cast<std::size_t>(of_map);
                for (std::size_t k = 0; k + 1 < rows.size(); ++k) {
                    const auto inside = LayerInside::of(rows[k][line], rows[k + 1][line], static_cast<int>(size_[0]));
                    if (!is_mixed(intensity_.data() + of_map * size_[0], inside, coarse.floor)) continue;
                    for (const std::size_t of : {k, k + 1}) {
                        Reason& reason = surfaces.all[of].reasons[line];
                        if (reason == Reason::ok) reason = Reason::ambiguous;
                    }
                }
            }
        });
    }

    // Whether a layer is far likelier to be two, 8 dB or more apart.
    static bool is_mixed(const float* line, const LayerInside& inside, double floor) {
        constexpr int least_rows = 6, step = 3;
        constexpr double unlike = 6.3, sure = 15;  // nats
        const int count = inside.end - inside.begin;
        if (count < 2 * least_rows) return false;
        double sum = 0, above = 0;
        for (int z = inside.begin; z < inside.end; ++z) sum += static_cast<double>(line[z]);
        for (int n = 1; n <= count - least_rows; ++n) {
            above += static_cast<double>(line[inside.begin + n - 1]);
            if (n < least_rows || n % step != 0) continue;
            const double rest = count - n, upper = above / n + floor, lower = (sum - above) / rest + floor;
            if (upper < unlike * lower && lower < unlike * upper) continue;
            if (count * std::log(sum / count + floor) - n * std::log(upper) - rest * std::log(lower) > sure)
                return true;
        }
        return false;
    }

    // Whether a layer beside the boundary is too thin to tell, and was looked for as such.
    bool is_thin_as_wanted(const BoundaryRows& rows, std::size_t k, std::size_t line) const {
        const auto is_thin = [&](std::size_t lower) {
            return expects_thin(lower) && rows[lower][line] - rows[lower - 1][line] < thinnest_layer;
        };
        return (k > 0 && is_thin(k)) || (k + 1 < rows.size() && is_thin(k + 1));
    }

    bool expects_thin(std::size_t lower) const {
        const double rows = search_.wanted[lower].min_rows;
        return rows > 0 && rows < thinnest_layer;
    }

    // Of boundaries that lie on each other only the one that is surer in the whole volume is there.
    void mark_doubled(const std::vector<std::vector<float>>& places, Surfaces& surfaces) const {
        std::vector<double> sureness;
        for (const Surface& surface : surfaces.all)
            sureness.push_back(std::accumulate(surface.quality.begin(), surface.quality.end(), 0.0));
        for (std::size_t line = 0; line < places[0].size(); ++line) {
            const auto is_gone = [&](std::size_t k) { return !has_place(surfaces.all[k].reasons[line]); };
            std::size_t kept = places.size();  // none yet
            for (std::size_t k = 0; k < places.size(); ++k) {
                if (is_gone(k)) continue;
                const bool is_doubled = kept < k &&
                                        places[k][line] - places[kept][line] < static_cast<float>(thinnest_layer) &&
                                        !expects_thin(k);
                const std::size_t less = is_doubled && sureness[k] > sureness[kept] ? kept : k;
                if (is_doubled) surfaces.all[less].reasons[line] = Reason::weak_match;
                if (!is_doubled || less != k) kept = k;
            }
        }
    }

    // Beside voxels that were never recorded there is no telling where a surface lies.
    void mark_missing(const BoundaryRows& rows, Surfaces& surfaces) const {
        constexpr std::int64_t reach = 2;  // rows on either side
        parallel_for(0, map().count(), [&](std::int64_t of_map) {
            const auto line = static_cast<std::size_t>(of_map);
            for (std::size_t k = 0; k < rows.size(); ++k) {
                const std::int64_t at = rows[k][line], first = std::max<std::int64_t>(0, at - reach),
                                   last = std::min(size_[0], at + reach);
                const float* of_line = intensity_.data() + of_map * size_[0];
                if (first < last &&
                    std::any_of(of_line + first, of_line + last, [](float value) { return !std::isfinite(value); }))
                    surfaces.all[k].reasons[line] = Reason::out_of_range;
            }
        });
    }

    // Voxel i reaches from i - 1/2 to i + 1/2: a boundary above it lies at i - 1/2.
    void finish(const BoundaryRows& rows, const std::vector<std::uint8_t>& has_signal, Surfaces& surfaces) const {
        const std::vector<float> weights(has_signal.begin(), has_signal.end());
        std::vector<std::vector<float>> places;
        for (const std::vector<std::int32_t>& of_boundary : rows) {
            places.emplace_back(of_boundary.begin(), of_boundary.end());
            smooth_weighted(places.back(), weights, map(), jitter_sigma, jitter_sigma);
        }
        put_in_order(places, search_.wanted);
        mark_doubled(places, surfaces);
        for (std::size_t k = 0; k < places.size(); ++k) {
            Surface& surface = surfaces.all[k];
            for (std::size_t line = 0; line < weights.size(); ++line) {
                const float row = std::round(places[k][line] * parts_of_a_row) / parts_of_a_row - 0.5f;
                if (has_signal[line] == 0)
                    surface.reasons[line] = Reason::no_signal;
                else if (row < 0 || row > static_cast<float>(size_[0] - 1))
                    surface.reasons[line] = Reason::out_of_range;
                const Reason reason = surface.reasons[line];
                surface.rows[line] = has_place(reason) ? row : none;
                if (!has_place(reason)) surface.quality[line] = 0;
            }
        }
    }

    const std::vector<float>& intensity_;
    const Size3 size_;
    const SurfaceSearch& search_;
};

// What velocities or phases would be taken for. Voxels that do not say what they hold are taken as intensities.
void require_brightness(const VolumeGrid& grid) {
    const std::string& held = grid.quantity;
    if (held.empty() || held == "db" || held == "intensity" || held == "amplitude") return;
    throw Error(ErrorCode::bad_setting, fmt::format("voxels of {} show no layers", held), "recipe.quantity",
                "reconstruct db, intensity or amplitude");
}

// Codes that count from the noise floor.
std::optional<double> floor_of(const VolumeGrid& grid) {
    if (grid.quantity == "db" && grid.unit == "dB above noise floor") return 1;
    return {};
}

}  // namespace

Surfaces find_surfaces(const std::vector<float>& intensity, const Size3& size, const SurfaceSearch& search,
                       Progress& progress) {
    const auto least = 4 * (std::ssize(search.wanted) + 2);
    if (size[0] < least || size[1] * size[2] == 0) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("{} cannot be told apart in {}", counted(std::ssize(search.wanted), "surfaces"),
                                counted(size[0], "depth rows")),
                    "layers", fmt::format("look for fewer, or in {} or more", counted(least, "rows")));
    }
    return SurfaceFinder(intensity, size, search).found(progress);
}

Surfaces find_surfaces(const Volume& volume, const LayerRecipe& recipe, Progress& progress,
                       const BackendChoice& processor) {
    const VolumeGrid& grid = volume.grid;
    require_brightness(grid);
    const SurfaceSearch search{wanted_boundaries(recipe, grid.spacing_um[0]), recipe.tissue_below, floor_of(grid),
                               processor};
    return find_surfaces(linear_intensity(volume), {grid.depth, grid.a_scans, grid.b_scans}, search, progress);
}

}  // namespace echolux
