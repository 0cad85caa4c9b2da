#include "engine/layers/retina_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "compute/indexing.h"
#include "compute/reason.h"

namespace echolux {
namespace {

constexpr std::size_t ilm = 0, nfl = 1, isos = 5, rpe = 8;
// Height of the evidence window of each boundary, about half of its thinner neighbour.
constexpr std::array<double, retina_boundaries> window_um{14, 16, 16, 14, 14, 12, 8, 8, 25};
// Cost in nats of a step by 0, 1, 2 ... rows between A-scans, relative to the coarse course, so that tilt costs
// nothing. The first passes allow larger steps, because the course of blocks may be several rows off.
constexpr std::array<float, 7> fine_steps{0, .6f, 1.6f, 2.8f, 4, 5.5f, 7};
constexpr std::array<float, 9> free_steps{0, .5f, 1.2f, 2, 3, 4, 5, 6, 7};
constexpr float free_strength = 12;
constexpr double least_step = 0.15;  // in u, between the levels on both sides of a boundary

// Values at which each measure of confidence is sufficient, tuned on the development recordings.
constexpr float sure_quality = 2.5f, sure_gap_ilm = 3.5f, sure_gap_rpe = 1, least_seen = 0.3f, least_below_ilm = 1;
constexpr double sure_range = 1.5;  // nepers from the noise to the brightest 1 %; noise alone has 0.4
constexpr double sure_score_rpe = 0.25, sure_score_ilm = 0.5;
constexpr double most_median_misfit = 0.62;  // eyes 0.24 to 0.6, skin 0.77 to 2.3
constexpr float most_misfit = 0.65f, most_outer_misfit = 0.9f, most_doubt_um = 13;
constexpr double least_likeness = 0.5;  // below: no retina, so no boundaries
constexpr double least_speckles = 40;   // in 90 um of a B-scan; 20 in a single B-scan of a Cirrus, 180 in an average
constexpr float just_ambiguous = 0.99f;
constexpr float most_confidence = 3;
constexpr float edge_rows = 3;  // at the ends of the picture

class Search {
  public:
    Search(const BScanBrightness& b_scan, const RetinaModel& model) : in_(b_scan), model_(model) {
        const double dx = b_scan.a_scan_um;
        const bool has_spacing = dx > 2;
        block_ = has_spacing ? std::clamp<std::int64_t>(std::lround(90 / dx), 3, 8) : 8;
        sigma_ = has_spacing ? std::clamp(20 / dx, 0.7, 2.0) : 2;
        shadow_width_ = std::clamp<std::int64_t>(std::lround(900 / (has_spacing ? dx : 11)), 15,
                                                 std::max<std::int64_t>(15, b_scan.linear.a_scans)) |
                        1;
        compress();
    }

    RetinaResult found() {
        const double eps = margin();
        blocks_ = locate_retina(in_.linear, eps, in_.row_um, block_);
        outline();
        find_shadows();
        refine_rpe();
        cut_layers();
        refine_layers();
        refine_rpe_by_isos();
        sort_surfaces();
        return judged();
    }

  private:
    double margin() const { return std::max(in_.floor, 0.005 * in_.top); }
    float k(double um) const { return static_cast<float>(std::max(1L, std::lround(um / in_.row_um))); }
    std::int64_t rows(double um) const { return std::max(1L, std::lround(um / in_.row_um)); }

    // u = ln(1 + I / eps), 0 at the floor, smoothed along A-scans.
    void compress() {
        const double eps = std::max(margin(), 1e-30);
        const auto per_eps = static_cast<float>(1 / eps);
        const auto at_floor = static_cast<float>(std::log(in_.floor / eps + 1));
        u_ = in_.linear;
        for (float& value : u_.values) value = std::log(value * per_eps + 1) - at_floor;
        smooth_picture(u_, 0, sigma_);
        means_.emplace(u_);
    }

