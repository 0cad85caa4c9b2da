// Controls in the middle column of a setting's row, selected by the type of the value.
#pragma once

#include <string>

#include "compute/plan/describe.h"
#include "ui/panels/widgets.h"

namespace echolux {

// Arguments of a control.
struct SettingControl {
    const PanelContext& context;
    const BoundField& field;
    const ChangeField& change;
    std::string key;  // such as "view.mode"
    ControlHint hint;
    float width = 0;
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

// Applies a typed value or the word for the automatic value. Invalid text becomes a notice of the setting's section.
void take_typed(const SettingControl& control, const std::string& typed);

// True for colours; is_triple() is true for directions and positions with one number per axis.
bool is_colour(const BoundField& field);
bool is_triple(const BoundField& field);

}  // namespace echolux
