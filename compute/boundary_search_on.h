// The search for boundaries of layers in the order of its steps (docs/layers.md), written once for the CPU and GPUs
// over parallel primitives. The functors are in compute/steps/boundary_maps.h.
//
// A backend is an executor (compute/cpu/executor.h) that also has the steps for which a CPU and a GPU divide the work
// differently:
//   volume(intensity)            the volume in the memory of the backend
//   begin(volume)                tables of A-scans that fill_costs() needs
//   average_blocks(volume, blocks, profiles)
//   levels_of(profiles, count, share)
//   cut(BlockCutArguments)
//   find_signal(volume, levels, has_signal)
//   smooth(maps, count, weights) replaces maps by their Gaussian means; `weights`: the centre, then each distance
//   fill_costs(volume, present, means, costs)
//   sweep(volume, present, smoothness, costs, swept, done)
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "compute/boundary_search.h"
#include "compute/error.h"
#include "compute/reason.h"
#include "compute/steps/boundary_maps.h"
#include "compute/steps/layers.h"

namespace echolux {

// Levels of the bins of all profiles, without those of 0, which were never recorded.
struct BinLevels {
    float floor = 0;     // value below which the given share of the bins is
    float greatest = 0;  // max
};

// Arguments of cut().
struct BlockCutArguments {
    BlocksOfLines blocks;
    const float* profiles;  // [block][bin]
    std::span<const ProfileBoundary> boundaries;
    float level, added;  // min level above the noise; offset added to all bins
    float* places;       // [boundary][block]
    std::uint8_t *is_known, *has_tissue;
};

template <class Backend>
class BoundarySearchOn : public BoundarySearch {
  public:
    // `intensity` is used until the end of the search, or copied to the memory of the backend.
    template <class... Arguments>
    BoundarySearchOn(const float* intensity, const SurfaceTables& tables, const Arguments&... of_backend)
        : on_(of_backend...), tables_(tables),
          lines_(tables.size[1] * tables.size[2]), blocks_{tables.along_a, tables.along_b,
                                                           static_cast<int>(tables.size[0] / rows_of_a_bin)},
          intensity_(on_.volume(intensity)), wanted_(tables.wanted), mean_weights_(tables.mean_weights),
          has_signal_(lines_) {}

    ~BoundarySearchOn() override { on_.leave(); }

    BlockCutResult cut() override {
        const auto current = on_.current();
        const std::int64_t blocks = blocks_.count();
        const Array<float> profiles(blocks * blocks_.bins), places(std::ssize(tables_.cut) * blocks);
        const Array<std::uint8_t> is_known(blocks), has_tissue(blocks);
        on_.average_blocks(volume(), blocks_, profiles.data());
        const BinLevels levels = on_.levels_of(profiles.data(), profiles.count(), tables_.floor_share);
        BlockCutResult found;
        found.floor = std::min(static_cast<double>(levels.floor), tables_.most_floor);
        const auto floor = static_cast<float>(found.floor);
        on_.cut(BlockCutArguments{blocks_, profiles.data(), tables_.cut, signal_over_floor * floor,
                                  std::max(floor * 1e-3f, levels.greatest * 1e-9f), places.data(), is_known.data(),
                                  has_tissue.data()});
        found.is_known = on_.fetched(is_known.data(), blocks);
        found.has_tissue = on_.fetched(has_tissue.data(), blocks);
        found.bins = fetched_maps(places.data(), blocks);
        return found;
    }

    SurfaceRows found(const std::vector<std::vector<float>>& bins, const SignalLevels& levels,
                      const BoundaryCallback& done) override {
        const auto current = on_.current();
        std::vector<SweepStep> steps;
        for (const BoundaryRequest& wanted : tables_.wanted) steps.push_back({wanted.smoothness});
        prepare(steps);
        places_ = Array<float>(boundaries_ * lines_);
        reasons_ = Array<Reason>(boundaries_ * lines_);
        on_.find_signal(volume(), levels, has_signal_.data());
        place_coarsely(bins);
        SweepPasses passes(boundaries_ * lines_);
        std::int64_t moved = 0;
        while (!passes.are_settled()) {
            const bool is_counted = passes.done() < SweepPasses::least;
            sweep(levels.min_mean, [&](std::int64_t swept) { done(is_counted ? swept : 0); });
            passes.end(on_.sum_of(boundaries_ * lines_, TakeLabel{volume(), maps(), swept_lines()}, "select labels"));
            moved = order();
        }
        judge(levels);
        return {fetched_maps(places_.data(), lines_), fetched_maps(quality_.data(), lines_),
                fetched_maps(reasons_.data(), lines_), moved};
    }

