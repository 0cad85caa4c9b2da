// Panel for the view: mode, camera, light, clipping, slices, annotations and quality.
#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "compute/plan/describe.h"
#include "ui/panels/controls.h"
#include "ui/panels/panel.h"
#include "ui/panels/widgets.h"
#include "ui/workspace/actions.h"

namespace echolux {
namespace {

constexpr std::size_t max_slices = 4;
constexpr std::size_t max_clip_planes = 6;

// Buttons for the standard directions, in as many columns as fit.
void draw_directions(const PanelContext& context) {
    const BoundField& look = *context.work.settings().field("view.look");
    const auto directions = std::span(look.choices).subspan(1);  // without "free"
    const float gap = context.style.px(4), room = ImGui::GetContentRegionAvail().x;
    const float widest = ImGui::CalcTextSize("oblique").x + 2 * ImGui::GetStyle().FramePadding.x;
    const auto columns = static_cast<std::size_t>(std::clamp((room + gap) / (widest + gap), 1.0f, 4.0f));
    const float width = (room - static_cast<float>(columns - 1) * gap) / static_cast<float>(columns);
    for (std::size_t i = 0; i < directions.size(); ++i) {
        if (i % columns > 0) ImGui::SameLine(0, gap);
        const std::string direction(directions[i]);
        const Action& action = *context.work.actions().find("camera." + direction);
        const LitButtons lit(context.style, action.is_on());
        if (ImGui::Button(direction.c_str(), {width, 0})) attempt(context, "view", action.run);
        note_place(context, look.key() + "=" + direction);
    }
}

// One range per axis, in fractions of the volume.
void draw_clip_box(const PanelContext& context) {
    constexpr std::array axes{"depth", "A-scans", "B-scans"};
    for (std::size_t axis = 0; axis < 3; ++axis) {
        const View& view = context.work.view();
        const RowColumns places = row_places(context.style);
        row_label(context, axes[axis]);
        ImGui::SameLine(places.control);
        const ValueRange range{view.clip_low[axis], view.clip_high[axis]};
        const auto edit = range_control(context, axes[axis], {0, 1}, range, places.reset - places.control);
        note_place(context, std::string("view.clip.") + axes[axis]);
        tooltip(context, "view.clip_low, view.clip_high: visible part of the volume, as fractions");
        if (!edit) continue;
        std::vector<double> corner = edit->is_low_end ? view.clip_low : view.clip_high;
        corner[axis] = edit->value;
        context.work.change(edit->is_low_end ? "view.clip_low" : "view.clip_high", corner, edit->edit);
    }
}

// The window cannot flatten, because this would need a second volume on the device.
void draw_flattening(const PanelContext& context) {
    const RowColumns places = row_places(context.style);
    row_label(context, "flatten");
    ImGui::SameLine(places.control);
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(context.style.muted, "in saved pictures");
    note_place(context, "view.flatten");
    tooltip(context,
            "view.flatten moves A-scans so that a surface is level. The window shows the volume as recorded: "
            "top_from and bottom_from count from the surface here; echolux render --flatten surface levels it");
}

void draw_cut(const PanelContext& context) {
    draw_clip_box(context);
    draw_group(context, {"view"}, "Clip");
    draw_flattening(context);
    plane_list(context, "view.clip_planes", max_clip_planes, "Add a clip plane");
}

void draw_slices(const PanelContext& context) {
    plane_list(context, "view.slices", max_slices, "Add a slice");
    draw_group(context, {"view", "window"}, "Slices");
}

void draw_section(const PanelContext& context, const char* group) {
    if (section(context, group, false)) draw_group(context, {"view", "window"}, group);
}

class ViewPanel : public NamedPanel {
  public:
    ViewPanel() : NamedPanel("view", "View", PanelSide::right, "render camera light clip annotations") {}
    bool is_available(Workspace& work) const override { return work.viewer().is_open(); }

    void draw(const PanelContext& context) override {
        for (const char* group : {"Mode", "Lights", "Traced light"}) draw_group(context, {"view"}, group);
        draw_directions(context);
        draw_section(context, "Camera");
        draw_section(context, "Light");
        if (section(context, "Clip", false)) draw_cut(context);
        if (section(context, "Slices", false)) draw_slices(context);
        draw_section(context, "Annotations");
        draw_section(context, "Studio");
        draw_section(context, "Quality");
    }
};

}  // namespace

std::unique_ptr<Panel> make_view_panel() {
    return std::make_unique<ViewPanel>();
}

}  // namespace echolux
