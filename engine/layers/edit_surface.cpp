#include "engine/layers/edit_surface.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "compute/error.h"

namespace echolux {
namespace {

// Range of rows available to a surface in an A-scan: between the nearest surfaces above and below.
struct RoomInLine {
    float low, high;
};

RoomInLine room_in(const Surfaces& surfaces, std::size_t surface, std::size_t line, std::int64_t depth) {
    RoomInLine room{0, static_cast<float>(depth - 1)};
    for (std::size_t k = 0; k < surfaces.all.size(); ++k) {
        const float row = surfaces.all[k].rows[line];
        if (k == surface || !std::isfinite(row)) continue;
        if (k < surface)
            room.low = std::max(room.low, row);
        else
            room.high = std::min(room.high, row);
    }
    return room;
}

}  // namespace

double drag_share(std::int64_t distance, std::int64_t reach) {
    const std::int64_t away = std::abs(distance);
    if (away > reach) return 0;
    return 0.5 + 0.5 * std::cos(std::numbers::pi * static_cast<double>(away) / static_cast<double>(reach + 1));
}

std::vector<PlaceEdit> dragged(const Surfaces& surfaces, std::size_t surface, std::int64_t a_scan, std::int64_t b_scan,
                               float row, std::int64_t depth, const DragReach& reach) {
    const bool is_inside = surface < surfaces.all.size() && a_scan >= 0 && a_scan < surfaces.a_scans && b_scan >= 0 &&
                           b_scan < surfaces.b_scans;
    if (!is_inside) throw Error(ErrorCode::bad_setting, "there is no such place of a surface", "layers");
    const Surface& moved = surfaces.all[surface];
    const float before = moved.rows[static_cast<std::size_t>(b_scan * surfaces.a_scans + a_scan)];
    std::vector<PlaceEdit> edits;
    if (!std::isfinite(before) || !std::isfinite(row)) return edits;
    const double by = static_cast<double>(row) - static_cast<double>(before);
    const std::int64_t first_b = std::max<std::int64_t>(0, b_scan - reach.b_scans);
    const std::int64_t last_b = std::min(surfaces.b_scans - 1, b_scan + reach.b_scans);
    const std::int64_t first_a = std::max<std::int64_t>(0, a_scan - reach.a_scans);
    const std::int64_t last_a = std::min(surfaces.a_scans - 1, a_scan + reach.a_scans);
    for (std::int64_t b = first_b; b <= last_b; ++b) {
        for (std::int64_t a = first_a; a <= last_a; ++a) {
            const auto line = static_cast<std::size_t>(b * surfaces.a_scans + a);
            if (!std::isfinite(moved.rows[line])) continue;
            const double share = drag_share(b - b_scan, reach.b_scans) * drag_share(a - a_scan, reach.a_scans);
            const RoomInLine room = room_in(surfaces, surface, line, depth);
            const auto wanted = static_cast<float>(static_cast<double>(moved.rows[line]) + share * by);
            const float now = std::max(room.low, std::min(room.high, wanted));
            if (now != moved.rows[line])
                edits.push_back({line, moved.rows[line], now, moved.quality[line], moved.reasons[line]});
        }
    }
    return edits;
}

void apply(Surfaces& surfaces, std::size_t surface, const std::vector<PlaceEdit>& edits) {
    Surface& moved = surfaces.all.at(surface);
    for (const PlaceEdit& edit : edits) {
        moved.rows[edit.line] = edit.row;
        moved.quality[edit.line] = 0;
        moved.reasons[edit.line] = Reason::ok;
    }
}

void take_back(Surfaces& surfaces, std::size_t surface, const std::vector<PlaceEdit>& edits) {
    Surface& moved = surfaces.all.at(surface);
    for (const PlaceEdit& edit : edits) {
        moved.rows[edit.line] = edit.row_before;
        moved.quality[edit.line] = edit.quality_before;
        moved.reasons[edit.line] = edit.reason_before;
    }
}

}  // namespace echolux
