#include "ui/panels/plane_editor.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "render/camera.h"
#include "ui/panels/controls.h"
#include "ui/panels/curve_editor.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

constexpr float plane_height = 170;  // at scale 1
constexpr const char* how_to_shape = "Drag widgets and handles; right-click a widget to remove it.";

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
                         "classify voxels by value and by gradient magnitude")) {
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
    const RowColumns places = row_places(context.style);
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
    add("transfer.plane.box", "Add a box", WidgetShape::box, "a range of values and of the second axis");
    ImGui::SameLine();
    add("transfer.plane.arc", "Add an arc", WidgetShape::arc, "the boundary between two materials");
    ImGui::SameLine();
    const LitButtons lit(context.style, paints_);
    if (plain_button(context, "transfer.plane.brush", "Brush", "paint the visible region")) paints_ = !paints_;
}

// Draws the picture and handles the mouse.
void PlaneEditor::draw_picture(const Edited& edited) {
    const PanelContext& context = edited.context;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{ImGui::GetContentRegionAvail().x, context.style.px(plane_height)};
    ImGui::InvisibleButton("##plane", size, ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
    note_place(context, "transfer.plane");
    ViewSource* view_source = context.work.viewer().view_source();
    View bare_view = context.work.view();
    bare_view.colour_map = "preset";
    const auto histogram = view_source != nullptr ? view_source->plane_histogram(bare_view) : std::nullopt;
    const PlanePicture picture{context, edited.bare, histogram, at, {at.x + size.x, at.y + size.y}};
    if (ImGui::IsItemActivated()) begin_drag(edited, picture);
    if (ImGui::IsItemHovered() && ImGui::IsMouseClicked(1)) {
        const auto under = widget_under(edited.bare, picture.at(ImGui::GetIO().MousePos), picture.scale(), 0, {});
        if (under) edited.set(without_widget(*edited.bare.plane, under->widget));
        if (under) selected_.reset();
    }
    if (ImGui::IsItemActive() && ImGui::IsMouseDown(0)) drag(edited, picture);
    if (ImGui::IsItemDeactivated()) end_drag(edited);
    draw_plane(picture, selected_);
}

// With the brush on, a click starts a new stroke.
void PlaneEditor::begin_drag(const Edited& edited, const PlanePicture& picture) {
    held_.reset();
    has_moved_ = false;
    if (!ImGui::IsMouseClicked(0)) return;
    const TransferPlane& plane = *edited.bare.plane;
    grip_ = picture.at(ImGui::GetIO().MousePos);
    if (paints_) {
        held_ = WidgetHold{plane.widgets.size(), {}};
        has_moved_ = true;
        const ValueRange values{edited.bare.range.low, edited.bare.range.high};
        edited.set(with_widget(plane, WidgetShape::stroke, values, grip_), Edit::in_progress);
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
        end_drag(edited);
        if (had_moved) edited.context.work.undo();
        return;
    }
    if (!ImGui::IsMouseDragging(0, 2) || (io.MouseDelta.x == 0 && io.MouseDelta.y == 0)) return;
    const PlanePoint here = picture.at(io.MousePos);
    has_moved_ = true;
    if (paints_) {
        edited.set(with_stroke_led_on(plane, held_->widget, here), Edit::in_progress);
    } else if (held_->handle) {
        const ValueRange values{edited.bare.range.low, edited.bare.range.high};
        edited.set(with_handle_moved(plane, *held_, values, here), Edit::in_progress);
    } else {
        const PlanePoint by{here.value - grip_.value, here.second - grip_.second};
        edited.set(with_widget_moved(plane, held_->widget, by), Edit::in_progress);
    }
    grip_ = here;
}

// The final change closes the undo step that the drag began.
void PlaneEditor::end_drag(const Edited& edited) {
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
    const RowColumns places = row_places(context.style);
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
        edited.set(plane, Edit::in_progress);
    }
    if (ImGui::IsItemDeactivatedAfterEdit()) edited.set(*edited.bare.plane);
    note_place(context, "transfer.widget.colour");
    ImGui::SameLine(places.reset - context.style.px(10));
    if (icon_button(context, "transfer.widget.remove", Icon::remove, "remove widget", false, true)) {
        edited.set(without_widget(*edited.bare.plane, *selected_));
        selected_.reset();
    }
}

