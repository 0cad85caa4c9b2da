// Makes the Nth CUDA call of this program fail which may fail. The linker leads calls of the runtime through
// cuda_faults.cpp (--wrap, see CMakeLists.txt), so that nothing in the product knows of it; without a plan they pass.
#pragma once

#include <cstdint>
#include <string>

namespace echolux::test {

// once: no memory, or nothing left to launch with. for_good: the context is poisoned, every call fails from then on; a
// call that only waits fails in this way alone, as it does on a real device.
enum class CudaFault { once, for_good };

struct CudaFaultsSeen {
    std::int64_t calls = 0;  // that could have failed
    bool failed = false;
    std::string first_failed;  // function
    std::int64_t alive = 0;    // allocations, streams and events of the process
};

// Calls are counted from here on. at: the call that fails, counted from 1; 0: none, and a poisoned context is cured.
void plan_cuda_fault(std::int64_t at, CudaFault fault = CudaFault::once);
CudaFaultsSeen seen_cuda_faults();

}  // namespace echolux::test
