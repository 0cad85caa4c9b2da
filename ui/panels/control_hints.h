// What a control has to know of a setting beyond its description: values that stand for something else ("auto"), the
// part of a very wide range that people use, whole numbers of which only some can be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/panels/number_scale.h"

namespace echolux {

// The volume on the stage, as far as controls depend on it.
struct VolumeFacts {
    std::optional<Reach> values;        // of its voxels
    std::optional<Reach> range_in_use;  // from low to high of what is shown now
    std::string value_unit;             // "dB"
    double first_depth_um = 0;
    std::vector<double> extents_um;  // depth, A-scans, B-scans (voxels where no spacing is known); empty: no volume
    std::int64_t depth_bins = 0;     // of a spectrum; 0: unknown
};

enum class Picks { nothing, file, folder };

struct ControlHint {
    std::optional<double> stands_for;    // a value that is none ...
    std::string_view word = "auto";      // ... and how it reads
    std::optional<Reach> reach;          // nothing: the field's whole range
    std::vector<std::int64_t> only;      // empty: any number
    Picks picks = Picks::nothing;        // what a text names
    std::vector<std::string> endings{};  // of such files
};

ControlHint hint_for(std::string_view key, const FieldText& field, const VolumeFacts& facts);

// All keys that something special is known of. Each of them is a setting.
std::vector<std::string_view> hinted_keys();

// What stands for "chosen automatically" now, where that is known: where a drag of it begins.
std::optional<double> value_in_effect(std::string_view key, const VolumeFacts& facts);

}  // namespace echolux
