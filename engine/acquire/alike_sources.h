// Checks instruments that record the same volumes together: their B-scans must have the same layout and calibration.
#pragma once

#include <memory>
#include <vector>

#include "engine/acquire/source.h"

namespace echolux {

// Throws Error{bad_setting} naming the first property that differs.
void require_alike(const std::vector<std::unique_ptr<Source>>& parts);

}  // namespace echolux
