// Range with two draggable ends, see controls.h.
#include "ui/panels/controls.h"

#include <algorithm>
#include <cmath>

#include "compute/plan/describe.h"
#include "ui/panels/value_text.h"

namespace echolux {
namespace {

void draw_range(const PanelContext& context, const ValueRange& whole, const ValueRange& value, bool is_lit) {
    const Style& style = context.style;
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const auto at = [&](double number) {
        return low.x + static_cast<float>((number - whole.low) / (whole.high - whole.low)) * (high.x - low.x);
    };
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float rounding = ImGui::GetStyle().FrameRounding;
    list->AddRectFilled(low, high, ImGui::GetColorU32(is_lit ? ImGuiCol_FrameBgHovered : ImGuiCol_FrameBg), rounding);
    ImVec4 colour = style.accent;
    colour.w = is_lit ? 0.5f : 0.36f;
    list->AddRectFilled({at(value.low), low.y}, {at(value.high), high.y}, ImGui::GetColorU32(colour), rounding);
    const float half = style.px(1.5f);
    for (const double end : {value.low, value.high}) {
        const float x = std::clamp(at(end), low.x + half, high.x - half);
        list->AddRectFilled({x - half, low.y}, {x + half, high.y}, ImGui::GetColorU32(style.accent), half);
    }
    ImGui::PushFont(style.numbers);
    const double resolution = 0.01 * (whole.high - whole.low);
    const std::string text = number_text(value.low, resolution) + " – " + number_text(value.high, resolution);
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    list->AddText({0.5f * (low.x + high.x - size.x), 0.5f * (low.y + high.y - size.y)},
                  ImGui::GetColorU32(ImGuiCol_Text), text.c_str());
    ImGui::PopFont();
}

}  // namespace

std::optional<RangeEdit> range_control(const PanelContext& context, const char* name, const ValueRange& whole,
                                       const ValueRange& value, float width) {
    ActiveControl& active = context.state.active;
    const ImGuiID id = ImGui::GetID(name);
    ImGui::InvisibleButton(name, {width, ImGui::GetFrameHeight()});
    const bool is_active = ImGui::IsItemActive(), is_hovered = ImGui::IsItemHovered();
    if (is_active || is_hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    draw_range(context, whole, value, is_active || is_hovered);

    // A drag moves the end that is closer to the pointer.
    const float left = ImGui::GetItemRectMin().x;
    const double at = std::lerp(whole.low, whole.high, static_cast<double>((ImGui::GetIO().MousePos.x - left) / width));
    if (ImGui::IsItemActivated()) {
        active = {.control = id, .text = {}};
        active.holds_low_end = std::abs(at - value.low) < std::abs(at - value.high);
    }
    if (active.control != id) return std::nullopt;
    const bool is_low = active.holds_low_end;
    if (!is_active) {
        const bool has_moved = active.has_moved;
        active = {};
        if (!has_moved) return std::nullopt;
        return RangeEdit{is_low, is_low ? value.low : value.high, Edit::done};
    }
    // Steps are half of the minimum width.
    const double min_width = 0.01 * (whole.high - whole.low);
    const double rounded = std::round(at / (0.5 * min_width)) * 0.5 * min_width;
    const double wanted = is_low ? std::clamp(rounded, whole.low, value.high - min_width)
                                 : std::clamp(rounded, value.low + min_width, whole.high);
    if (wanted == (is_low ? value.low : value.high) || !ImGui::IsMouseDragging(0, 2)) return std::nullopt;
    active.has_moved = true;
    return RangeEdit{is_low, wanted, Edit::under_way};
}

}  // namespace echolux
