// Command palette, see sheets.h.
#include "ui/window/sheets.h"

#include <imgui_stdlib.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/window/keys_drawn.h"
#include "ui/window/theme.h"
#include "ui/workspace/word_match.h"

namespace echolux {
namespace {

bool is_pressed(ImGuiKey key) {
    return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key));
}

// Lower-cases the first letter of a title within a sentence, except for acronyms.
std::string in_place_of_first(std::string title) {
    const bool is_word = title.size() > 1 && title[1] >= 'a' && title[1] <= 'z';
    if (is_word && title[0] >= 'A' && title[0] <= 'Z') title[0] = static_cast<char>(title[0] - 'A' + 'a');
    return title;
}

// Text that describes what Enter does.
std::string effect_of(const Action* action, const std::string& key, const std::string& title) {
    if (action == nullptr) return "shows the setting " + key + ", to be changed here";
    if (!action->is_possible()) return "nothing: " + title + " is not possible now";
    if (action->show && action->is_on()) return "shows it: " + in_place_of_first(title);
    if (action->is_on) return (action->is_on() ? "switches off: " : "switches on: ") + in_place_of_first(title);
    return in_place_of_first(title);
}

}  // namespace

void CommandPalette::draw(const PanelContext& context, ImVec2 size) {
    if (!is_open()) return;
    begin_sheet(context, size, "palette", {560, 440, 0.14f, true});
    if (is_new()) {
        typed_.clear();
        setting_.clear();
        chosen_ = 0;
        ImGui::SetKeyboardFocusHere();
    }
    if (!setting_.empty()) {
        draw_setting(context);
        return end_sheet();
    }
    ImGui::SetNextItemWidth(-1);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {context.style.px(12), context.style.px(8)});
    if (ImGui::InputTextWithHint("##typed", "Type what you want to do, or the name of a setting", &typed_)) chosen_ = 0;
    note_place(context, "palette.typed");
    ImGui::PopStyleVar();
    ImGui::Dummy({0, context.style.px(2)});
    draw_rows(context);
    end_sheet();
}

// Settings are listed only after typing, because there are hundreds.
std::vector<CommandPalette::Row> CommandPalette::rows_for(Workspace& work) const {
    constexpr int action_first = 2;  // advantage of actions over equally matching settings
    std::vector<Row> rows;
    for (const Action* action : work.actions().matching(typed_)) {
        const int points =
            points_of(typed_, {action->title, action->id, action->group, search_words(action->id), ""}) + action_first;
        rows.push_back({action, action->id, action->title, action->group, action->is_possible(), points});
    }
    if (typed_.empty()) return rows;
    for (const BoundField& field : work.fields()) {
        const std::string key = field.key(), label = label_of(field);
        const int points = points_of(typed_, {label, key, "", search_words(key), field.help});
        if (points > 0) rows.push_back({nullptr, key, label, key, true, points});
    }
    std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
        return std::pair(a.is_possible, a.points) > std::pair(b.is_possible, b.points);
    });
    return rows;
}

void CommandPalette::move_choice(int count) {
    const int before = chosen_;
    if (is_pressed(ImGuiKey_DownArrow)) ++chosen_;
    if (is_pressed(ImGuiKey_UpArrow)) --chosen_;
    if (is_pressed(ImGuiKey_PageDown)) chosen_ += 8;
    if (is_pressed(ImGuiKey_PageUp)) chosen_ -= 8;
    follows_ = chosen_ != before;
    chosen_ = std::clamp(chosen_, 0, std::max(count - 1, 0));
}

void CommandPalette::draw_row(const PanelContext& context, const Row& row, bool is_chosen) {
    const Style& style = context.style;
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    ImDrawList& list = *ImGui::GetWindowDrawList();
    if (is_chosen) list.AddRectFilled(low, high, ImGui::GetColorU32(ImGuiCol_HeaderHovered), style.px(5));
    const ImU32 colour = shade(row.is_possible ? ink : style.muted, row.is_possible ? 1.0f : 0.6f);
    const float middle = 0.5f * (low.y + high.y), top = middle - 0.5f * style.text->FontSize;
    list.AddText(style.text, style.text->FontSize, {low.x + style.px(10), top}, colour, row.title.c_str());
    const float width = style.text->CalcTextSizeA(style.text->FontSize, 1e6f, 0, row.title.c_str()).x;
    list.AddText(style.text, style.text->FontSize, {low.x + style.px(22) + width, top}, shade(style.muted, 0.75f),
                 row.group.c_str());
    if (row.action != nullptr && !row.action->keys.empty())
        draw_keys_right(style, {high.x - style.px(8), middle}, row.action->keys.front());
}

void CommandPalette::draw_rows(const PanelContext& context) {
    const Style& style = context.style;
    const std::vector<Row> rows = rows_for(context.work);
    move_choice(static_cast<int>(rows.size()));
    std::optional<std::size_t> wanted;
    const float footer = ImGui::GetTextLineHeight() + style.px(8) + 2 * ImGui::GetStyle().ItemSpacing.y;
    ImGui::BeginChild("rows", {0, -footer});
    for (std::size_t i = 0; i < rows.size(); ++i) {
        ImGui::PushID(static_cast<int>(i));
        const bool clicked = ImGui::InvisibleButton("row", {ImGui::GetContentRegionAvail().x, style.px(30)});
        ImGui::PopID();
        note_place(context, "palette." + rows[i].key);
        // Only a moving pointer selects rows, so that it does not override the arrow keys.
        const ImVec2 moved = ImGui::GetIO().MouseDelta;
        if (ImGui::IsItemHovered() && (moved.x != 0 || moved.y != 0)) chosen_ = static_cast<int>(i);
        const bool is_chosen = static_cast<int>(i) == chosen_;
        if (is_chosen && follows_) ImGui::SetScrollHereY();
        draw_row(context, rows[i], is_chosen);
        if (rows[i].is_possible && (clicked || (is_chosen && is_pressed(ImGuiKey_Enter)))) wanted = i;
    }
    if (rows.empty()) muted_text(context, "No action, panel or setting is called like this.");
    ImGui::EndChild();
    if (!rows.empty()) {
        const Row& chosen = rows[static_cast<std::size_t>(chosen_)];
        ImGui::Dummy({0, style.px(2)});
        ImGui::TextColored(style.muted, "Enter: %s", effect_of(chosen.action, chosen.key, chosen.title).c_str());
        note_place(context, "palette.enter=" + chosen.key);
    }
    if (wanted) choose(context, rows[*wanted]);
}

// Copy the action, because running it may change the list of actions.
void CommandPalette::choose(const PanelContext& context, const Row& row) {
    if (row.action == nullptr) {
        setting_ = row.key;
        return;
    }
    const Action action = *row.action;
    close();
    attempt(context, "", [&] {
        if (!action.show || !action.is_on()) context.work.actions().run(action.id);
        if (action.show) action.show();
    });
}

void CommandPalette::draw_setting(const PanelContext& context) {
    const BoundField* field = context.work.field(setting_);
    if (field == nullptr) return close();
    title(context, setting_.c_str());
    muted_text(context, std::string(field->help));
    ImGui::Dummy({0, context.style.px(6)});
    setting_row(context, setting_);
    ImGui::Dummy({0, context.style.px(10)});
    if (plain_button(context, "palette.back", "Back to the list")) {
        setting_.clear();
        ImGui::SetKeyboardFocusHere();
    }
    ImGui::SameLine();
    if (plain_button(context, "palette.done", "Done")) close();
}

}  // namespace echolux
