// Sheet with the keys of all actions and the mouse bindings, see sheets.h.
#include "ui/window/sheets.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "ui/window/keys_drawn.h"
#include "ui/window/theme.h"

namespace echolux {
namespace {

struct Row {
    std::string keys, meaning;
};

struct Group {
    std::string title;
    std::vector<Row> rows;
};

Group mouse_in_volume(bool as_slicer) {
    return {as_slicer ? "Mouse in the volume (3D Slicer)" : "Mouse in the volume (ParaView)",
            {{"Left drag", "turn"},
             {as_slicer ? "Shift+Left drag" : "Middle drag", "move"},
             {"Right drag", "zoom"},
             {"Wheel", "zoom at the pointer"},
             {as_slicer ? "Ctrl+Left drag" : "Shift+Left drag", "roll"},
             {"Double click", "full size and back"}}};
}

const Group& mouse_in_sections() {
    static const Group group{"Mouse in sections",
                             {{"Left drag", "move the cross-hair"},
                              {"Wheel", "step through slices"},
                              {"Ctrl+Wheel", "zoom at the pointer"},
                              {"Shift+Left drag", "move the picture"},
                              {"Right drag", "window and level"},
                              {"Double click", "full size and back"}}};
    return group;
}

// Groups actions like the menus; actions without keys are omitted.
std::vector<Group> groups_of(const PanelContext& context) {
    std::vector<Group> groups{mouse_in_volume(context.work.window().mouse_slicer), mouse_in_sections()};
    for (const Action& action : context.work.actions().all()) {
        if (action.keys.empty()) continue;
        auto group = std::ranges::find(groups, action.group, &Group::title);
        if (group == groups.end()) group = groups.insert(group, Group{action.group, {}});
        group->rows.push_back({action.keys.front(), action.title});
    }
    return groups;
}

float height_of(const Style& style, const Group& group) {
    return style.px(40) + style.px(26) * static_cast<float>(group.rows.size());
}

void draw_group(const Style& style, const Group& group, ImVec2 at, float width) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddText(style.strong, style.strong->FontSize, at, ImGui::GetColorU32(style.accent), group.title.c_str());
    float middle = at.y + style.px(38);
    for (const Row& row : group.rows) {
        draw_keys_left(style, {at.x, middle}, row.keys);
        const float left = at.x + std::max(style.px(128), width_of_keys(style, row.keys) + style.px(10));
        list.PushClipRect({left, at.y}, {at.x + width, middle + style.px(20)}, true);
        list.AddText(style.text, style.text->FontSize, {left, middle - 0.5f * style.text->FontSize},
                     ImGui::GetColorU32(ink), row.meaning.c_str());
        list.PopClipRect();
        middle += style.px(26);
    }
}

}  // namespace

void KeyMap::draw(const PanelContext& context, ImVec2 size) {
    if (!is_open()) return;
    const Style& style = context.style;
    begin_sheet(context, size, "key map", {1080, 680, -1, true});
    title(context, "Keys and mouse");
    ImGui::BeginChild("groups");
    const float width = ImGui::GetContentRegionAvail().x, gap = style.px(24);
    const int columns = std::max(1, static_cast<int>(width / style.px(310)));
    const float column = (width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    // Each group is placed in the shortest column.
    std::vector<float> tops(static_cast<std::size_t>(columns), ImGui::GetCursorScreenPos().y);
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    for (const Group& group : groups_of(context)) {
        const auto lowest = std::ranges::min_element(tops);
        const float left = corner.x + static_cast<float>(lowest - tops.begin()) * (column + gap);
        draw_group(style, group, {left, *lowest}, column);
        *lowest += height_of(style, group);
    }
    ImGui::Dummy({width, *std::ranges::max_element(tops) - corner.y});
    ImGui::EndChild();
    end_sheet();
}

}  // namespace echolux
