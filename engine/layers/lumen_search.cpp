// Lumen of a vessel in a polar frame of a catheter (docs/layers.md, method = lumen).
//
// All catheters show a radius of 4 to 5.5 mm, so lengths are in units of 1/375 of a frame's depth, about 13 um. The
// frame is resampled to an A-scan per degree; a quarter turn is repeated at both ends. u = ln(1 + I / floor).
//
//   1. A median of 7 degrees removes lines and dots that devices draw. Rows near the centre that are bright at 70 % of
//      the angles are the catheter; they become dark.
//   2. An angle with less than 32 units of lit tissue (0.4 mm) shows no wall: the shadow of a guide wire, whose own
//      face is thinner, a side branch, or a wall beyond the frame. It has no depth.
//   3. The wall is dark inside and bright outside, over 24 and over 6 units. Dynamic programming finds the cheapest
//      closed course, twice: coarsely without thin reflectors, then within 8 units.
//   4. The blurred edge is as wide everywhere along its normal. The median distance from the course to 80 % of the
//      wall's intensity moves it outwards, because readers outline this bright side of the edge.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "compute/indexing.h"
#include "compute/reason.h"
#include "engine/layers/tissue_search.h"

namespace echolux {
namespace {

constexpr std::int64_t turn = 360, pad = 90, columns = turn + 2 * pad;  // degrees
constexpr double units = 375;                                           // of a frame's depth
constexpr std::int64_t mark_reach = 3;                                  // degrees
constexpr std::int64_t profile_reach = 4;                               // degrees around a profile of the edge
constexpr float wall_level = 0.45f;                                     // of the wall's u, between dark and bright
constexpr float lit_level = 0.6f * wall_level;
constexpr float least_lit = 32;     // units
constexpr float face_level = 0.8f;  // of the wall's intensity
constexpr float strength = 10;      // nats of perfect evidence
constexpr float unlit_weight = 0.03f;
constexpr double deep = 24, fine = 6, fine_reach = 8, reflector = 15;  // units
constexpr float cost_per_unit = .7f;                                   // of a step between degrees
constexpr float ruled_out = 1e5f;

// Values at which each measure of confidence is sufficient, tuned on the development angles. Noise has a contrast of
// 0.1.
constexpr float sure_score = .58f, sure_gap = 74, sure_contrast = .7f, most_confidence = 3, least_confidence = .25f;

class LumenSearch {
  public:
    explicit LumenSearch(const BScanBrightness& frame)
        : in_(frame.linear), scale_(static_cast<double>(frame.linear.depth) / units) {
        resample(std::max({frame.floor, 1e-3 * frame.top, 1e-30}));
        darken_catheter();
        find_levels();
        find_lit();
        find_coarse();
        refine();
        move_to_face();
    }

    ConfidentCourse found() const {
        const Course sure = confidence();
        ConfidentCourse all;
        for (std::int64_t a = 0; a < in_.a_scans; ++a) {
            const double degree = static_cast<double>(a * turn) / static_cast<double>(in_.a_scans) + pad;
            const auto at = index(static_cast<std::int64_t>(degree));
            const auto share = static_cast<float>(degree - std::floor(degree));
            all.rows.push_back(course_[at] * (1 - share) + course_[at + 1] * share - 0.5f);
            all.confidence.push_back(std::min(sure[at], sure[at + 1]));
            all.reasons.push_back(reason_of(at, all.confidence.back()));
        }
        return all;
    }

  private:
    std::int64_t k(double length) const { return std::max(1L, std::lround(length * scale_)); }
    std::int64_t edges() const { return u_.depth + 1; }

    Reason reason_of(std::size_t at, float confidence) const {
        if (lit_[at] < least_lit) return Reason::no_signal;
        if (confidence < least_confidence) return Reason::weak_match;
        return confidence >= 1 ? Reason::ok : Reason::ambiguous;
    }

    // Mean intensity in a triangle of 3 degrees, at least of two A-scans, without marks.
    void resample(double floor) {
        intensity_ = {in_.depth, columns, std::vector<float>(index(in_.depth * columns))};
        const double per_degree = static_cast<double>(in_.a_scans) / turn, reach = std::max(1.0, 1.5 * per_degree);
        for (std::int64_t column = 0; column < columns; ++column) {
            const double centre = static_cast<double>(column - pad) * per_degree;
            float* out = intensity_.line(column);
            double sum = 0;
            const auto last = static_cast<std::int64_t>(std::floor(centre + reach));
            for (auto a = static_cast<std::int64_t>(std::ceil(centre - reach)); a <= last; ++a) {
                const double weight = 1 - std::abs(static_cast<double>(a) - centre) / reach;
                const float* line = in_.line((a % in_.a_scans + in_.a_scans) % in_.a_scans);
                for (std::int64_t z = 0; z < in_.depth; ++z) out[z] += static_cast<float>(weight) * line[z];
                sum += weight;
            }
            for (std::int64_t z = 0; z < in_.depth; ++z) out[z] /= static_cast<float>(sum);
        }
        remove_marks(intensity_);
        u_ = intensity_;
        const auto per_floor = static_cast<float>(1 / floor);
        for (float& value : u_.values) value = std::log(value * per_floor + 1);
        smooth_picture(u_, 0, 1);
        smooth_picture(intensity_, 0, 1);
        dark_ = percentile_of(u_.values, 0.05);
    }

