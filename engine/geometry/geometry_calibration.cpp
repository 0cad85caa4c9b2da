#include "engine/geometry/geometry_calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <numbers>
#include <span>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "engine/analysis/intensity.h"
#include "engine/flow/time_series.h"
#include "engine/geometry/beam_map.h"
#include "engine/scan/scan_pattern.h"

namespace echolux {
namespace {

using std::numbers::pi;
constexpr float missing = std::numeric_limits<float>::quiet_NaN();

[[noreturn]] void refuse(std::string problem, std::string remedy) {
    throw Error(ErrorCode::bad_setting, std::move(problem), "volume", std::move(remedy));
}

double median_of(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

double rms_of(std::span<const double> values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

// ---- Optical path

struct MirrorRow {
    double row = 0, snr_db = 0;
    bool is_single = false;
};

// Finds the brightest row of an A-scan of intensities. None counts in A-scans with missing voxels.
MirrorRow mirror_row(std::span<const float> a_scan) {
    constexpr std::int64_t near = 8;  // rows on either side that belong to the peak
    constexpr float min_ratio = 4;    // to the next peak: 6 dB
    const std::int64_t depth = std::ssize(a_scan);
    if (!std::ranges::all_of(a_scan, [](float value) { return std::isfinite(value); })) return {};
    const std::int64_t top = std::ranges::max_element(a_scan.begin() + 1, a_scan.end() - 1) - a_scan.begin();
    std::vector<float> sorted(a_scan.begin(), a_scan.end());
    std::ranges::nth_element(sorted, sorted.begin() + depth / 2);
    float next = 0;
    for (std::int64_t row = 0; row < depth; ++row) {
        if (std::abs(row - top) > near) next = std::max(next, a_scan[index(row)]);
    }
    const auto level = [&](std::int64_t row) { return std::log(std::max(a_scan[index(row)], 1e-30F)); };
    const double before = static_cast<double>(level(top - 1)), at = static_cast<double>(level(top)),
                 after = static_cast<double>(level(top + 1));
    const double bend = before - 2 * at + after;
    const double off = bend < 0 ? std::clamp((before - after) / (2 * bend), -0.5, 0.5) : 0;
    const double median = static_cast<double>(sorted[index(depth / 2)]);
    const double peak = static_cast<double>(a_scan[index(top)]);
    return {static_cast<double>(top) + off, median > 0 ? 10 * std::log10(peak / median) : 300,
            a_scan[index(top)] > min_ratio * next};
}

// Points of a surface with their weights.
struct SurfacePoints {
    std::vector<double> x, y, row, weight;
};

// Fits a polynomial and sets the weight of outliers to 0. `scale`: half the field in mm.
std::vector<double> fitted_surface(SurfacePoints& points, std::size_t order, double scale) {
    const std::size_t terms = Polynomial2::terms(order);
    std::vector<std::vector<double>> columns(terms, std::vector<double>(points.x.size()));
    for (std::size_t i = 0; i < points.x.size(); ++i) {
        const std::vector<double> powers = Polynomial2::powers(order, points.x[i] / scale, points.y[i] / scale);
        for (std::size_t t = 0; t < terms; ++t) columns[t][i] = powers[t];
    }
    constexpr int rounds = 6;
    std::vector<double> fit;
    for (int round = 0; round < rounds; ++round) {
        fit = least_squares(columns, points.row, points.weight).values;
        if (fit.empty())
            refuse("the field is too small for this polynomial", "choose a lower order, or scan more lines");
        std::vector<double> off(points.x.size()), size;
        for (std::size_t i = 0; i < off.size(); ++i) {
            off[i] = points.row[i];
            for (std::size_t t = 0; t < terms; ++t) off[i] -= fit[t] * columns[t][i];
            if (points.weight[i] > 0) size.push_back(std::abs(off[i]));
        }
        const double most = 4 * 1.4826 * median_of(size) + 1e-6;
        for (std::size_t i = 0; i < off.size(); ++i) points.weight[i] = std::abs(off[i]) <= most ? 1 : 0;
    }
    for (std::size_t n = 0, t = 0; n <= order; ++n) {
        for (std::size_t j = 0; j <= n; ++j, ++t) fit[t] /= std::pow(scale, static_cast<double>(n));
    }
    return fit;
}

void require_lines(const VolumeGrid& grid, std::int64_t order) {
    const std::int64_t min = 2 * (order + 1);
    if (grid.a_scans >= min && grid.b_scans >= min && grid.depth >= 32) return;
    refuse(fmt::format("is {} x {} x {} (B-scans, A-scans, rows), but order {} needs {} x {} x 32", grid.b_scans,
                       grid.a_scans, grid.depth, order, min, min),
           "scan more lines of the mirror");
}

// A flat mirror appears curved by the instrument, but hardly as much as a ball. `bend`: mean of the factors of x^2 and
// y^2 in mm of air per mm^2; `scale`: half the field in mm.
void require_flat(double bend, double scale, double min_radius_mm) {
    constexpr double max_slope = 0.1;
    const double radius = bend != 0 ? 0.5 / std::abs(bend) : std::numeric_limits<double>::infinity();
    const double slope = 2 * std::abs(bend) * scale;
    if (radius >= min_radius_mm || slope <= max_slope) return;
    refuse(
        fmt::format("is not of a flat mirror: it is curved like a sphere of {:.1f} mm radius and slopes by {:.0f} % at "
                    "the edge (at least {:g} mm, or at most {:.0f} %, are expected)",
                    radius, 100 * slope, min_radius_mm, 100 * max_slope),
        "use a flat mirror; if the instrument bends the field that much, set a smaller min_radius_mm");
}

}  // namespace

FieldCalibration calibrated_field(const Volume& volume, const ScanGeometry& scan,
                                  const FieldCalibrationOptions& options, Progress& progress) {
    constexpr double min_share = 0.8, min_used = 0.7, max_rms = 1;
    const VolumeGrid& grid = volume.grid;
    require_lines(grid, options.order);
    const BeamMap map(BeamGeometry(), scan, grid);
    const std::vector<float> power = linear_intensity(volume);
    FieldCalibration found;
    found.rows.assign(index(grid.a_scans * grid.b_scans), missing);
    found.residuals = found.rows;
    SurfacePoints points;
    std::vector<std::size_t> lines;
    std::vector<double> snr;
    std::int64_t of_raster = 0;
    progress.begin("find the mirror", grid.b_scans, "B-scans");
    for (std::int64_t b = 0; b < grid.b_scans; ++b, progress.advance(1)) {
        for (std::int64_t a = 0; b >= map.first_b_scan() && a < grid.a_scans; ++a) {
            ++of_raster;
            const std::int64_t line = b * grid.a_scans + a;
            const MirrorRow mirror = mirror_row(std::span(power).subspan(index(line * grid.depth), index(grid.depth)));
            snr.push_back(mirror.snr_db);
            if (!mirror.is_single || !(mirror.snr_db >= options.min_snr_db)) continue;
            const Position at = map.position(0, static_cast<double>(a), static_cast<double>(b));
            points.x.push_back(at.x_mm);
            points.y.push_back(at.y_mm);
            points.row.push_back(mirror.row);
            lines.push_back(index(line));
            found.rows[index(line)] = static_cast<float>(mirror.row);
        }
    }
    progress.end();
    found.snr_db = median_of(snr);
    const double share = static_cast<double>(lines.size()) / static_cast<double>(of_raster);
    if (share < min_share) {
        refuse(fmt::format("is not of a mirror: {:.0f} % of the A-scans have a single peak {:g} dB above the median, "
                           "{:.0f} % are needed (median {:.1f} dB)",
                           100 * share, options.min_snr_db, 100 * min_share, found.snr_db),
               "record one flat mirror over the whole field, below saturation");
    }
    points.weight.assign(points.x.size(), 1);
    const BeamMap::Box box = map.box();
    const double scale = std::max({box.high.x_mm, box.high.y_mm, 1e-6});
    const std::vector<double> fit = fitted_surface(points, index(options.order), scale);
    const Polynomial2 surface(fit);
    std::vector<double> left;
    double low = 1e300, high = -1e300;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const double fitted = surface(points.x[i], points.y[i]);
        found.residuals[lines[i]] = static_cast<float>(points.row[i] - fitted);
        if (points.weight[i] == 0) continue;
        left.push_back(points.row[i] - fitted);
        const double level = fitted - fit[1] * points.x[i] - fit[2] * points.y[i];
        low = std::min(low, level);
        high = std::max(high, level);
    }
    found.used = static_cast<double>(left.size()) / static_cast<double>(of_raster);
    found.rms_rows = rms_of(left);
    if (found.used < min_used || found.rms_rows > max_rms) {
        refuse(fmt::format("is not of a smooth mirror: a polynomial of order {} leaves {:.2f} rows rms and {:.0f} % of "
                           "the A-scans (at most {:g} rows and at least {:.0f} % are needed)",
                           options.order, found.rms_rows, 100 * found.used, max_rms, 100 * min_used),
               "use a flat mirror without dust");
    }
    const double um_in_air = grid.spacing_um[0] * scan.refractive_index;
    require_flat((fit[3] + fit[5]) / 2 * um_in_air / 1000, scale, options.min_radius_mm);
    for (const double term : fit) found.path_um.push_back(term * um_in_air);
    found.span_um = (high - low) * um_in_air;
    found.tilt_x = found.path_um[1];
    found.tilt_y = found.path_um[2];
    if (!options.keeps_tilt) std::fill_n(found.path_um.begin(), 3, 0.0);
    return found;
}

// ---- Lens

namespace {

// Brightness relative to the surroundings, [b_scan][a_scan].
std::vector<float> dot_image(const Volume& volume, const std::array<double, 2>& pitch, bool dots_are_dark,
                             Progress& progress) {
    const VolumeGrid& grid = volume.grid;
    const std::vector<float> power = linear_intensity(volume);
    std::vector<float> image(index(grid.a_scans * grid.b_scans));
    progress.begin("find the dots", grid.b_scans, "B-scans");
    for (std::int64_t b = 0; b < grid.b_scans; ++b, progress.advance(1)) {
        for (std::int64_t line = b * grid.a_scans; line < (b + 1) * grid.a_scans; ++line) {
            double sum = 0;
            for (std::int64_t row = 0; row < grid.depth; ++row) {
                const float value = power[index(line * grid.depth + row)];
                if (std::isfinite(value)) sum += static_cast<double>(value);
            }
            image[index(line)] = static_cast<float>(sum / static_cast<double>(grid.depth));
        }
    }
    progress.end();
    std::vector<float> around = image;
    const Size3 size{grid.a_scans, grid.b_scans, 1};
    constexpr double of_dot = 0.1, of_surroundings = 0.6;  // of the pitch
    smooth(image, size, {of_dot * pitch[0], of_dot * pitch[1], 0});
    smooth(around, size, {of_surroundings * pitch[0], of_surroundings * pitch[1], 0});
    for (std::size_t i = 0; i < image.size(); ++i)
        image[i] = dots_are_dark ? around[i] - image[i] : image[i] - around[i];
    return image;
}

// Finds dots in an image.
class DotFinder {
  public:
    // `pitch`: in A-scans and B-scans.
    DotFinder(const std::vector<float>& image, const VolumeGrid& grid, const std::array<double, 2>& pitch)
        : image_(image), width_(grid.a_scans), height_(grid.b_scans), pitch_(pitch) {}

