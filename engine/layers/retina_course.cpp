// Joint localization of ILM and RPE-bottom on blocks of A-scans, by exact dynamic programming over pairs of rows.
//
// c is ln(1 + I / eps) of block means, 0 at the darkest 5 % and 1 at the brightest 3 %. The 62 um above RPE-bottom,
// from the ellipsoid zone down, are bright, and the last 28 um are the brightest. The outer nuclear layer (74 to 120 um
// above) is dark; choroid (6 to 60 um below) and sclera (100 to 260 um below) are dimmer. ILM is a step to tissue,
// which is everything brighter than 1/4, over 60 um and over 16 um. States are (ILM, thickness), so that no time is
// spent on impossible thicknesses.
//
// Curvature and tilt make an eye a parabola in a B-scan. For the second pass, the picture is straightened by a robust
// parabola through the first RPE-bottom, so that steps are relative to it.
#include <algorithm>
#include <array>
#include <cmath>

#include "compute/indexing.h"
#include "compute/steps/layers.h"
#include "engine/layers/retina_search.h"

namespace echolux {
namespace {

constexpr double bin_um = 7.8;
constexpr double thin_um = 110, thick_um = 650;  // ILM to RPE-bottom: fovea 150 and more, oedema up to 650
constexpr float ruled_out = 1e4f, per_evidence = 6;
constexpr std::array<float, 6> ilm_steps{0, .2f, .5f, .9f, 1.4f, 2};  // per row and block: up to 24 degrees
constexpr std::array<float, 5> rpe_steps{0, .15f, .4f, .8f, 1.4f};
constexpr double rival_um = 40;

// Block means of brightness in bins of rows, [block][bin], as c above.
BScanPicture compressed_blocks(const BScanPicture& linear, double eps, std::int64_t rows, const BlockAxis& blocks) {
    BScanPicture c{linear.depth / rows, blocks.count, {}};
    for (std::int64_t i = 0; i < blocks.count; ++i) {
        for (std::int64_t bin = 0; bin < c.depth; ++bin) {
            double sum = 0;
            for (std::int64_t a = blocks.begin(i); a < blocks.begin(i + 1); ++a) {
                const float* line = linear.line(a) + bin * rows;
                for (std::int64_t z = 0; z < rows; ++z) sum += static_cast<double>(line[z]);
            }
            const auto count = static_cast<double>((blocks.begin(i + 1) - blocks.begin(i)) * rows);
            c.values.push_back(static_cast<float>(std::log(sum / count / eps + 1)));
        }
    }
    const float dark = percentile_of(c.values, 0.05);
    for (float& value : c.values) value -= dark;
    const float bright = std::max(percentile_of(c.values, 0.97), 0.3f);
    for (float& value : c.values) value /= bright;
    return c;
}

// Min of values in eight independent lanes, which allow vector instructions; ruled_out without a value.
float least_of(const float* values, std::int64_t count) {
    constexpr std::int64_t lanes = 8;
    std::array<float, lanes> least{};
    least.fill(2 * ruled_out);
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            const float value = values[i + lane];
            float& of_lane = least[index(lane)];
            of_lane = value < of_lane ? value : of_lane;
        }
    }
    float all = least[0];
    for (const float value : least) all = value < all ? value : all;
    for (; i < count; ++i) all = values[i] < all ? values[i] : all;
    return all;
}

// Pairs of edges of one block: [ILM][thickness], with a margin of impossible thicknesses on both sides.
class PairSearch {
  public:
    PairSearch(std::int64_t edges, double row_um)
        : edges_(edges), row_um_(row_um), first_(std::max(0L, std::lround(thin_um / row_um) - margin)),
          count_(std::lround(thick_um / row_um) + margin - first_ + 1) {
        for (std::int64_t t = 0; t < count_; ++t) {
            const double um = static_cast<double>(first_ + t) * row_um;
            excess_.push_back(um < thin_um || um > thick_um ? ruled_out : 0);
        }
    }

    std::size_t size() const { return index(edges_ * count_); }
    std::int64_t edges() const { return edges_; }

