// Shapes of surfaces in millimetres, corrected for refraction at the surfaces above.
//
// OCT measures optical paths. A ray runs straight from its origin to the first surface, over its optical path divided
// by the index n0 there. At the surface its direction changes by Snell's law in three dimensions: with the unit normal
// n along the light, d' = r d + (sqrt(1 - r^2 (1 - c^2)) - r c) n, where c = d n and r = n0 / n1 (S. Ortiz et al.,
// Opt. Express 18, 2782, 2010). The next surface is at the further optical path divided by n1 along d', and so on.
// Normals are those of a Zernike fit to the points, because neighbouring points are too noisy for slopes.
//
// Zernike polynomials are orthonormal on the unit disc with the indices j = (n (n + 2) + m) / 2 of ANSI Z80.28: their
// coefficients are lengths, and the root of their sum of squares is the rms of the shape.
//
// A conicoid of radius R and asphericity Q is z = z0 + c r^2 / (1 + sqrt(1 - (1 + Q) c^2 r^2)) with c = 1 / R and r the
// distance from the apex: a sphere for Q = 0, a parabola for Q = -1. R > 0 is convex towards the light.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/progress.h"

namespace echolux {

// x along the A-scans, y across the B-scans, z along the light, in mm.
using Point = std::array<double, 3>;

double distance_mm(const Point& a, const Point& b);

inline constexpr int max_zernike_order = 6;
inline constexpr std::size_t max_fit_points = 50000;

// Radial order and azimuthal frequency of an index; m < 0: sine.
struct ZernikeOrder {
    int n = 0, m = 0;
};
ZernikeOrder zernike_order(int index);

// A height z over x and y within a disc.
class ZernikeFit {
  public:
    // Fits the finite points in the disc, at most max_fit_points of them, evenly chosen. Points more than four standard
    // deviations off are left out. `order`: 1 to max_zernike_order. Throws Error{bad_setting} for too few
    // points and for points in one line.
    ZernikeFit(std::span<const Point> points, const std::array<double, 2>& centre, double radius_mm, int order);

    bool covers(double x, double y) const;
    double height(double x, double y) const;
    std::array<double, 2> slope(double x, double y) const;  // dz/dx, dz/dy
    Point normal(double x, double y) const;                 // unit length, along the light

    const std::vector<double>& coefficients() const { return coefficients_; }  // mm, by index
    double radius_mm() const { return radius_mm_; }
    double rms_mm() const { return rms_mm_; }  // of the points that were used

  private:
    using Polynomial = std::array<std::array<double, max_zernike_order + 1>, max_zernike_order + 1>;
    std::array<double, 2> centre_;
    double radius_mm_, rms_mm_ = 0;
    std::vector<double> coefficients_;
    Polynomial sum_{};  // by powers of x and y in units of the radius
};

struct Conicoid {
    Point apex{};
    double radius_mm = 0, asphericity = 0;
    double radius_error_mm = 0, asphericity_error = 0;  // standard errors for independent points
    double rms_mm = 0;

    double height(double x, double y) const;  // NaN beyond its edge
};

// Fits a conicoid, or a sphere, to the finite points. std::nullopt if they are flat within their scatter, or too few.
std::optional<Conicoid> fitted_conicoid(std::span<const Point> points);
std::optional<Conicoid> fitted_sphere(std::span<const Point> points);

// ---- Refraction

struct LightRay {
    Point origin, direction;  // unit length
};

// Direction after a surface between media of index `from` and `to`. std::nullopt: total reflection.
std::optional<Point> refracted(const Point& direction, const Point& normal, double from, double to);

// Where a ray meets a fitted surface. std::nullopt: nowhere in its disc.
std::optional<Point> intersection(const LightRay& ray, const ZernikeFit& surface);

struct OpticalSurface {
    std::string name;
    std::vector<double> path_mm;  // optical path from the origin of each ray; NaN: missing
};

struct TracedSurface {
    std::string name;
    std::vector<Point> points;  // one per ray; NaN: missing
    ZernikeFit shape;           // fit to all points
};

// Traces rays through surfaces in the order of the light. indices[k] is the group index above surface k; a single index
// holds for all. Where a surface is missing, rays are refracted at its fit. Throws Error{bad_setting} for a wrong count
// of indices and for surfaces with too few points.
std::vector<TracedSurface> traced_surfaces(std::span<const LightRay> rays, std::span<const OpticalSurface> surfaces,
                                           std::span<const double> indices, int order, Progress& progress);

// Distance from each point of `upper` along the normal there to `lower`, in mm; NaN: missing.
std::vector<double> normal_thickness(const TracedSurface& upper, const TracedSurface& lower);

}  // namespace echolux