    std::vector<GridDot> found() const {
        constexpr std::size_t per_mille = 995;
        constexpr float above = 0.3F;
        std::vector<float> sorted = image_;
        const auto bright = sorted.begin() + std::ssize(sorted) * per_mille / 1000;
        std::nth_element(sorted.begin(), bright, sorted.end());
        std::vector<GridDot> dots;
        for (std::int64_t b = reach(1); b < height_ - reach(1); ++b) {
            for (std::int64_t a = reach(0); a < width_ - reach(0); ++a) {
                if (at(a, b) < above * *bright || !is_maximum(a, b)) continue;
                dots.push_back(centred({static_cast<double>(a), static_cast<double>(b)}));
            }
        }
        std::erase_if(dots, [](const GridDot& dot) { return std::isnan(dot.a_scan); });
        return dots;
    }

  private:
    static constexpr double part = 0.4;  // of the pitch, the radius of a dot's neighbourhood

    std::int64_t reach(std::size_t axis) const {
        return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(part * pitch_[axis])));
    }
    float at(std::int64_t a, std::int64_t b) const { return image_[index(b * width_ + a)]; }

    bool is_maximum(std::int64_t a, std::int64_t b) const {
        for (std::int64_t db = -reach(1); db <= reach(1); ++db) {
            for (std::int64_t da = -reach(0); da <= reach(0); ++da) {
                if (at(a + da, b + db) > at(a, b)) return false;
                if (at(a + da, b + db) == at(a, b) && (db < 0 || (db == 0 && da < 0))) return false;  // counted once
            }
        }
        return true;
    }

