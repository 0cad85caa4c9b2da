// Work that both a GPU and the CPU can do is done where BackendChoice wants it.
#pragma once

#include <functional>
#include <string>

#include "compute/backend.h"

namespace echolux {

struct ProcessorUsed {
    Backend processor = Backend::cpu;  // or cuda
    std::string
        refusal{};  // one line, where a GPU was tried and the CPU did it instead, or took a slow way; else empty
};

// Backend::automatic: on a GPU where one can be used, and on the CPU where it refuses or fails (Error{device,
// out_of_memory}). Throws what the work throws, and Error{device} where CUDA is demanded and cannot be had.
ProcessorUsed on_gpu_or_cpu(const BackendChoice& choice, const std::function<void()>& on_gpu,
                            const std::function<void()>& on_cpu);

}  // namespace echolux