    SweptBoundaries swept(const std::vector<std::int32_t>& rows, const std::vector<std::uint8_t>& has_signal,
                          std::span<const SweepStep> steps, float min_mean) override {
        const auto current = on_.current();
        if (std::ssize(rows) != std::ssize(steps) * lines_ || std::ssize(has_signal) != lines_)
            throw Error(ErrorCode::bad_setting, "needs a row per boundary and A-scan, and a mark per A-scan", "rows");
        prepare(steps);
        on_.write(rows, rows_.data());
        on_.write(has_signal, has_signal_.data());
        sweep(min_mean, [](std::int64_t) {});
        const std::int64_t all = boundaries_ * lines_;
        return {on_.fetched(labels_.data(), all), on_.fetched(quality_.data(), all),
                on_.fetched(is_ambiguous_.data(), all)};
    }

  private:
    template <class T>
    using Array = typename Backend::template Array<T>;

    LayerVolume volume() const {
        return {static_cast<int>(tables_.size[0]), static_cast<int>(tables_.size[1]), static_cast<int>(tables_.size[2]),
                intensity_, has_signal_.data()};
    }
    PresentRows present() const {
        return {rows_.data(), static_cast<int>(boundaries_), static_cast<int>(tables_.size[0]), lines_};
    }
    SweptLines swept_lines() const { return {labels_.data(), quality_.data(), is_ambiguous_.data()}; }
    SurfaceMaps maps() const {
        return {rows_.data(),    places_.data(), quality_.data(),
                reasons_.data(), wanted_.data(), static_cast<int>(boundaries_),
                lines_};
    }

    // Returns the maps of the requested boundaries, of `each` elements.
    template <class T>
    std::vector<std::vector<T>> fetched_maps(const T* first, std::int64_t each) {
        std::vector<std::vector<T>> maps;
        for (std::int64_t k = 0; k < std::ssize(tables_.wanted); ++k)
            maps.push_back(on_.fetched(first + k * each, each));
        return maps;
    }

    // Makes room for a search of that many boundaries. Sums A-scans up once.
    void prepare(std::span<const SweepStep> steps) {
        std::vector<float> smoothness;
        for (const SweepStep& step : steps) smoothness.push_back(step.smoothness);
        if (boundaries_ == 0) on_.begin(volume());
        if (boundaries_ != std::ssize(steps)) {
            const std::int64_t count = std::ssize(steps), all = count * lines_;
            rows_ = Array<std::int32_t>(all);
            labels_ = Array<std::int32_t>(all);
            quality_ = Array<float>(all);
            is_ambiguous_ = Array<std::uint8_t>(all);
            costs_ = Array<float>(all * boundary_lanes);
            means_ = Array<float>(all + lines_);
            counts_ = Array<float>(all + lines_);
            smoothness_ = Array<float>(count);
            boundaries_ = count;  // not before all arrays are there
        }
        on_.write(smoothness, smoothness_.data());
    }

    // Removes outliers from the block maps, smooths them, and interpolates the initial rows of the sweeps.
    void place_coarsely(const std::vector<std::vector<float>>& bins) {
        std::vector<float> all;
        for (const std::vector<float>& of_boundary : bins)
            all.insert(all.end(), of_boundary.begin(), of_boundary.end());
        const Array<float> weights(tables_.block_weights), two(std::ssize(all));
        Array<float> one(all);
        on_.for_each(blocks_.count(), boundaries_,
                     WithoutOutliers{one.data(), blocks_, tables_.outlier_reach, tables_.outlier_bins, two.data()},
                     "leave outliers out");
        on_.for_each(blocks_.count(), boundaries_, MedianOfBlocks{two.data(), blocks_, one.data()}, "find medians");
        on_.smooth(one, boundaries_, blocks_.along_a.count, blocks_.along_b.count, weights);
        on_.for_each(lines_, SpreadBlocks{one.data(), blocks_, static_cast<int>(boundaries_), rows_.data()},
                     "spread blocks");
        order();  // blocks until the local arrays are free
    }

