// Pointer input in panes.
#include <fmt/format.h>

#include <cmath>

#include "app/stage/exhibit.h"
#include "app/stage/live_session.h"
#include "compute/error.h"
#include "compute/plan/describe.h"
#include "render/annotations/annotations.h"
#include "render/camera.h"
#include "ui/panels/value_text.h"
#include "ui/panels/volume_facts.h"
#include "ui/window/panes.h"
#include "ui/workspace/layering.h"

namespace echolux {
namespace {

// Interval of probes, which read from the device.
constexpr double probe_every_s = 0.1, probe_live_every_s = 0.25;
constexpr double wheel_rests_s = 0.4;  // pause after which the wheel starts another undo step
constexpr double wheel_zoom = 1.12;    // per notch

glm::dvec2 pointer_in(const Region& place) {
    const ImVec2 at = ImGui::GetIO().MousePos;
    return {static_cast<double>(at.x) - static_cast<double>(place.left),
            static_cast<double>(at.y) - static_cast<double>(place.top)};
}

glm::dvec2 from_middle(const Region& place, const glm::dvec2& at) {
    return at - 0.5 * glm::dvec2(static_cast<double>(place.width), static_cast<double>(place.height));
}

glm::dvec2 pointer_moved() {
    const ImVec2 by = ImGui::GetIO().MouseDelta;
    return {by.x, by.y};
}

std::optional<int> pressed_button() {
    for (const int button : {0, 1, 2}) {
        if (ImGui::IsMouseClicked(button)) return button;
    }
    return std::nullopt;
}

bool is_measuring(const PanelContext& context) {
    return context.state.measure.kind() != MeasureTool::Kind::none;
}

// Parts of the read-out, which are not broken in a narrow pane. Positions have a common unit.
std::vector<std::string> read_out(const Probe& probe) {
    const std::string unit = short_unit(probe.unit);
    std::vector<std::string> parts{short_number(probe.value) + (unit.empty() ? "" : " " + unit)};
    if (probe.has_spacing) {
        const PlaceText place = place_text(probe.place_um, true);
        parts.push_back("depth " + place.numbers[0]);
        parts.push_back("A " + place.numbers[1]);
        parts.push_back("B " + place.numbers[2] + " " + place.unit);
    }
    parts.push_back(fmt::format("voxel {}, {}, {}", probe.voxel[0], probe.voxel[1], probe.voxel[2]));
    return parts;
}

}  // namespace

// Handles the pointer on the item of a pane. Called directly after the item.
void Panes::handle(const PanelContext& context, const VolumeGrid& grid, Pane& pane) {
    const bool is_hovered = ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
    if (is_hovered) {
        hovered_ = pane.kind;
        const glm::dvec2 at = pointer_in(pane.place);
        const std::array<float, 2> now{static_cast<float>(at.x), static_cast<float>(at.y)};
        if (now != pointer_) is_probed_ = false;
        pointer_ = now;
    }
    if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0) && !is_measuring(context)) {
        drag_ = Drag::none;
        toggle_full_size(pane.kind);
        return;
    }
    if (ImGui::IsItemActivated()) begin_drag(context, grid, pane);
    if (ImGui::IsItemActive() && drag_ != Drag::none) drag_on(context, grid, pane);
    if (ImGui::IsItemDeactivated()) {
        if (has_moved_ && drag_ == Drag::values)
            drag_values(context, pane, {0, 0}, Edit::done);
        else if (has_moved_ && drag_ == Drag::light)
            context.work.end_edit();
        else if (has_moved_ && pane.kind == PaneKind::volume)
            context.work.view_edited(Edit::done);
        if (drag_ == Drag::surface) context.work.layering().end_drag(context.work);
        if (!has_moved_ && is_measuring(context)) measure_under_pointer(context);
        drag_ = Drag::none;
    }
    const float notches = ImGui::GetIO().MouseWheel;
    if (is_hovered && notches != 0) wheel(context, grid, pane, notches);
}

// Lights and surfaces take precedence over the usual action of the button.
void Panes::begin_drag(const PanelContext& context, const VolumeGrid& grid, const Pane& pane) {
    const ImGuiIO& io = ImGui::GetIO();
    const Grip grip{pressed_button().value_or(0), io.KeyShift, io.KeyCtrl};
    drag_ = pane.kind == PaneKind::volume ? drag_in_volume(grip, context.work.window().mouse_slicer)
                                          : drag_in_section(grip);
    if (drag_ == Drag::cross && is_measuring(context)) drag_ = Drag::none;
    if (drag_ == Drag::cross && begin_surface_drag(context, grid, pane)) drag_ = Drag::surface;
    held_light_.reset();
    if (pane.kind == PaneKind::volume && grip.button == 0 && !grip.ctrl && !is_measuring(context))
        held_light_ = light_under(context, pane.view, pane.place, pointer_in(pane.place));
    if (held_light_) drag_ = Drag::light;
    has_moved_ = false;
}

