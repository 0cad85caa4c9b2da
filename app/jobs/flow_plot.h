// Figure of the flow through a vessel: over time with the heartbeat, and along the vessel.
#pragma once

#include <filesystem>

#include "app/jobs/measured_flow.h"

namespace echolux {

// Throws what Paper throws.
void plot_flow(const std::filesystem::path& path, const MeasuredFlow& measured);

}  // namespace echolux
