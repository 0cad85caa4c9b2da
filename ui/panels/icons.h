// Icons drawn from lines, so that they are sharp at every scale and need no font.
#pragma once

#include <string_view>

#include "ui/panels/panel.h"

namespace echolux {

enum class Icon { first, back, play, pause, forward, last, loop, record, stop, remove, add };

// In a square of this size around its middle.
void draw_icon(ImDrawList* list, Icon icon, ImVec2 middle, float size, ImU32 colour);

// A square button, found by tests under `name`; lit while it `is_on`.
bool icon_button(const PanelContext& context, std::string_view name, Icon icon, const char* help, bool is_on = false,
                 bool is_possible = true);

// The same of an action, gray where it is not possible. Nothing where there is no such action.
void action_icon(const PanelContext& context, std::string_view action, Icon icon);

}  // namespace echolux
