#include "engine/simulate/sample_arm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <string>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "engine/simulate/counter_random.h"

namespace echolux {

using std::numbers::pi;

void SlabLists::clear() {
    for (List& list : lists) {
        list.u.clear();
        list.real.clear();
        list.imaginary.clear();
    }
}

SampleArm::SampleArm(const Simulation& s, const Scenery& scenery_in, const Spectrometer& spectrometer,
                     const SpectrumSum& sum_in)
    : scenery(scenery_in), sum(sum_in), beam_um(s.beam_radius_um), index(s.refractive_index),
      phase_per_um_(2 * spectrometer.k0_per_um * s.refractive_index) {
    const double depth_range = spectrometer.z_max_um() / index;
    const double cell_um3 = pi * beam_um * beam_um / 2 * spectrometer.coherence_um / index;
    const auto in_cell = static_cast<double>(s.scatterers_per_cell);
    density = in_cell / cell_um3;
    check_scatterers();
    // Power of the speckle: density * a^2 * (integral of the squared beam weight, pi w0^2 / 4) * (integral of the
    // squared point spread, 0.7526 of its FWHM).
    amplitude_ = s.brightness / std::sqrt(in_cell * 0.7526 / 2);
    focus_um_ = 0.4 * depth_range;
    if (s.confocal) rayleigh_um_ = pi * beam_um * beam_um * index / (s.centre_nm / 1000);
    const auto depths = static_cast<std::int64_t>(depth_range) + 2;
    for (std::int64_t depth = 0; depth < depths; ++depth) {
        sensitivity_.push_back(exact_sensitivity(spectrometer, static_cast<double>(depth)));
    }
}

void SampleArm::check_scatterers() const {
    constexpr double max = 2e8;  // about 4 GB
    const double seen_um2 = (scenery.width_um + 2 * reach_um()) * (2 * reach_um() + cell_um());
    double scatterers = scenery.layers.empty() ? 0 : density * scenery.deepest_um * seen_um2;
    for (const Tube& tube : scenery.tubes) scatterers += density * seen_um2 * 2 * tube.radius_um;
    if (scatterers > max) {
        throw Error(ErrorCode::bad_setting,
                    "one B-scan would need " + std::to_string(static_cast<std::int64_t>(scatterers / 1e6)) +
                        " million scatterers",
                    "simulation.scatterers_per_cell", "choose fewer, a larger beam_radius_um or fewer A-scans");
    }
}

double SampleArm::exact_sensitivity(const Spectrometer& spectrometer, double depth_um) const {
    const double defocus = rayleigh_um_ > 0 ? (depth_um - focus_um_) / rayleigh_um_ : 0;
    return spectrometer.roll_off(index * depth_um) / std::sqrt(1 + defocus * defocus);
}

double SampleArm::sensitivity(double depth_um) const {
    const double depth = std::clamp(depth_um, 0.0, static_cast<double>(sensitivity_.size() - 2));
    const auto below = static_cast<std::size_t>(depth);
    const double part = depth - static_cast<double>(below);
    return sensitivity_[below] * (1 - part) + sensitivity_[below + 1] * part;
}

double SampleArm::amplitude(double brightness, double z, double loss) const {
    return amplitude_ * brightness * sensitivity(z) * std::exp(-loss);
}

Echo SampleArm::echo(double z, double amplitude) const {
    const std::int64_t slab = sum.slab_of(index * z);
    const double phase = phase_per_um_ * z;
    return {slab, sum.place_in(slab, index * z), static_cast<float>(amplitude * std::cos(phase)),
            static_cast<float>(amplitude * std::sin(phase))};
}

namespace {

// A scatterer and its position, in um.
struct PositionedEcho {
    Echo echo;
    float x, y;
};

// Generates the scatterers of layers and tube walls in one lateral column.
class Column {
  public:
    Column(const SampleArm& arm, double corner_x, double corner_y, std::uint64_t key)
        : arm_(arm), scenery_(arm.scenery), half_(arm.cell_um() / 2), x_(corner_x + half_), y_(corner_y + half_),
          key_(key) {
        for (const Boundary& boundary : scenery_.boundaries) {
            heights_.push_back(scenery_.height_um(boundary, x_, y_));
            along_x_.push_back((scenery_.height_um(boundary, x_ + half_, y_) - heights_.back()) / half_);
            along_y_.push_back((scenery_.height_um(boundary, x_, y_ + half_) - heights_.back()) / half_);
        }
        for (const Tube& tube : scenery_.tubes) {
            const double off_axis = std::abs(x_ - scenery_.x_um(tube, y_));
            if (off_axis < outer_radius(tube) + 4 * half_) near_.push_back(&tube);
        }
    }

