#include "engine/layers/edge_paths.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compute/indexing.h"
#include "engine/layers/boundary_search.h"

namespace echolux {
namespace {

constexpr float none = std::numeric_limits<float>::quiet_NaN();
constexpr float outside_cost = 50;  // nats of an edge outside the picture

std::int64_t limited(float row, std::int64_t depth) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::nearbyint(row)), 0, depth);
}

double mean_of_known(const Course& course) {
    double sum = 0, count = 0;
    for (const float value : course) {
        if (!std::isfinite(value)) continue;
        sum += static_cast<double>(value);
        ++count;
    }
    return count > 0 ? sum / count : 0;
}

// Prefix sums of t, the clipped brightness, over rows [first, last) of an A-scan.
class ClippedSums {
  public:
    void set(const float* line, std::int64_t first, std::int64_t last, float above, float below, int polarity) {
        first_ = first;
        last_ = std::max(first, last);
        const float middle = (above + below) / 2, half = std::max(std::abs(below - above) / 2, 0.1f);
        sums_.assign(index(last_ - first_ + 1), 0);
        double sum = 0;
        for (std::int64_t z = first_; z < last_; ++z) {
            const float t = std::clamp((line[z] - middle) / half, -1.0f, 1.0f);
            sum += static_cast<double>(static_cast<float>(polarity) * t);
            sums_[index(z - first_ + 1)] = sum;
        }
    }

    float evidence(std::int64_t edge, std::int64_t rows) const {
        const std::int64_t at = std::clamp(edge, first_, last_);
        return (mean(at, std::min(edge + rows, last_)) - mean(std::max(edge - rows, first_), at)) / 2;
    }

  private:
    float mean(std::int64_t begin, std::int64_t end) const {
        if (end <= begin) return 0;
        const double sum = sums_[index(end - first_)] - sums_[index(begin - first_)];
        return static_cast<float>(sum / static_cast<double>(end - begin));
    }

    std::int64_t first_ = 0, last_ = 0;
    std::vector<double> sums_;
};

// Costs of the labels of one A-scan.
void fill_costs(const BScanPicture& picture, const EdgeModel& model, const BandSearch& search, std::int64_t a,
                ClippedSums& sums, float* costs) {
    const auto i = index(a);
    const auto centre = static_cast<std::int64_t>(std::nearbyint(search.centre[i]));
    const std::int64_t widest = std::ranges::max(model.windows), depth = picture.depth;
    const std::int64_t first = std::clamp<std::int64_t>(centre - search.reach - widest, 0, depth);
    sums.set(picture.line(a), first, std::clamp(centre + search.reach + widest, first, depth), model.above[i],
             model.below[i], model.polarity);
    const float weight = search.weight ? (*search.weight)[i] : 1;
    for (std::int64_t label = 0; label <= 2 * search.reach; ++label) {
        const std::int64_t z = centre - search.reach + label;
        float evidence = 0;
        for (const std::int64_t rows : model.windows) evidence += sums.evidence(z, rows);
        evidence /= static_cast<float>(model.windows.size());
        float cost = z < 0 || z > depth ? outside_cost : -search.strength * evidence * weight;
        if (search.prior_rows > 0) {
            const float off = (static_cast<float>(z) - search.centre[i]) / static_cast<float>(search.prior_rows);
            cost += off * off / 2;
        }
        costs[label] = cost;
    }
}

// One direction of a sweep. `sums` holds the A-scan before and is replaced.
void advance(std::vector<float>& sums, std::vector<float>& moved, const float* costs, std::span<const float> steps) {
    min_step(sums.data(), moved.data(), std::ssize(sums), steps);
    const float least = *std::ranges::min_element(moved);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = costs[i] + moved[i] - least;
}

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

}  // namespace

std::vector<float> running_min(const float* line, std::int64_t count, std::int64_t reach) {
    return running(line, count, reach, [](float a, float b) { return std::min(a, b); });
}

std::vector<float> running_max(const float* line, std::int64_t count, std::int64_t reach) {
    return running(line, count, reach, [](float a, float b) { return std::max(a, b); });
}

void open_along_depth(BScanPicture& picture, std::int64_t rows) {
    for (std::int64_t a = 0; a < picture.a_scans; ++a) {
        const std::vector<float> eroded = running_min(picture.line(a), picture.depth, rows / 2);
        const std::vector<float> opened = running_max(eroded.data(), picture.depth, rows / 2);
        std::ranges::copy(opened, picture.line(a));
    }
}