// ---- Plane picture

static ImU32 colour_of_widget(const TransferWidget& widget, float alpha) {
    return ImGui::GetColorU32({static_cast<float>(widget.colour[0]), static_cast<float>(widget.colour[1]),
                               static_cast<float>(widget.colour[2]), alpha});
}

// Merges neighbouring bins of the same shade into one rectangle to limit the number of primitives.
static void draw_counts(const PlanePicture& picture, ImDrawList* list) {
    const PlaneHistogram& histogram = *picture.histogram;
    const auto bins = index(std::lround(std::sqrt(static_cast<double>(histogram.counts.size()))));
    if (bins == 0) return;
    const double most = std::log1p(*std::ranges::max_element(histogram.counts));
    const auto end_of = [&](const ValueRange& range, std::size_t bin) {
        return std::lerp(range.low, range.high, static_cast<double>(bin) / static_cast<double>(bins));
    };
    constexpr double shades = 12;
    for (std::size_t row = 0; row < bins; ++row) {
        const auto shade = [&](std::size_t column) {
            const double count = histogram.counts[row * bins + column];
            return most > 0 ? std::ceil(shades * std::log1p(count) / most) / shades : 0;
        };
        const float top = picture.y_of(end_of(histogram.seconds, row + 1));
        const float bottom = picture.y_of(end_of(histogram.seconds, row));
        for (std::size_t first = 0, last = 0; first < bins; first = last) {
            const double here = shade(first);
            for (last = first + 1; last < bins && shade(last) == here; ++last) {
            }
            if (here <= 0) continue;
            list->AddRectFilled({picture.x_of(end_of(histogram.values, first)), top},
                                {picture.x_of(end_of(histogram.values, last)), bottom},
                                ImGui::GetColorU32(ImVec4(0.62f, 0.66f, 0.74f, static_cast<float>(0.75 * here))));
        }
    }
}

// A parabola between the feet of the arc, within a band of its relative width.
static void draw_arc(const PlanePicture& picture, const TransferWidget& arc, ImDrawList* list, float thickness) {
    constexpr int pieces = 48;
    const double left = arc.points[0].value, right = arc.points[1].value, height = arc.points[0].second;
    const auto place = [&](int piece, double beside) {
        const double part = static_cast<double>(piece) / pieces;
        return ImVec2(picture.x_of(std::lerp(left, right, part)),
                      picture.y_of(height * (4 * part * (1 - part)) * (1 + beside)));
    };
    const double width = arc.width;
    for (int i = 0; i < pieces; ++i) {
        list->AddQuadFilled(place(i, -width), place(i, width), place(i + 1, width), place(i + 1, -width),
                            colour_of_widget(arc, 0.4f));
    }
    for (int i = 0; i <= pieces; ++i) list->PathLineTo(place(i, 0));
    list->PathStroke(colour_of_widget(arc, 1), 0, thickness);
}

// Draws the stroke at its width, then its centre line.
static void draw_stroke(const PlanePicture& picture, const TransferWidget& stroke, ImDrawList* list, float thickness) {
    const float wide = static_cast<float>(2 * stroke.width) * (picture.high.y - picture.low.y);
    const auto place = [&](const PlanePoint& point) {
        return ImVec2(picture.x_of(point.value), picture.y_of(point.second));
    };
    for (const float width : {wide, thickness}) {
        const ImU32 colour = colour_of_widget(stroke, width == wide ? 0.45f : 1);
        for (const PlanePoint& point : stroke.points) list->PathLineTo(place(point));
        list->PathStroke(colour, 0, width);
    }
    if (stroke.points.size() == 1)
        list->AddCircleFilled(place(stroke.points[0]), 0.5f * wide, colour_of_widget(stroke, 0.45f));
}

