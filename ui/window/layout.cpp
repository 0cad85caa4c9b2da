#include "ui/window/layout.h"

#include <algorithm>
#include <cmath>

namespace echolux {
namespace {

constexpr double status_height = 48, low_status_height = 28, low_window = 420;  // in pixels at scale 1
constexpr double narrowest_column = 230, gap = 3;                               // in pixels at scale 1
constexpr double max_of_width = 0.27;                                           // maximum share of a column
constexpr double min_of_centre = 0.45;                                          // minimum share of the pictures

std::int64_t pixels(double at_scale_1, double scale) {
    return std::llround(at_scale_1 * scale);
}

// A low window has a status line of one line.
bool is_low(const WindowNeeds& needs) {
    return static_cast<double>(needs.height) < low_window * needs.scale;
}

// Width in pixels; 0 if the column is hidden.
std::int64_t column_width(bool is_there, double wanted, const WindowNeeds& needs) {
    if (!is_there) return 0;
    const double max_width = std::max(narrowest_column, max_of_width * static_cast<double>(needs.width) / needs.scale);
    return pixels(std::clamp(wanted, narrowest_column, max_width), needs.scale);
}

// Two parts of a rectangle and the handle between them.
struct Halves {
    Region first, second;
    PaneSplit split;
};

Halves beside(const Region& whole, double share, std::size_t index, std::int64_t between) {
    const std::int64_t first = std::llround(share * static_cast<double>(whole.width - between));
    return {{whole.left, whole.top, first, whole.height},
            {whole.left + first + between, whole.top, whole.width - first - between, whole.height},
            {{whole.left + first, whole.top, between, whole.height}, true, index, whole.left, whole.width}};
}

Halves stacked(const Region& whole, double share, std::size_t index, std::int64_t between) {
    const std::int64_t first = std::llround(share * static_cast<double>(whole.height - between));
    return {{whole.left, whole.top, whole.width, first},
            {whole.left, whole.top + first + between, whole.width, whole.height - first - between},
            {{whole.left, whole.top + first, whole.width, between}, false, index, whole.top, whole.height}};
}

double share_of(const std::vector<double>& split, std::size_t index, double otherwise) {
    return std::clamp(index < split.size() ? split[index] : otherwise, 0.2, 0.8);
}

// Column: the first section has the given share, with two more below it. Row: three sections of equal width.
void add_sections(PanePlan& plan, const Region& whole, bool is_column, double share, std::int64_t between) {
    if (is_column) {
        const Halves upper = stacked(whole, share * 2 / 3, 1, between);
        const Halves lower = stacked(upper.second, 0.5, 1, between);
        plan.splits.push_back(upper.split);
        plan.panes.push_back({PaneKind::b_scan, upper.first});
        plan.panes.push_back({PaneKind::en_face, lower.first});
        plan.panes.push_back({PaneKind::side, lower.second});
        return;
    }
    const Halves left = beside(whole, 1.0 / 3, 0, between);
    const Halves right = beside(left.second, 0.5, 0, between);
    plan.panes.push_back({PaneKind::b_scan, left.first});
    plan.panes.push_back({PaneKind::en_face, right.first});
    plan.panes.push_back({PaneKind::side, right.second});
}

}  // namespace

WindowPlan plan_window(const WindowSettings& settings, const WindowNeeds& needs) {
    WindowPlan plan;
    const std::int64_t top = pixels(static_cast<double>(bar_height), needs.scale),
                       status = pixels(is_low(needs) ? low_status_height : status_height, needs.scale);
    const std::int64_t line = std::max<std::int64_t>(1, pixels(1, needs.scale));
    const std::int64_t middle = std::max<std::int64_t>(1, needs.height - top - status - 2 * line);
    std::int64_t left = column_width(settings.left_panels && needs.is_open, settings.left_width, needs);
    // The panels on the right concern pictures of volumes, which the alignment view does not show.
    const bool has_right = settings.right_panels && (needs.is_open || needs.has_form) && !needs.aligns;
    std::int64_t right = column_width(has_right, settings.right_width, needs);
    // In a small window the pictures keep most of the space: the left panels are hidden first, then the right ones.
    const auto is_cramped = [&] {
        return static_cast<double>(needs.width - left - right) < min_of_centre * static_cast<double>(needs.width);
    };
    if (left > 0 && right > 0 && is_cramped()) left = 0;
    if (is_cramped()) left = right = 0;
    const std::int64_t from = left > 0 ? left + line : 0, to = needs.width - (right > 0 ? right + line : 0);
    const std::int64_t bottom = needs.is_open ? std::min(needs.bottom, middle / 2) : 0;
    plan.top = {0, 0, needs.width, top};
    plan.left = {0, top + line, left, middle};
    plan.right = {needs.width - right, top + line, right, middle};
    plan.centre = {from, top + line, std::max<std::int64_t>(1, to - from),
                   std::max<std::int64_t>(1, middle - (bottom > 0 ? bottom + line : 0))};
    plan.bottom = {from, top + line + middle - bottom, plan.centre.width, bottom};
    plan.status = {0, needs.height - status, needs.width, status};
    return plan;
}

PanePlan plan_panes(const Region& centre, PaneLayout layout, const std::vector<double>& split, double scale) {
    PanePlan plan;
    const std::int64_t between = std::max<std::int64_t>(2, pixels(gap, scale));
    const double volume_share = share_of(split, 0, 0.62), upper_share = share_of(split, 1, 0.5);
    // A square or tall window stacks volume and sections.
    const bool is_wide = static_cast<double>(centre.width) > 1.15 * static_cast<double>(centre.height);
    if (layout == PaneLayout::volume) {
        plan.panes.push_back({PaneKind::volume, centre});
    } else if (layout == PaneLayout::sections) {
        const Halves upper = stacked(centre, upper_share, 1, between);
        const Halves lower = beside(upper.second, volume_share, 0, between);
        plan.panes = {
            {PaneKind::b_scan, upper.first}, {PaneKind::en_face, lower.first}, {PaneKind::side, lower.second}};
        plan.splits = {upper.split, lower.split};
    } else {
        const Halves parts =
            is_wide ? beside(centre, volume_share, 0, between) : stacked(centre, volume_share, 0, between);
        plan.panes.push_back({PaneKind::volume, parts.first});
        plan.splits.push_back(parts.split);
        add_sections(plan, parts.second, is_wide, upper_share, between);
    }
    return plan;
}

}  // namespace echolux
