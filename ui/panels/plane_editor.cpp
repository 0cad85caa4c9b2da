#include "ui/panels/plane_editor.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/plan/describe.h"
#include "ui/panels/controls.h"
#include "ui/panels/curve_editing.h"
#include "ui/panels/icons.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

constexpr float plane_height = 170;  // at scale 1
constexpr const char* how_to_shape = "Drag widgets and their handles; a right click takes one away.";

const char* name_of(WidgetShape shape) {
    return shape == WidgetShape::box ? "Box" : shape == WidgetShape::arc ? "Arc" : "Stroke";
}

}  // namespace

// Stores the plane in the transfer function of the view.
void PlaneEditor::Edited::set(const TransferPlane& plane, Edit edit) const {
    const auto& own = context.work.view().transfer_curve;
    TransferCurve curve = editable(bare, grid.unit, own ? own->length_um : 0);
    curve.plane = plane;
    context.work.set_transfer_curve(curve, edit);
}

void PlaneEditor::draw(const PanelContext& context, const TransferFunction& bare, const VolumeGrid& grid) {
    const Edited edited{context, bare, grid};
    if (!bare.plane) {
        selected_.reset();
        held_.reset();
        if (plain_button(context, "transfer.plane.add", "Add a second axis",
                         "what is seen by the value and by how steep it changes, too")) {
            edited.set(first_plane(bare, grid));
        }
        return;
    }
    if (selected_ && *selected_ >= bare.plane->widgets.size()) selected_.reset();
    draw_axis(edited);
    draw_tools(edited);
    draw_picture(edited);
    draw_selected(edited);
}

// Selects the second axis and its range.
void PlaneEditor::draw_axis(const Edited& edited) {
    const PanelContext& context = edited.context;
    const TransferPlane& plane = *edited.bare.plane;
    for (const SecondAxis axis : {SecondAxis::gradient, SecondAxis::curvature, SecondAxis::distance}) {
        const char* name = second_axis_names[static_cast<std::size_t>(axis)];
        if (axis != SecondAxis::gradient) ImGui::SameLine();
        const LitButtons lit(context.style, plane.second == axis);
        const bool is_possible = axis != SecondAxis::distance || !context.work.view().top_from.empty();
        if (plain_button(context, std::string("transfer.plane.") + name, name,
                         is_possible ? "" : "needs a surface: view.top_from", is_possible) &&
            plane.second != axis) {
            edited.set(with_second_axis(plane, axis, edited.bare, edited.grid));
        }
    }
    const RowPlaces places = row_places(context.style);
    const double span = plane.to - plane.from;
    const auto end = [&](const char* name, double value, const ValueRange& reach) {
        row_label(context, name);
        ImGui::SameLine(places.control);
        const auto change =
            plain_number(context, name, value, reach, places.unit - places.control - context.style.px(4));
        note_place(context, std::string("transfer.plane.") + name);
        ImGui::SameLine(places.unit);
        ImGui::TextColored(context.style.muted, "%s", second_unit(plane.second, edited.grid.unit).c_str());
        return change;
    };
    TransferPlane other = plane;
    if (const auto change = end("from", plane.from, {plane.from - span, plane.to - 0.01 * span})) {
        other.from = std::min(change->value, plane.to - 0.001 * span);
        edited.set(other, change->edit);
    } else if (const auto changed = end("to", plane.to, {plane.from + 0.01 * span, plane.to + span})) {
        other.to = std::max(changed->value, plane.from + 0.001 * span);
        edited.set(other, changed->edit);
    }
}

// Buttons that add a box or an arc, or switch the brush on.
void PlaneEditor::draw_tools(const Edited& edited) {
    const PanelContext& context = edited.context;
    const TransferPlane& plane = *edited.bare.plane;
    const ValueRange values{edited.bare.range.low, edited.bare.range.high};
    const auto add = [&](const char* name, const char* label, WidgetShape shape, const char* help) {
        if (!plain_button(context, name, label, help)) return;
        selected_ = plane.widgets.size();
        paints_ = false;
        edited.set(with_widget(plane, shape, values, {}));
    };
    add("transfer.plane.box", "Add a box", WidgetShape::box, "all between two values and two ends of the second axis");
    ImGui::SameLine();
    add("transfer.plane.arc", "Add an arc", WidgetShape::arc, "the boundary between two materials");
    ImGui::SameLine();
    const LitButtons lit(context.style, paints_);
    if (plain_button(context, "transfer.plane.brush", "Brush", "paint where something is seen")) paints_ = !paints_;
}

