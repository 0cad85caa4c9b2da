#include "engine/angiography/foveal_zone.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "compute/indexing.h"
#include "engine/analysis/intensity.h"

namespace echolux {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

// ---- Vessels

double otsu_threshold(const std::vector<float>& values) {
    constexpr std::int64_t bins = 256;
    double low = infinity, high = -infinity;
    for (const float value : values) {
        if (!std::isfinite(value)) continue;
        low = std::min(low, static_cast<double>(value));
        high = std::max(high, static_cast<double>(value));
    }
    if (!(low < high)) return unknown;
    std::array<double, bins> counts{};
    for (const float value : values) {
        if (!std::isfinite(value)) continue;
        const auto bin = static_cast<std::int64_t>((static_cast<double>(value) - low) / (high - low) * bins);
        ++counts.at(index(std::min(bin, bins - 1)));
    }
    double all = 0, moment = 0;
    for (std::int64_t i = 0; i < bins; ++i) {
        all += counts.at(index(i));
        moment += static_cast<double>(i) * counts.at(index(i));
    }
    double below = 0, moment_below = 0, best = -1;
    std::int64_t found = 0;
    for (std::int64_t i = 0; i + 1 < bins; ++i) {
        below += counts.at(index(i));
        moment_below += static_cast<double>(i) * counts.at(index(i));
        if (below == 0 || below == all) continue;
        const double apart = moment_below / below - (moment - moment_below) / (all - below);
        const double variance = below * (all - below) * apart * apart;
        if (variance > best) {
            best = variance;
            found = i;
        }
    }
    return low + (static_cast<double>(found) + 0.5) * (high - low) / bins;
}

std::vector<std::uint8_t> vessels_above(const EnFaceImage& image, double threshold) {
    std::vector<std::uint8_t> vessels(image.values.size());
    for (std::size_t i = 0; i < vessels.size(); ++i)
        vessels[i] = static_cast<double>(image.values[i]) > threshold ? 1 : 0;  // NaN: 0
    return vessels;
}

// Sums over rectangles from a table of sums, without unknown values.
std::vector<std::uint8_t> vessels_above_mean(const EnFaceImage& image, double window_mm) {
    const std::int64_t width = image.columns + 1;
    std::vector<double> sums(index(width * (image.rows + 1))), known = sums;
    for (std::int64_t y = 0; y < image.rows; ++y) {
        double sum = 0, count = 0;
        for (std::int64_t x = 0; x < image.columns; ++x) {
            const float value = image.values[index(y * image.columns + x)];
            if (std::isfinite(value)) {
                sum += static_cast<double>(value);
                ++count;
            }
            sums[index((y + 1) * width + x + 1)] = sums[index(y * width + x + 1)] + sum;
            known[index((y + 1) * width + x + 1)] = known[index(y * width + x + 1)] + count;
        }
    }
    const auto reach = [&](std::size_t axis, std::int64_t side) {
        const double pixels = window_mm / image.pixel_mm.at(axis) / 2;
        return static_cast<std::int64_t>(std::lround(std::min(pixels, static_cast<double>(side))));
    };
    const std::int64_t reach_x = reach(0, image.columns), reach_y = reach(1, image.rows);
    std::vector<std::uint8_t> vessels(image.values.size());
    for (std::int64_t y = 0; y < image.rows; ++y) {
        const std::int64_t top = std::max<std::int64_t>(0, y - reach_y), end = std::min(image.rows, y + reach_y + 1);
        for (std::int64_t x = 0; x < image.columns; ++x) {
            const std::int64_t left = std::max<std::int64_t>(0, x - reach_x);
            const std::int64_t right = std::min(image.columns, x + reach_x + 1);
            const auto within = [&](const std::vector<double>& table) {
                return table[index(end * width + right)] - table[index(top * width + right)] -
                       table[index(end * width + left)] + table[index(top * width + left)];
            };
            const auto at = index(y * image.columns + x);
            vessels[at] = static_cast<double>(image.values[at]) > within(sums) / within(known) ? 1 : 0;
        }
    }
    return vessels;
}

// ---- Distances

namespace {

// Lower envelope of parabolas: replaces f by the minimum over q of f(q) + (step (p - q))^2.
void transform_line(std::vector<double>& f, double step, std::vector<std::int64_t>& where, std::vector<double>& from) {
    const std::int64_t count = std::ssize(f);
    where.assign(f.size(), 0);
    from.assign(f.size() + 1, infinity);
    std::int64_t last = -1;
    for (std::int64_t q = 0; q < count; ++q) {
        if (!std::isfinite(f[index(q)])) continue;
        const double at = static_cast<double>(q) * step;
        double meet = -infinity;
        while (last >= 0) {
            const std::int64_t p = where[index(last)];
            const double other = static_cast<double>(p) * step;
            meet = (f[index(q)] + at * at - f[index(p)] - other * other) / (2 * (at - other));
            if (meet > from[index(last)]) break;
            meet = -infinity;
            --last;
        }
        ++last;
        where[index(last)] = q;
        from[index(last)] = meet;
        from[index(last + 1)] = infinity;
    }
    if (last < 0) return;
    const std::vector<double> before = f;
    std::int64_t k = 0;
    for (std::int64_t p = 0; p < count; ++p) {
        const double at = static_cast<double>(p) * step;
        while (from[index(k + 1)] < at) ++k;
        const double apart = at - static_cast<double>(where[index(k)]) * step;
        f[index(p)] = apart * apart + before[index(where[index(k)])];
    }
}

}  // namespace

std::vector<double> distance_to(const std::vector<std::uint8_t>& mask, const EnFaceImage& image) {
    std::vector<double> squares(mask.size());
    for (std::size_t i = 0; i < mask.size(); ++i) squares[i] = mask[i] != 0 ? 0 : infinity;
    std::vector<std::int64_t> where;
    std::vector<double> from, line;
    const auto along = [&](std::int64_t lines, std::int64_t count, std::int64_t line_step, std::int64_t step,
                           double mm) {
        for (std::int64_t i = 0; i < lines; ++i) {
            line.resize(index(count));
            for (std::int64_t k = 0; k < count; ++k) line[index(k)] = squares[index(i * line_step + k * step)];
            transform_line(line, mm, where, from);
            for (std::int64_t k = 0; k < count; ++k) squares[index(i * line_step + k * step)] = line[index(k)];
        }
    };
    along(image.rows, image.columns, image.columns, 1, image.pixel_mm[0]);
    along(image.columns, image.rows, 1, image.columns, image.pixel_mm[1]);
    for (double& square : squares) square = std::sqrt(square);
    return squares;
}

// ---- Zone

namespace {

// Marks the pixels of `free` that are connected with `seed` over their sides.
std::vector<std::uint8_t> connected(const std::vector<std::uint8_t>& free, const EnFaceImage& image,
                                    std::int64_t seed) {
    std::vector<std::uint8_t> found(free.size());
    std::vector<std::int64_t> open{seed};
    found[index(seed)] = 1;
    while (!open.empty()) {
        const std::int64_t at = open.back(), x = at % image.columns, y = at / image.columns;
        open.pop_back();
        const auto visit = [&](std::int64_t nx, std::int64_t ny) {
            if (nx < 0 || ny < 0 || nx >= image.columns || ny >= image.rows) return;
            const auto next = index(ny * image.columns + nx);
            if (free[next] == 0 || found[next] != 0) return;
            found[next] = 1;
            open.push_back(static_cast<std::int64_t>(next));
        };
        visit(x - 1, y);
        visit(x + 1, y);
        visit(x, y - 1);
        visit(x, y + 1);
    }
    return found;
}

bool is_at_edge(std::int64_t at, const EnFaceImage& image) {
    const std::int64_t x = at % image.columns, y = at / image.columns;
    return x == 0 || y == 0 || x == image.columns - 1 || y == image.rows - 1;
}

// Adds what no path connects with the edge of the image.
void fill_enclosed(std::vector<std::uint8_t>& mask, const EnFaceImage& image) {
    std::vector<std::uint8_t> outside(mask.size()), reached(mask.size());
    for (std::size_t i = 0; i < mask.size(); ++i) outside[i] = mask[i] == 0 ? 1 : 0;
    for (std::int64_t i = 0; i < std::ssize(mask); ++i) {
        if (outside[index(i)] == 0 || reached[index(i)] != 0 || !is_at_edge(i, image)) continue;
        const std::vector<std::uint8_t> part = connected(outside, image, i);
        for (std::size_t k = 0; k < part.size(); ++k) reached[k] |= part[k];
    }
    for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = reached[i] == 0 ? 1 : 0;
}

// Segments of the contour at half height of the mask, smoothed by one pixel so that its length does not follow the
// corners of pixels: in each square of four neighbours, the line between the crossed sides.
void add_outline(FovealZone& zone, const EnFaceImage& image) {
    std::vector<float> height(zone.mask.begin(), zone.mask.end());
    smooth(height, {image.columns, image.rows, 1}, {1, 1, 0});
    for (std::int64_t y = 0; y + 1 < image.rows; ++y) {
        for (std::int64_t x = 0; x + 1 < image.columns; ++x) {
            constexpr std::array<std::array<std::int64_t, 2>, 5> corners{{{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}}};
            std::vector<std::array<double, 2>> crossed;
            for (std::size_t k = 0; k < 4; ++k) {
                const auto [ax, ay] = corners.at(k);
                const auto [bx, by] = corners.at(k + 1);
                const auto a = static_cast<double>(height[index((y + ay) * image.columns + x + ax)]) - 0.5;
                const auto b = static_cast<double>(height[index((y + by) * image.columns + x + bx)]) - 0.5;
                if ((a > 0) == (b > 0)) continue;
                const double share = a / (a - b);
                crossed.push_back(
                    {static_cast<double>(x) + std::lerp(static_cast<double>(ax), static_cast<double>(bx), share),
                     static_cast<double>(y) + std::lerp(static_cast<double>(ay), static_cast<double>(by), share)});
            }
            for (std::size_t k = 0; k + 1 < crossed.size(); k += 2)
                zone.outline.emplace_back(crossed[k], crossed[k + 1]);
        }
    }
    for (const auto& [a, b] : zone.outline)
        zone.perimeter_mm += std::hypot((b[0] - a[0]) * image.pixel_mm[0], (b[1] - a[1]) * image.pixel_mm[1]);
}

}  // namespace

std::optional<FovealZone> foveal_zone(const std::vector<std::uint8_t>& vessels, const EnFaceImage& image, double gap_mm,
                                      const std::array<double, 2>& around, double reach_mm) {
    const std::vector<double> free = distance_to(vessels, image);
    constexpr double rounding = 1e-9;  // of distances that are exactly the radius
    const double radius = gap_mm / 2 + rounding;
    std::int64_t seed = -1;
    double largest = radius;
    for (std::int64_t i = 0; i < std::ssize(free); ++i) {
        const double x = static_cast<double>(i % image.columns), y = static_cast<double>(i / image.columns);
        const double apart = std::hypot((x - around[0]) * image.pixel_mm[0], (y - around[1]) * image.pixel_mm[1]);
        if (apart > reach_mm || free[index(i)] <= largest || !std::isfinite(free[index(i)])) continue;
        largest = free[index(i)];
        seed = i;
    }
    if (seed < 0) return std::nullopt;
    std::vector<std::uint8_t> wide(free.size());
    for (std::size_t i = 0; i < free.size(); ++i) wide[i] = free[i] > radius ? 1 : 0;
    const std::vector<double> away = distance_to(connected(wide, image, seed), image);
    FovealZone zone;
    zone.mask.resize(free.size());
    // The disc reaches to the rim of the vessel's pixels, half a pixel before their centres.
    const double rim = radius + std::max(image.pixel_mm[0], image.pixel_mm[1]) / 2;
    for (std::size_t i = 0; i < zone.mask.size(); ++i) zone.mask[i] = vessels[i] == 0 && away[i] <= rim ? 1 : 0;
    for (std::int64_t i = 0; i < std::ssize(zone.mask); ++i)
        zone.touches_edge = zone.touches_edge || (zone.mask[index(i)] != 0 && is_at_edge(i, image));
    fill_enclosed(zone.mask, image);
    double count = 0;
    for (std::int64_t i = 0; i < std::ssize(zone.mask); ++i) {
        if (zone.mask[index(i)] == 0) continue;
        ++count;
        zone.centre[0] += static_cast<double>(i % image.columns);
        zone.centre[1] += static_cast<double>(i / image.columns);
    }
    for (double& coordinate : zone.centre) coordinate /= count;
    zone.area_mm2 = count * image.pixel_mm[0] * image.pixel_mm[1];
    add_outline(zone, image);
    zone.circularity = 4 * std::numbers::pi * zone.area_mm2 / (zone.perimeter_mm * zone.perimeter_mm);
    return zone;
}

// ---- Fractal dimension

BoxCounts box_counts(const std::vector<std::uint8_t>& vessels, std::int64_t columns, std::int64_t rows,
                     std::int64_t factor) {
    BoxCounts found;
    for (std::int64_t side = 1; side <= std::min(columns, rows) / 4; side *= factor) {
        const std::int64_t across = (columns + side - 1) / side, down = (rows + side - 1) / side;
        std::vector<std::uint8_t> boxes(index(across * down));
        for (std::int64_t y = 0; y < rows; ++y) {
            for (std::int64_t x = 0; x < columns; ++x)
                boxes[index(y / side * across + x / side)] |= vessels[index(y * columns + x)];
        }
        found.pixels.push_back(side);
        found.boxes.push_back(std::ranges::count_if(boxes, [](std::uint8_t box) { return box != 0; }));
    }
    const auto count = static_cast<double>(found.pixels.size());
    found.dimension = found.r_squared = unknown;
    if (count < 3 || found.boxes.front() == 0) return found;
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    for (std::size_t i = 0; i < found.pixels.size(); ++i) {
        const double u = -std::log(static_cast<double>(found.pixels[i])),
                     v = std::log(static_cast<double>(found.boxes[i]));
        x += u;
        y += v;
        xx += u * u;
        xy += u * v;
        yy += v * v;
    }
    const double sxy = xy - x * y / count, sxx = xx - x * x / count, syy = yy - y * y / count;
    found.dimension = sxy / sxx;
    found.r_squared = syy > 0 ? sxy * sxy / (sxx * syy) : 1;
    return found;
}

}  // namespace echolux
