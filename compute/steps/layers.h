// Steps of the search for surfaces between layers (docs/layers.md), shared by CPU and GPU: blocks and coarse positions,
// costs and sweeps of boundaries, and the processing of the result.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "compute/host_device.h"
#include "compute/reason.h"
#include "compute/steps/natural_log.h"

namespace echolux {

// ---- Single steps of the search for layer boundaries (docs/layers.md). Intensities in a layer are exponentially
// distributed around its mean, so a voxel of intensity I in a layer of mean p costs I / p + ln p. Neighbouring A-scans
// are coupled as in semi-global matching (Hirschmueller, IEEE TPAMI 30, 2008).

// Candidates ("labels") of a boundary in one A-scan: rows around its coarse position.
inline constexpr int boundary_reach = 10;  // rows on either side
inline constexpr int boundary_labels = 2 * boundary_reach + 1;
inline constexpr int boundary_lanes = 24;        // labels padded to a whole number of vectors
inline constexpr float impossible = 1e4f;        // cost of an invalid position, in nats
inline constexpr int boundary_window_rows = 24;  // max rows on either side of a boundary that affect its cost

// Edges of the layers in an A-scan: 0, then its boundaries (`stride` values apart), then the depth.
struct LayerEdges {
    const std::int32_t* rows;  // rows of the first boundary
    std::int64_t stride;
    int boundaries, depth;

    ECHOLUX_HD int operator()(int edge) const {
        if (edge == 0) return 0;
        if (edge > boundaries) return depth;
        const int row = rows[(edge - 1) * stride];
        return row < 0 ? 0 : row < depth ? row : depth;
    }
};

// Rows that determine the brightness of the layer between two edges. Rows next to the edges are excluded because the
// point spread function blurs them.
struct LayerInside {
    int begin, end;

    ECHOLUX_HD static LayerInside of(int edge, int next_edge, int depth) {
        const int end = next_edge - 1 > edge + 2 ? next_edge - 1 : edge + 2;
        return {edge + 1, end < depth ? end : depth};
    }
};

// Cost of n voxels of one layer whose mean is estimated from the same voxels: n ln(mean), up to a constant.
struct PieceCost {
    ECHOLUX_HD float operator()(float sum, float count) const { return count * NaturalLog{}(sum / count); }
};

// Rows that affect the cost of a boundary in one A-scan. Rows from `first` on belong to the layer above, rows before
// `last` to the layer below.
struct BoundaryWindow {
    int first, last;
    float mean_above, mean_below, log_above, log_below;  // natural logarithms

