#include "ui/panels/volume_facts.h"

#include <algorithm>

#include "compute/plan/describe.h"
#include "render/camera.h"
#include "ui/panels/panel.h"

namespace echolux {
namespace {

double longest(const VolumeFacts& facts) {
    return facts.extents_um.empty() ? 1000 : *std::ranges::max_element(facts.extents_um);
}

// Range of a value setting: the values of the volume and of the transfer function, extended by 25 % at each end. The
// ranges of low and high do not overlap.
ValueRange range_of_values(std::string_view key, const VolumeFacts& facts) {
    const ValueRange shown = facts.range_in_use.value_or(ValueRange{0, 1});
    const ValueRange values = facts.values.value_or(shown);
    const double length = std::max(values.high - values.low, shown.high - shown.low);
    const double more = 0.25 * length, gap = 0.01 * length;
    const double low = std::min(values.low, shown.low) - more, high = std::max(values.high, shown.high) + more;
    if (key == "view.low" || key == "window.section_low") return {low, shown.high - gap};
    if (key == "view.high" || key == "window.section_high") return {shown.low + gap, high};
    return {low, high};
}

// Returns nullopt for settings whose range does not depend on the volume.
std::optional<ValueRange> range_in_volume(std::string_view key, const FieldText& field, const VolumeFacts& facts) {
    if (field.unit == "value") return range_of_values(key, facts);
    if (field.unit == "speed") return ValueRange{0, facts.flow ? 2 * facts.flow->usual : 50};
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

// From the 1 to the 99.9 percentile: the default range of a view.
ValueRange usual_range(const Histogram& histogram) {
    if (histogram.counts.empty() || histogram.low >= histogram.high) return {};
    double all = 0;
    for (const std::uint32_t count : histogram.counts) all += count;
    const double width = (histogram.high - histogram.low) / static_cast<double>(histogram.counts.size());
    const auto value_below = [&](double part) {
        double below = 0;
        std::size_t bin = 0;
        while (bin + 1 < histogram.counts.size() && below + histogram.counts[bin] < part * all) {
            below += histogram.counts[bin++];
        }
        return histogram.low + width * static_cast<double>(bin);
    };
    return {value_below(0.01), value_below(0.999) + width};
}

VolumeFacts facts_of(Workspace& work) {
    VolumeFacts facts;
    if (const Scan* scan = work.settings().scan(); scan != nullptr) facts.depth_bins = scan->geometry.samples / 2;
    ViewSource* view_source = work.viewer().view_source();
    const std::optional<VolumeGrid> grid = view_source != nullptr ? view_source->grid() : std::nullopt;
    if (!grid) return facts;
    const auto extent = volume_extent(*grid);
    facts.extents_um = {extent.x, extent.y, extent.z};
    facts.first_depth_um = grid->first_depth_um;
    facts.flow = view_source->flow_scale(work.view());
    facts.value_unit = short_unit(grid->unit);
    if (const auto histogram = view_source->histogram()) {
        const ValueRange range = usual_range(*histogram);
        facts.values = ValueRange{range.low, range.high};
    }
    if (const auto function = function_in_use(work, work.view()))
        facts.range_in_use = ValueRange{function->range.low, function->range.high};
    return facts;
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
    if (facts.flow && key == "view.flow_range") return facts.flow->range;
    if (facts.flow && key == "view.flow_threshold") return facts.flow->threshold;
    if (!facts.range_in_use) return std::nullopt;
    if (key == "view.low") return facts.range_in_use->low;
    if (key == "view.high") return facts.range_in_use->high;
    if (key == "view.isovalue") return 0.5 * (facts.range_in_use->low + facts.range_in_use->high);
    return std::nullopt;
}

std::optional<TransferFunction> function_in_use(Workspace& work, const View& view) {
    ViewSource* view_source = work.viewer().view_source();
    const std::optional<VolumeGrid> grid = view_source != nullptr ? view_source->grid() : std::nullopt;
    if (!grid) return std::nullopt;
    try {
        // For volumes from files the function comes from the renderer; for sessions it follows from the histogram.
        if (view_source->live() == nullptr) return work.viewer().renderer().transfer_function(view);
        const auto histogram = view_source->histogram();
        return transfer_function(view, *grid, histogram ? usual_range(*histogram) : ValueRange{});
    } catch (const Error&) {  // the view itself displays the error
        return std::nullopt;
    }
}

void refresh_facts(const PanelContext& context) {
    if (context.state.volume_time_s == context.work.now_s()) return;
    context.state.volume_time_s = context.work.now_s();
    context.state.volume = facts_of(context.work);
}

FlowWords flow_words(Workspace& work) {
    constexpr const char *away = "away from probe", *toward = "toward probe";
    const Scan* scan = work.settings().scan();
    const bool is_inverted = scan != nullptr && scan->flow.invert;
    return is_inverted ? FlowWords{toward, away} : FlowWords{away, toward};
}

std::string short_unit(const std::string& unit) {
    return unit.starts_with("dB ") ? "dB" : unit;
}

}  // namespace echolux