    static void remove_marks(BScanPicture& picture) {
        const BScanPicture before = picture;
        std::array<float, 2 * mark_reach + 1> near{};
        for (std::int64_t a = 0; a < picture.a_scans; ++a) {
            for (std::int64_t z = 0; z < picture.depth; ++z) {
                for (std::int64_t d = -mark_reach; d <= mark_reach; ++d)
                    near[index(d + mark_reach)] = before.line(std::clamp<std::int64_t>(a + d, 0, columns - 1))[z];
                std::ranges::nth_element(near, near.begin() + mark_reach);
                picture.line(a)[z] = near[mark_reach];
            }
        }
    }

    // Looks at rows of the inner quarter.
    void darken_catheter() {
        const float bright = percentile_of(u_.values, 0.9);
        std::int64_t first = 0;
        for (std::int64_t z = 0; z < u_.depth / 4; ++z) {
            std::vector<float> ring;
            for (std::int64_t a = pad; a < pad + turn; ++a) ring.push_back(u_.line(a)[z]);
            if (percentile_of(std::move(ring), 0.3) > dark_ + 0.2f * (bright - dark_)) first = z + k(3);
        }
        for (std::int64_t a = 0; a < columns; ++a) std::fill_n(u_.line(a), first, dark_);
    }

    // The wall's u above dark: the brightest 24 units of each angle, at least half of the usual one.
    void find_levels() {
        opened_ = u_;
        smooth_picture(opened_, scale_, 1.5);
        open_along_depth(opened_, k(reflector));
        const RowMeans means(opened_);
        for (std::int64_t a = 0; a < columns; ++a) {
            float most = 0;
            for (std::int64_t z = 0; z + k(deep) < u_.depth; ++z)
                most = std::max(most, means.at_edge(a, z, 0, k(deep)) - dark_);
            wall_.push_back(most);
        }
        usual_wall_ = median_of(wall_);
        wall_ = smooth_course(wall_, 15);
        for (float& wall : wall_) wall = std::max({wall, usual_wall_ / 2, 0.1f});
    }

    void find_lit() {
        for (std::int64_t a = 0; a < columns; ++a) {
            const float least = dark_ + lit_level * wall_[index(a)];
            const auto count = std::count_if(opened_.line(a), opened_.line(a) + u_.depth,
                                             [least](float value) { return value > least; });
            lit_.push_back(static_cast<float>(static_cast<double>(count) / scale_));
        }
        lit_ = running_percentile(lit_, 9, 0.5);
    }

    // -1 in the dark, 1 in the wall.
    BScanPicture clipped(const BScanPicture& picture) const {
        BScanPicture t = picture;
        for (std::int64_t a = 0; a < columns; ++a) {
            const float per_level = 1 / (wall_level * wall_[index(a)]);
            float* line = t.line(a);
            for (std::int64_t z = 0; z < t.depth; ++z)
                line[z] = std::clamp((line[z] - dark_) * per_level - 1, -1.0f, 1.0f);
        }
        return t;
    }

    static float step(const RowMeans& means, std::int64_t a, std::int64_t edge, std::int64_t rows) {
        return means.at_edge(a, edge, 0, rows) - means.at_edge(a, edge, -rows, 0);
    }

    float weight(std::int64_t a) const { return lit_[index(a)] < least_lit ? unlit_weight : 1; }

    // Costs of up to 8 units per degree.
    std::vector<float> steps() const {
        std::vector<float> costs;
        for (std::int64_t d = 0; d <= k(fine_reach); ++d)
            costs.push_back(cost_per_unit * static_cast<float>(static_cast<double>(d) / scale_));
        return costs;
    }

    void find_coarse() {
        const RowMeans means(clipped(opened_));
        std::vector<float> costs, scores;
        for (std::int64_t a = 0; a < columns; ++a) {
            for (std::int64_t z = 0; z < edges(); ++z) {
                const float score = (step(means, a, z, k(deep)) + step(means, a, z, k(fine)) / 2) / 3;
                const bool is_at_end = z < k(3) || z >= u_.depth - k(deep / 2);
                scores.push_back(score);
                costs.push_back(-3 * strength * score * weight(a) + (is_at_end ? 6 * strength : 0));
            }
        }
        const std::vector<float> marginals = min_marginals(costs, columns, steps());
        for (std::int64_t a = 0; a < columns; ++a) {
            const BestLabel best = best_label(marginals.data() + a * edges(), edges(), k(deep));
            course_.push_back(best.label);
            gap_.push_back(best.gap);
            score_.push_back(scores[index(a * edges() + static_cast<std::int64_t>(std::nearbyint(best.label)))]);
        }
    }

