#include "ui/panels/plane_picture.h"

#include <algorithm>
#include <cmath>

#include "compute/plan/describe.h"
#include "ui/panels/value_text.h"

namespace echolux {
namespace {

ImU32 colour_of_widget(const TransferWidget& widget, float alpha) {
    return ImGui::GetColorU32({static_cast<float>(widget.colour[0]), static_cast<float>(widget.colour[1]),
                               static_cast<float>(widget.colour[2]), alpha});
}

// Merges neighbouring bins of the same shade into one rectangle to limit the number of primitives.
void draw_counts(const PlanePicture& picture, ImDrawList* list) {
    const PlaneHistogram& histogram = *picture.histogram;
    const auto bins = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(histogram.counts.size()))));
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
void draw_arc(const PlanePicture& picture, const TransferWidget& arc, ImDrawList* list, float thickness) {
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
void draw_stroke(const PlanePicture& picture, const TransferWidget& stroke, ImDrawList* list, float thickness) {
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

void draw_widget(const PlanePicture& picture, const TransferWidget& widget, bool is_selected, ImDrawList* list) {
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

}  // namespace

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

}  // namespace echolux
