#include "engine/layers/tissue_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "compute/indexing.h"
#include "compute/reason.h"

namespace echolux {
namespace {

constexpr float tissue_level = 0.45f;  // of the tissue's level: dark ends here
constexpr float strength = 10;         // nats of perfect evidence
constexpr float least_known = 0.3f;    // share of an A-scan's rows
constexpr std::int64_t fine_rows = 6, fine_reach = 8;
constexpr float top_rows = 3;
constexpr float far_off = 1e5f;
// Steps of up to 8 rows between A-scans.
constexpr std::array<float, 9> steps{0, .7f, 1.4f, 2.1f, 2.8f, 3.5f, 4.2f, 4.9f, 5.6f};

// Values at which each measure of confidence is sufficient, tuned on the development recordings. A course that spans
// more than `steep` rows within 6 A-scans is a step between two surfaces, where a small lateral error becomes a large
// one in depth.
constexpr float sure_score = .58f, sure_gap = 74, sure_contrast = .12f, steep = 8, most_confidence = 3;
constexpr std::int64_t steep_reach = 6;
constexpr float least_confidence = 0.25f;  // below, 95 % of the positions are wrong, so none is returned

float limited(float value) {
    return std::clamp(value, -1.0f, 1.0f);
}

// A search of the surface with its intermediate results.
class SurfaceSearcher {
  public:
    SurfaceSearcher(const BScanBrightness& b_scan, const TissueModel& model)
        : in_(b_scan), model_(model), above_(model.deep) {
        compress();
        find_levels();
        find_coarse();
        find_foot();
    }

    ConfidentCourse found() const {
        ConfidentCourse found{smooth_course(edges_, 1), confidence(), {}};
        for (std::size_t a = 0; a < edges_.size(); ++a) {
            found.rows[a] -= static_cast<float>(above_) + 0.5f;
            if (has_data_[a] == 0) found.confidence[a] = 0;
            found.reasons.push_back(reason_of(a, found.rows[a], found.confidence[a]));
        }
        return found;
    }

  private:
    Reason reason_of(std::size_t a, float row, float confidence) const {
        if (has_data_[a] == 0) return Reason::no_signal;
        // Tissue that fills the picture up to its first row has no surface, unless a device cut the rows above.
        const bool is_cut = in_.known[a * index(u_.depth - above_)] == 0;
        if (row < (is_cut ? 0 : top_rows)) return Reason::out_of_range;
        if (confidence < least_confidence) return Reason::weak_match;
        return confidence >= 1 ? Reason::ok : Reason::ambiguous;
    }

    std::int64_t edges() const { return u_.depth + 1; }

    // A-scans without data contribute nothing to their neighbours. Rows above the picture are dark, so that surfaces
    // near its upper end have an upper side.
    void compress() {
        const BScanPicture& in = in_.linear;
        const double floor = std::max({in_.floor, 1e-3 * in_.top, 1e-30});
        const auto per_floor = static_cast<float>(1 / floor);
        u_ = {in.depth + above_, in.a_scans, std::vector<float>(index((in.depth + above_) * in.a_scans))};
        has_data_.resize(index(u_.a_scans));
        for (std::int64_t a = 0; a < u_.a_scans; ++a) {
            const std::uint8_t* known = in_.known.data() + a * in.depth;
            const auto count = std::accumulate(known, known + in.depth, std::int64_t{0});
            const bool has_data = static_cast<float>(count) > least_known * static_cast<float>(in.depth);
            has_data_[index(a)] = has_data ? 1 : 0;
            float* line = u_.line(a) + above_;
            for (std::int64_t z = 0; has_data && z < in.depth; ++z)
                if (known[z] != 0) line[z] = std::log(in.line(a)[z] * per_floor + 1) - std::numbers::ln2_v<float>;
        }
        constexpr double sigma = 2;  // A-scans
        smooth_picture(u_, 0, sigma);
        const Course shares = smooth_course(has_data_, sigma);
        for (std::int64_t a = 0; a < u_.a_scans; ++a) {
            const auto i = index(a);
            const float factor = has_data_[i] != 0 ? 1 / std::max(shares[i], 1e-6f) : 0;
            for (std::int64_t z = 0; z < u_.depth; ++z) u_.line(a)[z] *= factor;
        }
    }

    void find_levels() {
        opened_ = u_;
        smooth_picture(opened_, 1, 3.5);
        open_along_depth(opened_, model_.reflector);
        BScanPicture wide = opened_;
        smooth_picture(wide, 0, 2);
        const RowMeans means(wide);
        Course brightest(index(u_.a_scans));
        for (std::int64_t a = 0; a < u_.a_scans; ++a) {
            float most = 0;
            for (std::int64_t z = 0; z + model_.deep < u_.depth; ++z)
                most = std::max(most, means.at_edge(a, z, 0, model_.deep));
            brightest[index(a)] = most;
        }
        level_ = smooth_course(brightest, 15);
        for (float& level : level_) level = tissue_level * std::max(level, 0.1f);
    }