    std::vector<PositionedEcho> filled() {
        for (std::size_t i = 0; i < scenery_.layers.size(); ++i) add_layer(i);
        for (std::size_t i = 0; i < scenery_.boundaries.size(); ++i) add_reflex(i);
        for (std::size_t i = 0; i < near_.size(); ++i) add_wall(*near_[i], hashed(key_, 1000 + i));
        return std::move(placed_);
    }

  private:
    static double outer_radius(const Tube& tube) { return tube.radius_um + tube.wall_um; }

    double off_axis(const Tube& tube, double x, double y, double z) const {
        const double dx = x - scenery_.x_um(tube, y);
        const double dz = z - scenery_.z_um(tube, y);
        return std::sqrt(dx * dx + dz * dz);
    }

    std::int64_t count_in(double thickness, std::uint64_t key) const {
        const double mean = arm_.density * 4 * half_ * half_ * std::max(thickness, 0.0);
        return static_cast<std::int64_t>(mean + fraction(hashed(key)));  // random rounding preserves the mean
    }

    void add_layer(std::size_t i) {
        const std::uint64_t key = hashed(key_, i);
        const std::int64_t count = count_in(heights_[i + 1] - heights_[i], key);
        for (std::int64_t n = 0; n < count; ++n) {
            const auto [dx, dy, part] = drawn(key, n);
            const double top = heights_[i] + along_x_[i] * dx + along_y_[i] * dy;
            const double bottom = heights_[i + 1] + along_x_[i + 1] * dx + along_y_[i + 1] * dy;
            const double z = top + (bottom - top) * part;
            const bool in_tube = std::any_of(near_.begin(), near_.end(), [&, x = x_ + dx, y = y_ + dy](const Tube* t) {
                return off_axis(*t, x, y, z) < outer_radius(*t);
            });
            if (!in_tube) place(x_ + dx, y_ + dy, z, scenery_.layers[i].brightness);
        }
    }

    // Scatterers on the boundary itself add up in phase where it is perpendicular to the beam. As many as in a layer of
    // 2 um sample it densely enough.
    void add_reflex(std::size_t i) {
        constexpr double as_thick_um = 2;
        const double reflex = scenery_.boundaries[i].reflex;
        if (reflex == 0) return;
        const std::uint64_t key = hashed(key_, 2000 + i);
        const std::int64_t count = count_in(as_thick_um, key);
        for (std::int64_t n = 0; n < count; ++n) {
            const auto [dx, dy, part] = drawn(key, n);
            place(x_ + dx, y_ + dy, heights_[i] + along_x_[i] * dx + along_y_[i] * dy, reflex);
        }
    }

    void add_wall(const Tube& tube, std::uint64_t key) {
        if (tube.wall_um == 0) return;
        const double outer = outer_radius(tube) + half_ * std::abs(scenery_.z_slope(tube, y_));
        const std::int64_t count = count_in(2 * outer, key);
        for (std::int64_t n = 0; n < count; ++n) {
            const auto [dx, dy, part] = drawn(key, n);
            const double z = scenery_.z_um(tube, y_) + outer * (2 * part - 1);
            const double distance = off_axis(tube, x_ + dx, y_ + dy, z);
            const bool in_wall = distance >= tube.radius_um && distance < outer_radius(tube);
            if (in_wall) place(x_ + dx, y_ + dy, z, tube.wall_brightness);
        }
    }

    struct EchoShare {
        double dx, dy, part;
    };

    EchoShare drawn(std::uint64_t key, std::int64_t n) const {
        const std::uint64_t name = key + 2 * static_cast<std::uint64_t>(n);
        const std::uint64_t lateral = hashed(name + 1);
        return {(2 * low_fraction(lateral) - 1) * half_, (2 * high_fraction(lateral) - 1) * half_,
                fraction(hashed(name + 2))};
    }

