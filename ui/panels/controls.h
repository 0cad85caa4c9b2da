// Controls for settings and panels:
// - a number, changed by dragging or typing. A single click changes nothing, so that a double click can start typing;
//   text typed after a click replaces the number.
// - a range with two ends, e.g. the clip box along an axis
// - a line of text, accepted with Enter or when the focus moves, cancelled with Esc
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compute/plan/describe.h"
#include "ui/panels/panel.h"

namespace echolux {

// ---- Maps a number to a position along its control: linear, logarithmic for ranges over several decades, or linear
// around zero and logarithmic far from it. Dragging yields round numbers.

class NumberScale {
  public:
    enum class Kind { even, decades, signed_decades };

    // `range` must have low < high, and low > 0 for decades.
    NumberScale(Kind kind, ValueRange range, bool is_whole);

    double place_of(double value) const;       // 0 at range().low, 1 at range().high; may be outside 0 to 1
    double resolution_at(double value) const;  // step of a drag at this value

    // Returns the value at a position, clamped to the range and rounded to `fineness` times the resolution.
    double value_at(double place, double fineness = 1) const;

    Kind kind() const { return kind_; }
    const ValueRange& range() const { return range_; }

  private:
    double bent(double value) const;
    double straight(double bent) const;

    Kind kind_;
    ValueRange range_;
    bool is_whole_;
};

// Selects the scale for a range: logarithmic if it spans more than two decades.
NumberScale scale_for(ValueRange range, bool is_whole);

// Clips `range` to the limits of the field, then widens it to include `value`.
ValueRange fitting(const FieldText& field, ValueRange range, double value);

// Number as displayed by a control.
struct NumberDisplay {
    NumberScale scale;
    double value = 0;       // end of the bar and start of a drag
    std::string text;       // text on the control
    std::string to_type;    // initial text for typing
    double as_set = 0;      // value of the setting, restored by Esc
    bool is_muted = false;  // placeholder for an automatic value
};

// Returns the number with the digits that dragging can change, and one more if the value is finer.
std::string text_on(const NumberScale& scale, double value);

// Result of a user action on a number control.
struct NumberEdit {
    std::optional<double> dragged_to;  // nullopt if the number was typed, or if the drag has ended
    std::optional<std::string> typed;
    Edit edit = Edit::in_progress;
};

// True for characters that a number may contain.
bool is_of_number(std::uint32_t letter);

// `name` is the ImGui name within the present scope. Returns nullopt if nothing changed.
std::optional<NumberEdit> number_control(const PanelContext& context, const char* name, const NumberDisplay& shown,
                                         float width);

// Number control for values that are not settings. Returns the new value. Typed text that is not a number is ignored.
struct NumberChange {
    double value = 0;
    Edit edit = Edit::in_progress;
};
std::optional<NumberChange> plain_number(const PanelContext& context, const char* name, double value, ValueRange range,
                                         float width);

// Change of one end of a range.
struct RangeEdit {
    bool is_low_end = true;
    double value = 0;
    Edit edit = Edit::in_progress;
};

// `value` is within `whole`, and at least 1 % as wide. Returns nullopt if nothing changed.
std::optional<RangeEdit> range_control(const PanelContext& context, const char* name, const ValueRange& whole,
                                       const ValueRange& value, float width);

// `name` is the ImGui name within the present scope. Returns the typed text once it is accepted and differs from
// `value`. `hint` is displayed while the box is empty.
std::optional<std::string> text_box(const PanelContext& context, const char* name, const std::string& value,
                                    float width, const char* hint = "");

// Gives keyboard focus to this box in the next frame and selects its text.
void begin_typing(const PanelContext& context, const char* name, const std::string& value);
bool is_typing(const PanelContext& context, const char* name);

// ---- Icons drawn as vector shapes, which are sharp at every scale and need no font.

enum class Icon { first, back, play, pause, forward, last, loop, record, stop, remove, add };

// Draws an icon in a square of `size` pixels around `middle`.
void draw_icon(ImDrawList* list, Icon icon, ImVec2 middle, float size, ImU32 colour);

// Square button with an icon, highlighted if `is_on`. Returns true when clicked. `name` identifies it for tests.
bool icon_button(const PanelContext& context, std::string_view name, Icon icon, const char* help, bool is_on = false,
                 bool is_possible = true);

// Button for an action, disabled if the action is not possible. Draws nothing for an unknown action.
void action_icon(const PanelContext& context, std::string_view action, Icon icon);

}  // namespace echolux