    static BScanPicture clipped(BScanPicture picture, const Course& level) {
        for (std::int64_t a = 0; a < picture.a_scans; ++a) {
            const float at = level[index(a)];
            float* line = picture.line(a);
            for (std::int64_t z = 0; z < picture.depth; ++z) line[z] = limited(line[z] / at - 1);
        }
        return picture;
    }

    static float step(const RowMeans& means, std::int64_t a, std::int64_t edge, std::int64_t rows) {
        return means.at_edge(a, edge, 0, rows) - means.at_edge(a, edge, -rows, 0);
    }

    void find_coarse() {
        const RowMeans means(clipped(opened_, level_));
        std::vector<float> costs, scores;
        for (std::int64_t a = 0; a < u_.a_scans; ++a) {
            for (std::int64_t z = 0; z < edges(); ++z) {
                const float score = (step(means, a, z, model_.deep) + step(means, a, z, fine_rows) / 2) / 3;
                scores.push_back(score);
                const bool is_at_end = z < above_ + std::lround(top_rows) || z >= u_.depth - model_.deep / 2;
                costs.push_back(-3 * strength * score * has_data_[index(a)] + (is_at_end ? 6 * strength : 0));
            }
        }
        const std::vector<float> marginals = min_marginals(costs, u_.a_scans, steps);
        for (std::int64_t a = 0; a < u_.a_scans; ++a) {
            const BestLabel best = best_label(marginals.data() + a * edges(), edges(), model_.deep);
            coarse_.push_back(best.label);
            gap_.push_back(best.gap);
            const auto nearest = static_cast<std::int64_t>(std::nearbyint(best.label));
            score_.push_back(scores[index(a * edges() + nearest)]);
        }
    }

    // The foot of the edge within 8 rows.
    void find_foot() {
        Course foot = level_;
        for (float& level : foot) level = std::min(level, static_cast<float>(model_.foot));
        const RowMeans means(clipped(u_, foot));
        std::vector<float> costs(index(edges() * u_.a_scans), 10 * far_off);
        for (std::int64_t a = 0; a < u_.a_scans; ++a) {
            const float centre = coarse_[index(a)];
            for (std::int64_t z = 0; z < edges(); ++z) {
                const float off = (static_cast<float>(z) - centre) / static_cast<float>(fine_reach);
                if (std::abs(off) > 1) continue;
                costs[index(a * edges() + z)] =
                    -strength * step(means, a, z, fine_rows) / 2 * has_data_[index(a)] + 2 * off * off;
            }
        }
        std::vector<float> marginals = min_marginals(costs, u_.a_scans, steps);
        for (float& cost : marginals) cost = std::min(cost, far_off);
        for (std::int64_t a = 0; a < u_.a_scans; ++a)
            edges_.push_back(best_label(marginals.data() + a * edges(), edges()).label);
    }

    static Course averaged(Course values) {
        for (float& value : values) value = std::isfinite(value) ? value : 0;
        return smooth_course(values, 6);
    }

    Course confidence() const {
        const RowMeans means(u_);
        const auto deep = static_cast<float>(model_.deep);
        const Course below = means.around(edges_, 0, deep), above = means.around(edges_, -deep, 0);
        Course contrast(below.size());
        for (std::size_t a = 0; a < contrast.size(); ++a) contrast[a] = below[a] - above[a];
        contrast = averaged(contrast);
        const Course score = averaged(score_), gap = averaged(gap_);
        const auto count = std::ssize(edges_);
        const std::vector<float> low = running_min(edges_.data(), count, steep_reach),
                                 high = running_max(edges_.data(), count, steep_reach);
        Course confidence(contrast.size());
        for (std::size_t a = 0; a < contrast.size(); ++a) {
            const float least = std::min({steep / std::max(high[a] - low[a], 1e-3f), score[a] / sure_score,
                                          gap[a] / sure_gap, contrast[a] / sure_contrast});
            confidence[a] = std::clamp(least, 0.0f, most_confidence);
        }
        return confidence;
    }

    const BScanBrightness& in_;
    const TissueModel& model_;
    const std::int64_t above_;  // rows above the picture
    BScanPicture u_, opened_;
    Course has_data_, level_, coarse_, gap_, score_, edges_;
};

}  // namespace

ConfidentCourse find_tissue_surface(const BScanBrightness& b_scan, const TissueModel& model) {
    return SurfaceSearcher(b_scan, model).found();
}

}  // namespace echolux
