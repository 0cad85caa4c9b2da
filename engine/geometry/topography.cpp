#include "engine/geometry/topography.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/flow/time_series.h"

namespace echolux {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr Point no_point{missing, missing, missing};
constexpr int robust_passes = 3;

bool is_known(const Point& p) {
    return std::isfinite(p[0] + p[1] + p[2]);
}

// At most max_fit_points known points, evenly chosen.
std::vector<Point> few_of(std::span<const Point> all) {
    std::vector<Point> known, few;
    std::ranges::copy_if(all, std::back_inserter(known), is_known);
    const std::size_t step = 1 + known.size() / max_fit_points;
    for (std::size_t i = 0; i < known.size(); i += step) few.push_back(known[i]);
    return few;
}

double dot(const Point& a, const Point& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

Point at(const LightRay& ray, double distance) {
    return {ray.origin[0] + distance * ray.direction[0], ray.origin[1] + distance * ray.direction[1],
            ray.origin[2] + distance * ray.direction[2]};
}

// ---- Zernike polynomials by powers of x and y

double binomial(int n, int k) {
    double value = 1;
    for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
    return value;
}

double factorial(int n) {
    return std::tgamma(n + 1);
}

using Powers = std::array<std::array<double, max_zernike_order + 1>, max_zernike_order + 1>;

// Adds factor (x^2 + y^2)^squares times the real part, or for sine the imaginary part, of (x + iy)^m.
void add_term(Powers& sum, double factor, int squares, int m, bool is_sine) {
    for (int q = is_sine ? 1 : 0; q <= m; q += 2) {
        const double sign = q % 4 < 2 ? 1 : -1;
        for (int i = 0; i <= squares; ++i) {
            sum[index(2 * i + m - q)][index(2 * (squares - i) + q)] +=
                factor * sign * binomial(m, q) * binomial(squares, i);
        }
    }
}

Powers zernike_powers(int number) {
    const auto [n, signed_m] = zernike_order(number);
    const int m = std::abs(signed_m);
    const double norm = std::sqrt((m == 0 ? 1.0 : 2.0) * (n + 1));
    Powers powers{};
    for (int k = 0; k <= (n - m) / 2; ++k) {
        const double factor = (k % 2 == 0 ? 1 : -1) * factorial(n - k) /
                              (factorial(k) * factorial((n + m) / 2 - k) * factorial((n - m) / 2 - k));
        add_term(powers, norm * factor, (n - m) / 2 - k, m, signed_m < 0);
    }
    return powers;
}

struct HeightAndSlope {
    double z = 0, x = 0, y = 0;
};

// Value and derivatives of a polynomial.
HeightAndSlope evaluated(const Powers& powers, double x, double y) {
    HeightAndSlope sum;
    double xp = 1, x_before = 0;  // x^p and p x^(p-1) / p
    for (std::size_t p = 0; p <= max_zernike_order; ++p) {
        double yq = 1, y_before = 0;
        for (std::size_t q = 0; q + p <= max_zernike_order; ++q) {
            const double c = powers[p][q];
            sum.z += c * xp * yq;
            sum.x += c * static_cast<double>(p) * x_before * yq;
            sum.y += c * static_cast<double>(q) * xp * y_before;
            y_before = yq;
            yq *= y;
        }
        x_before = xp;
        xp *= x;
    }
    return sum;
}

double root_mean_square(const std::vector<double>& left, const std::vector<double>& weights) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
        sum += weights[i] * left[i] * left[i];
        count += weights[i];
    }
    return count > 0 ? std::sqrt(sum / count) : 0;
}

// ---- Conicoids. Parameters: x0, y0, z0, c, Q.

using Shape = std::array<double, 5>;

double height_of(const Shape& shape, double x, double y) {
    const auto [x0, y0, z0, c, q] = shape;
    const double square = (x - x0) * (x - x0) + (y - y0) * (y - y0);
    const double root = 1 - (1 + q) * c * c * square;
    return root < 0 ? missing : z0 + c * square / (1 + std::sqrt(root));
}

