// Widgets for panels, most of them for described settings. A control displays the unit, range, choices, help and
// default of the description, with the same names as files and the command line.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "compute/plan/describe.h"
#include "ui/panels/panel.h"

namespace echolux {

// Draws name, control, unit, and a reset button if the value is not the default. Numbers are dragged (finely with
// Shift) or typed after a double click. The tooltip shows key, help, range and default. Draws nothing if the setting is
// not available.
void setting_row(const PanelContext& context, std::string_view key);

// With a custom label instead of the field's name.
void setting_row(const PanelContext& context, std::string_view key, const std::string& label);

// Draws rows for the settings that currently have an effect.
void setting_rows(const PanelContext& context, std::initializer_list<std::string_view> keys);

// Draws rows for all settings of a group that are available and currently have an effect: section by section, in the
// order of the descriptions.
void draw_group(const PanelContext& context, std::initializer_list<std::string_view> sections, std::string_view group);

// Row for a setting outside the workspace, e.g. of a proposal or of a source that is not open yet. `change` applies a
// value. `refuse` receives the errors of typed text; without it they become notices of the setting's section.
using ChangeField = std::function<void(const Value&, Edit)>;
using RefuseField = std::function<void(const Error&)>;
void setting_row(const PanelContext& context, const BoundField& field, const ChangeField& change,
                 const std::string& label = "", const RefuseField& refuse = {});

// Positions of the columns for ImGui::SameLine(), so that custom rows line up with setting rows.
struct RowColumns {
    float control, unit, reset, right;
};

RowColumns row_places(const Style& style);

// Draws the name of a row, clipped at the column of the control, which is the next item.
void row_label(const PanelContext& context, const std::string& label);

// Draws a list of planes (view.slices, view.clip_planes). Each row has the axis normal to the plane, the offset along
// it, and a button to remove it. Oblique planes also show the components of their normal. Draws nothing if the setting
// is not available.
void plane_list(const PanelContext& context, const std::string& key, std::size_t max_planes, const char* add_label);

// Draws a button for an action, with its keys in the tooltip, disabled if it is not possible. Draws nothing for an
// unknown action. Returns true if the action was run.
bool action_button(const PanelContext& context, std::string_view action, const char* label = nullptr, float width = 0);

// Runs an action. Errors become notices of the action's group. Returns true if it was run.
bool run_action(const PanelContext& context, std::string_view action);

// Returns the help text of an action, such as "Play or pause  (Space)".
std::string help_of(const Action& action);

// Draws a button and returns true when it is clicked. `name` identifies it for tests.
bool plain_button(const PanelContext& context, std::string_view name, const char* label, const char* help = "",
                  bool is_possible = true, float width = 0);  // if 0, the width of the label

// Draws the main button of a dialog in the accent colour.
bool primary_button(const PanelContext& context, std::string_view name, const char* label, float width);

// Calls `work`. Errors become notices of `place`. Returns true if there was none.
bool attempt(const PanelContext& context, std::string_view place, const std::function<void()>& work);

// Draws the header of a foldable section. Returns true if it is open.
bool section(const PanelContext& context, const char* title, bool open_at_first);

// Shortens a text to `max_width` pixels in the current font, ending with an ellipsis.
std::string shortened(std::string text, float max_width);

// Draws "name        value unit" with digits of equal width. Always one line, shortened if necessary, so that the
// layout does not change.
void figure(const PanelContext& context, const char* name, const std::string& value, const char* unit = "");

// Draws a text that changes with a state, in the colour of units, in the space of `lines` lines: the rest is in the
// tooltip. So no state moves the controls below it.
void state_text(const PanelContext& context, const std::string& text, int lines = 1);
void state_text(const PanelContext& context, const std::string& text, int lines, const ImVec4& colour);

// State of a live source as a word with its colour, and an explanation. Words have at most eleven letters.
struct SourceBadge {
    const char* text;
    ImVec4 colour;
    const char* help;
};
SourceBadge badge_of(const Style& style, const LiveController& live);

// Draws an explanation in the colour of units, wrapped at the width of the panel.
void muted_text(const PanelContext& context, const std::string& text);

// Draws what to do in the middle of an area without content. Its place is NAME.empty.
void text_if_empty(const PanelContext& context, const std::string& name, const std::string& text, ImVec2 low,
                   ImVec2 high);

// Highlights buttons while it exists.
class LitButtons {
  public:
    LitButtons(const Style& style, bool is_on);
    ~LitButtons();
    LitButtons(const LitButtons&) = delete;
    LitButtons& operator=(const LitButtons&) = delete;

  private:
    int colours_;
};

// Draws the time since the start of a live source as a bar with its losses. The selected one is marked.
void loss_bar(const PanelContext& context, double seconds);

// Draws the time points of a series as a bar with loaded steps, incomplete steps, playback range and current step. Drag
// to change the step.
void time_bar(const PanelContext& context, Timeline& timeline, const std::vector<Interval>& ready,
              const std::vector<std::int64_t>& incomplete);
// Draws the kept volumes of a live source in the same way.
void recent_bar(const PanelContext& context, RecentTimeline* kept);  // nullptr: none yet

// Continues on the current line if `width` pixels fit, otherwise on the next.
void same_line_where_fits(const PanelContext& context, float width, float gap);

// Displays help when the pointer rests on the last item.
void tooltip(const PanelContext& context, const std::function<void()>& content);
void tooltip(const PanelContext& context, const std::string& text);

// Records the position of the last item under `name` (a setting key or an action) for tests and the tour.
void note_place(const PanelContext& context, std::string_view name);

// ---- Controls in the middle column of a setting's row, selected by the type of the value.

// Arguments of a control.
struct SettingControl {
    const PanelContext& context;
    const BoundField& field;
    const ChangeField& change;
    std::string key;  // such as "view.mode"
    ControlHint hint;
    float width = 0;
    RefuseField refuse{};
};

void switch_control(const SettingControl& control, bool value);
void choice_control(const SettingControl& control, const std::string& value);
void text_control(const SettingControl& control, const std::string& value);
void number_setting_control(const SettingControl& control, const Value& value);  // integer or real
void list_control(const SettingControl& control, const std::vector<double>& value);

// Content of a choice box of a given width. Long texts use the space of the arrow and are shortened only if that is not
// enough.
struct ChoiceInBox {
    std::string text;
    bool has_arrow = true;
};
ChoiceInBox choice_in_box(const std::string& value, float width);

// Applies a typed value or the word for the automatic value. Invalid text is refused, see setting_row().
void take_typed(const SettingControl& control, const std::string& typed);

// True for colours; is_triple() is true for directions and positions with one number per axis.
bool is_colour(const BoundField& field);
bool is_triple(const BoundField& field);

}  // namespace echolux
