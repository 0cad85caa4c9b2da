// The command palette: see sheets.h.
#include "ui/window/sheets.h"

#include <imgui_stdlib.h>

#include <algorithm>

#include "ui/panels/widgets.h"
#include "ui/window/keys_drawn.h"
#include "ui/window/theme.h"

namespace echolux {
namespace {

bool is_pressed(ImGuiKey key) {
    return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key));
}

}  // namespace

void Palette::draw(const PanelContext& context, ImVec2 size) {
    if (!is_open()) return;
    begin_sheet(context, size, "palette", {560, 420, 0.14f, true});
    if (is_new()) {
        typed_.clear();
        chosen_ = 0;
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::SetNextItemWidth(-1);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {context.style.px(12), context.style.px(8)});
    if (ImGui::InputTextWithHint("##typed", "Type what you want to do", &typed_)) chosen_ = 0;
    note_place(context, "palette.typed");
    ImGui::PopStyleVar();
    ImGui::Dummy({0, context.style.px(2)});
    draw_rows(context);
    end_sheet();
}

void Palette::draw_rows(const PanelContext& context) {
    const Style& style = context.style;
    const std::vector<const Action*> found = context.work.actions().matching(typed_);
    const int count = static_cast<int>(found.size());
    if (is_pressed(ImGuiKey_DownArrow)) ++chosen_;
    if (is_pressed(ImGuiKey_UpArrow)) --chosen_;
    if (is_pressed(ImGuiKey_PageDown)) chosen_ += 8;
    if (is_pressed(ImGuiKey_PageUp)) chosen_ -= 8;
    chosen_ = std::clamp(chosen_, 0, std::max(count - 1, 0));
    follows_ = is_pressed(ImGuiKey_DownArrow) || is_pressed(ImGuiKey_UpArrow) || is_pressed(ImGuiKey_PageDown) ||
               is_pressed(ImGuiKey_PageUp);
    const bool takes = is_pressed(ImGuiKey_Enter);
    std::string wanted;
    ImGui::BeginChild("rows");
    for (int i = 0; i < count; ++i) {
        const Action& action = *found[static_cast<std::size_t>(i)];
        const bool is_possible = action.is_possible();
        const ImVec2 at = ImGui::GetCursorScreenPos();
        const float width = ImGui::GetContentRegionAvail().x, height = style.px(30);
        ImGui::PushID(i);
        const bool clicked = ImGui::InvisibleButton("row", {width, height});
        ImGui::PopID();
        note_place(context, "palette." + action.id);
        if (ImGui::IsItemHovered() && (ImGui::GetIO().MouseDelta.x != 0 || ImGui::GetIO().MouseDelta.y != 0))
            chosen_ = i;
        if (i == chosen_ && follows_) ImGui::SetScrollHereY();
        ImDrawList& list = *ImGui::GetWindowDrawList();
        if (i == chosen_) {
            list.AddRectFilled(at, {at.x + width, at.y + height}, ImGui::GetColorU32(ImGuiCol_HeaderHovered),
                               style.px(5));
        }
        const ImU32 colour = shade(is_possible ? ink : style.muted, is_possible ? 1.0f : 0.6f);
        const float text_top = at.y + 0.5f * (height - style.text->FontSize);
        list.AddText(style.text, style.text->FontSize, {at.x + style.px(10), text_top}, colour, action.title.c_str());
        ImGui::PushFont(style.text);
        const float title_width = ImGui::CalcTextSize(action.title.c_str()).x;
        ImGui::PopFont();
        list.AddText(style.text, style.text->FontSize, {at.x + style.px(22) + title_width, text_top},
                     shade(style.muted, 0.75f), action.group.c_str());
        if (!action.keys.empty())
            draw_keys_right(style, {at.x + width - style.px(8), at.y + 0.5f * height}, action.keys.front());
        if (is_possible && (clicked || (takes && i == chosen_))) wanted = action.id;
    }
    if (count == 0) muted_text(context, "No action matches.");
    ImGui::EndChild();
    if (!wanted.empty()) run(context, wanted);
}

void Palette::run(const PanelContext& context, const std::string& id) {
    close();
    attempt(context, "", [&] { context.work.actions().run(id); });
}

}  // namespace echolux