// The paraboloid z = a + b x + d y + h (x^2 + y^2), as a sphere of the same curvature.
std::optional<Shape> first_shape(std::span<const Point> points) {
    std::vector<std::vector<double>> columns(4);
    std::vector<double> heights;
    for (const Point& p : points) {
        columns[0].push_back(1);
        columns[1].push_back(p[0]);
        columns[2].push_back(p[1]);
        columns[3].push_back(p[0] * p[0] + p[1] * p[1]);
        heights.push_back(p[2]);
    }
    const Coefficients fit = least_squares(columns, heights, std::vector<double>(heights.size(), 1));
    if (fit.values.empty()) return std::nullopt;
    const double h = fit.values[3];
    const double variance = fit.residual / static_cast<double>(heights.size()) * fit.variance_factors[3];
    if (std::abs(h) < 5 * std::sqrt(variance) + 1e-9) return std::nullopt;
    const double x0 = -fit.values[1] / (2 * h), y0 = -fit.values[2] / (2 * h);
    return Shape{x0, y0, fit.values[0] - h * (x0 * x0 + y0 * y0), 2 * h, 0};
}

// The sum of squares between a shape and the points; infinite where it has no height.
double misfit(const Shape& shape, std::span<const Point> points, const std::vector<double>& weights,
              std::vector<double>& left) {
    double sum = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        left[i] = points[i][2] - height_of(shape, points[i][0], points[i][1]);
        if (weights[i] > 0) sum += left[i] * left[i];
    }
    return std::isfinite(sum) ? sum : std::numeric_limits<double>::infinity();
}

// Derivatives of the heights by the first `count` parameters, by central differences.
std::vector<std::vector<double>> derivatives(const Shape& shape, std::span<const Point> points, std::size_t count) {
    constexpr Shape steps{1e-5, 1e-5, 1e-5, 1e-7, 1e-5};
    std::vector<std::vector<double>> columns(count);
    for (std::size_t k = 0; k < count; ++k) {
        Shape more = shape, less = shape;
        more[k] += steps[k];
        less[k] -= steps[k];
        for (const Point& p : points) {
            const double slope = (height_of(more, p[0], p[1]) - height_of(less, p[0], p[1])) / (2 * steps[k]);
            columns[k].push_back(std::isfinite(slope) ? slope : 0);
        }
    }
    return columns;
}

// One step of Gauss and Newton, halved until the misfit falls. Returns false if it does not.
bool improved(Shape& shape, std::span<const Point> points, const std::vector<double>& weights,
              std::vector<double>& left, Coefficients& step, std::size_t count) {
    const double before = misfit(shape, points, weights, left);
    step = least_squares(derivatives(shape, points, count), left, weights);
    if (step.values.empty()) return false;
    for (double share = 1; share > 1e-3; share /= 2) {
        Shape tried = shape;
        for (std::size_t k = 0; k < count; ++k) tried[k] += share * step.values[k];
        if (misfit(tried, points, weights, left) < before) {
            shape = tried;
            return true;
        }
    }
    misfit(shape, points, weights, left);
    return false;
}

std::optional<Conicoid> fitted(std::span<const Point> all, std::size_t count) {
    const std::vector<Point> points = few_of(all);
    if (points.size() < 2 * count) return std::nullopt;
    std::optional<Shape> shape = first_shape(points);
    if (!shape) return std::nullopt;
    std::vector<double> weights(points.size(), 1), left(points.size(), 0);
    Coefficients step;
    for (int pass = 0; pass < robust_passes; ++pass) {
        for (int i = 0; i < 30 && improved(*shape, points, weights, left, step, count);) ++i;
        if (step.values.empty() || !std::isfinite(misfit(*shape, points, weights, left))) return std::nullopt;
        leave_out_outliers(left, weights);
    }
    Conicoid found{{(*shape)[0], (*shape)[1], (*shape)[2]}, 1 / (*shape)[3], (*shape)[4]};
    found.rms_mm = root_mean_square(left, weights);
    found.radius_error_mm = found.rms_mm * std::sqrt(step.variance_factors[3]) * found.radius_mm * found.radius_mm;
    if (count == 5) found.asphericity_error = found.rms_mm * std::sqrt(step.variance_factors[4]);
    return found;
}

}  // namespace

ZernikeOrder zernike_order(int number) {
    int n = 0;
    while ((n + 1) * (n + 2) / 2 <= number) ++n;
    return {n, 2 * number - n * (n + 2)};
}

