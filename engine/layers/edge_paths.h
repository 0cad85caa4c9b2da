// Tools of the searches in single B-scans (docs/layers.md): means of rows, evidence for an edge between two levels of
// brightness, and the smoothest course through that evidence.
//
// A B-scan holds u = ln(1 + I / eps), [a_scan][row]. The edge z lies between rows z - 1 and z, at the coordinate
// z - 1/2. A boundary between the levels a (above) and b (below) has the evidence
//     s(z) = (mean of t over D rows below z - mean of t over D rows above z) / 2,
//     t = polarity * clip((u - (a + b) / 2) / h, -1, 1),  h = max(|b - a| / 2, 0.1).
// Up to a factor, it is the log-likelihood ratio of the two levels under Laplacian noise. Clipping limits a reflector
// to the weight of an ordinary row. s is 1 at a perfect edge. The course minimises sum of (-k s) + cost of its steps.
// Forward and backward sums of a sweep minus the cost are the exact min-marginals of a B-scan (Pearl, Probabilistic
// Reasoning in Intelligent Systems, 1988), which also give the confidence: the distance to the best rival.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace echolux {

// One value per A-scan; edges as fractions of rows.
using Course = std::vector<float>;

// A picture, [a_scan][row].
struct BScanPicture {
    std::int64_t depth = 0, a_scans = 0;
    std::vector<float> values;

    const float* line(std::int64_t a) const { return values.data() + a * depth; }
    float* line(std::int64_t a) { return values.data() + a * depth; }
};

// Applies a Gaussian mean along depth and along A-scans. A sigma of 0 skips an axis.
void smooth_picture(BScanPicture& picture, double sigma_depth, double sigma_a);

// Running min and max along a line, over 2 `reach` + 1 values.
std::vector<float> running_min(const float* line, std::int64_t count, std::int64_t reach);
std::vector<float> running_max(const float* line, std::int64_t count, std::int64_t reach);

// Removes bright lines of at most `rows` rows by a grey opening along depth (J. Serra, Image Analysis and Mathematical
// Morphology, 1982).
void open_along_depth(BScanPicture& picture, std::int64_t rows);

// Means of rows from prefix sums.
class RowMeans {
  public:
    explicit RowMeans(const BScanPicture& picture);

    std::int64_t depth() const { return depth_; }
    std::int64_t a_scans() const { return a_scans_; }

    // Returns the mean of rows [begin, end), rounded and limited to the picture; NaN without a row.
    float operator()(std::int64_t a, float begin, float end) const;

    // Returns this mean for each A-scan, at these rows relative to a course.
    Course around(const Course& course, float begin, float end) const;

    // Returns the mean between two courses in each A-scan.
    Course between(const Course& begin, const Course& end) const;

    // Returns the mean of rows [edge + begin, edge + end) of an A-scan, 0 without a row.
    float at_edge(std::int64_t a, std::int64_t edge, std::int64_t begin, std::int64_t end) const;

  private:
    std::int64_t depth_, a_scans_;
    std::vector<double> sums_;  // [a_scan][depth + 1]
};

// Gaussian mean of the finite values, weighted by distance. Values far from any finite one become the mean of all.
Course smooth_known(const Course& course, double sigma);
Course smooth_course(const Course& course, double sigma);

// Running percentile, with end values extended beyond the ends. `share` is 0 to 1.
Course running_percentile(const Course& course, std::int64_t width, double share);

// Interpolates linearly where `weight` is not above `min_weight`. Returns the course itself if fewer than five remain.
Course bridged(const Course& course, const Course& weight, float min_weight = 0.5f);

// Replaces values by NaN where `weight` is not above `min_weight`.
Course where_above(Course course, const Course& weight, float min_weight);

float median_of(std::span<const float> values);
// Linear interpolation between order statistics; `share` is 0 to 1. 0 for an empty list.
float percentile_of(std::vector<float> values, double share);

// Evidence of an edge at rows around a course.
struct EdgeModel {
    Course above, below;                // levels on both sides
    int polarity = 1;                   // 1: brighter below
    std::vector<std::int64_t> windows;  // D in rows; their evidence is averaged
};

// Search of a course in a band.
struct BandSearch {
    const Course& centre;
    std::int64_t reach;            // rows on either side of the centre
    const Course* weight;          // evidence is multiplied by it: 0 in a shadow. Null: 1
    double prior_rows;             // sigma of the distance from the centre; 0: any distance costs nothing
    std::span<const float> steps;  // cost of 0, 1, 2 ... rows from A-scan to A-scan, relative to the centre's course
    float strength = 8;            // nats of perfect evidence
};

struct CourseResult {
    Course edges;
    Course quality;  // nats to the best place three or more rows away
};

CourseResult course_in_band(const BScanPicture& picture, const EdgeModel& model, const BandSearch& search);

// Returns the min-marginals of costs [a_scan][label] for these costs of steps between labels, minus the min of each
// A-scan.
std::vector<float> min_marginals(const std::vector<float>& costs, std::int64_t a_scans, std::span<const float> steps);

// Adds to each label the cheapest step to it from any label: min over d of costs[label + d] + steps[|d|].
void min_step(const float* costs, float* out, std::int64_t labels, std::span<const float> steps);

// The cheapest label with a fraction from a parabola, and the cost of the best label at least `rival` away.
struct BestLabel {
    float label = 0, gap = 0;
};
BestLabel best_label(const float* marginals, std::int64_t labels, std::int64_t rival = 3);

}  // namespace echolux
