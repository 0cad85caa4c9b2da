#include "engine/geometry/beam_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "engine/scan/settings.h"

namespace echolux {

using std::numbers::pi;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <>
const std::vector<Field<BeamGeometry>>& describe<BeamGeometry>() {
    using G = BeamGeometry;
    constexpr Effect effect = Effect::file;
    constexpr double far = 1e4;
    static const std::vector<Field<G>> fields{
        choice("pattern", &G::pattern, {"raster", "radial", "circle", "spiral"}, effect,
               "order of the lines; raster: that of scan.protocol; radial: B-scans are diameters; circle: circles; "
               "spiral: turns")
            .in("Lines"),
        numbers("path_um", &G::path_um, -1e6, 1e6, "um", effect,
                "depth in air at which a flat mirror appears, a polynomial in x and y in mm: 1, x, y, x^2, xy, y^2, "
                "x^3 ... up to y^4")
            .in("Optical path")
            .found_by("field curvature flat mirror dewarp"),
        number("refractive_index", &G::refractive_index, 0, 3, "", effect,
               "index by which the depths of the volume were divided; 0: that of the scan, or 1")
            .special(0, "auto"),
        text("path_origin", &G::path_origin, effect, "how path_um was found"),
        number("scale_x", &G::scale_x, 0.01, 100, "", effect, "mm in the sample per mm of the scan along x")
            .in("Lens")
            .found_by("distortion pincushion barrel"),
        number("scale_y", &G::scale_y, 0.01, 100, "", effect, "mm in the sample per mm of the scan along y"),
        number("radial_per_mm2", &G::radial_per_mm2, -1, 1, "1/mm^2", effect,
               "radial distortion: the scale grows by this times r^2; above 0: pincushion"),
        number("radial_per_mm4", &G::radial_per_mm4, -1, 1, "1/mm^4", effect,
               "radial distortion: the scale grows by this times r^4"),
        numbers("bend_x", &G::bend_x, -10, 10, "", effect,
                "further terms of x in the sample: factors of x^2, x^3 ... in 1/mm, 1/mm^2 ..."),
        numbers("bend_y", &G::bend_y, -10, 10, "", effect,
                "further terms of y in the sample: factors of y^2, y^3 ... in 1/mm, 1/mm^2 ..."),
        text("lens_origin", &G::lens_origin, effect, "how the values of the lens were found"),
        number("pivot_x_mm", &G::pivot_x_mm, -far, far, "mm", effect,
               "distance from the pivot of x to zero delay; above 0: beams diverge with depth; 0: they are parallel")
            .special(0, "parallel")
            .in("Fan")
            .found_by("fan angle pivot telecentric"),
        number("pivot_y_mm", &G::pivot_y_mm, -far, far, "mm", effect,
               "distance from the pivot of y to zero delay; above 0: beams diverge with depth; 0: they are parallel")
            .special(0, "parallel"),
        number("delay_x_us", &G::delay_x_us, -1e6, 1e6, "us", effect,
               "time by which the beam is behind its command along x")
            .in("Galvanometers")
            .found_by("galvo lag bidirectional"),
        number("delay_y_us", &G::delay_y_us, -1e6, 1e6, "us", effect,
               "time by which the beam is behind its command along y"),
        number("resonance_x_hz", &G::resonance_x_hz, 0, 1e6, "Hz", effect,
               "natural frequency of the galvanometer of x; 0: it only has the delay")
            .special(0, "none"),
        number("resonance_y_hz", &G::resonance_y_hz, 0, 1e6, "Hz", effect,
               "natural frequency of the galvanometer of y; 0: it only has the delay")
            .special(0, "none"),
        number("damping_x", &G::damping_x, 0.05, 10, "", effect, "damping ratio of the galvanometer of x"),
        number("damping_y", &G::damping_y, 0.05, 10, "", effect, "damping ratio of the galvanometer of y"),
        text("galvo_origin", &G::galvo_origin, effect, "how the values of the galvanometers were found"),
        flag("polar", &G::polar, effect, "every B-scan is a turn of a catheter").in("Catheter").found_by("endoscope"),
        number("rotation_deg", &G::rotation_deg, -360, 360, "deg", effect,
               "angle of the first A-scan, from x towards y")
            .only_while("geometry.polar", {"true"}),
        flag("turns_backwards", &G::turns_backwards, effect, "the catheter turns from y towards x")
            .only_while("geometry.polar", {"true"}),
        number("zero_radius_um", &G::zero_radius_um, -1e6, 1e6, "um", effect,
               "distance from the axis of rotation to zero delay: the radius of the sheath less its depth")
            .only_while("geometry.polar", {"true"})
            .found_by("sheath"),
        number("pullback_um", &G::pullback_um, 0, 1e6, "um", effect,
               "pullback per turn; 0: the distance between the B-scans")
            .special(0, "auto")
            .only_while("geometry.polar", {"true"}),
    };
    return fields;
}

// ---- Polynomial

std::vector<double> Polynomial2::powers(std::size_t order, double x, double y) {
    std::vector<double> powers;
    for (std::size_t n = 0; n <= order; ++n) {
        for (std::size_t j = 0; j <= n; ++j)
            powers.push_back(std::pow(x, static_cast<double>(n - j)) * std::pow(y, static_cast<double>(j)));
    }
    return powers;
}

double Polynomial2::operator()(double x, double y) const {
    if (coefficients_.empty()) return 0;
    std::array<double, max_order + 1> xs{1}, ys{1};
    for (std::size_t i = 1; i <= max_order; ++i) {
        xs[i] = xs[i - 1] * x;
        ys[i] = ys[i - 1] * y;
    }
    double sum = 0;
    for (std::size_t n = 0, at = 0; n <= max_order; ++n) {
        for (std::size_t j = 0; j <= n && at < coefficients_.size(); ++j, ++at)
            sum += coefficients_[at] * xs[n - j] * ys[j];
    }
    return sum;
}

// ---- Lens

LensMap::LensMap(const BeamGeometry& g)
    : scale_x_(g.scale_x), scale_y_(g.scale_y), k2_(g.radial_per_mm2), k4_(g.radial_per_mm4), bend_x_(g.bend_x),
      bend_y_(g.bend_y), is_scale_(k2_ == 0 && k4_ == 0 && bend_x_.empty() && bend_y_.empty()) {}

namespace {

// Value and slope of bend[0] u^2 + bend[1] u^3 + ...
std::pair<double, double> bent(const std::vector<double>& bend, double u) {
    double value = 0, slope = 0, power = u;
    for (std::size_t i = 0; i < bend.size(); ++i) {
        slope += static_cast<double>(i + 2) * bend[i] * power;
        power *= u;
        value += bend[i] * power;
    }
    return {value, slope};
}

}  // namespace

FieldPoint LensMap::field(const FieldPoint& scan) const {
    const double u = scan.x_um, v = scan.y_um, r2 = u * u + v * v;
    const double radial = 1 + r2 * (k2_ + r2 * k4_);
    return {scale_x_ * u * radial + bent(bend_x_, u).first, scale_y_ * v * radial + bent(bend_y_, v).first};
}

LensMap::Slopes LensMap::slopes(const FieldPoint& scan) const {
    const double u = scan.x_um, v = scan.y_um, r2 = u * u + v * v;
    const double radial = 1 + r2 * (k2_ + r2 * k4_), by_r2 = k2_ + 2 * k4_ * r2;
    return {scale_x_ * (radial + 2 * u * u * by_r2) + bent(bend_x_, u).second, scale_x_ * 2 * u * v * by_r2,
            scale_y_ * 2 * u * v * by_r2, scale_y_ * (radial + 2 * v * v * by_r2) + bent(bend_y_, v).second};
}

std::optional<FieldPoint> LensMap::scan(const FieldPoint& field) const {
    FieldPoint at{field.x_um / scale_x_, field.y_um / scale_y_};
    if (is_scale_) return at;
    constexpr int max_steps = 20;
    const double close = 1e-9 * (1 + std::hypot(at.x_um, at.y_um));
    for (int step = 0; step < max_steps; ++step) {
        const FieldPoint found = this->field(at);
        const auto [xu, xv, yu, yv] = slopes(at);
        const double area = xu * yv - xv * yu;
        if (!(area > 0)) return std::nullopt;
        const double dx = found.x_um - field.x_um, dy = found.y_um - field.y_um;
        const double du = (yv * dx - xv * dy) / area, dv = (xu * dy - yu * dx) / area;
        at.x_um -= du;
        at.y_um -= dv;
        if (std::abs(du) + std::abs(dv) < close) return at;
    }
    return std::nullopt;
}

// ---- Fan

Position FanMap::position(const FieldPoint& field, double s) const {
    Position at{field.x_um, field.y_um, s};
    if (px_ != 0) {
        at.x_mm = (px_ + s) * std::sin(field.x_um / px_);
        at.z_mm = (px_ + s) * std::cos(field.x_um / px_) - px_;
    }
    if (py_ == 0) return at;
    const double h = at.z_mm + py_;
    at.y_mm = h * std::sin(field.y_um / py_);
    at.z_mm = h * std::cos(field.y_um / py_) - py_;
    return at;
}

FieldPoint FanMap::field(const Position& position, double& s) const {
    FieldPoint field{position.x_mm, position.y_mm};
    double depth = position.z_mm;
    if (py_ != 0) {
        const double sign = std::copysign(1.0, py_);
        field.y_um = py_ * std::atan2(sign * position.y_mm, sign * (depth + py_));
        depth = sign * std::hypot(position.y_mm, depth + py_) - py_;
    }
    if (px_ != 0) {
        const double sign = std::copysign(1.0, px_);
        field.x_um = px_ * std::atan2(sign * position.x_mm, sign * (depth + px_));
        depth = sign * std::hypot(position.x_mm, depth + px_) - px_;
    }
    s = depth;
    return field;
}

// ---- Galvanometers

namespace {

// A periodic command between its values, which are one line apart. `at`: in lines.
double command_at(std::span<const double> command, double at) {
    const auto n = static_cast<double>(command.size());
    at -= n * std::floor(at / n);
    const double below = std::floor(at);
    const auto i = static_cast<std::size_t>(below) % command.size();
    return command[i] + (at - below) * (command[(i + 1) % command.size()] - command[i]);
}

}  // namespace

std::vector<double> galvo_response(std::span<const double> command, double line_s, double delay_s, double resonance_hz,
                                   double damping) {
    const double delay = delay_s / line_s, w = 2 * pi * resonance_hz * line_s;  // in lines and rad per line
    std::vector<double> response(command.size());
    constexpr double fast = 50;  // rad per line: settled within a line
    if (w == 0 || w > fast) {
        for (std::size_t i = 0; i < command.size(); ++i)
            response[i] = command_at(command, static_cast<double>(i) - delay);
        return response;
    }
    const int steps = std::max(2, static_cast<int>(std::ceil(w / 0.05)));
    const double h = 1.0 / steps;
    double x = command_at(command, -delay), v = 0;
    const auto pull = [&](double at, double x_at, double v_at) {
        return w * w * (command_at(command, at - delay) - x_at) - 2 * damping * w * v_at;
    };
    // The first two periods settle, the last one counts.
    for (int period = 0; period < 3; ++period) {
        for (std::size_t i = 0; i < command.size(); ++i) {
            response[i] = x;
            for (int k = 0; k < steps; ++k) {  // Runge-Kutta of fourth order
                const double t = static_cast<double>(i) + k * h;
                const double a1 = pull(t, x, v), v2 = v + h / 2 * a1;
                const double a2 = pull(t + h / 2, x + h / 2 * v, v2), v3 = v + h / 2 * a2;
                const double a3 = pull(t + h / 2, x + h / 2 * v2, v3), v4 = v + h * a3;
                const double a4 = pull(t + h, x + h * v3, v4);
                x += h / 6 * (v + 2 * v2 + 2 * v3 + v4);
                v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
            }
        }
    }
    return response;
}

// ---- Lines

namespace {

// Evenly spaced lines in one direction.
bool is_plain(const ScanGeometry& scan) {
    return scan.protocol == Protocol::raster && !scan.bidirectional && scan.fast_axis == FastAxis::uniform;
}

}  // namespace

ScanLineMap::ScanLineMap(const BeamGeometry& geometry, const ScanGeometry& scan,
                         const std::array<double, 2>& spacing_mm, std::span<const double> fast_axis)
    : a_scans_(scan.a_scans), b_scans_(scan.b_scans), da_(spacing_mm[0]), db_(spacing_mm[1]),
      pattern_(geometry.pattern) {
    ScanGeometry raster = scan;
    if (scan.protocol == Protocol::raster_cross) {
        first_b_ = scan.crosses;
        raster.b_scans = b_scans_ -= first_b_;
        raster.protocol = Protocol::raster;
    }
    is_along_y_ = scan.protocol == Protocol::raster_y;
    if (!is_raster() && (geometry.has_galvo() || !is_plain(scan))) {
        throw Error(ErrorCode::bad_setting, "cannot be combined with other protocols or late galvanometers",
                    "geometry.pattern", "use scan.protocol = raster without bidirectional, and no delay or resonance");
    }
    if (!geometry.has_galvo() || a_scans_ < 2) return;
    if (scan.line_rate_hz <= 0) {
        throw Error(ErrorCode::bad_setting, "is unknown, so the delay of the galvanometers is unknown in A-scans",
                    "scan.line_rate_hz", "set the lines per second");
    }
    if (scan.bidirectional && scan.b_repeats > 1) {
        throw Error(ErrorCode::bad_setting, "repeats in both directions are averaged, so their delay is lost",
                    "scan.b_repeats", "scan in one direction, or without repeats");
    }
    add_lags(geometry, raster, fast_axis);
    invert_lags();
}

namespace {

// Lines of one A-scan position, in acquisition order, and the weight of the second one.
struct LinesOfScan {
    double first = 0, last = 0;
};

// Lines at which the command passes each A-scan position of a forward B-scan. `a_at`: A-scan position per line.
std::vector<LinesOfScan> lines_of_positions(const ScanGeometry& scan, const std::vector<double>& a_at) {
    std::vector<LinesOfScan> lines;
    for (std::int64_t a = 0; a < scan.a_scans; ++a) {
        if (scan.fast_axis == FastAxis::uniform) {
            lines.push_back(
                {static_cast<double>(a * scan.a_repeats), static_cast<double>((a + 1) * scan.a_repeats - 1)});
            continue;
        }
        const auto above = std::ranges::upper_bound(a_at, static_cast<double>(a));
        const auto i = std::clamp<std::int64_t>(above - a_at.begin() - 1, 0, std::ssize(a_at) - 2);
        const double line =
            static_cast<double>(i) + (static_cast<double>(a) - a_at[index(i)]) / (a_at[index(i + 1)] - a_at[index(i)]);
        lines.push_back({line, line});
    }
    return lines;
}

// The mean of values at whole lines, or a value between lines.
double value_of(const std::vector<double>& values, std::int64_t start, const LinesOfScan& lines, bool backwards,
                std::int64_t count) {
    const auto at = [&](double line) {
        const double from_start = backwards ? static_cast<double>(count - 1) - line : line;
        return command_at(values, static_cast<double>(start) + from_start);
    };
    double sum = 0;
    std::int64_t n = 0;
    for (double line = lines.first; line <= lines.last; ++line, ++n) sum += at(line);
    return sum / static_cast<double>(n);
}

}  // namespace

// Compares a few B-scans of the real pattern, with its returns, with the response of the galvanometers.
void ScanLineMap::add_lags(const BeamGeometry& geometry, ScanGeometry scan, std::span<const double> fast_axis) {
    constexpr std::int64_t settling = 8;  // B-scans
    scan.b_scans = std::min(settling, std::max<std::int64_t>(2, b_scans_));
    scan.flyback_frames = std::max<std::int64_t>(scan.flyback_frames, 1);
    const FieldSize size =
        is_along_y_ ? FieldSize{db_ * static_cast<double>(scan.b_scans), da_ * static_cast<double>(a_scans_)}
                    : FieldSize{da_ * static_cast<double>(a_scans_), db_ * static_cast<double>(scan.b_scans)};
    const ScanPattern pattern(scan, size, fast_axis);
    std::vector<double> along, across;
    for (const PatternLine& line : scan_pattern(scan, size, fast_axis)) {
        along.push_back(is_along_y_ ? line.beam.y_um : line.beam.x_um);
        across.push_back(is_along_y_ ? line.beam.x_um : line.beam.y_um);
    }
    const double line_s = 1 / scan.line_rate_hz;
    const auto respond = [&](const std::vector<double>& command, bool is_y) {
        return is_y ? galvo_response(command, line_s, geometry.delay_y_us * 1e-6, geometry.resonance_y_hz,
                                     geometry.damping_y)
                    : galvo_response(command, line_s, geometry.delay_x_us * 1e-6, geometry.resonance_x_hz,
                                     geometry.damping_x);
    };
    const std::vector<double> real_along = respond(along, is_along_y_), real_across = respond(across, !is_along_y_);
    const std::int64_t lines = scan.lines_per_b_scan();
    std::vector<double> a_at;
    for (std::int64_t i = 0; i < lines; ++i)
        a_at.push_back(along[index(i)] / da_ + static_cast<double>(a_scans_ - 1) / 2);
    const std::vector<LinesOfScan> of_positions = lines_of_positions(scan, a_at);
    lag_b_.assign(index(a_scans_), 0);
    for (const std::int64_t parity : {0, 1}) {
        // The last B-scan of each direction, which has settled.
        const std::int64_t b = scan.b_scans - 1 - (scan.b_scans - 1 - parity) % 2;
        const std::int64_t frame = b * scan.b_repeats;
        const std::int64_t start = frame * pattern.lines_per_frame();
        const bool backwards = scan.bidirectional && frame % 2 == 1;
        for (std::int64_t a = 0; a < a_scans_; ++a) {
            const LinesOfScan& at = of_positions[index(a)];
            lag_a_[index(parity)].push_back(value_of(real_along, start, at, backwards, lines) / da_ +
                                            static_cast<double>(a_scans_ - 1) / 2 - static_cast<double>(a));
            lag_b_[index(a)] += (value_of(real_across, start, at, backwards, lines) / db_ +
                                 static_cast<double>(scan.b_scans - 1) / 2 - static_cast<double>(b)) /
                                2;
        }
    }
}

// Fills at_ on the longest stretch along which the beam moves forwards.
void ScanLineMap::invert_lags() {
    constexpr double min_step = 0.05;  // A-scans; slower parts are returns that have not ended
    for (const std::size_t parity : {0U, 1U}) {
        const std::vector<double>& lag = lag_a_[parity];
        const auto place = [&](std::int64_t a) { return static_cast<double>(a) + lag[index(a)]; };
        std::int64_t first = 0, last = 0;
        for (std::int64_t begin = 0, a = 1; a <= a_scans_; ++a) {
            if (a < a_scans_ && place(a) - place(a - 1) >= min_step) continue;
            if (a - 1 - begin > last - first) first = begin, last = a - 1;
            begin = a;
        }
        std::vector<double>& at = at_[parity];
        std::int64_t a = first;
        for (std::int64_t quarter = 0; quarter <= 4 * (a_scans_ - 1); ++quarter) {
            const double wanted = static_cast<double>(quarter) / 4;
            while (a + 1 < last && place(a + 1) < wanted) ++a;
            // Just beyond the ends the slope continues, so that the table is known up to the first and last A-scan.
            const double found = static_cast<double>(a) + (wanted - place(a)) / (place(a + 1) - place(a));
            const bool is_passed = found >= static_cast<double>(first) - 1 && found <= static_cast<double>(last) + 1;
            at.push_back(is_passed ? found : nan);
        }
    }
}

bool ScanLineMap::is_odd(double b_scan) const {
    return std::llround(b_scan) % 2 != 0;
}

namespace {

// Between the values of a table; constant beyond its ends.
double between(const std::vector<double>& table, double at) {
    const double inside = std::clamp(at, 0.0, static_cast<double>(table.size() - 1));
    const std::size_t below = std::min(static_cast<std::size_t>(inside), table.size() - 2);
    const double part = inside - static_cast<double>(below);
    return part == 0 ? table[below] : table[below] + part * (table[below + 1] - table[below]);
}

}  // namespace

FieldPoint ScanLineMap::round_scan(double a_scan, double b_scan) const {
    if (pattern_ == LinePattern::radial) {
        const double angle = pi * b_scan / static_cast<double>(b_scans_);
        const double along = (a_scan - static_cast<double>(a_scans_ - 1) / 2) * da_;
        return {along * std::cos(angle), along * std::sin(angle)};
    }
    const double turn = a_scan / static_cast<double>(a_scans_);
    const double radius = db_ * (b_scan + (pattern_ == LinePattern::spiral ? turn : 0.5));
    return {radius * std::cos(2 * pi * turn), radius * std::sin(2 * pi * turn)};
}

void ScanLineMap::round_lines(const FieldPoint& scan, BeamSample& sample) const {
    const double radius = std::hypot(scan.x_um, scan.y_um);
    double turn = std::atan2(scan.y_um, scan.x_um) / (2 * pi);
    turn -= std::floor(turn);
    double a = turn * static_cast<double>(a_scans_);
    if (pattern_ == LinePattern::radial) {
        const bool is_far_side = turn >= 0.5;
        a = (is_far_side ? -radius : radius) / da_ + static_cast<double>(a_scans_ - 1) / 2;
        sample.b_scan = 2 * (is_far_side ? turn - 0.5 : turn) * static_cast<double>(b_scans_);
    } else {
        sample.b_scan = radius / db_ - (pattern_ == LinePattern::spiral ? turn : 0.5);
    }
    sample.a_scan = {a, a};
}

FieldPoint ScanLineMap::scan(double a_scan, double b_scan) const {
    if (!is_raster()) return round_scan(a_scan, b_scan);
    double a = a_scan, b = b_scan - static_cast<double>(first_b_);
    if (has_galvo()) {
        b += between(lag_b_, a_scan);
        a += between(lag_a_[is_odd(b_scan) ? 1 : 0], a_scan);
    }
    const double along = (a - static_cast<double>(a_scans_ - 1) / 2) * da_;
    const double across = (b - static_cast<double>(b_scans_ - 1) / 2) * db_;
    return is_along_y_ ? FieldPoint{across, along} : FieldPoint{along, across};
}

void ScanLineMap::lines(const FieldPoint& scan, BeamSample& sample) const {
    if (!is_raster()) return round_lines(scan, sample);
    const double along = is_along_y_ ? scan.y_um : scan.x_um, across = is_along_y_ ? scan.x_um : scan.y_um;
    const double a = along / da_ + static_cast<double>(a_scans_ - 1) / 2;
    double b = across / db_ + static_cast<double>(b_scans_ - 1) / 2 + static_cast<double>(first_b_);
    sample.a_scan = {a, a};
    if (has_galvo()) {
        const bool is_inside = a >= 0 && a <= static_cast<double>(a_scans_ - 1);
        for (const std::size_t parity : {0U, 1U}) {
            sample.a_scan[parity] = is_inside ? between(at_[parity], 4 * a) : nan;
        }
        if (is_inside) b -= between(lag_b_, (sample.a_scan[0] + sample.a_scan[1]) / 2);
    }
    sample.b_scan = b;
}

// ---- All steps

namespace {

// Spacing along A-scans and B-scans in mm; a single line has no spacing.
std::array<double, 2> spacing_mm(const ScanGeometry& scan, const VolumeGrid& grid, bool has_angles) {
    const auto spacing = [&](double of_grid, double of_scan, std::int64_t count, const char* key) {
        if (of_grid > 0) return of_grid / 1000;
        if (of_scan > 0) return of_scan / 1000;
        if (count == 1 || has_angles) return 1.0;
        throw Error(ErrorCode::bad_setting, "is unknown, so positions in mm are unknown", key,
                    "set it, in the scan file or of the volume");
    };
    return {spacing(grid.spacing_um[1], scan.spacing_a_um, grid.a_scans, "scan.spacing_a_um"),
            spacing(grid.spacing_um[2], scan.spacing_b_um, grid.b_scans, "scan.spacing_b_um")};
}

// The scan with the lines of the grid. Scans without a number of lines are not described.
ScanGeometry with_lines(ScanGeometry scan, const VolumeGrid& grid) {
    if (scan.a_scans == 0) scan.a_scans = grid.a_scans;
    if (scan.b_scans == 0) scan.b_scans = grid.b_scans;
    if (scan.a_scans != grid.a_scans || scan.b_scans != grid.b_scans) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("the volume has {} x {} A-scans, the scan {} x {}", grid.b_scans, grid.a_scans,
                                scan.b_scans, scan.a_scans),
                    "volume", "use the whole volume of this scan, with its repeats averaged");
    }
    if (!has_raster(scan)) {
        throw Error(ErrorCode::bad_setting, "single B-scans make no volume", "scan.protocol",
                    "choose a raster, or look at the B-scans one by one");
    }
    return scan;
}

