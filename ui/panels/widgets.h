// Controls of described settings: whatever the registry says of a setting (unit, range, choices, help, default) is what
// its control shows. The same names as in files and on the command line.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ui/panels/panel.h"

namespace echolux {

// One row: name, control, unit, and a mark to reset it where it is not at its default. Drag a number (finely with
// Shift), or double click to type it; the tooltip tells key, help, range and default. Nothing where the setting is not
// there now.
void setting_row(const PanelContext& context, std::string_view key);

// The same with a label of its own in place of the field's name.
void setting_row(const PanelContext& context, std::string_view key, const std::string& label);

// Rows of those that change anything as the others are.
void setting_rows(const PanelContext& context, std::initializer_list<std::string_view> keys);

// The same of a setting that is not the workspace's: of a proposal, of a source that is not open yet.
using ChangeField = std::function<bool(const Value&, Edit)>;
void setting_row(const PanelContext& context, const BoundField& field, const ChangeField& change,
                 const std::string& label = "");

// Where the columns of a row stand, as ImGui::SameLine() takes them: rows whose control is a panel's own line up with
// those of settings.
struct RowPlaces {
    float control, unit, reset, right;
};

RowPlaces row_places(const Style& style);

// The name of a row, cut off where its control begins. The next item is the control.
void row_label(const PanelContext& context, const std::string& label);

// Lists of planes (view.slices, view.clip_planes) as rows: the axis that a plane lies across, its offset along it, and
// a mark to take it away. Oblique planes show the three numbers of their normal.
// Nothing where the setting is not there now.
void plane_list(const PanelContext& context, const std::string& key, std::size_t max_planes, const char* add_label);

// A button that runs an action: its title, its keys in the tooltip, gray where it is not possible. Nothing where there
// is no such action.
bool action_button(const PanelContext& context, std::string_view action, const char* label = nullptr, float width = 0);

// Runs it; what it throws becomes trouble of its group. Whether it ran.
bool run_action(const PanelContext& context, std::string_view action);

// "Play or pause  (Space)".
std::string help_of(const Action& action);

// A button of the panel's own, found by tests under `name`.
bool plain_button(const PanelContext& context, std::string_view name, const char* label, const char* help = "",
                  bool is_possible = true, float width = 0);  // 0: as wide as its label needs

// The one of several that goes on: in the colour of what is active, readable in every state.
bool primary_button(const PanelContext& context, std::string_view name, const char* label, float width);

// What `work` throws becomes trouble of `place`; whether it threw nothing.
bool attempt(const PanelContext& context, std::string_view place, const std::function<void()>& work);

// A foldable section inside a panel.
bool section(const PanelContext& context, const char* title, bool open_at_first);

// What of a text has room in the current font, with an ellipsis where it was cut.
std::string shortened(std::string text, float max_width);

// "name        value unit" with digits of one width. Always one line, cut where it has no room: a value that grows
// moves nothing.
void figure(const PanelContext& context, const char* name, const std::string& value, const char* unit = "");

// A line of explanation in the colour of units, broken where the panel ends.
void muted_text(const PanelContext& context, const std::string& text);

// Buttons of what is switched on, as long as it lives.
class LitButtons {
  public:
    LitButtons(const Style& style, bool is_on);
    ~LitButtons();
    LitButtons(const LitButtons&) = delete;
    LitButtons& operator=(const LitButtons&) = delete;

  private:
    int colours_;
};

// The time points of a series as a bar: which are ready, where playing begins and ends, which is shown; drag to go
// there.
void time_bar(const PanelContext& context, Timeline& timeline, const std::vector<Interval>& ready);
// The last volumes of a live source likewise.
void kept_bar(const PanelContext& context, KeptTime& kept);

// Goes on in this line where `width` more fits into it, else in the next.
void same_line_where_fits(const PanelContext& context, float width, float gap);

// Help where the pointer rests on what was drawn last.
void tooltip(const PanelContext& context, const std::function<void()>& content);
void tooltip(const PanelContext& context, const std::string& text);

// What was drawn last is the control of `name` (a key, an action).
void note_place(const PanelContext& context, std::string_view name);

}  // namespace echolux