    // Returns the window of a boundary at row `at`. `over` and `under` are its neighbouring boundaries or the ends of
    // the A-scan, `above` and `below` the means of the two layers. The contrast is limited, because otherwise the tail
    // of the point spread function would shift boundaries.
    ECHOLUX_HD static BoundaryWindow between(int at, int over, int under, float above, float below) {
        constexpr float most_contrast = 8;
        constexpr int min_rows = 2;
        const auto rows = [](int count) {
            const int some = count > min_rows ? count : min_rows;
            return some < boundary_window_rows ? some : boundary_window_rows;
        };
        const int first = at - boundary_reach - rows(at - over), last = at + boundary_reach + rows(under - at);
        BoundaryWindow window{};
        window.first = first > over ? first : over;
        window.last = last < under ? last : under;
        window.mean_above = above > below / most_contrast ? above : below / most_contrast;
        window.mean_below = below > above / most_contrast ? below : above / most_contrast;
        window.log_above = NaturalLog{}(window.mean_above);
        window.log_below = NaturalLog{}(window.mean_below);
        return window;
    }
};

// Returns whether a voxel was recorded. Unrecorded ones are NaN.
ECHOLUX_HD inline bool is_recorded(float value) {
    return std::isfinite(value);
}

// Shrinks a window to the recorded rows around the candidates. Returns false if a candidate row itself was not
// recorded, so that the boundary cannot be located.
ECHOLUX_HD inline bool keeps_recorded(BoundaryWindow& window, int at, const float* line) {
    const auto clamped = [](int value, int low, int high) { return value < low ? low : value < high ? value : high; };
    const int begin = clamped(at - boundary_reach, window.first, window.last),
              end = clamped(at + boundary_reach, begin, window.last);
    for (int z = begin; z < end; ++z) {
        if (!is_recorded(line[z])) return false;
    }
    int first = begin, last = end;
    while (first > window.first && is_recorded(line[first - 1])) --first;
    while (last < window.last && is_recorded(line[last])) ++last;
    window.first = first;
    window.last = last;
    return true;
}

// Cost of a boundary between voxels z - 1 and z. `above` and `below` are the sums of the window's intensities on each
// side.
struct BoundaryCost {
    ECHOLUX_HD float operator()(const BoundaryWindow& window, int z, float above, float below) const {
        const auto count_above = static_cast<float>(z - window.first);
        const auto count_below = static_cast<float>(window.last - z);
        if (count_above < 0 || count_below < 0) return impossible;
        return above / window.mean_above + count_above * window.log_above + below / window.mean_below +
               count_below * window.log_below;
    }
};

// Returns the cost of a label. `sums` are prefix sums of the A-scan, which has `depth` rows.
ECHOLUX_HD inline float boundary_cost(const BoundaryWindow& window, int at, int label, const double* sums, int depth) {
    const auto before = [&](int z) { return sums[z < 0 ? 0 : z < depth ? z : depth]; };
    const int z = at - boundary_reach + label;
    return BoundaryCost{}(window, z, static_cast<float>(before(z) - before(window.first)),
                          static_cast<float>(before(window.last) - before(z)));
}

// Brightness directly above and below a boundary. Layers too thin to measure are skipped.
inline constexpr int thinnest_layer = 3;  // rows: thinner layers may only show the blur of their neighbours

struct BoundarySides {
    bool is_measured = false;
    float above = 0, below = 0;

    ECHOLUX_HD static BoundarySides of(const LayerEdges& edges, int boundary, const float* line) {
        constexpr int reach = 6;  // max rows on either side
        const int middle = edges(boundary + 1);
        int above_it = boundary, below_it = boundary + 2;
        while (above_it > 0 && middle - edges(above_it) < thinnest_layer) --above_it;
        while (below_it <= edges.boundaries && edges(below_it) - middle < thinnest_layer) ++below_it;
        const int over = edges(above_it), under = edges(below_it);
        const int first = middle - reach > over ? middle - reach : over,
                  last = middle + reach < under ? middle + reach : under;
        if (middle - first < thinnest_layer || last - middle < thinnest_layer) return {};
        const auto mean = [&](int begin, int end) {
            float sum = 0;
            for (int z = begin; z < end; ++z) sum += line[z];
            return sum / static_cast<float>(end - begin);
        };
        if (!is_recorded(mean(first, last))) return {};
        return {true, mean(first, middle), mean(middle, last)};
    }

    // Returns the brightness step in dB, positive if brighter below. `margin` is far below the noise and avoids log(0).
    ECHOLUX_HD static float contrast_db(float above, float below, float margin) {
        constexpr float db = 4.34294482f;  // 10 lg e
        return db * NaturalLog{}((below + margin) / (above + margin));
    }
};

// Cost in nats of a label without a counterpart in the previous A-scan
inline constexpr float beyond_boundary_labels = 20;
// Distance between neighbouring A-scans, in rows, beyond which no candidates are shared
inline constexpr int farthest_boundary_rows = boundary_labels;
// Max difference in rows between the positions found along A-scans and along B-scans
inline constexpr int far_apart_boundary_rows = 2;

// Cost of moving a boundary from one A-scan to the next, in nats. `previous` points to the accumulated cost at the same
// depth in the previous A-scan, and three candidates on either side of it must be readable.
struct SweepStep {
    float smoothness = 1;