    // Fills the costs of the pairs of a block.
    void costs(const float* ilm, const float* rpe, std::vector<float>& out) const {
        out.assign(size(), ruled_out);
        for (std::int64_t i = 0; i < edges_; ++i) {
            float* row = out.data() + i * count_;
            const float* of_rpe = rpe + i + first_;
            const float own = -per_evidence * ilm[i];
            const std::int64_t end = std::min(count_, edges_ - i - first_);
            for (std::int64_t t = 0; t < end; ++t) row[t] = excess_[index(t)] + own - per_evidence * of_rpe[t];
        }
    }

    // Adds the cheapest step of both edges from the neighbouring block.
    void move(const std::vector<float>& from, std::vector<float>& to) {
        between_.assign(size(), 2 * ruled_out);
        for (std::int64_t d = -std::ssize(ilm_steps) + 1; d < std::ssize(ilm_steps); ++d) {
            const float step = ilm_steps[index(std::abs(d))];
            for (std::int64_t i = std::max<std::int64_t>(0, -d); i < std::min(edges_, edges_ - d); ++i)
                take_min(from.data() + (i + d) * count_, between_.data() + i * count_, -d, step);
        }
        to.assign(size(), 2 * ruled_out);
        for (std::int64_t i = 0; i < edges_; ++i) {
            for (std::int64_t d = -std::ssize(rpe_steps) + 1; d < std::ssize(rpe_steps); ++d)
                take_min(between_.data() + i * count_, to.data() + i * count_, d, rpe_steps[index(std::abs(d))]);
        }
        const float least = least_of(to.data(), std::ssize(to));
        for (float& cost : to) cost -= least;
    }

    // Returns the cheapest pair and the gaps of both edges to rivals.
    struct Best {
        std::int64_t ilm = 0, rpe = 0;
        float gap_ilm = 0, gap_rpe = 0;
    };
    Best best(const std::vector<float>& sums) const {
        const float least = least_of(sums.data(), std::ssize(sums));
        const std::int64_t index = std::ranges::find(sums, least) - sums.begin();
        Best best{index / count_, index / count_ + first_ + index % count_, ruled_out, ruled_out};
        const std::int64_t rival = std::lround(rival_um / row_um_);
        for (std::int64_t i = 0; i < edges_; ++i) {
            const float* row = sums.data() + i * count_;
            const auto thickness = [&](std::int64_t rpe) {
                return std::clamp<std::int64_t>(rpe - i - first_, 0, count_);
            };
            const std::int64_t above = thickness(best.rpe - rival + 1), below = thickness(best.rpe + rival);
            const float near = std::min(least_of(row, above), least_of(row + below, count_ - below));
            best.gap_rpe = std::min(best.gap_rpe, near - least);
            if (std::abs(i - best.ilm) >= rival) best.gap_ilm = std::min(best.gap_ilm, least_of(row, count_) - least);
        }
        return best;
    }

  private:
    static constexpr long margin = 9;  // more than both steps together

    // to[t] = min(to[t], from[t + shift] + step)
    void take_min(const float* from, float* to, std::int64_t shift, float step) const {
        const std::int64_t begin = std::max<std::int64_t>(0, -shift), end = std::min(count_, count_ - shift);
        for (std::int64_t t = begin; t < end; ++t) {
            const float cost = from[t + shift] + step;
            to[t] = cost < to[t] ? cost : to[t];
        }
    }

    std::int64_t edges_;
    double row_um_;
    long first_;
    std::int64_t count_;
    std::vector<float> excess_, between_;  // excess_: cost per thickness
};

// Evidence per edge of all blocks.
struct Evidence {
    BScanPicture ilm, rpe;
};

