// Declares describe<S>() and describe_stats<S>() for headers of parameter structs and statistics. Code that only reads
// a struct need not see how it is described; compute/plan/describe.h and describe_stats.h explain it.
#pragma once

#include <vector>

namespace echolux {

template <class S>
struct Field;
template <class S>
struct Stat;

// Returns the fields of S in declaration order. Defined by specialization.
template <class S>
const std::vector<Field<S>>& describe();

// Returns the statistics of S in the order of JSON and documentation. Defined by specialization.
template <class S>
const std::vector<Stat<S>>& describe_stats();

}  // namespace echolux
