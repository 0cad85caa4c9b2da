// Judges the positions found for B-scans: which are valid, why others are not, and where the eye jumped.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/registration/strips.h"

namespace echolux {
namespace {

// peak to second peak
constexpr double min_ratio = 1.1;
constexpr double jump = 1.5;  // samples across a gap that indicate a saccade

using Axis = double RowShift::*;
constexpr std::array<Axis, 3> axes{&RowShift::z, &RowShift::x, &RowShift::y};

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Returns whether a row has a position, even if it is at the end of the search range.
bool has_place(const RowShift& row) {
    return row.is_valid() || row.reason == RowReason::out_of_range;
}

// Returns whether a row deviates from the median of its neighbours by more than `max_apart` samples.
bool is_far(const std::vector<RowShift>& rows, std::int64_t at, double max_apart) {
    for (const Axis axis : axes) {
        std::vector<double> around;
        for (std::int64_t j = std::max<std::int64_t>(0, at - 3); j <= std::min(std::ssize(rows) - 1, at + 3); ++j) {
            if (has_place(rows[static_cast<std::size_t>(j)])) around.push_back(rows[static_cast<std::size_t>(j)].*axis);
        }
        if (std::abs(rows[static_cast<std::size_t>(at)].*axis - median(around)) > max_apart) return true;
    }
    return false;
}

// Rejects rows at the end of the reference that follow rows found only at the end of the range. They match there
// because the rest of the reference is missing; their true position is beyond it.
void reject_behind_range(std::vector<RowShift>& rows, const std::vector<StripPlace>& places) {
    for (const std::int64_t side : {1, -1}) {
        const std::int64_t count = std::ssize(rows);
        bool is_beyond = false;  // state of the last row that was found
        for (std::int64_t step = 0; step < count; ++step) {
            const auto j = static_cast<std::size_t>(side > 0 ? step : count - 1 - step);
            const bool is_lost = is_beyond && rows[j].is_valid() && places[j].past == side;
            if (is_lost) rows[j].reason = RowReason::no_overlap;
            if (has_place(rows[j])) is_beyond = !rows[j].is_valid();
        }
    }
}

// Interpolates rejected rows between valid ones, and extends the nearest position to the ends. Requires one valid row.
void fill_gaps(std::vector<RowShift>& rows) {
    std::int64_t last = -1;
    for (std::int64_t j = 0; j <= std::ssize(rows); ++j) {
        const bool is_end = j == std::ssize(rows);
        if (!is_end && !rows[static_cast<std::size_t>(j)].is_valid()) continue;
        for (std::int64_t gap = last + 1; gap < j; ++gap) {
            RowShift& row = rows[static_cast<std::size_t>(gap)];
            const RowShift& left = rows[static_cast<std::size_t>(last < 0 ? j : last)];
            const RowShift& right = rows[static_cast<std::size_t>(is_end ? last : j)];
            const double part =
                last < 0 || is_end ? 0 : static_cast<double>(gap - last) / static_cast<double>(j - last);
            for (const Axis axis : axes) row.*axis = left.*axis + part * (right.*axis - left.*axis);
        }
        last = j;
    }
}

// Marks rows that move faster than `speed` samples per B-scan, and rejected runs between two distant positions.
void mark_saccades(std::vector<RowShift>& rows, double speed) {
    const std::int64_t count = std::ssize(rows);
    std::vector<bool> fast(rows.size());
    for (std::int64_t j = 0; j < count; ++j) {
        const RowShift& before = rows[static_cast<std::size_t>(std::max<std::int64_t>(0, j - 1))];
        const RowShift& after = rows[static_cast<std::size_t>(std::min(count - 1, j + 1))];
        const auto apart = static_cast<double>(std::min(count - 1, j + 1) - std::max<std::int64_t>(0, j - 1));
        fast[static_cast<std::size_t>(j)] =
            std::abs(after.x - before.x) > speed * apart || std::abs(after.y - before.y) > speed * apart;
    }
    for (std::int64_t begin = 0; begin < count; ++begin) {  // runs of rejected rows with valid rows on both sides
        if (rows[static_cast<std::size_t>(begin)].is_valid()) continue;
        std::int64_t end = begin;
        while (end < count && !rows[static_cast<std::size_t>(end)].is_valid()) ++end;
        if (begin > 0 && end < count) {
            const RowShift &left = rows[static_cast<std::size_t>(begin - 1)],
                           &right = rows[static_cast<std::size_t>(end)];
            const bool jumps = std::abs(right.x - left.x) > jump || std::abs(right.y - left.y) > jump;
            for (std::int64_t j = begin; j < end && jumps; ++j) fast[static_cast<std::size_t>(j)] = true;
        }
        begin = end;
    }
    for (std::size_t j = 0; j < rows.size(); ++j) {
        rows[j].is_saccade = fast[j];
        const bool is_open = rows[j].reason == RowReason::weak_match || rows[j].reason == RowReason::ambiguous;
        if (fast[j] && is_open) rows[j].reason = RowReason::saccade;
    }
}

}  // namespace

// Converts strip positions to row shifts and sets their reasons. `chance` is the correlation that noise reaches.
std::vector<RowShift> judged(const std::vector<StripPlace>& places, const std::vector<float>& norms, std::int64_t rows,
                             double chance, double max_apart, const RegistrationSettings& settings) {
    std::vector<double> qualities;
    for (const StripPlace& place : places) {
        if (place.quality > chance) qualities.push_back(place.quality);
    }
    const double least = std::max(chance, settings.min_quality * median(qualities));
    std::vector<RowShift> shifts;
    for (std::size_t j = 0; j < places.size(); ++j) {
        const StripPlace& place = places[j];
        RowShift shift{.z = place.z, .x = place.x, .y = place.y, .quality = std::max(0.0, place.quality)};
        if (norms[j] <= 0) {
            shift.reason = RowReason::no_signal;
        } else if (place.quality <= -1) {
            shift.reason = RowReason::no_overlap;
        } else if (place.quality < least) {
            shift.reason = RowReason::weak_match;
        } else if (place.is_at_border) {
            shift.reason = RowReason::out_of_range;
        } else if (place.ratio < min_ratio) {
            shift.reason = RowReason::ambiguous;
        }
        shifts.push_back(shift);
    }
    std::vector<bool> far(shifts.size());
    for (std::int64_t j = 0; j < std::ssize(shifts); ++j) {
        far[static_cast<std::size_t>(j)] =
            shifts[static_cast<std::size_t>(j)].is_valid() && is_far(shifts, j, max_apart);
    }
    for (std::size_t j = 0; j < shifts.size(); ++j) {
        if (far[j]) shifts[j].reason = RowReason::ambiguous;
    }
    reject_behind_range(shifts, places);
    if (std::ranges::none_of(shifts, &RowShift::is_valid)) return shifts;  // matches of noise are meaningless
    fill_gaps(shifts);
    for (std::size_t j = 0; j < shifts.size(); ++j) {
        const double row = static_cast<double>(j) + shifts[j].y;
        const bool is_outside = row < 1 || row > static_cast<double>(rows) - 2;
        if (shifts[j].reason == RowReason::weak_match && is_outside && rows > 1)
            shifts[j].reason = RowReason::no_overlap;
    }
    mark_saccades(shifts, settings.saccade_speed);
    return shifts;
}

}  // namespace echolux
