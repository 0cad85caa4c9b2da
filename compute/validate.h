// Whether a spec can work; allocates nothing from numbers that it has not checked. It stands above plan/, flow/ and
// methods/, each of which knows what it can do.
#pragma once

#include "compute/plan/params.h"

namespace echolux {

// Throws Error{bad_setting} naming the first key that cannot work and what would.
void validate(const ReconstructionSpec& spec);

}  // namespace echolux