BeamGeometry checked(const BeamGeometry& geometry, const VolumeGrid& grid) {
    check(geometry, "geometry");
    if (geometry.path_um.size() > Polynomial2::terms(Polynomial2::max_order)) {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("has {} coefficients, at most 15 are used", geometry.path_um.size()),
                    "geometry.path_um", "give those of 1, x, y, x^2, xy, y^2, x^3 ... y^4");
    }
    if (grid.spacing_um[0] <= 0) {
        throw Error(ErrorCode::bad_setting, "positions in mm need the depth pitch, which is unknown", "volume",
                    "set calibration.wavelengths or depth_pitch_um");
    }
    return geometry;
}

double known_index(const BeamGeometry& geometry, const ScanGeometry& scan) {
    return geometry.refractive_index > 0 ? geometry.refractive_index : scan.refractive_index;
}

}  // namespace

BeamMap::BeamMap(const BeamGeometry& geometry, const ScanGeometry& scan, const VolumeGrid& grid,
                 std::span<const double> fast_axis)
    : geometry_(checked(geometry, grid)), grid_(grid), index_(known_index(geometry, scan)),
      lines_(geometry.polar ? BeamGeometry() : geometry, with_lines(scan, grid), spacing_mm(scan, grid, geometry.polar),
             fast_axis),
      lens_(geometry), fan_(geometry.pivot_x_mm, geometry.pivot_y_mm), path_(geometry.path_um) {
    if (!geometry.polar) return;
    pullback_mm_ = (geometry.pullback_um > 0 ? geometry.pullback_um : grid.spacing_um[2]) / 1000;
    if (pullback_mm_ == 0 && grid.b_scans > 1) {
        throw Error(ErrorCode::bad_setting, "is unknown, so positions along the catheter are unknown",
                    "geometry.pullback_um", "set the pullback per turn");
    }
}

