#include "ui/panels/curve_picture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/panels/value_text.h"
#include "ui/panels/volume_facts.h"

namespace echolux {
namespace {

constexpr float highest = 0.94f;  // maximum height of histogram and curve, relative to the picture

// Returns the smallest 1, 2 or 5 times a power of ten with at most `max_ticks` ticks in `length`.
double tick_step(double length, double max_ticks) {
    const double power = std::pow(10, std::floor(std::log10(length / max_ticks)));
    for (const double digit : {1.0, 2.0, 5.0}) {
        if (length / (power * digit) <= max_ticks) return power * digit;
    }
    return 10 * power;
}

ImU32 colour_of(const TransferNode& node, float alpha) {
    return ImGui::GetColorU32(
        {static_cast<float>(node.red), static_cast<float>(node.green), static_cast<float>(node.blue), alpha});
}

// Draws the curve in short segments, because straight lines of extinction are bent on the logarithmic scale.
void draw_line(const CurvePicture& picture, ImDrawList* list) {
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

}  // namespace

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

std::vector<PlaceInPicture> CurvePicture::places() const {
    std::vector<PlaceInPicture> all;
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
    const std::vector<PlaceInPicture> places = picture.places();
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

}  // namespace echolux