static void draw_widget(const PlanePicture& picture, const TransferWidget& widget, bool is_selected, ImDrawList* list) {
    const Style& style = picture.context.style;
    const float thickness = style.px(is_selected ? 2 : 1);
    if (widget.shape == WidgetShape::box) {
        const ImVec2 low{picture.x_of(widget.points[0].value), picture.y_of(widget.points[1].second)};
        const ImVec2 high{picture.x_of(widget.points[1].value), picture.y_of(widget.points[0].second)};
        list->AddRectFilled(low, high, colour_of_widget(widget, 0.4f));
        list->AddRect(low, high, colour_of_widget(widget, 1), 0, 0, thickness);
    } else if (widget.shape == WidgetShape::arc) {
        draw_arc(picture, widget, list, thickness);
    } else {
        draw_stroke(picture, widget, list, thickness);
    }
    if (!is_selected) return;
    for (const PlanePoint& handle : handles_of(widget)) {
        const ImVec2 at{picture.x_of(handle.value), picture.y_of(handle.second)};
        list->AddCircleFilled(at, style.px(5), IM_COL32(255, 255, 255, 255));
        list->AddCircleFilled(at, style.px(3.6f), colour_of_widget(widget, 1));
    }
}

float PlanePicture::x_of(double value) const {
    const ValueRange& range{function.range};
    return low.x + (high.x - low.x) * static_cast<float>((value - range.low) / (range.high - range.low));
}

float PlanePicture::y_of(double second) const {
    const TransferPlane& plane = *function.plane;
    return high.y - (high.y - low.y) * static_cast<float>((second - plane.from) / (plane.to - plane.from));
}

PlanePoint PlanePicture::at(ImVec2 pixel) const {
    const TransferPlane& plane = *function.plane;
    return {
        std::lerp(function.range.low, function.range.high, static_cast<double>((pixel.x - low.x) / (high.x - low.x))),
        std::lerp(plane.from, plane.to, static_cast<double>((high.y - pixel.y) / (high.y - low.y)))};
}

PlaneScale PlanePicture::scale() const {
    const TransferPlane& plane = *function.plane;
    return {static_cast<double>(high.x - low.x) / (function.range.high - function.range.low),
            static_cast<double>(high.y - low.y) / (plane.to - plane.from)};
}

void draw_plane(const PlanePicture& picture, std::optional<std::size_t> selected) {
    const Style& style = picture.context.style;
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(picture.low, picture.high, IM_COL32(14, 15, 18, 255), ImGui::GetStyle().FrameRounding);
    const float room = style.px(6);
    list->PushClipRect({picture.low.x - room, picture.low.y}, {picture.high.x + room, picture.high.y}, true);
    if (picture.histogram) draw_counts(picture, list);
    const auto& widgets = picture.function.plane->widgets;
    for (std::size_t i = 0; i < widgets.size(); ++i) draw_widget(picture, widgets[i], selected == i, list);
    list->PopClipRect();
}

// ---- Plane editing

constexpr double closest_ends = 1e-3;  // minimum size of a widget relative to the axes

static double span_of(const ValueRange& range) {
    return range.high - range.low;
}

// Default range of the second axis, derived from the value range and the voxel size.
static ValueRange usual_ends(SecondAxis second, const TransferFunction& function, const VolumeGrid& grid) {
    const auto edges = voxel_edges(grid);
    const double smallest = std::ranges::min(edges);
    if (second == SecondAxis::gradient) return {0, 0.25 * span_of(function.range) / smallest};
    if (second == SecondAxis::curvature) return {-0.5 / smallest, 0.5 / smallest};
    return {0, volume_extent(grid).x};
}

// Moves one end of an interval and keeps a minimum length `gap`.
static void move_end(double& low, double& high, bool is_high, double to, double gap) {
    if (is_high)
        high = std::max(to, low + gap);
    else
        low = std::min(to, high - gap);
}

std::vector<PlanePoint> handles_of(const TransferWidget& widget) {
    const auto& points = widget.points;
    switch (widget.shape) {
        case WidgetShape::box:
            return {points[0], {points[1].value, points[0].second}, {points[0].value, points[1].second}, points[1]};
        case WidgetShape::arc:
            return {{points[0].value, 0},
                    {points[1].value, 0},
                    {0.5 * (points[0].value + points[1].value), points[0].second}};
        case WidgetShape::stroke: break;
    }
    return {};
}

