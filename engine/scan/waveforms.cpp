#include "engine/scan/waveforms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <optional>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"

namespace echolux {

template <>
const std::vector<Field<Galvo>>& describe<Galvo>() {
    using G = Galvo;
    constexpr Effect effect = Effect::file;
    static const Fields<G> fields{
        number("x_volts_per_mm", &G::x_volts_per_mm, -1e3, 1e3, "V/mm", effect, "gain of x; negative: reversed")
            .in("Galvanometers"),
        number("y_volts_per_mm", &G::y_volts_per_mm, -1e3, 1e3, "V/mm", effect, "gain of y; negative: reversed"),
        number("x_offset_volts", &G::x_offset_volts, -100, 100, "V", effect, "voltage of x at the centre of the field"),
        number("y_offset_volts", &G::y_offset_volts, -100, 100, "V", effect, "voltage of y at the centre of the field"),
        number("max_volts", &G::max_volts, 1e-3, 100, "V", effect, "maximum voltage in either direction"),
        number("max_velocity_mm_s", &G::max_velocity_mm_s, 1e-3, 1e9, "mm/s", effect, "maximum velocity of the beam"),
        number("max_acceleration_mm_s2", &G::max_acceleration_mm_s2, 1e-3, 1e12, "mm/s2", effect,
               "maximum acceleration of the beam"),
        number("max_jerk_mm_s3", &G::max_jerk_mm_s3, 1e-3, 1e16, "mm/s3", effect,
               "maximum rate of change of the acceleration"),
        integer("samples_per_line", &G::samples_per_line, 1, 4096, "", effect, "voltages per line")};
    return fields.list();
}

// ---- Moves of one axis

namespace {

struct Ramp {
    double edge = 0, middle = 0;  // durations at full jerk, twice, and at full acceleration
    double jerk = 0;
    double distance = 0;

    double duration() const { return 2 * edge + middle; }
};

Ramp ramp(double from, double to, const AxisLimits& limits) {
    const double change = std::abs(to - from), a = limits.acceleration, j = limits.jerk;
    const bool is_long = change * j >= a * a;
    Ramp made{is_long ? a / j : std::sqrt(change / j), is_long ? change / a - a / j : 0, to < from ? -j : j, 0};
    made.distance = (from + to) / 2 * made.duration();
    return made;
}

// A move between two velocities without acceleration at its ends: ramp, hold, ramp.
struct CoreMove {
    double from = 0, to = 0, distance = 0, duration = 0;
    AxisLimits limits;

    double held(double peak) const {
        return duration - ramp(from, peak, limits).duration() - ramp(peak, to, limits).duration();
    }
    double excess(double peak) const {
        return ramp(from, peak, limits).distance + ramp(peak, to, limits).distance + peak * held(peak) - distance;
    }

    // Returns the velocity farthest towards `limit` for which both ramps fit into the duration.
    double reach(double inside, double limit) const {
        if (held(limit) >= 0) return limit;
        for (int i = 0; i < 100; ++i) {
            const double middle = (inside + limit) / 2;
            (held(middle) >= 0 ? inside : limit) = middle;
        }
        return inside;
    }

    std::optional<double> root(double low, double high) const {
        if (excess(low) > 0 || excess(high) < 0) return {};
        for (int i = 0; i < 100; ++i) {
            const double middle = (low + high) / 2;
            (excess(middle) > 0 ? high : low) = middle;
        }
        return (low + high) / 2;
    }

