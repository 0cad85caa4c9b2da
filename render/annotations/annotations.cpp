#include "render/annotations/annotations.h"

#include "render/annotations/stage.h"

namespace echolux {

Sheet annotations_of(const View& view, const VolumeGrid& grid, const TransferFunction& function,
                     const std::optional<FlowScale>& flow) {
    Sheet sheet(view);
    const Stage stage(view, grid, function);
    if (view.depth_ruler) draw_depth_ruler(sheet, stage);
    draw_measures(sheet, stage);
    if (view.colour_bar) draw_colour_bars(sheet, stage, flow);
    if (view.scale_bar) draw_scale_bar(sheet, stage);
    if (view.axes) draw_axes(sheet, stage);
    draw_texts(sheet, stage);
    return sheet;
}

}  // namespace echolux
