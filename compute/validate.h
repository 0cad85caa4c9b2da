// Validates specs without allocating based on unchecked numbers. Combines the checks of plan/, flow/ and methods/.
#pragma once

#include "compute/plan/params.h"

namespace echolux {

// Validates a spec. Throws Error{bad_setting} naming the first invalid key and a remedy.
void validate(const ReconstructionSpec& spec);

}  // namespace echolux
