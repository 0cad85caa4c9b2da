// Creates the method of a spec. The only place of the CPU backend that knows all methods.
#pragma once

#include <functional>
#include <memory>

#include "compute/cpu/line_method.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cpu {

// Creates one method per thread. Owns the tables that they share. `plain` must outlive it.
using LineMethodMaker = std::function<std::unique_ptr<LineMethod>()>;

LineMethodMaker line_methods(const ReconstructionSpec& spec, const PlainTables& plain, const LineFormat& format,
                             DepthRange kept);

}  // namespace echolux::cpu
