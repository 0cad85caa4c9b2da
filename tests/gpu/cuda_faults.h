// Makes the nth CUDA call of this program that may fail, fail. The linker redirects runtime calls to cuda_faults.cpp
// (--wrap, see CMakeLists.txt), so the product is unchanged. Without a plan, all calls pass.
#pragma once

#include <cstdint>
#include <string>

namespace echolux::test {

// once: one call fails for lack of memory or launch resources. for_good: the context is poisoned and every later call
// fails. Calls that only wait fail in this mode alone, as on a real device.
enum class CudaFault { once, for_good };

struct CudaFaultsSeen {
    std::int64_t calls = 0;  // calls that could have failed
    bool failed = false;
    std::string first_failed;  // name of the function
    std::int64_t alive = 0;    // allocations, streams and events of this process
};

// Restarts the count of calls. `at` is the call that fails, counted from 1. 0 lets all succeed and resets a poisoned
// context.
void plan_cuda_fault(std::int64_t at, CudaFault fault = CudaFault::once);
CudaFaultsSeen seen_cuda_faults();

}  // namespace echolux::test
