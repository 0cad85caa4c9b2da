// Which method a spec asks for: the one place of the CPU backend that knows all of them.
#pragma once

#include <functional>
#include <memory>

#include "compute/cpu/line_method.h"
#include "compute/plan/plan_tables.h"

namespace echolux::cpu {

// Makes one for each thread; the tables that they share live as long as this. `plain` must outlive it too.
using LineMethodMaker = std::function<std::unique_ptr<LineMethod>()>;

LineMethodMaker line_methods(const ReconstructionSpec& spec, const PlainTables& plain, const LineFormat& format,
                             DepthRange kept);

}  // namespace echolux::cpu