    // Moves to where a Gaussian window centres its weighted mean. NaN if it leaves the image.
    GridDot centred(GridDot dot) const {
        constexpr int rounds = 12;
        const double sa = 0.16 * pitch_[0], sb = 0.16 * pitch_[1];
        for (int round = 0; round < rounds; ++round) {
            const std::int64_t a0 = std::llround(dot.a_scan), b0 = std::llround(dot.b_scan);
            if (a0 < reach(0) || b0 < reach(1) || a0 >= width_ - reach(0) || b0 >= height_ - reach(1))
                return {missing, missing};
            double sum = 0, sum_a = 0, sum_b = 0;
            for (std::int64_t b = b0 - reach(1); b <= b0 + reach(1); ++b) {
                for (std::int64_t a = a0 - reach(0); a <= a0 + reach(0); ++a) {
                    const double da = static_cast<double>(a) - dot.a_scan, db = static_cast<double>(b) - dot.b_scan;
                    const double weight = std::max(0.0, static_cast<double>(at(a, b))) *
                                          std::exp(-(da * da / (sa * sa) + db * db / (sb * sb)) / 2);
                    sum += weight;
                    sum_a += weight * da;
                    sum_b += weight * db;
                }
            }
            if (!(sum > 0)) return {missing, missing};
            // The window pulls the mean towards its own centre, so a step of twice the distance converges faster.
            dot.a_scan += 1.5 * sum_a / sum;
            dot.b_scan += 1.5 * sum_b / sum;
        }
        return dot;
    }

