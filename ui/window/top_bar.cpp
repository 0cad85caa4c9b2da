// Bar at the top of the window, see bars.h.
#include "ui/window/bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "app/stage/exhibit.h"
#include "app/stage/live_session.h"
#include "ui/panels/value_text.h"
#include "ui/panels/widgets.h"
#include "ui/window/theme.h"

namespace echolux {
namespace {

struct Menu {
    const char* title;
    std::vector<std::string_view> groups;  // groups of actions in order; empty: all groups without a menu
};

const std::array<Menu, 6>& menus() {
    static const std::array<Menu, 6> all{
        Menu{"File", {"File", "Session"}},   Menu{"Edit", {"Edit"}}, Menu{"View", {"View", "Camera", "Slices"}},
        Menu{"Window", {"Panes", "Window"}}, Menu{"Tools", {}},      Menu{"Help", {"Help"}}};
    return all;
}

bool has_menu_of_its_own(std::string_view group) {
    return std::ranges::any_of(
        menus(), [group](const Menu& menu) { return std::ranges::find(menu.groups, group) != menu.groups.end(); });
}

void draw_item(const PanelContext& context, const Action& action, const std::string& title) {
    const std::string key = action.keys.empty() ? "" : action.keys.front();
    const bool is_on = action.is_on && action.is_on();
    const std::string id = action.id;
    const bool is_chosen = ImGui::MenuItem(title.c_str(), key.c_str(), is_on, action.is_possible());
    note_place(context, "menu." + id);
    if (is_chosen) attempt(context, "", [&] { context.work.actions().run(id); });
}

// Returns the submenu of an action: "Mode" for "Mode: composite", otherwise an empty text.
std::string family_of(const Action& action) {
    const std::size_t end = action.title.find(": ");
    return end == std::string::npos ? "" : action.title.substr(0, end);
}

void draw_family(const PanelContext& context, const std::vector<std::string>& ids, const std::string& family) {
    if (!ImGui::BeginMenu(family.c_str())) return;
    for (const std::string& id : ids) {
        const Action* action = context.work.actions().find(id);
        if (action != nullptr && family_of(*action) == family) {
            draw_item(context, *action, action->title.substr(family.size() + 2));
        }
    }
    ImGui::EndMenu();
}

void draw_group(const PanelContext& context, std::string_view group, bool& is_first) {
    std::vector<std::string> ids;  // running an action may add actions
    for (const Action& action : context.work.actions().all()) {
        if (action.group == group) ids.push_back(action.id);
    }
    if (ids.empty()) return;
    if (!is_first) ImGui::Separator();
    is_first = false;
    std::vector<std::string> families;
    for (const std::string& id : ids) {
        const Action* action = context.work.actions().find(id);
        if (action == nullptr) continue;
        const std::string family = family_of(*action);
        if (family.empty()) {
            draw_item(context, *action, action->title);
        } else if (std::ranges::find(families, family) == families.end()) {
            families.push_back(family);
            draw_family(context, ids, family);
        }
    }
}

void draw_menu(const PanelContext& context, const Menu& menu) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {context.style.px(10), context.style.px(7)});
    const bool is_open = ImGui::BeginMenu(menu.title);
    if (is_open) {
        bool is_first = true;
        std::vector<std::string_view> groups = menu.groups;
        if (groups.empty()) {
            for (const Action& action : context.work.actions().all()) {
                if (!has_menu_of_its_own(action.group) && std::ranges::find(groups, action.group) == groups.end()) {
                    groups.push_back(action.group);
                }
            }
        }
        for (const std::string_view group : groups) draw_group(context, std::string(group), is_first);
        ImGui::EndMenu();
    }
    ImGui::PopStyleVar();
    if (!is_open) note_place(context, std::string("menu.") + menu.title);
}

