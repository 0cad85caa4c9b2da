#include "ui/panels/widgets.h"

#include <algorithm>

#include "app/session/settings_book.h"

namespace echolux {
namespace {

constexpr double rest_before_help_s = 0.45;

// True if the pointer has rested on the last item for long enough.
bool asks_for_help(const PanelContext& context) {
    if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled) || ImGui::IsMouseDown(0)) return false;
    // Tooltips are drawn above everything, so suppress them below an open dialog.
    if (context.state.has_sheet && !context.state.is_in_sheet) return false;
    const ImVec2 at = ImGui::GetItemRectMin();
    PointerRest& rest = context.state.rest;
    const double now_s = ImGui::GetTime();
    if (rest.x != at.x || rest.y != at.y) rest = {at.x, at.y, now_s};
    return now_s - rest.since_s >= rest_before_help_s;
}

}  // namespace

// Hidden items have no valid position.
void note_place(const PanelContext& context, std::string_view name) {
    if (!ImGui::IsItemVisible()) return;
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    context.state.controls.places[std::string(name)] = {low.x, low.y, high.x, high.y};
}

void tooltip(const PanelContext& context, const std::function<void()>& content) {
    if (!asks_for_help(context)) return;
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(context.style.px(340));
    content();
    ImGui::PopTextWrapPos();
    const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
    context.state.controls.places["tooltip"] = {at.x, at.y, at.x + size.x, at.y + size.y};
    ImGui::EndTooltip();
}

void tooltip(const PanelContext& context, const std::string& text) {
    if (text.empty()) return;
    tooltip(context, [&] { ImGui::TextUnformatted(text.c_str()); });
}

bool attempt(const PanelContext& context, std::string_view place, const std::function<void()>& work) {
    try {
        work();
        return true;
    } catch (const Error& error) {
        context.work.notices().trouble(place, error);
        return false;
    }
}

std::string help_of(const Action& action) {
    std::string keys;
    for (const std::string& key : action.keys) keys += (keys.empty() ? "" : ", ") + key;
    return keys.empty() ? action.title : action.title + "  (" + keys + ")";
}

bool run_action(const PanelContext& context, std::string_view id) {
    const Action* action = context.work.actions().find(id);
    bool has_run = false;
    if (action != nullptr) attempt(context, section_of(id), [&] { has_run = context.work.actions().run(id); });
    return has_run;
}

LitButtons::LitButtons(const Style& style, bool is_on) : colours_(is_on ? 2 : 0) {
    if (!is_on) return;
    ImGui::PushStyleColor(ImGuiCol_Button, style.accent);
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, style.accent);
}

LitButtons::~LitButtons() {
    ImGui::PopStyleColor(colours_);
}

bool action_button(const PanelContext& context, std::string_view id, const char* label, float width) {
    const Action* action = context.work.actions().find(id);
    if (action == nullptr) return false;
    const LitButtons lit(context.style, action->is_on && action->is_on());
    const char* text = label != nullptr ? label : action->title.c_str();
    return plain_button(context, id, text, help_of(*action).c_str(), action->is_possible(), width) &&
           run_action(context, id);
}

bool plain_button(const PanelContext& context, std::string_view name, const char* label, const char* help,
                  bool is_possible, float width) {
    ImGui::BeginDisabled(!is_possible);
    ImGui::PushID(name.data(), name.data() + name.size());
    const bool is_pressed = ImGui::Button(label, {width, 0});
    ImGui::PopID();
    ImGui::EndDisabled();
    note_place(context, name);
    tooltip(context, help);
    return is_pressed;
}

bool primary_button(const PanelContext& context, std::string_view name, const char* label, float width) {
    const ImVec4& accent = context.style.accent;
    const auto lighter = [&accent](float by) {
        return ImVec4(accent.x + by * (1 - accent.x), accent.y + by * (1 - accent.y), accent.z + by * (1 - accent.z),
                      1);
    };
    ImGui::PushStyleColor(ImGuiCol_Button, accent);
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, lighter(0.2f));
    ImGui::PushStyleColor(ImGuiCol_ButtonActive, lighter(0.35f));
    ImGui::PushStyleColor(ImGuiCol_Text, {0.04f, 0.05f, 0.06f, 1});
    const bool is_pressed = plain_button(context, name, label, "", true, width);
    ImGui::PopStyleColor(4);
    return is_pressed;
}

