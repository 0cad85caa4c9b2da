// Cut of straightened profiles between ILM and RPE-bottom into the eight layers of a retina.
//
// A profile is the weighted mean over neighbouring A-scans of r = (u - low) / (top - low), low the outer nuclear layer
// and top the RPE of the same A-scans, so that shadows and vignetting cancel. A piece of a layer costs
// sum of min((r - level)^2 / (2 * 0.16^2), 3) and (thickness - prior)^2 / (2 sd^2). The brightness of nerve fibres and
// ganglion cells depends on the angle of the beam (R. W. Knighton, X.-R. Huang, IOVS 40, 639, 1999), so these pieces
// use their own mean, with a deviation of 0.25 from the level. An edge in the direction of its polarity earns up to 3.
// The second pass uses the median levels of the first, within +-0.2 of the table, the third the thicknesses of the
// neighbours.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "compute/indexing.h"
#include "engine/layers/retina_search.h"

namespace echolux {
namespace {

constexpr double bin_um = 4;
constexpr std::size_t layers = retina_boundaries - 1;
constexpr std::size_t with_own_mean = 2;  // nerve fibres, ganglion cells
constexpr std::size_t first_outer = 4;    // outer nuclear layer
constexpr double level_sd = 0.16, own_mean_sd = 0.25, most_cost = 3, edge_gain = 3, full_edge = 0.3;
constexpr double most_level_change = 0.2;
constexpr double impossible_cut = 1e9;

using Profile = std::vector<double>;
using Levels = std::array<double, layers>;
using Ends = std::array<std::int64_t, retina_boundaries>;

// Usual thickness of the layers.
struct Prior {
    std::array<double, layers> usual_um{}, sd_um{};
};

Prior table_prior(const RetinaModel& model) {
    Prior prior;
    std::copy_n(model.thickness_um.begin() + 1, layers, prior.usual_um.begin());
    std::copy_n(model.thickness_sd_um.begin() + 1, layers, prior.sd_um.begin());
    return prior;
}

// Cuts profiles by dynamic programming over the ends of all layers.
class Cutter {
  public:
    explicit Cutter(const RetinaModel& model) : model_(model), prior_(table_prior(model)) {}

    void set_prior(const Prior& prior) { prior_ = prior; }

    // With `is_free`, nerve fibres and ganglion cells use their own mean.
    Ends operator()(const Profile& profile, const Levels& levels, bool is_free = true) {
        is_free_ = is_free;
        bins_ = std::ssize(profile);
        set_sums(profile, levels);
        std::vector<double> above(index(bins_ + 1), impossible_cut), costs;
        above[0] = 0;
        for (std::size_t q = 0; q < layers; ++q) {
            end_layer(q, levels[q], above, costs);
            above.swap(costs);
        }
        Ends ends{};
        ends[layers] = bins_;
        for (std::size_t q = layers; q-- > 0;) ends[q] = from_[q][index(ends[q + 1])];
        return ends;
    }

    // Returns the mean misfit per bin of the last profile, from layer `first` on.
    float misfit(const Ends& ends, const Levels& levels, std::size_t first) const {
        double sum = 0;
        for (std::size_t q = first; q < layers; ++q)
            sum += std::min(piece(q, levels[q], ends[q], ends[q + 1]),
                            most_cost * static_cast<double>(ends[q + 1] - ends[q]));
        return static_cast<float>(sum / static_cast<double>(std::max<std::int64_t>(1, bins_ - ends[first])));
    }

  private:
    void set_sums(const Profile& profile, const Levels& levels) {
        const auto prefix = [&](const auto& value) {
            std::vector<double> sums(profile.size() + 1);
            for (std::size_t i = 0; i < profile.size(); ++i) sums[i + 1] = sums[i] + value(profile[i]);
            return sums;
        };
        for (std::size_t q = 0; q < layers; ++q) {
            misfit_[q] = prefix([&](double r) {
                return std::min((r - levels[q]) * (r - levels[q]) / (2 * level_sd * level_sd), most_cost);
            });
        }
        sums_ = prefix([](double r) { return r; });
        squares_ = prefix([](double r) { return r * r; });
        steps_.resize(profile.size() + 1);
        const auto at = [&](std::int64_t i) { return profile[index(std::clamp<std::int64_t>(i, 0, bins_ - 1))]; };
        for (std::int64_t i = 0; i <= bins_; ++i)
            steps_[index(i)] = (at(i) + at(i + 1) + at(i + 2) - at(i - 1) - at(i - 2) - at(i - 3)) / 3;
    }

