// Icons drawn as vector shapes, which are sharp at every scale and need no font.
#pragma once

#include <string_view>

#include "ui/panels/panel.h"

namespace echolux {

enum class Icon { first, back, play, pause, forward, last, loop, record, stop, remove, add };

// Draws an icon in a square of `size` pixels around `middle`.
void draw_icon(ImDrawList* list, Icon icon, ImVec2 middle, float size, ImU32 colour);

// Square button with an icon, highlighted if `is_on`. Returns true when clicked. `name` identifies it for tests.
bool icon_button(const PanelContext& context, std::string_view name, Icon icon, const char* help, bool is_on = false,
                 bool is_possible = true);

// Button for an action, disabled if the action is not possible. Draws nothing for an unknown action.
void action_icon(const PanelContext& context, std::string_view action, Icon icon);

}  // namespace echolux
