// The volume on the stage, as far as controls depend on it: through which range a value can be dragged, and what "auto"
// comes to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compute/plan/describe.h"
#include "render/annotations/annotations.h"
#include "render/transfer_function.h"

namespace echolux {

class Workspace;
struct PanelContext;

struct VolumeFacts {
    std::optional<ValueRange> values;        // of its voxels
    std::optional<ValueRange> range_in_use;  // from low to high of what is shown now
    std::string value_unit;                  // "dB"
    std::optional<FlowScale> flow;           // as it is coloured now
    double first_depth_um = 0;
    std::vector<double> extents_um;  // depth, A-scans, B-scans (voxels where no spacing is known); empty: no volume
    std::int64_t depth_bins = 0;     // of a spectrum; 0: unknown
};

// The field's own, with the part of its range that the volume fills where it says none.
ControlHint hint_for(std::string_view key, const FieldText& field, const VolumeFacts& facts);

// What stands for "chosen automatically" now, where that is known: where a drag of it begins.
std::optional<double> value_in_effect(std::string_view key, const VolumeFacts& facts);

// The curve by which a view colours what is shown now, in the volume's values; nothing: there is no volume, or the view
// cannot be shown.
std::optional<TransferFunction> function_in_use(Workspace& work, const View& view);

// Brings context.state.volume up to date, once for each time of the workspace.
void refresh_facts(const PanelContext& context);

// "dB above noise floor": "dB".
std::string short_unit(const std::string& unit);

}  // namespace echolux
