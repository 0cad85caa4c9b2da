#include "engine/retina/thickness_sectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>
#include <utility>

#include "compute/indexing.h"

namespace echolux {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double min_known = 0.5;  // share of a sector
constexpr double rad_per_deg = std::numbers::pi / 180;

}  // namespace

// ---- Map

FundusMap::FundusMap(std::vector<float> um, std::int64_t a_scans, std::int64_t b_scans,
                     std::array<double, 2> spacing_mm, bool is_mirrored, bool first_on_top)
    : um_(std::move(um)), a_scans_(a_scans), b_scans_(b_scans),
      spacing_mm_(spacing_mm), half_{static_cast<double>(a_scans - 1) / 2 * spacing_mm[0],
                                     static_cast<double>(b_scans - 1) / 2 * spacing_mm[1]},
      is_mirrored_(is_mirrored), first_on_top_(first_on_top) {}

float FundusMap::value(std::int64_t a, std::int64_t b) const {
    return um_[index(b * a_scans_ + a)];
}

double FundusMap::at(double x_mm, double y_mm) const {
    const double a = (half_[0] + (is_mirrored_ ? -x_mm : x_mm)) / spacing_mm_[0];
    const double b = (half_[1] + (first_on_top_ ? -y_mm : y_mm)) / spacing_mm_[1];
    const auto last_a = static_cast<double>(a_scans_ - 1), last_b = static_cast<double>(b_scans_ - 1);
    if (!(a >= -0.5 && a <= last_a + 0.5 && b >= -0.5 && b <= last_b + 0.5)) return unknown;
    const double inner_a = std::clamp(a, 0.0, last_a), inner_b = std::clamp(b, 0.0, last_b);
    const auto a0 = static_cast<std::int64_t>(inner_a), b0 = static_cast<std::int64_t>(inner_b);
    const std::int64_t a1 = std::min(a0 + 1, a_scans_ - 1), b1 = std::min(b0 + 1, b_scans_ - 1);
    const double s = inner_a - static_cast<double>(a0), t = inner_b - static_cast<double>(b0);
    const auto of = [this](std::int64_t i, std::int64_t j) { return static_cast<double>(value(i, j)); };
    const double mixed = std::lerp(std::lerp(of(a0, b0), of(a1, b0), s), std::lerp(of(a0, b1), of(a1, b1), s), t);
    if (!std::isnan(mixed)) return mixed;
    return of(s < 0.5 ? a0 : a1, t < 0.5 ? b0 : b1);
}

// ---- Fovea

namespace {

// Mean over a disc of 0.2 mm; NaN if a point of it is unknown.
double disc_mean(const FundusMap& map, double x, double y) {
    constexpr int rings = 4, spokes = 12;
    constexpr double radius_mm = 0.1;
    double sum = 0, weights = 0;
    for (int ring = 0; ring < rings; ++ring) {
        const double r = (ring + 0.5) * radius_mm / rings;
        for (int spoke = 0; spoke < spokes; ++spoke) {
            const double angle = 2 * std::numbers::pi * spoke / spokes;
            sum += r * map.at(x + r * std::cos(angle), y + r * std::sin(angle));
            weights += r;
        }
    }
    return sum / weights;
}

struct Minimum {
    double x = 0, y = 0, um = std::numeric_limits<double>::infinity();
};

Minimum minimum_around(const FundusMap& map, double x0, double y0, double reach_mm, double step_mm) {
    Minimum found;
    const auto steps = static_cast<int>(std::lround(reach_mm / step_mm));
    for (int j = -steps; j <= steps; ++j) {
        for (int i = -steps; i <= steps; ++i) {
            const double dx = i * step_mm, dy = j * step_mm;
            if (std::hypot(dx, dy) > reach_mm + 1e-9) continue;
            const double um = disc_mean(map, x0 + dx, y0 + dy);
            if (um < found.um) found = {x0 + dx, y0 + dy, um};
        }
    }
    return found;
}

}  // namespace

std::optional<std::array<double, 2>> foveal_minimum(const FundusMap& map) {
    constexpr double reach_mm = 1.5, coarse_mm = 0.05, fine_mm = 0.01;
    const Minimum coarse = minimum_around(map, 0, 0, reach_mm, coarse_mm);
    const bool is_at_edge = std::hypot(coarse.x, coarse.y) > reach_mm - 1.5 * coarse_mm ||
                            std::abs(coarse.x) > map.half_width_mm() - 0.2 ||
                            std::abs(coarse.y) > map.half_height_mm() - 0.2;
    if (!std::isfinite(coarse.um) || is_at_edge) return std::nullopt;
    const Minimum fine = minimum_around(map, coarse.x, coarse.y, coarse_mm, fine_mm);
    return std::array{fine.x, fine.y};
}

// ---- Grid