ZernikeFit::ZernikeFit(std::span<const Point> points, const std::array<double, 2>& centre, double radius_mm, int order)
    : centre_(centre), radius_mm_(radius_mm) {
    const int count = (order + 1) * (order + 2) / 2;
    std::vector<Powers> powers;
    for (int j = 0; j < count; ++j) powers.push_back(zernike_powers(j));
    std::vector<std::vector<double>> columns(index(count));
    std::vector<double> heights;
    for (const Point& p : few_of(points)) {
        if (!covers(p[0], p[1])) continue;
        const double x = (p[0] - centre[0]) / radius_mm, y = (p[1] - centre[1]) / radius_mm;
        for (int j = 0; j < count; ++j) columns[index(j)].push_back(evaluated(powers[index(j)], x, y).z);
        heights.push_back(p[2]);
    }
    if (std::ssize(heights) < 2 * count) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("{} in the zone are too few for {} Zernike terms",
                                plural(std::ssize(heights), "positions"), count),
                    "surfaces", "segment more of the surface, or lower `order`");
    }
    std::vector<double> weights(heights.size(), 1), left(heights.size());
    for (int pass = 0; pass < robust_passes; ++pass) {
        const Coefficients fit = least_squares(columns, heights, weights);
        if (fit.values.empty()) {
            throw Error(ErrorCode::bad_setting, "the positions of a surface lie on a line", "surfaces",
                        "use a volume of several B-scans, or lower `order`");
        }
        coefficients_ = fit.values;
        for (std::size_t i = 0; i < left.size(); ++i) {
            left[i] = heights[i];
            for (std::size_t j = 0; j < columns.size(); ++j) left[i] -= coefficients_[j] * columns[j][i];
        }
        rms_mm_ = root_mean_square(left, weights);
        leave_out_outliers(left, weights);
    }
    for (std::size_t j = 0; j < powers.size(); ++j) {
        for (std::size_t p = 0; p <= max_zernike_order; ++p) {
            for (std::size_t q = 0; q <= max_zernike_order; ++q) sum_[p][q] += coefficients_[j] * powers[j][p][q];
        }
    }
}

bool ZernikeFit::covers(double x, double y) const {
    return std::hypot(x - centre_[0], y - centre_[1]) <= radius_mm_ * (1 + 1e-9);
}

double ZernikeFit::height(double x, double y) const {
    return evaluated(sum_, (x - centre_[0]) / radius_mm_, (y - centre_[1]) / radius_mm_).z;
}

std::array<double, 2> ZernikeFit::slope(double x, double y) const {
    const HeightAndSlope here = evaluated(sum_, (x - centre_[0]) / radius_mm_, (y - centre_[1]) / radius_mm_);
    return {here.x / radius_mm_, here.y / radius_mm_};
}

Point ZernikeFit::normal(double x, double y) const {
    const auto [by_x, by_y] = slope(x, y);
    const double length = std::sqrt(1 + by_x * by_x + by_y * by_y);
    return {-by_x / length, -by_y / length, 1 / length};
}

double Conicoid::height(double x, double y) const {
    return height_of({apex[0], apex[1], apex[2], 1 / radius_mm, asphericity}, x, y);
}

std::optional<Conicoid> fitted_conicoid(std::span<const Point> points) {
    return fitted(points, 5);
}

std::optional<Conicoid> fitted_sphere(std::span<const Point> points) {
    return fitted(points, 4);
}

std::optional<Point> refracted(const Point& direction, const Point& normal, double from, double to) {
    const double ratio = from / to, cosine = dot(direction, normal);
    const double root = 1 - ratio * ratio * (1 - cosine * cosine);
    if (root < 0) return std::nullopt;
    const double along = std::sqrt(root) - ratio * cosine;
    return Point{ratio * direction[0] + along * normal[0], ratio * direction[1] + along * normal[1],
                 ratio * direction[2] + along * normal[2]};
}

std::optional<Point> intersection(const LightRay& ray, const ZernikeFit& surface) {
    double distance = (surface.height(ray.origin[0], ray.origin[1]) - ray.origin[2]) / ray.direction[2];
    for (int i = 0; i < 20; ++i) {
        const Point p = at(ray, distance);
        if (!is_known(p) || !surface.covers(p[0], p[1])) return std::nullopt;
        const auto [by_x, by_y] = surface.slope(p[0], p[1]);
        const double above = surface.height(p[0], p[1]) - p[2];
        if (std::abs(above) < 1e-10) return p;
        distance += above / (ray.direction[2] - by_x * ray.direction[0] - by_y * ray.direction[1]);
    }
    return std::nullopt;
}

