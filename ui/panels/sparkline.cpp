#include "ui/panels/sparkline.h"

#include <algorithm>

namespace echolux {
namespace {

// Displayed period and minimum interval of values.
constexpr double shown_s = 60;
constexpr double every_s = 0.5;

}  // namespace

void RecentValues::add(double now_s, double value) {
    if (!values_.empty() && now_s < values_.back().time_s + every_s) return;
    values_.push_back({now_s, value});
    while (values_.front().time_s < now_s - shown_s) values_.pop_front();
}

double RecentValues::max() const {
    const auto found = std::ranges::max_element(values_, {}, &At::value);
    return found == values_.end() ? 0 : found->value;
}

// The vertical axis ends at the maximum of the last minute.
void sparkline(const PanelContext& context, const char* name, const RecentValues& recent, double now_s,
               const std::string& value, const char* unit) {
    const Style& style = context.style;
    const float left = ImGui::GetCursorPosX(), width = ImGui::GetContentRegionAvail().x;
    ImGui::TextColored(style.muted, "%s", name);
    ImGui::SameLine(left + style.px(88));
    const float curve_width = std::max(width - style.px(88 + 110), style.px(40));
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{curve_width, ImGui::GetTextLineHeight()};
    ImGui::Dummy(size);
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImU32 line = ImGui::GetColorU32(style.accent);
    list->AddLine({at.x, at.y + size.y}, {at.x + size.x, at.y + size.y}, ImGui::GetColorU32(ImGuiCol_Border));
    const double max = std::max(recent.max(), 1e-12);
    for (const RecentValues::At& point : recent.values()) {
        const auto across = static_cast<float>(1 - (now_s - point.time_s) / shown_s);
        const auto up = static_cast<float>(0.9 * point.value / max);
        if (across >= 0) list->PathLineTo({at.x + size.x * across, at.y + size.y * (1 - up)});
    }
    list->PathStroke(line, 0, style.px(1.3f));
    ImGui::SameLine(left + style.px(88) + curve_width + style.px(8));
    ImGui::PushFont(style.numbers);
    ImGui::TextUnformatted(value.c_str());
    ImGui::PopFont();
    ImGui::SameLine(0, style.px(4));
    ImGui::TextColored(style.muted, "%s", unit);
}

}  // namespace echolux