namespace {

void integrate(ThicknessSector& sector, const FundusMap& map, const std::array<double, 2>& centre_mm) {
    constexpr double step_mm = 0.01;
    const double turn = (sector.to_deg - sector.from_deg) * rad_per_deg;
    const auto rings = static_cast<int>(std::ceil((sector.to_mm - sector.from_mm) / step_mm));
    const auto spokes = static_cast<int>(std::ceil(sector.to_mm * turn / step_mm));
    const double dr = (sector.to_mm - sector.from_mm) / rings, dphi = turn / spokes;
    double sum = 0, area = 0;
    sector.min_um = std::numeric_limits<double>::infinity();
    sector.max_um = -sector.min_um;
    for (int ring = 0; ring < rings; ++ring) {
        const double r = sector.from_mm + (ring + 0.5) * dr;
        for (int spoke = 0; spoke < spokes; ++spoke) {
            const double phi = sector.from_deg * rad_per_deg + (spoke + 0.5) * dphi;
            const double um = map.at(centre_mm[0] + r * std::cos(phi), centre_mm[1] + r * std::sin(phi));
            if (std::isnan(um)) continue;
            sum += r * um;
            area += r;
            sector.min_um = std::min(sector.min_um, um);
            sector.max_um = std::max(sector.max_um, um);
        }
    }
    sector.area_mm2 = turn / 2 * (sector.to_mm * sector.to_mm - sector.from_mm * sector.from_mm);
    sector.known = std::min(1.0, area * dr * dphi / sector.area_mm2);
    sector.mean_um = sum / area;
    if (sector.known < min_known) sector.mean_um = sector.min_um = sector.max_um = unknown;
    sector.volume_mm3 = sector.mean_um / 1000 * sector.area_mm2;
}

}  // namespace

std::vector<ThicknessSector> etdrs_sectors(const FundusMap& map, const std::array<double, 2>& centre_mm, Eye eye) {
    const std::string at_right = eye == Eye::right ? "nasal" : "temporal";
    const std::string at_left = eye == Eye::right ? "temporal" : "nasal";
    std::vector<ThicknessSector> sectors{{"centre", 0, 0.5, 0, 360}};
    for (const auto& [ring, from_mm, to_mm] : {std::tuple{"inner ", 0.5, 1.5}, std::tuple{"outer ", 1.5, 3.0}}) {
        double middle = 0;
        for (const std::string& side : {at_right, std::string("superior"), at_left, std::string("inferior")}) {
            sectors.push_back({ring + side, from_mm, to_mm, middle - 45, middle + 45});
            middle += 90;
        }
    }
    for (ThicknessSector& sector : sectors) integrate(sector, map, centre_mm);
    return sectors;
}

// ---- Circles

std::vector<double> circle_angles(std::int64_t count, double start_deg, bool is_reversed) {
    std::vector<double> angles;
    for (std::int64_t i = 0; i < count; ++i) {
        const double turn = 360.0 * static_cast<double>(i) / static_cast<double>(count);
        const double angle = std::fmod(start_deg + (is_reversed ? -turn : turn), 360.0);
        angles.push_back(angle < 0 ? angle + 360 : angle);
    }
    return angles;
}

static CircleSector circle_mean(const char* kind, const std::string& name, double from_deg, double to_deg,
                                const std::vector<float>& um, const std::vector<double>& angles_deg) {
    CircleSector sector{kind, name, from_deg, to_deg};
    double sum = 0, known = 0, all = 0;
    for (std::size_t i = 0; i < um.size(); ++i) {
        constexpr double rounding = 1e-9;
        double turned = angles_deg[i] - from_deg + rounding;
        turned -= 360 * std::floor(turned / 360);
        if (turned >= to_deg - from_deg) continue;
        ++all;
        if (std::isnan(um[i])) continue;
        ++known;
        sum += static_cast<double>(um[i]);
    }
    sector.known = all > 0 ? known / all : 0;
    sector.mean_um = sector.known < min_known ? unknown : sum / known;
    return sector;
}

std::vector<CircleSector> circle_sectors(const std::vector<float>& um, const std::vector<double>& angles_deg, Eye eye) {
    std::vector<CircleSector> sectors;
    const auto add = [&](const char* kind, const std::string& name, double from_deg, double to_deg) {
        sectors.push_back(circle_mean(kind, name, from_deg, to_deg, um, angles_deg));
    };
    add("global", "G", 0, 360);
    add("quadrant", "temporal", -45, 45);
    add("quadrant", "superior", 45, 135);
    add("quadrant", "nasal", 135, 225);
    add("quadrant", "inferior", 225, 315);
    add("sector", "T", -45, 45);
    add("sector", "TS", 45, 90);
    add("sector", "NS", 90, 135);
    add("sector", "N", 135, 225);
    add("sector", "NI", 225, 270);
    add("sector", "TI", 270, 315);
    for (int hour = 1; hour <= 12; ++hour) {
        const double middle = eye == Eye::right ? 30.0 * (hour - 9) : 30.0 * (3 - hour);
        add("clock hour", std::to_string(hour), middle - 15, middle + 15);
    }
    return sectors;
}

}  // namespace echolux
