#include "engine/registration/on_gpu.h"

#include <algorithm>

#include "compute/parallel_for.h"
#include "engine/registration/features.h"

namespace echolux {
namespace {

// Known fine correlations of one row, and those that its search still needs.
class KnownCorrelations {
  public:
    // Returns a correlation; if it is unknown, requests it and returns -1.
    float operator()(std::int64_t row, std::int64_t y, std::int64_t z, std::int64_t x) {
        constexpr std::int64_t reach = CorrelationsAsked::reach;
        const auto covers = [&](const CorrelationsAsked& one) {
            return one.y == y && std::abs(z - one.z) <= reach && std::abs(x - one.x) <= reach;
        };
        const auto known = std::ranges::find_if(asked_, covers);
        const auto at = static_cast<std::size_t>(known - asked_.begin());
        if (at < found_.size()) {
            const std::int64_t cell = (x - known->x + reach) * CorrelationsAsked::edge + z - known->z + reach;
            return found_[at][static_cast<std::size_t>(cell)];
        }
        if (known == asked_.end()) {
            asked_.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(y),
                              static_cast<std::int32_t>(z), static_cast<std::int32_t>(x)});
        }
        return -1;
    }

    std::span<const CorrelationsAsked> open() const { return std::span(asked_).subspan(found_.size()); }
    void give(const Correlations& next) { found_.push_back(next); }

  private:
    std::vector<CorrelationsAsked> asked_;
    std::vector<Correlations> found_;
};

// Correlations on a GPU, requested in batches.
class PairsOnGpu : public StripPairs {
  public:
    PairsOnGpu(RegistrationOnGpu& gpu, const FeaturesOnGpu& reference, const FeaturesOnGpu& moving)
        : gpu_(gpu), reference_(reference), moving_(moving) {}

    StripRows coarse_strips(std::int64_t half) const override {
        return strips_by(moving_.coarse_norms(), reference_.coarse_norms(), half);
    }

    std::vector<CoarsePeak> peaks(const StripRanges& ranges, Progress& told) override {
        return gpu_.peaks(reference_, moving_, ranges, [&](std::int64_t rows) { told.advance(rows); });
    }

    // All rows search with the known correlations. Missing ones are computed together, and the rows search again.
    void find(std::int64_t half, const std::vector<bool>& wanted, const FindPlace& find,
              std::vector<StripPlace>& places) override {
        const StripRows rows = strips_by(moving_.norms(), reference_.norms(), half);
        std::vector<KnownCorrelations> known(wanted.size());
        std::vector<std::size_t> open;
        for (std::size_t row = 0; row < wanted.size(); ++row) {
            if (wanted[row]) open.push_back(row);
        }
        while (!open.empty()) {
            parallel_for(0, std::ssize(open), [&](std::int64_t i) {
                const std::size_t at = open[static_cast<std::size_t>(i)];
                places[at] = find(static_cast<std::int64_t>(at),
                                  [&](std::int64_t row, std::int64_t y, std::int64_t z, std::int64_t x) {
                                      return rows.of(row, y).count() > 0 ? known[at](row, y, z, x) : -1;
                                  });
            });
            std::erase_if(open, [&](std::size_t row) { return known[row].open().empty(); });
            answer(half, open, known);
        }
    }

  private:
    // Computes the requested correlations of all open rows in one call.
    void answer(std::int64_t half, const std::vector<std::size_t>& open, std::vector<KnownCorrelations>& known) {
        std::vector<CorrelationsAsked> asked;
        for (const std::size_t row : open)
            asked.insert(asked.end(), known[row].open().begin(), known[row].open().end());
        if (asked.empty()) return;
        const std::vector<Correlations> found = gpu_.correlations(reference_, moving_, half, asked);
        for (std::size_t i = 0; i < asked.size(); ++i) known[static_cast<std::size_t>(asked[i].row)].give(found[i]);
    }

    static StripRows strips_by(const std::vector<float>& moving, const std::vector<float>& reference,
                               std::int64_t half) {
        return {moving.data(), reference.data(), std::ssize(moving), std::ssize(reference), half};
    }

    RegistrationOnGpu& gpu_;
    const FeaturesOnGpu& reference_;
    const FeaturesOnGpu& moving_;
};

}  // namespace

Interval tissue_band_on_gpu(RegistrationOnGpu& gpu, const PowerOnGpu& volume, std::int64_t margin) {
    const VolumeGrid& grid = volume.grid;
    const Samples samples = lines_of_band(grid);
    return band_of_lines(gpu.runs(volume.power, samples.count, grid.depth, samples.step * grid.depth), grid.depth,
                         margin);
}

std::shared_ptr<FeaturesOnGpu> features_on_gpu(RegistrationOnGpu& gpu, const PowerOnGpu& volume, Interval band) {
    const VolumeGrid& grid = volume.grid;
    const Samples samples = samples_of(grid.depth * grid.a_scans * grid.b_scans);
    const FeatureTables tables{.size = {grid.depth, grid.a_scans, grid.b_scans},
                               .first_depth = band.begin,
                               .depths = band.end - band.begin,
                               .smoothing = smoothing_weights(),
                               .slow_half = slow_mean_half(),
                               .slow_times = slow_means,
                               .coarse = coarse_times,
                               .feature = log_feature(gpu.runs(volume.power, samples.count, 1, samples.step))};
    auto features = gpu.features(volume.power, tables);
    std::vector<float> norms = features->norms(), coarse_norms = features->coarse_norms();
    silence(norms);
    for (std::size_t row = 0; row < norms.size(); ++row) {
        if (norms[row] == 0) coarse_norms[row] = 0;
    }
    features->set_norms(std::move(norms), std::move(coarse_norms));
    return features;
}

std::unique_ptr<StripPairs> pairs_on_gpu(RegistrationOnGpu& gpu, const FeaturesOnGpu& reference,
                                         const FeaturesOnGpu& moving) {
    return std::make_unique<PairsOnGpu>(gpu, reference, moving);
}

}  // namespace echolux