    double piece(std::size_t q, double level, std::int64_t begin, std::int64_t end) const {
        const auto b = index(begin), e = index(end);
        if (!is_free_ || q >= with_own_mean || end == begin) return misfit_[q][e] - misfit_[q][b];
        const double count = static_cast<double>(end - begin), mean = (sums_[e] - sums_[b]) / count;
        const double off = (mean - level) / own_mean_sd;
        return (squares_[e] - squares_[b] - count * mean * mean) / (2 * level_sd * level_sd) + off * off / 2;
    }

    void end_layer(std::size_t q, double level, const std::vector<double>& above, std::vector<double>& costs) {
        const double prior = prior_.usual_um[q], sd = prior_.sd_um[q];
        const std::int64_t least = std::lround(model_.min_um[q + 1] / bin_um),
                           most = std::lround(model_.max_um[q + 1] / bin_um);
        costs.assign(above.size(), impossible_cut);
        from_[q].assign(above.size(), 0);
        for (std::int64_t t = least; t <= std::min(most, bins_); ++t) {
            const double off = (static_cast<double>(t) * bin_um - prior) / sd;
            for (std::int64_t end = t; end <= bins_; ++end) {
                const auto e = index(end);
                const double before = above[index(end - t)];
                if (before >= impossible_cut / 2) continue;
                const double cost = before + piece(q, level, end - t, end) + off * off / 2;
                if (!(cost < costs[e])) continue;
                costs[e] = cost;
                from_[q][e] = end - t;
            }
        }
        if (q + 1 >= layers) return;
        for (std::size_t e = 0; e < costs.size(); ++e)
            costs[e] -= edge_gain * std::clamp(retina_polarity[q + 1] * steps_[e] / full_edge, -1.0, 1.0);
    }

    const RetinaModel& model_;
    Prior prior_;
    std::int64_t bins_ = 0;
    bool is_free_ = true;
    std::array<std::vector<double>, layers> misfit_;
    std::array<std::vector<std::int64_t>, layers> from_;
    std::vector<double> sums_, squares_, steps_;
};

// Levels of the outer nuclear layer and of the RPE along the B-scan.
struct Scale {
    Course low, span;
};

Scale scale_of(const RetinaCutInput& in) {
    const RowMeans means(in.picture);
    const auto k = [&](double um) { return static_cast<float>(std::max(1L, std::lround(um / in.row_um))); };
    const auto block = static_cast<double>(in.block);
    Course top = smooth_known(means.around(in.rpe, -k(25), -k(5)), 12 * std::max(1.0, block / 8));
    Course low(in.rpe.size(), std::numeric_limits<float>::quiet_NaN());
    for (const double um : {70., 80., 90., 100., 110.}) {
        for (std::size_t a = 0; a < low.size(); ++a) {
            const float begin = std::max(in.rpe[a] - k(um + 30), in.ilm[a] + 2);
            const float mean = means(static_cast<std::int64_t>(a), begin, in.rpe[a] - k(um));
            if (std::isfinite(mean) && !(mean >= low[a])) low[a] = mean;
        }
    }
    low = smooth_known(low, 20);
    Course span(low.size());
    for (std::size_t a = 0; a < low.size(); ++a) span[a] = std::max(top[a] - low[a], 0.5f);
    return {smooth_course(bridged(low, in.seen), 2 * block), smooth_course(bridged(span, in.seen), 2 * block)};
}

// Straightened profile around an A-scan.
Profile profile_at(const RetinaCutInput& in, const Scale& scale, std::int64_t centre) {
    const std::int64_t depth = in.picture.depth, a_scans = in.picture.a_scans;
    const auto c = index(centre);
    const std::int64_t bins =
        std::max<std::int64_t>(24, std::lround(static_cast<double>(in.rpe[c] - in.ilm[c]) * in.row_um / bin_um));
    Profile profile(index(bins));
    const double sigma = 0.8 * static_cast<double>(in.block);
    double weights = 0;
    for (std::int64_t d = -2 * in.block; d <= 2 * in.block; ++d) {
        const std::int64_t a = std::clamp<std::int64_t>(centre + d, 0, a_scans - 1);
        const auto i = index(a);
        const double away = static_cast<double>(d) / sigma;
        const double weight = std::exp(-away * away / 2) * static_cast<double>(in.seen[i]);
        const float *line = in.picture.line(a), height = in.rpe[i] - in.ilm[i];
        for (std::size_t bin = 0; bin < profile.size(); ++bin) {
            const float share = (static_cast<float>(bin) + .5f) / static_cast<float>(bins);
            const float z = in.ilm[i] + share * height - .5f;
            const std::int64_t row = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::floor(z)), 0, depth - 2);
            const float part = std::clamp(z - static_cast<float>(row), 0.0f, 1.0f);
            const float u = line[row] * (1 - part) + line[row + 1] * part;
            profile[bin] += weight * static_cast<double>((u - scale.low[i]) / scale.span[i]);
        }
        weights += weight;
    }
    for (double& value : profile) value /= weights;
    return profile;
}

