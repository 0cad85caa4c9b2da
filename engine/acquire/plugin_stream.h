// Conversion between scans and a plugin's stream description. Data from plugins is checked.
#pragma once

#include "engine/acquire/source.h"
#include "plugins/echolux_source.h"

namespace echolux {

// Returns the stream requested by scan and settings, with 0 for unspecified fields.
echolux_stream wanted_stream(const Scan& scan, const SourceSettings& settings);

// Applies the instrument's stream to the scan. Throws Error{device} naming `instrument` and an invalid field.
void accept_stream(const echolux_stream& stream, Scan& scan, const std::string& instrument, const std::string& remedy);

// Returns the distance between acquired B-scans in bytes.
std::int64_t frame_stride(const Scan& scan);

}  // namespace echolux
