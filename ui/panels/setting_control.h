// The control of one setting by the type of its value: what stands in the middle of a setting's row.
#pragma once

#include <string>

#include "ui/panels/widgets.h"

namespace echolux {

struct SettingControl {
    const PanelContext& context;
    const BoundField& field;
    const ChangeField& change;
    std::string key;
    ControlHint hint;
    float width = 0;
};

void switch_control(const SettingControl& control, bool value);
void choice_control(const SettingControl& control, const std::string& value);
void text_control(const SettingControl& control, const std::string& value);
void number_setting_control(const SettingControl& control, const Value& value);  // whole or real
void list_control(const SettingControl& control, const std::vector<double>& value);

// What stands in the box of a choice that is so wide: where its text has no room beside the arrow, it has all of the
// box, and is cut only where that is not enough.
struct ChoiceInBox {
    std::string text;
    bool has_arrow = true;
};
ChoiceInBox choice_in_box(const std::string& value, float width);

// What was typed for a setting, or the word that stands for "chosen": taken, or trouble of its section.
void take_typed(const SettingControl& control, const std::string& typed);

// Whether this list is a colour, or a direction or place with one number along each axis.
bool is_colour(const BoundField& field);
bool is_triple(const BoundField& field);

}  // namespace echolux
