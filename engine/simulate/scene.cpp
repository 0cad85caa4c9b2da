#include "engine/simulate/scene.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "compute/error.h"

namespace echolux {
namespace {

using std::numbers::pi;

constexpr double min_form_um = 400;
constexpr double max_of_range = 0.9;  // deeper, fringes are under-sampled where the samples are coarsest in k

double bowed(double bow_um, double u, double v) {
    return 2 * bow_um * (u * u + v * v);
}

// Length that [a, b] and [c, d] share.
double overlap(double a, double b, double c, double d) {
    return std::max(0.0, std::min(b, d) - std::max(a, c));
}

std::string micrometres(double length) {
    return std::to_string(std::lround(length)) + " um";
}

}  // namespace

Scenery::Scenery(const Simulation& s, double depth_range_um)
    : width_um(field_size(scan_geometry(s)).x_um), length_um(field_size(scan_geometry(s)).y_um),
      deepest_um(max_of_range * depth_range_um), form_width_um_(std::max(width_um, min_form_um)),
      form_length_um_(std::max(length_um, min_form_um)) {
    const std::int64_t lines_along_y = s.protocol == Protocol::raster ? s.b_scans : s.a_scans;
    to_first_ = {(width_um - width_um / static_cast<double>(s.a_scans)) / 2,
                 (length_um - length_um / static_cast<double>(lines_along_y)) / 2};
    switch (s.scene) {
        case Scene::mirror: add_mirrors(s, depth_range_um); break;
        case Scene::layers: add_layers(s, depth_range_um); break;
        case Scene::vessel: add_vessel(s, depth_range_um); break;
        case Scene::capillary: add_capillary(s, depth_range_um); break;
        case Scene::retina: add_retina(s, depth_range_um); break;
    }
    if (s.scene == Scene::vessel || s.scene == Scene::retina) {
        heart_rate_hz = s.heart_rate_hz;
        pulsation = s.pulsation;
    }
}

double Scenery::height_um(const Boundary& b, double x, double y) const {
    double height = b.base_um + b.tilt_um * (u(x) + v(y) / 2) + bowed(b.bow_um, u(x), v(y));
    if (b.wave_um != 0) height += b.wave_um * std::sin(2 * pi * (1.5 * u(x) + 0.3 * v(y))) * std::cos(2 * pi * v(y));
    if (b.pit_um != 0) {
        const double distance = std::hypot(x - width_um / 2, y - length_um / 2) / b.pit_radius_um;
        height += b.pit_um * std::exp(-distance * distance);
    }
    return height;
}

double Scenery::x_um(const Tube& t, double y) const {
    const double phase = 2 * pi * (y - length_um / 2) / t.period_um + t.phase_rad;
    return width_um / 2 + t.x_um + t.swing_um * std::sin(phase);
}

double Scenery::x_slope(const Tube& t, double y) const {
    const double phase = 2 * pi * (y - length_um / 2) / t.period_um + t.phase_rad;
    return 2 * pi / t.period_um * t.swing_um * std::cos(phase);
}

double Scenery::z_um(const Tube& t, double y) const {
    return t.z_um + t.descent * (y - length_um / 2) + bowed(t.bow_um, 0, v(y));
}

double Scenery::z_slope(const Tube& t, double y) const {
    return t.descent + 4 * t.bow_um * v(y) / form_length_um_;
}

double Scenery::loss(const std::vector<double>& heights, double x, double y, double z) const {
    double exponent = 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        exponent += layers[i].attenuation_per_mm * overlap(heights[i], heights[i + 1], 0, z);
    }
    for (const Tube& tube : tubes) {
        const double off_axis = x - x_um(tube, y);
        const double half_square = tube.radius_um * tube.radius_um - off_axis * off_axis;
        if (half_square <= 0) continue;
        const double half = std::sqrt(half_square);
        const double axis = z_um(tube, y);
        exponent += tube.attenuation_per_mm * overlap(axis - half, axis + half, 0, z);
    }
    return exponent / 1000;
}

double Scenery::flow_time_s(double time_s) const {
    const double omega = 2 * pi * heart_rate_hz;
    return omega == 0 ? time_s : time_s + pulsation / omega * (1 - std::cos(omega * time_s));
}

void Scenery::add_mirrors(const Simulation& s, double range) {
    if (s.mirror_um.size() != s.mirror_amplitude.size() || s.mirror_um.empty()) {
        throw Error(ErrorCode::bad_setting, "needs one amplitude for each reflector", "simulation.mirror_amplitude",
                    "give as many numbers as simulation.mirror_um has, at least one");
    }
    for (std::size_t i = 0; i < s.mirror_um.size(); ++i) {
        if (s.mirror_um[i] > range) {
            throw Error(ErrorCode::bad_setting,
                        micrometres(s.mirror_um[i]) + " lies beyond the depth range of " + micrometres(range),
                        "simulation.mirror_um", "choose a smaller depth or more samples");
        }
        reflectors.push_back({s.mirror_um[i], s.mirror_amplitude[i]});
    }
}