// The open state is kept in ImGui's storage.
bool section(const PanelContext& context, const char* title, bool open_at_first) {
    const Style& style = context.style;
    const ImGuiID id = ImGui::GetID(title);
    bool& is_open = *ImGui::GetStateStorage()->GetBoolRef(id, open_at_first);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImVec2 size{ImGui::GetContentRegionAvail().x, ImGui::GetTextLineHeight() + style.px(6)};
    if (ImGui::InvisibleButton(title, size)) is_open = !is_open;
    note_place(context, std::string("section.") + title);
    const ImVec4& colour = ImGui::IsItemHovered() ? ImGui::GetStyleColorVec4(ImGuiCol_Text) : style.muted;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float middle = at.y + 0.5f * size.y, arm = style.px(3.5f), x = at.x + arm;
    const ImU32 shade = ImGui::GetColorU32(colour);
    if (is_open) {
        list->AddTriangleFilled({x - arm, middle - 0.5f * arm}, {x + arm, middle - 0.5f * arm},
                                {x, middle + 0.8f * arm}, shade);
    } else {
        list->AddTriangleFilled({x - 0.5f * arm, middle - arm}, {x + 0.8f * arm, middle},
                                {x - 0.5f * arm, middle + arm}, shade);
    }
    const float left = at.x + style.px(14), height = ImGui::GetTextLineHeight();
    list->AddText({left, middle - 0.5f * height}, shade, title);
    const float line = left + ImGui::CalcTextSize(title).x + style.px(8);
    list->AddLine({line, middle}, {at.x + size.x, middle}, ImGui::GetColorU32(ImGuiCol_Border), style.px(1));
    return is_open;
}

std::string shortened(std::string text, float max_width) {
    if (ImGui::CalcTextSize(text.c_str()).x <= max_width) return text;
    const auto ends_within = [&text] {
        return !text.empty() && (static_cast<unsigned char>(text.back()) & 0xC0) == 0x80;
    };
    while (!text.empty() && ImGui::CalcTextSize((text + "…").c_str()).x > max_width) {
        while (ends_within()) text.pop_back();  // removes complete UTF-8 characters
        if (!text.empty()) text.pop_back();
    }
    return text + "…";
}

void figure(const PanelContext& context, const char* name, const std::string& value, const char* unit) {
    const Style& style = context.style;
    const float left = ImGui::GetCursorPosX(), width = ImGui::GetContentRegionAvail().x;
    ImGui::TextColored(style.muted, "%s", name);
    const float column = std::max({0.36f * width, style.px(100), ImGui::CalcTextSize(name).x + style.px(8)});
    ImGui::SameLine(left + column);
    const float unit_width = *unit == '\0' ? 0 : ImGui::CalcTextSize(unit).x + style.px(5);
    ImGui::PushFont(style.numbers);
    const std::string seen = shortened(value, std::max(width - column - unit_width, style.px(20)));
    ImGui::TextUnformatted(seen.c_str());
    ImGui::PopFont();
    if (seen != value) tooltip(context, value);
    if (*unit == '\0') return;
    ImGui::SameLine(0, style.px(5));
    ImGui::TextColored(style.muted, "%s", unit);
}

void muted_text(const PanelContext& context, const std::string& text) {
    ImGui::PushStyleColor(ImGuiCol_Text, context.style.muted);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopTextWrapPos();
    ImGui::PopStyleColor();
}

void same_line_where_fits(const PanelContext& context, float width, float gap) {
    const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
    if (ImGui::GetItemRectMax().x + context.style.px(gap) + width <= right) ImGui::SameLine(0, context.style.px(gap));
}

}  // namespace echolux