// Draws a rounded field with a dot before its text, and returns its width.
float draw_pill(const Style& style, float right, float middle, const std::string& text, const ImVec4& colour,
                bool is_filled) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    ImGui::PushFont(is_filled ? style.strong : style.text);
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    const float height = style.px(26), width = size.x + style.px(38), left = right - width;
    const ImVec4 inside = is_filled ? colour : ImVec4(colour.x, colour.y, colour.z, 0.16f);
    list.AddRectFilled({left, middle - 0.5f * height}, {right, middle + 0.5f * height}, ImGui::GetColorU32(inside),
                       0.5f * height);
    const ImVec4 text_colour = is_filled ? ImVec4(1, 1, 1, 1) : colour;
    list.AddCircleFilled({left + style.px(15), middle}, style.px(4.5f), ImGui::GetColorU32(text_colour));
    list.AddText({left + style.px(26), std::round(middle - 0.5f * size.y)}, ImGui::GetColorU32(text_colour),
                 text.c_str());
    ImGui::PopFont();
    return width;
}

void draw_name(const PanelContext& context, float left, float right, float middle) {
    Exhibit* exhibit = context.work.stage().exhibit();
    const Style& style = context.style;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.PushClipRect({left, middle - style.px(20)}, {right, middle + style.px(20)}, true);
    const std::string name = exhibit != nullptr ? exhibit->name() : "";
    ImGui::PushFont(style.strong);
    const float width = ImGui::CalcTextSize(name.c_str()).x;
    const float at = std::max(left, 0.5f * (left + right - width));
    list.AddText({std::round(at), std::round(middle - 0.5f * style.strong->FontSize)}, ImGui::GetColorU32(ink),
                 name.c_str());
    ImGui::PopFont();
    list.PopClipRect();
}

}  // namespace

// A recording also marks the lower edge of the bar in red.
void TopBar::draw_state(const PanelContext& context, const Region& place) {
    const Style& style = context.style;
    Exhibit* exhibit = context.work.stage().exhibit();
    LiveSession* live = exhibit != nullptr ? exhibit->live() : nullptr;
    const float middle = static_cast<float>(place.top) + 0.5f * static_cast<float>(place.height);
    float right = static_cast<float>(place.left + place.width) - style.px(10);
    const bool records = live != nullptr && live->is_recording();
    if (!records) recording_since_s_ = -1;
    if (live != nullptr && !live->is_recorded()) {
        if (records) {
            if (recording_since_s_ < 0) recording_since_s_ = context.work.now_s();
            const std::optional<RecorderStats> written = live->stats().recorder;
            const std::string text =
                fmt::format("REC  {}  {}", duration_text(context.work.now_s() - recording_since_s_),
                            bytes_text(written ? static_cast<double>(written->bytes) : 0.0));
            right -= draw_pill(style, right, middle, text, style.recording, true) + style.px(8);
        }
        const bool runs = live->is_running();
        right -= draw_pill(style, right, middle, runs ? "Live" : "Stopped", runs ? style.good : style.muted, false);
    }
    const float menus_end = static_cast<float>(place.left) + style.px(350);
    draw_name(context, menus_end, right - style.px(10), middle);
    if (!records) return;
    ImGui::GetForegroundDrawList()->AddRectFilled(
        {static_cast<float>(place.left), static_cast<float>(place.top + place.height) - style.px(2)},
        {static_cast<float>(place.left + place.width), static_cast<float>(place.top + place.height) + style.px(1)},
        ImGui::GetColorU32(style.recording));
}

void TopBar::draw(const PanelContext& context, const Region& place) {
    const Style& style = context.style;
    ImGui::SetNextWindowPos({static_cast<float>(place.left), static_cast<float>(place.top)});
    ImGui::SetNextWindowSize({static_cast<float>(place.width), static_cast<float>(place.height)});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {style.px(4), 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    const float text_height = style.text->FontSize;
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                        {style.px(10), std::floor(0.5f * (static_cast<float>(place.height) - text_height))});
    ImGui::Begin("top bar", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_MenuBar | ImGuiWindowFlags_NoNav |
                     ImGuiWindowFlags_NoScrollWithMouse);
    const bool has_bar = ImGui::BeginMenuBar();
    ImGui::PopStyleVar(3);
    if (has_bar) {
        for (const Menu& menu : menus()) draw_menu(context, menu);
        draw_state(context, place);
        ImGui::EndMenuBar();
    }
    ImGui::End();
}

std::string window_title(Workspace& work) {
    Exhibit* exhibit = work.stage().exhibit();
    if (exhibit == nullptr) return "Echolux";
    const bool records = exhibit->live() != nullptr && exhibit->live()->is_recording();
    return (records ? "● REC " : "") + exhibit->name() + " - Echolux";
}

}  // namespace echolux