    // Interpolates values of blocks to A-scans.
    Course spread(const Course& blocks, double sigma) const {
        const Course smoothed = smooth_course(blocks, sigma);
        Course out(index(u_.a_scans));
        std::size_t i = 0;
        for (std::size_t a = 0; a < out.size(); ++a) {
            const auto at = static_cast<double>(a);
            while (i + 2 < smoothed.size() && blocks_.centres[i + 1] < at) ++i;
            if (smoothed.size() < 2) {
                out[a] = smoothed.front();
                continue;
            }
            const double share =
                std::clamp((at - blocks_.centres[i]) / (blocks_.centres[i + 1] - blocks_.centres[i]), 0.0, 1.0);
            out[a] = smoothed[i] * static_cast<float>(1 - share) + smoothed[i + 1] * static_cast<float>(share);
        }
        return out;
    }

    // Rows relative to the parabola of the eye, and back. Means, medians and constant ends would bend a tilted course.
    Course straightened(Course course, double sign = -1) const {
        for (std::size_t a = 0; a < course.size(); ++a)
            course[a] += static_cast<float>(sign * blocks_.bow.at(static_cast<double>(a)));
        return course;
    }
    Course bowed(Course course) const { return straightened(std::move(course), 1); }

    // Interpolates edges of blocks to A-scans.
    Course spread_edges(Course blocks) const {
        for (std::size_t i = 0; i < blocks.size(); ++i)
            blocks[i] -= static_cast<float>(blocks_.bow.at(blocks_.centres[i]));
        return bowed(spread(blocks, 0.7));
    }

    CourseResult refine(const EdgeModel& edge, const BandSearch& search) const {
        return course_in_band(u_, edge, search);
    }

    EdgeModel rpe_model(const Course& course, bool is_shadowed) const {
        const float inner = k(4);
        Course above = means_->around(course, -k(25), -inner), below = means_->around(course, k(8), k(40));
        if (is_shadowed) {
            above = where_above(std::move(above), seen_, least_seen);
            below = where_above(std::move(below), seen_, least_seen);
        }
        const double sigma = is_shadowed ? 10 : 8;
        return {smooth_known(above, sigma), smooth_known(below, sigma), -1, {rows(25), rows(10)}};
    }

    // Refines ILM and RPE-bottom from blocks to rows in two passes, with levels from both sides of the previous course.
    void outline() {
        edges_[ilm] = spread_edges(blocks_.ilm);
        edges_[rpe] = spread_edges(blocks_.rpe);
        for (const auto& [reach_ilm, reach_rpe] : {std::pair(60, 30), std::pair(30, 20)}) {
            const EdgeModel top{smooth_known(means_->around(edges_[ilm], -k(80), -k(12)), 16 / sigma_),
                                smooth_known(means_->around(edges_[ilm], k(4), k(30)), 8),
                                1,
                                {rows(40), rows(14)}};
            const CourseResult found =
                refine(top, {edges_[ilm], rows(reach_ilm), nullptr, 0, free_steps, free_strength});
            quality_[ilm] = found.quality;
            const EdgeModel bottom = rpe_model(edges_[rpe], false);
            const CourseResult deep =
                refine(bottom, {edges_[rpe], rows(reach_rpe), nullptr, 0, free_steps, free_strength});
            edges_[ilm] = found.edges;
            edges_[rpe] = deep.edges;
        }
    }

    // Shadows of vessels and the disc: the outer bands are much dimmer than 70 % of those within 450 um.
    void find_shadows() {
        const Course outer = filled(means_->around(edges_[rpe], -k(45), -k(3)));
        const Course usual =
            smooth_course(running_percentile(outer, shadow_width_, 0.7), static_cast<double>(shadow_width_) / 6);
        seen_.resize(outer.size());
        for (std::size_t a = 0; a < outer.size(); ++a)
            seen_[a] = std::clamp(1 - (usual[a] - outer[a] - .6f) / .8f, .03f, 1.0f);
    }

    static Course filled(Course course) {
        for (float& value : course) value = std::isfinite(value) ? value : 0;
        return course;
    }

