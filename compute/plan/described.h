// Declares describe<S>(), which compute/plan/describe.h explains, for headers of parameter structs. Code that only
// reads a struct need not see how it is described.
#pragma once

#include <vector>

namespace echolux {

template <class S>
struct Field;

// Returns the fields of S in declaration order. Defined by specialization.
template <class S>
const std::vector<Field<S>>& describe();

}  // namespace echolux