Levels table_levels(const RetinaModel& model) {
    Levels levels{};
    std::copy_n(model.level.begin() + 1, layers, levels.begin());
    return levels;
}

// Adapts the levels to this picture: medians of the layers' insides.
Levels adapted(const RetinaModel& model, const std::vector<Profile>& profiles, const std::vector<Ends>& ends) {
    Levels levels = table_levels(model);
    for (std::size_t q = 0; q < layers; ++q) {
        Course inside;
        for (std::size_t i = 0; i < profiles.size(); ++i) {
            const auto first = ends[i][q] + 1, last = ends[i][q + 1] - 1;
            if (last - first < 1) continue;
            const double sum = std::accumulate(profiles[i].begin() + first, profiles[i].begin() + last, 0.0);
            inside.push_back(static_cast<float>(sum / static_cast<double>(last - first)));
        }
        if (inside.size() > 3)
            levels[q] = std::clamp(static_cast<double>(median_of(inside)), levels[q] - most_level_change,
                                   levels[q] + most_level_change);
    }
    return levels;
}

// Layers change slowly, so the prior of each block is the smoothed thickness of its neighbours.
std::vector<Prior> priors_of_neighbours(const RetinaModel& model, const std::vector<Ends>& ends) {
    constexpr std::int64_t reach = 6;  // blocks on either side
    constexpr double share = 0.3, least_sd_um = 6;
    std::vector<Prior> priors(ends.size(), table_prior(model));
    for (std::size_t q = 0; q < layers; ++q) {
        Course um;
        for (const Ends& one : ends)
            um.push_back(static_cast<float>(static_cast<double>(one[q + 1] - one[q]) * bin_um));
        um = smooth_course(running_percentile(um, 2 * reach + 1, 0.5), static_cast<double>(reach) / 2);
        for (std::size_t i = 0; i < priors.size(); ++i) {
            priors[i].usual_um[q] = static_cast<double>(um[i]);
            priors[i].sd_um[q] = std::max(share * priors[i].sd_um[q], least_sd_um);
        }
    }
    return priors;
}

// Cuts a profile for the last time, with its doubts.
void append_cut(RetinaCut& cut, Cutter& cutter, const Profile& profile, const Levels& levels) {
    const Ends ends = cutter(profile, levels);
    cut.misfit.push_back(cutter.misfit(ends, levels, 0));
    cut.outer_misfit.push_back(cutter.misfit(ends, levels, first_outer));
    const Ends other = cutter(profile, levels, false);
    std::array<float, retina_boundaries> places{}, doubt{};
    for (std::size_t q = 0; q < retina_boundaries; ++q) {
        places[q] = static_cast<float>(ends[q]) / static_cast<float>(std::ssize(profile));
        doubt[q] = static_cast<float>(std::abs(ends[q] - other[q])) * static_cast<float>(bin_um);
    }
    cut.places.push_back(places);
    cut.doubt_um.push_back(doubt);
}

}  // namespace

RetinaCut cut_retina(const RetinaCutInput& input, const RetinaModel& model) {
    const Scale scale = scale_of(input);
    const std::int64_t a_scans = input.picture.a_scans;
    RetinaCut cut;
    std::vector<Profile> profiles;
    for (std::int64_t a = std::min(input.block / 2, a_scans - 1); a < a_scans; a += input.block) {
        cut.a_scans.push_back(a);
        profiles.push_back(profile_at(input, scale, a));
    }
    Cutter cutter(model);
    Levels levels = table_levels(model);
    std::vector<Ends> ends(profiles.size());
    for (const bool is_last : {false, true}) {
        for (std::size_t i = 0; i < profiles.size(); ++i) ends[i] = cutter(profiles[i], levels);
        if (!is_last) levels = adapted(model, profiles, ends);
    }
    const std::vector<Prior> priors = priors_of_neighbours(model, ends);
    for (std::size_t i = 0; i < profiles.size(); ++i) {
        cutter.set_prior(priors[i]);
        append_cut(cut, cutter, profiles[i], levels);
    }
    return cut;
}

}  // namespace echolux