    std::optional<double> peak() const {
        const auto [low, high] = std::minmax(from, to);
        if (held(from) < 0) return {};
        if (const auto above = root(high, reach(high, limits.velocity))) return above;
        if (const auto below = root(reach(low, -limits.velocity), low)) return below;
        return held((low + high) / 2) >= 0 ? root(low, high) : std::nullopt;
    }
};

void append(std::vector<JerkPiece>& pieces, const Ramp& ramp) {
    pieces.push_back({ramp.edge, ramp.jerk});
    pieces.push_back({ramp.middle, 0});
    pieces.push_back({ramp.edge, -ramp.jerk});
}

AxisState advance(const AxisState& s, double t, double jerk) {
    return {s.position + t * (s.velocity + t * (s.acceleration / 2 + t * jerk / 6)),
            s.velocity + t * (s.acceleration + t * jerk / 2), s.acceleration + t * jerk};
}

}  // namespace

AxisState state_at(AxisState state, const std::vector<JerkPiece>& pieces, double time) {
    for (const JerkPiece& piece : pieces) {
        const double t = std::min(time, piece.duration);
        state = advance(state, t, piece.jerk);
        time -= t;
        if (time <= 0) break;
    }
    return state;
}

std::vector<JerkPiece> axis_move(const AxisState& start, const AxisState& end, const AxisLimits& limits,
                                 double duration) {
    const JerkPiece unload{std::abs(start.acceleration) / limits.jerk, -std::copysign(limits.jerk, start.acceleration)};
    const JerkPiece load{std::abs(end.acceleration) / limits.jerk, std::copysign(limits.jerk, end.acceleration)};
    const AxisState from = advance(start, unload.duration, unload.jerk);
    const AxisState to = advance(end, -load.duration, load.jerk);
    const CoreMove core{from.velocity, to.velocity, to.position - from.position,
                        duration - unload.duration - load.duration, limits};
    if (core.duration < 0) return {};
    const std::optional<double> peak = core.peak();
    if (!peak) return {};
    std::vector<JerkPiece> pieces{unload};
    append(pieces, ramp(core.from, *peak, limits));
    pieces.push_back({core.held(*peak), 0});
    append(pieces, ramp(*peak, core.to, limits));
    pieces.push_back(load);
    return pieces;
}

// ---- Whole patterns

namespace {

enum Axis { x_axis, y_axis };

// Beam positions in mm at the line centres of one acquired B-scan, and between them.
class FramePath {
  public:
    FramePath(const ScanPattern& pattern, const ScanGeometry& geometry, std::int64_t frame) {
        const std::int64_t lines = geometry.lines_per_b_scan();
        for (std::int64_t line = 0; line < lines; ++line) {
            const FieldPoint beam = pattern.at(frame, line).beam;
            mm_[x_axis].push_back(beam.x_um / 1000);
            mm_[y_axis].push_back(beam.y_um / 1000);
        }
        if (geometry.a_repeats > 1) spread_repeats(geometry.a_repeats);
    }

    // `line` is a time in lines: 0 at the first centre, -1/2 at the start. Cubic between centres.
    double at(Axis axis, double line) const {
        const std::vector<double>& mm = mm_[axis];
        if (mm.size() < 4) return mm.size() == 1 ? mm[0] : linear(mm, line);
        const double first = std::clamp(std::floor(line) - 1, 0.0, static_cast<double>(mm.size()) - 4);
        const double t = line - first;
        const double* p = &mm[static_cast<std::size_t>(first)];
        return -p[0] * (t - 1) * (t - 2) * (t - 3) / 6 + p[1] * t * (t - 2) * (t - 3) / 2 -
               p[2] * t * (t - 1) * (t - 3) / 2 + p[3] * t * (t - 1) * (t - 2) / 6;
    }

    // State at the start or the end, half a line beyond the outer centres, from the cubic there.
    AxisState edge(Axis axis, bool is_end, double line_s) const {
        const double at_line = is_end ? static_cast<double>(mm_[axis].size()) - 0.5 : -0.5;
        const double h = is_end ? -1 : 1;
        const double p0 = at(axis, at_line), p1 = at(axis, at_line + h), p2 = at(axis, at_line + 2 * h),
                     p3 = at(axis, at_line + 3 * h);
        if (mm_[axis].size() < 4) return {p0, mm_[axis].size() == 1 ? 0 : (p1 - p0) / (h * line_s), 0};
        return {p0, (-11 * p0 + 18 * p1 - 9 * p2 + 2 * p3) / (6 * h * line_s),
                (2 * p0 - 5 * p1 + 4 * p2 - p3) / (line_s * line_s)};
    }

    std::span<const double> centres(Axis axis) const { return mm_[axis]; }

