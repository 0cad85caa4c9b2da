// The controls that settings and panels are made of: a number that is dragged along its control, or typed into it
// (single clicks change nothing, so that a double click can be one; what is typed after one is the number's new value);
// a bar with two ends, e.g. the clip box along an axis; a line of text, taken with Enter or by going elsewhere, given
// up with Esc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ui/panels/number_scale.h"
#include "ui/panels/panel.h"

namespace echolux {

struct NumberShown {
    NumberScale scale;
    double value = 0;       // where the bar ends, and where a drag begins
    std::string text;       // what stands on it
    std::string to_type;    // what typing begins with
    double as_set = 0;      // the setting's own number, to which Esc goes back
    bool is_muted = false;  // it stands for something chosen automatically
};

// As many digits as dragging gives, one more where a finer number was set.
std::string text_on(const NumberScale& scale, double value);

// What the user did to it.
struct NumberEdit {
    std::optional<double> dragged_to;  // nothing: it was typed, or only let go
    std::optional<std::string> typed;
    Edit edit = Edit::under_way;
};

// What a number may begin with, or consist of.
bool is_of_number(std::uint32_t letter);

// `name`: of the control within ImGui's present scope. Nothing: it stays as it is.
std::optional<NumberEdit> number_control(const PanelContext& context, const char* name, const NumberShown& shown,
                                         float width);

// The same of a number that is no setting by itself: what it is to be. Where something else than a number is typed it
// stays as it is.
struct NumberChange {
    double value = 0;
    Edit edit = Edit::under_way;
};
std::optional<NumberChange> plain_number(const PanelContext& context, const char* name, double value, ValueRange range,
                                         float width);

struct RangeEdit {
    bool is_low_end = true;
    double value = 0;
    Edit edit = Edit::under_way;
};

// `value` lies within `whole` and stays at least a hundredth of it wide. Nothing: it stays as it is.
std::optional<RangeEdit> range_control(const PanelContext& context, const char* name, const ValueRange& whole,
                                       const ValueRange& value, float width);

// `name`: of the control within ImGui's present scope. What was typed, when it is to be taken and differs from `value`;
// `hint` stands there while it is empty.
std::optional<std::string> text_box(const PanelContext& context, const char* name, const std::string& value,
                                    float width, const char* hint = "");

// From the next picture on the box of this name has the keyboard, with all of its text selected.
void begin_typing(const PanelContext& context, const char* name, const std::string& value);
bool is_typing(const PanelContext& context, const char* name);

}  // namespace echolux