    // Returns the label offset that selects the same depth in the previous A-scan, whose boundary was `moved` rows
    // higher. Clamped to the readable range.
    ECHOLUX_HD static int shift(int moved) {
        constexpr int least = -farthest_boundary_rows, most = farthest_boundary_rows - 3;
        return moved < least ? least : moved > most ? most : moved;
    }

    // Combines both directions of a sweep, counting the A-scan's own cost once.
    ECHOLUX_HD static float both_directions(float there, float back, float cost) { return (there + back) - cost; }

    // Combines the sweeps along A-scans and along B-scans.
    ECHOLUX_HD static float crossed(float along_a, float along_b, float cost) { return along_a + along_b - cost; }

    // Returns whether a label is far enough from the best one for its cost to measure confidence.
    ECHOLUX_HD static bool is_rival(int label, int best) { return label - best >= 3 || best - label >= 3; }

    ECHOLUX_HD static bool are_far_apart(int along_a, int along_b) {
        return along_a - along_b > far_apart_boundary_rows || along_b - along_a > far_apart_boundary_rows;
    }

    // Returns the min cost over the seven reachable labels of the previous A-scan.
    ECHOLUX_HD float operator()(const float* previous) const {
        float best = previous[0];
        for (int step = 1; step <= 3; ++step) {
            constexpr float penalties[4] = {0, 2, 4.5f, 9};
            const float penalty = penalties[step] * smoothness;
            const float nearer = previous[-step] < previous[step] ? previous[-step] : previous[step];
            best = nearer + penalty < best ? nearer + penalty : best;
        }
        return best;
    }
};

// ---- Coarse localization of layers (docs/layers.md): average blocks of A-scans, cut their mean profiles into layers,
// and fit smooth surfaces that ignore outliers. These steps are compiled without fused multiply-add so that all
// backends return the same bits.

inline constexpr int rows_of_a_bin = 2;
inline constexpr float signal_over_floor = 3.981f;  // 6 dB
// Min number of rows with signal.
inline constexpr int min_signal_rows = 8;

// Blocks along an axis. Those of the second half mirror those of the first.
struct BlockAxis {
    std::int64_t size, count;

    ECHOLUX_HD static BlockAxis of(std::int64_t size, std::int64_t block) {
        return {size, size / block > 1 ? size / block : 1};
    }
    ECHOLUX_HD std::int64_t begin(std::int64_t i) const {
        return 2 * i <= count ? i * size / count : size - (count - i) * size / count;
    }
    ECHOLUX_HD double centre(std::int64_t i) const { return 0.5 * static_cast<double>(begin(i) + begin(i + 1) - 1); }

    // The two blocks on either side of a position, and the weight of the second.
    struct Share {
        std::int64_t first, second;
        double of_second;
    };
    ECHOLUX_HD Share share(std::int64_t at) const {
        const auto place = static_cast<double>(at);
        std::int64_t first = at * count / size;  // index of the block that contains it, or of a neighbour
        first = first > 1 ? first - 2 : 0;
        while (first + 1 < count && centre(first + 1) <= place) ++first;
        const std::int64_t second = first + 1 < count ? first + 1 : count - 1;
        if (second == first || place <= centre(first)) return {first, first, 0};
        return {first, second, (place - centre(first)) / (centre(second) - centre(first))};
    }
};

// Bilinear interpolation of a block map between the four blocks around a position. Returns rows.
struct BetweenBlocks {
    ECHOLUX_HD float operator()(const float* map, std::int64_t stride, const BlockAxis::Share& a,
                                const BlockAxis::Share& b) const {
        const double first = along(map + b.first * stride, a), second = along(map + b.second * stride, a);
        const double bins = first * (1 - b.of_second) + second * b.of_second;
        return static_cast<float>(rows_of_a_bin * bins);
    }