  private:
    static double linear(const std::vector<double>& mm, double line) {
        const double first = std::clamp(std::floor(line), 0.0, static_cast<double>(mm.size()) - 2);
        const std::size_t i = static_cast<std::size_t>(first);
        return mm[i] + (line - first) * (mm[i + 1] - mm[i]);
    }

    // Replaces the steps of repeated positions by a steady motion through the same mean positions.
    void spread_repeats(std::int64_t repeats) {
        for (std::vector<double>& mm : mm_) {
            std::vector<double> positions;
            for (std::size_t i = 0; i < mm.size(); i += index(repeats)) positions.push_back(mm[i]);
            if (positions.size() < 2) continue;
            for (std::size_t i = 0; i < mm.size(); ++i) {
                const double position = (static_cast<double>(i) + 0.5) / static_cast<double>(repeats) - 0.5;
                mm[i] = linear(positions, position);
            }
        }
    }

    std::array<std::vector<double>, 2> mm_;
};

class Scanner {
  public:
    Scanner(const ScanGeometry& geometry, const Galvo& galvo, std::span<const double> fast_axis)
        : geometry_(geometry),
          galvo_(galvo), limits_{galvo.max_velocity_mm_s, galvo.max_acceleration_mm_s2, galvo.max_jerk_mm_s3} {
        if (geometry.line_rate_hz <= 0) {
            throw Error(ErrorCode::bad_setting, "the line rate is unknown", "scan.line_rate_hz",
                        "set the rate of the line trigger in Hz");
        }
        line_s_ = 1 / geometry.line_rate_hz;
        const double samples = static_cast<double>(geometry.frames_per_volume()) *
                               static_cast<double>(geometry.lines_per_b_scan()) *
                               static_cast<double>(galvo.samples_per_line);
        if (samples > 1e8) {
            throw Error(ErrorCode::bad_setting, fmt::format("a volume has {:.2g} samples, more than 10^8", samples),
                        "galvo.samples_per_line", "use fewer samples per line, or fewer lines");
        }
        const ScanPattern pattern(geometry, field_size(geometry), fast_axis);
        for (std::int64_t frame = 0; frame < geometry.frames_per_volume(); ++frame)
            frames_.emplace_back(pattern, geometry, frame);
        for (const FramePath& frame : frames_) check_lines(frame);
    }

    Waveforms waveforms(Progress* progress) {
        if (progress != nullptr) progress->begin("waveforms", std::ssize(frames_), "B-scans");
        choose_flyback();
        Waveforms made;
        made.sample_rate_hz = geometry_.line_rate_hz * static_cast<double>(galvo_.samples_per_line);
        made.flyback_lines = flyback_lines_;
        made.flyback_frames = flyback_frames_;
        made.longest_return_s = longest_return_s_;
        for (std::size_t frame = 0; frame < frames_.size(); ++frame) {
            add_lines(made, frames_[frame]);
            const bool is_last = frame + 1 == frames_.size();
            add_return(made, frames_[frame], frames_[is_last ? 0 : frame + 1],
                       is_last ? lines_of_last_return() : flyback_lines_);
            if (progress != nullptr) progress->advance(1);
        }
        if (progress != nullptr) progress->end();
        const std::int64_t lines = std::ranges::count(made.is_line, 1);
        made.dead_share = 1 - static_cast<double>(lines) / static_cast<double>(made.is_line.size());
        return made;
    }

  private:
    double seconds(std::int64_t lines) const { return static_cast<double>(lines) * line_s_; }

    [[noreturn]] void refuse_lines(const char* what, double needed, double limit, int order) const {
        throw Error(ErrorCode::bad_setting,
                    fmt::format("lines at {:g} Hz need {} of {:.3g}, the limit is {:.3g}", geometry_.line_rate_hz, what,
                                needed, limit),
                    "scan.line_rate_hz",
                    fmt::format("use at most {:.0f} Hz, or a smaller field",
                                geometry_.line_rate_hz * std::pow(limit / needed, 1.0 / order)));
    }