    void place(double x, double y, double z, double brightness) {
        if (z < 0 || z >= scenery_.deepest_um) return;
        const double amplitude = arm_.amplitude(brightness, z, scenery_.loss(heights_, x, y, z));
        placed_.push_back({arm_.echo(z, amplitude), static_cast<float>(x), static_cast<float>(y)});
    }

    const SampleArm& arm_;
    const Scenery& scenery_;
    double half_;
    double x_, y_;  // centre
    std::uint64_t key_;
    std::vector<double> heights_, along_x_, along_y_;  // boundaries in this column, approximated by planes
    std::vector<const Tube*> near_;
    std::vector<PositionedEcho> placed_;
};

}  // namespace

Tissue::Tissue(const SampleArm& arm, std::uint64_t seed, const Renewal& renewal)
    : arm_(arm), seed_(seed), renewal_(renewal) {}

std::int64_t Tissue::column_of(double x) const {
    return static_cast<std::int64_t>(std::floor(x / arm_.cell_um()));
}

// Regenerates all strips if their columns do not cover the box. A beam that stays in the same field soon finds them
// wide enough.
void Tissue::take_columns(const BeamBox& box) {
    const double reach = arm_.reach_um();
    std::int64_t first = column_of(box.x_low - reach);
    std::int64_t end = column_of(box.x_high + reach) + 1;
    const std::int64_t old_end = first_column_ + columns_;
    const std::int64_t wanted = end - first;
    if (first >= first_column_ && end <= old_end && 2 * wanted >= columns_) return;
    const bool is_near = first < old_end && end > first_column_ && 2 * wanted >= columns_ && 2 * columns_ >= wanted;
    if (is_near) {
        first = std::min(first, first_column_);
        end = std::max(end, old_end);
    }
    strips_.clear();
    first_column_ = first;
    columns_ = end - first;
}

// Applies the phases of a step. A scatterer's key is its position.
void Tissue::renew(Strip& strip, std::int64_t step) const {
    if (strip.step == step) return;
    strip.step = step;
    if (strip.ticks.empty()) {
        strip.first_real = strip.real;
        strip.first_imaginary = strip.imaginary;
        strip.ticks.assign(strip.x.size(), -1);
    }
    for (std::size_t i = 0; i < strip.x.size(); ++i) {
        const std::uint64_t name = (static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(strip.x[i])) << 32) |
                                   std::bit_cast<std::uint32_t>(strip.y[i]);
        const std::int64_t tick = renewal_.tick(name, step);
        if (tick == strip.ticks[i]) continue;
        strip.ticks[i] = tick;
        const double phase = renewal_.phase(name, tick);
        const auto cosine = static_cast<float>(std::cos(phase)), sine = static_cast<float>(std::sin(phase));
        strip.real[i] = strip.first_real[i] * cosine - strip.first_imaginary[i] * sine;
        strip.imaginary[i] = strip.first_real[i] * sine + strip.first_imaginary[i] * cosine;
    }
}

void Tissue::prepare(const BeamBox& box, std::int64_t step) {
    const double reach = arm_.reach_um();
    take_columns(box);
    const std::int64_t first = column_of(box.y_low - reach);
    const std::int64_t last = column_of(box.y_high + reach);
    std::erase_if(strips_, [&](const auto& entry) { return entry.first < first || entry.first > last; });
    std::vector<std::int64_t> missing;
    for (std::int64_t row = first; row <= last; ++row) {
        if (!strips_.contains(row)) missing.push_back(row);
    }
    std::vector<Strip> made(missing.size());
    parallel_for(0, std::ssize(missing), [&](std::int64_t i) { made[index(i)] = strip(missing[index(i)]); });
    for (std::size_t i = 0; i < missing.size(); ++i) strips_.emplace(missing[i], std::move(made[i]));
    if (renewal_.is_static()) return;
    std::vector<Strip*> all;
    for (auto& [row, strip] : strips_) all.push_back(&strip);
    parallel_for(0, std::ssize(all), [&](std::int64_t i) { renew(*all[index(i)], step); });
}

