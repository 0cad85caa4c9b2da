// Tour of five hints, see sheets.h.
#include "ui/window/sheets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "ui/panels/widgets.h"
#include "ui/window/theme.h"

namespace echolux {
namespace {

struct Hint {
    const char* title;
    const char* text;
    std::array<std::string_view, 3> about;  // candidates; the first visible one is framed
};

constexpr std::array hints{
    Hint{"Something to look at",
         "Start the live simulator, open a file (Ctrl+O), or drop one on the window. Volumes, series of volumes, scans "
         "and raw spectra all open the same way.",
         {"start.sim.vessel", "section.Open", "menu.File"}},
    Hint{"Turn and zoom",
         "Drag with the left button to turn the volume, with the right button or the wheel to zoom, with the middle "
         "button to move it. A double click makes a pane as large as the window, another one brings the others back.",
         {"pane.volume", "", ""}},
    Hint{"Sections belong together",
         "Drag in a section to move the cross-hair: the other sections follow. The wheel steps slice by slice, the "
         "right button changes which values are black and white.",
         {"pane.b-scan", "", ""}},
    Hint{
        "Every control has a name",
        "Rest on a control to see what it means and what it is called in files and on the command line. Double click a "
        "number to type it; the mark at its right resets it; Ctrl+Z takes anything back.",
        {"view.mode", "panel.view", "menu.View"}},
    Hint{"Everything has a key",
         "Ctrl+K finds every command by a few letters, ? shows all keys. Esc only ever closes what is open: it never "
         "stops a measurement or a recording.",
         {"menu.Help", "", ""}},
};

}  // namespace

// Frames the control and connects it to the hint.
void Tour::point_at(const PanelContext& context, const std::vector<std::string_view>& names) const {
    const auto& places = context.state.controls.places;
    for (const std::string_view name : names) {
        const auto found = places.find(std::string(name));
        if (found == places.end()) continue;
        const auto [left, top, right, bottom] = found->second;
        const Style& style = context.style;
        const float rim = style.px(3);
        const ImVec2 sheet = ImGui::GetWindowPos();
        const ImVec2 from{sheet.x + 0.5f * ImGui::GetWindowWidth(), sheet.y};
        const ImVec2 to{std::clamp(from.x, left, right), bottom + rim};
        ImDrawList& list = *ImGui::GetForegroundDrawList();
        const ImU32 colour = ImGui::GetColorU32(style.accent);
        list.AddRect({left - rim, top - rim}, {right + rim, bottom + rim}, colour, style.px(6), 0, style.px(2));
        if (to.y < from.y) list.AddLine(to, from, colour, style.px(2));
        context.state.controls.places["tour.about"] = {left, top, right, bottom};
        return;
    }
}

void Tour::draw(const PanelContext& context, ImVec2 size) {
    if (!is_open()) return;
    if (is_new()) hint_ = 0;
    const Style& style = context.style;
    begin_sheet(context, size, "tour", {420, 216, 0.62f, false});
    const Hint& hint = hints[hint_];
    point_at(context, {hint.about.begin(), hint.about.end()});
    title(context, hint.title);
    ImGui::PushTextWrapPos(0);
    ImGui::TextUnformatted(hint.text);
    ImGui::PopTextWrapPos();
    const float row = ImGui::GetWindowHeight() - style.px(18) - ImGui::GetFrameHeight();
    ImGui::SetCursorPosY(row);
    ImGui::AlignTextToFramePadding();
    ImGui::TextColored(style.muted, "%s", fmt::format("{} of {}", hint_ + 1, hints.size()).c_str());
    const bool is_last = hint_ + 1 == hints.size();
    const float button = style.px(84);
    ImGui::SameLine(ImGui::GetWindowWidth() - style.px(20) - 2 * button - ImGui::GetStyle().ItemSpacing.x);
    if (plain_button(context, "tour.skip", is_last ? "Begin again" : "Skip", "", true, button)) {
        if (is_last)
            hint_ = 0;
        else
            close();
    }
    ImGui::SameLine();
    const bool is_next = primary_button(context, "tour.next", is_last ? "Done" : "Next", button);
    if (is_next || ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Enter), false)) {
        if (is_last)
            close();
        else
            ++hint_;
    }
    end_sheet();
}

}  // namespace echolux