    // Derivatives of the lines themselves, by differences between centres.
    void check_lines(const FramePath& frame) const {
        const std::array<const char*, 3> names{"a velocity in mm/s", "an acceleration in mm/s2", "a jerk in mm/s3"};
        const std::array<double, 3> limits{limits_.velocity, limits_.acceleration, limits_.jerk};
        for (const Axis axis : {x_axis, y_axis}) {
            std::vector<double> derivative(frame.centres(axis).begin(), frame.centres(axis).end());
            for (int order = 1; order <= 3 && derivative.size() > 1; ++order) {
                std::vector<double> next;
                for (std::size_t i = 1; i < derivative.size(); ++i)
                    next.push_back((derivative[i] - derivative[i - 1]) / line_s_);
                derivative = std::move(next);
                const double needed =
                    std::abs(*std::ranges::max_element(derivative, {}, [](double v) { return std::abs(v); }));
                const double limit = limits[index(order - 1)];
                if (needed > limit * (1 + 1e-6)) refuse_lines(names[index(order - 1)], needed, limit, order);
            }
        }
    }

    std::array<std::vector<JerkPiece>, 2> return_moves(const FramePath& from, const FramePath& to,
                                                       double duration) const {
        std::array<std::vector<JerkPiece>, 2> moves;
        for (const Axis axis : {x_axis, y_axis})
            moves[axis] = axis_move(from.edge(axis, true, line_s_), to.edge(axis, false, line_s_), limits_, duration);
        return moves;
    }

    bool is_possible(const FramePath& from, const FramePath& to, double duration) const {
        const auto moves = return_moves(from, to, duration);
        return !moves[x_axis].empty() && !moves[y_axis].empty();
    }

    // Returns the shortest return in seconds, within 0.1 %. Every longer one is possible for returns without
    // overshoot.
    double shortest(const FramePath& from, const FramePath& to) const {
        double low = 0, high = line_s_ / 16;
        for (; !is_possible(from, to, high); high *= 1.25) {
            low = high;
            if (high > 1e6) {
                throw Error(ErrorCode::bad_setting, "no return between B-scans is possible", "galvo.max_velocity_mm_s",
                            "raise the limits, or use a smaller field");
            }
        }
        while (high - low > 1e-3 * high) {
            const double middle = (low + high) / 2;
            (is_possible(from, to, middle) ? high : low) = middle;
        }
        return high;
    }

    std::int64_t lines_for(const FramePath& from, const FramePath& to, double shortest_s) const {
        auto lines = static_cast<std::int64_t>(std::ceil(shortest_s / line_s_ - 1e-9));
        while (!is_possible(from, to, seconds(lines))) ++lines;
        return lines;
    }

    void choose_flyback() {
        std::int64_t needed = 0;
        for (std::size_t i = 0; i + 1 < frames_.size(); ++i) {
            const double s = shortest(frames_[i], frames_[i + 1]);
            longest_return_s_ = std::max(longest_return_s_, s);
            needed = std::max(needed, lines_for(frames_[i], frames_[i + 1], s));
        }
        const double last_s = shortest(frames_.back(), frames_.front());
        const std::int64_t needed_last = lines_for(frames_.back(), frames_.front(), last_s);
        if (frames_.size() == 1) needed = needed_last, longest_return_s_ = last_s;
        flyback_lines_ = geometry_.flyback_lines > 0 ? geometry_.flyback_lines : needed;
        if (flyback_lines_ < needed) refuse_flyback("scan.flyback_lines", flyback_lines_, needed);
        const std::int64_t in_frame = geometry_.lines_per_b_scan() + flyback_lines_;
        const std::int64_t frames = (std::max<std::int64_t>(0, needed_last - flyback_lines_) + in_frame - 1) / in_frame;
        flyback_frames_ = geometry_.flyback_frames > 0 ? geometry_.flyback_frames : frames;
        if (flyback_frames_ < frames) refuse_flyback("scan.flyback_frames", flyback_frames_, frames);
    }

    [[noreturn]] static void refuse_flyback(const char* key, std::int64_t set, std::int64_t needed) {
        throw Error(ErrorCode::bad_setting, fmt::format("no return within the limits takes {}", set), key,
                    needed > 0 ? fmt::format("use {} or more, or 0 for the fewest possible", needed)
                               : std::string("use 0 for the fewest possible"));
    }

