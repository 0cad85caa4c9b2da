#include "ui/panels/volume_facts.h"

#include "render/camera.h"

namespace echolux {
namespace {

// From the 1st to the 99.9th percentile: what views take where they know nothing better.
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
    if (const Scan* scan = work.scan(); scan != nullptr) facts.depth_bins = scan->geometry.samples / 2;
    Exhibit* exhibit = work.stage().exhibit();
    const std::optional<VolumeGrid> grid = exhibit != nullptr ? exhibit->grid() : std::nullopt;
    if (!grid) return facts;
    const auto extent = volume_extent(*grid);
    facts.extents_um = {extent.x, extent.y, extent.z};
    facts.first_depth_um = grid->first_depth_um;
    facts.value_unit = short_unit(grid->unit);
    if (const auto histogram = exhibit->histogram()) {
        const ValueRange range = usual_range(*histogram);
        facts.values = ValueRange{range.low, range.high};
    }
    if (const auto function = function_in_use(work, work.view()))
        facts.range_in_use = ValueRange{function->range.low, function->range.high};
    return facts;
}

}  // namespace

std::optional<TransferFunction> function_in_use(Workspace& work, const View& view) {
    Exhibit* exhibit = work.stage().exhibit();
    const std::optional<VolumeGrid> grid = exhibit != nullptr ? exhibit->grid() : std::nullopt;
    if (!grid) return std::nullopt;
    try {
        if (exhibit->live() == nullptr) return work.stage().renderer().transfer_function(view);
        const auto histogram = exhibit->histogram();
        return transfer_function(view, *grid, histogram ? usual_range(*histogram) : ValueRange{});
    } catch (const Error&) {  // the picture says why, where it stands
        return std::nullopt;
    }
}

void refresh_facts(const PanelContext& context) {
    if (context.state.volume_time_s == context.work.now_s()) return;
    context.state.volume_time_s = context.work.now_s();
    context.state.volume = facts_of(context.work);
}

std::string short_unit(const std::string& unit) {
    return unit.starts_with("dB") ? "dB" : unit;
}

}  // namespace echolux