// `above`: bins of each block above the picture.
Evidence evidence_of(const BScanPicture& c, double bin, const std::vector<std::int64_t>& above) {
    const auto k = [&](double um) { return std::lround(um / bin); };
    BScanPicture tissue = c;
    for (float& value : tissue.values) value = std::clamp((value - 0.25f) / 0.25f, -1.0f, 1.0f);
    const RowMeans means(c), of_tissue(tissue);
    const std::int64_t edges = c.depth + 1;
    Evidence evidence{{edges, c.a_scans, {}}, {edges, c.a_scans, {}}};
    for (std::int64_t x = 0; x < c.a_scans; ++x) {
        for (std::int64_t z = 0; z < edges; ++z) {
            const auto mean = [&](double from, double to) { return means.at_edge(x, z, k(from), k(to)); };
            const auto step = [&](double um) {
                return of_tissue.at_edge(x, z, 0, k(um)) - of_tissue.at_edge(x, z, -k(um), 0);
            };
            const float rpe = .5f * mean(-62, 0) + .5f * mean(-28, 0) - .4f * mean(-120, -74) - .3f * mean(6, 60) -
                              .3f * mean(100, 260);
            const bool is_last = z == c.depth;
            const std::int64_t row = z - above[index(x)];
            evidence.ilm.values.push_back(row < 2 ? -2 : (step(60) + .5f * step(16)) / 2);
            evidence.rpe.values.push_back(row < k(100) ? -2 : rpe - (is_last ? .5f : 0));
        }
    }
    return evidence;
}

void add(const std::vector<float>& some, std::vector<float>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += some[i];
}

// Sums of the cheapest pairs from the first block to each block, its own costs included.
std::vector<std::vector<float>> forward_sums(PairSearch& search, const Evidence& evidence) {
    std::vector<std::vector<float>> sums(index(evidence.ilm.a_scans));
    std::vector<float> moved;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const auto x = static_cast<std::int64_t>(i);
        search.costs(evidence.ilm.line(x), evidence.rpe.line(x), sums[i]);
        if (i == 0) continue;
        search.move(sums[i - 1], moved);
        add(moved, sums[i]);
    }
    return sums;
}

void resize(RetinaCourse& course, std::size_t count) {
    for (Course* one :
         {&course.ilm, &course.rpe, &course.gap_ilm, &course.gap_rpe, &course.score_ilm, &course.score_rpe})
        one->resize(count);
}

using Terms = std::array<double, 3>;

// Terms of the parabola with the min sum of weighted squares; `start` if the places do not determine one.
Terms fitted(const std::vector<double>& places, const Course& values, const std::vector<double>& weights,
             const Terms& start) {
    std::array<double, 5> m{};  // moments of the places
    std::array<double, 3> r{};
    for (std::size_t i = 0; i < places.size(); ++i) {
        double weighted = weights[i];
        for (std::size_t power = 0; power < m.size(); ++power, weighted *= places[i]) {
            m[power] += weighted;
            if (power < r.size()) r[power] += weighted * static_cast<double>(values[i]);
        }
    }
    const double c00 = m[2] * m[4] - m[3] * m[3], c01 = m[2] * m[3] - m[1] * m[4], c02 = m[1] * m[3] - m[2] * m[2],
                 c11 = m[0] * m[4] - m[2] * m[2], c12 = m[1] * m[2] - m[0] * m[3], c22 = m[0] * m[2] - m[1] * m[1];
    const double determinant = m[0] * c00 + m[1] * c01 + m[2] * c02;
    if (!(determinant > 1e-9)) return start;
    return {(c00 * r[0] + c01 * r[1] + c02 * r[2]) / determinant, (c01 * r[0] + c11 * r[1] + c12 * r[2]) / determinant,
            (c02 * r[0] + c12 * r[1] + c22 * r[2]) / determinant};
}

// Returns the parabola through `values`. Deviations beyond `spread` count by their size (iteratively reweighted least
// squares; P. W. Holland, R. E. Welsch, Commun. Stat. A6, 813, 1977).
EyeBow robust_parabola(const std::vector<double>& centres, const Course& values, double spread) {
    constexpr int passes = 12;
    const double middle = (centres.front() + centres.back()) / 2;
    EyeBow bow{middle, std::max(centres.back() - middle, 1.0), {static_cast<double>(median_of(values)), 0, 0}};
    std::vector<double> places, weights(centres.size(), 1);
    for (const double centre : centres) places.push_back((centre - bow.middle) / bow.half);
    for (int pass = 0; pass < passes; ++pass) {
        bow.terms = fitted(places, values, weights, bow.terms);
        for (std::size_t i = 0; i < places.size(); ++i) {
            const double off = std::abs(static_cast<double>(values[i]) - bow.at(centres[i]));
            weights[i] = spread / std::max(off, spread);
        }
    }
    return bow;
}

