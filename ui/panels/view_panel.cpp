// Panel for the view: mode, camera, light, clipping, slices, annotations and quality.
#include <algorithm>
#include <array>

#include "compute/plan/describe.h"
#include "ui/panels/controls.h"
#include "ui/panels/panel.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

constexpr std::size_t max_slices = 4;
constexpr std::size_t max_clip_planes = 6;

// Mode, and the settings that only this mode has.
void draw_mode(const PanelContext& context) {
    setting_row(context, "view.mode");
    switch (context.work.view().mode) {
        case ViewMode::attenuated_mip: return setting_row(context, "view.attenuation");
        case ViewMode::mida: return setting_row(context, "view.mida_balance");
        case ViewMode::points: return setting_row(context, "view.point_size");
        case ViewMode::traced:
            setting_rows(context, {"view.paths", "view.lights", "view.sky", "view.sky_picture"});
            if (!context.work.view().sky_picture.empty()) setting_row(context, "view.sky_turn_deg");
            setting_row(context, "view.isosurface");
            if (context.work.view().isosurface) setting_row(context, "view.isovalue");
            setting_row(context, "view.lamp_brightness");
            if (context.work.view().lights == Lights::lamp) setting_row(context, "view.lamp_size_deg");
            if (context.work.view().lights == Lights::own) setting_row(context, "view.area_lights");
            return setting_rows(context, {"view.scattering", "view.anisotropy", "view.roughness", "view.bounces",
                                          "view.exposure_ev", "view.tone", "view.white_point", "view.aperture_um",
                                          "view.focus_um", "view.denoise", "view.noise_target", "view.seed"});
        case ViewMode::isosurface: return setting_row(context, "view.isovalue");
        default: return;
    }
}

// Buttons for the standard directions, in as many columns as fit.
void draw_directions(const PanelContext& context) {
    constexpr std::array directions{"front", "back", "left", "right", "top", "bottom", "oblique"};
    const float gap = context.style.px(4), room = ImGui::GetContentRegionAvail().x;
    const float widest = ImGui::CalcTextSize("oblique").x + 2 * ImGui::GetStyle().FramePadding.x;
    const auto columns = static_cast<std::size_t>(std::clamp((room + gap) / (widest + gap), 1.0f, 4.0f));
    const float width = (room - static_cast<float>(columns - 1) * gap) / static_cast<float>(columns);
    const auto now = std::get<std::string>(context.work.settings().field("view.look")->get());
    for (std::size_t i = 0; i < directions.size(); ++i) {
        if (i % columns > 0) ImGui::SameLine(0, gap);
        const LitButtons lit(context.style, now == directions[i]);
        if (ImGui::Button(directions[i], {width, 0})) context.work.change("view.look", std::string(directions[i]));
        note_place(context, std::string("view.look=") + directions[i]);
    }
}

void draw_camera(const PanelContext& context) {
    if (context.work.view().look == Look::free) {
        setting_rows(context, {"view.azimuth_deg", "view.elevation_deg", "view.roll_deg"});
    }
    setting_rows(context, {"view.projection", "view.zoom", "view.fit"});
    if (context.work.view().projection == Projection::perspective) setting_row(context, "view.fov_deg");
    if (context.work.view().projection != Projection::orthographic) setting_row(context, "view.distance");
    setting_rows(context, {"view.target_um", "view.near_um"});
}

void draw_light(const PanelContext& context) {
    const View& view = context.work.view();
    setting_row(context, "view.lighting");
    if (!view.lighting) return;
    setting_rows(context, {"view.lighting_strength", "view.gradient_radius", "view.ambient_occlusion", "view.lamp"});
    if (view.lamp == Lamp::free)
        setting_rows(context, {"view.lamp_azimuth_deg", "view.lamp_elevation_deg", "view.shadows"});
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
            "view.flatten moves A-scans so that a surface is level. The window shows the volume as it was recorded: "
            "top_from and bottom_from count from the surface here; echolux render --flatten surface levels it");
}

void draw_cut(const PanelContext& context) {
    draw_clip_box(context);
    setting_rows(context, {"view.top_um", "view.top_from", "view.bottom_um", "view.bottom_from"});
    draw_flattening(context);
    plane_list(context, "view.clip_planes", max_clip_planes, "Add a clip plane");
    setting_row(context, "view.caps");
}

void draw_slices(const PanelContext& context) {
    plane_list(context, "view.slices", max_slices, "Add a slice");
    setting_rows(context, {"view.slices_cut", "view.slice_colours", "view.planes_opacity", "view.show"});
    const View& view = context.work.view();
    if (view.show == ViewContent::slice) {
        setting_row(context, "view.plane");
        if (view.plane == SlicePlane::oblique) setting_row(context, "view.plane_normal");
        setting_row(context, "view.plane_offset_um");
    }
    setting_row(context, "view.slab_um");
    setting_row(context, "window.link_levels");
    if (!context.work.settings().window().link_levels)
        setting_rows(context, {"window.section_low", "window.section_high"});
}

void draw_annotations(const PanelContext& context) {
    setting_rows(context,
                 {"view.box", "view.scale_bar", "view.axes", "view.colour_bar", "view.depth_ruler", "view.time_stamp"});
    if (context.work.view().time_stamp) setting_row(context, "view.time_s");
    setting_row(context, "view.text");
    if (!context.work.view().text.empty()) setting_row(context, "view.text_at");
    setting_rows(context, {"view.title", "view.picture_frame", "view.text_size", "view.text_colour"});
}

void draw_studio(const PanelContext& context) {
    const View& view = context.work.view();
    setting_rows(context, {"view.background", "view.background_lower_colour", "view.ground_shadow"});
    if (view.ground_shadow > 0) setting_row(context, "view.ground_gap_um");
    setting_row(context, "view.outline");
    if (view.outline > 0) setting_rows(context, {"view.outline_sharpness", "view.outline_colour"});
    setting_row(context, "window.light_handles");
}

void draw_quality(const PanelContext& context) {
    setting_rows(context, {"view.step", "view.rest_samples", "view.frame_ms", "view.adaptive", "view.end_early",
                           "view.skip_empty"});
}

class ViewPanel : public NamedPanel {
  public:
    ViewPanel() : NamedPanel("view", "View", PanelSide::right) {}
    bool is_available(Workspace& work) const override { return work.viewer().is_open(); }

    void draw(const PanelContext& context) override {
        draw_mode(context);
        draw_directions(context);
        if (section(context, "Camera", false)) draw_camera(context);
        if (section(context, "Light", false)) draw_light(context);
        if (section(context, "Clip", false)) draw_cut(context);
        if (section(context, "Slices", false)) draw_slices(context);
        if (section(context, "Annotations", false)) draw_annotations(context);
        if (section(context, "Studio", false)) draw_studio(context);
        if (section(context, "Quality", false)) draw_quality(context);
    }
};

}  // namespace

std::unique_ptr<Panel> make_view_panel() {
    return std::make_unique<ViewPanel>();
}

}  // namespace echolux