double BeamMap::distance_mm(double row, const FieldPoint& scan) const {
    return (grid_.first_depth_um + row * grid_.spacing_um[0] - path_(scan.x_um, scan.y_um) / index_) / 1000;
}

Position BeamMap::position(double row, double a_scan, double b_scan) const {
    if (geometry_.polar) return polar_position(row, a_scan, b_scan);
    const FieldPoint scan = lines_.scan(a_scan, b_scan);
    return fan_.position(lens_.field(scan), distance_mm(row, scan));
}

BeamSample BeamMap::sample(const Position& position) const {
    if (geometry_.polar) return polar_sample(position);
    BeamSample sample{nan, {nan, nan}, nan};
    double s = 0;
    const std::optional<FieldPoint> scan = lens_.scan(fan_.field(position, s));
    if (!scan) return sample;
    lines_.lines(*scan, sample);
    sample.row = (1000 * s + path_(scan->x_um, scan->y_um) / index_ - grid_.first_depth_um) / grid_.spacing_um[0];
    return sample;
}

LineOrder BeamMap::order() const {
    if (geometry_.polar) return grid_.b_scans > 1 ? LineOrder::helix : LineOrder::circle;
    switch (geometry_.pattern) {
        case LinePattern::radial: return LineOrder::radial;
        case LinePattern::circle: return LineOrder::circle;
        case LinePattern::spiral: return LineOrder::helix;
        case LinePattern::raster: break;
    }
    return LineOrder::separate;
}