// Returns the parabola of a course in rows; deviations beyond two bins are rare.
EyeBow bow_of(const std::vector<double>& centres, const Course& course, std::int64_t rows) {
    return robust_parabola(centres, course, 2 * static_cast<double>(rows));
}

// Returns the bins above each block that straighten a parabola.
std::vector<std::int64_t> straightening(const std::vector<double>& centres, const EyeBow& bow, std::int64_t rows) {
    std::vector<std::int64_t> above;
    for (const double centre : centres) above.push_back(-std::lround(bow.at(centre) / static_cast<double>(rows)));
    const std::int64_t least = std::ranges::min(above);
    for (std::int64_t& bins : above) bins -= least;
    return above;
}

BScanPicture shifted(const BScanPicture& picture, const std::vector<std::int64_t>& above) {
    const std::int64_t depth = picture.depth + std::ranges::max(above);
    BScanPicture out{depth, picture.a_scans, std::vector<float>(index(depth * picture.a_scans))};
    for (std::int64_t x = 0; x < picture.a_scans; ++x)
        std::copy_n(picture.line(x), picture.depth, out.line(x) + above[index(x)]);
    return out;
}

// Returns the course in a picture of blocks, in rows of the B-scan.
RetinaCourse located(const BScanPicture& blocks, const std::vector<std::int64_t>& above, std::int64_t rows,
                     double bin) {
    const Evidence evidence = evidence_of(shifted(blocks, above), bin, above);
    PairSearch search(evidence.ilm.depth, bin);
    std::vector<std::vector<float>> sums = forward_sums(search, evidence);
    RetinaCourse course;
    resize(course, sums.size());
    std::vector<float> costs, back(search.size(), 0);
    for (std::size_t i = sums.size(); i-- > 0;) {
        const auto x = static_cast<std::int64_t>(i);
        add(back, sums[i]);
        const PairSearch::Best best = search.best(sums[i]);
        course.ilm[i] = static_cast<float>((best.ilm - above[i]) * rows);
        course.rpe[i] = static_cast<float>((best.rpe - above[i]) * rows);
        course.gap_ilm[i] = best.gap_ilm;
        course.gap_rpe[i] = best.gap_rpe;
        course.score_ilm[i] = evidence.ilm.line(x)[best.ilm];
        course.score_rpe[i] = evidence.rpe.line(x)[best.rpe];
        search.costs(evidence.ilm.line(x), evidence.rpe.line(x), costs);
        add(back, costs);
        search.move(costs, back);
    }
    return course;
}

}  // namespace

RetinaCourse locate_retina(const BScanPicture& linear, double eps, double row_um, std::int64_t block) {
    constexpr std::int64_t least_blocks = 8;  // fewer do not determine a parabola
    const std::int64_t rows = std::max(1L, std::lround(bin_um / row_um));
    const double bin = row_um * static_cast<double>(rows);
    const BlockAxis axis = BlockAxis::of(linear.a_scans, block);
    std::vector<double> centres;
    for (std::int64_t x = 0; x < axis.count; ++x) centres.push_back(axis.centre(x));
    const BScanPicture blocks = compressed_blocks(linear, eps, rows, axis);
    std::vector<std::int64_t> above(index(axis.count));
    RetinaCourse course = located(blocks, above, rows, bin);
    if (axis.count >= least_blocks) {
        above = straightening(centres, bow_of(centres, course.rpe, rows), rows);
        if (std::ranges::max(above) > 0) course = located(blocks, above, rows, bin);
        course.bow = bow_of(centres, course.rpe, rows);
    }
    course.centres = std::move(centres);
    return course;
}

}  // namespace echolux
