// Five hints for the first minute: see sheets.h.
#include "ui/window/sheets.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "ui/panels/widgets.h"
#include "ui/window/theme.h"

namespace echolux {
namespace {

struct Hint {
    const char* title;
    const char* text;
};

constexpr std::array hints{
    Hint{"Something to look at",
         "Start the live simulator, open a file (Ctrl+O), or drop one on the window. Volumes, series of volumes, scans "
         "and raw spectra all open the same way."},
    Hint{"Turn and zoom",
         "Drag with the left button to turn the volume, with the right button or the wheel to zoom, with the middle "
         "button to move it. A double click makes a pane as large as the window, another one brings the others back."},
    Hint{"Sections belong together",
         "Drag in a section to move the cross-hair: the other sections follow. The wheel steps slice by slice, the "
         "right button changes which values are black and white."},
    Hint{
        "Every control has a name",
        "Rest on a control to see what it means and what it is called in files and on the command line. Double click a "
        "number to type it; the mark at its right resets it; Ctrl+Z takes anything back."},
    Hint{"Everything has a key",
         "Ctrl+K finds every command by a few letters, ? shows all keys. Esc only ever closes what is open: it never "
         "stops a measurement or a recording."},
};

}  // namespace

void Tour::draw(const PanelContext& context, ImVec2 size) {
    if (!is_open()) return;
    if (is_new()) hint_ = 0;
    const Style& style = context.style;
    begin_sheet(context, size, "tour", {420, 216, 0.62f, false});
    const Hint& hint = hints[hint_];
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
    if (ImGui::Button(is_last ? "Begin again" : "Skip", {button, 0})) {
        if (is_last)
            hint_ = 0;
        else
            close();
    }
    note_place(context, "tour.skip");
    ImGui::SameLine();
    ImGui::PushStyleColor(ImGuiCol_Button, style.accent);
    ImGui::PushStyleColor(ImGuiCol_Text, {0.04f, 0.05f, 0.06f, 1});
    if (ImGui::Button(is_last ? "Done" : "Next", {button, 0})) {
        if (is_last)
            close();
        else
            ++hint_;
    }
    ImGui::PopStyleColor(2);
    note_place(context, "tour.next");
    end_sheet();
}

}  // namespace echolux