// Draws the picture and handles the mouse.
void PlaneEditor::draw_picture(const Edited& edited) {
    const PanelContext& context = edited.context;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{ImGui::GetContentRegionAvail().x, context.style.px(plane_height)};
    ImGui::InvisibleButton("##plane", size, ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
    note_place(context, "transfer.plane");
    Exhibit* exhibit = context.work.stage().exhibit();
    View bare_view = context.work.view();
    bare_view.colour_map = "preset";
    const auto histogram = exhibit != nullptr ? exhibit->plane_histogram(bare_view) : std::nullopt;
    const PlanePicture picture{context, edited.bare, histogram, at, {at.x + size.x, at.y + size.y}};
    if (ImGui::IsItemActivated()) take_hold(edited, picture);
    if (ImGui::IsItemHovered() && ImGui::IsMouseClicked(1)) {
        const auto under = widget_under(edited.bare, picture.at(ImGui::GetIO().MousePos), picture.scale(), 0, {});
        if (under) edited.set(without_widget(*edited.bare.plane, under->widget));
        if (under) selected_.reset();
    }
    if (ImGui::IsItemActive() && ImGui::IsMouseDown(0)) drag(edited, picture);
    if (ImGui::IsItemDeactivated()) let_go(edited);
    draw_plane(picture, selected_);
}

// With the brush on, a click starts a new stroke.
void PlaneEditor::take_hold(const Edited& edited, const PlanePicture& picture) {
    held_.reset();
    has_moved_ = false;
    if (!ImGui::IsMouseClicked(0)) return;
    const TransferPlane& plane = *edited.bare.plane;
    grip_ = picture.at(ImGui::GetIO().MousePos);
    if (paints_) {
        held_ = WidgetHold{plane.widgets.size(), {}};
        has_moved_ = true;
        const ValueRange values{edited.bare.range.low, edited.bare.range.high};
        edited.set(with_widget(plane, WidgetShape::stroke, values, grip_), Edit::under_way);
    } else {
        held_ = widget_under(edited.bare, grip_, picture.scale(), picture.context.style.px(9), selected_);
    }
    selected_ = held_ ? std::optional(held_->widget) : std::nullopt;
}

// Esc restores the state before the drag.
void PlaneEditor::drag(const Edited& edited, const PlanePicture& picture) {
    const ImGuiIO& io = ImGui::GetIO();
    const TransferPlane& plane = *edited.bare.plane;
    if (!held_ || held_->widget >= plane.widgets.size()) return;
    if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape))) {
        const bool had_moved = has_moved_;
        let_go(edited);
        if (had_moved) edited.context.work.undo();
        return;
    }
    if (!ImGui::IsMouseDragging(0, 2) || (io.MouseDelta.x == 0 && io.MouseDelta.y == 0)) return;
    const PlanePoint here = picture.at(io.MousePos);
    has_moved_ = true;
    if (paints_) {
        edited.set(with_stroke_led_on(plane, held_->widget, here), Edit::under_way);
    } else if (held_->handle) {
        const ValueRange values{edited.bare.range.low, edited.bare.range.high};
        edited.set(with_handle_moved(plane, *held_, values, here), Edit::under_way);
    } else {
        const PlanePoint by{here.value - grip_.value, here.second - grip_.second};
        edited.set(with_widget_moved(plane, held_->widget, by), Edit::under_way);
    }
    grip_ = here;
}

// The final change closes the undo step that the drag began.
void PlaneEditor::let_go(const Edited& edited) {
    if (has_moved_) edited.set(*edited.bare.plane);
    held_.reset();
    has_moved_ = false;
}

// Controls of the selected widget.
void PlaneEditor::draw_selected(const Edited& edited) {
    const PanelContext& context = edited.context;
    if (!selected_ || *selected_ >= edited.bare.plane->widgets.size()) return muted_text(context, how_to_shape);
    TransferPlane plane = *edited.bare.plane;
    TransferWidget& widget = plane.widgets[*selected_];
    const RowPlaces places = row_places(context.style);
    const auto number = [&](const char* name, double& value, const ValueRange& reach) {
        row_label(context, name);
        ImGui::SameLine(places.control);
        const auto change =
            plain_number(context, name, value, reach, places.unit - places.control - context.style.px(4));
        note_place(context, std::string("transfer.widget.") + name);
        if (!change) return;
        value = std::clamp(change->value, reach.low, reach.high);
        edited.set(plane, change->edit);
    };
    number("extinction", widget.extinction, {0, 1000});
    number("softness", widget.softness, {0, 1});
    if (widget.shape != WidgetShape::box) number("width", widget.width, {0.005, 1});
    row_label(context, name_of(widget.shape));
    ImGui::SameLine(places.control);
    std::array<float, 3> colour{};
    for (std::size_t i = 0; i < 3; ++i) colour[i] = static_cast<float>(widget.colour[i]);
    if (ImGui::ColorEdit3("##widget", colour.data(), ImGuiColorEditFlags_NoInputs | ImGuiColorEditFlags_NoLabel)) {
        for (std::size_t i = 0; i < 3; ++i) widget.colour[i] = static_cast<double>(colour[i]);
        edited.set(plane, Edit::under_way);
    }
    if (ImGui::IsItemDeactivatedAfterEdit()) edited.set(*edited.bare.plane);
    note_place(context, "transfer.widget.colour");
    ImGui::SameLine(places.reset - context.style.px(10));
    if (icon_button(context, "transfer.widget.remove", Icon::remove, "remove the widget", false, true)) {
        edited.set(without_widget(*edited.bare.plane, *selected_));
        selected_.reset();
    }
}

}  // namespace echolux