    const std::vector<float>& image_;
    std::int64_t width_, height_;
    std::array<double, 2> pitch_;
};

struct Vector2 {
    double x = 0, y = 0;
};

// Numbers dots by rows and columns, from the dot in the middle outwards. Dots that fit no grid are dropped.
class GridNumbering {
  public:
    GridNumbering(std::vector<GridDot> dots, const BeamMap& map, double pitch_mm)
        : dots_(std::move(dots)), pitch_(pitch_mm) {
        for (const GridDot& dot : dots_) {
            const Position at = map.position(0, dot.a_scan, dot.b_scan);
            at_.push_back({at.x_mm, at.y_mm});
        }
    }

    std::vector<GridDot> numbered() {
        const auto [right, down] = steps();
        const auto middle = std::ranges::min_element(at_, {}, [](const Vector2& p) { return std::hypot(p.x, p.y); });
        std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> taken;
        std::deque<std::pair<std::size_t, std::array<Vector2, 2>>> open;
        std::vector<bool> is_known(at_.size());
        const auto first = index(middle - at_.begin());
        is_known[first] = true;
        taken[{0, 0}] = first;
        open.push_back({first, {right, down}});
        std::vector<GridDot> known{dots_[first]};
        while (!open.empty()) {
            const auto [from, step] = open.front();
            open.pop_front();
            for (const auto& [column, row] : {std::pair{1, 0}, std::pair{-1, 0}, std::pair{0, 1}, std::pair{0, -1}}) {
                const std::pair place{dots_[from].column + column, dots_[from].row + row};
                if (taken.contains(place)) continue;
                const Vector2& one = step[row != 0 ? 1 : 0];
                const double sign = column + row;
                const std::optional<std::size_t> to = nearest({at_[from].x + sign * one.x, at_[from].y + sign * one.y});
                if (!to || is_known[*to]) continue;
                is_known[*to] = true;
                taken[place] = *to;
                dots_[*to].column = place.first;
                dots_[*to].row = place.second;
                // The steps follow the distortion.
                std::array<Vector2, 2> next = step;
                next[row != 0 ? 1 : 0] = {sign * (at_[*to].x - at_[from].x), sign * (at_[*to].y - at_[from].y)};
                open.push_back({*to, next});
                known.push_back(dots_[*to]);
            }
        }
        return known;
    }

  private:
    // Median steps to the neighbours along x and y.
    std::pair<Vector2, Vector2> steps() const {
        std::array<std::vector<double>, 2> xs, ys;
        for (const Vector2& from : at_) {
            for (const std::size_t axis : {0U, 1U}) {
                Vector2 best;
                double shortest = 2 * pitch_;
                for (const Vector2& to : at_) {
                    const double dx = to.x - from.x, dy = to.y - from.y, length = std::hypot(dx, dy);
                    const bool is_along = axis == 0 ? dx > std::abs(dy) : dy > std::abs(dx);
                    if (is_along && length < shortest) {
                        shortest = length;
                        best = {dx, dy};
                    }
                }
                if (shortest == 2 * pitch_) continue;
                xs[axis].push_back(best.x);
                ys[axis].push_back(best.y);
            }
        }
        return {{median_of(xs[0]), median_of(ys[0])}, {median_of(xs[1]), median_of(ys[1])}};
    }

    std::optional<std::size_t> nearest(const Vector2& place) const {
        const double most = 0.3 * pitch_;
        std::optional<std::size_t> found;
        double closest = most;
        for (std::size_t i = 0; i < at_.size(); ++i) {
            const double distance = std::hypot(at_[i].x - place.x, at_[i].y - place.y);
            if (distance < closest) {
                closest = distance;
                found = i;
            }
        }
        return found;
    }

    std::vector<GridDot> dots_;
    std::vector<Vector2> at_;  // mm of the scan
    double pitch_;
};

// Lens, angle and position of a grid.
struct GridModel {
    BeamGeometry lens;
    double angle = 0, x = 0, y = 0;

