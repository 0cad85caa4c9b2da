#include "engine/layers/tissue_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "compute/indexing.h"
#include "compute/reason.h"

namespace echolux {
namespace {

constexpr float tissue_level = 0.45f;  // of the tissue's level: dark ends here
constexpr float strength = 10;         // nats of perfect evidence
constexpr float least_known = 0.3f;    // share of an A-scan's rows
constexpr std::int64_t fine_rows = 6, fine_reach = 8, top_rows = 3;
constexpr float far_off = 1e5f;
// Steps of up to 8 rows between A-scans.
constexpr std::array<float, 9> steps{0, .7f, 1.4f, 2.1f, 2.8f, 3.5f, 4.2f, 4.9f, 5.6f};

// Thresholds of the grounds of confidence, from the development recordings. A place is a step between two surfaces,
// where a small lateral error is a large one in depth, if the course spans more than `steep` rows within 6 A-scans.
constexpr float sure_score = .58f, sure_gap = 74, sure_contrast = .12f, steep = 8, most_confidence = 3;
constexpr std::int64_t steep_reach = 6;
constexpr float least_confidence = 0.25f;  // below, 95 % of the places are wrong: none is returned

float limited(float value) {
    return std::clamp(value, -1.0f, 1.0f);
}

// Running min or max along an A-scan of 2 `reach` + 1 rows.
template <class Take>
std::vector<float> running(const float* line, std::int64_t count, std::int64_t reach, const Take& take) {
    std::vector<float> out(line, line + count);
    for (std::int64_t d = 1; d <= reach; ++d) {
        for (std::int64_t i = 0; i < count; ++i) {
            const float before = line[std::max<std::int64_t>(i - d, 0)], after = line[std::min(i + d, count - 1)];
            out[index(i)] = take(out[index(i)], take(before, after));
        }
    }
    return out;
}

constexpr auto less_of = [](float a, float b) { return std::min(a, b); };
constexpr auto more_of = [](float a, float b) { return std::max(a, b); };

// Removes bright lines of at most `rows` rows.
void open_along_depth(BScanPicture& picture, std::int64_t rows) {
    for (std::int64_t a = 0; a < picture.a_scans; ++a) {
        const std::vector<float> eroded = running(picture.line(a), picture.depth, rows / 2, less_of);
        const std::vector<float> opened = running(eroded.data(), picture.depth, rows / 2, more_of);
        std::ranges::copy(opened, picture.line(a));
    }
}

// A search of the surface with its intermediate results.
class SurfaceSearcher {
  public:
    SurfaceSearcher(const BScanBrightness& b_scan, const TissueModel& model) : in_(b_scan), model_(model) {
        compress();
        find_levels();
        find_coarse();
        find_foot();
    }

    const BScanPicture& u() const { return u_; }
    const Course& level() const { return level_; }

    ConfidentCourse found() const {
        ConfidentCourse found{smooth_course(edges_, 1), confidence(), {}};
        for (std::size_t a = 0; a < edges_.size(); ++a) {
            found.rows[a] -= 0.5f;
            if (has_data_[a] == 0) found.confidence[a] = 0;
            found.reasons.push_back(reason_of(a, found.confidence[a]));
        }
        return found;
    }

  private:
    Reason reason_of(std::size_t a, float confidence) const {
        if (has_data_[a] == 0) return Reason::no_signal;
        if (confidence < least_confidence) return Reason::weak_match;
        return confidence >= 1 ? Reason::ok : Reason::ambiguous;
    }

    std::int64_t edges() const { return u_.depth + 1; }