Tissue::Strip Tissue::strip(std::int64_t row) const {
    std::vector<std::vector<PositionedEcho>> placed;
    Strip strip;
    strip.start.resize(index(arm_.sum.slabs() * columns_ + 1));
    for (std::int64_t c = 0; c < columns_; ++c) {
        const auto name = static_cast<std::uint64_t>(first_column_ + c);
        const double cell = arm_.cell_um();
        Column column(arm_, static_cast<double>(first_column_ + c) * cell, static_cast<double>(row) * cell,
                      hashed(seed_, static_cast<std::uint64_t>(row), name));
        placed.push_back(column.filled());
        for (const PositionedEcho& one : placed.back()) {
            ++strip.start[index(one.echo.slab * columns_ + c + 1)];
        }
    }
    for (std::size_t i = 1; i < strip.start.size(); ++i) strip.start[i] += strip.start[i - 1];
    for (auto* list : {&strip.x, &strip.y, &strip.u, &strip.real, &strip.imaginary}) {
        list->resize(index(strip.start.back()));
    }
    for (std::int64_t c = 0; c < columns_; ++c) {
        std::vector<std::int64_t> next(index(arm_.sum.slabs()), 0);
        for (const PositionedEcho& one : placed[index(c)]) {
            const auto slab = index(one.echo.slab);
            const std::int64_t start = strip.start[index(one.echo.slab * columns_ + c)];
            const auto at = index(start + next[slab]++);
            strip.x[at] = one.x;
            strip.y[at] = one.y;
            strip.u[at] = one.echo.u;
            strip.real[at] = one.echo.real;
            strip.imaginary[at] = one.echo.imaginary;
        }
    }
    return strip;
}

void Tissue::gather(double x, double y, SlabLists& lists) const {
    const std::int64_t first = std::max<std::int64_t>(column_of(x - arm_.reach_um()) - first_column_, 0);
    const std::int64_t last = std::min(column_of(x + arm_.reach_um()) - first_column_, columns_ - 1);
    const auto low = strips_.lower_bound(column_of(y - arm_.reach_um()));
    const auto high = strips_.upper_bound(column_of(y + arm_.reach_um()));
    const auto beam_x = static_cast<float>(x);
    const auto beam_y = static_cast<float>(y);
    const auto inverse_square = static_cast<float>(1 / (arm_.beam_um * arm_.beam_um));
    for (std::int64_t slab = 0; slab < arm_.sum.slabs(); ++slab) {
        SlabLists::List& list = lists.lists[index(slab)];
        for (auto entry = low; entry != high; ++entry) {
            const Strip& strip = entry->second;
            const auto begin = index(strip.start[index(slab * columns_ + first)]);
            const auto end = index(strip.start[index(slab * columns_ + last + 1)]);
            const std::size_t old = list.u.size();
            const std::size_t count = end - begin;
            list.u.resize(old + count);
            list.real.resize(old + count);
            list.imaginary.resize(old + count);
            std::copy_n(strip.u.data() + begin, count, list.u.data() + old);
            float* __restrict real = list.real.data() + old;
            float* __restrict imaginary = list.imaginary.data() + old;
            const float* at_x = strip.x.data() + begin;
            const float* at_y = strip.y.data() + begin;
            const float* from_real = strip.real.data() + begin;
            const float* from_imaginary = strip.imaginary.data() + begin;
            for (std::size_t i = 0; i < count; ++i) {
                const float weight = beam_weight(at_x[i] - beam_x, at_y[i] - beam_y, inverse_square);
                real[i] = from_real[i] * weight;
                imaginary[i] = from_imaginary[i] * weight;
            }
        }
    }
}

constexpr double pitch_um = 10;  // mean distance between scatterers of a streamline

Blood::Blood(const SampleArm& arm, std::uint64_t seed) : arm_(arm) {
    for (std::size_t t = 0; t < arm.scenery.tubes.size(); ++t) {
        const Tube& tube = arm.scenery.tubes[t];
        const double area_um2 = std::numbers::pi * tube.radius_um * tube.radius_um;
        const auto count = static_cast<std::uint64_t>(std::ceil(area_um2 * pitch_um * arm.density));
        std::vector<Streamline>& lines = tubes_.emplace_back();
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t key = hashed(seed, t, i);
            const double share = low_fraction(hashed(key));  // share of the tube's area inside r: (r / R)^2
            const double angle = 2 * std::numbers::pi * high_fraction(hashed(key));
            const double r = tube.radius_um * std::sqrt(share);
            lines.push_back({r * std::cos(angle), r * std::sin(angle), 1000 * tube.peak_mm_s * (1 - share), key});
        }
        std::sort(lines.begin(), lines.end(), [](const Streamline& a, const Streamline& b) { return a.dx < b.dx; });
    }
}