  private:
    ECHOLUX_HD static double along(const float* row, const BlockAxis::Share& a) {
        const auto left = static_cast<double>(row[a.first]), right = static_cast<double>(row[a.second]);
        return left * (1 - a.of_second) + right * a.of_second;
    }
};

// A boundary to search for, in bins of a profile.
struct ProfileBoundary {
    std::int32_t polarity = 0;  // 1: brighter below, -1: darker below
    std::int32_t min = 1;       // from the previous boundary or from the top, at least 1
    std::int32_t max = 0;       // 0 for no limit

    // Returns whether a piece above the boundary at `end` may begin at `begin`.
    ECHOLUX_HD bool may_follow(std::int32_t begin, std::int32_t end) const {
        return end - begin >= min && (max == 0 || end - begin <= max);
    }
};

// The most likely cut of a profile into pieces of constant brightness, found exactly by dynamic programming over all
// positions of all boundaries. Stores the cost of each boundary at each bin and the start of the piece above it.
struct ProfileCut {
    static constexpr float ruled_out = 1e9f;
    static constexpr std::int32_t step_reach = 3;  // bins on either side that determine the polarity of a boundary

    const double* sums;  // [bins + 1], prefix sums of the profile
    std::int32_t bins;

    // Returns the cost of one piece of constant brightness over bins [begin, end).
    ECHOLUX_HD float piece(std::int32_t begin, std::int32_t end) const {
        return PieceCost{}(static_cast<float>(sums[end] - sums[begin]), static_cast<float>(end - begin));
    }

    // Returns whether the brightness step at this bin contradicts the polarity.
    ECHOLUX_HD bool steps_wrong(int polarity, std::int32_t at) const {
        if (polarity == 0) return false;
        std::int32_t reach = step_reach < at ? step_reach : at;
        reach = reach < bins - at ? reach : bins - at;
        const double below = sums[at + reach] - sums[at], above = sums[at] - sums[at - reach];
        return polarity * (below - above) <= 0;
    }

    // Returns the cost of the first boundary at `end`.
    ECHOLUX_HD float first(const ProfileBoundary& boundary, std::int32_t end) const {
        if (!boundary.may_follow(0, end) || steps_wrong(boundary.polarity, end)) return ruled_out;
        return piece(0, end);
    }

    // Returns the cost of a later boundary at `end`, given the minimal cost of everything above it.
    ECHOLUX_HD float later(const ProfileBoundary& boundary, std::int32_t end, float least) const {
        if (steps_wrong(boundary.polarity, end)) return ruled_out;
        return least < ruled_out ? least : ruled_out;
    }
};

// A quadratic surface fitted to the neighbourhood of a point by iteratively reweighted least squares (P. W. Holland, R.
// E. Welsch, Commun. Stat. A6, 813, 1977).
struct RobustSurface {
    static constexpr int terms = 6;  // 1, x, y, x^2, x y, y^2
    static constexpr int iterations = 8;

    const float* map;
    std::int64_t a_scans, b_scans, reach;
    double limit;

    // Coefficients around the fitted point: x along A-scans, y along B-scans.
    struct Fit {
        double of[terms] = {};

        ECHOLUX_HD double at(double x, double y) const {
            return of[0] + of[1] * x + of[2] * y + of[3] * x * x + of[4] * x * y + of[5] * y * y;
        }
    };
    ECHOLUX_HD Fit fit(std::int64_t b, std::int64_t a) const {
        Fit surface;
        for (int i = 0; i < iterations; ++i) {
            double matrix[terms][terms] = {}, right[terms] = {};
            for (std::int64_t y = b > reach ? b - reach : 0; y <= b + reach && y < b_scans; ++y) {
                for (std::int64_t x = a > reach ? a - reach : 0; x <= a + reach && x < a_scans; ++x)
                    add(static_cast<double>(x - a), static_cast<double>(y - b),
                        static_cast<double>(map[y * a_scans + x]), i, surface.of, matrix, right);
            }
            solve(matrix, right, surface.of);
        }
        return surface;
    }

