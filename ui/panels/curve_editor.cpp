#include "ui/panels/curve_editor.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "ui/panels/controls.h"
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
        work.set_transfer_curve(with_colour(picture.curve(), point, wanted), Edit::in_progress);
    }
    if (ImGui::IsItemDeactivatedAfterEdit()) work.set_transfer_curve(picture.curve());
    ImGui::EndDisabled();
    note_place(picture.context, "transfer.point.colour");
}

constexpr float curve_height = 150, handles_height = 26;  // at scale 1
constexpr const char* how_to_edit = "Double-click to add a point, right-click to remove it, Ctrl+scroll to zoom.";

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
    if (held_ == DragPart::nothing) {
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
    if (ImGui::IsItemHovered() && ImGui::GetIO().KeyCtrl) take_wheel();
    note_place(context, "transfer.curve");
    const CurvePicture picture{context,   shown,     bare,
                               histogram, grid.unit, ExtinctionScale(bare.nodes),
                               shown_,    at,        {at.x + size.x, at.y + size.y}};
    if (ImGui::IsItemActivated()) begin_drag(picture);
    if (ImGui::IsItemHovered()) {
        add_or_remove(picture);
        look_around(picture);
    }
    if (ImGui::IsItemActive() && ImGui::IsMouseDown(0)) drag(picture);
    if (ImGui::IsItemDeactivated()) end_drag(picture);
    draw_curve(picture);
    draw_points(picture, selected_);
    draw_axis(picture);
    draw_selected(picture);
}

// Selects the handle of the range below the picture, or the nearest point within 9 px.
void CurveEditor::begin_drag(const CurvePicture& picture) {
    held_ = DragPart::nothing;
    has_moved_ = false;
    if (!ImGui::IsMouseClicked(0)) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const float reach = picture.context.style.px(9);
    if (mouse.y > picture.high.y + picture.context.style.px(2)) {
        const float to_low = std::abs(mouse.x - picture.x_of(picture.shown.range.low));
        const float to_high = std::abs(mouse.x - picture.x_of(picture.shown.range.high));
        if (std::min(to_low, to_high) < reach) held_ = to_low < to_high ? DragPart::low : DragPart::high;
        return;
    }
    const auto point = nearest_point(picture.places(), {mouse.x, mouse.y}, reach);
    selected_ = point;
    if (point) held_ = DragPart::point;
}

// Moves the selected handle or point. Esc restores the state before the drag.
void CurveEditor::drag(const CurvePicture& picture) {
    Workspace& work = picture.context.work;
    if (held_ == DragPart::nothing) return;
    if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape))) {
        const bool had_moved = has_moved_;
        end_drag(picture);
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
        case DragPart::nothing: return;
        case DragPart::low: work.change("view.low", std::min(value, range.high - gap), Edit::in_progress); return;
        case DragPart::high: work.change("view.high", std::max(value, range.low + gap), Edit::in_progress); return;
        case DragPart::point:
            if (!selected_) return;
            work.set_transfer_curve(
                with_point_moved(picture.curve(), *selected_, value, picture.extinction_at(mouse.y)),
                Edit::in_progress);
            return;
    }
}

// The final change closes the undo step that the drag began.
void CurveEditor::end_drag(const CurvePicture& picture) {
    Workspace& work = picture.context.work;
    if (has_moved_) {
        if (held_ == DragPart::low) work.change("view.low", work.view().low);
        if (held_ == DragPart::high) work.change("view.high", work.view().high);
        if (held_ == DragPart::point) work.set_transfer_curve(picture.curve());
    }
    held_ = DragPart::nothing;
    has_moved_ = false;
}