// Default sizes are relative to the visible range.
TransferPlane with_widget(TransferPlane plane, WidgetShape shape, const ValueRange& values, const PlanePoint& at) {
    const auto value = [&](double part) { return std::lerp(values.low, values.high, part); };
    const auto second = [&](double part) { return std::lerp(plane.from, plane.to, part); };
    TransferWidget widget{.shape = shape, .points = {}, .softness = 0.3, .colour = {1, 0.85, 0.6}, .extinction = 200};
    if (shape == WidgetShape::box) widget.points = {{value(0.4), second(0.3)}, {value(0.7), second(0.7)}};
    if (shape == WidgetShape::arc) {
        widget.points = {{value(0.2), second(0.7)}, {value(0.8), second(0.7)}};
        widget.width = 0.25;
    }
    if (shape == WidgetShape::stroke) {
        widget.points = {at};
        widget.width = 0.05;
    }
    plane.widgets.push_back(std::move(widget));
    return plane;
}

TransferPlane without_widget(TransferPlane plane, std::size_t widget) {
    plane.widgets.erase(plane.widgets.begin() + static_cast<std::ptrdiff_t>(widget));
    return plane;
}

TransferPlane with_stroke_led_on(TransferPlane plane, std::size_t stroke, const PlanePoint& to) {
    constexpr std::size_t most_points = 1024;
    auto& points = plane.widgets[stroke].points;
    if (points.size() < most_points && points.back() != to) points.push_back(to);
    return plane;
}

TransferPlane with_handle_moved(TransferPlane plane, const WidgetHold& held, const ValueRange& values,
                                const PlanePoint& to) {
    TransferWidget& widget = plane.widgets[held.widget];
    const std::size_t handle = *held.handle;
    PlanePoint &low = widget.points[0], &high = widget.points[1];
    const double value_gap = closest_ends * span_of(values), second_gap = closest_ends * (plane.to - plane.from);
    if (widget.shape == WidgetShape::box) {
        move_end(low.value, high.value, handle % 2 == 1, to.value, value_gap);
        move_end(low.second, high.second, handle / 2 == 1, to.second, second_gap);
    } else if (handle < 2) {
        move_end(low.value, high.value, handle == 1, to.value, value_gap);
    } else {
        // An arc must not become flat.
        const double height = std::abs(to.second) < second_gap ? std::copysign(second_gap, to.second) : to.second;
        low.second = high.second = height;
    }
    return plane;
}

TransferPlane with_widget_moved(TransferPlane plane, std::size_t widget, const PlanePoint& by) {
    const bool stands = plane.widgets[widget].shape == WidgetShape::arc;  // the feet of an arc stay on the value axis
    for (PlanePoint& point : plane.widgets[widget].points) {
        point = {point.value + by.value, point.second + (stands ? 0 : by.second)};
    }
    return plane;
}

TransferPlane with_second_axis(const TransferPlane& plane, SecondAxis second, const TransferFunction& function,
                               const VolumeGrid& grid) {
    const ValueRange ends = usual_ends(second, function, grid);
    TransferPlane other{second, ends.low, ends.high, plane.widgets};
    for (TransferWidget& widget : other.widgets) {
        for (PlanePoint& point : widget.points) {
            point.second = std::lerp(ends.low, ends.high, (point.second - plane.from) / (plane.to - plane.from));
        }
        if (widget.shape == WidgetShape::arc && widget.points[0].second == 0) {
            widget.points[0].second = widget.points[1].second = ends.high;
        }
    }
    return other;
}

TransferPlane first_plane(const TransferFunction& function, const VolumeGrid& grid) {
    const ValueRange ends = usual_ends(SecondAxis::gradient, function, grid);
    return {SecondAxis::gradient, ends.low, ends.high, {}};
}

// The selected widget is tested first, because its handles may overlap others.
std::optional<WidgetHold> widget_under(const TransferFunction& function, const PlanePoint& at, const PlaneScale& scale,
                                       double reach, std::optional<std::size_t> selected) {
    const TransferPlane& plane = *function.plane;
    if (selected && *selected < plane.widgets.size()) {
        const auto handles = handles_of(plane.widgets[*selected]);
        for (std::size_t i = 0; i < handles.size(); ++i) {
            const double off = std::hypot((handles[i].value - at.value) * scale.per_value,
                                          (handles[i].second - at.second) * scale.per_second);
            if (off <= reach) return WidgetHold{*selected, i};
        }
    }
    const PlaneReach whole{function.range.low, function.range.high, plane.from, plane.to};
    for (std::size_t i = plane.widgets.size(); i-- > 0;) {
        if (weight_at(plane.widgets[i], at, whole) > 0) return WidgetHold{i, {}};
    }
    return {};
}

}  // namespace echolux