Position BeamMap::polar_position(double row, double a_scan, double b_scan) const {
    const double turn = a_scan / static_cast<double>(grid_.a_scans);
    const double angle = geometry_.rotation_deg * pi / 180 + (geometry_.turns_backwards ? -2 : 2) * pi * turn;
    const double radius = (geometry_.zero_radius_um + grid_.first_depth_um + row * grid_.spacing_um[0]) / 1000;
    return {radius * std::cos(angle), radius * std::sin(angle), pullback_mm_ * (b_scan + turn)};
}

BeamSample BeamMap::polar_sample(const Position& position) const {
    const double radius = std::hypot(position.x_mm, position.y_mm);
    const double angle = std::atan2(position.y_mm, position.x_mm) - geometry_.rotation_deg * pi / 180;
    double turn = (geometry_.turns_backwards ? -angle : angle) / (2 * pi);
    turn -= std::floor(turn);
    const double a = turn * static_cast<double>(grid_.a_scans);
    const double row = (1000 * radius - geometry_.zero_radius_um - grid_.first_depth_um) / grid_.spacing_um[0];
    return {row, {a, a}, pullback_mm_ > 0 ? position.z_mm / pullback_mm_ - turn : 0};
}

BeamMap::Box BeamMap::box() const {
    if (geometry_.polar) {
        const double deepest_um = grid_.first_depth_um + static_cast<double>(grid_.depth - 1) * grid_.spacing_um[0];
        const double radius = (geometry_.zero_radius_um + deepest_um) / 1000;
        return {{-radius, -radius, 0}, {radius, radius, pullback_mm_ * static_cast<double>(grid_.b_scans - 1)}};
    }
    constexpr int parts = 64;
    constexpr double infinite = std::numeric_limits<double>::infinity();
    Box box{{infinite, infinite, infinite}, {-infinite, -infinite, -infinite}};
    const auto share = [](int i, std::int64_t first, std::int64_t count) {
        return static_cast<double>(first) + static_cast<double>(count - 1 - first) * i / parts;
    };
    for (int b = 0; b <= parts; ++b) {
        for (int a = 0; a <= parts; ++a) {
            for (const std::int64_t row : {std::int64_t{0}, grid_.depth - 1}) {
                const Position at = position(static_cast<double>(row), share(a, 0, grid_.a_scans),
                                             share(b, first_b_scan(), grid_.b_scans));
                box.low = {std::min(box.low.x_mm, at.x_mm), std::min(box.low.y_mm, at.y_mm),
                           std::min(box.low.z_mm, at.z_mm)};
                box.high = {std::max(box.high.x_mm, at.x_mm), std::max(box.high.y_mm, at.y_mm),
                            std::max(box.high.z_mm, at.z_mm)};
            }
        }
    }
    return box;
}

void take_stored_geometry(const std::map<std::string, std::string>& provenance, const std::string& where,
                          ScanGeometry& scan, BeamGeometry& geometry) {
    Settings settings;
    settings.bind("scan", scan);
    settings.bind("geometry", geometry);
    for (const auto& [key, text] : provenance) {
        const BoundField* field = settings.field(key);
        if (field == nullptr) continue;
        const std::size_t dot = key.find('.');
        settings.take(
            toml_entries("[" + key.substr(0, dot) + "]\n" + key.substr(dot + 1) + " = " + text + "\n", where));
    }
}

}  // namespace echolux