    // Distance of a dot from its place.
    Vector2 off(const GridDot& dot, const Vector2& scan, double pitch) const {
        const FieldPoint at = LensMap(lens).field({scan.x, scan.y});
        const double i = pitch * static_cast<double>(dot.column), j = pitch * static_cast<double>(dot.row);
        return {at.x_um - (x + std::cos(angle) * i - std::sin(angle) * j),
                at.y_um - (y + std::sin(angle) * i + std::cos(angle) * j)};
    }

    // Values to fit: position, angle and scales come first.
    std::vector<double*> values(bool distortion) {
        std::vector<double*> all{&x, &y, &angle, &lens.scale_x, &lens.scale_y};
        if (!distortion) return all;
        lens.bend_x.resize(2);
        lens.bend_y.resize(2);
        for (double* one : {&lens.radial_per_mm2, &lens.radial_per_mm4, &lens.bend_x[0], &lens.bend_x[1],
                            &lens.bend_y[0], &lens.bend_y[1]})
            all.push_back(one);
        return all;
    }
};

class GridFit {
  public:
    GridFit(std::vector<GridDot>& dots, std::vector<Vector2> at, double pitch, const std::array<double, 2>& line_mm)
        : dots_(dots), at_(std::move(at)), pitch_(pitch), line_mm_(line_mm) {}

    // Gauss-Newton steps with slopes by differences. Outliers are dropped after every step but the first two.
    void fit(GridModel& model, bool distortion) {
        constexpr int rounds = 12;
        for (int round = 0; round < rounds; ++round) {
            const std::vector<double> now = offs(model);
            if (round > 1) drop_outliers(now);
            const std::vector<double*> values = model.values(distortion);
            std::vector<std::vector<double>> columns;
            for (double* value : values) {
                constexpr double step = 1e-6;
                *value += step;
                std::vector<double> slope = offs(model);
                *value -= step;
                for (std::size_t i = 0; i < slope.size(); ++i) slope[i] = (slope[i] - now[i]) / step;
                columns.push_back(std::move(slope));
            }
            std::vector<double> weights;
            for (const GridDot& dot : dots_) weights.insert(weights.end(), 2, dot.counts ? 1.0 : 0.0);
            const std::vector<double> change = least_squares(columns, now, weights).values;
            if (change.empty()) refuse("the dots do not determine the lens", "record more dots over the whole field");
            for (std::size_t i = 0; i < values.size(); ++i) *values[i] -= change[i];
        }
    }

    // Rms along x and y of the dots that count, in lines.
    std::array<double, 2> rms(const GridModel& model) {
        std::array<std::vector<double>, 2> left;
        for (std::size_t i = 0; i < dots_.size(); ++i) {
            const Vector2 off = model.off(dots_[i], at_[i], pitch_);
            dots_[i].off_x_mm = off.x;
            dots_[i].off_y_mm = off.y;
            if (!dots_[i].counts) continue;
            left[0].push_back(off.x / (model.lens.scale_x * line_mm_[0]));
            left[1].push_back(off.y / (model.lens.scale_y * line_mm_[1]));
        }
        return {rms_of(left[0]), rms_of(left[1])};
    }

  private:
    std::vector<double> offs(const GridModel& model) const {
        std::vector<double> all;
        for (std::size_t i = 0; i < dots_.size(); ++i) {
            const Vector2 off = model.off(dots_[i], at_[i], pitch_);
            all.push_back(off.x);
            all.push_back(off.y);
        }
        return all;
    }

    void drop_outliers(const std::vector<double>& offs) {
        std::vector<double> size;
        for (std::size_t i = 0; i < dots_.size(); ++i) size.push_back(std::hypot(offs[2 * i], offs[2 * i + 1]));
        const double most = 5 * median_of(size) + 1e-6;
        for (std::size_t i = 0; i < dots_.size(); ++i) dots_[i].counts = size[i] <= most;
    }