    // Returns the value of the map, or the fitted surface if the value deviates by more than the limit.
    ECHOLUX_HD float without_outlier(std::int64_t b, std::int64_t a) const {
        const float value = map[b * a_scans + a];
        const double surface = fit(b, a).of[0], off = surface - static_cast<double>(value);
        return off > limit || -off > limit ? static_cast<float>(surface) : value;
    }

  private:
    ECHOLUX_HD void add(double dx, double dy, double value, int iteration, const double* surface,
                        double (*matrix)[terms], double* right) const {
        const double place[terms] = {1, dx, dy, dx * dx, dx * dy, dy * dy};
        double there = 0;
        for (int i = 0; i < terms; ++i) there += surface[i] * place[i];
        const double difference = value - there, off = (difference < 0 ? -difference : difference) / limit;
        // Equal weights at first, then inversely proportional to the deviation. The final iterations nearly ignore
        // values beyond the limit.
        const double weight = iteration == 0               ? 1
                              : iteration < iterations / 2 ? 1 / (off > 0.2 ? off : 0.2)
                                                           : 1 / (1 + off * off * off * off);
        for (int i = 0; i < terms; ++i) {
            for (int j = 0; j < terms; ++j) matrix[i][j] += weight * place[i] * place[j];
            right[i] += weight * place[i] * value;
        }
    }

    // Gaussian elimination without pivoting, because the matrix is positive semidefinite. Terms that the data cannot
    // determine (y if there is a single row of B-scans) are 0.
    ECHOLUX_HD static void solve(double (*matrix)[terms], double* right, double* solution) {
        constexpr double min_pivot = 1e-6;
        bool is_known[terms] = {};
        for (int i = 0; i < terms; ++i) {
            is_known[i] = matrix[i][i] > min_pivot;
            if (!is_known[i]) continue;
            for (int row = i + 1; row < terms; ++row) {
                const double factor = matrix[row][i] / matrix[i][i];
                for (int j = i; j < terms; ++j) matrix[row][j] -= factor * matrix[i][j];
                right[row] -= factor * right[i];
            }
        }
        for (int i = terms; i-- > 0;) {
            solution[i] = 0;
            if (!is_known[i]) continue;
            double sum = right[i];
            for (int j = i + 1; j < terms; ++j) sum -= matrix[i][j] * solution[j];
            solution[i] = sum / matrix[i][i];
        }
    }
};

// Median of 3 x 3 neighbours, or fewer at the borders of a map.
struct MedianOfNeighbours {
    ECHOLUX_HD float operator()(const float* map, std::int64_t a_scans, std::int64_t b_scans, std::int64_t b,
                                std::int64_t a) const {
        float near[9];
        int count = 0;
        for (std::int64_t y = b > 0 ? b - 1 : 0; y <= b + 1 && y < b_scans; ++y) {
            for (std::int64_t x = a > 0 ? a - 1 : 0; x <= a + 1 && x < a_scans; ++x) {
                const float value = map[y * a_scans + x];
                int at = count++;
                for (; at > 0 && near[at - 1] > value; --at) near[at] = near[at - 1];
                near[at] = value;
            }
        }
        return 0.5f * (near[(count - 1) / 2] + near[count / 2]);
    }
};

// ---- Postprocessing of boundaries after the sweeps (docs/layers.md), one A-scan at a time: enforces their order,
// rejects unreliable ones and computes the rows of surfaces.

inline constexpr float min_mean_weight = 1e-6f;  // positions with less weight are not smoothed

// Returns the row whose start is nearest to a position.
ECHOLUX_HD inline std::int32_t whole_row(float place) {
    return static_cast<std::int32_t>(std::lround(place));
}

// A requested boundary, in rows.
struct BoundaryRequest {
    float smoothness = 1;
    float least = 0;  // min distance from the previous boundary
    std::int32_t polarity = 0;
    std::int32_t is_thin = 0;  // the layer above may be too thin to measure
};

// Result of a sweep for a boundary in one A-scan. At the end of its candidates, the boundary needs another pass.
struct SweepResult {
    std::int32_t label;
    std::uint8_t is_ambiguous, has_signal;

