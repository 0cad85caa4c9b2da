// A line of text that is typed: taken with Enter or by going elsewhere, given up with Esc.
#pragma once

#include <optional>
#include <string>

#include "ui/panels/panel.h"

namespace echolux {

// `name`: of the control within ImGui's present scope. What was typed, when it is to be taken and differs from `value`;
// `hint` stands there while it is empty.
std::optional<std::string> text_box(const PanelContext& context, const char* name, const std::string& value,
                                    float width, const char* hint = "");

// From the next picture on somebody types into the box of this name, all of whose text is selected at first.
void begin_typing(const PanelContext& context, const char* name, const std::string& value);
bool is_typing(const PanelContext& context, const char* name);

}  // namespace echolux
