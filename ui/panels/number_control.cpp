// Number that is changed by dragging or typing, see controls.h.
#include "ui/panels/controls.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compute/plan/describe.h"
#include "ui/panels/value_text.h"

namespace echolux {
namespace {

constexpr double fine = 0.1;  // speed of a drag with Shift

bool begins_typing(bool is_hovered) {
    return is_hovered && (ImGui::IsMouseDoubleClicked(0) || (ImGui::IsMouseClicked(0) && ImGui::GetIO().KeyCtrl));
}

// Returns the characters typed since the last frame if all of them belong to numbers, otherwise an empty text.
std::string typed_digits() {
    std::string text;
    for (const ImWchar letter : ImGui::GetIO().InputQueueCharacters) {
        if (!is_of_number(static_cast<std::uint32_t>(letter))) return "";
        text += static_cast<char>(letter);
    }
    return text;
}

ImVec4 faded(ImVec4 colour, float alpha) {
    colour.w = alpha;
    return colour;
}

// Bar from zero, or from the low end of the range, to the value.
void draw_bar(const PanelContext& context, const NumberShown& shown, bool is_lit) {
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const auto at = [&](double place) {
        return low.x + static_cast<float>(std::clamp(place, 0.0, 1.0)) * (high.x - low.x);
    };
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float rounding = ImGui::GetStyle().FrameRounding;
    list->AddRectFilled(low, high, ImGui::GetColorU32(is_lit ? ImGuiCol_FrameBgHovered : ImGuiCol_FrameBg), rounding);
    const float zero = at(shown.scale.range().low < 0 ? shown.scale.place_of(0) : 0);
    const float value = at(shown.scale.place_of(shown.value));
    if (shown.is_muted || std::abs(value - zero) < 1) return;
    list->AddRectFilled({std::min(zero, value), low.y}, {std::max(zero, value), high.y},
                        ImGui::GetColorU32(faded(context.style.accent, is_lit ? 0.5f : 0.36f)), rounding);
}

void draw_number(const PanelContext& context, const NumberShown& shown) {
    const Style& style = context.style;
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImDrawList* list = ImGui::GetWindowDrawList();
    ImGui::PushFont(style.numbers);
    const ImVec2 size = ImGui::CalcTextSize(shown.text.c_str());
    const float left = std::max(low.x + style.px(4), 0.5f * (low.x + high.x - size.x));
    list->PushClipRect(low, high, true);
    list->AddText({left, 0.5f * (low.y + high.y - size.y)},
                  shown.is_muted ? ImGui::GetColorU32(style.muted) : ImGui::GetColorU32(ImGuiCol_Text),
                  shown.text.c_str());
    list->PopClipRect();
    ImGui::PopFont();
}

// Frame around the selected number.
void draw_frame(const PanelContext& context) {
    ImGui::GetWindowDrawList()->AddRect(ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                                        ImGui::GetColorU32(context.style.accent), ImGui::GetStyle().FrameRounding, 0,
                                        context.style.px(1.2f));
}

// Esc returns to the value before the drag.
std::optional<NumberEdit> dragged(ActiveControl& active, const NumberShown& shown, float width) {
    const ImGuiIO& io = ImGui::GetIO();
    if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape)) && active.has_moved) {
        const double before = active.before;
        active = {};
        return NumberEdit{before, std::nullopt, Edit::done};
    }
    active.place += (io.KeyShift ? fine : 1) * static_cast<double>(io.MouseDelta.x) / static_cast<double>(width);
    if (!active.has_moved && !ImGui::IsMouseDragging(0, 2)) return std::nullopt;
    const double value = shown.scale.value_at(active.place, io.KeyShift ? fine : 1);
    if (value == shown.value && !shown.is_muted) return std::nullopt;
    active.has_moved = true;
    return NumberEdit{value, std::nullopt, Edit::under_way};
}

}  // namespace

bool is_of_number(std::uint32_t letter) {
    return (letter >= '0' && letter <= '9') || letter == '.' || letter == '-' || letter == '+';
}

std::string text_on(const NumberScale& scale, double value) {
    const double step = scale.resolution_at(value);
    const double digit = std::pow(10, std::floor(std::log10(step) + 1e-9));  // decimal digit that a step changes
    const bool has_more = std::abs(value / digit - std::round(value / digit)) > 1e-6;
    return number_text(value, has_more ? 0.1 * digit : digit);
}

std::optional<NumberEdit> number_control(const PanelContext& context, const char* name, const NumberShown& shown,
                                         float width) {
    ActiveControl& active = context.state.active;
    const ImGuiID id = ImGui::GetID(name);
    // differs from the name of the button, which may still be held
    const std::string box = std::string("##typed ") + name;
    if (is_typing(context, box.c_str())) {
        auto typed = text_box(context, box.c_str(), shown.to_type, width);
        return typed ? std::optional(NumberEdit{std::nullopt, std::move(typed), Edit::done}) : std::nullopt;
    }

    ImGui::InvisibleButton(name, {width, ImGui::GetFrameHeight()});
    const bool is_hovered = ImGui::IsItemHovered(), is_active = ImGui::IsItemActive();
    if (is_hovered || is_active) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
    draw_bar(context, shown, is_hovered || is_active);
    draw_number(context, shown);
    if (begins_typing(is_hovered)) {
        begin_typing(context, box.c_str(), shown.to_type);
        return std::nullopt;
    }
    // A click selects the number; digits typed afterwards replace it.
    unsigned int& picked = context.state.picked;
    if (picked == id && ImGui::IsMouseClicked(0)) picked = 0;
    if (picked == id) {
        context.state.is_picked_there = true;
        draw_frame(context);
        if (const std::string digits = typed_digits(); !digits.empty()) {
            picked = 0;
            begin_typing(context, box.c_str(), digits);
            context.state.active.goes_on = true;
            return std::nullopt;
        }
    }
    if (ImGui::IsItemActivated()) {
        active = {.control = id, .place = shown.scale.place_of(shown.value), .before = shown.as_set, .text = {}};
    }
    if (active.control != id) return std::nullopt;
    if (is_active) return dragged(active, shown, width);
    const bool has_moved = active.has_moved;
    active = {};
    if (!has_moved) picked = id;
    if (!has_moved) context.state.is_picked_there = true;
    return has_moved ? std::optional(NumberEdit{std::nullopt, std::nullopt, Edit::done}) : std::nullopt;
}

std::optional<NumberChange> plain_number(const PanelContext& context, const char* name, double value, ValueRange range,
                                         float width) {
    range = {std::min(range.low, value), std::max(range.high, value)};
    const NumberScale scale = scale_for(range, false);
    const NumberShown shown{
        .scale = scale, .value = value, .text = text_on(scale, value), .to_type = spelled(value), .as_set = value};
    const auto edit = number_control(context, name, shown, width);
    if (!edit) return std::nullopt;
    if (!edit->typed) return NumberChange{edit->dragged_to.value_or(value), edit->edit};
    const auto typed = typed_number(*edit->typed);
    return typed ? std::optional(NumberChange{*typed, Edit::done}) : std::nullopt;
}

}  // namespace echolux
