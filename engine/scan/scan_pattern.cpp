#include "engine/scan/scan_pattern.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"

namespace echolux {
namespace {

// Assumed field size along an axis with unknown spacing.
constexpr double unknown_field_um = 1000;

double extent(double spacing_um, std::int64_t count) {
    return spacing_um > 0 ? spacing_um * static_cast<double>(count) : unknown_field_um;
}

// Returns the centred coordinate of point `index` of `count` evenly spaced points.
double centred(double index, std::int64_t count, double size) {
    return (index - static_cast<double>(count - 1) / 2) * (size / static_cast<double>(count));
}

ScanPlane along_x(const ScanGeometry& geometry, const FieldSize& size, double y_um) {
    const double end = centred(static_cast<double>(geometry.a_scans - 1), geometry.a_scans, size.x_um);
    return {{-end, y_um}, {end, y_um}};
}

ScanPlane along_y(const ScanGeometry& geometry, const FieldSize& size, double x_um) {
    const double end = centred(static_cast<double>(geometry.a_scans - 1), geometry.a_scans, size.y_um);
    return {{x_um, -end}, {x_um, end}};
}

// Returns the A-scan position of each line of a B-scan, from a curve with values 0 to 1.
template <class Curve>
std::vector<double> spread(std::int64_t lines, std::int64_t a_scans, const Curve& curve) {
    std::vector<double> places;
    for (std::int64_t line = 0; line < lines; ++line) places.push_back(curve(line) * static_cast<double>(a_scans - 1));
    return places;
}

// A-scan position of each line, for the motion of the fast axis.
std::vector<double> fast_axis_places(const ScanGeometry& g, std::span<const double> curve) {
    const std::int64_t lines = g.lines_per_b_scan();
    if (g.fast_axis == FastAxis::uniform || g.a_scans == 1) {
        std::vector<double> places;
        for (std::int64_t line = 0; line < lines; ++line) places.push_back(static_cast<double>(line / g.a_repeats));
        return places;
    }
    if (g.fast_axis == FastAxis::sinusoidal) {
        const double end = std::numbers::pi / 2 * g.sinusoidal_part;
        return spread(lines, g.a_scans, [&](std::int64_t line) {
            const double u = 2 * static_cast<double>(line) / static_cast<double>(lines - 1) - 1;
            return (std::sin(end * u) / std::sin(end) + 1) / 2;
        });
    }
    if (std::ssize(curve) != lines || curve.front() == curve.back()) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("needs one position for each of the {} of a B-scan, got {}", plural(lines, "lines"),
                                curve.size()),
                    "calibration.fast_axis", "or set scan.fast_axis = uniform");
    }
    return spread(lines, g.a_scans, [&](std::int64_t line) {
        return (curve[index(line)] - curve.front()) / (curve.back() - curve.front());
    });
}

}  // namespace

FieldLines field_lines(const ScanGeometry& g) {
    switch (g.protocol) {
        case Protocol::cross:
        case Protocol::four_slices: return {g.a_scans, g.a_scans};
        case Protocol::raster_cross: return {g.a_scans, g.b_scans - g.crosses};
        case Protocol::raster_y: return {g.b_scans, g.a_scans};
        case Protocol::raster: break;
    }
    return {g.a_scans, g.b_scans};
}

FieldSize field_size(const ScanGeometry& g) {
    const auto [x, y] = field_lines(g);
    const bool has_slow_axis = g.protocol != Protocol::cross && g.protocol != Protocol::four_slices;
    const double slow_um = has_slow_axis ? g.spacing_b_um : g.spacing_a_um;
    if (g.protocol == Protocol::raster_y) return {extent(slow_um, x), extent(g.spacing_a_um, y)};
    return {extent(g.spacing_a_um, x), extent(slow_um, y)};
}

bool has_raster(const ScanGeometry& g) {
    if (g.protocol == Protocol::raster_cross) return g.b_scans > g.crosses;
    return g.protocol == Protocol::raster || g.protocol == Protocol::raster_y;
}

void check_protocol(const ScanGeometry& geometry, const std::string& where) {
    if (has_raster(geometry)) return;
    if (geometry.protocol == Protocol::raster_cross) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("{}, of which {} are crossing B-scans, leave none for the raster",
                                plural(geometry.b_scans, "B-scans"), geometry.crosses),
                    where + ", scan.b_scans", "use more than scan.crosses, or choose the protocol raster");
    }
    const bool is_cross = geometry.protocol == Protocol::cross;
    const std::int64_t max = is_cross ? 2 : 4;
    if (geometry.b_scans <= max) return;
    throw Error(ErrorCode::bad_setting,
                fmt::format("the protocol {} has {}, got {}", is_cross ? "cross" : "four_slices",
                            plural(max, "B-scans"), geometry.b_scans),
                where + ", scan.b_scans", fmt::format("use {}, or choose the protocol raster", max));
}