// A double click adds a point, or resets a limit to automatic below the picture. A right click removes a point.
void CurveEditor::add_or_remove(const CurvePicture& picture) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const bool is_in_picture = mouse.y <= picture.high.y;
    Workspace& work = picture.context.work;
    const auto point = nearest_point(picture.places(), {mouse.x, mouse.y}, picture.context.style.px(9));
    if (ImGui::IsMouseDoubleClicked(0) && !is_in_picture && held_ != DragPart::nothing) {
        const bool is_low = held_ == DragPart::low;
        work.change(is_low ? "view.low" : "view.high", is_low ? automatic_low : automatic_high);
        held_ = DragPart::nothing;
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

// The wheel zooms at the pointer with Ctrl, and scrolls the panel without; the middle button and a horizontal wheel
// pan.
void CurveEditor::look_around(const CurvePicture& picture) {
    const ImGuiIO& io = ImGui::GetIO();
    if (io.MouseWheel != 0 && io.KeyCtrl) {
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
    const RowColumns places = row_places(context.style);
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
    if (icon_button(context, "transfer.point.remove", Icon::remove, "remove point", false,
                    picture.bare.nodes.size() > 2)) {
        work.set_transfer_curve(without_point(picture.curve(), point));
        selected_.reset();
    }
}

// ---- Curve picture

constexpr float highest = 0.94f;  // maximum height of histogram and curve, relative to the picture

// Returns the smallest 1, 2 or 5 times a power of ten with at most `max_ticks` ticks in `length`.
static double tick_step(double length, double max_ticks) {
    const double power = std::pow(10, std::floor(std::log10(length / max_ticks)));
    for (const double digit : {1.0, 2.0, 5.0}) {
        if (length / (power * digit) <= max_ticks) return power * digit;
    }
    return 10 * power;
}

static ImU32 colour_of(const TransferNode& node, float alpha) {
    return ImGui::GetColorU32(
        {static_cast<float>(node.red), static_cast<float>(node.green), static_cast<float>(node.blue), alpha});
}

// Draws the curve in short segments, because straight lines of extinction are bent on the logarithmic scale.
static void draw_line(const CurvePicture& picture, ImDrawList* list) {
    const float step = picture.context.style.px(2);
    const float first = picture.x_of(picture.bare.range.low);
    list->PathLineTo({first, picture.y_of(picture.bare.at(0).extinction)});
    for (float x = std::max(first, picture.low.x - step); x < picture.high.x + step; x += step) {
        const double level =
            (picture.value_at(x) - picture.bare.range.low) / (picture.bare.range.high - picture.bare.range.low);
        if (level > 0) list->PathLineTo({x, picture.y_of(picture.bare.at(level).extinction)});
    }
    list->PathStroke(IM_COL32(255, 255, 255, 190), 0, picture.context.style.px(1.3f));
}

float CurvePicture::x_of(double value) const {
    return low.x + (high.x - low.x) * static_cast<float>((value - values.low) / (values.high - values.low));
}

double CurvePicture::value_at(float x) const {
    return std::lerp(values.low, values.high, static_cast<double>((x - low.x) / (high.x - low.x)));
}

float CurvePicture::y_of(double extinction) const {
    return high.y - highest * (high.y - low.y) * static_cast<float>(extinctions.height_of(extinction));
}

double CurvePicture::extinction_at(float y) const {
    return extinctions.extinction_at(static_cast<double>((high.y - y) / (high.y - low.y) / highest));
}

TransferNode CurvePicture::shown_at(double value) const {
    return shown.at((value - shown.range.low) / (shown.range.high - shown.range.low));
}

std::vector<PicturePoint> CurvePicture::places() const {
    std::vector<PicturePoint> all;
    for (const TransferNode& node : bare.nodes) all.push_back({x_of(node.value), y_of(node.extinction)});
    return all;
}

TransferCurve CurvePicture::curve() const {
    const auto& own = context.work.view().transfer_curve;
    return editable(bare, unit, own ? own->length_um : 0);
}

// Each column shows the histogram in gray, and above it the opacity and colour of its value.
void draw_curve(const CurvePicture& picture) {
    const Style& style = picture.context.style;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const auto [low, high] = std::pair(picture.low, picture.high);
    list->AddRectFilled(low, high, IM_COL32(14, 15, 18, 255), ImGui::GetStyle().FrameRounding);
    list->PushClipRect(low, high, true);
    const float column = std::max(1.0f, std::round(style.px(1)));
    const auto columns = static_cast<std::size_t>((high.x - low.x) / column);
    const std::vector<float> heights =
        picture.histogram ? histogram_heights(*picture.histogram, picture.values, columns) : std::vector<float>{};
    const ImU32 gray = ImGui::GetColorU32(ImVec4(0.36f, 0.38f, 0.43f, 0.55f));
    for (std::size_t i = 0; i < columns; ++i) {
        const float x = low.x + column * static_cast<float>(i);
        if (!heights.empty() && heights[i] > 0) {
            list->AddRectFilled({x, high.y - highest * heights[i] * (high.y - low.y)}, {x + column, high.y}, gray);
        }
        const double value = picture.value_at(x + 0.5f * column);
        if (value < picture.shown.range.low) continue;
        const TransferNode node = picture.shown_at(value);
        list->AddRectFilled({x, picture.y_of(node.extinction)}, {x + column, high.y}, colour_of(node, 0.5f));
        list->AddRectFilled({x, high.y - style.px(4)}, {x + column, high.y}, colour_of(node, 1));
    }
    list->PopClipRect();
}

void draw_points(const CurvePicture& picture, std::optional<std::size_t> selected) {
    const Style& style = picture.context.style;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float room = style.px(6);
    list->PushClipRect({picture.low.x, picture.low.y - room}, {picture.high.x, picture.high.y + room}, true);
    const std::vector<PicturePoint> places = picture.places();
    const auto at = [&](std::size_t i) {
        return ImVec2(static_cast<float>(places[i][0]), static_cast<float>(places[i][1]));
    };
    const ImU32 white = IM_COL32(255, 255, 255, 255);
    draw_line(picture, list);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const bool is_selected = selected == i;
        const TransferNode node = picture.shown_at(picture.bare.nodes[i].value);
        list->AddCircleFilled(at(i), style.px(is_selected ? 6 : 5), white);
        list->AddCircleFilled(at(i), style.px(is_selected ? 4 : 3.6f), colour_of(node, 1));
        if (is_selected) list->AddCircle(at(i), style.px(8), ImGui::GetColorU32(style.accent), 0, style.px(2));
    }
    list->PopClipRect();
}

// Tick labels, unit, and triangles for the limits of the range.
void draw_axis(const CurvePicture& picture) {
    const Style& style = picture.context.style;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const auto [low, high] = std::pair(picture.low, picture.high);
    list->PushClipRect({low.x, high.y}, {high.x, high.y + style.px(27)}, true);
    ImGui::PushFont(style.numbers);
    const ImU32 muted = ImGui::GetColorU32(style.muted);
    const double step = tick_step(picture.values.high - picture.values.low, 5);
    const std::string unit = short_unit(picture.unit);
    const float unit_width = unit.empty() ? 0 : ImGui::CalcTextSize(unit.c_str()).x + style.px(6);
    for (double value = std::ceil(picture.values.low / step) * step; value <= picture.values.high; value += step) {
        const std::string text = number_text(value, step);
        const float x = picture.x_of(value), width = ImGui::CalcTextSize(text.c_str()).x;
        list->AddLine({x, high.y}, {x, high.y + style.px(3)}, muted, style.px(1));
        const float left = std::max(x - 0.5f * width, low.x);
        if (left + width > high.x - unit_width) continue;
        list->AddText({left, high.y + style.px(10)}, muted, text.c_str());
    }
    list->AddText({high.x - unit_width + style.px(6), high.y + style.px(10)}, muted, unit.c_str());
    ImGui::PopFont();
    const float arm = style.px(6);
    for (const double end : {picture.shown.range.low, picture.shown.range.high}) {
        const float x = picture.x_of(end);
        list->AddTriangleFilled({x, high.y + style.px(1)}, {x + arm, high.y + 1.5f * arm},
                                {x - arm, high.y + 1.5f * arm}, ImGui::GetColorU32(style.accent));
    }
    list->PopClipRect();
}

// ---- Curve editing

constexpr double even_below = 2;   // in extinctions per curve length: the scale is linear below
constexpr double usual_max = 400;  // largest extinction of the presets
constexpr double closest = 1e-4;   // minimum distance of points relative to the length of the curve

static double span_of(const TransferCurve& curve) {
    return curve.nodes.back().value - curve.nodes.front().value;
}

// Shifts a range into `whole`, and shortens it if necessary.
static ValueRange kept_inside(ValueRange shown, const ValueRange& whole) {
    const double length = std::min(shown.high - shown.low, whole.high - whole.low);
    const double low = std::clamp(shown.low, whole.low, std::max(whole.low, whole.high - length));
    return {low, low + length};
}

ExtinctionScale::ExtinctionScale(const std::vector<TransferNode>& nodes) : max_(usual_max) {
    for (const TransferNode& node : nodes) max_ = std::max(max_, 1.25 * node.extinction);
}

// logarithmic scale that is linear near 0
double ExtinctionScale::height_of(double extinction) const {
    return std::log1p(extinction / even_below) / std::log1p(max_ / even_below);
}

double ExtinctionScale::extinction_at(double height) const {
    return even_below * std::expm1(std::clamp(height, 0.0, 1.0) * std::log1p(max_ / even_below));
}

TransferCurve editable(const TransferFunction& function, const std::string& unit, double length_um) {
    return {.nodes = function.nodes, .unit = unit, .length_um = length_um, .plane = function.plane};
}

// The new point takes its properties from the curve at this value.
PointAdded with_point(TransferCurve curve, double value) {
    auto& nodes = curve.nodes;
    const auto after = std::ranges::upper_bound(nodes, value, {}, &TransferNode::value);
    TransferNode node = after == nodes.begin() ? nodes.front() : nodes.back();
    if (after != nodes.begin() && after != nodes.end()) node = between(*(after - 1), *after, value);
    node.value = value;
    const auto place = after - nodes.begin();
    nodes.insert(after, node);
    const auto point = index(place);
    return {with_point_moved(std::move(curve), point, value, node.extinction), point};
}

TransferCurve with_point_moved(TransferCurve curve, std::size_t point, double value, double extinction) {
    auto& nodes = curve.nodes;
    const double gap = closest * span_of(curve);
    constexpr double far = std::numeric_limits<double>::infinity();
    const double low = point > 0 ? nodes[point - 1].value + gap : -far;
    const double high = point + 1 < nodes.size() ? nodes[point + 1].value - gap : far;
    // Neighbours that are too close leave only the middle.
    nodes[point].value = low <= high ? std::clamp(value, low, high) : 0.5 * (low + high);
    nodes[point].extinction = std::max(extinction, 0.0);
    return curve;
}

TransferCurve without_point(TransferCurve curve, std::size_t point) {
    if (curve.nodes.size() > 2) curve.nodes.erase(curve.nodes.begin() + static_cast<std::ptrdiff_t>(point));
    return curve;
}

TransferCurve with_roughness(TransferCurve curve, std::size_t point, double roughness, double of_others) {
    for (TransferNode& node : curve.nodes) {
        if (node.roughness == no_roughness) node.roughness = of_others;
    }
    curve.nodes[point].roughness = std::clamp(roughness, 0.05, 1.0);
    return curve;
}

TransferCurve with_colour(TransferCurve curve, std::size_t point, const std::array<double, 3>& colour) {
    TransferNode& node = curve.nodes[point];
    node = {node.value, colour[0], colour[1], colour[2], node.extinction, node.roughness};
    return curve;
}

std::optional<std::size_t> nearest_point(const std::vector<PicturePoint>& places, const PicturePoint& at,
                                         double reach) {
    std::optional<std::size_t> nearest;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const double distance = std::hypot(places[i][0] - at[0], places[i][1] - at[1]);
        if (distance > reach) continue;
        reach = distance;
        nearest = i;
    }
    return nearest;
}