    // A-scans without data contribute nothing to their neighbours.
    void compress() {
        const double floor = std::max({in_.floor, 1e-3 * in_.top, 1e-30});
        const auto per_floor = static_cast<float>(1 / floor);
        u_ = in_.linear;
        has_data_.resize(index(u_.a_scans));
        for (std::int64_t a = 0; a < u_.a_scans; ++a) {
            const std::uint8_t* known = in_.known.data() + a * u_.depth;
            const auto count = std::accumulate(known, known + u_.depth, std::int64_t{0});
            const bool has_data = static_cast<float>(count) > least_known * static_cast<float>(u_.depth);
            has_data_[index(a)] = has_data ? 1 : 0;
            float* line = u_.line(a);
            for (std::int64_t z = 0; z < u_.depth; ++z)
                line[z] =
                    has_data && known[z] != 0 ? std::log(line[z] * per_floor + 1) - std::numbers::ln2_v<float> : 0;
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
                const bool is_at_end = z < top_rows || z >= u_.depth - model_.deep / 2;
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
        const std::vector<float> low = running(edges_.data(), count, steep_reach, less_of),
                                 high = running(edges_.data(), count, steep_reach, more_of);
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
    BScanPicture u_, opened_;
    Course has_data_, level_, coarse_, gap_, score_, edges_;
};

// ---- lumen

// A frame with a quarter turn repeated at both ends. Rows of the catheter become dark.
class PaddedFrame {
  public:
    explicit PaddedFrame(const BScanBrightness& frame) : pad_(frame.linear.a_scans / 4), turn_(frame.linear.a_scans) {
        const BScanPicture& in = frame.linear;
        padded_ = {{in.depth, turn_ + 2 * pad_, {}}, {}, frame.floor, frame.top, frame.row_um, frame.a_scan_um};
        for (std::int64_t a = -pad_; a < turn_ + pad_; ++a) {
            const std::int64_t from = (a + turn_) % turn_;
            padded_.linear.values.insert(padded_.linear.values.end(), in.line(from), in.line(from) + in.depth);
            const auto known = frame.known.begin() + from * in.depth;
            padded_.known.insert(padded_.known.end(), known, known + in.depth);
        }
        darken_catheter(in);
    }

    const BScanBrightness& frame() const { return padded_; }
    std::int64_t turn() const { return turn_; }
    std::int64_t pad() const { return pad_; }

  private:
    // Rows of the inner quarter that are bright in 70 % of the angles belong to the catheter.
    void darken_catheter(const BScanPicture& in) {
        BScanPicture l = in;
        const auto least = static_cast<float>(std::max(1e-3 * padded_.floor, 1e-30));
        for (float& value : l.values) value = std::log(std::max(value, least));
        const float dark = percentile_of(l.values, 0.05), bright = percentile_of(l.values, 0.9);
        smooth_picture(l, 0, 3);
        std::int64_t first = 0;
        for (std::int64_t z = 0; z < in.depth / 4; ++z) {
            std::vector<float> ring;
            for (std::int64_t a = 0; a < turn_; ++a) ring.push_back(l.line(a)[z]);
            if (percentile_of(std::move(ring), 0.3) > dark + 0.2f * (bright - dark)) first = z + 3;
        }
        for (std::int64_t a = 0; a < padded_.linear.a_scans; ++a) {
            std::fill_n(padded_.linear.line(a), first, std::exp(dark));
            std::fill_n(padded_.known.begin() + a * in.depth, first, std::uint8_t{1});
        }
    }

    std::int64_t pad_, turn_;
    BScanBrightness padded_;
};

// Grows (or shrinks, for `is_set` = 0) the marked A-scans.
void spread_marks(std::vector<std::uint8_t>& marks, std::int64_t reach, std::uint8_t is_set) {
    const std::vector<std::uint8_t> before = marks;
    const auto count = std::ssize(marks);
    for (std::int64_t a = 0; a < count; ++a) {
        for (std::int64_t d = std::max<std::int64_t>(0, a - reach); d <= std::min(count - 1, a + reach); ++d) {
            if (before[index(d)] == is_set) marks[index(a)] = is_set;
        }
    }
}

// A-scans behind a guide wire: dark again from 36 to 84 rows below its face.
std::vector<std::uint8_t> shadows(const SurfaceSearcher& search, const Course& rows, std::int64_t turn) {
    BScanPicture relative = search.u();
    for (std::int64_t a = 0; a < relative.a_scans; ++a) {
        for (std::int64_t z = 0; z < relative.depth; ++z)
            relative.line(a)[z] = limited(relative.line(a)[z] / search.level()[index(a)] - 1);
    }
    constexpr float begin = 36, end = 84, dark = -0.4f;
    constexpr std::int64_t least_turn = 100;  // A-scans; fewer do not resolve a wire
    Course behind = RowMeans(relative).around(rows, begin, end);
    for (float& value : behind) value = std::isfinite(value) ? value : -1;
    behind = smooth_course(behind, 2);
    std::vector<std::uint8_t> marks(behind.size());
    if (turn < least_turn) return marks;
    std::ranges::transform(behind, marks.begin(), [](float value) { return value < dark ? 1 : 0; });
    spread_marks(marks, 6, 1);
    spread_marks(marks, 6, 0);
    spread_marks(marks, 12, 1);
    return marks;
}

// Distance from the half level to the upper shoulder in the mean profile across the edge, in rows.
float shoulder_shift(const BScanPicture& u, const Course& rows, const std::vector<std::uint8_t>& marks) {
    constexpr int first = -14, count = 36, plateau = 24, dark_count = 5;
    std::array<double, count> profile{};
    for (std::int64_t a = 0; a < u.a_scans; ++a) {
        if (marks[index(a)] != 0) continue;
        for (int i = 0; i < count; ++i) {
            const float z =
                std::clamp(rows[index(a)] + static_cast<float>(first + i), 0.0f, static_cast<float>(u.depth - 1));
            const auto row = std::min(static_cast<std::int64_t>(z), u.depth - 2);
            const float share = z - static_cast<float>(row);
            profile[index(i)] += static_cast<double>(u.line(a)[row] * (1 - share) + u.line(a)[row + 1] * share);
        }
    }
    const auto mean = [&](int begin, int end) {
        return std::accumulate(profile.begin() + begin, profile.begin() + end, 0.0) / (end - begin);
    };
    const double level = mean(0, dark_count) + 0.9 * (mean(plateau, count) - mean(0, dark_count));
    const auto above = std::ranges::find_if(profile, [&](double value) { return value > level; });
    const auto k = index(std::clamp<std::ptrdiff_t>(above - profile.begin(), 1, count - 1));
    const double rise = profile[k] - profile[k - 1];
    const double part = rise > 0 ? std::clamp((level - profile[k - 1]) / rise, 0.0, 1.0) : 0;
    return static_cast<float>(first + static_cast<double>(k) - 1 + part);
}

// Moves a course outwards along its normal in the plane of the frame.
Course moved_out(const Course& rows, float shift, std::int64_t turn) {
    const Course smooth = smooth_course(rows, 4);
    const float angle = 2 * std::numbers::pi_v<float> / static_cast<float>(turn);
    Course out(rows.size());
    for (std::size_t a = 0; a < out.size(); ++a) {
        const std::size_t before = a > 0 ? a - 1 : a, after = a + 1 < out.size() ? a + 1 : a;
        const float per_a_scan =
            (smooth[after] - smooth[before]) / static_cast<float>(std::max<std::size_t>(1, after - before));
        const float slope = per_a_scan / angle / std::max(rows[a], 20.0f);
        out[a] = rows[a] + shift * std::sqrt(1 + std::min(slope * slope, 4.0f));
    }
    return out;
}

}  // namespace

ConfidentCourse find_tissue_surface(const BScanBrightness& b_scan, const TissueModel& model) {
    return SurfaceSearcher(b_scan, model).found();
}

ConfidentCourse find_lumen(const BScanBrightness& frame, const TissueModel& model) {
    const PaddedFrame padded(frame);
    const SurfaceSearcher search(padded.frame(), model);
    ConfidentCourse found = search.found();
    const std::vector<std::uint8_t> marks = shadows(search, found.rows, padded.turn());
    Course is_clear(marks.size());
    std::ranges::transform(marks, is_clear.begin(), [](std::uint8_t mark) { return mark != 0 ? 0.0f : 1.0f; });
    const Course bridged_rows = bridged(found.rows, is_clear);
    found.rows = moved_out(bridged_rows, shoulder_shift(search.u(), bridged_rows, marks), padded.turn());
    for (std::size_t a = 0; a < marks.size(); ++a) {
        if (marks[a] == 0) continue;
        found.confidence[a] = 0;
        if (found.reasons[a] == Reason::ok) found.reasons[a] = Reason::ambiguous;
    }
    const auto keep = [&](auto& all) {
        all.erase(all.begin() + padded.turn() + padded.pad(), all.end());
        all.erase(all.begin(), all.begin() + padded.pad());
    };
    keep(found.rows);
    keep(found.confidence);
    keep(found.reasons);
    return found;
}

}  // namespace echolux
