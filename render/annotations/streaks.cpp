#include "render/annotations/streaks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <glm/geometric.hpp>

#include "render/annotations/context.h"
#include "render/colour_maps.h"

namespace echolux {
namespace {

constexpr double um_of_mm = 1000;
constexpr double usual_count = 6;                  // streaks per vessel if the length is automatic
constexpr double apart = 2;                        // distance between streaks, in streak lengths
constexpr double body_widths = 3, rim_widths = 6;  // in line widths of annotations
constexpr double max_count = 1000;                 // streaks per vessel
constexpr double jitter = 0.3;                     // of the distance, in either direction
constexpr double least_level = 0.2;                // of half of the colours, so that slow streaks differ from gray
                                                   // tissue

// A point on a vessel's centre line.
struct CoursePoint {
    glm::dvec3 place;
    double mm_s = 0;
    double at_s = 0;  // arrival time of blood that leaves the first point at 0
};
using Course = std::vector<CoursePoint>;

// Splits the list into vessels. Between points, the speed is the mean of both ends.
std::vector<Course> courses_of(const std::vector<double>& numbers) {
    std::vector<Course> courses;
    double vessel = 0;
    for (std::size_t i = 0; i + 5 <= numbers.size(); i += 5) {
        if (courses.empty() || numbers[i] != vessel) courses.emplace_back();
        vessel = numbers[i];
        Course& course = courses.back();
        CoursePoint point{{numbers[i + 1], numbers[i + 2], numbers[i + 3]}, numbers[i + 4]};
        if (!course.empty()) {
            const CoursePoint& before = course.back();
            const double um_s = um_of_mm * 0.5 * (before.mm_s + point.mm_s);
            point.at_s = before.at_s + glm::distance(before.place, point.place) / um_s;
        }
        course.push_back(point);
    }
    return courses;
}

// Returns a low-discrepancy number in [-1/2, 1/2] for a streak (Weyl, 1916), the same in every picture.
double scattered(std::int64_t number) {
    constexpr double golden = 0.6180339887498949;
    const double part = golden * static_cast<double>(number);
    return part - std::floor(part) - 0.5;
}

// Adds the path of blood between two times after leaving the first point. `pulse` scales the speed.
void add_streak(const Course& course, double tail_s, double head_s, double pulse, std::vector<StreakPiece>& pieces) {
    for (std::size_t i = 0; i + 1 < course.size(); ++i) {
        const CoursePoint &a = course[i], &b = course[i + 1];
        const double from = std::max(tail_s, a.at_s), to = std::min(head_s, b.at_s);
        if (!(from < to)) continue;
        const auto at = [&](double time_s) {
            return a.place + (time_s - a.at_s) / (b.at_s - a.at_s) * (b.place - a.place);
        };
        const glm::dvec3 way = b.place - a.place;
        const double axial = pulse * 0.5 * (a.mm_s + b.mm_s) * way.x / glm::length(way);
        pieces.push_back({at(from), at(to), axial});
    }
}

void add_streaks(const Course& course, const Annotations& view, std::vector<StreakPiece>& pieces) {
    const double whole_s = course.back().at_s;
    if (!(whole_s > 0)) return;
    const double length_s = view.streak_s > 0 ? view.streak_s : whole_s / (apart * usual_count);
    const double count = std::clamp(std::round(whole_s / (apart * length_s)), 1.0, max_count);
    // Streaks move slower than blood by `streak_pace`; they re-enter at the start of the vessel.
    const double moved_s = view.streak_pace * travelled_s(view.streak_pulse, view.streak_time_s);
    const double pulse = pulse_at(view.streak_pulse, view.streak_time_s);
    for (std::int64_t k = 0; k < static_cast<std::int64_t>(count); ++k) {
        // Jitter breaks up the regular spacing.
        const double start_s = (static_cast<double>(k) + 2 * jitter * scattered(k)) * whole_s / count;
        double head_s = std::fmod(start_s + moved_s, whole_s);
        if (head_s < 0) head_s += whole_s;
        add_streak(course, std::max(0.0, head_s - length_s * pulse), head_s, pulse, pieces);
    }
}

// A periodic table of times and values. The period is extended by the mean step, from the last value back to the first.
struct Round {
    explicit Round(const std::vector<double>& pulse) : table(pulse), count(pulse.size() / 2), first_s(pulse[0]) {
        const double last_s = pulse[2 * (count - 1)];
        if (count > 1) length_s = (last_s - first_s) * static_cast<double>(count) / static_cast<double>(count - 1);
    }

