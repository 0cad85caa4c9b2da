// What `echolux flow` writes for pictures: views with arrows or streaks along the vessel, as `render` and sessions take
// them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/jobs/measured_flow.h"

namespace echolux {

// Six numbers each, from and to, in micrometres.
std::string view_with_arrows(const std::vector<double>& arrows);

// Throws Error{bad_setting}: no section has a speed.
std::string view_with_streaks(const MeasuredFlow& measured);

bool is_own_flow_view(const std::filesystem::path& path);

}  // namespace echolux