void smooth_picture(BScanPicture& picture, double sigma_depth, double sigma_a) {
    smooth_map(picture.values, {picture.depth, picture.a_scans}, sigma_depth, sigma_a);
}

RowMeans::RowMeans(const BScanPicture& picture)
    : depth_(picture.depth), a_scans_(picture.a_scans), sums_(index(picture.a_scans * (picture.depth + 1))) {
    for (std::int64_t a = 0; a < a_scans_; ++a) {
        const float* line = picture.line(a);
        double* sums = sums_.data() + a * (depth_ + 1);
        for (std::int64_t z = 0; z < depth_; ++z) sums[z + 1] = sums[z] + static_cast<double>(line[z]);
    }
}

float RowMeans::operator()(std::int64_t a, float begin, float end) const {
    if (!std::isfinite(begin) || !std::isfinite(end)) return none;
    const std::int64_t first = limited(begin, depth_), last = limited(end, depth_);
    if (last <= first) return none;
    const double* sums = sums_.data() + a * (depth_ + 1);
    return static_cast<float>((sums[last] - sums[first]) / static_cast<double>(last - first));
}

Course RowMeans::around(const Course& course, float begin, float end) const {
    Course means(course.size());
    for (std::size_t a = 0; a < means.size(); ++a)
        means[a] = (*this)(static_cast<std::int64_t>(a), course[a] + begin, course[a] + end);
    return means;
}

Course RowMeans::between(const Course& begin, const Course& end) const {
    Course means(begin.size());
    for (std::size_t a = 0; a < means.size(); ++a) means[a] = (*this)(static_cast<std::int64_t>(a), begin[a], end[a]);
    return means;
}

float RowMeans::at_edge(std::int64_t a, std::int64_t edge, std::int64_t begin, std::int64_t end) const {
    const std::int64_t first = std::clamp<std::int64_t>(edge + begin, 0, depth_),
                       last = std::clamp<std::int64_t>(edge + end, 0, depth_);
    if (last <= first) return 0;
    const double* sums = sums_.data() + a * (depth_ + 1);
    return static_cast<float>((sums[last] - sums[first]) / static_cast<double>(last - first));
}

Course smooth_course(const Course& course, double sigma) {
    Course smoothed = course;
    smooth_map(smoothed, {std::ssize(course), 1}, sigma, 0);
    return smoothed;
}

Course smooth_known(const Course& course, double sigma) {
    Course values(course.size()), shares(course.size());
    for (std::size_t i = 0; i < course.size(); ++i) {
        const bool is_known = std::isfinite(course[i]);
        values[i] = is_known ? course[i] : 0;
        shares[i] = is_known ? 1 : 0;
    }
    values = smooth_course(values, sigma);
    shares = smooth_course(shares, sigma);
    const auto mean = static_cast<float>(mean_of_known(course));
    for (std::size_t i = 0; i < course.size(); ++i) values[i] = shares[i] > 1e-6f ? values[i] / shares[i] : mean;
    return values;
}

Course running_percentile(const Course& course, std::int64_t width, double share) {
    const std::int64_t count = std::ssize(course), reach = width / 2;
    const auto rank = std::min(static_cast<std::int64_t>(static_cast<double>(width) * share), width - 1);
    Course out(course.size()), window(index(width));
    for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t d = 0; d < width; ++d) {
            window[index(d)] = course[index(std::clamp<std::int64_t>(i - reach + d, 0, count - 1))];
        }
        std::ranges::nth_element(window, window.begin() + rank);
        out[index(i)] = window[index(rank)];
    }
    return out;
}

Course bridged(const Course& course, const Course& weight, float min_weight) {
    std::vector<std::size_t> known;
    for (std::size_t i = 0; i < course.size(); ++i) {
        if (weight[i] > min_weight) known.push_back(i);
    }
    if (known.size() < 5) return course;
    Course out = course;
    std::fill_n(out.begin(), known.front(), course[known.front()]);
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(known.back()), out.end(), course[known.back()]);
    for (std::size_t k = 0; k + 1 < known.size(); ++k) {
        const std::size_t from = known[k], to = known[k + 1];
        for (std::size_t i = from + 1; i < to; ++i) {
            const float share = static_cast<float>(i - from) / static_cast<float>(to - from);
            out[i] = course[from] * (1 - share) + course[to] * share;
        }
    }
    return out;
}

