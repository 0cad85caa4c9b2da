// Facts about the open volume on which controls depend: the ranges of values, and the values in effect for "auto".
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

// Refreshed once per frame by refresh_facts().
struct VolumeFacts {
    std::optional<ValueRange> values;        // range of the voxel values
    std::optional<ValueRange> range_in_use;  // range of the transfer function
    std::string value_unit;                  // such as "dB"
    std::optional<FlowScale> flow;           // current colour scale
    double first_depth_um = 0;
    std::vector<double> extents_um;  // depth, A-scans, B-scans; in voxels without known spacing; empty without a volume
    std::int64_t depth_bins = 0;     // per spectrum; 0: unknown
};

// Returns the hint of a field. If it has no range, the range follows from the volume.
ControlHint hint_for(std::string_view key, const FieldText& field, const VolumeFacts& facts);

// Returns the value in effect for "auto", if known. Dragging starts there.
std::optional<double> value_in_effect(std::string_view key, const VolumeFacts& facts);

// Returns the transfer function of a view in units of the volume, or nullopt if there is no volume or the view is
// invalid.
std::optional<TransferFunction> function_in_use(Workspace& work, const View& view);

// Updates context.state.volume once per frame.
void refresh_facts(const PanelContext& context);

// Directions of flow in legends. Depth increases away from the probe.
struct FlowWords {
    const char *positive, *negative;
};
FlowWords flow_words(Workspace& work);

// Shortens units for display: "dB above noise floor" becomes "dB".
std::string short_unit(const std::string& unit);

}  // namespace echolux