    std::int64_t lines_of_last_return() const {
        return flyback_lines_ + flyback_frames_ * (geometry_.lines_per_b_scan() + flyback_lines_);
    }

    void add(Waveforms& made, double x_mm, double y_mm, bool is_line) const {
        const double x = x_mm * galvo_.x_volts_per_mm + galvo_.x_offset_volts;
        const double y = y_mm * galvo_.y_volts_per_mm + galvo_.y_offset_volts;
        if (const double most = std::max(std::abs(x), std::abs(y)); most > galvo_.max_volts) {
            throw Error(ErrorCode::bad_setting,
                        fmt::format("the pattern needs {:.3g} V, the limit is {:g} V", most, galvo_.max_volts),
                        "galvo.max_volts", "check the gain in V/mm, or use a smaller field");
        }
        made.x_volts.push_back(x);
        made.y_volts.push_back(y);
        made.is_line.push_back(is_line ? 1 : 0);
    }

    double sample_line(std::int64_t sample) const {
        return (static_cast<double>(sample) + 0.5) / static_cast<double>(galvo_.samples_per_line);
    }

    void add_lines(Waveforms& made, const FramePath& frame) const {
        const std::int64_t samples = std::ssize(frame.centres(x_axis)) * galvo_.samples_per_line;
        for (std::int64_t i = 0; i < samples; ++i) {
            const double line = sample_line(i) - 0.5;
            add(made, frame.at(x_axis, line), frame.at(y_axis, line), true);
        }
    }

    void add_return(Waveforms& made, const FramePath& from, const FramePath& to, std::int64_t lines) const {
        const auto moves = return_moves(from, to, seconds(lines));
        if (moves[x_axis].empty() || moves[y_axis].empty())
            refuse_flyback("scan.flyback_lines", lines, 0);  // longer, but impossible without an overshoot
        const AxisState x = from.edge(x_axis, true, line_s_), y = from.edge(y_axis, true, line_s_);
        for (std::int64_t i = 0; i < lines * galvo_.samples_per_line; ++i) {
            const double time = sample_line(i) * line_s_;
            add(made, state_at(x, moves[x_axis], time).position, state_at(y, moves[y_axis], time).position, false);
        }
    }

    ScanGeometry geometry_;
    Galvo galvo_;
    AxisLimits limits_;
    double line_s_ = 0;
    std::vector<FramePath> frames_;
    std::int64_t flyback_lines_ = 0, flyback_frames_ = 0;
    double longest_return_s_ = 0;
};

}  // namespace

Waveforms galvo_waveforms(const ScanGeometry& geometry, const Galvo& galvo, std::span<const double> fast_axis,
                          Progress* progress) {
    return Scanner(geometry, galvo, fast_axis).waveforms(progress);
}

std::string waveforms_csv(const Waveforms& w) {
    std::string text(waveforms_heading);
    text += "\n";
    for (std::size_t i = 0; i < w.x_volts.size(); ++i) {
        fmt::format_to(std::back_inserter(text), "{:.9g},{:.9g},{:.9g},{}\n",
                       (static_cast<double>(i) + 0.5) / w.sample_rate_hz, w.x_volts[i], w.y_volts[i], w.is_line[i]);
    }
    return text;
}

// Format 1.0 of NumPy's files: magic, version, length of the header, header padded to 64 bytes.
std::string waveforms_npy(const Waveforms& w) {
    static_assert(std::endian::native == std::endian::little);
    std::string header =
        fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, 3), }}", w.x_volts.size());
    header.resize((10 + header.size() + 64) / 64 * 64 - 10, ' ');
    header.back() = '\n';
    std::string bytes = std::string("\x93NUMPY\x01\x00", 8);
    bytes += {static_cast<char>(header.size() % 256), static_cast<char>(header.size() / 256)};
    bytes += header;
    for (std::size_t i = 0; i < w.x_volts.size(); ++i) {
        const std::array<double, 3> row{w.x_volts[i], w.y_volts[i], static_cast<double>(w.is_line[i])};
        bytes.append(reinterpret_cast<const char*>(row.data()), sizeof row);
    }
    return bytes;
}

}  // namespace echolux
