#include "ui/panels/control_hints.h"

#include <algorithm>

namespace echolux {
namespace {

double longest(const VolumeFacts& facts) {
    return facts.extents_um.empty() ? 1000 : *std::ranges::max_element(facts.extents_um);
}

// Half as much again as what occurs, or is shown; low stays below high.
ValueRange range_of_values(std::string_view key, const VolumeFacts& facts) {
    const ValueRange shown = facts.range_in_use.value_or(ValueRange{0, 1});
    const ValueRange values = facts.values.value_or(shown);
    const double length = std::max(values.high - values.low, shown.high - shown.low);
    const double more = 0.25 * length, least = 0.01 * length;
    const double low = std::min(values.low, shown.low) - more, high = std::max(values.high, shown.high) + more;
    if (key == "view.low") return {low, shown.high - least};
    if (key == "view.high") return {shown.low + least, high};
    return {low, high};
}

std::optional<ValueRange> range_in_volume(std::string_view key, const FieldText& field, const VolumeFacts& facts) {
    if (field.unit == "value") return range_of_values(key, facts);
    if (key == "recipe.depth_begin" || key == "recipe.depth_end") {
        if (facts.depth_bins > 0) return ValueRange{0, static_cast<double>(facts.depth_bins)};
        return ValueRange{0, 2048};
    }
    if (field.unit != "um" || field.high < 1e9) return std::nullopt;
    if ((key == "view.top_um" || key == "view.bottom_um") && !facts.extents_um.empty()) {
        return ValueRange{facts.first_depth_um, facts.first_depth_um + facts.extents_um[0]};
    }
    if (field.low >= 0) return ValueRange{0, longest(facts)};
    return ValueRange{-0.5 * longest(facts), 0.5 * longest(facts)};
}

}  // namespace

ControlHint hint_for(std::string_view key, const FieldText& field, const VolumeFacts& facts) {
    ControlHint hint = field.control;
    if (!hint.soft_range) hint.soft_range = range_in_volume(key, field, facts);
    return hint;
}

std::optional<double> value_in_effect(std::string_view key, const VolumeFacts& facts) {
    if (key == "view.bottom_um" && !facts.extents_um.empty()) return facts.first_depth_um + facts.extents_um[0];
    if (key == "view.top_um" && !facts.extents_um.empty()) return facts.first_depth_um;
    if (key == "recipe.depth_end" && facts.depth_bins > 0) return static_cast<double>(facts.depth_bins);
    if (key == "view.opacity_length_um" && !facts.extents_um.empty()) return facts.extents_um[0];
    if (!facts.range_in_use) return std::nullopt;
    if (key == "view.low") return facts.range_in_use->low;
    if (key == "view.high") return facts.range_in_use->high;
    if (key == "view.isovalue") return 0.5 * (facts.range_in_use->low + facts.range_in_use->high);
    return std::nullopt;
}

}  // namespace echolux
