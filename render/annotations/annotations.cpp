#include "render/annotations/annotations.h"

#include "render/annotations/context.h"

namespace echolux {

// The order of the calls decides which annotation gets its preferred place, see Sheet::make_room().
Sheet annotations_of(const View& view, const VolumeGrid& grid, const TransferFunction& function,
                     const std::optional<FlowScale>& flow, const std::vector<ChannelLegend>& channels) {
    Sheet sheet(view);
    const AnnotationContext context(view, grid, function);
    if (view.depth_ruler) draw_depth_ruler(sheet, context);
    draw_flow_streaks(sheet, context, flow);
    draw_measures(sheet, context);
    draw_frame(sheet, context);
    if (view.colour_bar) draw_colour_bars(sheet, context, flow, channels);
    if (view.scale_bar && view.projection != Projection::panorama) draw_scale_bar(sheet, context);
    if (view.axes && view.projection != Projection::panorama) draw_axes(sheet, context);
    draw_texts(sheet, context);
    return sheet;
}

}  // namespace echolux