    // Median over 2 `reach` + 1 A-scans of a straightened course, then a Gaussian. The medians of full windows are
    // extrapolated linearly to the ends, because a few wrong positions could be the majority of a shorter window there.
    static Course robust(const Course& course, std::int64_t reach) {
        Course median = running_percentile(course, 2 * reach + 1, 0.5);
        const std::int64_t last = std::ssize(median) - 1;
        for (std::int64_t d = 1; d <= reach && 3 * reach <= last; ++d) {
            const float share = static_cast<float>(d) / static_cast<float>(reach);
            const auto continued = [&](std::int64_t end, std::int64_t inside) {
                return median[index(end)] + share * (median[index(end)] - median[index(inside)]);
            };
            median[index(reach - d)] = continued(reach, 2 * reach);
            median[index(last - reach + d)] = continued(last - reach, last - 2 * reach);
        }
        return smooth_course(median, static_cast<double>(reach) / 2);
    }

    void refine_rpe() {
        const Course course = bowed(robust(bridged(straightened(edges_[rpe]), seen_), 3 * block_));
        edges_[rpe] = refine(rpe_model(course, true), {course, rows(20), &seen_, 0, fine_steps}).edges;
    }

    // Coarse courses of the boundaries between. The outer ones keep their distance from RPE-bottom, the inner ones
    // their share of the thickness.
    void cut_layers() {
        constexpr std::size_t first_outer = 4;
        const RetinaCut cut = cut_retina({u_, edges_[ilm], edges_[rpe], seen_, block_, in_.row_um}, model_);
        for (std::size_t q = 0; q < retina_boundaries; ++q) coarse_[q] = edges_[q];
        for (std::size_t q = 1; q < rpe; ++q) {
            const bool is_outer = q >= first_outer;
            Course shares;
            for (std::size_t i = 0; i < cut.places.size(); ++i) {
                const auto a = index(cut.a_scans[i]);
                const float height = edges_[ilm][a] - edges_[rpe][a];
                shares.push_back(is_outer ? height * (1 - cut.places[i][q]) : cut.places[i][q]);
            }
            shares = running_percentile(shares, is_outer ? 7 : 5, 0.5);
            for (std::size_t i = 0; i < shares.size(); ++i) {
                const auto a = index(cut.a_scans[i]);
                const float height = edges_[rpe][a] - edges_[ilm][a];
                shares[i] = is_outer ? shares[i] + edges_[rpe][a] : edges_[ilm][a] + shares[i] * height;
                shares[i] -= static_cast<float>(blocks_.bow.at(static_cast<double>(a)));
            }
            coarse_[q] = bowed(between(cut.a_scans, smooth_course(shares, 0.7)));
        }
        for (std::size_t q = 1; q < rpe; ++q) edges_[q] = coarse_[q];
        keep_doubts(cut);
    }

    // Medians over blocks, so that a single unusual block, such as the fovea, has no effect.
    void keep_doubts(const RetinaCut& cut) {
        misfit_ = between(cut.a_scans, running_percentile(cut.misfit, 3, 0.5));
        outer_misfit_ = between(cut.a_scans, running_percentile(cut.outer_misfit, 5, 0.5));
        median_misfit_ = static_cast<double>(median_of(cut.misfit));
        for (std::size_t q = 0; q < retina_boundaries; ++q) {
            Course doubt;
            for (const auto& one : cut.doubt_um) doubt.push_back(one[q]);
            doubt_um_[q] = between(cut.a_scans, running_percentile(doubt, 3, 0.5));
        }
    }

    Course between(const std::vector<std::int64_t>& at, const Course& values) const {
        Course sparse(index(u_.a_scans)), is_known(sparse.size());
        for (std::size_t i = 0; i < at.size(); ++i) {
            sparse[index(at[i])] = values[i];
            is_known[index(at[i])] = 1;
        }
        if (at.size() >= 5) return bridged(sparse, is_known);
        for (std::size_t a = 0; a < sparse.size(); ++a) {
            const auto nearest = std::ranges::min_element(
                at, {}, [&](std::int64_t x) { return std::abs(x - static_cast<std::int64_t>(a)); });
            sparse[a] = values[static_cast<std::size_t>(nearest - at.begin())];
        }
        return sparse;
    }

