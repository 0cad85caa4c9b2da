#include "app/jobs/flow_views.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "compute/error.h"
#include "engine/io/output_rule.h"

namespace echolux {
namespace {

constexpr std::string_view arrows_heading = "# Arrows along a vessel";

}  // namespace

std::string view_with_arrows(const std::vector<double>& arrows) {
    return fmt::format("{}, in the direction of its flow\n[view]\nflow_arrows = [{:.1f}]\n", arrows_heading,
                       fmt::join(arrows, ", "));
}

// Shows one speed along the vessel, the median of its sections: all sections carry the same flow, but their measured
// widths differ. Over time, the flow of each volume or B-scan relative to its mean.
std::string view_with_streaks(const MeasuredFlow& measured) {
    constexpr double least_mm_s = 1e-3;
    std::vector<double> speeds, points, pulse;
    for (const FlowValue& value : measured.along) {
        const double mm_s = std::abs(value.flow_ul_s) / value.area_mm2;
        if (std::isfinite(mm_s)) speeds.push_back(mm_s);
    }
    if (speeds.empty()) {
        throw Error(ErrorCode::bad_setting, "no section of the vessel has a speed", "streaks", "leave them out");
    }
    const auto middle = speeds.begin() + std::ssize(speeds) / 2;
    std::ranges::nth_element(speeds, middle);
    for (const auto& [depth, a_scan, b_scan] : measured.course_points)
        points.insert(points.end(), {1, depth, a_scan, b_scan, std::max(*middle, least_mm_s)});
    std::map<double, double> by_time;
    for (const FlowRow& row : measured.rows) {
        if (row.value.reason == FlowReason::ok && std::isfinite(row.time_s))
            by_time[row.time_s] = std::max(0.0, row.value.flow_ul_s / measured.flow_ul_s);
    }
    if (by_time.size() > 1) {
        for (const auto& [time_s, share] : by_time) pulse.insert(pulse.end(), {time_s, share});
    }
    return fmt::format("{}, with the blood in it\n[view]\nflow_streaks = [{:.5g}]\nstreak_pulse = [{:.5g}]\n",
                       arrows_heading, fmt::join(points, ", "), fmt::join(pulse, ", "));
}

bool is_own_flow_view(const std::filesystem::path& path) {
    return begins_with(path, arrows_heading);
}

}  // namespace echolux
