// Which method a spec asks for on the GPU, apart from the fused kernel, and its tables.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "compute/cuda/line_method.h"
#include "compute/plan/plan_tables.h"
#include "compute/steps/line_format.h"

namespace echolux::cuda {

// One for each worker's stream; the copies share the tables.
using LineMethodMaker = std::function<std::unique_ptr<LineMethod>(cudaStream_t)>;

struct LineMethods {
    LineMethodMaker make;
    std::string way;         // in a few words for people
    bool in_halves = false;  // lines that lie at multiples of four bytes
};

// The spec is valid and `plain` lives longer than the methods. At most about `max_lines` lines are given in one call.
// `fused`: in one kernel what can be. Throws Error{device, out_of_memory}.
LineMethods line_methods(const ReconstructionSpec& spec, const PlainTables& plain, const LineFormat& format,
                         DepthRange kept, std::int64_t max_lines, bool fused);

}  // namespace echolux::cuda
