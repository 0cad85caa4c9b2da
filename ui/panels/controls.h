// Controls for settings and panels:
// - a number, changed by dragging or typing. A single click changes nothing, so that a double click can start typing;
//   text typed after a click replaces the number.
// - a range with two ends, e.g. the clip box along an axis
// - a line of text, accepted with Enter or when the focus moves, cancelled with Esc
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compute/plan/describe.h"
#include "ui/panels/number_scale.h"
#include "ui/panels/panel.h"

namespace echolux {

// Number as displayed by a control.
struct NumberShown {
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
    Edit edit = Edit::under_way;
};

// True for characters that a number may contain.
bool is_of_number(std::uint32_t letter);

// `name` is the ImGui name within the present scope. Returns nullopt if nothing changed.
std::optional<NumberEdit> number_control(const PanelContext& context, const char* name, const NumberShown& shown,
                                         float width);

// Number control for values that are not settings. Returns the new value. Typed text that is not a number is ignored.
struct NumberChange {
    double value = 0;
    Edit edit = Edit::under_way;
};
std::optional<NumberChange> plain_number(const PanelContext& context, const char* name, double value, ValueRange range,
                                         float width);

// Change of one end of a range.
struct RangeEdit {
    bool is_low_end = true;
    double value = 0;
    Edit edit = Edit::under_way;
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

}  // namespace echolux
