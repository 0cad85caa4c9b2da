#include "ui/panels/curve_editor.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "compute/plan/describe.h"
#include "ui/panels/controls.h"
#include "ui/panels/icons.h"
#include "ui/panels/value_text.h"
#include "ui/panels/volume_facts.h"
#include "ui/panels/widgets.h"

namespace echolux {
namespace {

// Values of view.low and view.high that select automatic limits.
constexpr double automatic_low = lowest_value, automatic_high = highest_value;

// Reserves the mouse wheel for zooming, so that the panel does not scroll.
void take_wheel() {
#if IMGUI_VERSION_NUM < 18900
    ImGui::SetItemUsingMouseWheel();
#else
    ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
#endif
}

// Range of all values that must be visible, with a margin of 5 %.
ValueRange whole_of(const TransferFunction& function, const std::optional<Histogram>& histogram) {
    ValueRange whole{function.range.low, function.range.high};
    if (histogram && histogram->low < histogram->high) {
        whole = {std::min(whole.low, histogram->low), std::max(whole.high, histogram->high)};
    }
    const double margin = 0.05 * (whole.high - whole.low);
    return {whole.low - margin, whole.high + margin};
}

// With a colour map, the colours of points have no effect, so the control is disabled.
void draw_colour(const CurvePicture& picture, std::size_t point) {
    Workspace& work = picture.context.work;
    const TransferNode& node = picture.bare.nodes[point];
    std::array<float, 3> colour{static_cast<float>(node.red), static_cast<float>(node.green),
                                static_cast<float>(node.blue)};
    ImGui::BeginDisabled(work.view().colour_map != "preset");
    if (ImGui::ColorEdit3("##colour", colour.data(), ImGuiColorEditFlags_NoInputs | ImGuiColorEditFlags_NoLabel)) {
        const std::array<double, 3> wanted{colour[0], colour[1], colour[2]};
        work.set_transfer_curve(with_colour(picture.curve(), point, wanted), Edit::under_way);
    }
    if (ImGui::IsItemDeactivatedAfterEdit()) work.set_transfer_curve(picture.curve());
    ImGui::EndDisabled();
    note_place(picture.context, "transfer.point.colour");
}

constexpr float curve_height = 150, handles_height = 26;  // at scale 1
constexpr const char* how_to_edit = "Double click adds a point, a right click takes it away; the wheel enlarges.";

}  // namespace

void CurveEditor::draw_without_volume(const PanelContext& context) {
    const float top = ImGui::GetCursorPosY(), height = context.style.px(curve_height + handles_height);
    muted_text(context, "No volume yet.");
    ImGui::SetCursorPosY(top);
    ImGui::Dummy({ImGui::GetContentRegionAvail().x, height});
    muted_text(context, how_to_edit);
}

void CurveEditor::draw(const PanelContext& context, const TransferFunction& shown, const TransferFunction& bare,
                       const std::optional<Histogram>& histogram, const VolumeGrid& grid) {
    const Style& style = context.style;
    // Keep the axis still during a drag.
    if (held_ == Held::nothing) {
        const bool shows_all = shown_ == whole_;
        whole_ = steady(whole_, whole_of(shown, histogram));
        const bool is_elsewhere = shown_.low >= whole_.high || shown_.high <= whole_.low;  // another volume was opened
        if (shows_all || is_elsewhere) shown_ = whole_;
    }
    if (selected_ && *selected_ >= bare.nodes.size()) selected_.reset();

    const ImVec2 size{ImGui::GetContentRegionAvail().x, style.px(curve_height)};
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::InvisibleButton(
        "##curve", {size.x, size.y + style.px(handles_height)},
        ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_MouseButtonMiddle);
    if (ImGui::IsItemHovered()) take_wheel();
    note_place(context, "transfer.curve");
    const CurvePicture picture{context,   shown,     bare,
                               histogram, grid.unit, ExtinctionScale(bare.nodes),
                               shown_,    at,        {at.x + size.x, at.y + size.y}};
    if (ImGui::IsItemActivated()) take_hold(picture);
    if (ImGui::IsItemHovered()) {
        add_or_remove(picture);
        look_around(picture);
    }
    if (ImGui::IsItemActive() && ImGui::IsMouseDown(0)) drag(picture);
    if (ImGui::IsItemDeactivated()) let_go(picture);
    draw_curve(picture);
    draw_points(picture, selected_);
    draw_axis(picture);
    draw_selected(picture);
}

// Selects the handle of the range below the picture, or the nearest point within 9 px.
void CurveEditor::take_hold(const CurvePicture& picture) {
    held_ = Held::nothing;
    has_moved_ = false;
    if (!ImGui::IsMouseClicked(0)) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const float reach = picture.context.style.px(9);
    if (mouse.y > picture.high.y + picture.context.style.px(2)) {
        const float to_low = std::abs(mouse.x - picture.x_of(picture.shown.range.low));
        const float to_high = std::abs(mouse.x - picture.x_of(picture.shown.range.high));
        if (std::min(to_low, to_high) < reach) held_ = to_low < to_high ? Held::low : Held::high;
        return;
    }
    const auto point = nearest_point(picture.places(), {mouse.x, mouse.y}, reach);
    selected_ = point;
    if (point) held_ = Held::point;
}

// Moves the selected handle or point. Esc restores the state before the drag.
void CurveEditor::drag(const CurvePicture& picture) {
    Workspace& work = picture.context.work;
    if (held_ == Held::nothing) return;
    if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape))) {
        const bool had_moved = has_moved_;
        let_go(picture);
        if (had_moved) work.undo();
        return;
    }
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (!ImGui::IsMouseDragging(0, 2) || (ImGui::GetIO().MouseDelta.x == 0 && ImGui::GetIO().MouseDelta.y == 0)) return;
    const double value = std::clamp(picture.value_at(mouse.x), whole_.low, whole_.high);
    const double gap = 1e-3 * (whole_.high - whole_.low);
    const ValueRange& range = picture.shown.range;
    has_moved_ = true;
    switch (held_) {
        case Held::nothing: return;
        case Held::low: work.change("view.low", std::min(value, range.high - gap), Edit::under_way); return;
        case Held::high: work.change("view.high", std::max(value, range.low + gap), Edit::under_way); return;
        case Held::point:
            if (!selected_) return;
            work.set_transfer_curve(
                with_point_moved(picture.curve(), *selected_, value, picture.extinction_at(mouse.y)), Edit::under_way);
            return;
    }
}

