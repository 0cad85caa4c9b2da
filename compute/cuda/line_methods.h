// Creates the GPU method of a spec and its tables, except for the fused kernel.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "compute/cuda/line_method.h"
#include "compute/plan/plan_tables.h"
#include "compute/steps/sample.h"

namespace echolux::cuda {

// Creates a method for a worker's stream. Copies share the tables.
using LineMethodMaker = std::function<std::unique_ptr<LineMethod>(cudaStream_t)>;

// A method's factory and its properties.
struct LineMethods {
    LineMethodMaker make;
    std::string way;         // short description for users
    bool in_halves = false;  // for 4-byte aligned lines
};

// Creates the methods of a valid spec. `plain` must outlive them. Calls will have up to about `max_lines` lines.
// `fused` selects single kernels if possible. Throws Error{device, out_of_memory}.
LineMethods line_methods(const ReconstructionSpec& spec, const PlainTables& plain, const LineFormat& format,
                         DepthRange kept, std::int64_t max_lines, bool fused);

}  // namespace echolux::cuda