Blood::Slice Blood::slice(std::size_t number, double y, double x_low, double x_high) const {
    const Scenery& scenery = arm_.scenery;
    const Tube& tube = scenery.tubes[number];
    Slice slice{scenery.x_slope(tube, y), scenery.z_slope(tube, y), 0, {}};
    const std::vector<Streamline>& lines = tubes_[number];
    const double axis = scenery.x_um(tube, y);
    const double reach = reach_um(slice);
    const auto first = std::lower_bound(lines.begin(), lines.end(), x_low - reach - axis - 1,
                                        [](const Streamline& line, double low) { return line.dx < low; });
    slice.first = index(first - lines.begin());
    std::vector<double> heights(scenery.boundaries.size());
    std::transform(scenery.boundaries.begin(), scenery.boundaries.end(), heights.begin(),
                   [&](const Boundary& boundary) { return scenery.height_um(boundary, scenery.x_um(tube, y), y); });
    for (auto line = first; line != lines.end() && axis + line->dx < x_high + reach; ++line) {
        const double x = axis + line->dx;
        const double z = scenery.z_um(tube, y) + line->dz;
        slice.points.push_back({x, z, arm_.amplitude(tube.brightness, z, scenery.loss(heights, x, y, z))});
    }
    return slice;
}

double Blood::reach_um(const Slice& slice) const {
    return arm_.reach_um() * (1 + std::abs(slice.x_slope));
}

Blood::Section Blood::section(double y, double x_low, double x_high) const {
    Section section{y, {}};
    for (std::size_t t = 0; t < tubes_.size(); ++t) section.tubes.push_back(slice(t, y, x_low, x_high));
    return section;
}

void Blood::gather(const Section& section, double x, double time_s, SlabLists& lists) const {
    const double flow_time_s = arm_.scenery.flow_time_s(time_s);
    for (std::size_t t = 0; t < tubes_.size(); ++t) {
        const Slice& slice = section.tubes[t];
        const double reach = reach_um(slice);
        const auto first = std::lower_bound(slice.points.begin(), slice.points.end(), x - reach,
                                            [](const Slice::Point& point, double low) { return point.x < low; });
        for (auto point = first; point != slice.points.end() && point->x < x + reach; ++point) {
            const Streamline& line = tubes_[t][slice.first + index(point - slice.points.begin())];
            gather_streamline(line, slice, *point, x, section.y, line.speed * flow_time_s, lists);
        }
    }
}

void Blood::gather_streamline(const Streamline& line, const Slice& slice, const Slice::Point& point, double x, double y,
                              double flown, SlabLists& lists) const {
    const double reach = arm_.reach_um();
    const auto inverse_square = static_cast<float>(1 / (arm_.beam_um * arm_.beam_um));
    const auto first = static_cast<std::int64_t>(std::floor((y - reach - flown) / pitch_um)) - 1;
    const auto last = static_cast<std::int64_t>(std::floor((y + reach - flown) / pitch_um));
    for (std::int64_t c = first; c <= last; ++c) {
        const std::uint64_t bits = hashed(line.key, static_cast<std::uint64_t>(c));
        const double dy = (static_cast<double>(c) + low_fraction(bits)) * pitch_um + flown - y;
        const double dx = point.x + slice.x_slope * dy - x;
        if (std::abs(dy) > reach || std::abs(dx) > reach) continue;
        // Streamlines are 1 um thick.
        const double z = point.z + slice.z_slope * dy + high_fraction(bits) - 0.5;
        if (z < 0 || z >= arm_.scenery.deepest_um) continue;
        const float weight = beam_weight(static_cast<float>(dx), static_cast<float>(dy), inverse_square);
        const Echo echo = arm_.echo(z, point.amplitude * static_cast<double>(weight));
        SlabLists::List& list = lists.lists[index(echo.slab)];
        list.u.push_back(echo.u);
        list.real.push_back(echo.real);
        list.imaginary.push_back(echo.imaginary);
    }
}

}  // namespace echolux