    void refine_layers() {
        const auto reach = static_cast<double>(k(model_.reach_um));
        for (std::size_t q = 1; q < rpe; ++q) {
            Course over(coarse_[q].size()), under(over), above_end(over), below_begin(over);
            for (std::size_t a = 0; a < over.size(); ++a) {
                over[a] = std::max(coarse_[q - 1][a], coarse_[q][a] - k(30)) + 1;
                above_end[a] = coarse_[q][a] - 1;
                below_begin[a] = coarse_[q][a] + 1;
                under[a] = std::min(coarse_[q + 1][a], coarse_[q][a] + k(30)) - 1;
            }
            EdgeModel edge{level(over, above_end), level(below_begin, under), retina_polarity[q], {rows(window_um[q])}};
            const auto sign = static_cast<float>(edge.polarity);
            for (std::size_t a = 0; a < over.size(); ++a) {
                if (!(sign * (edge.below[a] - edge.above[a]) > static_cast<float>(least_step)))
                    edge.below[a] = edge.above[a] + sign * static_cast<float>(least_step);
            }
            const CourseResult found =
                refine(edge, {coarse_[q], static_cast<std::int64_t>(reach), &seen_, reach / 2, fine_steps});
            edges_[q] = found.edges;
            quality_[q] = found.quality;
        }
    }

    Course level(const Course& begin, const Course& end) const {
        return smooth_known(where_above(means_->between(begin, end), seen_, least_seen),
                            1.5 * static_cast<double>(block_));
    }

    // RPE-bottom keeps its distance from ISOS, about 65 um in all eyes; the choroid is as bright as the RPE in places.
    void refine_rpe_by_isos() {
        Course distances;
        for (std::size_t a = 0; a < seen_.size(); ++a) {
            if (seen_[a] > .5f) distances.push_back(edges_[rpe][a] - edges_[isos][a]);
        }
        const float distance = distances.empty() ? k(65) : median_of(distances);
        Course course = bowed(robust(bridged(straightened(edges_[isos]), seen_), block_));
        for (float& edge : course) edge += distance;
        EdgeModel edge = rpe_model(course, true);
        for (std::size_t a = 0; a < edge.below.size(); ++a)
            edge.below[a] = std::min(edge.below[a], edge.above[a] - static_cast<float>(least_step));
        const CourseResult found = refine(edge, {course, static_cast<std::int64_t>(k(model_.reach_um)), &seen_,
                                                 static_cast<double>(k(10)), fine_steps});
        edges_[rpe] = found.edges;
        quality_[rpe] = found.quality;
    }

    void sort_surfaces() {
        constexpr double jitter_sigma = 1.5;
        for (std::size_t q = 0; q < retina_boundaries; ++q) {
            edges_[q] = bowed(smooth_course(straightened(edges_[q]), jitter_sigma));
            for (std::size_t a = 0; q > 0 && a < seen_.size(); ++a)
                edges_[q][a] = std::max(edges_[q][a], edges_[q - 1][a]);
        }
    }

    // Difference of u across a boundary, in the direction of its polarity, in up to 20 um on both sides.
    Course contrast_of(std::size_t q) const {
        Course over(edges_[q].size()), under(over);
        for (std::size_t a = 0; a < over.size(); ++a) {
            const float z = edges_[q][a];
            over[a] = q == ilm ? z - k(40) : std::min(std::max(edges_[q - 1][a], z - k(20)), z - 2);
            under[a] = q == rpe ? z + k(40) : std::max(std::min(edges_[q + 1][a], z + k(20)), z + 2);
        }
        const Course below = means_->between(edges_[q], under), above = means_->between(over, edges_[q]);
        Course contrast(over.size());
        for (std::size_t a = 0; a < over.size(); ++a)
            contrast[a] = static_cast<float>(retina_polarity[q]) * (below[a] - above[a]);
        return smooth_known(contrast, 0.75 * static_cast<double>(block_));
    }

    // Brightness below ILM relative to the outer nuclear layer, the darkest one. Less is vitreous.
    Course tissue_below_ilm() const {
        constexpr std::size_t opl = 4;
        const auto usual = 4 * static_cast<double>(block_);
        const Course below = smooth_known(means_->around(edges_[ilm], k(4), k(25)), static_cast<double>(block_) / 2),
                     darkest = smooth_known(where_above(means_->between(edges_[opl], edges_[isos]), seen_, least_seen),
                                            usual);
        Course share(below.size());
        for (std::size_t a = 0; a < share.size(); ++a) share[a] = below[a] / std::max(darkest[a], 0.1f);
        return share;
    }