    std::vector<GridDot>& dots_;
    std::vector<Vector2> at_;
    double pitch_;
    std::array<double, 2> line_mm_;
};

// Throws if the dots are too few, or not on a grid.
void require_dots(const std::vector<GridDot>& dots, std::int64_t found, const VolumeGrid& grid, double pitch_mm) {
    constexpr std::int64_t min_dots = 25;
    constexpr double min_share = 0.8, min_cover = 0.5;
    if (found < min_dots) {
        refuse(fmt::format("{} dots were found, the fit needs {}", found, min_dots),
               "check pitch_mm and dots_are_dark, or record a target with more dots");
    }
    const double share = static_cast<double>(dots.size()) / static_cast<double>(found);
    if (share < min_share) {
        refuse(fmt::format("{:.0f} % of {} dots are on a grid of {:g} mm, {:.0f} % are needed", 100 * share, found,
                           pitch_mm, 100 * min_share),
               "check pitch_mm, and that rows of dots run along the A-scans");
    }
    const auto cover = [&](double GridDot::*member, std::int64_t count) {
        const auto [low, high] = std::ranges::minmax(dots, {}, member);
        return (high.*member - low.*member) / static_cast<double>(count - 1);
    };
    const double least = std::min(cover(&GridDot::a_scan, grid.a_scans), cover(&GridDot::b_scan, grid.b_scans));
    if (least < min_cover) {
        refuse(fmt::format("the dots cover {:.0f} % of the field along one axis, {:.0f} % are needed", 100 * least,
                           100 * min_cover),
               "record a target that fills the field");
    }
}

// A wrong pitch is a wrong scale.
void require_pitch(const BeamGeometry& lens, const GridCalibrationOptions& options) {
    for (const auto& [axis, scale] : {std::pair{'x', lens.scale_x}, std::pair{'y', lens.scale_y}}) {
        if (std::max(scale, 1 / scale) <= options.max_scale) continue;
        refuse(
            fmt::format("the dots are {:.3g} mm apart along {} by the spacing of the scan, but the pitch is {:g} mm: a "
                        "factor of {:.2f} (at most {:g} is expected)",
                        options.pitch_mm / scale, axis, options.pitch_mm, scale, options.max_scale),
            "check pitch_mm and the spacing of the scan; if both are right, set a larger max_scale");
    }
}

}  // namespace

GridCalibration calibrated_grid(const Volume& volume, const ScanGeometry& scan, const GridCalibrationOptions& options,
                                Progress& progress) {
    constexpr double max_rms = 0.5;
    const VolumeGrid& grid = volume.grid;
    const BeamMap map(BeamGeometry(), scan, grid);
    const std::array<double, 2> line_mm{grid.spacing_um[1] / 1000, grid.spacing_um[2] / 1000};
    const std::array<double, 2> pitch{options.pitch_mm / line_mm[0], options.pitch_mm / line_mm[1]};
    constexpr double min_lines = 5;
    if (!(std::min(pitch[0], pitch[1]) >= min_lines)) {
        refuse(fmt::format("the dots are {:.1f} A-scans and {:.1f} B-scans apart, {:g} are needed", pitch[0], pitch[1],
                           min_lines),
               "check pitch_mm, or scan with a smaller spacing");
    }
    GridCalibration made;
    made.image = dot_image(volume, pitch, options.dots_are_dark, progress);
    std::vector<GridDot> dots = DotFinder(made.image, grid, pitch).found();
    made.found = std::ssize(dots);
    if (!dots.empty()) dots = GridNumbering(std::move(dots), map, options.pitch_mm).numbered();
    require_dots(dots, made.found, grid, options.pitch_mm);
    std::vector<Vector2> at;
    for (const GridDot& dot : dots) {
        const Position place = map.position(0, dot.a_scan, dot.b_scan);
        at.push_back({place.x_mm, place.y_mm});
    }
    GridFit fit(dots, at, options.pitch_mm, line_mm);
    GridModel model;
    model.x = at.front().x;
    model.y = at.front().y;
    fit.fit(model, false);
    made.before_a_scans = fit.rms(model)[0];
    fit.fit(model, true);
    const auto [rms_x, rms_y] = fit.rms(model);
    made.rms_a_scans = rms_x;
    made.rms_b_scans = rms_y;
    if (!(std::max(rms_x, rms_y) <= max_rms)) {
        refuse(
            fmt::format("after the fit, dots are {:.2f} A-scans and {:.2f} B-scans rms off the grid, {:g} is the limit",
                        rms_x, rms_y, max_rms),
            "check pitch_mm, and that the target is flat and in focus");
    }
    require_pitch(model.lens, options);
    made.lens = model.lens;
    made.angle_deg = model.angle * 180 / pi;
    made.dots = std::move(dots);
    return made;
}

// ---- Galvanometers

