// Views written by `echolux flow`: arrows or streaks along the vessel, in the format of `render` and sessions.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/jobs/measured_flow.h"

namespace echolux {

// Six numbers per arrow, from and to, in micrometres.
std::string view_with_arrows(const std::vector<double>& arrows);

// Throws Error{bad_setting} if no section has a speed.
std::string view_with_streaks(const MeasuredFlow& measured);

bool is_own_flow_view(const std::filesystem::path& path);

}  // namespace echolux
