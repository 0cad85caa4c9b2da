// What controls have to know of the volume on the stage, asked once a picture.
#pragma once

#include <optional>

#include "ui/panels/control_hints.h"
#include "ui/panels/panel.h"

namespace echolux {

// The curve by which a view colours what is shown now, in the volume's values; nothing: there is no volume, or the view
// cannot be shown.
std::optional<TransferFunction> function_in_use(Workspace& work, const View& view);

// Brings context.state.volume up to date, once for each time of the workspace.
void refresh_facts(const PanelContext& context);

// "dB above noise floor": "dB".
std::string short_unit(const std::string& unit);

}  // namespace echolux