    double time(std::size_t i) const { return i < count ? table[2 * i] : first_s + length_s; }
    double value(std::size_t i) const { return table[2 * (i % count) + 1]; }

    // Integrates from the start of the table with the trapezoidal rule.
    double integral(double from_begin_s) const {
        double sum = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const double begin = time(i) - first_s, end = time(i + 1) - first_s;
            const double to = std::min(end, from_begin_s);
            if (to <= begin) break;
            const double last = value(i) + (to - begin) / (end - begin) * (value(i + 1) - value(i));
            sum += 0.5 * (value(i) + last) * (to - begin);
        }
        return sum;
    }

    const std::vector<double>& table;
    std::size_t count;
    double first_s, length_s = 0;
};

// Signed speeds use both halves of the map, others the upper half.
glm::dvec3 colour_of(const ColourMap& map, double axial_mm_s, double range, bool has_sign) {
    const double part = std::clamp(std::abs(axial_mm_s) / range, least_level, 1.0);
    return colour_at(map, has_sign && axial_mm_s < 0 ? 0.5 - 0.5 * part : 0.5 + 0.5 * part);
}

}  // namespace

double pulse_at(const std::vector<double>& pulse, double time_s) {
    if (pulse.size() < 4) return 1;
    const Round round(pulse);
    double at = std::fmod(time_s - round.first_s, round.length_s);
    if (at < 0) at += round.length_s;
    std::size_t i = 0;
    while (i + 1 < round.count && round.time(i + 1) - round.first_s <= at) ++i;
    const double begin = round.time(i) - round.first_s, end = round.time(i + 1) - round.first_s;
    return round.value(i) + (at - begin) / (end - begin) * (round.value(i + 1) - round.value(i));
}

double travelled_s(const std::vector<double>& pulse, double time_s) {
    if (pulse.size() < 4) return time_s;
    const Round round(pulse);
    const auto since_first = [&](double at_s) {
        const double turns = std::floor((at_s - round.first_s) / round.length_s);
        const double rest = at_s - round.first_s - turns * round.length_s;
        return turns * round.integral(round.length_s) + round.integral(rest);
    };
    return since_first(time_s) - since_first(0);
}

std::vector<StreakPiece> streak_pieces(const Annotations& streaks) {
    std::vector<StreakPiece> pieces;
    for (const Course& course : courses_of(streaks.flow_streaks)) {
        if (course.size() > 1) add_streaks(course, streaks, pieces);
    }
    return pieces;
}

// Draws the streaks in the colours of the flow overlay and on its scale. Without an overlay, the scale reaches to the
// fastest streak.
void draw_flow_streaks(Sheet& sheet, const AnnotationContext& context, const std::optional<FlowScale>& flow) {
    const std::vector<StreakPiece> pieces = streak_pieces(context.view);
    if (pieces.empty()) return;
    const bool is_of_speeds = flow && flow->unit == "mm/s" && flow->range > 0;
    double range = is_of_speeds ? flow->range : 0;
    for (const StreakPiece& piece : pieces) {
        if (!is_of_speeds) range = std::max(range, std::abs(piece.axial_mm_s));
    }
    range = std::max(range, 1e-9);
    const ColourMap map = colour_map(context.view.flow_colour_map);
    const auto draw = [&](double widths, const auto& colour) {
        for (const StreakPiece& piece : pieces) {
            const auto line = context.seen(context.from_centre(piece.from), context.from_centre(piece.to));
            if (line) sheet.wide_line(line->from, line->to, widths, colour(piece));
        }
    };
    draw(rim_widths, [](const StreakPiece&) { return glm::vec4(0, 0, 0, 1); });  // makes them visible on the overlay
    draw(body_widths, [&](const StreakPiece& piece) {
        return glm::vec4(colour_of(map, piece.axial_mm_s, range, !is_of_speeds || flow->has_sign), 1);
    });
}

}  // namespace echolux