    double likeness() const {
        const double contrast = std::log(std::max(in_.top, 1e-30) / std::max(in_.floor, 1e-30));
        return std::min({contrast / sure_range, static_cast<double>(median_of(blocks_.score_rpe)) / sure_score_rpe,
                         static_cast<double>(median_of(blocks_.score_ilm)) / sure_score_ilm,
                         most_median_misfit / std::max(median_misfit_, 1e-3)});
    }

    // Ganglion cells are nearly as bright as nerve fibres. A few speckles do not distinguish them, as in single B-scans
    // of a cube of the disc.
    bool is_noisy() const { return in_.looks * static_cast<double>(block_) < least_speckles; }

    Course confidence_of(std::size_t q, double is_eye, const Course& gap_ilm, const Course& gap_rpe) const {
        const Course contrast = contrast_of(q),
                     quality = smooth_course(quality_[q], 0.75 * static_cast<double>(block_));
        const Course below_ilm = q == ilm ? tissue_below_ilm() : Course{};
        Course confidence(contrast.size());
        for (std::size_t a = 0; a < confidence.size(); ++a) {
            float least = std::min({contrast[a] / static_cast<float>(model_.contrast[q]), quality[a] / sure_quality,
                                    static_cast<float>(is_eye)});
            if (q == ilm) least = std::min(least, below_ilm[a] / least_below_ilm);
            if (q != ilm) least = std::min({least, seen_[a] / least_seen, gap_rpe[a] / sure_gap_rpe});
            if (q < isos) least = std::min(least, gap_ilm[a] / sure_gap_ilm);
            if (q != ilm) {
                const float misfit = q < isos ? misfit_[a] / most_misfit : outer_misfit_[a] / most_outer_misfit;
                least =
                    std::min({least, 1 / std::max(misfit, 1e-3f), most_doubt_um / std::max(doubt_um_[q][a], 1e-3f)});
            }
            if (q == nfl && is_noisy()) least = std::min(least, just_ambiguous);
            confidence[a] = std::clamp(least, 0.0f, most_confidence);
        }
        return confidence;
    }

    // Returns the reason for an uncertain position.
    Reason reason_of(std::size_t a, float edge, float confidence) const {
        const std::int64_t depth = u_.depth;
        const std::uint8_t* known = in_.known.data() + static_cast<std::int64_t>(a) * depth;
        if (std::none_of(known, known + depth, [](std::uint8_t k) { return k != 0; })) return Reason::no_signal;
        if (edge < edge_rows || edge > static_cast<float>(depth) - edge_rows) return Reason::out_of_range;
        if (likeness() < least_likeness) return Reason::weak_match;
        return confidence >= 1 ? Reason::ok : Reason::ambiguous;
    }

    RetinaResult judged() const {
        RetinaResult found{{}, seen_, likeness()};
        const Course gap_ilm = spread(blocks_.gap_ilm, 3), gap_rpe = spread(blocks_.gap_rpe, 3);
        for (std::size_t q = 0; q < retina_boundaries; ++q) {
            ConfidentCourse one{edges_[q], confidence_of(q, found.likeness, gap_ilm, gap_rpe), {}};
            for (std::size_t a = 0; a < one.rows.size(); ++a) {
                one.reasons.push_back(reason_of(a, one.rows[a], one.confidence[a]));
                one.rows[a] -= 0.5f;
                if (!has_place(one.reasons[a])) one.confidence[a] = 0;
            }
            found.boundaries.push_back(std::move(one));
        }
        return found;
    }

    const BScanBrightness& in_;
    const RetinaModel& model_;
    std::int64_t block_ = 8, shadow_width_ = 81;
    double sigma_ = 2;
    BScanPicture u_;
    std::optional<RowMeans> means_;
    RetinaCourse blocks_;
    std::array<Course, retina_boundaries> edges_, coarse_, quality_, doubt_um_;
    Course seen_, misfit_, outer_misfit_;
    double median_misfit_ = 0;
};

}  // namespace

RetinaResult find_retina(const BScanBrightness& b_scan, const RetinaModel& model) {
    return Search(b_scan, model).found();
}

}  // namespace echolux