Course where_above(Course course, const Course& weight, float min_weight) {
    for (std::size_t i = 0; i < course.size(); ++i) {
        if (!(weight[i] > min_weight)) course[i] = none;
    }
    return course;
}

float percentile_of(std::vector<float> values, double share) {
    if (values.empty()) return 0;
    const double place = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::ptrdiff_t>(place);
    std::ranges::nth_element(values, values.begin() + low);
    const float at = values[index(low)];
    if (low + 1 >= std::ssize(values)) return at;
    const float next = *std::min_element(values.begin() + low + 1, values.end());
    return at + static_cast<float>(place - static_cast<double>(low)) * (next - at);
}

float median_of(std::span<const float> values) {
    return percentile_of({values.begin(), values.end()}, 0.5);
}

void min_step(const float* costs, float* out, std::int64_t labels, std::span<const float> steps) {
    std::copy_n(costs, labels, out);
    for (std::int64_t d = 1; d < std::ssize(steps); ++d) {
        const float step = steps[index(d)];
        for (std::int64_t i = d; i < labels; ++i) out[i] = std::min(out[i], costs[i - d] + step);
        for (std::int64_t i = 0; i + d < labels; ++i) out[i] = std::min(out[i], costs[i + d] + step);
    }
}

std::vector<float> min_marginals(const std::vector<float>& costs, std::int64_t a_scans, std::span<const float> steps) {
    const std::int64_t labels = std::ssize(costs) / a_scans;
    const auto width = index(labels);
    std::vector<float> total(costs.size()), sums(width), moved(width);
    for (std::int64_t a = 0; a < a_scans; ++a) {
        const float* own = costs.data() + a * labels;
        if (a == 0)
            sums.assign(own, own + labels);
        else
            advance(sums, moved, own, steps);
        std::ranges::copy(sums, total.begin() + a * labels);
    }
    for (std::int64_t a = a_scans - 1; a >= 0; --a) {
        const float* own = costs.data() + a * labels;
        if (a == a_scans - 1)
            sums.assign(own, own + labels);
        else
            advance(sums, moved, own, steps);
        float* out = total.data() + a * labels;
        for (std::int64_t i = 0; i < labels; ++i) out[i] = (out[i] + sums[index(i)]) - own[i];
        const float least = *std::min_element(out, out + labels);
        for (std::int64_t i = 0; i < labels; ++i) out[i] -= least;
    }
    return total;
}

BestLabel best_label(const float* marginals, std::int64_t labels, std::int64_t rival) {
    const std::int64_t best = std::min_element(marginals, marginals + labels) - marginals;
    float gap = std::numeric_limits<float>::infinity();
    for (std::int64_t i = 0; i < labels; ++i) {
        if (std::abs(i - best) >= rival) gap = std::min(gap, marginals[i]);
    }
    const float over = marginals[std::max<std::int64_t>(best - 1, 0)],
                under = marginals[std::min(best + 1, labels - 1)], at = marginals[best];
    const float bend = over - 2 * at + under;
    const float shift = bend > 0 ? std::clamp(0.5f * (over - under) / bend, -0.5f, 0.5f) : 0;
    return {static_cast<float>(best) + shift, gap};
}

CourseResult course_in_band(const BScanPicture& picture, const EdgeModel& model, const BandSearch& search) {
    const std::int64_t labels = 2 * search.reach + 1;
    std::vector<float> costs(index(labels * picture.a_scans));
    ClippedSums sums;
    for (std::int64_t a = 0; a < picture.a_scans; ++a)
        fill_costs(picture, model, search, a, sums, costs.data() + a * labels);
    const std::vector<float> marginals = min_marginals(costs, picture.a_scans, search.steps);
    CourseResult found{Course(search.centre.size()), Course(search.centre.size())};
    for (std::int64_t a = 0; a < picture.a_scans; ++a) {
        const auto i = index(a);
        const BestLabel best = best_label(marginals.data() + a * labels, labels);
        found.edges[i] = std::nearbyint(search.centre[i]) - static_cast<float>(search.reach) + best.label;
        found.quality[i] = best.gap;
    }
    return found;
}

}  // namespace echolux
