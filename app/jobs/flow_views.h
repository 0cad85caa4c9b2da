// What `echolux flow` writes for pictures: views with arrows or streaks along the vessel, as `render` and sessions take
// them.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "app/jobs/flow_job.h"

namespace echolux {

// Six numbers each, from and to, in micrometres.
std::string view_with_arrows(const std::vector<double>& arrows);

// `course`: centres of the vessel in the direction of flow, in micrometres. Throws Error{bad_setting}: no section has a
// speed.
std::string view_with_streaks(const std::vector<std::array<double, 3>>& course, const MeasuredFlow& measured);

bool is_own_flow_view(const std::filesystem::path& path);

}  // namespace echolux