void Scenery::add_layers(const Simulation& s, double range) {
    for (const double base : {0.15, 0.25, 0.40, 0.60, 0.80}) {
        Boundary boundary{.base_um = base * range};
        if (s.relief == Relief::tilted) boundary.tilt_um = 0.10 * range;
        if (s.relief == Relief::curved) {
            boundary.bow_um = 0.08 * range;
            boundary.wave_um = 0.015 * range;
        }
        boundaries.push_back(boundary);
    }
    layers = {{1.0, 1.0}, {0.3, 1.0}, {0.9, 1.0}, {0.3, 1.0}};
}

// Skin-like: a thin bright layer, a dim one, a bright one, and dim tissue with two vessels.
void Scenery::add_vessel(const Simulation& s, double range) {
    for (const double base : {0.13, 0.165, 0.255, 0.31, 0.82}) {
        boundaries.push_back({.base_um = base * range, .bow_um = 0.07 * range, .wave_um = 0.012 * range});
    }
    layers = {{1.0, 2.0}, {0.3, 1.0}, {0.8, 2.0}, {0.2, 1.2}};
    Tube vessel{.x_um = -0.08 * form_width_um_,
                .swing_um = 0.16 * form_width_um_,
                .period_um = 1.3 * form_length_um_,
                .phase_rad = 1.82,
                .z_um = 0.52 * range,
                .descent = 0.06,
                .bow_um = 0.04 * range,
                .radius_um = std::min(0.105 * range, 0.1 * form_width_um_),
                .brightness = 0.9,
                .attenuation_per_mm = 2.0,
                .peak_mm_s = s.flow_mm_s};
    tubes.push_back(vessel);
    vessel.x_um = 0.26 * form_width_um_;
    vessel.swing_um = 0.06 * form_width_um_;
    vessel.period_um = 0.8 * form_length_um_;
    vessel.phase_rad = 3.33;
    vessel.z_um = 0.44 * range;
    vessel.descent = -0.04;
    vessel.radius_um /= 2;
    vessel.peak_mm_s = -0.6 * s.flow_mm_s;
    tubes.push_back(vessel);
}

// Glass capillary of 200 um bore in water, filled with 0.5 % Intralipid.
void Scenery::add_capillary(const Simulation& s, double range) {
    const double radius = 100;
    const double wall = 25;
    const double descent = std::tan(s.tilt_deg * pi / 180);
    const double area_mm2 = pi * radius * radius * 1e-6;
    tubes.push_back({.z_um = 0.45 * range,
                     .descent = descent,
                     .radius_um = radius,
                     .wall_um = wall,
                     .brightness = 0.7,
                     .wall_brightness = 0.15,
                     .attenuation_per_mm = 1.0,
                     .peak_mm_s = 2 * s.flow_ul_s / area_mm2});
    const double reach = radius + wall + std::abs(descent) * length_um / 2;
    if (0.45 * range - reach < 0 || 0.45 * range + reach > deepest_um) {
        throw Error(
            ErrorCode::bad_setting,
            "the tilted capillary needs " + micrometres(2 * reach) + " of the depth range of " + micrometres(range),
            "simulation.tilt_deg", "choose a smaller tilt, fewer B-scans or more samples");
    }
}

void Scenery::add_retina(const Simulation& s, double range) {
    const double pit_radius = 0.28 * std::min(form_width_um_, form_length_um_);
    const auto boundary = [&](double base, double pit) {
        boundaries.push_back(
            {.base_um = base * range, .bow_um = -0.06 * range, .pit_um = pit * range, .pit_radius_um = pit_radius});
    };
    boundary(0.17, 0.120);  // inner limiting membrane
    boundary(0.22, 0.080);  // below the nerve fibres
    boundary(0.32, 0.020);  // below ganglion cells and inner plexiform layer
    boundary(0.38, 0.005);  // below the inner nuclear layer
    boundary(0.42, 0);      // below the outer plexiform layer
    boundary(0.54, 0);      // below the outer nuclear layer
    boundary(0.57, 0);      // below the junction of inner and outer segments
    boundary(0.61, 0);      // below the outer segments
    boundary(0.65, 0);      // below the pigment epithelium
    boundary(0.84, 0);
    layers = {{0.9, 1.0}, {0.45, 0.8}, {0.2, 0.5}, {0.45, 0.8}, {0.12, 0.3},
              {0.8, 1.0}, {0.2, 0.5},  {1.0, 3.0}, {0.4, 4.0}};
    for (const double side : {-1.0, 1.0}) {
        tubes.push_back({.x_um = side * 0.33 * form_width_um_,
                         .swing_um = side * 0.06 * form_width_um_,
                         .period_um = 1.6 * form_length_um_,
                         .phase_rad = 2.36,
                         .z_um = (0.25 - 0.013) * range,
                         .descent = side * 0.02,
                         .bow_um = -0.06 * range,
                         .radius_um = std::min(0.04 * range, 0.05 * form_width_um_),
                         .brightness = 1.0,
                         .attenuation_per_mm = 8.0,
                         .peak_mm_s = side * s.flow_mm_s});
    }
}

}  // namespace echolux
