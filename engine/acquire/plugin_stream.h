// Between a scan and what a plugin calls a stream. What a plugin says is never trusted.
#pragma once

#include "engine/acquire/source.h"
#include "plugins/echolux_source.h"

namespace echolux {

// What scan and settings want; 0 where they do not say.
echolux_stream wanted_stream(const Scan& scan, const SourceSettings& settings);

// Takes over what an instrument made of it. Throws Error{device} naming `instrument` and the field that cannot be.
void accept_stream(const echolux_stream& stream, Scan& scan, const std::string& instrument, const std::string& remedy);

// From one acquired B-scan to the next.
std::int64_t frame_stride(const Scan& scan);

}  // namespace echolux