    // Restores the order of boundaries. Returns the number of positions moved.
    std::int64_t order() { return on_.sum_of(lines_, OrderRows{maps()}, "put boundaries in order"); }

    // Sweeps around the current rows. `done` is called with numbers of swept boundaries.
    template <class Done>
    void sweep(float min_mean, const Done& done) {
        const std::int64_t layers = boundaries_ + 1;
        on_.for_each(lines_, layers, SumLayer{volume(), present(), means_.data(), counts_.data()}, "sum layers");
        for (Array<float>* of_layers : {&means_, &counts_}) smooth(*of_layers, layers, mean_weights_);
        on_.for_each(lines_ * layers, DivideByCounts{counts_.data(), min_mean, means_.data()}, "average layers");
        on_.fill_costs(volume(), present(), means_.data(), costs_.data());
        on_.sweep(volume(), present(), smoothness_.data(), costs_.data(), swept_lines(), done);
    }

    void smooth(Array<float>& of_lines, std::int64_t count, const Array<float>& weights) {
        on_.smooth(of_lines, count, tables_.size[1], tables_.size[2], weights);
    }

    void judge(const SignalLevels& levels) {
        const Array<float> contrast_weights(tables_.contrast_weights), jitter_weights(tables_.jitter_weights);
        const std::int64_t count = boundaries_, b_scans = tables_.size[2];
        Array<float> sides(2 * count * lines_);
        const Array<std::uint8_t> is_measured(count * lines_);
        const Array<double> of_b_scans(count * b_scans), sureness(count);
        on_.for_each(lines_, count, FindSides{volume(), present(), sides.data(), is_measured.data()}, "compare sides");
        smooth(sides, 2 * count, contrast_weights);
        on_.for_each(lines_,
                     MarkDoubtful{volume(), maps(), sides.data(), is_measured.data(), levels.margin, levels.floor},
                     "rate boundaries");
        on_.for_each(lines_, BeginPositions{volume(), maps(), sides.data()}, "begin surfaces");
        smooth(sides, count + 1, jitter_weights);
        on_.for_each(lines_, EndPositions{maps(), sides.data()}, "smooth surfaces");
        on_.for_each(count * b_scans, SumOfRun<float>{quality_.data(), tables_.size[1], of_b_scans.data()},
                     "add qualities");
        on_.for_each(count, SumOfRun<double>{of_b_scans.data(), b_scans, sureness.data()}, "add qualities");
        on_.for_each(lines_, FinishSurfaces{volume(), maps(), sureness.data()}, "finish surfaces");
        on_.for_each(count * lines_, FindCertainty{maps(), sides.data()}, "mark uncertain surfaces");
        smooth(sides, 2 * count, contrast_weights);
        on_.for_each(count * lines_, DoubtLonely{maps(), sides.data()}, "mark uncertain surfaces");
        on_.wait("finish surfaces");  // before the local arrays are destroyed
    }

    Backend on_;  // must be first: outlives the arrays
    SurfaceTables tables_;
    std::int64_t lines_, boundaries_ = 0;
    BlocksOfLines blocks_;
    const float* intensity_;
    Array<BoundaryRequest> wanted_;
    Array<float> mean_weights_, smoothness_;
    Array<std::uint8_t> has_signal_, is_ambiguous_;  // [line]; [boundary][line], like the following
    Array<std::int32_t> rows_, labels_;
    Array<float> means_, counts_, costs_, quality_, places_;  // means and counts: [layer][line]
    Array<Reason> reasons_;
};

}  // namespace echolux