namespace {

// Cubic interpolation between values; constant beyond the ends.
double cubic_at(std::span<const float> values, double at) {
    const double below = std::floor(at), t = at - below;
    const auto value = [&](std::int64_t off) {
        const std::int64_t i = static_cast<std::int64_t>(below) + off;
        return static_cast<double>(values[index(std::clamp<std::int64_t>(i, 0, std::ssize(values) - 1))]);
    };
    const double a = value(-1), b = value(0), c = value(1), d = value(2);
    return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

// A-scan position at evenly spaced times of a forward B-scan, as many as A-scans.
std::vector<double> positions_in_time(const ScanGeometry& scan) {
    ScanGeometry one = scan;
    one.a_repeats = 1;
    one.b_scans = 1;
    one.protocol = Protocol::raster;
    const ScanPattern pattern(one, {static_cast<double>(one.a_scans), 1});
    std::vector<double> at;
    for (std::int64_t line = 0; line < one.a_scans; ++line)
        at.push_back(pattern.at(0, line).beam.x_um + static_cast<double>(one.a_scans - 1) / 2);
    return at;
}

// Amplitudes of one B-scan along time, [row][line], without the mean of each row.
std::vector<float> along_time(std::span<const float> power, const VolumeGrid& grid, const std::vector<double>& at) {
    std::vector<float> made(power.size()), row(index(grid.a_scans));
    for (std::int64_t z = 0; z < grid.depth; ++z) {
        for (std::int64_t a = 0; a < grid.a_scans; ++a) {
            const float value = power[index(a * grid.depth + z)];
            row[index(a)] = value > 0 ? std::sqrt(value) : 0;
        }
        double mean = 0;
        for (std::size_t i = 0; i < at.size(); ++i) {
            made[index(z) * at.size() + i] = static_cast<float>(cubic_at(row, at[i]));
            mean += static_cast<double>(made[index(z) * at.size() + i]) / static_cast<double>(at.size());
        }
        for (std::size_t i = 0; i < at.size(); ++i) made[index(z) * at.size() + i] -= static_cast<float>(mean);
    }
    return made;
}

// Sums of a normalised correlation at whole shifts -reach .. reach.
struct Correlation {
    std::vector<double> product, square;
    double fixed_square = 0;

    explicit Correlation(std::int64_t reach) : product(index(2 * reach + 1)), square(product.size()) {}

    // Adds two B-scans, [row][line]. The window of `fixed` stays, that of `moved` shifts.
    void add(const std::vector<float>& fixed, const std::vector<float>& moved, std::int64_t lines) {
        const std::int64_t reach = std::ssize(product) / 2;
        for (std::int64_t start = 0; start < std::ssize(fixed); start += lines) {
            for (std::int64_t i = reach; i < lines - reach; ++i)
                fixed_square += static_cast<double>(fixed[index(start + i)] * fixed[index(start + i)]);
            for (std::int64_t shift = -reach; shift <= reach; ++shift) {
                float sum = 0, squares = 0;
                for (std::int64_t i = reach; i < lines - reach; ++i) {
                    const float other = moved[index(start + i + shift)];
                    sum += fixed[index(start + i)] * other;
                    squares += other * other;
                }
                product[index(shift + reach)] += static_cast<double>(sum);
                square[index(shift + reach)] += static_cast<double>(squares);
            }
        }
    }

    void add(const Correlation& other) {
        for (std::size_t i = 0; i < product.size(); ++i) {
            product[i] += other.product[i];
            square[i] += other.square[i];
        }
        fixed_square += other.fixed_square;
    }

    std::vector<double> values() const {
        std::vector<double> all;
        for (std::size_t i = 0; i < product.size(); ++i) {
            const double size = std::sqrt(square[i] * fixed_square);
            all.push_back(size > 0 ? product[i] / size : 0);
        }
        return all;
    }
};

struct Top {
    double shift = 0, height = 0;
    bool is_at_end = false;
};

// The maximum between whole shifts, by a sinc under a Hann window. Correlations are as band-limited as their B-scans.
Top top_of(const std::vector<double>& values) {
    constexpr std::int64_t reach = 8;
    const std::int64_t top = std::ranges::max_element(values) - values.begin(), middle = std::ssize(values) / 2;
    const auto at = [&](double shift) {
        double sum = 0;
        for (std::int64_t i = std::max<std::int64_t>(0, top - reach); i < std::min(std::ssize(values), top + reach + 1);
             ++i) {
            const double x = static_cast<double>(i) - shift;
            if (std::abs(x) >= reach) continue;
            const double sinc = x == 0 ? 1 : std::sin(pi * x) / (pi * x);
            sum += values[index(i)] * sinc * 0.5 * (1 + std::cos(pi * x / reach));
        }
        return sum;
    };
    double low = static_cast<double>(top) - 1, high = static_cast<double>(top) + 1;
    constexpr int rounds = 40;  // thirds, down to 1e-6
    for (int round = 0; round < rounds; ++round) {
        const double third = (high - low) / 3;
        (at(low + third) < at(high - third) ? low : high) += at(low + third) < at(high - third) ? third : -third;
    }
    const double shift = (low + high) / 2;
    return {shift - static_cast<double>(middle), at(shift), top < 2 || top > std::ssize(values) - 3};
}

void require_both_directions(const ScanGeometry& scan, const VolumeGrid& grid, std::int64_t reach) {
    if (!scan.bidirectional) {
        throw Error(ErrorCode::bad_setting, "is false, so the delay does not show", "scan.bidirectional",
                    "record a bidirectional scan");
    }
    if (scan.b_repeats > 1) refuse("repeats in both directions are averaged", "scan without b_repeats");
    if (scan.line_rate_hz <= 0) {
        throw Error(ErrorCode::bad_setting, "is unknown", "scan.line_rate_hz", "set the lines per second");
    }
    if (scan.fast_axis == FastAxis::file) {
        throw Error(ErrorCode::bad_setting, "measured positions include the delay", "scan.fast_axis",
                    "choose uniform or sinusoidal");
    }
    const std::int64_t min_lines = 4 * reach;
    if (grid.b_scans < 4 || grid.a_scans < min_lines) {
        refuse(fmt::format("is {} x {} A-scans, but 4 x {} are needed", grid.b_scans, grid.a_scans, min_lines),
               "scan more lines, or choose a smaller max_a_scans");
    }
}

}  // namespace

GalvoCalibration calibrated_galvo(const Volume& volume, const ScanGeometry& scan,
                                  const GalvoCalibrationOptions& options, Progress& progress) {
    constexpr double min_correlation = 0.3, max_error = 0.05;
    constexpr std::int64_t max_groups = 8, max_pairs = 64;
    const VolumeGrid& grid = volume.grid;
    const std::int64_t reach = options.max_a_scans;
    require_both_directions(scan, grid, reach);
    ScanGeometry lines = scan;  // a file may state less than the volume
    lines.a_scans = grid.a_scans;
    const std::vector<double> at = positions_in_time(lines);
    const std::vector<float> power = linear_intensity(volume);
    const auto b_scan = [&](std::int64_t b) {
        const std::int64_t voxels = grid.a_scans * grid.depth;
        return along_time(std::span(power).subspan(index(b * voxels), index(voxels)), grid, at);
    };
    const std::int64_t first = scan.protocol == Protocol::raster_cross ? scan.crosses : 0;
    const std::int64_t pairs = std::min(max_pairs, grid.b_scans - first - 1), groups = std::min(max_groups, pairs);
    std::vector<Correlation> of_groups(index(groups), Correlation(reach));
    progress.begin("compare directions", groups, "groups of B-scans");
    for (std::int64_t group = 0; group < groups; ++group, progress.advance(1)) {
        // Neighbouring pairs share a B-scan: a group is a run of them, so that groups are independent.
        const std::int64_t begin = group * pairs / groups, end = (group + 1) * pairs / groups;
        std::vector<Correlation> of_pairs(index(end - begin), Correlation(reach));
        parallel_for(begin, end, [&](std::int64_t pair) {
            const std::int64_t b = first + pair * (grid.b_scans - first - 1) / pairs;
            const std::int64_t forward = b % 2 == 0 ? b : b + 1, backward = b % 2 == 0 ? b + 1 : b;
            of_pairs[index(pair - begin)].add(b_scan(forward), b_scan(backward), grid.a_scans);
        });
        for (const Correlation& pair : of_pairs) of_groups[index(group)].add(pair);
    }
    progress.end();
    Correlation all(reach);
    std::vector<double> shifts;
    for (const Correlation& group : of_groups) {
        all.add(group);
        shifts.push_back(top_of(group.values()).shift);
    }
    GalvoCalibration found;
    found.correlations = all.values();
    for (std::int64_t shift = -reach; shift <= reach; ++shift) found.shifts.push_back(static_cast<double>(shift));
    const Top top = top_of(found.correlations);
    // A late beam is behind in both directions, which moves them apart by twice the delay.
    found.delay_a_scans = -top.shift / 2;
    found.correlation = top.height;
    double squares = 0;
    for (const double shift : shifts) squares += std::pow((shift - top.shift) / 2, 2);
    const auto n = static_cast<double>(shifts.size());
    found.error_a_scans = shifts.size() > 1 ? std::sqrt(squares / (n - 1) / n) : 0;
    found.delay_us = found.delay_a_scans * static_cast<double>(scan.a_repeats) / scan.line_rate_hz * 1e6;
    found.is_y = scan.protocol == Protocol::raster_y;
    if (found.correlation < min_correlation) {
        refuse(fmt::format("neighbouring B-scans correlate by {:.2f} at best, {:g} is needed", found.correlation,
                           min_correlation),
               "scan a target that does not move, with B-scans closer together than the width of the beam");
    }
    if (top.is_at_end) {
        refuse(fmt::format("the directions are {:.0f} A-scans or more apart", std::abs(top.shift)),
               "choose a larger max_a_scans");
    }
    if (found.error_a_scans > max_error) {
        refuse(
            fmt::format("the delay is uncertain by {:.2f} A-scans, {:g} is the limit", found.error_a_scans, max_error),
            "scan more B-scans of a target with finer structure");
    }
    return found;
}

}  // namespace echolux
