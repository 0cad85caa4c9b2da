// Instruments that record the same volumes together have to send B-scans of the same kind.
#pragma once

#include <memory>
#include <vector>

#include "engine/acquire/source.h"

namespace echolux {

// Throws Error{bad_setting} naming what they differ in.
void require_alike(const std::vector<std::unique_ptr<Source>>& parts);

}  // namespace echolux