void Panes::drag_on(const PanelContext& context, const VolumeGrid& grid, Pane& pane) {
    const glm::dvec2 by = pointer_moved(), at = pointer_in(pane.place);
    const bool moves = by.x != 0 || by.y != 0;
    if (drag_ == Drag::cross && (moves || ImGui::IsItemActivated())) {
        move_cross(context, grid, place_at(pane.view, grid, at));
    }
    if (!moves || !has_dragged(context)) return;
    has_moved_ = true;
    if (drag_ == Drag::light) return drag_light(context, *held_light_, pane.place, at, ImGui::GetIO().KeyShift);
    if (pane.kind == PaneKind::volume) {
        const View moved = dragged(pane.view, drag_, by, from_middle(pane.place, at), volume_extent(grid));
        static_cast<Pose&>(context.work.view()) = moved;
        context.work.view_edited(Edit::under_way);
    } else if (drag_ == Drag::pan) {
        pane.look = look_dragged(pane.look, pane.view, grid, by);
    } else if (drag_ == Drag::zoom) {
        const glm::dvec2 middle(0.5 * static_cast<double>(pane.place.width),
                                0.5 * static_cast<double>(pane.place.height));
        pane.look = look_enlarged(pane.look, pane.view, grid, middle, zoom_factor(by.y));
    } else if (drag_ == Drag::surface) {
        drag_surface(context, grid, pane, at);
    } else if (drag_ == Drag::values) {
        drag_values(context, pane, by, Edit::under_way);
    }
}

// A click tolerates small movements.
bool Panes::has_dragged(const PanelContext& context) const {
    if (has_moved_) return true;
    constexpr float trembles = 3;
    const ImVec2 by = ImGui::GetMouseDragDelta(ImGui::IsMouseDown(0) ? 0 : ImGui::IsMouseDown(1) ? 1 : 2, 0);
    return std::hypot(by.x, by.y) > context.style.px(trembles);
}

// Changes window and level of all sections, and of the volume if it is linked.
void Panes::drag_values(const PanelContext& context, const Pane& pane, const glm::dvec2& by, Edit edit) {
    const bool is_linked = context.work.window().link_levels;
    const auto function = function_in_use(context.work, is_linked ? context.work.view() : view_of(context, pane));
    if (!function) return;
    const ValueRange range =
        values_dragged(function->range, by, static_cast<double>(std::min(pane.place.width, pane.place.height)));
    const std::string low = is_linked ? "view.low" : "window.section_low";
    const std::string high = is_linked ? "view.high" : "window.section_high";
    context.work.change_together(low, {{low, range.low}, {high, range.high}}, edit);
}

// The wheel zooms the volume. In sections it moves the cross-hair by one slice, or zooms with Ctrl.
void Panes::wheel(const PanelContext& context, const VolumeGrid& grid, Pane& pane, float notches) {
    const glm::dvec2 at = pointer_in(pane.place);
    const double factor = std::pow(wheel_zoom, static_cast<double>(notches));
    if (pane.kind == PaneKind::volume) {
        const View moved = dollied(pane.view, factor, from_middle(pane.place, at), volume_extent(grid));
        static_cast<Pose&>(context.work.view()) = moved;
        context.work.view_edited(Edit::under_way);
        edited_s_ = context.work.now_s();
    } else if (ImGui::GetIO().KeyCtrl) {
        pane.look = look_enlarged(pane.look, pane.view, grid, at, factor);
    } else {
        const int axis = axis_across(pane.kind);
        const std::array<double, 3>& cross = context.work.cross_um();
        glm::dvec3 place(cross[0], cross[1], cross[2]);
        place[axis] += (notches > 0 ? 1 : -1) * voxel_edges(grid)[static_cast<std::size_t>(axis)];
        move_cross(context, grid, place);
    }
}

void Panes::close_edit(const PanelContext& context) {
    if (edited_s_ < 0 || context.work.now_s() - edited_s_ < wheel_rests_s) return;
    edited_s_ = -1;
    context.work.view_edited(Edit::done);
}

// A live session reprocesses the B-scan at the cross-hair first.
void Panes::move_cross(const PanelContext& context, const VolumeGrid& grid, const glm::dvec3& place) {
    const std::array<double, 3> inside = kept_inside({place.x, place.y, place.z}, grid);
    context.work.set_cross_um(inside);
    if (LiveSession* live = context.work.stage().exhibit()->live()) live->look_at(voxel_index(inside[2], grid, 2));
}

// Probes the displayed picture immediately, without waiting for it to be refined.
void Panes::measure_under_pointer(const PanelContext& context) {
    Exhibit& exhibit = *context.work.stage().exhibit();
    context.state.measure.under_pointer = hovered_ ? probe(exhibit) : std::nullopt;
    if (context.state.measure.under_pointer)
        context.state.measure.take(context.work, *context.state.measure.under_pointer);
    else
        context.work.notices().note("view", "nothing is seen at that place: click on what is to be measured");
}

std::optional<Probe> Panes::probe(Exhibit& exhibit) {
    const Pane& pane = panes_[static_cast<std::size_t>(*hovered_)];
    try {
        return exhibit.probe(pane.view, static_cast<std::int64_t>(pointer_[0]), static_cast<std::int64_t>(pointer_[1]));
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device) throw;
        return std::nullopt;
    }
}

// Limited to a few times per second, because probing reads from the device.
void Panes::look_under_pointer(const PanelContext& context, Exhibit& exhibit) {
    const bool is_live = exhibit.live() != nullptr && exhibit.live()->is_running();
    const double now = context.work.now_s();
    if (!hovered_ || drag_ != Drag::none || now - probed_s_ < (is_live ? probe_live_every_s : probe_every_s)) return;
    if (!is_live && is_probed_) return;
    is_probed_ = true;
    probed_s_ = now;
    const std::optional<Probe> found = probe(exhibit);
    context.state.measure.under_pointer = found;
    read_out_ = found ? read_out(*found) : std::vector<std::string>{};
}

}  // namespace echolux