    void refine() {
        const RowMeans means(clipped(u_));
        std::vector<float> costs(index(edges() * columns), 10 * ruled_out);
        for (std::int64_t a = 0; a < columns; ++a) {
            for (std::int64_t z = 0; z < edges(); ++z) {
                const float off = (static_cast<float>(z) - course_[index(a)]) / static_cast<float>(k(fine_reach));
                if (std::abs(off) > 1) continue;
                costs[index(a * edges() + z)] = -strength * step(means, a, z, k(fine)) / 2 * weight(a) + 2 * off * off;
            }
        }
        std::vector<float> marginals = min_marginals(costs, columns, steps());
        for (float& cost : marginals) cost = std::min(cost, ruled_out);
        for (std::int64_t a = 0; a < columns; ++a)
            course_[index(a)] = best_label(marginals.data() + a * edges(), edges()).label;
        course_ = smooth_course(course_, 2);
    }

    // Rows per row along the normal of the course, at most 2.2.
    Course stretches() const {
        constexpr float degrees = 180 / std::numbers::pi_v<float>, most = 4, least_radius = 20;
        Course stretch(course_.size(), 1);
        for (std::size_t a = 1; a + 1 < stretch.size(); ++a) {
            const float radius = std::max(course_[a], least_radius * static_cast<float>(scale_));
            const float slope = (course_[a + 1] - course_[a - 1]) / 2 * degrees / radius;
            stretch[a] = std::sqrt(1 + std::min(slope * slope, most));
        }
        return stretch;
    }

    // Mean intensity over 9 degrees, `row` rows from the course.
    float along_course(std::size_t a, float row) const {
        double sum = 0;
        for (std::size_t b = a - profile_reach; b <= a + profile_reach; ++b) {
            const float z = std::clamp(course_[b] - .5f + row, 0.0f, static_cast<float>(u_.depth - 1));
            const auto above = std::min(static_cast<std::int64_t>(z), u_.depth - 2);
            const float part = z - static_cast<float>(above);
            const float* line = intensity_.line(static_cast<std::int64_t>(b)) + above;
            sum += static_cast<double>(line[0] * (1 - part) + line[1] * part);
        }
        return static_cast<float>(sum / (2 * profile_reach + 1));
    }

    void move_to_face() {
        const RowMeans means(intensity_);
        const auto mean_at = [&](double from, double to) {
            const auto sign = [&](double length) { return static_cast<float>(std::lround(length * scale_)); };
            return means.around(course_, sign(from), sign(to));
        };
        const Course wall = mean_at(4, 16), dark = mean_at(-20, -10), stretch = stretches();
        const std::int64_t reach = k(10);
        Course shifts;
        for (std::size_t a = pad; a < pad + turn; ++a) {
            if (lit_[a] < least_lit || !std::isfinite(wall[a] + dark[a])) continue;
            const float level = dark[a] + face_level * (wall[a] - dark[a]);
            float before = along_course(a, static_cast<float>(-reach));
            for (std::int64_t row = 1 - reach; row <= reach; ++row) {
                const float at = along_course(a, static_cast<float>(row));
                if (at >= level) {
                    const float part = at > before ? std::clamp((at - level) / (at - before), 0.0f, 1.0f) : 0;
                    shifts.push_back((static_cast<float>(row) - part) / stretch[a]);
                    break;
                }
                before = at;
            }
        }
        const float shift = median_of(shifts);
        for (std::size_t a = 0; a < course_.size(); ++a) course_[a] += shift * stretch[a];
    }

    Course confidence() const {
        const Course score = smooth_course(score_, 3), gap = smooth_course(gap_, 3);
        Course sure(score.size());
        for (std::size_t a = 0; a < sure.size(); ++a) {
            const float least = std::min({score[a] / sure_score, gap[a] / sure_gap, usual_wall_ / sure_contrast});
            sure[a] = std::clamp(least, 0.0f, most_confidence);
        }
        return sure;
    }

    const BScanPicture& in_;
    const double scale_;  // rows per unit
    BScanPicture intensity_, u_, opened_;
    float dark_ = 0, usual_wall_ = 0;
    Course wall_, lit_, course_, gap_, score_;
};

}  // namespace

ConfidentCourse find_lumen(const BScanBrightness& frame) {
    return LumenSearch(frame).found();
}

}  // namespace echolux
