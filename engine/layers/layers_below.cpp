// Boundaries below a surface in a single B-scan (docs/layers.md, method = surface with several names): dermis, back of
// the cornea, base of a coating.
//
// The B-scan is straightened by the boundary above, so that tilt, curvature and roughness of the surface cost nothing.
// A boundary at z has the evidence of a step in u = ln(1 + I / floor) between the means over D rows on both sides,
// relative to the contrast from which a step is sure. The cheapest course between the distances of the recipe is exact
// (engine/layers/edge_paths.h). Then it is refined within 6 rows by the region likelihood of the levels on both sides.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "compute/indexing.h"
#include "compute/reason.h"
#include "engine/layers/tissue_search.h"

namespace echolux {
namespace {

constexpr std::int64_t widest = 24, narrowest = 4;  // rows of D
constexpr std::int64_t rough_end = 3;               // rows next to the boundary above that its own edge spoils
constexpr std::int64_t fine_reach = 6;
constexpr double across = 3;                                  // sigma in A-scans of the evidence
constexpr std::array<float, 6> steps{0, .8f, 2, 3.5f, 5, 7};  // per row, relative to the boundary above
constexpr float most_evidence = 4, most_confidence = 3;
// Values at which each measure of confidence is sufficient, tuned on simulated scenes, because no recording with known
// boundaries was available.
constexpr float sure_step = 0.4f;  // nepers
constexpr float sure_gap = 20, least_confidence = 0.25f;

class BelowSearch {
  public:
    BelowSearch(const BScanBrightness& b_scan, const ConfidentCourse& above, const BoundaryOptions& wanted)
        : in_(b_scan), above_(above), wanted_(wanted) {
        for (const Reason reason : above.reasons) has_place_.push_back(echolux::has_place(reason) ? 1 : 0);
        base_ = bridged(above.rows, has_place_);
        first_ = std::max<std::int64_t>(rough_end, std::lround(wanted.min_rows));
        const std::int64_t last =
            wanted.max_rows > 0 ? std::lround(wanted.max_rows) : in_.linear.depth - std::lround(median_of(base_));
        labels_ = std::max<std::int64_t>(last - first_ + 1, 1);
        rows_ = std::clamp(first_ - rough_end, narrowest, widest);
        for (const float step : steps) steps_.push_back(step * static_cast<float>(wanted.smoothness));
    }

    ConfidentCourse found() {
        straighten();
        find_coarse();
        refine();
        return judged();
    }

  private:
    // u below the boundary above, [a_scan][row]. Rows without data are dark, because devices cut the background. Rows
    // beyond the picture continue its last ones, because its end would look like a step.
    void straighten() {
        const BScanPicture& in = in_.linear;
        const double floor = std::max({in_.floor, 1e-3 * in_.top, 1e-30});
        u_ = {first_ + labels_ + rows_, in.a_scans, {}};
        u_.values.resize(index(u_.depth * u_.a_scans));
        for (std::int64_t a = 0; a < in.a_scans; ++a) {
            const std::int64_t begin = std::lround(base_[index(a)] + 0.5f);
            const std::int64_t inside = std::clamp<std::int64_t>(in.depth - begin, 0, u_.depth);
            const std::uint8_t* known = in_.known.data() + a * in.depth;
            float* line = u_.line(a);
            for (std::int64_t d = std::max<std::int64_t>(0, -begin); d < inside; ++d) {
                if (known[begin + d] != 0)
                    line[d] = static_cast<float>(std::log1p(static_cast<double>(in.line(a)[begin + d]) / floor));
            }
            const std::int64_t last = std::min(inside, widest);
            const float level =
                last > 0 ? std::accumulate(line + inside - last, line + inside, 0.0f) / static_cast<float>(last) : 0;
            std::fill(line + inside, line + u_.depth, level);
        }
        smooth_picture(u_, 0, across);
    }

    // Step at row `edge` in the direction of the polarity.
    float step(const RowMeans& means, std::int64_t a, std::int64_t edge) const {
        const std::int64_t above = std::min(rows_, edge - rough_end);
        const float difference =
            means.at_edge(a, edge, 0, rows_) - means.at_edge(a, edge, -std::max<std::int64_t>(above, 1), 0);
        return wanted_.polarity == 0 ? std::abs(difference) : static_cast<float>(wanted_.polarity) * difference;
    }

    void find_coarse() {
        const RowMeans means(u_);
        std::vector<float> costs;
        costs.reserve(index(labels_ * u_.a_scans));
        for (std::int64_t a = 0; a < u_.a_scans; ++a) {
            for (std::int64_t label = 0; label < labels_; ++label)
                costs.push_back(-std::min(step(means, a, first_ + label) / sure_step, most_evidence) *
                                has_place_[index(a)]);
        }
        const std::vector<float> marginals = min_marginals(costs, u_.a_scans, steps_);
        for (std::int64_t a = 0; a < u_.a_scans; ++a) {
            const BestLabel best = best_label(marginals.data() + a * labels_, labels_, rows_);
            edges_.push_back(static_cast<float>(first_) + best.label);
            gap_.push_back(std::min(best.gap, most_confidence * sure_gap));
        }
    }

    void refine() {
        const RowMeans means(u_);
        const auto rows = static_cast<float>(rows_);
        EdgeModel model{smooth_known(means.around(edges_, -rows, -1), 4 * across),
                        smooth_known(means.around(edges_, 1, rows), 4 * across),
                        wanted_.polarity,
                        {rows_, narrowest}};
        if (model.polarity == 0) model.polarity = median_of(model.below) > median_of(model.above) ? 1 : -1;
        const Course weight = has_place_;
        edges_ = course_in_band(u_, model, {edges_, fine_reach, &weight, 0, steps_}).edges;
        edges_ = smooth_course(edges_, 1);
    }

    ConfidentCourse judged() const {
        const RowMeans means(u_);
        Course contrast;
        for (std::int64_t a = 0; a < u_.a_scans; ++a) contrast.push_back(step(means, a, std::lround(edges_[index(a)])));
        contrast = smooth_course(contrast, 2 * across);
        ConfidentCourse found;
        for (std::size_t a = 0; a < edges_.size(); ++a) {
            const auto begin = static_cast<float>(std::lround(base_[a] + 0.5f));
            found.rows.push_back(begin + edges_[a] - 0.5f);
            const float least = std::min({contrast[a] / sure_step, gap_[a] / sure_gap, above_.confidence[a]});
            found.confidence.push_back(std::clamp(least, 0.0f, most_confidence));
            found.reasons.push_back(reason_of(a, found.rows[a], found.confidence[a]));
        }
        return found;
    }

    Reason reason_of(std::size_t a, float row, float confidence) const {
        if (has_place_[a] == 0) return above_.reasons[a];
        if (row > static_cast<float>(in_.linear.depth - narrowest)) return Reason::out_of_range;
        if (confidence < least_confidence) return Reason::weak_match;
        return confidence >= 1 ? Reason::ok : Reason::ambiguous;
    }

    const BScanBrightness& in_;
    const ConfidentCourse& above_;
    const BoundaryOptions& wanted_;
    Course has_place_, base_, edges_, gap_;
    std::vector<float> steps_;
    std::int64_t first_ = 0, labels_ = 0, rows_ = 0;
    BScanPicture u_;
};

}  // namespace

ConfidentCourse find_below(const BScanBrightness& b_scan, const ConfidentCourse& above, const BoundaryOptions& wanted) {
    return BelowSearch(b_scan, above, wanted).found();
}

}  // namespace echolux