ValueRange zoomed(const ValueRange& shown, const ValueRange& whole, double value, double factor) {
    const double min_length = 1e-4 * (whole.high - whole.low);
    const double length = std::max((shown.high - shown.low) / factor, min_length);
    const double part = (value - shown.low) / (shown.high - shown.low);
    const double low = value - part * length;
    return kept_inside({low, low + length}, whole);
}

ValueRange panned(const ValueRange& shown, const ValueRange& whole, double by) {
    return kept_inside({shown.low + by, shown.high + by}, whole);
}

ValueRange steady(const ValueRange& before, const ValueRange& wanted) {
    const bool has_room = before.low <= wanted.low && before.high >= wanted.high;
    const bool is_close = wanted.high - wanted.low >= 0.7 * (before.high - before.low);
    return has_room && is_close ? before : wanted;
}

// Counts are scaled logarithmically to the highest bin. A column shows the maximum of its bins, so that narrow peaks
// stay visible.
std::vector<float> histogram_heights(const Histogram& histogram, const ValueRange& shown, std::size_t columns) {
    std::vector<float> heights(columns);
    const auto bins = static_cast<double>(histogram.counts.size());
    if (bins == 0 || histogram.low >= histogram.high) return heights;
    const auto most = static_cast<double>(*std::ranges::max_element(histogram.counts));
    const auto bin_of = [&](double value) { return bins * (value - histogram.low) / (histogram.high - histogram.low); };
    for (std::size_t i = 0; i < columns; ++i) {
        const auto value_at = [&](std::size_t edge) {
            return std::lerp(shown.low, shown.high, static_cast<double>(edge) / static_cast<double>(columns));
        };
        const double first = std::floor(bin_of(value_at(i))),
                     last = std::max(std::ceil(bin_of(value_at(i + 1))), first + 1);
        std::uint32_t highest = 0;
        for (double bin = std::max(first, 0.0); bin < std::min(last, bins); ++bin) {
            highest = std::max(highest, histogram.counts[static_cast<std::size_t>(bin)]);
        }
        heights[i] = static_cast<float>(most > 0 ? std::log1p(highest) / std::log1p(most) : 0);
    }
    return heights;
}

}  // namespace echolux
