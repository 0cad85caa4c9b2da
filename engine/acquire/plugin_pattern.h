// The way of the beam over a volume, as a plugin plays it.
#pragma once

#include "engine/acquire/plugin_device.h"
#include "engine/scan/scan.h"

namespace echolux {

// Throws Error{device} when the plugin refuses, Error{bad_setting} for a scan that has no pattern.
void play_pattern(PluginDevice& device, const Scan& scan);

}  // namespace echolux
