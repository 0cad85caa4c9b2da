#include "ui/window/overlay.h"

#include <algorithm>
#include <cmath>

#include "ui/window/theme.h"

namespace echolux {

// A fixed height positions the sheet by its top edge, an automatic height by its centre.
void Overlay::begin_sheet(const PanelContext& context, ImVec2 size, const char* name, const Sheet& sheet) {
    const Style& style = context.style;
    const float margin = style.px(16);
    const float width = std::min(style.px(sheet.width), size.x - 2 * margin);
    const float height = std::min(style.px(sheet.height), size.y - 2 * margin);
    const float left = std::round(0.5f * (size.x - width));
    if (sheet.height > 0) {
        const float top = sheet.from_top < 0 ? 0.5f * (size.y - height) : sheet.from_top * size.y;
        ImGui::SetNextWindowPos({left, std::round(std::min(top, size.y - margin - height))});
        ImGui::SetNextWindowSize({width, height});
    } else {
        ImGui::SetNextWindowPos({left, std::round(0.5f * size.y)}, ImGuiCond_Always, {0, 0.5f});
        ImGui::SetNextWindowSizeConstraints({width, 0}, {width, size.y - 2 * margin});
    }
    if (is_new_) ImGui::SetNextWindowFocus();
    closes_outside_ = sheet.closes_outside;
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {style.px(20), style.px(18)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, style.px(10));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1);
    ImGui::PushStyleColor(ImGuiCol_WindowBg, raised);
    ImGui::PushStyleColor(ImGuiCol_FrameBg, ground);
    ImGui::Begin(name, nullptr,
                 ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoCollapse |
                     (sheet.height > 0 ? 0 : ImGuiWindowFlags_AlwaysAutoResize));
    ImGui::PopStyleVar(3);
    sheet_state_ = &context.state;
    sheet_state_->is_in_sheet = true;
}

// A click outside closes the sheet only if it did not also open it.
void Overlay::end_sheet() {
    const bool is_beside =
        !is_new_ && ImGui::IsMouseClicked(0) &&
        !ImGui::IsWindowHovered(ImGuiHoveredFlags_RootAndChildWindows | ImGuiHoveredFlags_AllowWhenBlockedByPopup |
                                ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
    ImGui::End();
    ImGui::PopStyleColor(2);
    sheet_state_->is_in_sheet = false;
    is_new_ = false;
    if (is_beside && closes_outside_) close();
}

void Overlay::title(const PanelContext& context, const char* text) {
    ImGui::PushFont(context.style.strong);
    ImGui::TextUnformatted(text);
    ImGui::PopFont();
    ImGui::Dummy({0, context.style.px(4)});
}

}  // namespace echolux