    ECHOLUX_HD bool is_at_end() const { return has_signal != 0 && (label == 0 || label == boundary_labels - 1); }
    ECHOLUX_HD std::int32_t rows_down() const { return label - boundary_reach; }
    ECHOLUX_HD Reason reason() const { return is_at_end() || is_ambiguous != 0 ? Reason::ambiguous : Reason::ok; }
};

// Counts the sweeps: first around the coarse positions, then around the results. Each pass moves boundaries by at most
// the candidate reach, so steep ones need several passes. Boundaries that do not converge are marked as unknown.
class SweepPasses {
  public:
    static constexpr int least = 2;

    explicit SweepPasses(std::int64_t places) : places_(static_cast<double>(places)) {}

    int done() const { return done_; }
    bool are_settled() const { return done_ >= most || (done_ >= least && is_still_); }

    // Ends a pass. `at_ends` is the number of positions at the end of their candidates.
    void end(std::int64_t at_ends) {
        constexpr double may_stay = 5e-4;  // share of positions at the ends that needs no further pass
        // relative to the previous pass: with more left, another pass will not help
        constexpr double still_moves = 0.9;
        const auto now = static_cast<double>(at_ends);
        is_still_ = now <= may_stay * places_ || (done_ > 0 && now > still_moves * before_);
        before_ = now;
        ++done_;
    }

  private:
    static constexpr int most = 6;
    double places_, before_ = 0;
    bool is_still_ = false;
    int done_ = 0;
};

// Detects a layer that is far more likely to be two layers, 8 dB or more apart. `line` holds linear intensities of an
// A-scan, `floor` is the mean of the noise. Speckle is exponentially distributed: n rows with mean m have the
// log-likelihood -n (ln m + 1), so dividing a layer gains n ln m - n1 ln m1 - n2 ln m2 nats.
struct MixedLayer {
    ECHOLUX_HD bool operator()(const float* line, const LayerInside& inside, double floor) const {
        constexpr int min_rows = 6, step = 3;
        constexpr double unlike = 6.3, sure = 15;  // ratio of 8 dB; nats
        const int count = inside.end - inside.begin;
        if (count < 2 * min_rows) return false;
        double sum = 0, above = 0;
        for (int z = inside.begin; z < inside.end; ++z) sum += static_cast<double>(line[z]);
        if (!is_recorded(static_cast<float>(sum))) return false;
        const double whole = count * log_of(sum / count + floor);
        for (int n = 1; n <= count - min_rows; ++n) {
            above += static_cast<double>(line[inside.begin + n - 1]);
            if (n < min_rows || n % step != 0) continue;
            const double rest = count - n, upper = above / n + floor, lower = (sum - above) / rest + floor;
            if (upper < unlike * lower && lower < unlike * upper) continue;
            if (whole - n * log_of(upper) - rest * log_of(lower) > sure) return true;
        }
        return false;
    }

  private:
    ECHOLUX_HD static double log_of(double mean) { return static_cast<double>(NaturalLog{}(static_cast<float>(mean))); }
};

// The boundaries of one A-scan from the top, stored `stride` values apart.
struct LineOfSurfaces {
    std::int32_t* rows;
    float* places;  // with sub-row precision
    float* quality;
    Reason* reasons;
    std::int64_t stride;
    const BoundaryRequest* wanted;
    int count;

    // Moves boundaries down to their min distance from the previous one. Returns the number moved.
    ECHOLUX_HD int order_rows() const {
        int moved = 0;
        for (int k = 1; k < count; ++k) {
            const std::int32_t least = row(k - 1) + static_cast<std::int32_t>(wanted[k].least);
            if (row(k) >= least) continue;
            rows[k * stride] = least;
            ++moved;
        }
        return moved;
    }
    ECHOLUX_HD void order_places() const {
        for (int k = 1; k < count; ++k) {
            const float least = place(k - 1) + wanted[k].least;
            if (place(k) < least) places[k * stride] = least;
        }
    }