// The final change closes the undo step that the drag began.
void CurveEditor::let_go(const CurvePicture& picture) {
    Workspace& work = picture.context.work;
    if (has_moved_) {
        if (held_ == Held::low) work.change("view.low", work.view().low);
        if (held_ == Held::high) work.change("view.high", work.view().high);
        if (held_ == Held::point) work.set_transfer_curve(picture.curve());
    }
    held_ = Held::nothing;
    has_moved_ = false;
}

// A double click adds a point, or resets a limit to automatic below the picture. A right click removes a point.
void CurveEditor::add_or_remove(const CurvePicture& picture) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const bool is_in_picture = mouse.y <= picture.high.y;
    Workspace& work = picture.context.work;
    const auto point = nearest_point(picture.places(), {mouse.x, mouse.y}, picture.context.style.px(9));
    if (ImGui::IsMouseDoubleClicked(0) && !is_in_picture && held_ != Held::nothing) {
        const bool is_low = held_ == Held::low;
        work.change(is_low ? "view.low" : "view.high", is_low ? automatic_low : automatic_high);
        held_ = Held::nothing;
        return;
    }
    if (ImGui::IsMouseDoubleClicked(0) && is_in_picture && !point) {
        PointAdded added = with_point(picture.curve(), picture.value_at(mouse.x));
        added.curve =
            with_point_moved(added.curve, added.point, picture.value_at(mouse.x), picture.extinction_at(mouse.y));
        selected_ = added.point;
        work.set_transfer_curve(added.curve);
    }
    if (ImGui::IsMouseClicked(1) && point) {
        selected_.reset();
        work.set_transfer_curve(without_point(picture.curve(), *point));
    }
}

// The wheel zooms at the pointer; the middle button and a horizontal wheel pan.
void CurveEditor::look_around(const CurvePicture& picture) {
    const ImGuiIO& io = ImGui::GetIO();
    if (io.MouseWheel != 0) {
        shown_ =
            zoomed(shown_, whole_, picture.value_at(io.MousePos.x), std::pow(1.2, static_cast<double>(io.MouseWheel)));
    }
    const bool drags = ImGui::IsMouseDown(2) && io.MouseDelta.x != 0;
    const float across = (drags ? io.MouseDelta.x : 0) + picture.context.style.px(30) * io.MouseWheelH;
    if (across == 0) return;
    const double per_pixel = (shown_.high - shown_.low) / static_cast<double>(picture.high.x - picture.low.x);
    shown_ = panned(shown_, whole_, -per_pixel * static_cast<double>(across));
}

void CurveEditor::draw_selected(const CurvePicture& picture) {
    const PanelContext& context = picture.context;
    Workspace& work = context.work;
    if (!selected_) {
        return muted_text(context, how_to_edit);
    }
    if (*selected_ >= picture.bare.nodes.size()) return;  // added in this frame
    const std::size_t point = *selected_;
    const TransferNode node = picture.bare.nodes[point];
    const RowPlaces places = row_places(context.style);
    const auto number = [&](const char* name, double value, const ValueRange& reach) {
        row_label(context, name);
        ImGui::SameLine(places.control);
        const auto change =
            plain_number(context, name, value, reach, places.unit - places.control - context.style.px(4));
        note_place(context, std::string("transfer.point.") + name);
        return change;
    };
    if (const auto change = number("value", node.value, whole_)) {
        work.set_transfer_curve(with_point_moved(picture.curve(), point, change->value, node.extinction), change->edit);
    }
    ImGui::SameLine(places.unit);
    ImGui::TextColored(context.style.muted, "%s", short_unit(picture.unit).c_str());
    if (const auto change = number("extinction", node.extinction, {0, 400})) {
        work.set_transfer_curve(with_point_moved(picture.curve(), point, node.value, change->value), change->edit);
    }
    const bool is_rough = node.roughness != no_roughness;
    const double usual = work.view().roughness;
    if (is_rough || work.view().mode == ViewMode::traced) {  // only path tracing uses roughness
        if (const auto change = number("roughness", is_rough ? node.roughness : usual, {0.05, 1})) {
            work.set_transfer_curve(with_roughness(picture.curve(), point, change->value, usual), change->edit);
        }
    }
    row_label(context, "colour");
    ImGui::SameLine(places.control);
    draw_colour(picture, point);
    ImGui::SameLine(places.reset - context.style.px(10));
    if (icon_button(context, "transfer.point.remove", Icon::remove, "remove the point", false,
                    picture.bare.nodes.size() > 2)) {
        work.set_transfer_curve(without_point(picture.curve(), point));
        selected_.reset();
    }
}

}  // namespace echolux