namespace {

// The disc around all known points.
ZernikeFit fit_to_all(std::span<const Point> points, int order) {
    constexpr double far = std::numeric_limits<double>::infinity();
    std::array<double, 2> low{far, far}, high{-far, -far};
    for (const Point& p : points) {
        for (std::size_t axis = 0; axis < 2 && is_known(p); ++axis) {
            low[axis] = std::min(low[axis], p[axis]);
            high[axis] = std::max(high[axis], p[axis]);
        }
    }
    const std::array<double, 2> centre{(low[0] + high[0]) / 2, (low[1] + high[1]) / 2};
    double radius = 0;
    for (const Point& p : points) {
        if (is_known(p)) radius = std::max(radius, std::hypot(p[0] - centre[0], p[1] - centre[1]));
    }
    return {points, centre, radius, order};
}

// A ray on its way, and its optical path until its origin.
struct RayOnWay {
    LightRay ray;
    double path_mm = 0;
    bool is_lost = false;
};

// Continues below a surface. `point` may be missing.
void refract(RayOnWay& way, const Point& point, const ZernikeFit& shape, double from, double to) {
    const std::optional<Point> met = is_known(point) ? point : intersection(way.ray, shape);
    const std::optional<Point> direction =
        met ? refracted(way.ray.direction, shape.normal((*met)[0], (*met)[1]), from, to) : std::nullopt;
    if (!direction) {
        way.is_lost = true;
        return;
    }
    const Point from_origin{(*met)[0] - way.ray.origin[0], (*met)[1] - way.ray.origin[1],
                            (*met)[2] - way.ray.origin[2]};
    way.path_mm += from * dot(from_origin, way.ray.direction);
    way.ray = {*met, *direction};
}

}  // namespace

std::vector<TracedSurface> traced_surfaces(std::span<const LightRay> rays, std::span<const OpticalSurface> surfaces,
                                           std::span<const double> indices, int order, Progress& progress) {
    if (indices.size() != 1 && indices.size() != surfaces.size()) {
        throw Error(
            ErrorCode::bad_setting,
            fmt::format("{} for {}", plural(std::ssize(indices), "indices"), plural(std::ssize(surfaces), "surfaces")),
            "indices", "give the index above each surface, such as 1,1.376 for a cornea of two surfaces");
    }
    const auto index_above = [&](std::size_t k) { return indices[std::min(k, indices.size() - 1)]; };
    std::vector<RayOnWay> ways;
    for (const LightRay& ray : rays) ways.push_back({ray});
    std::vector<TracedSurface> traced;
    progress.begin("trace", std::ssize(surfaces), "surfaces");
    for (std::size_t k = 0; k < surfaces.size(); ++k) {
        std::vector<Point> points(rays.size(), no_point);
        for (std::size_t i = 0; i < rays.size(); ++i) {
            const double path = surfaces[k].path_mm[i];
            if (!ways[i].is_lost && std::isfinite(path))
                points[i] = at(ways[i].ray, (path - ways[i].path_mm) / index_above(k));
        }
        const ZernikeFit shape = fit_to_all(points, order);
        for (std::size_t i = 0; i < rays.size() && k + 1 < surfaces.size(); ++i) {
            if (!ways[i].is_lost) refract(ways[i], points[i], shape, index_above(k), index_above(k + 1));
        }
        traced.push_back({surfaces[k].name, std::move(points), shape});
        progress.advance(1);
    }
    progress.end();
    return traced;
}

double distance_mm(const Point& a, const Point& b) {
    return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

std::vector<double> normal_thickness(const TracedSurface& upper, const TracedSurface& lower) {
    std::vector<double> thickness;
    for (const Point& p : upper.points) {
        const std::optional<Point> met =
            is_known(p) ? intersection({p, upper.shape.normal(p[0], p[1])}, lower.shape) : std::nullopt;
        thickness.push_back(met ? distance_mm(p, *met) : missing);
    }
    return thickness;
}

}  // namespace echolux