    // Marks a boundary with hardly any contrast. `contrast_db` is NaN if it could not be measured.
    ECHOLUX_HD void mark_weak(int k, float contrast_db) const {
        constexpr float min_contrast_db = 1;
        const int polarity = wanted[k].polarity;
        const float rise =
            polarity != 0 ? static_cast<float>(polarity) * contrast_db : (contrast_db < 0 ? -contrast_db : contrast_db);
        if (!(rise >= min_contrast_db) && !is_thin_as_wanted(k)) reasons[k * stride] = Reason::weak_match;
    }

    // Marks two surfaces as ambiguous if a missed surface is between them: both may be misplaced.
    ECHOLUX_HD void mark_mixed(const float* line, int depth, double floor) const {
        const LayerEdges edges{rows, stride, count, depth};
        for (int k = 0; k + 1 < count; ++k) {
            if (!MixedLayer{}(line, LayerInside::of(edges(k + 1), edges(k + 2), depth), floor)) continue;
            for (int of = k; of <= k + 1; ++of) {
                Reason& reason = reasons[of * stride];
                if (reason == Reason::ok) reason = Reason::ambiguous;
            }
        }
    }

    // Marks surfaces next to unrecorded voxels, whose position cannot be determined.
    ECHOLUX_HD void mark_missing(int k, const float* line, int depth) const {
        constexpr int reach = 2;  // rows on either side
        const int at = row(k), first = at > reach ? at - reach : 0, end = at + reach < depth ? at + reach : depth;
        for (int z = first; z < end; ++z) {
            if (!is_recorded(line[z])) reasons[k * stride] = Reason::out_of_range;
        }
    }

    // Of coinciding boundaries, keeps the one with the higher confidence in the whole volume.
    ECHOLUX_HD void mark_doubled(const double* sureness) const {
        int kept = count;  // none
        for (int k = 0; k < count; ++k) {
            if (!has_place(reasons[k * stride])) continue;
            const bool is_doubled =
                kept < k && place(k) - place(kept) < static_cast<float>(thinnest_layer) && wanted[k].is_thin == 0;
            const int less = is_doubled && sureness[k] > sureness[kept] ? kept : k;
            if (is_doubled) reasons[less * stride] = Reason::weak_match;
            if (!is_doubled || less != k) kept = k;
        }
    }

    // Converts positions to surface rows in place. Voxel i covers i - 1/2 to i + 1/2, so a boundary above it is at i -
    // 1/2.
    ECHOLUX_HD void finish(bool has_signal, int depth) const {
        constexpr float parts_of_a_row = 4096;  // rounds away differences in the order of smoothing sums
        for (int k = 0; k < count; ++k) {
            const float at = std::round(place(k) * parts_of_a_row) / parts_of_a_row - 0.5f;
            Reason& reason = reasons[k * stride];
            if (!has_signal)
                reason = Reason::no_signal;
            else if (at < 0 || at > static_cast<float>(depth - 1))
                reason = Reason::out_of_range;
            const bool is_there = has_place(reason);
            places[k * stride] = is_there ? at : std::bit_cast<float>(std::uint32_t{0x7fc00000});  // NaN
            if (!is_there) quality[k * stride] = 0;
        }
    }

  private:
    ECHOLUX_HD std::int32_t row(int k) const { return rows[k * stride]; }
    ECHOLUX_HD float place(int k) const { return places[k * stride]; }

    // Returns whether a layer next to the boundary is too thin to measure and was declared so.
    ECHOLUX_HD bool is_thin_as_wanted(int k) const {
        const auto is_thin = [&](int lower) {
            return wanted[lower].is_thin != 0 && row(lower) - row(lower - 1) < thinnest_layer;
        };
        return (k > 0 && is_thin(k)) || (k + 1 < count && is_thin(k + 1));
    }
};

}  // namespace echolux