std::vector<ScanPlane> scan_planes(const ScanGeometry& g, const FieldSize& size) {
    check_protocol(g, "scan pattern");
    std::vector<ScanPlane> planes;
    if (g.protocol == Protocol::cross) {
        planes = {along_x(g, size, 0), along_y(g, size, 0)};
    } else if (g.protocol == Protocol::four_slices) {
        const double apart = g.spacing_b_um > 0 ? g.spacing_b_um : size.y_um / 4;
        planes = {along_x(g, size, -apart), along_x(g, size, 0), along_x(g, size, apart), along_y(g, size, 0)};
    } else {
        const std::int64_t across = g.protocol == Protocol::raster_y       ? g.b_scans
                                    : g.protocol == Protocol::raster_cross ? g.crosses
                                                                           : 0;
        for (std::int64_t b = 0; b < across; ++b)
            planes.push_back(along_y(g, size, centred(static_cast<double>(b), across, size.x_um)));
        const std::int64_t along = g.b_scans - across;
        for (std::int64_t b = 0; b < along; ++b)
            planes.push_back(along_x(g, size, centred(static_cast<double>(b), along, size.y_um)));
    }
    planes.resize(index(g.b_scans));
    return planes;
}

std::vector<ScanPlane> scan_planes(const ScanGeometry& geometry) {
    return scan_planes(geometry, field_size(geometry));
}

ScanPattern::ScanPattern(const ScanGeometry& geometry, const FieldSize& size, std::span<const double> fast_axis)
    : geometry_(geometry), planes_(scan_planes(geometry, size)), a_scans_(fast_axis_places(geometry, fast_axis)),
      frames_(geometry.frames_per_volume() + geometry.flyback_frames), lines_per_frame_(geometry.lines_per_frame()) {}

FieldPoint ScanPattern::point(std::int64_t b_scan, double a_scan) const {
    const auto& [first, last] = planes_[index(b_scan)];
    if (geometry_.a_scans == 1) return first;
    const double step = static_cast<double>(geometry_.a_scans - 1);
    return {first.x_um + a_scan * ((last.x_um - first.x_um) / step),
            first.y_um + a_scan * ((last.y_um - first.y_um) / step)};
}

double ScanPattern::a_scan_of(std::int64_t frame, std::int64_t line) const {
    const bool backwards = geometry_.bidirectional && frame % 2 == 1;
    return a_scans_[index(backwards ? geometry_.lines_per_b_scan() - 1 - line : line)];
}

PatternLine ScanPattern::at(std::int64_t frame, std::int64_t line) const {
    const bool is_flyback = frame >= geometry_.frames_per_volume() || line >= geometry_.lines_per_b_scan();
    if (is_flyback) return {on_the_way(frame, line), frame, line, true};
    return {point(frame / geometry_.b_repeats, a_scan_of(frame, line)), frame, line, false};
}

// The beam returns along half a period of a cosine, because mirrors cannot follow jumps in velocity.
FieldPoint ScanPattern::on_the_way(std::int64_t frame, std::int64_t line) const {
    const std::int64_t last_frame = geometry_.frames_per_volume() - 1;
    const std::int64_t left = std::min(frame, last_frame);  // frame that the beam comes from
    const std::int64_t next = left == last_frame ? 0 : left + 1;
    const std::int64_t lines = geometry_.lines_per_b_scan();
    const std::int64_t done = (frame - left) * lines_per_frame_ + line - lines + 1;
    const std::int64_t all = geometry_.flyback_lines + (next == 0 ? geometry_.flyback_frames * lines_per_frame_ : 0);
    const double part = (1 - std::cos(std::numbers::pi * static_cast<double>(done) / static_cast<double>(all + 1))) / 2;
    const FieldPoint from = at(left, lines - 1).beam;
    const FieldPoint to = at(next, 0).beam;
    return {from.x_um + part * (to.x_um - from.x_um), from.y_um + part * (to.y_um - from.y_um)};
}

std::vector<PatternLine> scan_pattern(const ScanGeometry& geometry, const FieldSize& size,
                                      std::span<const double> fast_axis) {
    const ScanPattern pattern(geometry, size, fast_axis);
    std::vector<PatternLine> lines;
    for (std::int64_t frame = 0; frame < pattern.frames(); ++frame) {
        for (std::int64_t line = 0; line < pattern.lines_per_frame(); ++line) lines.push_back(pattern.at(frame, line));
    }
    return lines;
}

}  // namespace echolux
